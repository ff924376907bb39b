//! The envelope: ids, batches, notifications, and bodies that are no request.

use onepost_core::json::MAX_DEPTH;
use serde_json::{Value, json};

use library::client::{Answer, Door, Draft, META_CAPABILITIES, META_VERSION};
use library::{LikeAgents, LikeChecklists, every_kind, open};

/// What a body is answered to by legacy rules and by those of 2026-07-28.
fn both(door: &Door, body: &[u8]) -> [Answer; 2] {
    let legacy = door.post().body(body.to_vec()).send();
    let modern = door.post().header("mcp-protocol-version", "2026-07-28").body(body.to_vec()).send();
    [legacy, modern]
}

/// A body without a usable id: 200 and `id: null`, from 2026-07-28 on 400 and no id.
fn refused(door: &Door, body: &[u8], code: i64) {
    let shown = String::from_utf8_lossy(&body[..body.len().min(120)]).into_owned();
    let [legacy, modern] = both(door, body);
    assert_eq!(legacy.fault(), (200, code), "{shown}");
    assert_eq!(legacy.json().get("id"), Some(&Value::Null), "{shown}");
    assert_eq!(modern.fault(), (400, code), "{shown}");
    assert_eq!(modern.json().get("id"), None, "{shown}");
}

fn ping(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)
}

fn batch(messages: &[&str]) -> String {
    format!("[{}]", messages.join(","))
}

fn legacy<'d>(door: &'d Door, version: &str, body: &str) -> Draft<'d> {
    door.post().header("mcp-protocol-version", version).body(body.to_owned())
}

/// D23, D25
#[test]
fn ids_are_echoed_byte_for_byte() {
    let door = open::<LikeAgents>();
    for id in [r#""req-abc-123""#, "0", "-7", "9223372036854775808", "18446744073709551615", r#""\u00e9 \/""#, r#""""#, "-0"] {
        assert_eq!(door.post().body(ping(id)).send().text(), format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
        let unknown = door.post().body(ping(id).replace("ping", "nope")).send();
        assert!(unknown.text().starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":"#)), "errors echo it too: {}", unknown.text());
    }
}

/// D25, D27
#[test]
fn an_id_that_is_neither_text_nor_a_whole_number_is_refused() {
    let door = open::<LikeAgents>();
    for id in ["null", "1.0", "1.5", "1e3", "1E999", "true", "[]", "{}", "[[1]]"] {
        refused(&door, ping(id).as_bytes(), -32600);
    }
    assert_eq!(door.post().body(ping("1")).send().status, 200, "the next request is served");
}

#[test]
fn a_request_that_is_refused_after_its_id_was_read_gets_its_id_back() {
    let door = open::<LikeAgents>();
    for body in [r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, r#"{"id":7,"method":"ping"}"#, r#"{"method":7,"id":7,"jsonrpc":"2.0"}"#] {
        let [legacy, modern] = both(&door, body.as_bytes());
        assert_eq!((legacy.fault(), &legacy.json()["id"]), ((200, -32600), &json!(7)), "{body}");
        assert_eq!((modern.fault(), &modern.json()["id"]), ((400, -32600), &json!(7)), "{body}");
    }
}

#[test]
fn params_are_an_object_or_absent() {
    let door = open::<LikeAgents>();
    for params in ["[]", "7", "\"x\"", "true"] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{params}}}"#);
        assert_eq!(door.post().body(body).send().fault(), (200, -32602), "{params}");
    }
    let body = r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":null}"#;
    assert_eq!(door.post().body(body).send().status, 200);
}

