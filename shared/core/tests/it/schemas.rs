//! The list of tools as model providers and clients read it: plain schemas, in the same bytes each time.

use std::fmt::Write;

use serde_json::{Value, json};

use library::client::Era;
use library::{LikeChecklists, every_kind, open};

/// Visits a schema and every schema in it.
fn walk(schema: &Value, path: &str, visit: &mut impl FnMut(&Value, &str)) {
    visit(schema, path);
    for keyword in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get(keyword).filter(|inner| inner.is_object()) {
            walk(inner, &format!("{path}/{keyword}"), visit);
        }
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        walk(property, &format!("{path}/{name}"), visit);
    }
}

fn tools() -> Vec<Value> {
    let answer = open::<LikeChecklists>().ask(Era::Modern, "tools/list", json!({})).send();
    answer.result()["tools"].as_array().unwrap().clone()
}

/// Every place in every input and output schema where `wrong` finds something.
fn found(schemas: &[&str], wrong: impl Fn(&Value) -> Option<String>) -> String {
    let mut report = String::new();
    for tool in tools() {
        for which in schemas {
            walk(&tool[which], &format!("{} {which}", tool["name"]), &mut |schema, path| {
                if let Some(what) = wrong(schema) {
                    writeln!(report, "{path}: {what}").unwrap();
                }
            });
        }
    }
    report
}

const BOTH: [&str; 2] = ["inputSchema", "outputSchema"];

/// D85, D89
#[test]
fn the_root_of_every_schema_is_an_object_with_properties_and_no_combinator() {
    for tool in tools() {
        for schema in BOTH.map(|which| &tool[which]) {
            assert_eq!((&schema["type"], schema["properties"].is_object()), (&json!("object"), true), "{tool}");
            for combinator in ["anyOf", "oneOf", "allOf", "not", "enum", "if", "title", "$schema"] {
                assert!(schema.get(combinator).is_none(), "{tool}");
            }
        }
    }
}

/// D87
#[test]
fn nothing_is_referred_to() {
    let list = open::<LikeChecklists>().ask(Era::Modern, "tools/list", json!({})).send();
    for word in ["$ref", "$defs", "definitions", "$schema"] {
        assert!(!list.text().contains(word), "{word}");
    }
}

/// D91
#[test]
fn types_are_one_name_and_lists_say_what_they_hold() {
    let report = found(&BOTH, |schema| {
        let kind = schema.get("type");
        if kind.is_some_and(|kind| !kind.is_string()) {
            return Some(format!("type {kind:?}"));
        }
        if kind == Some(&json!("array")) && !schema["items"].is_object() {
            return Some("an array without items".into());
        }
        let values = schema["enum"].as_array().into_iter().flatten();
        if values.clone().any(|value| !value.is_string()) {
            return Some("an enum of several types".into());
        }
        ["format", "oneOf", "allOf", "not", "const"].iter().find(|word| schema.get(**word).is_some()).map(|word| (*word).to_owned())
    });
    assert!(report.is_empty(), "{report}");
    let untyped = found(&["inputSchema"], |schema| schema.get("type").is_none().then(|| "no type".into()));
    assert!(untyped.is_empty(), "{untyped}");
}

/// A list of types is refused by some clients, and no type at all by strict ones.
#[test]
fn a_result_that_may_be_null_is_one_type_or_null() {
    let others = found(&BOTH, |schema| {
        let options = schema.get("anyOf")?.as_array()?;
        let is_one_or_null = options.len() == 2 && options[0]["type"].is_string() && options[1] == json!({ "type": "null" });
        (!is_one_or_null).then(|| format!("{options:?}"))
    });
    assert!(others.is_empty(), "{others}");
    let in_arguments = found(&["inputSchema"], |schema| schema.get("anyOf").map(ToString::to_string));
    assert!(in_arguments.is_empty(), "{in_arguments}");
    let entry = &tools()[0]["outputSchema"]["properties"]["books"]["items"];
    assert_eq!(entry["properties"]["reader"]["anyOf"], json!([{ "type": "string" }, { "type": "null" }]));
    assert_eq!(entry["properties"]["shelf"]["anyOf"][0], json!({ "type": "string", "enum": ["north", "south"] }));
    assert_eq!(entry["required"], json!(["id", "title", "reader", "shelf"]));
}

#[test]
fn every_property_says_what_it_is() {
    let report = found(&BOTH, |schema| {
        let properties = schema["properties"].as_object().into_iter().flatten();
        let silent: Vec<&String> =
            properties.filter(|(_, property)| property["description"].as_str().is_none_or(str::is_empty)).map(|(name, _)| name).collect();
        (!silent.is_empty()).then(|| format!("{silent:?}"))
    });
    assert!(report.is_empty(), "{report}");
}

#[test]
fn arguments_are_closed_but_where_a_tool_passes_them_on_and_results_are_open() {
    for tool in tools() {
        let closed = tool["inputSchema"].get("additionalProperties") == Some(&json!(false));
        assert_eq!(closed, tool["name"] != "ask_librarian", "{tool}");
        assert_ne!(tool["outputSchema"].get("additionalProperties"), Some(&json!(false)), "{tool}");
    }
}

#[test]
fn null_is_never_advertised_and_an_optional_argument_is_not_required() {
    let listing = &tools()[0]["inputSchema"];
    assert_eq!(listing.get("required"), None);
    assert_eq!(
        listing["properties"]["limit"],
        json!({ "type": "integer", "minimum": 1, "description": "The most books to list.", "maximum": 100 })
    );
    assert_eq!(listing["properties"]["shelf"]["enum"], json!(["north", "south"]));
}

#[test]
fn all_four_hints_are_given_and_true() {
    for tool in tools() {
        let hints = tool["annotations"].as_object().unwrap();
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(hints[hint].is_boolean(), "{tool}");
        }
        assert_eq!(hints["title"], tool["title"]);
        assert!(!(hints["readOnlyHint"] == true && hints["destructiveHint"] == true), "{tool}");
    }
}

/// D93
#[test]
fn names_are_of_letters_digits_and_underscores() {
    let plain = |name: &str| {
        name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    };
    for tool in tools() {
        let name = tool["name"].as_str().unwrap();
        assert!(plain(name) && name.len() <= 36, "{name}");
    }
    let report = found(&BOTH, |schema| {
        let odd: Vec<&String> = schema["properties"].as_object()?.keys().filter(|name| !plain(name)).collect();
        (!odd.is_empty()).then(|| format!("{odd:?}"))
    });
    assert!(report.is_empty(), "{report}");
}

#[test]
fn the_list_has_the_same_bytes_every_time_and_in_every_instance() {
    let list = || open::<LikeChecklists>().ask(Era::Modern, "tools/list", json!({})).send().body;
    assert_eq!(list(), list());
    for (kind, door) in every_kind() {
        let ask = || door.ask(Era::Legacy, "tools/list", json!({})).send().body;
        assert_eq!(ask(), ask(), "{kind}");
    }
}

#[test]
fn the_list_reads_as_it_is_meant_to() {
    insta::assert_json_snapshot!("tools", tools());
}
