//! The versions with a handshake: which is spoken, and what each of them sees.

use serde_json::{Value, json};

use library::client::{Door, Draft, META_CAPABILITIES, META_VERSION};
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

/// D17. Nor where it says nothing, or nothing that can be understood.
#[test]
fn what_a_client_says_of_itself_is_never_in_the_way() {
    let named = json!({ "name": "a client", "version": "1" });
    for (kind, door) in every_kind() {
        let usual = initialize(&door, json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": named }));
        for capabilities in [json!({ "sampling": {}, "roots": {} }), json!({}), json!({ "new": { "x": [1] } }), json!(null), json!([])] {
            let bare = json!({ "protocolVersion": "2025-06-18", "capabilities": capabilities });
            assert_eq!(initialize(&door, bare.clone()), usual, "{kind} {capabilities}");
            for client in [named.clone(), json!({}), json!(null), json!("x")] {
                let mut params = bare.clone();
                params["clientInfo"] = client;
                assert_eq!(initialize(&door, params.clone()), usual, "{kind} {params}");
            }
        }
        assert_eq!(initialize(&door, json!({ "protocolVersion": "2025-06-18" })), usual, "{kind}");
    }
}

/// D21
#[test]
fn initialize_promises_tools_and_nothing_else() {
    for (kind, door) in every_kind() {
        assert_eq!(initialize(&door, json!({}))["capabilities"], json!({ "tools": {} }), "{kind}");
    }
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

/// A version with a handshake, and what sets it apart. The official suite tries the last two and next to nothing of the
/// others.
struct Form {
    version: &'static str,
    /// The members of a tool in the list.
    tool: &'static [&'static str],
    batches: bool,
}

const PLAIN: &[&str] = &["name", "title", "description", "inputSchema"];
const WITH_HINTS: &[&str] = &["name", "title", "description", "inputSchema", "annotations"];
const WITH_OUTPUTS: &[&str] = &["name", "title", "description", "inputSchema", "outputSchema", "annotations"];

/// Oldest first. The header is younger than the first three; who sends it all the same means it.
const FORMS: [Form; 5] = [
    Form { version: "2024-10-07", tool: PLAIN, batches: false },
    Form { version: "2024-11-05", tool: PLAIN, batches: false },
    Form { version: "2025-03-26", tool: WITH_HINTS, batches: true },
    Form { version: "2025-06-18", tool: WITH_OUTPUTS, batches: false },
    Form { version: "2025-11-25", tool: WITH_OUTPUTS, batches: false },
];

fn members(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// Every version that this product serves, with its form.
fn forms(door: &Door) -> Vec<&'static Form> {
    let forms: Vec<_> = FORMS.iter().filter(|form| door.profile.served(form.version).is_some()).collect();
    assert_eq!(forms.len(), door.profile.legacy.len());
    forms
}

fn spoken<'d>(door: &'d Door, form: &Form, method: &str, params: Value) -> Draft<'d> {
    door.post().header("mcp-protocol-version", form.version).rpc(method, params)
}

#[test]
fn each_version_is_answered_in_its_own_form() {
    for (kind, door) in every_kind() {
        for form in forms(&door) {
            let at = format!("{kind} {}", form.version);
            let ask = |method: &str, params: Value| spoken(&door, form, method, params).send().result();
            let call = |tool: &str, arguments: Value| ask("tools/call", json!({ "name": tool, "arguments": arguments }));

            let listed = ask("tools/list", json!({}));
            assert_eq!(members(&listed), ["tools"], "{at}");
            for tool in listed["tools"].as_array().unwrap() {
                assert_eq!(members(tool), form.tool, "{at}");
            }
            // 2024-10-07 called it toolResult for a while. Its clients read `content` too, and all later ones nothing else.
            let done = call("count_books", json!({}));
            assert_eq!(members(&done), ["content", "structuredContent"], "{at}");
            assert_eq!((&done["content"][0]["type"], members(&done["content"][0])), (&json!("text"), vec!["type", "text"]), "{at}");
            let refused = call("burn_book", json!({ "book_id": "bk-1" }));
            let value = if kind == "rent" { vec!["content", "structuredContent", "isError"] } else { vec!["content", "isError"] };
            assert_eq!(members(&refused), value, "{at}");
            let picture = call("show_cover", json!({}));
            assert_eq!(members(&picture["content"][1]), ["type", "data", "mimeType"], "{at}");
            assert_eq!(ask("ping", json!({})), json!({}), "{at}");
        }
    }
}

