//! 2026-07-28: every request stands for itself, and each of its checks comes in its order.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use library::client::{Answer, Door, Draft, Era, META_CAPABILITIES, META_LOG_LEVEL, META_SERVER, META_VERSION};
use library::{LikeAgents, LikeChecklists, every_kind, open};

fn ask<'d>(door: &'d Door, method: &str) -> Draft<'d> {
    door.ask(Era::Modern, method, json!({}))
}

fn count(door: &Door) -> Draft<'_> {
    door.ask(Era::Modern, "tools/call", json!({ "name": "count_books" }))
}

fn faulty(answer: &Answer, fault: (u16, i64), what: &str) {
    assert_eq!(answer.fault(), fault, "{what}");
    assert_eq!(answer.json()["id"], 1, "{what}: the id is echoed");
}

#[test]
fn discover_tells_what_a_client_needs_to_begin() {
    for (kind, door) in every_kind() {
        let mut expected = json!({
            "supportedVersions": ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"],
            "capabilities": { "tools": {} }, "instructions": "List the books before you lend one.",
            "resultType": "complete", "ttlMs": 300_000, "cacheScope": "public",
            "_meta": { META_SERVER: { "name": "library", "title": "Library", "version": "1.2.3" } },
        });
        if kind == "agents" {
            expected.as_object_mut().unwrap().remove("instructions");
            expected["supportedVersions"].as_array_mut().unwrap().remove(1);
        }
        assert_eq!(ask(&door, "server/discover").send().result(), expected, "{kind}");
    }
}

#[test]
fn every_result_is_complete_and_names_the_server_and_lists_say_how_long_they_keep() {
    let door = open::<LikeChecklists>();
    for (answer, kept) in [
        (ask(&door, "server/discover").send(), true),
        (ask(&door, "tools/list").send(), true),
        (count(&door).send(), false),
        (door.call(Era::Modern, "burn_book", json!({ "book_id": "bk-1" })), false),
    ] {
        let result = answer.result();
        assert_eq!((&result["resultType"], &result["_meta"][META_SERVER]["name"]), (&json!("complete"), &json!("library")));
        let keeping = kept.then(|| (json!(300_000), json!("public")));
        assert_eq!(result.get("ttlMs").cloned().zip(result.get("cacheScope").cloned()), keeping, "{result}");
        assert!(result.get("nextCursor").is_none());
    }
}

#[test]
fn without_its_two_keys_in_meta_a_request_is_400_whatever_its_headers() {
    let door = open::<LikeChecklists>();
    let both = json!({ META_VERSION: "2026-07-28", META_CAPABILITIES: {} });
    let changed = |key: &str, value: Option<Value>| {
        let mut meta = both.clone();
        match value {
            Some(value) => meta[key] = value,
            None => drop(meta.as_object_mut().unwrap().remove(key)),
        }
        meta
    };
    for meta in [
        json!(null),
        json!({}),
        json!("2026-07-28"),
        changed(META_VERSION, None),
        changed(META_VERSION, Some(json!(20_260_728))),
        changed(META_VERSION, Some(json!(null))),
        changed(META_CAPABILITIES, None),
        changed(META_CAPABILITIES, Some(json!(null))),
        changed(META_CAPABILITIES, Some(json!([]))),
    ] {
        let request = || ask(&door, "tools/list").change(|body| body["params"]["_meta"] = meta.clone());
        faulty(&request().send(), (400, -32602), &meta.to_string());
        faulty(&request().without("mcp-method").send(), (400, -32602), "before the headers are compared");
    }
    let bare = ask(&door, "tools/list").change(|body| drop(body.as_object_mut().unwrap().remove("params")));
    faulty(&bare.send(), (400, -32602), "no params at all");
}

#[test]
fn a_client_need_not_say_its_name() {
    let door = open::<LikeChecklists>();
    assert!(ask(&door, "tools/list").send().result()["tools"].is_array());
}

#[test]
fn the_headers_say_what_the_body_says() {
    let door = open::<LikeChecklists>();
    for (name, wrong) in [
        ("mcp-protocol-version", "2025-11-25"),
        ("mcp-protocol-version", "2025-03-26"),
        ("mcp-method", "tools/list"),
        ("mcp-method", "TOOLS/CALL"),
        ("mcp-name", "burn_book"),
        ("mcp-name", "Count_Books"),
        ("mcp-name", ""),
    ] {
        faulty(&count(&door).header(name, wrong).send(), (400, -32020), &format!("{name}: {wrong}"));
    }
    for name in ["mcp-protocol-version", "mcp-method", "mcp-name"] {
        faulty(&count(&door).without(name).send(), (400, -32020), &format!("without {name}"));
        let value = match name {
            "mcp-method" => "tools/call",
            "mcp-name" => "count_books",
            _ => "2026-07-28",
        };
        faulty(&count(&door).header_too(name, value).send(), (400, -32020), &format!("{name} twice"));
        faulty(&count(&door).header(name, &format!("{value}, {value}")).send(), (400, -32020), &format!("{name} joined"));
        assert_eq!(count(&door).header(name, &format!("  {value}\t")).send().status, 200, "blanks around {name} mean nothing");
    }
}

#[test]
fn a_header_of_2026_with_another_version_in_the_body_is_a_mismatch_and_no_unknown_version() {
    let door = open::<LikeChecklists>();
    for version in ["2030-01-01", "2025-06-18"] {
        let request = ask(&door, "tools/list").change(|body| body["params"]["_meta"][META_VERSION] = json!(version));
        faulty(&request.send(), (400, -32020), version);
    }
}

