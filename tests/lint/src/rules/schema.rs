//! Rules about the shape of schemas.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{Findings, each_node};
use crate::catalog::{Catalog, Node, Side};
use crate::{Case, Outputs};

/// The keywords that Gemini's `Schema` has fields for, which is the smallest set of all providers; `additionalProperties`
/// is beside them because every client that talks to Gemini takes it off.
const KNOWN: [&str; 16] = [
    "type",
    "description",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
];

/// Who is known to refuse what.
const REFUSED: [(&[&str], &str); 8] = [
    (
        &["anyOf", "oneOf", "allOf", "not", "if", "then", "else"],
        "Anthropic refuses it at the top, Gemini below (makenotion/notion-mcp-server#341, t8y2/dbx#6233)",
    ),
    (
        &["$ref", "$defs", "definitions"],
        "not resolved by Gemini CLI, Copilot CLI and Codex (google-gemini/gemini-cli#13326, github/copilot-cli#1876)",
    ),
    (&["const"], "Gemini has no field for it (zed-industries/zed#45552)"),
    (&["format"], "Gemini takes enum and date-time alone (google-gemini/gemini-cli#2237)"),
    (&["exclusiveMinimum", "exclusiveMaximum", "multipleOf"], "Gemini has no field for it (hideya/langchain-mcp-tools-ts#36)"),
    (&["uniqueItems", "prefixItems", "contains"], "Gemini has no field for it (nicobailon/pi-web-access#191, danny-avila/LibreChat#13850)"),
    (&["$schema", "$id", "title", "examples"], "Gemini has no field for it, and a model does not need it (router-for-me/CLIProxyAPI#97)"),
    (
        &["default", "nullable"],
        "say it in the description: clients drop it, and SDKs send a null default as a value (anthropics/claude-code#95239)",
    ),
];

/// Objects and arrays in each other, the root included. OpenAI's structured outputs began with 5; Gemini refuses a
/// request for one tool that is too deep (google-gemini/gemini-cli#5923).
const MOST_LEVELS: usize = 5;

/// Clients of the official SDKs check the whole list at once, so one root that is no object empties it
/// (kenn-io/msgvault#626); OpenAI demands `properties` even of a tool without arguments
/// (langchain-ai/langchain-mcp-adapters#137). Arguments are closed so that a misspelt one is refused
/// (modelcontextprotocol/python-sdk#3067), results open so that a new member breaks nobody; and a schema that anything
/// satisfies says nothing.
pub(super) fn roots(catalog: &Catalog<'_>, findings: &mut Findings) {
    let policy = catalog.policy;
    for tool in &catalog.tools {
        if tool.schema(Side::Input).is_none() || (policy.outputs == Outputs::All && tool.schema(Side::Output).is_none()) {
            findings.tool(tool, "a schema is missing");
        }
        for node in tool.nodes().iter().filter(|node| node.is_root()) {
            if node.kind() != Some("object") || !node.get("properties").is_some_and(Value::is_object) {
                findings.node(tool, node, "no object with properties (official SDKs, OpenAI)");
            }
            let closed = node.get("additionalProperties") == Some(&json!(false));
            let requires = node.names("required").next().is_some();
            match node.side {
                Side::Input if closed == policy.open_arguments.contains(&tool.name) => {
                    findings.node(tool, node, "arguments are closed, but for those tools that the policy names");
                }
                Side::Output if closed => findings.node(tool, node, "results are closed: a new member would break clients that check them"),
                Side::Output if requires == policy.refusals_are_results => {
                    findings.node(tool, node, "a result requires something, unless it may be a refusal");
                }
                Side::Input | Side::Output => {}
            }
        }
    }
}

/// Gemini's own fields and no others: a request with an unknown one is refused whole. In results a value may be
/// `anyOf` something and `null`; results are not sent to a model.
pub(super) fn keywords(catalog: &Catalog<'_>, findings: &mut Findings) {
    each_node(catalog, |tool, node| {
        for keyword in node.schema.as_object().into_iter().flat_map(|object| object.keys()) {
            if KNOWN.contains(&keyword.as_str()) || (keyword == "anyOf" && is_nullable(node)) {
                continue;
            }
            let reason = REFUSED.iter().find(|(keywords, _)| keywords.contains(&keyword.as_str())).map(|(_, reason)| *reason);
            findings.node(tool, node, format!("{keyword}: {}", reason.unwrap_or("Gemini has no field for it")));
        }
        if node.get("additionalProperties").is_some_and(|inner| !inner.is_boolean()) {
            let who = "Codex and clients on Zod took only true or false (openai/codex#4300, PrefectHQ/fastmcp#2459)";
            findings.node(tool, node, format!("additionalProperties is a schema: {who}"));
        }
    });
}

