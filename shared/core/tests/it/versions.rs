//! The versions with a handshake: which is spoken, and what each of them sees.

use serde_json::{Value, json};

use library::client::{Door, META_CAPABILITIES, META_VERSION};
use library::{LikeAgents, LikeChecklists, every_kind, open};

fn initialize(door: &Door, params: Value) -> Value {
    door.post().rpc("initialize", params).send().result()
}

fn negotiated(door: &Door, asked: Value) -> Value {
    initialize(door, json!({ "protocolVersion": asked, "capabilities": {} }))["protocolVersion"].clone()
}

fn listed(door: &Door, version: &str) -> Value {
    door.post().header("mcp-protocol-version", version).rpc("tools/list", json!({})).send().result()
}

#[test]
fn initialize_echoes_a_version_that_is_served() {
    for (kind, door) in every_kind() {
        for version in door.profile.legacy {
            assert_eq!(negotiated(&door, json!(version.as_str())), version.as_str(), "{kind}");
        }
    }
}

/// D13. A handshake never leads to a version that has none.
#[test]
fn initialize_answers_any_other_version_with_the_products_own() {
    for (kind, own) in [("checklists", "2025-11-25"), ("agents", "2025-06-18"), ("rent", "2025-11-25"), ("viewer", "2025-11-25")] {
        let (_, door) = every_kind().into_iter().find(|(name, _)| *name == kind).unwrap();
        for asked in [json!("2099-01-01"), json!("2026-07-28"), json!(20_250_618), json!(null), json!(""), json!({}), json!("2025-06-18 ")]
        {
            assert_eq!(negotiated(&door, asked.clone()), own, "{kind} {asked}");
        }
        assert_eq!(initialize(&door, json!({}))["protocolVersion"], own, "{kind}: the member is missing");
        assert_eq!(initialize(&door, Value::Null)["protocolVersion"], own, "{kind}: params are missing");
    }
    assert_eq!(negotiated(&open::<LikeAgents>(), json!("2025-11-25")), "2025-06-18", "agents do not serve it");
}

/// D17
#[test]
fn what_a_client_says_of_itself_is_never_in_the_way() {
    let door = open::<LikeChecklists>();
    for capabilities in [json!({ "sampling": {}, "roots": {} }), json!({}), json!({ "new": { "x": [1] } }), json!(null)] {
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": capabilities });
        assert_eq!(initialize(&door, params)["protocolVersion"], "2025-06-18", "{capabilities}");
    }
}

/// D21
#[test]
fn initialize_promises_tools_and_nothing_else() {
    let answer = initialize(&open::<LikeChecklists>(), json!({ "protocolVersion": "2025-06-18" }));
    let expected = json!({
        "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
        "serverInfo": { "name": "library", "title": "Library", "version": "1.2.3" },
        "instructions": "List the books before you lend one.",
    });
    assert_eq!(answer, expected);
    let silent = initialize(&open::<LikeAgents>(), json!({}));
    assert_eq!(silent.get("instructions"), None, "what is absent is left out, never null");
}

/// D21
#[test]
fn ping_is_answered_and_the_lists_of_other_features_are_unknown_methods() {
    for (kind, door) in every_kind() {
        assert_eq!(door.post().rpc("ping", json!({})).send().result(), json!({}));
        for method in
            ["prompts/list", "resources/list", "resources/templates/list", "logging/setLevel", "server/discover", "Tools/List", ""]
        {
            let answer = door.post().rpc(method, json!({})).send();
            assert_eq!((answer.fault(), &answer.json()["id"]), ((200, -32601), &json!(1)), "{kind} {method}");
        }
    }
}

#[test]
fn the_header_names_a_version_that_is_served_or_the_request_is_refused_with_the_list() {
    for (kind, door) in every_kind() {
        for version in door.profile.legacy {
            assert!(listed(&door, version.as_str())["tools"].is_array(), "{kind}");
        }
        for header in ["2099-01-01", "2025-06", "latest", "", "2025-06-18, 2025-06-18"] {
            let answer = door.post().header("mcp-protocol-version", header).rpc("tools/list", json!({})).send();
            assert_eq!(answer.fault(), (400, -32022), "{kind} {header:?}");
            let supported: Vec<&str> = door.profile.all_versions().map(|version| version.as_str()).collect();
            assert_eq!(answer.json()["error"]["data"], json!({ "supported": supported, "requested": header }));
            assert_eq!(answer.json()["id"], 1);
        }
    }
    let late = open::<LikeAgents>().post().header("mcp-protocol-version", "2025-11-25").rpc("ping", json!({})).send();
    assert_eq!(late.fault(), (400, -32022), "agents do not serve it");
}

