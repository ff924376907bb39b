//! The table of docs/performance.md, between two marks; the rest of that file is written by people.

use crate::report::{Baseline, written};

const BEGIN: &str = "<!-- figures: made by tests/budgets/docs -->\n";
const END: &str = "<!-- end of figures -->\n";

/// The document with the committed figures in place of the old ones.
pub fn document(now: &str, baseline: &Baseline) -> Result<String, crate::Failed> {
    let (before, rest) = now.split_once(BEGIN).ok_or("docs/performance.md has lost the mark where figures begin")?;
    let (_, after) = rest.split_once(END).ok_or("docs/performance.md has lost the mark where figures end")?;
    let mut table = String::from("| figure | committed |\n| --- | ---: |\n");
    for (id, figures) in &baseline.figures {
        table += &format!("| `{id}` | {} |\n", written(figures));
    }
    Ok(format!("{before}{BEGIN}{table}{END}{after}"))
}
