//! Requests out of choices, and changes to them that keep most of them near what a client sends.

use arbitrary::{Arbitrary, Unstructured};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use library::client::{META_CAPABILITIES, META_VERSION};
use serde_json::{Map, Value, json};

use crate::draw::{Draw, bytes_of};
use crate::exchange::{DOORS, Exchange, SITUATIONS};
use crate::judge::tool;
use crate::near;
use crate::words::{HEADERS, IDS, METHODS, NAMES, TOOLS, VERSIONS};

impl<'a> Arbitrary<'a> for Exchange {
    fn arbitrary(source: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        Ok(fresh(&mut Draw::from_source(source)))
    }
}

/// A whole request, most often as a client sends it.
fn fresh(draw: &mut Draw<'_>) -> Exchange {
    let door = draw.below(DOORS.len());
    let version = *draw.pick(&VERSIONS);
    let modern = version == "2026-07-28";
    let method = *draw.pick(&METHODS);
    let params = params(draw, door, method, if modern { Some(version) } else { None });
    let mut message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    if method.starts_with("notifications/") {
        message.as_object_mut().into_iter().for_each(|members| drop(members.shift_remove("id")));
    }
    let mut exchange = Exchange {
        method: "POST".into(),
        path: "{path}".into(),
        door,
        situations: Vec::new(),
        headers: vec![header("authorization", "Bearer {good}"), header("content-type", "application/json")],
        body: message.to_string().into_bytes(),
    };
    if !draw.once_in(6) {
        exchange.headers.push(header("mcp-protocol-version", version));
    }
    if draw.once_in(3) {
        exchange.headers.push(header("accept", "text/event-stream, application/json"));
    }
    agree(draw, &mut exchange);
    exchange
}

fn header(name: &str, value: &str) -> (String, Vec<u8>) {
    (name.to_owned(), value.as_bytes().to_vec())
}

