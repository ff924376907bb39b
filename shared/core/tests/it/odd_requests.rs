//! Requests that are odd and that clients in the field do send. The three official servers (TypeScript, Python, Rust)
//! answer most of them in three ways; this is what ours answers, by legacy rules and by those of 2026-07-28.
//!
//! Where they differ, what a client can go on with was chosen: a list of versions beside -32022, 200 beside an error that a
//! tool's caller made (a client of the older kind takes any other status for a broken transport), no 406 ever, a cursor that
//! nobody gave out refused and not passed over.

use serde_json::{Value, json};

use library::client::{Answer, Door, Era, META_LOG_LEVEL};

use crate::situations::{BAD_ARGUMENTS, Column, Id, SERVED, Seen, Situation, UNKNOWN_TOOL, UNTRIED, each, error, holds, list, raw, row};

use Id::{Absent, Echoed, Null};

/// What a handshake settles on where it asks for what is not served: agents do not serve 2025-11-25.
const OWN_VERSION: Column =
    [Seen::Speaks("2025-11-25"), Seen::Speaks("2025-06-18"), Seen::Speaks("2025-11-25"), Seen::Speaks("2025-11-25")];
const NOTHING: Column = each(Seen::Nothing);
const TWO: Column = each(Seen::Answers(2));

const VERSION: &str = "mcp-protocol-version";
const PING_TWICE: &str = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#;
const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const POSTED_RESULT: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

fn plain_list(door: &Door, _: Era) -> Answer {
    door.post().rpc("tools/list", json!({})).send()
}

fn handshake(door: &Door, asked: &str) -> Answer {
    door.post().rpc("initialize", json!({ "protocolVersion": asked, "capabilities": {} })).send()
}

fn by_header(door: &Door, version: &str, method: &str) -> Answer {
    door.post().header(VERSION, version).rpc(method, json!({})).send()
}

fn batch(door: &Door, version: Option<&str>) -> Answer {
    let draft = door.post().body(PING_TWICE);
    match version {
        Some(version) => draft.header(VERSION, version),
        None => draft,
    }
    .send()
}

fn accepting(door: &Door, era: Era, accept: Option<&str>) -> Answer {
    match accept {
        Some(accept) => list(door, era).header("accept", accept).send(),
        None => list(door, era).without("accept").send(),
    }
}

fn by_method(door: &Door, era: Era, method: &str) -> Answer {
    list(door, era).method(method).send()
}

fn of_page(door: &Door, era: Era, origin: &str) -> Answer {
    list(door, era).header("origin", origin).send()
}

fn logging(door: &Door, level: Value) -> Answer {
    list(door, Era::Modern).change(|body| body["params"]["_meta"][META_LOG_LEVEL] = level).send()
}

#[rustfmt::skip]
const TABLE: &[Situation] = &[
    //  request                                   as it is sent                                                              legacy                       2026-07-28
    row("tools/list without a version header",    plain_list,                                                                SERVED,                      UNTRIED),
    row("header 2099-01-01, no _meta",            |door, _| by_header(door, "2099-01-01", "tools/list"),                     error(400, -32022, Echoed),  UNTRIED),
    row("initialize 1999-01-01",                  |door, _| handshake(door, "1999-01-01"),                                   OWN_VERSION,                 UNTRIED),
    row("initialize 2026-07-28, no header",       |door, _| handshake(door, "2026-07-28"),                                   OWN_VERSION,                 UNTRIED),
    row("initialize, modern _meta and headers",   |door, era| door.ask(era, "initialize", json!({})).send(),                 UNTRIED,                     error(404, -32601, Echoed)),
    row("initialize, modern header, no _meta",    |door, _| by_header(door, "2026-07-28", "initialize"),                     UNTRIED,                     error(400, -32602, Echoed)),
    row("unknown tool",                           |door, era| door.call(era, "no_such_tool", json!({})),                     UNKNOWN_TOOL,                UNKNOWN_TOOL),
    row("invalid arguments",                      |door, era| door.call(era, "list_books", json!({ "limit": [] })),          BAD_ARGUMENTS,               BAD_ARGUMENTS),
    row("parse error",                            |door, era| raw(door, era, r#"{"jsonrpc":"2.0","#),                        error(200, -32700, Null),    error(400, -32700, Absent)),
    row("batch, no version header",               |door, _| batch(door, None),                                               TWO,                         UNTRIED),
    row("batch, 2025-03-26",                      |door, _| batch(door, Some("2025-03-26")),                                 TWO,                         UNTRIED),
    row("batch, any other version",               |door, era| raw(door, era, PING_TWICE),                                    error(200, -32600, Null),    error(400, -32600, Absent)),
    row("notification",                           |door, era| raw(door, era, NOTE),                                          NOTHING,                     NOTHING),
    row("posted response",                        |door, era| raw(door, era, POSTED_RESULT),                                 NOTHING,                     error(400, -32600, Absent)),
    row("no Accept",                              |door, era| accepting(door, era, None),                                    SERVED,                      SERVED),
    row("Accept: JSON alone",                     |door, era| accepting(door, era, Some("application/json")),                SERVED,                      SERVED),
    row("wrong content type",                     |door, era| list(door, era).header("content-type", "text/plain").send(),   error(415, -32600, Null),    error(415, -32600, Null)),
    row("modern _meta, no headers",               |door, era| list(door, era).without(VERSION).without("mcp-method").send(), UNTRIED,                     error(400, -32020, Echoed)),
    row("body 2026-07-28, header 2025-11-25",     |door, era| list(door, era).header(VERSION, "2025-11-25").send(),          UNTRIED,                     error(400, -32020, Echoed)),
    row("invalid log level",                      |door, _| logging(door, json!("loud")),                                    UNTRIED,                     error(400, -32602, Echoed)),
    row("invalid cursor",                         |door, era| door.ask(era, "tools/list", json!({ "cursor": "x" })).send(),  error(200, -32602, Echoed),  error(200, -32602, Echoed)),
    row("GET",                                    |door, era| by_method(door, era, "GET"),                                   error(405, -32600, Null),    error(405, -32600, Null)),
    row("DELETE",                                 |door, era| by_method(door, era, "DELETE"),                                error(405, -32600, Null),    error(405, -32600, Null)),
    row("OPTIONS",                                |door, era| by_method(door, era, "OPTIONS"),                               error(405, -32600, Null),    error(405, -32600, Null)),
    row("foreign Origin",                         |door, era| of_page(door, era, "https://evil.example"),                    error(403, -32600, Null),    error(403, -32600, Null)),
    row("Origin: null",                           |door, era| of_page(door, era, "null"),                                    error(403, -32600, Null),    error(403, -32600, Null)),
];

#[test]
fn every_odd_request_is_answered_as_the_table_says() {
    let cells = holds(TABLE);
    println!("odd requests: {} rows, {cells} cells hold", TABLE.len());
    let untried = TABLE.len() * 8 - cells;
    assert_eq!(untried, 4 * 11, "eleven requests belong to one era alone");
}
