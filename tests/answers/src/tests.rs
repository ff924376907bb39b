//! A good answer of each kind passes, and each way to spoil it is caught.

use http::Response;
use onepost_core::mcp::Version::{self, *};
use serde_json::{Value, json};

use super::*;

const SERVER: &str = "io.modelcontextprotocol/serverInfo";
const LEGACY: [Version; 5] = [V2024_10_07, V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25];

fn program() -> Value {
    json!({ "name": "library", "title": "Library", "version": "1.2.3" })
}

fn response(status: u16, headers: &[(&'static str, &str)], body: &str) -> Response<String> {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    response.body(body.to_owned()).unwrap()
}

fn sent(status: u16, body: &Value) -> Response<String> {
    response(status, &[("content-type", "application/json")], &body.to_string())
}

fn success(result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "result": result })
}

fn failure(code: i64, data: Option<Value>) -> Value {
    let mut error = json!({ "code": code, "message": "Do it otherwise." });
    if let Some(data) = data {
        error["data"] = data;
    }
    json!({ "jsonrpc": "2.0", "id": "a", "error": error })
}

/// Of a version with hints and output schemas, or without.
fn tool(hints: bool, output: bool) -> Value {
    let schema = json!({ "type": "object", "properties": { "limit": { "type": "integer", "description": "How many." } } });
    let mut tool = json!({ "name": "list_books", "title": "List books", "description": "Lists.", "inputSchema": schema });
    if hints {
        tool["annotations"] = json!({ "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false });
    }
    if output {
        tool["outputSchema"] = schema;
    }
    tool
}

fn signed(mut result: Value, kept: bool) -> Value {
    result["resultType"] = json!("complete");
    result["_meta"] = json!({ SERVER: program() });
    if kept {
        result["ttlMs"] = json!(300_000);
        result["cacheScope"] = json!("public");
    }
    result
}

/// A good result of each method of a version.
fn good(version: Version) -> Vec<(&'static str, Value)> {
    let listed = json!({ "tools": [tool(version >= V2025_03_26, version >= V2025_06_18)] });
    let told = json!({ "content": [{ "type": "text", "text": "{\"count\":2}" }], "structuredContent": { "count": 2 } });
    let refused = json!({ "content": [{ "type": "text", "text": "{\"error\":\"No.\"}" }], "isError": true });
    if version != V2026_07_28 {
        let greeting = json!({ "protocolVersion": version.as_str(), "capabilities": { "tools": {} }, "serverInfo": program() });
        return vec![("initialize", greeting), ("ping", json!({})), ("tools/list", listed), ("tools/call", told), ("tools/call", refused)];
    }
    let discovered = json!({ "supportedVersions": ["2026-07-28", "2025-11-25"], "capabilities": { "tools": {} }, "instructions": "Read." });
    let link = json!({ "method": "elicitation/create", "params": { "mode": "url", "message": "Pay.", "url": "https://pay.example/1" } });
    let form = json!({
        "method": "elicitation/create",
        "params": { "mode": "form", "message": "Who?", "requestedSchema": { "type": "object", "properties": {} } },
    });
    let mut question = signed(json!({ "inputRequests": { "pay": link, "name": form }, "requestState": "c2VhbGVk" }), false);
    question["resultType"] = json!("input_required");
    vec![
        ("server/discover", signed(discovered, true)),
        ("tools/list", signed(listed, true)),
        ("tools/call", signed(told, false)),
        ("tools/call", signed(refused, false)),
        ("tools/call", question),
        ("prompts/get", signed(json!({ "messages": [] }), false)),
        ("resources/read", signed(json!({ "contents": [] }), true)),
    ]
}

#[test]
fn a_good_answer_of_each_kind_passes() {
    for version in Version::ALL {
        for (method, result) in good(version) {
            let response = sent(200, &success(result));
            assert_eq!(check(version, method, &Answer::from(&response)), Ok(()), "{version:?} {method}");
        }
    }
}

#[test]
fn a_result_of_another_era_is_caught() {
    for version in LEGACY {
        for (method, mut result) in good(version) {
            for (name, value) in [
                ("resultType", json!("complete")),
                ("ttlMs", json!(1)),
                ("cacheScope", json!("public")),
                ("_meta", json!({ SERVER: program() })),
            ] {
                let before = std::mem::replace(&mut result[name], value);
                assert!(check_message(version, method, &success(result.clone())).is_err(), "{version:?} {method} {name}");
                if before.is_null() {
                    result.as_object_mut().unwrap().remove(name);
                }
            }
        }
    }
    for (method, result) in good(V2026_07_28) {
        for name in result
            .as_object()
            .unwrap()
            .keys()
            .filter(|name| !["structuredContent", "instructions", "isError", "inputRequests", "requestState"].contains(&name.as_str()))
        {
            let mut without = result.clone();
            without.as_object_mut().unwrap().remove(name);
            if (method, name.as_str()) != ("prompts/get", "messages") && (method, name.as_str()) != ("resources/read", "contents") {
                assert!(check_message(V2026_07_28, method, &success(without)).is_err(), "{method} without {name}");
            }
        }
    }
    assert!(check_message(V2026_07_28, "ping", &success(signed(json!({}), false))).is_err());
    assert!(check_message(V2025_11_25, "server/discover", &success(json!({}))).is_err());
}

/// Spoils the good answers of a version and a method.
fn spoilt(version: Version, method: &str, spoil: impl Fn(&mut Value)) {
    let mut tried = false;
    for (_, result) in good(version).into_iter().filter(|(of, _)| *of == method) {
        let mut bad = result.clone();
        spoil(&mut bad);
        if bad != result {
            tried = true;
            assert!(check_message(version, method, &success(bad.clone())).is_err(), "{version:?} {method}: {bad}");
        }
    }
    assert!(tried, "{version:?} {method}: nothing was spoilt");
}

#[test]
fn tools_are_advertised_as_their_version_knows_them() {
    for version in [V2024_10_07, V2024_11_05] {
        spoilt(version, "tools/list", |result| result["tools"][0] = tool(true, false));
    }
    spoilt(V2025_03_26, "tools/list", |result| result["tools"][0] = tool(true, true));
    spoilt(V2025_03_26, "tools/list", |result| result["tools"][0] = tool(false, false));
    for version in Version::ALL {
        spoilt(version, "tools/list", |result| result["nextCursor"] = Value::Null);
        spoilt(version, "tools/list", |result| result["tools"][0]["name"] = json!("list books"));
        spoilt(version, "tools/list", |result| result["tools"][0]["title"] = Value::Null);
        spoilt(version, "tools/list", |result| result["tools"][0]["inputSchema"]["type"] = json!("array"));
        spoilt(version, "tools/list", |result| {
            result["tools"][0]["inputSchema"]["properties"]["limit"]["type"] = json!(["integer", "null"])
        });
        spoilt(version, "tools/list", |result| result["tools"][0]["mood"] = json!("good"));
    }
    for version in [V2025_06_18, V2025_11_25, V2026_07_28] {
        spoilt(version, "tools/list", |result| result["tools"][0]["outputSchema"] = json!({ "type": "array", "items": {} }));
        spoilt(version, "tools/list", |result| result["tools"][0]["annotations"] = json!({ "readOnlyHint": true }));
    }
}

#[test]
fn the_content_of_a_tool_is_of_kinds_that_its_version_knows() {
    let sound = json!({ "type": "audio", "data": "UklGRg==", "mimeType": "audio/wav" });
    let link = json!({ "type": "resource_link", "uri": "library://1", "name": "one" });
    for version in Version::ALL {
        let with = |block: &Value| {
            let mut result = good(version).into_iter().find(|(method, _)| *method == "tools/call").unwrap().1;
            result["content"].as_array_mut().unwrap().push(block.clone());
            check_message(version, "tools/call", &success(result)).is_ok()
        };
        assert_eq!((with(&sound), with(&link)), (version >= V2025_03_26, version >= V2025_06_18), "{version:?}");
        assert!(!with(&json!({ "type": "text" })) && !with(&json!({ "type": "hologram" })), "{version:?}");
        assert!(!with(&json!({ "type": "image", "data": "not base64", "mimeType": "image/png" })), "{version:?}");
        spoilt(version, "tools/call", |result| {
            if result.get("structuredContent").is_some() {
                result["structuredContent"] = json!({ "count": 3 });
            }
        });
        spoilt(version, "tools/call", |result| {
            if result["isError"] == true {
                result["content"][0]["text"] = json!("{\"error\":\"\\u0007\"}");
            }
        });
    }
}

#[test]
fn what_a_tool_tells_fits_what_it_advertises() {
    let schema = json!({ "type": "object", "properties": { "count": { "type": "integer" } }, "required": ["count"] });
    assert_eq!(check_told(&schema, &json!({ "structuredContent": { "count": 2 } })), Ok(()));
    assert_eq!(check_told(&schema, &json!({ "isError": true })), Ok(()));
    assert_eq!(check_told(&schema, &json!({ "resultType": "input_required" })), Ok(()));
    for result in
        [json!({ "structuredContent": { "count": "2" } }), json!({ "isError": true, "structuredContent": { "error": "No." } }), json!({})]
    {
        assert!(check_told(&schema, &result).is_err(), "{result}");
    }
}

#[test]
fn a_question_is_one_that_the_client_can_put() {
    spoilt(V2026_07_28, "tools/call", |result| {
        if result.get("inputRequests").is_some() {
            result["inputRequests"]["pay"]["params"]["url"] = json!("http://pay.example/1");
        }
    });
    spoilt(V2026_07_28, "tools/call", |result| {
        if result.get("inputRequests").is_some() {
            result["inputRequests"]["name"]["params"]["requestedSchema"] = json!({ "type": "string" });
        }
    });
    spoilt(V2026_07_28, "tools/call", |result| {
        if result.get("inputRequests").is_some() {
            result["inputRequests"]["pay"]["method"] = json!("elicitation/destroy");
        }
    });
    let empty = json!({ "resultType": "input_required", "_meta": { SERVER: program() } });
    assert!(check_message(V2026_07_28, "tools/call", &success(empty.clone())).is_err());
    assert!(check_message(V2026_07_28, "tools/list", &success(empty)).is_err());
}

#[test]
fn errors_come_with_the_status_of_their_era() {
    let versions = json!({ "supported": ["2026-07-28"], "requested": "2099-01-01" });
    let lacking = json!({ "requiredCapabilities": { "elicitation": { "url": {} } } });
    let ours = json!({ "request_id": "q-42" });
    let rows = [
        (-32601, None, &[200][..], &[404][..]),
        (-32602, None, &[200], &[200, 400]),
        (-32603, Some(ours), &[200], &[200]),
        (-32020, None, &[], &[400]),
        (-32021, Some(lacking), &[], &[400]),
        (-32022, Some(versions), &[400], &[400]),
        (-32002, None, &[200], &[]),
        (-32000, None, &[], &[]),
        (-32042, None, &[], &[]),
        (7, None, &[], &[]),
    ];
    for (code, data, legacy, modern) in rows {
        for status in [200, 202, 400, 404, 500] {
            let response = sent(status, &failure(code, data.clone()));
            for version in Version::ALL {
                let allowed = if version == V2026_07_28 { modern } else { legacy };
                let found = check(version, "tools/call", &Answer::from(&response));
                assert_eq!(found.is_ok(), allowed.contains(&status), "{version:?} {code} {status}: {found:?}");
            }
        }
    }
}

#[test]
fn errors_say_what_their_code_promises_in_words_that_can_be_shown() {
    for code in [-32603, -32021, -32022] {
        assert!(check_message(V2026_07_28, "tools/call", &failure(code, None)).is_err(), "{code}");
    }
    assert!(check_message(V2025_06_18, "ping", &failure(-32601, Some(json!({})))).is_err());
    assert!(check_message(V2025_06_18, "ping", &failure(-32602, Some(json!({ "errors": [{ "path": "limit" }] })))).is_err());
    for message in ["", "a\nb", "bell \u{7}", "\u{85}", "\u{2028}"] {
        let mut bad = failure(-32602, None);
        bad["error"]["message"] = json!(message);
        assert!(check_message(V2025_06_18, "ping", &bad).is_err(), "{message:?}");
    }
    for id in [json!(null), json!(1.5), json!(true), json!({})] {
        let mut bad = failure(-32602, None);
        bad["id"] = id;
        assert!(check_message(V2025_06_18, "ping", &bad).is_err(), "{bad}");
    }
    let both = json!({ "jsonrpc": "2.0", "id": 1, "result": {}, "error": { "code": -32602, "message": "No." } });
    assert!(check_message(V2025_06_18, "ping", &both).is_err());
}

#[test]
fn what_could_not_be_read_is_answered_without_an_id_as_its_era_writes_that() {
    let mut legacy = failure(-32700, None);
    legacy["id"] = Value::Null;
    let mut modern = legacy.clone();
    modern.as_object_mut().unwrap().remove("id");
    for version in Version::ALL {
        let of_today = version == V2026_07_28;
        for (status, body) in [(200, &legacy), (400, &legacy), (200, &modern), (400, &modern)] {
            let response = sent(status, body);
            let fits = if of_today { status == 400 && body == &modern } else { status == 200 && body == &legacy };
            assert_eq!(check_unread(version, &Answer::from(&response)).is_ok(), fits, "{version:?} {status} {body}");
        }
        assert!(check_unread_message(version, &failure(-32600, None)).is_ok(), "the id of an otherwise bad request is echoed");
        assert!(check_unread_message(version, &failure(-32700, None)).is_err(), "what is no JSON has no id");
        assert!(check_unread_message(version, &failure(-32601, None)).is_err());
    }
}

#[test]
fn a_stream_ends_with_the_answer() {
    let notice = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progressToken": 1, "progress": 0.5 } });
    let answer = success(good(V2025_06_18).remove(3).1);
    let stream = |events: &[&Value]| -> Response<String> {
        let body: String = events.iter().map(|event| format!("event: message\ndata: {event}\n\n")).collect();
        response(200, &[("content-type", "text/event-stream")], &body)
    };
    let passes = |response: Response<String>| check(V2025_06_18, "tools/call", &Answer::from(&response)).is_ok();
    assert!(passes(stream(&[&notice, &answer])));
    assert!(!passes(stream(&[&answer, &notice])));
    assert!(!passes(stream(&[])));
    let mut asks = notice;
    asks["id"] = json!(1);
    assert!(!passes(stream(&[&asks, &answer])));
    assert!(!passes(response(200, &[("content-type", "text/event-stream")], &format!("data: {answer}\n\n"))));
    assert!(!passes(response(200, &[("content-type", "text/html")], &answer.to_string())));
    assert!(!passes(response(200, &[("content-type", "application/json"), ("mcp-session-id", "1")], &answer.to_string())));
    assert!(!passes(response(200, &[("content-type", "application/json")], "{")));
}

#[test]
fn what_wants_no_answer_gets_none() {
    assert_eq!(check_accepted(&Answer::from(&response(202, &[], ""))), Ok(()));
    for bad in [response(202, &[], "{}"), response(200, &[], ""), response(202, &[("content-type", "application/json")], "")] {
        assert!(check_accepted(&Answer::from(&bad)).is_err(), "{bad:?}");
    }
}

#[test]
fn a_refusal_by_http_says_what_its_status_demands() {
    let json = ("content-type", "application/json");
    let plain = ("content-type", "text/plain; charset=utf-8");
    let body = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"No."}}"#;
    let outage = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"No."}}"#;
    let scope = "Bearer error=\"insufficient_scope\", scope=\"vault\"";
    let good = [
        response(401, &[plain, ("www-authenticate", "Bearer")], "Send a key.\n"),
        response(403, &[json], body),
        response(403, &[json, ("www-authenticate", scope)], body),
        response(404, &[json], body),
        response(405, &[json, ("allow", "POST")], body),
        response(413, &[json], body),
        response(415, &[json], body),
        response(429, &[json, ("retry-after", "7")], body),
        response(503, &[json, ("retry-after", "2")], outage),
    ];
    for response in &good {
        assert_eq!(check_refusal(&Answer::from(response)), Ok(()), "{response:?}");
    }
    let bad = [
        response(401, &[plain], "Send a key.\n"),
        response(401, &[json, ("www-authenticate", "Bearer")], body),
        response(401, &[plain, ("www-authenticate", "Basic")], "Send a key.\n"),
        response(403, &[json, ("www-authenticate", "Bearer")], body),
        response(404, &[json, ("www-authenticate", "Bearer")], body),
        response(404, &[json, ("allow", "POST")], body),
        response(405, &[json], body),
        response(405, &[json, ("allow", "GET")], body),
        response(429, &[json], body),
        response(413, &[json, ("retry-after", "2")], body),
        response(503, &[json, ("retry-after", "2")], body),
        response(415, &[json], "{}"),
        response(500, &[json], body),
        response(302, &[json], body),
    ];
    for response in &bad {
        assert!(check_refusal(&Answer::from(response)).is_err(), "{response:?}");
    }
}

#[test]
fn an_id_comes_back_to_the_byte() {
    assert_eq!(check_echo("1", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), Ok(()));
    assert!(check_echo(r#""\u00e9""#, r#"{"jsonrpc":"2.0","id":"é","result":{}}"#).is_err());
    assert!(check_echo("18446744073709551616", r#"{"jsonrpc":"2.0","id":1.8446744073709552e19,"result":{}}"#).is_err());
}
