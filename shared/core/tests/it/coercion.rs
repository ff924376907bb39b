//! Arguments as clients write them: read where the schema leaves no doubt, refused by name where it does.

use serde_json::{Value, json};

use library::client::{BOTH, Door, Era};
use library::{LikeAgents, LikeChecklists, every_kind, open};

fn add(door: &Door, arguments: Value) -> Value {
    door.succeed("add_book", arguments)["understood"].clone()
}

/// The rules that the arguments of a call break, each with its place.
fn broken(tool: &str, arguments: Value) -> Vec<(String, String)> {
    let answer = open::<LikeChecklists>().call(Era::Legacy, tool, arguments);
    assert_eq!(answer.fault(), (200, -32602));
    let errors = answer.json()["error"]["data"]["errors"].as_array().unwrap().clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    errors.iter().map(|error| (text(&error["path"]), text(&error["rule"]))).collect()
}

fn one(path: &str, rule: &str) -> Vec<(String, String)> {
    vec![(path.to_owned(), rule.to_owned())]
}

/// D69
#[test]
fn arguments_left_out_or_null_or_empty_are_the_same() {
    for (kind, door) in every_kind() {
        for era in BOTH {
            let params = [
                json!({ "name": "list_books" }),
                json!({ "name": "list_books", "arguments": null }),
                json!({ "name": "list_books", "arguments": {} }),
                json!({ "name": "list_books", "arguments": "{}" }),
            ];
            let answers = params.map(|params| door.ask(era, "tools/call", params).send());
            assert!(answers.iter().all(|answer| answer.body == answers[0].body), "{kind} {era:?}");
            assert_eq!(answers[0].result()["structuredContent"]["books"].as_array().map(Vec::len), Some(2));
        }
    }
}

/// D71
#[test]
fn arguments_may_come_whole_as_json_text() {
    let door = open::<LikeAgents>();
    assert_eq!(door.succeed("list_books", json!(r#"{"limit":1}"#))["books"].as_array().map(Vec::len), Some(1));
}

/// D71
#[test]
fn an_object_or_a_list_may_come_as_json_text_and_text_is_never_read_as_anything_else() {
    let door = open::<LikeChecklists>();
    let understood =
        add(&door, json!({ "title": "{\"a\":1}", "notes": "{\"plate\":\"AB1\"}", "tags": "[\"7\",\"8\"]", "copies": "{\"n\":\"[1]\"}" }));
    assert_eq!(
        understood,
        json!({
            "title": "{\"a\":1}", "pages": null, "number": null, "tags": ["7", "8"],
            "copies": { "n": [1] }, "notes": { "plate": "AB1" },
        })
    );
    for text in ["AB1", "[1]", "", "{", "null", "{\"a\":1,\"a\":2}", "{} {}"] {
        assert_eq!(broken("add_book", json!({ "title": "x", "notes": text })), one("/notes", "type"), "{text}");
    }
}

/// D73
#[test]
fn a_whole_number_may_be_written_with_a_fraction_an_exponent_or_as_text() {
    let door = open::<LikeChecklists>();
    for (written, read) in
        [("5.0", 5), ("1e1", 10), ("\"30\"", 30), ("\"30.0\"", 30), ("\" 5 \"", 5), ("-0.0", 0), ("4294967295", 4_294_967_295_u32)]
    {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"add_book","arguments":{{"title":"x","pages":{written}}}}}}}"#
        );
        let result = door.post().body(body).send().result();
        assert_eq!(result["structuredContent"]["understood"]["pages"], json!(read), "{written}");
    }
    for written in [json!(5.5), json!("5.5"), json!("five"), json!(""), json!(true), json!([5]), json!({}), json!("0x5")] {
        assert_eq!(broken("add_book", json!({ "title": "x", "pages": written })), one("/pages", "type"), "{written}");
    }
}