fn params(draw: &mut Draw<'_>, door: usize, method: &str, modern: Option<&str>) -> Value {
    let mut params = match method {
        "tools/call" => {
            let name = *draw.pick(&TOOLS);
            json!({ "name": name, "arguments": arguments(draw, door, name) })
        }
        "initialize" => {
            json!({ "protocolVersion": draw.pick(&VERSIONS), "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } })
        }
        "tools/list" if draw.once_in(5) => json!({ "cursor": near::any(draw, 0) }),
        "prompts/get" => json!({ "name": "x" }),
        "resources/read" => json!({ "uri": "x://y" }),
        _ => json!({}),
    };
    if let Some(version) = modern {
        params["_meta"] = meta(draw, version);
    } else if draw.once_in(4) {
        params["_meta"] = json!({ "progressToken": near::any(draw, 0) });
    }
    if method == "tools/call" && draw.once_in(5) {
        again(draw, &mut params);
    }
    params
}

/// Arguments that nearly fit a tool.
fn arguments(draw: &mut Draw<'_>, door: usize, name: &str) -> Value {
    match tool(door, name) {
        Some(tool) => near::to_schema(draw, &tool["inputSchema"]),
        None => near::any(draw, 2),
    }
}

fn meta(draw: &mut Draw<'_>, version: &str) -> Value {
    let capabilities =
        draw.pick(&[r#"{"elicitation":{"url":{},"form":{}}}"#, "{}", r#"{"elicitation":{}}"#, r#"{"elicitation":{"url":{}}}"#]);
    let mut meta = Map::new();
    meta.insert(META_VERSION.into(), json!(version));
    meta.insert(META_CAPABILITIES.into(), serde_json::from_str(capabilities).unwrap_or_default());
    if draw.once_in(3) {
        meta.insert("io.modelcontextprotocol/logLevel".into(), json!(draw.pick(&["debug", "notice", "loud"])));
    }
    if draw.once_in(3) {
        meta.insert("progressToken".into(), near::any(draw, 0));
    }
    meta.into()
}

/// Makes the call one that comes again with answers.
fn again(draw: &mut Draw<'_>, params: &mut Value) {
    if !params.is_object() {
        return;
    }
    let action = *draw.pick(&["accept", "decline", "cancel", "shrug"]);
    let key = *draw.pick(&["pay", "name", "x"]);
    params["inputResponses"] = json!({ key: { "action": action, "content": { "name": near::text(draw) } } });
    if draw.once_in(2) {
        params["requestState"] = json!(*draw.pick(&["{state}", "{state}", "{state}x", "AAAA", ""]));
    }
}

/// Lets the routing headers say what the body says, as 2026-07-28 demands; sometimes in base64.
fn agree(draw: &mut Draw<'_>, exchange: &mut Exchange) {
    let Ok(body) = serde_json::from_slice::<Value>(&exchange.body) else { return };
    let claimed = body["params"]["_meta"][META_VERSION].as_str();
    let name = body["params"]["name"].as_str().or(body["params"]["uri"].as_str());
    let wrap = draw.once_in(4);
    let name = name.map(|name| if wrap || !name.is_ascii() { format!("=?base64?{}?=", STANDARD.encode(name)) } else { name.to_owned() });
    let wanted = [
        ("mcp-protocol-version", claimed),
        ("mcp-method", body["method"].as_str().filter(|_| claimed.is_some())),
        ("mcp-name", name.as_deref().filter(|_| claimed.is_some())),
    ];
    for (header, value) in wanted {
        if let Some(value) = value {
            exchange.headers.retain(|(name, _)| name != header);
            exchange.headers.push((header.to_owned(), value.as_bytes().to_vec()));
        }
    }
}

/// The engine's way to change bytes in place: what, how much of it is used, how much may be.
pub type Havoc = fn(&mut [u8], usize, usize) -> usize;

/// Changes a request in place and returns its new length.
pub fn changed(data: &mut [u8], size: usize, max_size: usize, seed: u32, havoc: Havoc) -> usize {
    let bytes = bytes_of(seed);
    let mut draw = Draw::new(&bytes);
    let parsed = if draw.once_in(12) { None } else { Exchange::parse(&data[..size]) };
    let mut exchange = parsed.unwrap_or_else(|| fresh(&mut draw));
    for _ in 0..=draw.below(3) {
        change(&mut draw, &mut exchange, havoc);
    }
    let text = exchange.to_text();
    if text.len() > max_size || text.len() > data.len() {
        return havoc(data, size, max_size);
    }
    data[..text.len()].copy_from_slice(&text);
    text.len()
}

fn change(draw: &mut Draw<'_>, exchange: &mut Exchange, havoc: Havoc) {
    match draw.below(20) {
        0 => exchange.door = draw.below(DOORS.len()),
        1 => exchange.situations = if draw.once_in(3) { vec![*draw.pick(&SITUATIONS)] } else { Vec::new() },
        2 if draw.once_in(3) => exchange.method = (*draw.pick(&["POST", "GET", "OPTIONS", "DELETE", "HEAD", "PATCH"])).into(),
        3 if draw.once_in(3) => exchange.path = (*draw.pick(&["{path}", "{path}/", "{path}//", "/", "{path}?key={good}", "/MCP"])).into(),
        2..=5 => change_header(draw, exchange, havoc),
        6 | 7 => agree(draw, exchange),
        8 => exchange.body = batched(draw, &exchange.body),
        9 => change_text(draw, &mut exchange.body),
        10 => exchange.body = havocked(&exchange.body, havoc),
        _ => {
            let Ok(mut body) = serde_json::from_slice::<Value>(&exchange.body) else {
                exchange.body = havocked(&exchange.body, havoc);
                return;
            };
            change_value(draw, &mut body, exchange.door);
            exchange.body = body.to_string().into_bytes();
        }
    }
}

fn havocked(bytes: &[u8], havoc: Havoc) -> Vec<u8> {
    let mut room = bytes.to_vec();
    let most = bytes.len() + 64;
    room.resize(most, 0);
    let length = havoc(&mut room, bytes.len(), most);
    room.truncate(length);
    room
}

fn change_header(draw: &mut Draw<'_>, exchange: &mut Exchange, havoc: Havoc) {
    let (name, values) = *draw.pick(&HEADERS);
    match draw.below(8) {
        0 if !exchange.headers.is_empty() => drop(exchange.headers.remove(draw.below(exchange.headers.len()))),
        1 if !exchange.headers.is_empty() => {
            let twice = exchange.headers[draw.below(exchange.headers.len())].clone();
            exchange.headers.push(twice);
        }
        2 if !exchange.headers.is_empty() => {
            let at = draw.below(exchange.headers.len());
            exchange.headers[at].1 = havocked(&exchange.headers[at].1, havoc);
        }
        _ => {
            exchange.headers.retain(|(own, _)| own != name);
            let value = *draw.pick(values);
            exchange.headers.push(header(name, value));
        }
    }
}

/// Several messages at once, or one out of several.
fn batched(draw: &mut Draw<'_>, body: &[u8]) -> Vec<u8> {
    if let Ok(Value::Array(messages)) = serde_json::from_slice(body) {
        let most = messages.len();
        return if most == 0 { b"{}".to_vec() } else { messages[draw.below(most)].to_string().into_bytes() };
    }
    let others = [
        &br#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#[..],
        br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        b"7",
        b"[]",
        br#"{"jsonrpc":"2.0","id":2,"result":{}}"#,
        br#"{"jsonrpc":"2.0","id":3,"method":"initialize","params":{}}"#,
        body,
        body,
    ];
    let count = if draw.once_in(12) { 19 + draw.below(3) } else { draw.below(4) };
    let mut messages = vec![body];
    messages.extend((0..count).map(|_| *draw.pick(&others)));
    [&b"["[..], &messages.join(&b","[..]), b"]"].concat()
}

/// What only the text of a body can hold.
fn change_text(draw: &mut Draw<'_>, body: &mut Vec<u8>) {
    let at = draw.below(body.len() + 1);
    match draw.below(10) {
        0 => body.truncate(at),
        1 => drop(body.splice(0..0, *b"\xEF\xBB\xBF")),
        2 => drop(body.splice(at..at, *b"\\ud800")),
        3 => drop(body.splice(at..at, *b"{[*70}{]*70}")),
        4 => drop(body.splice(at..at, *b"{ *1048576}")),
        5 => replace_first(body, b"\"id\":1", format!("\"id\":{}", draw.pick(&IDS)).as_bytes()),
        6 => replace_first(body, b"\"method\"", b"\"m\\u0065thod\""),
        // A member twice, the second time written otherwise.
        7 => replace_first(body, b"{\"", b"{\"<b>\\n\":0,\"<b>\\u000a\":1,\""),
        8 => replace_first(body, b"\"params\":", b"\"params\":{},\"params\":"),
        _ => drop(body.splice(at..at, *draw.pick(&[*b"\0", *b"\"", *b"\\", *b"9", *b",", *b"\n", *b"\xff"]))),
    }
}

fn replace_first(body: &mut Vec<u8>, what: &[u8], by: &[u8]) {
    if let Some(at) = body.windows(what.len()).position(|here| here == what) {
        body.splice(at..at + what.len(), by.iter().copied());
    }
}

/// Changes some value in a body.
fn change_value(draw: &mut Draw<'_>, body: &mut Value, door: usize) {
    match draw.below(10) {
        0..=2 => {
            if let Some(params) = body.get_mut("params").filter(|params| params.is_object()) {
                let tool = if draw.once_in(4) { *draw.pick(&TOOLS) } else { params["name"].as_str().unwrap_or("list_books") }.to_owned();
                params["arguments"] = arguments(draw, door, &tool);
                params["name"] = json!(tool);
            }
        }
        3 => {
            let version = *draw.pick(&VERSIONS);
            if let Some(params) = body.get_mut("params").filter(|params| params.is_object()) {
                params["_meta"] = meta(draw, version);
            }
        }
        4 => {
            if let Some(params) = body.get_mut("params") {
                again(draw, params);
            }
        }
        5 => {
            let method = *draw.pick(&METHODS);
            if body.is_object() {
                body["params"] = params(draw, door, method, None);
                body["method"] = json!(method);
            }
        }
        _ => {
            let mut place = body;
            // Down to some value, as often as there is one below.
            while !draw.once_in(4) {
                let steps = match place {
                    Value::Array(items) => items.len(),
                    Value::Object(members) => members.len(),
                    _ => 0,
                };
                if steps == 0 {
                    break;
                }
                let step = draw.below(steps);
                place = match place {
                    Value::Array(items) => &mut items[step],
                    Value::Object(members) => members.values_mut().nth(step).expect("it has that many members"),
                    _ => break,
                };
            }
            change_one(draw, place);
        }
    }
}

fn change_one(draw: &mut Draw<'_>, value: &mut Value) {
    match (draw.below(4), &mut *value) {
        (0, Value::Object(members)) if !members.is_empty() => {
            let name = members.keys().nth(draw.below(members.len())).cloned().unwrap_or_default();
            members.shift_remove(&name);
        }
        (1 | 2, Value::Object(members)) => {
            let name = if draw.once_in(2) { (*draw.pick(&NAMES)).to_owned() } else { near::text(draw) };
            members.insert(name, near::any(draw, 1));
        }
        (0, Value::Array(items)) if !items.is_empty() => drop(items.remove(draw.below(items.len()))),
        (1 | 2, Value::Array(items)) => items.push(near::any(draw, 1)),
        (3, Value::String(text)) => text.push(draw.letter()),
        _ => *value = near::any(draw, 2),
    }
}