#[test]
fn without_a_header_the_form_is_that_of_2025_03_26() {
    for (kind, door) in every_kind() {
        let unnamed = door.post().rpc("tools/list", json!({})).send().result();
        assert_eq!(unnamed, listed(&door, "2025-03-26"), "{kind}");
    }
}

/// A handshake without a header and one under the header of any version end alike: what is asked for is in the body.
#[test]
fn a_handshake_goes_by_what_it_asks_for_whatever_the_header_says() {
    for (kind, door) in every_kind() {
        for form in forms(&door) {
            let params = json!({ "protocolVersion": form.version, "capabilities": {} });
            let bare = initialize(&door, params.clone());
            assert_eq!(bare["protocolVersion"], form.version, "{kind}");
            for other in forms(&door) {
                let headed = spoken(&door, other, "initialize", params.clone()).send().result();
                assert_eq!(headed, bare, "{kind}: asks for {} under {}", form.version, other.version);
            }
        }
    }
}

#[test]
fn each_version_is_told_of_faults_with_a_status_that_its_clients_read_on_with() {
    for (kind, door) in every_kind() {
        for form in forms(&door) {
            let at = format!("{kind} {}", form.version);
            assert_eq!(spoken(&door, form, "made/up", json!({})).send().fault(), (200, -32601), "{at}");
            assert_eq!(spoken(&door, form, "tools/call", json!({})).send().fault(), (200, -32602), "{at}");
            let broken = spoken(&door, form, "ping", json!({})).body("{").send();
            assert_eq!((broken.fault(), broken.json().get("id")), ((200, -32700), Some(&Value::Null)), "{at}");
            let note = spoken(&door, form, "", json!({})).body(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).send();
            assert_eq!((note.status, note.body.len()), (202, 0), "{at}");
            let posted = spoken(&door, form, "", json!({})).body(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).send();
            assert_eq!((posted.status, posted.body.len()), (202, 0), "{at}");
        }
    }
}

#[test]
fn only_2025_03_26_has_batches() {
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    for (kind, door) in every_kind() {
        for form in forms(&door) {
            let answer = spoken(&door, form, "ping", json!({})).json(&json!([ping, ping])).send();
            let at = format!("{kind} {}", form.version);
            if form.batches {
                assert_eq!((answer.status, answer.json().as_array().map(Vec::len)), (200, Some(2)), "{at}");
            } else {
                assert_eq!((answer.fault(), answer.json().get("id")), ((200, -32600), Some(&Value::Null)), "{at}");
            }
        }
    }
}

/// In the members of a batch too, what 2025-03-26 does not know is left out.
#[test]
fn the_answers_of_a_batch_are_those_that_its_messages_get_alone() {
    for (kind, door) in every_kind() {
        let alone = [
            ("ping", json!({})),
            ("tools/list", json!({})),
            ("tools/call", json!({ "name": "count_books" })),
            ("tools/call", json!({ "name": "burn_book", "arguments": { "book_id": "bk-1" } })),
            ("tools/call", json!({ "name": "no_such_tool" })),
            ("made/up", json!({})),
        ];
        let messages = alone.clone().map(|(method, params)| json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
        let answers = door.post().json(&json!(messages)).send().json();
        let expected = alone.map(|(method, params)| door.post().rpc(method, params).send().json());
        assert_eq!(answers, json!(expected), "{kind}");
    }
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