#[test]
fn a_number_that_the_type_of_an_argument_cannot_hold_is_refused_by_the_schema_and_never_fails_inside() {
    for (argument, value, rule) in [
        ("pages", json!(-1), "minimum"),
        ("pages", json!(4_294_967_296_u64), "maximum"),
        ("pages", json!("4294967296"), "maximum"),
        ("pages", json!(u64::MAX), "maximum"),
        ("number", json!(u64::MAX), "maximum"),
        ("number", json!(9_223_372_036_854_775_808_u64), "maximum"),
        ("number", json!(1e300), "type"),
    ] {
        assert_eq!(broken("add_book", json!({ "title": "x", argument: value })), one(&format!("/{argument}"), rule), "{argument}: {value}");
    }
    let exact = 9_007_199_254_740_991_i64;
    for number in [exact, -exact] {
        assert_eq!(add(&open::<LikeChecklists>(), json!({ "title": "x", "number": number }))["number"], number);
    }
}

#[test]
fn a_truth_may_be_written_as_text() {
    let door = open::<LikeChecklists>();
    assert_eq!(door.succeed("burn_book", json!({ "book_id": "bk-1", "confirm": "true" }))["left"], 1);
    for written in [json!(1), json!("yes"), json!("True"), json!("")] {
        assert_eq!(broken("burn_book", json!({ "book_id": "bk-1", "confirm": written })), one("/confirm", "type"), "{written}");
    }
}

#[test]
fn text_is_not_made_from_a_number() {
    assert_eq!(broken("add_book", json!({ "title": 1984 })), one("/title", "type"));
    assert_eq!(broken("lend_book", json!({ "book_id": "7" })), one("/book_id", "pattern"));
    assert_eq!(broken("list_books", json!({ "shelf": "East" })), one("/shelf", "enum"));
}

#[test]
fn null_for_an_optional_argument_means_that_it_is_left_out() {
    for (_, door) in every_kind() {
        let understood = add(&door, json!({ "title": "x", "pages": null, "tags": null, "notes": null }));
        assert_eq!(understood["pages"], Value::Null);
    }
    assert_eq!(broken("add_book", json!({ "title": null })), one("/title", "type"), "and a required one is wanted");
}

#[test]
fn null_inside_free_content_is_content() {
    let understood = add(&open::<LikeChecklists>(), json!({ "title": "x", "notes": { "a": null, "b": [null] } }));
    assert_eq!(understood["notes"], json!({ "a": null, "b": [null] }));
}

/// D77
#[test]
fn null_is_refused_where_it_could_mean_to_clear_or_to_keep() {
    let door = open::<LikeChecklists>();
    door.succeed("lend_book", json!({ "book_id": "bk-1", "reader": "Ada" }));
    assert_eq!(broken("lend_book", json!({ "book_id": "bk-1", "reader": null })), one("/reader", "type"));
    assert_eq!(door.succeed("lend_book", json!({ "book_id": "bk-1" }))["reader"], "Ada", "left out, it stays");
    assert_eq!(door.succeed("lend_book", json!({ "book_id": "bk-1", "reader": "" }))["reader"], "", "empty text is a value");
}

#[test]
fn arguments_that_are_no_object_break_the_rule_of_the_whole() {
    for arguments in [json!([]), json!("nope"), json!(7), json!(true), json!("[]"), json!("")] {
        assert_eq!(broken("list_books", arguments.clone()), one("", "type"), "{arguments}");
    }
}

#[test]
fn what_a_tool_passes_on_reaches_it_as_it_was_sent() {
    let door = open::<LikeChecklists>();
    let answer = door.succeed("ask_librarian", json!({ "question": "Where is it?", "loud": "5", "list": [1, { "a": null }] }));
    assert_eq!(answer, json!({ "words": 3, "rest": { "loud": "5", "list": [1, { "a": null }] } }));
}

#[test]
fn a_list_without_repeats_is_checked_in_time_that_grows_with_its_length() {
    let tags: Vec<String> = (0..60_000).map(|number| format!("t{number}")).collect();
    assert_eq!(broken("add_book", json!({ "title": "x", "tags": tags })), one("/tags", "maxItems"));
    assert_eq!(broken("add_book", json!({ "title": "x", "tags": ["a", "b", "a"] })), one("/tags", "uniqueItems"));
}

#[test]
fn extra_members_beside_name_and_arguments_are_not_in_the_way() {
    let params = json!({ "name": "count_books", "arguments": {}, "task": {}, "_meta": { "progressToken": "p" } });
    assert_eq!(open::<LikeChecklists>().post().rpc("tools/call", params).send().result()["structuredContent"]["count"], 2);
}
