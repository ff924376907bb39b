//! Results: the same JSON as text and as a value, in every era and of every product.

use std::collections::HashMap;

use serde_json::{Value, json};

use library::client::{BOTH, Era, REQUEST_ID};
use library::{CREATOR, LikeChecklists, ORG, SERIAL, every_kind, open};

/// Calls that succeed, one for each tool that can.
fn successes() -> Vec<(&'static str, Value)> {
    vec![
        ("list_books", json!({})),
        ("count_books", json!({})),
        ("add_book", json!({ "title": "Middlemarch" })),
        ("lend_book", json!({ "book_id": "bk-1", "reader": "Ada" })),
        ("burn_book", json!({ "book_id": "bk-2", "confirm": true })),
        ("ask_librarian", json!({ "question": "Where is it?" })),
        ("show_cover", json!({})),
        ("show_card", json!({})),
        ("print_catalogue", json!({ "letters": 3 })),
    ]
}

#[test]
fn the_text_and_the_structured_content_are_the_same_json() {
    for (kind, door) in every_kind() {
        for era in BOTH {
            for (tool, arguments) in successes() {
                let result = door.call(era, tool, arguments).result();
                let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
                assert_eq!(result["structuredContent"], text, "{kind} {era:?} {tool}");
                assert_eq!((&result["content"][0]["type"], result.get("isError")), (&json!("text"), None), "{kind} {tool}");
            }
        }
    }
}

/// D79
#[test]
fn structured_content_is_an_object_also_where_the_list_in_it_is_empty() {
    let door = open::<LikeChecklists>();
    for (tool, arguments) in successes() {
        assert!(door.succeed(tool, arguments).is_object(), "{tool}");
    }
    assert_eq!(door.succeed("list_books", json!({ "shelf": "north" })), json!({ "books": [] }));
}

#[test]
fn structured_content_is_sent_to_every_version() {
    let door = open::<LikeChecklists>();
    for version in door.profile.legacy {
        let request = door.post().header("mcp-protocol-version", version.as_str());
        let result = request.rpc("tools/call", json!({ "name": "count_books" })).send().result();
        assert_eq!(result["structuredContent"]["count"], 2, "{}", version.as_str());
    }
}

/// D81
#[test]
fn every_result_satisfies_the_output_schema_of_its_tool() {
    let door = open::<LikeChecklists>();
    let listed = door.ask(Era::Modern, "tools/list", json!({})).send().result();
    let schemas: HashMap<&str, &Value> =
        listed["tools"].as_array().unwrap().iter().map(|tool| (tool["name"].as_str().unwrap(), &tool["outputSchema"])).collect();
    for (tool, arguments) in successes() {
        let content = door.succeed(tool, arguments);
        let validator = jsonschema::validator_for(schemas[tool]).unwrap();
        let faults: Vec<String> = validator.iter_errors(&content).map(|fault| fault.to_string()).collect();
        assert!(faults.is_empty(), "{tool}: {content} {faults:?} {}", schemas[tool]);
    }
}

/// D81: text alone where the output schema promises another shape; the same as a value where it admits the error's.
#[test]
fn a_refusal_is_a_value_only_where_the_output_schema_admits_its_shape() {
    for (kind, door) in every_kind() {
        let schemas = door.ask(Era::Modern, "tools/list", json!({})).send().result();
        for era in BOTH {
            for tool in ["burn_book", "dust_shelves", "print_catalogue"] {
                let arguments = match tool {
                    "burn_book" => json!({ "book_id": "bk-1" }),
                    "print_catalogue" => json!({ "letters": 900_000 }),
                    _ => json!({}),
                };
                let result = door.call(era, tool, arguments).result();
                let told: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
                assert!(told.is_object() && result["isError"] == true, "{kind} {tool}: {result}");
                assert_eq!(result.get("structuredContent"), (kind == "rent").then_some(&told), "{kind} {tool}");
                let listed = schemas["tools"].as_array().unwrap().iter().find(|listed| listed["name"] == tool).unwrap();
                assert_eq!(jsonschema::is_valid(&listed["outputSchema"], &told), kind == "rent", "{kind} {tool}: {told}");
            }
        }
    }
}

#[test]
fn a_refusal_is_written_in_the_dialect_of_the_product() {
    let refusals =
        every_kind().map(|(kind, door)| (kind.to_owned(), door.call(Era::Legacy, "burn_book", json!({ "book_id": "bk-1" })).refusal()));
    insta::assert_json_snapshot!("a_refusal_in_each_dialect", Value::Object(refusals.into_iter().collect()));
}

/// D83
#[test]
fn a_large_whole_number_keeps_every_digit_in_both_places() {
    let door = open::<LikeChecklists>();
    for era in BOTH {
        let answer = door.call(era, "count_books", json!({}));
        assert_eq!(answer.text().matches(&SERIAL.to_string()).count(), 2, "{}", answer.text());
    }
}

/// D61
#[test]
fn a_picture_stands_after_the_text() {
    let door = open::<LikeChecklists>();
    for era in BOTH {
        let result = door.call(era, "show_cover", json!({})).result();
        let expected = json!([
            { "type": "text", "text": r#"{"title":"Emma 📚"}"# },
            { "type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png" },
        ]);
        assert_eq!(result["content"], expected);
    }
}

#[test]
fn a_tool_knows_who_calls_and_when_and_by_which_name() {
    let door = open::<LikeChecklists>();
    let card = door.succeed("show_card", json!({}));
    let expected = json!({
        "org": ORG, "key": &door.keys.good["lib_live_".len()..][..12], "creator": CREATOR,
        "request_id": REQUEST_ID, "now": "2026-09-01T12:00:00Z", "capabilities": {},
    });
    assert_eq!(card, expected);
}

/// D105
#[test]
fn a_call_that_says_it_is_idempotent_leaves_the_same_state_when_it_is_repeated() {
    let door = open::<LikeChecklists>();
    let listed = door.ask(Era::Modern, "tools/list", json!({})).send().result();
    for tool in listed["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let Some((_, arguments)) = successes().into_iter().find(|(tool, _)| *tool == name) else {
            continue;
        };
        let state = || format!("{:?}", door.backstage.books.lock().unwrap());
        door.succeed(name, arguments.clone());
        let once = state();
        door.succeed(name, arguments);
        assert_eq!(once == state(), tool["annotations"]["idempotentHint"] == true, "{name}");
    }
}
