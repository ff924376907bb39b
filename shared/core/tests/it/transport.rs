//! HTTP: which requests come through the door, and what the others are told.

use std::sync::atomic::Ordering;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use onepost_core::id::Ids;
use serde_json::{Value, json};

use library::client::{Answer, BOTH, Door, Draft, Era, REQUEST_ID};
use library::{LikeAgents, LikeChecklists, LikeRent, OUTAGE, every_kind, open};

fn list(door: &Door) -> Draft<'_> {
    door.post().rpc("tools/list", json!({}))
}

/// A refusal by HTTP has a body that a client of JSON-RPC can read.
fn refused(answer: &Answer, status: u16) {
    assert_eq!(answer.status, status, "{answer:?}");
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let body = answer.json();
    assert_eq!((&body["jsonrpc"], body.get("id"), &body["error"]["code"]), (&json!("2.0"), Some(&Value::Null), &json!(-32600)), "{body}");
    assert!(body["error"]["message"].is_string() && answer.body.len() < 250, "short: {body}");
}

/// D1, D3, D5
#[test]
fn every_method_but_post_gets_405_before_the_key_is_looked_at() {
    for (kind, door) in every_kind() {
        for method in ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY"] {
            for request in [list(&door), list(&door).without("authorization"), list(&door).header("authorization", "Bearer wrong")] {
                let answer = request.method(method).header("accept", "text/event-stream").send();
                refused(&answer, 405);
                assert_eq!(answer.header("allow"), Some("POST"), "{kind} {method}");
            }
        }
        assert_eq!(door.backstage.lookups.load(Ordering::SeqCst), 0, "{kind}");
        assert_eq!(list(&door).send().status, 200, "a POST right after works");
    }
}

#[test]
fn an_unknown_path_is_404_whatever_the_key_and_the_method() {
    let door = open::<LikeAgents>();
    for path in
        ["/", "/mcp", "/api/mcp", "/api/mcp/account/x", "/API/MCP/ACCOUNT", "/api/mcp/account//", "/.well-known/oauth-protected-resource"]
    {
        for method in ["POST", "GET", "DELETE"] {
            refused(&list(&door).uri(path).method(method).send(), 404);
            refused(&list(&door).uri(path).method(method).without("authorization").send(), 404);
        }
    }
}

/// D47
#[test]
fn one_trailing_slash_and_a_query_string_are_served_directly() {
    for (kind, door) in every_kind() {
        let path = door.profile.path;
        for uri in [path.to_owned(), format!("{path}/"), format!("{path}?a=1&b"), format!("{path}/?key=x")] {
            assert_eq!(list(&door).uri(&uri).send().status, 200, "{kind} {uri}");
        }
        refused(&list(&door).uri(&format!("{path}//")).send(), 404);
    }
}

/// D59. The ruling has plain text on all products.
#[test]
fn without_a_valid_key_the_answer_is_401_in_plain_text_with_a_challenge() {
    for (kind, door) in every_kind() {
        let stranger = door.profile.keys.mint(&Ids::default());
        let mistyped = door.keys.good.chars().rev().collect::<String>();
        let forms = [
            list(&door).without("authorization"),
            list(&door).header("authorization", ""),
            list(&door).header("authorization", &door.keys.good),
            list(&door).header("authorization", &format!("Basic {}", door.keys.good)),
            list(&door).header("authorization", &format!("Bearer {}", stranger.reveal())),
            list(&door).header("authorization", &format!("Bearer {mistyped}")),
            list(&door).header("authorization", "Bearer other_live_0000000000000000000000000000000000000000"),
            list(&door).header("authorization", &format!("Bearer {}", door.keys.revoked)),
            list(&door).header_bytes("authorization", b"Bearer \xff\xfe"),
        ];
        let answers: Vec<Answer> = forms.into_iter().map(Draft::send).collect();
        for answer in &answers {
            assert_eq!(answer.status, 401, "{kind}: {answer:?}");
            assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
            assert_eq!(answer.header("www-authenticate"), Some(door.profile.challenge));
            assert!(answer.text().contains("Authorization: Bearer lib_live_..."), "{}", answer.text());
            assert_eq!(answer.body, answers[0].body, "missing, malformed, unknown and revoked look the same");
        }
    }
}

