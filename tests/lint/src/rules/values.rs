//! Rules about what schemas say of single values.

use std::collections::HashSet;

use serde_json::Value;

use super::{Findings, REPETITIONS, each_node};
use crate::catalog::{Catalog, Side};
use crate::pattern;

/// The largest integer that a float keeps exactly.
const EXACT: f64 = 9_007_199_254_740_991.0;

/// Gemini takes texts alone and refuses the empty one (anomalyco/opencode#2687, sbroenne/mcp-server-excel#607,
/// apify/apify-mcp-server#353).
pub(super) fn enums(catalog: &Catalog<'_>, findings: &mut Findings) {
    each_node(catalog, |tool, node| {
        let Some(choices) = node.get("enum") else {
            return;
        };
        let texts: Vec<&str> = node.names("enum").filter(|text| !text.is_empty()).collect();
        let whole = choices.as_array().is_some_and(|list| list.len() == texts.len() && !list.is_empty());
        if !whole || node.kind() != Some("string") {
            findings.node(tool, node, "an enum of something else than texts, or of an empty one (Gemini)");
        }
        if texts.iter().collect::<HashSet<_>>().len() < texts.len() {
            findings.node(tool, node, "an enum that says the same twice");
        }
    });
}

/// Anthropic's validator stops at the largest 64-bit integer ("int too big to convert": RevenueCat/ai-toolkit#26,
/// ansible/aap-mcp-server#170), and JavaScript rounds everything beyond 2^53.
pub(super) fn bounds(catalog: &Catalog<'_>, findings: &mut Findings) {
    const PAIRS: [(&str, &str); 4] =
        [("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems"), ("minProperties", "maxProperties")];
    each_node(catalog, |tool, node| {
        for (least, most) in PAIRS {
            let [least, most] = [least, most].map(|keyword| node.get(keyword).and_then(Value::as_f64));
            if [least, most].into_iter().flatten().any(|bound| bound.abs() > EXACT) {
                findings.node(tool, node, "a bound beyond 2^53 (Anthropic, JavaScript)");
            }
            if let (Some(least), Some(most)) = (least, most)
                && least > most
            {
                findings.node(tool, node, format!("at least {least} and at most {most}: nothing satisfies it"));
            }
        }
    });
}

/// llama.cpp turns a length into that many repetitions and refuses the tools of all servers in the request when there
/// are 2,000 of them (exactly 2,000 at the top: ggml-org/llama.cpp#27087; as many or more further down: #25746;
/// narumiruna/pi-extensions#969). A larger limit belongs into the description, and into the product's own check.
pub(super) fn repetitions(catalog: &Catalog<'_>, findings: &mut Findings) {
    each_node(catalog, |tool, node| {
        for keyword in ["minLength", "maxLength", "minItems", "maxItems"] {
            let bound = node.get(keyword).and_then(Value::as_u64).filter(|bound| *bound >= REPETITIONS.into());
            if let Some(bound) = bound.filter(|_| node.side == Side::Input) {
                findings.node(tool, node, format!("{keyword} of {bound}: llama.cpp (LM Studio, Ollama) refuses {REPETITIONS} and more"));
            }
        }
    });
}

/// See [`pattern`].
pub(super) fn patterns(catalog: &Catalog<'_>, findings: &mut Findings) {
    each_node(catalog, |tool, node| {
        if let Some(fault) = node.get("pattern").and_then(Value::as_str).and_then(pattern::fault) {
            findings.node(tool, node, format!("the pattern: {fault}"));
        }
    });
}