/// D33. The ruling goes by the era and not by the product: 200 by legacy rules, 400 from 2026-07-28 on.
#[test]
fn what_is_no_json_is_a_parse_error_and_changes_nothing() {
    for (_, door) in every_kind() {
        let add = |title: &[u8]| {
            let (head, tail) =
                (br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add_book","arguments":{"title":"#, b"}}}");
            [&head[..], title, &tail[..]].concat()
        };
        let broken = [add(br#""\ud800""#), add(br#""\udc00\ud800""#), add(b"\"\xff\""), add(b"\"\n\""), add(b"'x'"), add(b"NaN")];
        for body in [&b""[..], b" ", b"{", b"nope", b"{}{}", b"[1,]"].into_iter().chain(broken.iter().map(Vec::as_slice)) {
            refused(&door, body, -32700);
        }
        assert_eq!(door.backstage.titles(), ["Emma", "Ulysses"]);
        assert_eq!(door.post().body(ping("1")).send().status, 200, "the next request is served");
    }
}

#[test]
fn what_is_json_and_no_request_is_an_invalid_request() {
    let door = open::<LikeChecklists>();
    for body in ["1", "null", "\"x\"", "true", "{}", r#"{"jsonrpc":"2.0"}"#, r#"{"jsonrpc":2.0,"method":"ping"}"#] {
        refused(&door, body.as_bytes(), -32600);
    }
}

/// D35
#[test]
fn a_member_named_twice_is_refused_at_any_depth_and_nothing_is_done() {
    for (_, door) in every_kind() {
        let call = |params: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        for body in [
            call(r#"{"name":"burn_book","arguments":{"book_id":"bk-1","confirm":false,"confirm":true}}"#),
            call(r#"{"name":"burn_book","arguments":{"book_id":"bk-1","confirm":true,"c\u006fnfirm":false}}"#),
            call(r#"{"name":"list_books","arguments":{},"name":"burn_book"}"#),
            call(r#"{"name":"burn_book","arguments":{"book_id":"bk-1","book_id":"bk-2","confirm":true}}"#),
            call(r#"{"name":"add_book","arguments":{"title":"x","notes":{"a":[{"b":1,"b":2}]}}}"#),
            call("{}").replace("params", r#"id":2,"params"#),
            call("{}").replace("params", r#"m\u0065thod":"ping","params"#),
        ] {
            refused(&door, body.as_bytes(), -32600);
        }
        assert_eq!(door.backstage.titles(), ["Emma", "Ulysses"]);
    }
}

/// D35
#[test]
fn a_member_named_twice_in_arguments_sent_as_text_burns_nothing() {
    for (kind, door) in every_kind() {
        let arguments = r#"{"book_id":"bk-1","confirm":false,"confirm":true}"#;
        let answer = door.post().rpc("tools/call", json!({ "name": "burn_book", "arguments": arguments })).send().json();
        assert!(answer["error"]["code"] == -32602 || answer["result"]["isError"] == true, "{kind}: {answer}");
        assert_eq!(door.backstage.titles(), ["Emma", "Ulysses"]);
    }
}

/// D31. One mark, and only before the whole.
#[test]
fn a_byte_order_mark_is_passed_over() {
    let door = open::<LikeChecklists>();
    let marked = [b"\xEF\xBB\xBF", ping("1").as_bytes()].concat();
    assert_eq!(door.post().body(marked).send().body, door.post().body(ping("1")).send().body);
    refused(&door, b"\xEF\xBB\xBF\xEF\xBB\xBF{}", -32700);
}

#[test]
fn an_escaped_method_name_is_the_name() {
    let body = r#"{"jsonrpc":"2.0","id":1,"m\u0065thod":"p\u0069ng"}"#;
    assert_eq!(open::<LikeChecklists>().post().body(body).send().result(), json!({}));
}

#[test]
fn a_body_is_read_to_the_limit_of_its_depth_and_refused_beyond_it() {
    let door = open::<LikeChecklists>();
    // The envelope, params, arguments and notes are the first four levels.
    let nested = |depth: usize| {
        let inner = format!("{}{}", "[".repeat(depth - 4), "]".repeat(depth - 4));
        let params = format!(r#"{{"name":"add_book","arguments":{{"title":"x","notes":{{"a":{inner}}}}}}}"#);
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#)
    };
    assert_eq!(door.post().body(nested(MAX_DEPTH)).send().result()["isError"], Value::Null);
    refused(&door, nested(MAX_DEPTH + 1).as_bytes(), -32600);
    refused(&door, "[".repeat(500_000).as_bytes(), -32600);
    refused(&door, ping(&"[".repeat(500_000)).as_bytes(), -32700);
}

#[test]
fn a_body_of_very_many_members_is_read_in_time_that_grows_with_its_length() {
    let door = open::<LikeChecklists>();
    let members: String = (0..80_000).map(|number| format!(r#","m{number}":0"#)).collect();
    assert_eq!(door.post().body(ping(&format!("1{members}"))).send().status, 200, "members that mean nothing are passed over");
}

/// D9, D11
#[test]
fn a_notification_is_accepted_without_a_body_whatever_it_is_called() {
    for (kind, door) in every_kind() {
        for method in ["notifications/initialized", "notifications/cancelled", "made/up", "tools/call"] {
            let params = json!({ "name": "burn_book", "arguments": { "book_id": "bk-1", "confirm": true } });
            let body = json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string();
            for answer in both(&door, body.as_bytes()) {
                assert_eq!((answer.status, answer.body.len()), (202, 0), "{kind} {method}");
                assert_eq!(answer.header("content-type"), None);
            }
        }
        assert_eq!(door.backstage.titles(), ["Emma", "Ulysses"], "no tool runs without somebody to tell");
    }
}

#[test]
fn a_posted_answer_is_accepted_by_legacy_rules_and_refused_from_2026_on() {
    let door = open::<LikeChecklists>();
    for body in [r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"x"}}"#] {
        let [legacy, modern] = both(&door, body.as_bytes());
        assert_eq!((legacy.status, legacy.body.len()), (202, 0));
        assert_eq!(modern.fault(), (400, -32600));
        assert_eq!(modern.json().get("id"), None);
    }
}

#[test]
fn a_batch_is_answered_in_its_order_where_the_version_has_batches() {
    let door = open::<LikeChecklists>();
    let note = r#"{"jsonrpc":"2.0","method":"notifications/x"}"#;
    let body = batch(&[&ping("2"), note, "7", r#"{"jsonrpc":"2.0","id":"b","method":"nope"}"#, "[]", &ping("1")]);
    for answer in [door.post().body(body.clone()).send(), legacy(&door, "2025-03-26", &body).send()] {
        assert_eq!(answer.status, 200);
        let answers: Vec<(Value, Value)> =
            answer.json().as_array().unwrap().iter().map(|one| (one["id"].clone(), one["error"]["code"].clone())).collect();
        let expected = [(json!(2), json!(null)), (json!(null), json!(-32600)), (json!("b"), json!(-32601))];
        let rest = [(json!(null), json!(-32600)), (json!(1), json!(null))];
        assert_eq!(answers, [&expected[..], &rest[..]].concat());
    }
}

#[test]
fn a_batch_that_wants_no_answer_gets_none() {
    let door = open::<LikeChecklists>();
    let body = batch(&[r#"{"jsonrpc":"2.0","method":"a"}"#, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);
    let answer = door.post().body(body).send();
    assert_eq!((answer.status, answer.body.len()), (202, 0));
}

#[test]
fn a_batch_holds_one_to_twenty_messages() {
    let pings = |count: usize| batch(&vec![ping("1").as_str(); count]);
    for (kind, door) in every_kind() {
        assert_eq!(door.post().body(pings(20)).send().json().as_array().map(Vec::len), Some(20), "{kind}");
        for body in [pings(21), pings(0)] {
            for draft in [door.post(), door.post().header("mcp-protocol-version", "2025-03-26")] {
                let answer = draft.body(body.clone()).send();
                assert_eq!((answer.fault(), &answer.json()["id"]), ((200, -32600), &Value::Null), "{kind}");
            }
        }
    }
}

#[test]
fn a_batch_with_initialize_inside_is_refused_whole() {
    let add = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "add_book", "arguments": { "title": "x" } } });
    let greeting = r#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":{}}"#;
    for (kind, door) in every_kind() {
        for body in [batch(&[&add.to_string(), greeting]), batch(&[greeting, &add.to_string()]), batch(&[greeting])] {
            assert_eq!(door.post().body(body).send().fault(), (200, -32600), "{kind}");
        }
        assert_eq!(door.backstage.titles().len(), 2, "{kind}: the rest was not done either");
    }
}

/// What a message in it claims is between that message and the version that it names.
#[test]
fn only_the_version_header_says_whether_there_are_batches() {
    for (kind, door) in every_kind() {
        let claims = |version: &str| {
            let meta = json!({ META_VERSION: version, META_CAPABILITIES: {} });
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } }).to_string()
        };
        let body = batch(&[&claims("2025-06-18"), &claims("2026-07-28"), &ping("2")]);
        let answers = door.post().body(body.clone()).send().json();
        assert!(answers[0]["result"]["tools"][0]["outputSchema"].is_object(), "{kind}: by the rules of 2025-06-18");
        assert_eq!((&answers[1]["id"], &answers[1]["error"]["code"]), (&json!(1), &json!(-32020)), "{kind}: no header says so");
        assert_eq!(answers[2]["result"], json!({}), "{kind}");
        for version in ["2026-07-28", "2030-01-01"] {
            let answer = legacy(&door, version, &body).send();
            assert_eq!((answer.fault(), answer.json().get("id")), ((400, -32600), None), "{kind} {version}");
        }
    }
}

#[test]
fn a_body_with_one_fault_anywhere_in_a_batch_is_refused_whole() {
    let door = open::<LikeChecklists>();
    let add = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "add_book", "arguments": { "title": "x" } } });
    let twice = r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#;
    assert_eq!(door.post().body(batch(&[&add.to_string(), twice])).send().fault(), (200, -32600));
    assert_eq!(door.backstage.titles().len(), 2);
}