#[test]
fn blanks_around_the_header_are_not_part_of_it_and_a_second_header_is_refused() {
    let door = open::<LikeChecklists>();
    assert_eq!(door.post().header("mcp-protocol-version", " 2025-06-18 ").rpc("ping", json!({})).send().status, 200);
    let twice = door.post().header("mcp-protocol-version", "2025-06-18").header_too("mcp-protocol-version", "2025-06-18");
    assert_eq!(twice.rpc("ping", json!({})).send().fault(), (400, -32022));
    assert_eq!(door.post().header_bytes("mcp-protocol-version", b"\xff").rpc("ping", json!({})).send().fault(), (400, -32022));
}

#[test]
fn a_very_long_version_is_not_sent_back_whole() {
    let answer = open::<LikeChecklists>().post().header("mcp-protocol-version", &"9".repeat(5000)).rpc("ping", json!({})).send();
    assert_eq!(answer.json()["error"]["data"]["requested"], "9".repeat(32));
}

#[test]
fn meta_and_routing_headers_alone_make_no_modern_request() {
    let door = open::<LikeChecklists>();
    let params = json!({ "_meta": { "progressToken": 1, META_CAPABILITIES: {}, "traceparent": "00-1-1-00" } });
    let answer = door.post().header("mcp-method", "something/else").rpc("tools/list", params.clone()).send();
    assert!(answer.result().get("resultType").is_none());
    let answer = door.post().header("mcp-protocol-version", "2025-11-25").header("mcp-name", "x").rpc("ping", params).send();
    assert_eq!(answer.result(), json!({}));
}

#[test]
fn a_legacy_version_named_in_meta_is_served_by_its_own_rules() {
    let door = open::<LikeChecklists>();
    let params = json!({ "_meta": { META_VERSION: "2025-03-26" } });
    for request in [door.post(), door.post().header("mcp-protocol-version", "2025-03-26")] {
        let tools = request.rpc("tools/list", params.clone()).send().result();
        assert!(tools.get("resultType").is_none() && tools["tools"][0].get("outputSchema").is_none(), "{tools}");
    }
}

#[test]
fn each_version_sees_of_a_tool_what_it_knows() {
    let door = open::<LikeChecklists>();
    for (version, outputs, hints) in [
        ("2024-10-07", false, false),
        ("2024-11-05", false, false),
        ("2025-03-26", false, true),
        ("2025-06-18", true, true),
        ("2025-11-25", true, true),
    ] {
        for tool in listed(&door, version)["tools"].as_array().unwrap() {
            assert_eq!(tool.get("outputSchema").is_some(), outputs, "{version} {tool}");
            assert_eq!(tool.get("annotations").is_some(), hints, "{version} {tool}");
            assert!(tool["inputSchema"].is_object() && tool["description"].is_string());
        }
    }
    let unnamed = door.post().rpc("tools/list", json!({})).send().result();
    assert_eq!(unnamed, listed(&door, "2025-03-26"), "no header means 2025-03-26");
}

#[test]
fn nothing_of_2026_leaks_into_an_answer_to_an_older_version() {
    for (kind, door) in every_kind() {
        for version in door.profile.legacy {
            for (method, params) in [
                ("initialize", json!({})),
                ("ping", json!({})),
                ("tools/list", json!({})),
                ("tools/call", json!({ "name": "count_books" })),
                ("tools/call", json!({ "name": "burn_book", "arguments": { "book_id": "bk-1" } })),
            ] {
                let answer = door.post().header("mcp-protocol-version", version.as_str()).rpc(method, params).send();
                let result = answer.result();
                for member in ["resultType", "ttlMs", "cacheScope", "_meta", "nextCursor", "supportedVersions"] {
                    assert!(result.get(member).is_none(), "{kind} {} {method}: {member}", version.as_str());
                }
                assert!(!answer.text().contains("2026-07-28"));
            }
        }
    }
}

/// D67
#[test]
fn the_list_has_one_page_and_a_made_up_cursor_is_refused() {
    for (kind, door) in every_kind() {
        let answer = door.post().rpc("tools/list", json!({ "cursor": "zzz" })).send();
        assert_eq!(answer.fault(), (200, -32602), "{kind}");
        assert!(door.post().rpc("tools/list", json!({ "cursor": null })).send().result()["tools"].is_array());
    }
}
