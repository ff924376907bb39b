//! Area 4, arguments and results: the cases tried under every ruling, where the tests of the core try one.

use serde_json::{Value, json};

use library::client::{Answer, BOTH, Door, Era};
use library::every_kind;

/// What is told to whoever sent arguments that do not fit, whichever way the product tells it.
fn told(answer: &Answer) -> String {
    match answer.json()["error"]["message"].as_str() {
        Some(message) => {
            assert_eq!(answer.fault(), (200, -32602));
            message.to_owned()
        }
        None => answer.refusal().to_string(),
    }
}

/// A call with arguments as they are written.
fn written(door: &Door, tool: &str, arguments: &str) -> Answer {
    let params = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
    door.post().body(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#)).send()
}

/// D63. By the ruling agents, whose clients know two codes only, see it as `isError`.
#[test]
fn a_name_that_is_not_exactly_a_tools_is_unknown() {
    for (kind, door) in every_kind() {
        for era in BOTH {
            for name in ["List_Books", "LIST_BOOKS", "list_agents", "list_assets", "rent_exec"] {
                let answer = door.call(era, name, json!({}));
                if kind == "agents" {
                    assert!(answer.refusal()["error"].is_string(), "{kind} {name:?}");
                    assert_eq!(answer.record.code.as_deref(), Some("unknown_tool"), "{kind} {name:?}");
                } else {
                    assert_eq!(answer.fault(), (200, -32602), "{kind} {era:?} {name:?}");
                }
            }
        }
        // Blanks around a header mean nothing, and those around a name do: only the body can hold them.
        for name in [" list_books", "list_books ", "list_books\n"] {
            let answer = door.post().rpc("tools/call", json!({ "name": name })).send();
            assert_eq!(answer.record.subjects, ["unknown tool"], "{kind} {name:?}");
        }
        let nobody = door.ask(Era::Legacy, "tools/call", json!({ "name": "list_agents" })).header("authorization", "Bearer wrong");
        assert_eq!(nobody.send().status, 401, "{kind}: the key comes first");
    }
}

/// D71
#[test]
fn an_object_or_a_list_as_text_is_read_by_every_product_and_what_holds_more_is_refused_by_name() {
    for (kind, door) in every_kind() {
        let arguments = json!({ "title": "[1]", "notes": r#"{"plate":"AB1"}"#, "tags": r#"["a"]"# });
        let understood = &door.succeed("add_book", arguments)["understood"];
        assert_eq!(understood["notes"], json!({ "plate": "AB1" }), "{kind}");
        assert_eq!((&understood["title"], &understood["tags"]), (&json!("[1]"), &json!(["a"])), "{kind}: text stays text");
        for (argument, text) in [("notes", "AB1"), ("notes", "[1]"), ("notes", "{} and more"), ("tags", "a, b"), ("tags", "{}")] {
            let refused = told(&door.call(Era::Legacy, "add_book", json!({ "title": "x", argument: text })));
            assert!(refused.contains(&format!("/{argument} must be")), "{kind} {text}: {refused}");
        }
    }
}

/// D73
#[test]
fn a_whole_number_with_a_point_or_a_power_is_one_to_every_product() {
    for (kind, door) in every_kind() {
        for (number, pages) in [("5.0", 5), ("30.0", 30), ("1e1", 10)] {
            let result = written(&door, "add_book", &format!(r#"{{"title":"x","pages":{number}}}"#)).result();
            assert_eq!(result["structuredContent"]["understood"]["pages"], pages, "{kind} {number}");
        }
        assert_eq!(
            written(&door, "list_books", r#"{"limit":1.0}"#).result()["structuredContent"]["books"].as_array().map(Vec::len),
            Some(1)
        );
    }
}

/// D75. Where the schema passes unknown arguments on, the product's own route refuses them by name.
#[test]
fn an_argument_that_a_tool_passes_on_and_nobody_knows_is_refused_by_name() {
    for (kind, door) in every_kind() {
        for era in BOTH {
            let refusal = door.call(era, "ask_librarian", json!({ "question": "Where?", "bribe": 600 })).refusal();
            assert!(refusal.to_string().contains("bribe is not an argument"), "{kind}: {refusal}");
        }
    }
}

/// D77. By the ruling an update refuses `null`, which could mean to keep and to clear; `""` is a text like any other.
#[test]
fn a_text_is_kept_when_it_is_left_out_emptied_by_an_empty_one_and_not_by_null() {
    for (kind, door) in every_kind() {
        let lend = |reader: Value| door.call(Era::Legacy, "lend_book", json!({ "book_id": "bk-1", "reader": reader }));
        let reader = || door.succeed("lend_book", json!({ "book_id": "bk-1" }))["reader"].clone();
        lend(json!("Ada"));
        assert_eq!(reader(), "Ada", "{kind}: left out");
        let refused = told(&lend(json!(null)));
        assert!(refused.contains("/reader") && refused.contains("leave it out"), "{kind}: {refused}");
        assert_eq!(reader(), "Ada", "{kind}: after the refusal");
        lend(json!(""));
        assert_eq!(reader(), "", "{kind}: emptied");
    }
}

/// D81. Clients check what stands in `structuredContent` against the output schema, and show that error instead of ours.
#[test]
fn a_refusal_by_any_tool_holds_no_value_or_one_that_its_output_schema_admits() {
    for (kind, door) in every_kind() {
        let listed = door.ask(Era::Modern, "tools/list", json!({})).send().result();
        for tool in listed["tools"].as_array().unwrap() {
            let name = tool["name"].as_str().unwrap();
            let answer = match name {
                "ask_librarian" => door.call(Era::Legacy, name, json!({ "question": "Where?", "bribe": 5 })),
                _ => door.call(Era::Legacy, name, json!({ "no_such_argument": 1 })),
            };
            if kind == "checklists" && name != "ask_librarian" {
                assert_eq!(answer.fault(), (200, -32602), "{name}: no result at all");
                continue;
            }
            let (refusal, result) = (answer.refusal(), answer.result());
            match result.get("structuredContent") {
                None => assert_ne!(kind, "rent", "{name}: its refusals are values"),
                Some(value) => {
                    assert_eq!((kind, value), ("rent", &refusal), "{name}");
                    assert!(jsonschema::is_valid(&tool["outputSchema"], value), "{name}: {value} {}", tool["outputSchema"]);
                }
            }
        }
    }
}

/// D83. What a tool was given to keep comes back to the last digit; what JSON cannot say never gets in.
#[test]
fn numbers_that_a_float_cannot_carry_keep_their_digits_in_free_content() {
    for (kind, door) in every_kind() {
        let numbers = r#""n":9007199254740993,"m":-9007199254740993,"f":0.1"#;
        let answer = written(&door, "add_book", &format!(r#"{{"title":"x","notes":{{{numbers}}}}}"#));
        assert!(answer.text().contains(numbers), "{kind}: as a value: {}", answer.text());
        assert!(answer.text().contains(&numbers.replace('"', r#"\""#)), "{kind}: as text: {}", answer.text());
        assert_eq!(written(&door, "add_book", r#"{"title":"x","notes":{"inf":1e309}}"#).fault(), (200, -32700), "{kind}");
        assert_eq!(door.backstage.titles().len(), 3, "{kind}");
    }
}
