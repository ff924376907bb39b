//! Bodies that nobody would write: whatever comes in, an answer goes out that a client can read.

use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Map, Value};

use library::client::{Answer, Door, META_CAPABILITIES, META_VERSION};
use library::every_kind;

const STATUSES: [u16; 4] = [200, 202, 400, 404];

/// An answer is empty, or JSON of the right frame.
fn readable(answer: &Answer) -> Result<(), TestCaseError> {
    prop_assert!(STATUSES.contains(&answer.status), "{:?}", answer);
    if answer.status == 202 {
        prop_assert!(answer.body.is_empty());
        return Ok(());
    }
    prop_assert_eq!(answer.header("content-type"), Some("application/json"));
    let body: Value = serde_json::from_slice(&answer.body).map_err(|error| TestCaseError::fail(format!("{error}: {answer:?}")))?;
    for one in body.as_array().map_or(std::slice::from_ref(&body), Vec::as_slice) {
        prop_assert_eq!(&one["jsonrpc"], "2.0");
        prop_assert!(one.get("result").is_some() != one.get("error").is_some(), "{}", one);
    }
    Ok(())
}

/// Opened once: a door is dear beside a request.
fn door(kind: usize) -> &'static Door {
    static DOORS: LazyLock<[(&'static str, Door); 4]> = LazyLock::new(every_kind);
    &DOORS[kind].1
}

fn header() -> impl Strategy<Value = Option<&'static str>> {
    prop::option::of(prop::sample::select(vec!["2024-10-07", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "2099-01-01"]))
}

/// JSON that is made of the words of the protocol, so that it comes far in.
fn word() -> impl Strategy<Value = String> {
    let known = [
        "jsonrpc",
        "2.0",
        "id",
        "method",
        "params",
        "name",
        "arguments",
        "_meta",
        "tools/call",
        "tools/list",
        "initialize",
        "ping",
        "cursor",
        "server/discover",
        META_VERSION,
        META_CAPABILITIES,
        "2026-07-28",
        "2025-06-18",
        "protocolVersion",
        "list_books",
        "add_book",
        "lend_book",
        "print_catalogue",
        "move_shelf",
        "title",
        "limit",
        "notes",
        "copies",
        "book_id",
        "{}",
        "[]",
        "result",
        "error",
    ];
    prop_oneof![6 => prop::sample::select(known.to_vec()).prop_map(str::to_owned), 1 => "\\PC{0,8}"]
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        3 => word().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        1 => prop::sample::select(vec![Value::Null, Value::Bool(true), Value::Bool(false)]),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            3 => prop::collection::vec((word(), inner), 0..6).prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Ids as a client may send them, as JSON text.
fn sane_id() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|id| id.to_string()),
        "-?[1-9][0-9]{0,40}",
        "\\PC{0,20}".prop_map(|text| Value::from(text).to_string()),
        "(\\\\u00[0-9a-f]{2}|\\\\/|\\\\n|x){0,6}".prop_map(|text| format!("\"{text}\"")),
    ]
}

fn method() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec!["tools/call", "tools/list", "initialize", "ping", "server/discover"]).prop_map(str::to_owned),
        word()
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_answered(body in prop::collection::vec(any::<u8>(), 0..200), version in header(), kind in 0_usize..4) {
        let door = door(kind);
        let request = door.post().body(body);
        readable(&match version { Some(version) => request.header("mcp-protocol-version", version), None => request }.send())?;
    }

    #[test]
    fn any_json_is_answered(body in json_value(), cut in prop::option::weighted(0.3, any::<prop::sample::Index>()), version in header(), kind in 0_usize..4) {
        let door = door(kind);
        let mut bytes = body.to_string().into_bytes();
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len() + 1));
        }
        let request = door.post().body(bytes);
        readable(&match version { Some(version) => request.header("mcp-protocol-version", version), None => request }.send())?;
    }

    #[test]
    fn any_request_gets_its_id_back_byte_for_byte(id in sane_id(), method in method(), params in json_value(), version in header(), kind in 0_usize..4) {
        let door = door(kind);
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{},"params":{params}}}"#, Value::from(method));
        let request = door.post().body(body);
        let answer = match version { Some(version) => request.header("mcp-protocol-version", version), None => request }.send();
        readable(&answer)?;
        prop_assert!(answer.text().starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"#)), "{}", answer.text());
    }

    #[test]
    fn any_arguments_of_any_tool_are_answered(
        tool in prop::sample::select(vec!["list_books", "count_books", "add_book", "lend_book", "burn_book", "ask_librarian", "print_catalogue"]),
        arguments in json_value(),
        kind in 0_usize..4,
    ) {
        let door = door(kind);
        for era in library::client::BOTH {
            let answer = door.call(era, tool, arguments.clone());
            readable(&answer)?;
            prop_assert_eq!(answer.status, 200);
            prop_assert_ne!(answer.record.code.as_deref(), Some("internal_error"), "what passes the schema fits the type: {}", arguments);
        }
    }
}
