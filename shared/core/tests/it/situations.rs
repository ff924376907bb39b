//! One table: what can become of a request, for each ruling and both eras.

use serde_json::{Value, json};

use library::client::{Answer, Door, Era, META_VERSION};
use library::every_kind;

/// What a caller sees.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Seen<'a> {
    /// A status and a body of plain text.
    Text(u16),
    /// A status and a JSON-RPC error: with the id of the request, with `null`, or without any.
    Error(u16, i64, Id),
    /// 200 and a tool result with `isError`. The text holds this code where the dialect has codes; the log always does.
    Refusal(&'a str),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Id {
    Echoed,
    Null,
    Absent,
}

use Id::{Absent, Echoed, Null};
use Seen::{Error, Refusal, Text};

fn seen(answer: &Answer) -> Seen<'_> {
    if answer.header("content-type") != Some("application/json") {
        return Text(answer.status);
    }
    let body = answer.json();
    if let Some(code) = body["error"]["code"].as_i64() {
        let id = match body.get("id") {
            Some(Value::Null) => Null,
            Some(id) => {
                assert_eq!(id, 1);
                Echoed
            }
            None => Absent,
        };
        return Error(answer.status, code, id);
    }
    let (refusal, code) = (answer.refusal(), answer.record.code.as_deref().unwrap());
    let told = refusal.get("code").or(refusal.get("error").filter(|_| refusal.get("message").is_some()));
    assert!(told.is_none_or(|told| told == code), "{code}: {refusal}");
    Refusal(code)
}

fn call(door: &Door, era: Era, tool: &str, arguments: Value) -> Answer {
    door.call(era, tool, arguments)
}

/// The envelope's faults depend on the header alone.
fn raw(door: &Door, era: Era, body: &'static str) -> Answer {
    let version = if era == Era::Modern { "2026-07-28" } else { "2025-06-18" };
    door.post().header("mcp-protocol-version", version).body(body).send()
}

