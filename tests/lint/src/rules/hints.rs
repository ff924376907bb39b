//! Rules about hints. Clients ask a person before a call, or do not, by what is said here.

use serde_json::Value;

use super::Findings;
use crate::catalog::Catalog;

const ALL: [&str; 4] = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

/// What is left out counts as destructive and open world; the directories of OpenAI and Anthropic demand them
/// (cloudflare/mcp#205, open-metadata/OpenMetadata#30107), and a title: in the tool, and in the annotations for clients
/// from before 2025-06-18.
pub(super) fn complete(catalog: &Catalog<'_>, findings: &mut Findings) {
    for tool in &catalog.tools {
        for hint in ALL.iter().filter(|hint| tool.hint(hint).is_none()) {
            findings.tool(tool, format!("{hint} is not given (OpenAI's and Anthropic's directories)"));
        }
        let title = tool.raw.get("title").and_then(Value::as_str).unwrap_or_default();
        let is_title = title.starts_with(char::is_uppercase) && !title.ends_with('.') && title.chars().count() <= 60;
        if !is_title || tool.raw["annotations"]["title"] != title {
            findings.tool(tool, "no title of at most 60 characters in sentence case, the same in its annotations");
        }
    }
}

/// What only reads destroys nothing, and reading twice is reading once.
pub(super) fn agree(catalog: &Catalog<'_>, findings: &mut Findings) {
    for tool in catalog.tools.iter().filter(|tool| tool.hint("readOnlyHint") == Some(true)) {
        if tool.hint("destructiveHint") == Some(true) || tool.hint("idempotentHint") == Some(false) {
            findings.tool(tool, "is read-only, and yet destructive or not idempotent");
        }
    }
}

/// A tool that creates on every call is not idempotent (vm0-ai/vm0#35539); one that overwrites is destructive: the
/// specification calls additive alone what is not.
pub(super) fn fit_names(catalog: &Catalog<'_>, findings: &mut Findings) {
    const READING: [&str; 9] = ["list", "get", "count", "show", "search", "find", "read", "describe", "check"];
    const REMOVING: [&str; 8] = ["delete", "remove", "revoke", "terminate", "purge", "detach", "drop", "erase"];
    const REPLACING: [&str; 3] = ["update", "replace", "overwrite"];
    const CREATING: [&str; 5] = ["create", "add", "invite", "dispatch", "send"];
    for tool in &catalog.tools {
        let [read_only, destructive, idempotent, _] = ALL.map(|hint| tool.hint(hint).unwrap_or_default());
        let verb = tool.verb();
        let expected = if READING.contains(&verb) {
            (!read_only).then_some("read-only")
        } else if REMOVING.contains(&verb) || REPLACING.contains(&verb) {
            (read_only || !destructive).then_some("destructive")
        } else if CREATING.contains(&verb) {
            (read_only || destructive || idempotent).then_some("neither read-only nor destructive nor idempotent")
        } else {
            None
        };
        if let Some(expected) = expected {
            findings.tool(tool, format!("a tool that begins with {verb} is {expected}"));
        }
    }
}

/// Mail that goes out and vendors that are called do not come back.
pub(super) fn open_world(catalog: &Catalog<'_>, findings: &mut Findings) {
    let open = catalog.policy.open_world;
    for tool in catalog.tools.iter().filter(|tool| tool.hint("openWorldHint") != Some(open.contains(&tool.name))) {
        findings.tool(tool, "is open world, or is not, other than the policy says");
    }
    for name in open.iter().filter(|name| !catalog.has_tool(name)) {
        findings.list(format!("the policy calls {name} open world, which is no tool"));
    }
}
