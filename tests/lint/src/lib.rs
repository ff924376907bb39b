//! What a product's list of tools must keep to, so that every client and every model takes it.
//!
//! A model provider refuses the whole request for one schema that it does not read, and a client drops the whole
//! server; the model itself knows of a tool what its description says and no more. So each product hands the `tools` of
//! its newest `tools/list` and its [`Policy`] to [`check`], in one test. A rule that a tool has a reason to break is
//! waived in the policy, with that reason; a waiver of nothing is a fault too.
//!
//! The rules are in [`rules`], one small function each, with the report or the specification it comes from.

mod catalog;
mod pattern;
mod policy;
pub mod rules;
mod size;

use std::fmt::Write;

use serde_json::Value;

pub use policy::{Budget, Case, Id, Outputs, Policy, Waiver};
pub use rules::Rule;
pub use size::{Size, size_of};

use catalog::Catalog;
use rules::Findings;

/// Prints what the list costs a model, and refuses it with all faults at once.
///
/// # Panics
/// When there is a fault.
#[track_caller]
pub fn check(tools: &[Value], policy: &Policy) {
    println!("{}", size::table(policy.server, tools));
    let faults = faults(tools, policy);
    assert!(faults.is_empty(), "{} faults in the tools of {}:\n{}", faults.len(), policy.server, faults.join("\n"));
}

/// All faults, one line each: where it is, what is wrong, who refuses it, and the rule.
pub fn faults(tools: &[Value], policy: &Policy) -> Vec<String> {
    let catalog = Catalog::new(tools, policy);
    let mut lines = Vec::new();
    let mut needed = vec![Vec::new(); policy.waivers.len()];
    for (rule, look) in rules::ALL {
        let mut findings = Findings::default();
        look(&catalog, &mut findings);
        for finding in findings.0 {
            match policy.waivers.iter().position(|waiver| waiver.covers(*rule, &finding.tool)) {
                Some(waiver) => needed[waiver].push(finding.tool),
                None => lines.push(format!("{} ({rule:?})", finding.line())),
            }
        }
    }
    for (waiver, needed) in policy.waivers.iter().zip(needed) {
        lines.extend(waiver.idle(&needed));
    }
    lines
}

/// One line of a report, without a place if it is about the list as a whole.
fn line(tool: &str, path: &str, text: &str) -> String {
    let mut line = String::new();
    for place in [tool, path].into_iter().filter(|place| !place.is_empty()) {
        let _ = write!(line, "{}{place}", if line.is_empty() { "" } else { " " });
    }
    if line.is_empty() { text.to_owned() } else { format!("{line}: {text}") }
}