struct Situation {
    what: &'static str,
    send: fn(&Door, Era) -> Answer,
    /// For each of the four, in the order of [`every_kind`]: checklists, agents, rent, viewer.
    legacy: [Seen<'static>; 4],
    modern: [Seen<'static>; 4],
}

const fn alike(what: &'static str, send: fn(&Door, Era) -> Answer, legacy: Seen<'static>, modern: Seen<'static>) -> Situation {
    Situation { what, send, legacy: [legacy; 4], modern: [modern; 4] }
}

const fn by_product(what: &'static str, send: fn(&Door, Era) -> Answer, seen: [Seen<'static>; 4]) -> Situation {
    Situation { what, send, legacy: seen, modern: seen }
}

const UNKNOWN_TOOL: [Seen<'static>; 4] =
    [Error(200, -32602, Echoed), Refusal("unknown_tool"), Error(200, -32602, Echoed), Error(200, -32602, Echoed)];
const BAD_ARGUMENTS: [Seen<'static>; 4] =
    [Error(200, -32602, Echoed), Refusal("invalid_arguments"), Refusal("invalid_arguments"), Refusal("invalid_arguments")];

const TABLE: &[Situation] = &[
    alike("no key", |door, era| door.ask(era, "tools/list", json!({})).without("authorization").send(), Text(401), Text(401)),
    alike("a bad key", |door, era| door.ask(era, "tools/list", json!({})).header("authorization", "Bearer x").send(), Text(401), Text(401)),
    alike(
        "a page of a foreign origin",
        |door, era| door.ask(era, "tools/list", json!({})).header("origin", "null").send(),
        Error(403, -32600, Null),
        Error(403, -32600, Null),
    ),
    alike(
        "another path",
        |door, era| door.ask(era, "tools/list", json!({})).uri("/x").send(),
        Error(404, -32600, Null),
        Error(404, -32600, Null),
    ),
    alike(
        "another method than POST",
        |door, era| door.ask(era, "tools/list", json!({})).method("GET").send(),
        Error(405, -32600, Null),
        Error(405, -32600, Null),
    ),
    alike(
        "too large a body",
        |door, era| door.ask(era, "tools/list", json!({})).body(vec![b' '; 1024 * 1024 + 1]).send(),
        Error(413, -32600, Null),
        Error(413, -32600, Null),
    ),
    alike(
        "another content type",
        |door, era| door.ask(era, "tools/list", json!({})).header("content-type", "text/plain").send(),
        Error(415, -32600, Null),
        Error(415, -32600, Null),
    ),
    alike("bad JSON", |door, era| raw(door, era, "{"), Error(200, -32700, Null), Error(400, -32700, Absent)),
    alike("no request object", |door, era| raw(door, era, "7"), Error(200, -32600, Null), Error(400, -32600, Absent)),
    alike(
        "a bad id",
        |door, era| raw(door, era, r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#),
        Error(200, -32600, Null),
        Error(400, -32600, Absent),
    ),
    alike("a refused batch", |door, era| raw(door, era, "[]"), Error(200, -32600, Null), Error(400, -32600, Absent)),
    alike(
        "an unknown method",
        |door, era| door.ask(era, "made/up", json!({})).send(),
        Error(200, -32601, Echoed),
        Error(404, -32601, Echoed),
    ),
    alike(
        "a version in the header that is not served",
        |door, _| door.post().header("mcp-protocol-version", "1999-01-01").rpc("tools/list", json!({})).send(),
        Error(400, -32022, Echoed),
        Error(400, -32022, Echoed),
    ),
    alike(
        "a version in _meta that is not served",
        |door, _| {
            let request = door.ask(Era::Modern, "tools/list", json!({})).header("mcp-protocol-version", "2030-01-01");
            request.change(|body| body["params"]["_meta"][META_VERSION] = json!("2030-01-01")).send()
        },
        Error(400, -32022, Echoed),
        Error(400, -32022, Echoed),
    ),
    alike(
        "a header of 2026-07-28 and no _meta",
        |door, _| door.post().header("mcp-protocol-version", "2026-07-28").rpc("tools/list", json!({})).send(),
        Error(400, -32602, Echoed),
        Error(400, -32602, Echoed),
    ),
    alike(
        "a _meta of 2026-07-28 and no header",
        |door, _| door.ask(Era::Modern, "tools/list", json!({})).without("mcp-protocol-version").send(),
        Error(400, -32020, Echoed),
        Error(400, -32020, Echoed),
    ),
    by_product("an unknown tool", |door, era| call(door, era, "no_such_tool", json!({})), UNKNOWN_TOOL),
    by_product("an unknown tool and no arguments to read", |door, era| call(door, era, "no_such_tool", json!([])), UNKNOWN_TOOL),
    by_product("a missing argument", |door, era| call(door, era, "add_book", json!({})), BAD_ARGUMENTS),
    by_product("an argument of the wrong type", |door, era| call(door, era, "list_books", json!({ "limit": "many" })), BAD_ARGUMENTS),
    by_product("an argument out of bounds", |door, era| call(door, era, "list_books", json!({ "limit": 0 })), BAD_ARGUMENTS),
    by_product("an unknown argument", |door, era| call(door, era, "count_books", json!({ "limit": 1 })), BAD_ARGUMENTS),
    by_product(
        "null where null is refused",
        |door, era| call(door, era, "lend_book", json!({ "book_id": "bk-1", "reader": null })),
        BAD_ARGUMENTS,
    ),
    by_product("arguments that are a list", |door, era| call(door, era, "list_books", json!([1])), BAD_ARGUMENTS),
    by_product("arguments that are text and no JSON", |door, era| call(door, era, "list_books", json!("all of them")), BAD_ARGUMENTS),
    alike(
        "an id that leads nowhere",
        |door, era| call(door, era, "lend_book", json!({ "book_id": "bk-99" })),
        Refusal("book_not_found"),
        Refusal("book_not_found"),
    ),
    alike(
        "a state that stands against it",
        |door, era| call(door, era, "burn_book", json!({ "book_id": "bk-1" })),
        Refusal("confirm_needed"),
        Refusal("confirm_needed"),
    ),
    alike(
        "an argument that the product's own route refuses",
        |door, era| call(door, era, "ask_librarian", json!({ "question": "Where?", "bribe": 5 })),
        Refusal("unknown_argument"),
        Refusal("unknown_argument"),
    ),
    alike(
        "a tool that fails inside",
        |door, era| call(door, era, "dust_shelves", json!({})),
        Refusal("internal_error"),
        Refusal("internal_error"),
    ),
    alike(
        "an answer over the limit",
        |door, era| call(door, era, "print_catalogue", json!({ "letters": 100_000 })),
        Refusal("answer_too_large"),
        Refusal("answer_too_large"),
    ),
    alike("a tool that panics", |door, era| call(door, era, "move_shelf", json!({})), Refusal("internal_error"), Refusal("internal_error")),
    alike(
        "a call without a name",
        |door, era| door.ask(era, "tools/call", json!({ "arguments": {} })).send(),
        Error(200, -32602, Echoed),
        Error(200, -32602, Echoed),
    ),
    alike(
        "a name that is no text",
        |door, era| door.ask(era, "tools/call", json!({ "name": 7 })).send(),
        Error(200, -32602, Echoed),
        Error(200, -32602, Echoed),
    ),
];

/// D13, D15, D33, D49, D59, D63, D65, D97. By the ruling agents see an unknown tool as `isError`.
#[test]
fn every_situation_is_seen_as_the_ruling_of_the_product_and_the_era_say() {
    let mut wrong = Vec::new();
    for (place, (kind, door)) in every_kind().iter().enumerate() {
        for situation in TABLE {
            for (era, expected) in [(Era::Legacy, situation.legacy[place]), (Era::Modern, situation.modern[place])] {
                let answer = (situation.send)(door, era);
                let found = seen(&answer);
                if found != expected {
                    wrong.push(format!("{kind}, {era:?}, {}: {found:?} instead of {expected:?}", situation.what));
                }
            }
        }
        assert_eq!(door.backstage.titles(), ["Emma", "Ulysses"], "{kind}: nothing of all this changed anything");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
