//! Area 2, the envelope: ids on every way that a request can end, and marks before a body.

use serde_json::{Value, json};

use library::client::{BOTH, Door, Draft, Era};
use library::every_kind;

/// A request for each way to end: in a result, in a tool's refusal, in an error of the protocol.
fn every_way_to_end(door: &Door, era: Era) -> Vec<(&'static str, Draft<'_>)> {
    let call = |tool: &str, arguments: Value| door.ask(era, "tools/call", json!({ "name": tool, "arguments": arguments }));
    vec![
        ("a list", door.ask(era, "tools/list", json!({}))),
        ("a handshake", door.ask(era, "initialize", json!({}))),
        ("a call", call("count_books", json!({}))),
        ("a refusal", call("burn_book", json!({ "book_id": "bk-1" }))),
        ("a failure", call("dust_shelves", json!({}))),
        ("wrong arguments", call("list_books", json!({ "limit": 0 }))),
        ("an unknown tool", call("no_such_tool", json!({}))),
        ("an unknown method", door.ask(era, "made/up", json!({}))),
        ("a strange version", door.ask(era, "tools/list", json!({})).header("mcp-protocol-version", "2099-01-01")),
    ]
}

/// The same request with another id, as the text that it is.
fn with_id<'d>(draft: Draft<'d>, id: &str) -> Draft<'d> {
    let mut body = String::new();
    let draft = draft.change(|sent| {
        sent["id"] = json!("ID");
        body = sent.to_string();
    });
    draft.body(body.replace(r#""id":"ID""#, &format!(r#""id":{id}"#)))
}

/// D23, D25, D27. Larger numbers than a float carries are echoed too, so that none becomes another one.
#[test]
fn every_answer_gives_the_id_back_byte_for_byte() {
    for (kind, door) in every_kind() {
        for era in BOTH {
            for id in [r#""req-abc-123""#, "0", "-7", "9007199254740993", "9223372036854775808", "18446744073709551615"] {
                for (what, draft) in every_way_to_end(&door, era) {
                    let answer = with_id(draft, id).send();
                    let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"#);
                    assert!(answer.text().starts_with(&start), "{kind} {era:?} {what}: {}", answer.text());
                }
            }
        }
    }
}

/// D25, D27. `1.0` and `1e3` are refused as well: readers disagree on how to write them again.
#[test]
fn an_id_that_is_no_id_is_refused_whatever_is_asked_and_the_next_request_is_served() {
    for (kind, door) in every_kind() {
        for era in BOTH {
            for id in ["1.0", "1.5", "1e3", "true", "[]", "{}", "null"] {
                let answer = with_id(door.ask(era, "tools/call", json!({ "name": "count_books" })), id).send();
                let (status, echoed) = if era == Era::Modern { (400, None) } else { (200, Some(Value::Null)) };
                assert_eq!(answer.fault(), (status, -32600), "{kind} {era:?} {id}");
                assert_eq!(answer.json().get("id").cloned(), echoed, "{kind} {era:?} {id}");
            }
            assert_eq!(door.ask(era, "tools/list", json!({})).send().status, 200, "{kind}");
        }
    }
}

/// D31. A byte order mark is accepted.
#[test]
fn a_list_that_is_asked_for_behind_a_byte_order_mark_is_the_same_list() {
    for (kind, door) in every_kind() {
        for era in BOTH {
            let mut marked = b"\xEF\xBB\xBF".to_vec();
            let plain = door.ask(era, "tools/list", json!({})).change(|body| marked.extend(body.to_string().into_bytes()));
            let plain = plain.send();
            assert_eq!(plain.status, 200);
            assert_eq!(door.ask(era, "tools/list", json!({})).body(marked).send().body, plain.body, "{kind} {era:?}");
        }
    }
}
