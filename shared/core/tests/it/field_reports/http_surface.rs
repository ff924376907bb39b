//! Area 1, what a client sees of HTTP and of the handshake: what the tests of the transport and of versions leave open.

use std::thread;

use serde_json::json;

use library::client::{BOTH, Door};
use library::{Branch, LikeAgents, LikeChecklists, LikeRent, LikeViewer, every_kind, open};

/// D9. Strict clients stop at a body of `null`.
#[test]
fn the_notification_after_a_handshake_gets_202_and_not_a_byte() {
    const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":{}}"#;
    for (kind, door) in every_kind() {
        let named = door.profile.all_versions().map(|version| door.post().header("mcp-protocol-version", version.as_str()));
        for draft in named.chain([door.post()]) {
            let answer = draft.body(INITIALIZED).send();
            assert_eq!((answer.status, answer.body.len(), answer.header("content-type")), (202, 0, None), "{kind}");
        }
    }
}

fn counts_the_books(door: &Door) -> bool {
    BOTH.iter().all(|era| {
        let answer = door.ask(*era, "tools/call", json!({ "name": "count_books" })).send();
        answer.result()["structuredContent"]["count"] == 2
    })
}

fn twenty_instances<B: Branch>() {
    thread::scope(|scope| {
        let calls: Vec<_> = (0..20).map(|_| scope.spawn(|| counts_the_books(&open::<B>()))).collect();
        assert!(calls.into_iter().all(|call| call.join().unwrap()));
    });
}

/// D19. After a deployment every instance is new, and none has seen a handshake.
#[test]
fn the_first_request_to_each_of_twenty_new_instances_may_be_a_call() {
    twenty_instances::<LikeChecklists>();
    twenty_instances::<LikeAgents>();
    twenty_instances::<LikeRent>();
    twenty_instances::<LikeViewer>();
}

/// D19
#[test]
fn a_handshake_at_one_instance_is_nothing_that_another_has_to_know() {
    for ((kind, greeted), (_, other)) in every_kind().into_iter().zip(every_kind()) {
        let handshake = json!({ "protocolVersion": "2024-11-05", "capabilities": {} });
        let answer = greeted.post().rpc("initialize", handshake).send();
        assert_eq!(answer.result()["protocolVersion"], "2024-11-05", "{kind}");
        assert!(counts_the_books(&other), "{kind}: at another instance");
        assert!(counts_the_books(&greeted), "{kind}: at the same one, which remembers nothing of it");
        let listed = greeted.post().header("mcp-protocol-version", "2025-06-18").rpc("tools/list", json!({})).send().result();
        assert!(listed["tools"][0]["outputSchema"].is_object(), "{kind}: the header of each request counts, not the handshake");
    }
}

/// D19. Also beside each other at one instance, as on the local stack.
#[test]
fn one_instance_serves_twenty_callers_at_once() {
    for (kind, door) in every_kind() {
        thread::scope(|scope| {
            let calls: Vec<_> = (0..20).map(|_| scope.spawn(|| counts_the_books(&door))).collect();
            assert!(calls.into_iter().all(|call| call.join().unwrap()), "{kind}");
        });
    }
}
