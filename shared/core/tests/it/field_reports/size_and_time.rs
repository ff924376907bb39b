//! Area 6, sizes, time and second tries.

use std::sync::atomic::Ordering;

use serde_json::json;

use library::client::{BOTH, Draft, REQUEST_ID};
use library::{Book, every_kind};

/// D95. That a page is small without being told so is each product's own matter. What the core sees to: a list that grew
/// past what an answer carries is not lost whole, for the refusal says which argument makes it smaller.
#[test]
fn a_list_that_grew_too_long_says_how_to_ask_for_less_and_then_comes() {
    for (kind, door) in every_kind() {
        let book = |number: usize| Book { id: format!("bk-{number}"), title: "x".repeat(1000), reader: None };
        door.backstage.books.lock().unwrap().extend((3..503).map(book));
        for era in BOTH {
            let refusal = door.call(era, "list_books", json!({})).refusal().to_string();
            assert!(refusal.contains("Narrow it with the argument limit."), "{kind}: {refusal}");
            let page = door.call(era, "list_books", json!({ "limit": 10 }));
            assert_eq!(page.result()["structuredContent"]["books"].as_array().map(Vec::len), Some(10), "{kind}");
            assert!(page.body.len() < 100_000, "{kind}: {} bytes", page.body.len());
        }
    }
}

/// D103. A call that failed inside may have been carried out before it failed. Nobody can tell from outside, so the answer
/// says what to do before a second try, and names the call for whoever looks it up.
#[test]
fn a_failure_that_may_have_changed_something_says_to_read_back_first() {
    for (kind, door) in every_kind() {
        for era in BOTH {
            for tool in ["dust_shelves", "move_shelf"] {
                let refusal = door.call(era, tool, json!({})).refusal().to_string();
                assert!(refusal.contains("Read back what you meant to change before you try again"), "{kind} {tool}: {refusal}");
                assert!(refusal.contains(REQUEST_ID), "{kind} {tool}: {refusal}");
            }
        }
    }
}

/// D107. The key comes before the body, so that a notification costs its lookup too.
#[test]
fn one_lookup_of_the_key_is_all_that_a_request_waits_for() {
    for (kind, door) in every_kind() {
        let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
        let requests: [(&str, Draft<'_>, usize); 7] = [
            ("a GET", door.post().method("GET"), 0),
            ("no key", door.post().without("authorization"), 0),
            ("a handshake", door.post().rpc("initialize", json!({})), 1),
            ("a ping", door.post().json(&ping), 1),
            ("a list", door.post().rpc("tools/list", json!({})), 1),
            ("a notification", door.post().json(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })), 1),
            ("a batch", door.post().json(&json!([ping, ping, ping])), 1),
        ];
        for (what, draft, lookups) in requests {
            let before = door.backstage.lookups.load(Ordering::SeqCst);
            draft.send();
            assert_eq!(door.backstage.lookups.load(Ordering::SeqCst) - before, lookups, "{kind}: {what}");
        }
    }
}

/// D103. Who takes a change that was made for one that failed makes it twice.
#[test]
fn a_change_whose_answer_is_too_large_says_that_it_was_made() {
    for (kind, door) in every_kind() {
        for era in BOTH {
            let before = door.backstage.titles().len();
            let answer = door.call(era, "add_book", json!({ "title": "Long", "notes": { "text": "n".repeat(20_000) } }));
            assert!(answer.refusal().to_string().contains("do not repeat it"), "{kind}");
            assert_eq!(answer.record.code.as_deref(), Some("answer_too_large"), "{kind}");
            assert_eq!(door.backstage.titles().len(), before + 1, "{kind}");
        }
    }
}

/// D107. Nobody is turned away with 401 for it, nobody waits, and everybody is told when to come back.
#[test]
fn while_the_key_store_is_down_whatever_needs_a_key_is_503_and_nothing_else_is() {
    for (kind, door) in every_kind() {
        door.backstage.outage.store(true, Ordering::SeqCst);
        let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        for draft in [
            door.post().rpc("initialize", json!({})),
            door.post().rpc("ping", json!({})),
            door.post().rpc("tools/list", json!({})),
            door.post().rpc("tools/call", json!({ "name": "count_books" })),
            door.post().json(&note),
        ] {
            let answer = draft.send();
            assert_eq!((answer.status, answer.header("retry-after")), (503, Some("2")), "{kind}");
            assert_eq!(answer.json()["error"]["code"], -32603, "{kind}: the body is JSON");
        }
        assert_eq!(door.post().method("GET").send().status, 405, "{kind}");
        assert_eq!(door.post().without("authorization").send().status, 401, "{kind}");
    }
}
