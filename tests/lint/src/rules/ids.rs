//! Rules about ids: what is handed out and handed in again.

use super::{Findings, each_node};
use crate::catalog::{Catalog, Side};

/// `asset_id`, `agentId` and `cursor`; a bare `id` is of the kind that its tool is about.
fn is_id(name: &str) -> bool {
    name.ends_with("_id") || name.ends_with("Id") || name == "cursor"
}

/// A kind that the policy does not know has a lifetime that nobody thought of; one that is only in the policy was
/// renamed.
pub(super) fn kinds(catalog: &Catalog<'_>, findings: &mut Findings) {
    let ids = catalog.policy.ids;
    let mut met = Vec::new();
    each_node(catalog, |tool, node| {
        let Some(name) = node.property.filter(|name| is_id(name)) else {
            return;
        };
        met.push(name.to_owned());
        if !ids.iter().any(|id| id.name == name) {
            findings.node(tool, node, format!("the policy does not know how long a {name} lives"));
        }
    });
    for id in ids.iter().filter(|id| !met.iter().any(|name| name == id.name)) {
        findings.list(format!("the policy knows of a {} that no tool takes or answers", id.name));
    }
}

/// A model keeps ids in its context for as long as it likes; only the description can tell it that one has ended.
pub(super) fn lifetimes(catalog: &Catalog<'_>, findings: &mut Findings) {
    for id in catalog.policy.ids {
        if !catalog.texts().any(|text| text.contains(id.lives)) {
            findings.list(format!("nothing says how long a {} lives: {}", id.name, id.lives));
        }
    }
}

/// A model that does not know where an id comes from makes one up.
pub(super) fn sources(catalog: &Catalog<'_>, findings: &mut Findings) {
    each_node(catalog, |tool, node| {
        let asked_for = node.side == Side::Input && node.property.is_some_and(|name| is_id(name) && name != "cursor");
        let text = node.text().unwrap_or_default();
        let mut words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        if asked_for && !words.any(|word| word != tool.name && catalog.has_tool(word)) {
            findings.node(tool, node, "names no tool that gives it");
        }
    });
}