#[test]
fn the_challenge_of_a_product_with_sign_in_names_its_metadata() {
    let door = open::<LikeRent>();
    let answer = list(&door).without("authorization").send();
    assert!(answer.header("www-authenticate").unwrap().starts_with("Bearer resource_metadata=\"https://"));
}

/// D45
#[test]
fn blanks_and_case_around_the_key_are_free_and_a_second_key_is_none() {
    for (kind, door) in every_kind() {
        let key = &door.keys.good;
        let with = |value: &str| list(&door).header("authorization", value).send().status;
        for value in [format!("Bearer  {key}"), format!("Bearer {key} "), format!("bearer {key}"), format!("BEARER\t{key}")] {
            assert_eq!(with(&value), 200, "{kind} {value:?}");
        }
        let basic = STANDARD.encode(format!("{key}:"));
        for value in [
            "Bearer".to_owned(),
            "Bearer ".to_owned(),
            format!("Bearer {key} extra"),
            format!("Bearer {key},"),
            format!("Bearer{key}"),
            format!("Basic {key}"),
            format!("Basic {basic}"),
            key.clone(),
        ] {
            assert_eq!(with(&value), 401, "{kind} {value:?}");
        }
        let value = format!("Bearer {key}");
        assert_eq!(list(&door).header_too("authorization", &value).send().status, 401, "{kind}: two headers");
    }
}

/// Where keys are written into logs and histories, none is taken from.
#[test]
fn a_key_anywhere_but_in_its_header_is_no_key() {
    for (kind, door) in every_kind() {
        let (path, key) = (door.profile.path, &door.keys.good);
        let nobody = || list(&door).without("authorization");
        for draft in [
            nobody().uri(&format!("{path}?access_token={key}")),
            nobody().uri(&format!("{path}?api_key={key}")),
            nobody().header("cookie", &format!("authorization=Bearer {key}")),
            nobody().header("proxy-authorization", &format!("Bearer {key}")),
            nobody().change(|body| body["params"]["_meta"]["authorization"] = json!(format!("Bearer {key}"))),
        ] {
            let answer = draft.send();
            assert_eq!((answer.status, answer.header("www-authenticate")), (401, Some(door.profile.challenge)), "{kind}");
        }
    }
}

/// D63
#[test]
fn the_key_is_judged_before_the_body_and_its_type() {
    let door = open::<LikeChecklists>();
    let nobody = || door.post().header("authorization", "Bearer wrong");
    assert_eq!(nobody().body("{").send().status, 401);
    assert_eq!(nobody().header("content-type", "text/html").send().status, 401);
    assert_eq!(nobody().header("content-encoding", "br").send().status, 401);
    assert_eq!(nobody().body(vec![b' '; 2 * 1024 * 1024]).send().status, 401);
    assert_eq!(nobody().rpc("tools/call", json!({ "name": "no_such_tool" })).send().status, 401);
}

/// D107. A notification needs the key too: the key comes before the body.
#[test]
fn a_key_store_that_does_not_answer_is_503_with_a_time_to_come_back() {
    for (kind, door) in every_kind() {
        door.backstage.outage.store(true, Ordering::SeqCst);
        let answer = list(&door).send();
        assert_eq!((answer.status, answer.header("retry-after")), (503, Some("2")), "{kind}");
        assert_eq!((&answer.json()["error"]["code"], &answer.json()["id"]), (&json!(-32603), &Value::Null));
        assert!(!answer.text().contains("prod-keys"));
        assert_eq!(answer.record.causes, [OUTAGE]);
        assert_eq!(list(&door).method("GET").send().status, 405, "no key is needed for that");
        assert_eq!(list(&door).header("authorization", "Bearer typo").send().status, 401, "nor for that");
        door.backstage.outage.store(false, Ordering::SeqCst);
        assert_eq!(list(&door).send().status, 200);
    }
}