/// `anyOf` one typed schema and `null`, in a result.
fn is_nullable(node: &Node<'_>) -> bool {
    let options = node.get("anyOf").and_then(Value::as_array).map(Vec::as_slice);
    node.side == Side::Output && matches!(options, Some([one, null]) if one["type"].is_string() && *null == json!({ "type": "null" }))
}

/// Gemini reads one type and refuses lists of them, at any depth (sbroenne/mcp-server-excel#672, github/copilot-cli#4623);
/// Copilot for Eclipse and gateways drop the tool (arc-mcp/arc-1#526, baruchiro/paperless-mcp#138). Gemini CLI skips a
/// tool with an untyped argument (google-gemini/gemini-cli#5694), Claude Code sends it as text (ablative-io/aion#82);
/// OpenAI and VS Code refuse an array without items (ogx-ai/ogx#3602). A schema that is `true` empties the list of
/// Claude's SDK and of opencode (anthropics/claude-code#92900, anomalyco/opencode#49464), in results too
/// (Azure/Azure-Resource-Manager-MCP#21). A result without a type is one that may be null; it has to say so.
pub(super) fn types(catalog: &Catalog<'_>, findings: &mut Findings) {
    each_node(catalog, |tool, node| {
        if !node.schema.is_object() {
            findings.node(tool, node, "a schema that is no object (Claude's SDK, opencode)");
            return;
        }
        let told_null =
            node.text().is_some_and(|text| text.to_lowercase().split(|letter: char| !letter.is_alphanumeric()).any(|word| word == "null"));
        match node.get("type") {
            Some(Value::String(kind)) if kind == "array" => {
                let of_what = node.get("items").and_then(|items| items.get("type"));
                if !of_what.is_some_and(Value::is_string) {
                    findings.node(tool, node, "an array that does not say of what (OpenAI, Gemini, VS Code)");
                }
            }
            Some(Value::String(_)) => {}
            Some(_) => findings.node(tool, node, "a list of types (Gemini, Copilot)"),
            None if is_nullable(node) => {}
            None if node.side == Side::Input => findings.node(tool, node, "no type (Gemini CLI, Claude Code)"),
            None if !told_null => findings.node(tool, node, "no type, and it does not say that it may be null"),
            None => {}
        }
    });
}

/// See [`MOST_LEVELS`]. Results are not sent to a model.
pub(super) fn depth(catalog: &Catalog<'_>, findings: &mut Findings) {
    each_node(catalog, |tool, node| {
        if node.side == Side::Input && node.depth == MOST_LEVELS + 1 && matches!(node.kind(), Some("object" | "array")) {
            findings.node(tool, node, format!("more than {MOST_LEVELS} objects and arrays in each other (Gemini, OpenAI)"));
        }
    });
}

/// Anthropic refuses the whole request for a name outside `^[a-zA-Z0-9_.-]{1,64}$` (decocms/studio#6874,
/// rhesis-ai/rhesis#2007); dots are refused elsewhere (roychri/mcp-server-asana#16). One case a product, so that a model
/// need not remember two.
pub(super) fn property_names(catalog: &Catalog<'_>, findings: &mut Findings) {
    let case = catalog.policy.case;
    each_node(catalog, |tool, node| {
        let is_letter = |letter: u8| match case {
            Case::Snake => letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'_',
            Case::Camel => letter.is_ascii_alphanumeric(),
        };
        let fits =
            |name: &str| name.starts_with(|first: char| first.is_ascii_lowercase()) && name.bytes().all(is_letter) && name.len() <= 64;
        if let Some(name) = node.property.filter(|name| !fits(name)) {
            findings.node(tool, node, format!("the name {name} is not in {case:?} case with at most 64 letters and digits (Anthropic)"));
        }
    });
}

/// A required name that is no property can never be satisfied, and `null` for the list makes Claude Code refuse the
/// whole server (anthropics/claude-code#44364). Draft 4, which older clients read, forbids the empty list.
pub(super) fn required(catalog: &Catalog<'_>, findings: &mut Findings) {
    each_node(catalog, |tool, node| {
        let Some(required) = node.get("required") else {
            return;
        };
        let names: Vec<&str> = node.names("required").collect();
        let all_texts = required.as_array().is_some_and(|list| list.len() == names.len() && !list.is_empty());
        let distinct = names.iter().collect::<HashSet<_>>().len() == names.len();
        let are_properties = names.iter().all(|name| node.get("properties").is_some_and(|properties| properties.get(name).is_some()));
        if !all_texts || !distinct || !are_properties {
            findings.node(tool, node, "required is no list of its properties (Claude Code)");
        }
    });
}
