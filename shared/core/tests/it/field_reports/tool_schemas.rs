//! Area 5, schemas. The rules themselves are tried on one list; here is that every other list says the same.

use serde_json::{Map, Value, json};

use library::client::{Door, Era};
use library::every_kind;

fn tools(door: &Door, version: &str) -> Vec<Value> {
    let list = match version {
        "2026-07-28" => door.ask(Era::Modern, "tools/list", json!({})),
        _ => door.post().header("mcp-protocol-version", version).rpc("tools/list", json!({})),
    };
    list.send().result()["tools"].as_array().unwrap().clone()
}

/// What a model is shown of a tool.
fn shown(tools: &[Value]) -> Vec<Value> {
    tools.iter().map(|tool| json!([tool["name"], tool["description"], tool["inputSchema"]])).collect()
}

/// D85, D87, D89, D91, D93
#[test]
fn what_a_model_is_shown_is_the_same_in_every_version_and_under_every_ruling() {
    let doors = every_kind();
    let first = shown(&tools(&doors[0].1, "2026-07-28"));
    assert!(first.len() > 10);
    for (kind, door) in &doors {
        for version in door.profile.all_versions() {
            assert_eq!(shown(&tools(door, version.as_str())), first, "{kind} {}", version.as_str());
        }
    }
}

/// Every object inside a value that is not under `properties`, where names are free.
fn schemas<'v>(value: &'v Value, into: &mut Vec<&'v Map<String, Value>>) {
    if let Some(schema) = value.as_object() {
        into.push(schema);
        let parts = schema.iter().filter(|(keyword, _)| *keyword != "properties").map(|(_, part)| part);
        parts
            .chain(schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::values))
            .for_each(|part| schemas(part, into));
    }
}

/// D85, D87, D91. Where refusals are values the schema of a result is written anew, and must stay as plain.
#[test]
fn the_schema_of_a_result_is_as_plain_under_every_ruling() {
    for (kind, door) in every_kind() {
        for tool in tools(&door, "2026-07-28") {
            let output = &tool["outputSchema"];
            assert_eq!((&output["type"], output["properties"].is_object()), (&json!("object"), true), "{kind} {}", tool["name"]);
            let mut all = Vec::new();
            schemas(output, &mut all);
            for schema in all {
                for word in ["$ref", "$defs", "definitions", "oneOf", "allOf", "not", "format"] {
                    assert!(!schema.contains_key(word), "{kind} {}: {word}", tool["name"]);
                }
                if let Some(options) = schema.get("anyOf") {
                    let or_null = options[0]["type"].is_string() && options[1] == json!({ "type": "null" }) && options.get(2).is_none();
                    assert!(or_null, "{kind} {}: one type, or null: {options}", tool["name"]);
                }
                assert!(schema.get("type").is_none_or(Value::is_string), "{kind} {}: {schema:?}", tool["name"]);
                let items = schema.get("items").is_some_and(|items| items["type"].is_string());
                assert!(schema.get("type") != Some(&json!("array")) || items, "{kind} {}: {schema:?}", tool["name"]);
            }
        }
    }
}