/// D37
#[test]
fn json_in_utf_8_is_taken_however_its_type_is_written() {
    let doors = every_kind();
    for kind in [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        "application/json;charset=\"UTF-8\"",
        "application/json ; Charset = Utf-8",
        "application/json;",
        "application/json; profile=x",
    ] {
        for (product, door) in &doors {
            assert_eq!(list(door).header("content-type", kind).send().status, 200, "{product} {kind}");
        }
    }
}

#[test]
fn any_other_content_type_is_415() {
    let door = open::<LikeChecklists>();
    for kind in
        ["text/plain", "", "json", "application/jsonp", "application/json-rpc", "application/json; charset=latin1", "multipart/form-data"]
    {
        refused(&list(&door).header("content-type", kind).send(), 415);
    }
    refused(&list(&door).without("content-type").send(), 415);
    refused(&list(&door).header_too("content-type", "application/json").send(), 415);
    refused(&list(&door).header_bytes("content-type", b"application/json; x=\xff").send(), 415);
}

/// D51. Also gzip is 415: nothing is ever unpacked, so nothing can be a bomb.
#[test]
fn a_compressed_body_is_415_and_is_never_unpacked() {
    let door = open::<LikeChecklists>();
    for encoding in ["gzip", "br", "zstd", "deflate", "gzip, identity", "x"] {
        refused(&list(&door).header("content-encoding", encoding).send(), 415);
    }
    for encoding in ["identity", "Identity"] {
        assert_eq!(list(&door).header("content-encoding", encoding).send().status, 200);
    }
}

/// D99
#[test]
fn the_limit_of_a_body_is_one_number_to_the_byte() {
    for (kind, door) in every_kind() {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
        let padded = |length: usize| body.clone() + &" ".repeat(length - body.len());
        let limit = door.profile.body_limit;
        assert_eq!(door.post().body(padded(limit)).send().status, 200, "{kind}");
        let answer = door.post().body(padded(limit + 1)).send();
        refused(&answer, 413);
        assert!(answer.text().contains(&limit.to_string()), "the limit is told");
    }
}

/// D7. Only a call that has something to tell beside its result answers otherwise, and only who asked for it.
#[test]
fn accept_is_never_required_and_the_answer_is_always_json() {
    for ((kind, door), era) in every_kind().iter().flat_map(|door| BOTH.map(|era| (door, era))) {
        let plain = door.ask(era, "tools/list", json!({})).send();
        assert_eq!(plain.status, 200, "{kind}");
        for accept in ["application/json", "application/json, text/event-stream", "text/event-stream", "*/*", "text/html", "nonsense"] {
            let answer = door.ask(era, "tools/list", json!({})).header("accept", accept).send();
            assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")), "{kind} {accept}");
            assert_eq!(answer.body, plain.body);
        }
    }
}

/// D19
#[test]
fn no_session_is_asked_for_and_none_is_made() {
    let door = open::<LikeChecklists>();
    let called = door.post().header("mcp-session-id", "made-up").header("last-event-id", "7");
    let answer = called.rpc("tools/call", json!({ "name": "count_books" })).send();
    assert_eq!(answer.result()["structuredContent"]["count"], 2, "the first request of all may be a call");
    for answer in [answer, door.post().rpc("initialize", json!({ "protocolVersion": "2025-06-18" })).send()] {
        assert!(answer.headers.get("mcp-session-id").is_none());
    }
}

#[test]
fn every_answer_names_its_request() {
    let door = open::<LikeChecklists>();
    for answer in [
        list(&door).send(),
        list(&door).method("GET").send(),
        list(&door).without("authorization").send(),
        list(&door).uri("/x").send(),
        door.post().body("{").send(),
        door.call(Era::Modern, "move_shelf", json!({})),
    ] {
        assert_eq!(answer.header("x-request-id"), Some(REQUEST_ID));
        assert_eq!(answer.record.request_id, REQUEST_ID);
    }
}