#[test]
fn a_name_that_ascii_cannot_carry_comes_wrapped_in_base64() {
    let door = open::<LikeChecklists>();
    let wrapped = |name: &str| format!("=?base64?{}?=", STANDARD.encode(name));
    assert_eq!(count(&door).header("mcp-name", &wrapped("count_books")).send().status, 200);
    faulty(&count(&door).header("mcp-name", &wrapped("burn_book")).send(), (400, -32020), "another name");
    let book = door.ask(Era::Modern, "tools/call", json!({ "name": "x" })).change(|body| body["params"]["name"] = json!("Bücher"));
    faulty(&book.header("mcp-name", &wrapped("Bücher")).send(), (200, -32602), "the header holds, the tool is unknown");
    for broken in ["=?base64?!!!?=", "=?base64?Y291bnRfYm9va3M=", "=?base64?/w==?=", "=?BASE64?Y291bnRfYm9va3M=?="] {
        faulty(&count(&door).header("mcp-name", broken).send(), (400, -32020), broken);
    }
    let method = format!("=?base64?{}?=", STANDARD.encode("tools/call"));
    faulty(&count(&door).header("mcp-method", &method).send(), (400, -32020), "a method is always ASCII");
}

/// D15. A version that header and body agree on is refused for what it is: its own rules are not known here.
#[test]
fn a_version_that_is_not_served_is_refused_with_those_that_are() {
    for (kind, door) in every_kind() {
        let later = || {
            let request = ask(&door, "server/discover").header("mcp-protocol-version", "2030-01-01");
            request.change(|body| body["params"]["_meta"][META_VERSION] = json!("2030-01-01"))
        };
        let no_capabilities = later().change(|body| drop(body["params"]["_meta"].as_object_mut().unwrap().remove(META_CAPABILITIES)));
        for request in [later(), later().without("mcp-method"), no_capabilities] {
            let answer = request.send();
            faulty(&answer, (400, -32022), kind);
            let supported: Vec<&str> = door.profile.all_versions().map(|version| version.as_str()).collect();
            assert_eq!(answer.json()["error"]["data"], json!({ "supported": supported, "requested": "2030-01-01" }));
        }
    }
}

#[test]
fn a_version_with_a_handshake_that_the_product_does_not_serve_is_refused_the_same_way() {
    let door = open::<LikeAgents>();
    let request = ask(&door, "tools/list").header("mcp-protocol-version", "2025-11-25");
    faulty(&request.change(|body| body["params"]["_meta"][META_VERSION] = json!("2025-11-25")).send(), (400, -32022), "agents");
}

#[test]
fn methods_that_2026_removed_or_never_had_are_404() {
    for (kind, door) in every_kind() {
        for method in [
            "initialize",
            "ping",
            "logging/setLevel",
            "resources/subscribe",
            "resources/unsubscribe",
            "prompts/list",
            "resources/list",
            "subscriptions/listen",
            "tasks/get",
            "tools/List",
            "made/up",
        ] {
            let answer = ask(&door, method).send();
            faulty(&answer, (404, -32601), &format!("{kind} {method}"));
            assert!(!answer.text().contains(method), "the name is not repeated");
        }
        faulty(&ask(&door, "made/up").header("mcp-method", "x").send(), (400, -32020), "after the headers");
    }
}

#[test]
fn the_level_of_the_log_is_one_of_eight_words() {
    let door = open::<LikeChecklists>();
    let at = |level: Value| ask(&door, "tools/list").change(|body| body["params"]["_meta"][META_LOG_LEVEL] = level).send();
    for level in ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] {
        assert_eq!(at(json!(level)).status, 200, "{level}");
    }
    for level in [json!("loud"), json!("DEBUG"), json!(7), json!(null)] {
        faulty(&at(level.clone()), (400, -32602), &level.to_string());
    }
}

#[test]
fn a_tool_learns_what_this_client_can_do_now() {
    let door = open::<LikeChecklists>();
    let capable = door.ask(Era::Modern, "tools/call", json!({ "name": "show_card" }));
    let answer = capable.change(|body| body["params"]["_meta"][META_CAPABILITIES] = json!({ "elicitation": { "url": {} } })).send();
    assert_eq!(answer.result()["structuredContent"]["capabilities"], json!({ "elicitation": { "url": {} } }));
    assert_eq!(door.succeed("show_card", json!({}))["capabilities"], json!({}), "a legacy client told it at another time");
}

#[test]
fn a_tool_may_add_to_meta_in_both_eras() {
    let door = open::<LikeChecklists>();
    let modern = door.call(Era::Modern, "show_cover", json!({})).result()["_meta"].clone();
    assert_eq!((&modern["library.example/printed"], &modern[META_SERVER]["version"]), (&json!(1815), &json!("1.2.3")));
    assert_eq!(door.call(Era::Legacy, "show_cover", json!({})).result()["_meta"], json!({ "library.example/printed": 1815 }));
}

#[test]
fn the_list_is_that_of_the_newest_handshake_version() {
    let door = open::<LikeChecklists>();
    let legacy = door.post().header("mcp-protocol-version", "2025-11-25").rpc("tools/list", json!({})).send().result();
    assert_eq!(ask(&door, "tools/list").send().result()["tools"], legacy["tools"]);
}
