//! What the log learns of a request, and what it must never learn.

use onepost_core::mcp::{Outcome, Record};
use serde_json::json;

use library::client::{Answer, BOTH, Door, Era};
use library::{CREATOR, LikeChecklists, ORG, every_kind, open};

fn ended(record: &Record) -> (&[&'static str], Outcome, Option<&str>) {
    (&record.subjects, record.outcome, record.code.as_deref())
}

#[test]
fn a_request_is_named_by_its_tool_or_its_method() {
    let door = open::<LikeChecklists>();
    let note = r#"{"jsonrpc":"2.0","method":"made/up"}"#;
    for (answer, subject) in [
        (door.call(Era::Legacy, "count_books", json!({})), "count_books"),
        (door.ask(Era::Legacy, "tools/list", json!({})).send(), "list"),
        (door.ask(Era::Legacy, "initialize", json!({})).send(), "initialize"),
        (door.ask(Era::Legacy, "ping", json!({})).send(), "ping"),
        (door.ask(Era::Modern, "server/discover", json!({})).send(), "discover"),
        (door.post().body(note).send(), "notification"),
        (door.post().body(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).send(), "response"),
    ] {
        assert_eq!(ended(&answer.record), (&[subject][..], Outcome::Ok, None));
    }
}

#[test]
fn an_end_that_is_not_well_has_a_kind_and_a_code() {
    let door = open::<LikeChecklists>();
    let cases: [(Answer, &[&str], Outcome, &str); 9] = [
        (door.call(Era::Legacy, "burn_book", json!({ "book_id": "x" })), &["burn_book"], Outcome::ToolError, "confirm_needed"),
        (door.call(Era::Legacy, "dust_shelves", json!({})), &["dust_shelves"], Outcome::ToolError, "internal_error"),
        (door.call(Era::Legacy, "burn_book", json!({})), &["burn_book"], Outcome::ProtocolError, "-32602"),
        (door.call(Era::Legacy, "move_shelf", json!({})), &["move_shelf"], Outcome::ToolError, "internal_error"),
        (
            door.call(Era::Legacy, "print_catalogue", json!({ "letters": 900_000 })),
            &["print_catalogue"],
            Outcome::ToolError,
            "answer_too_large",
        ),
        (door.post().body("{").send(), &[], Outcome::ProtocolError, "-32700"),
        (door.post().method("GET").send(), &[], Outcome::Rejected, "405"),
        (door.post().without("authorization").send(), &[], Outcome::Rejected, "401"),
        (door.post().header("content-type", "x/y").send(), &[], Outcome::Rejected, "415"),
    ];
    for (answer, subjects, outcome, code) in &cases {
        assert_eq!(ended(&answer.record), (*subjects, *outcome, Some(*code)));
    }
}

#[test]
fn a_batch_names_everything_in_it_and_ends_as_its_last_bad_message() {
    let door = open::<LikeChecklists>();
    let call = |name: &str| json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name } });
    let answer = door.post().json(&json!([call("count_books"), call("dust_shelves"), call("list_books")])).send();
    assert_eq!(ended(&answer.record), (&["count_books", "dust_shelves", "list_books"][..], Outcome::ToolError, Some("internal_error")));
}

#[test]
fn the_caller_is_a_hash_and_the_public_part_of_the_key() {
    let door = open::<LikeChecklists>();
    let record = door.call(Era::Legacy, "count_books", json!({})).record;
    let caller = record.caller.unwrap();
    assert_eq!((caller.org.len(), caller.key.as_str()), (8, &door.keys.good["lib_live_".len()..][..12]));
    assert!(!ORG.contains(&caller.org));
    assert_eq!(door.post().header("content-type", "x/y").send().record.caller.unwrap(), caller, "known before the body is looked at");
    assert_eq!(door.post().header("authorization", "Bearer x").send().record.caller, None);
}

#[test]
fn a_name_that_a_caller_made_up_is_not_in_the_log() {
    for (kind, door) in every_kind() {
        for era in BOTH {
            let tool = door.call(era, "canary_tool", json!({}));
            let method = door.ask(era, "canary/method", json!({})).send();
            for (answer, subject) in [(tool, "unknown tool"), (method, "unknown method")] {
                assert_eq!(answer.record.subjects, [subject], "{kind}");
                assert!(!format!("{:?}", answer.record).contains("canary"), "{kind}: {:?}", answer.record);
            }
        }
    }
}

/// Every way a request can carry something that is nobody's business.
fn with_canaries(door: &Door) -> Vec<Answer> {
    let canary = "canary-7f3a";
    let mut answers = vec![
        door.post().header("authorization", "Bearer canary-7f3a").send(),
        door.post().header("mcp-protocol-version", canary).rpc("tools/list", json!({})).send(),
        door.post().header("origin", "https://canary-7f3a.example").send(),
        door.post().header("content-type", "canary-7f3a/x").send(),
        door.post().uri("/canary-7f3a?canary-7f3a").send(),
        door.post().body(r#"{"jsonrpc":"2.0","id":1,"canary-7f3a":1,"canary-7f3a":2}"#).send(),
        door.post().body("canary-7f3a").send(),
    ];
    for era in BOTH {
        answers.extend([
            door.call(era, "add_book", json!({ "title": canary, "tags": [canary], "notes": { canary: canary } })),
            door.call(era, "add_book", json!({ "title": 7, canary: canary })),
            door.call(era, "add_book", json!({ "title": "x", "copies": { canary: [canary] } })),
            door.call(era, "lend_book", json!({ "book_id": canary, "reader": canary })),
            door.call(era, "burn_book", json!({ "book_id": canary })),
            door.call(era, "ask_librarian", json!({ "question": canary, "bribe": canary })),
            door.call(era, canary, json!(canary)),
            door.ask(era, "tools/list", json!({ "cursor": canary })).send(),
            door.ask(era, "tools/list", json!({})).change(|body| body["id"] = json!(canary)).send(),
        ]);
    }
    answers
}

#[test]
fn no_argument_no_key_and_no_secret_is_in_the_log() {
    for (kind, door) in every_kind() {
        let secret = &door.keys.good["lib_live_".len() + 12..];
        for answer in with_canaries(&door) {
            let record = format!("{:?}", answer.record);
            for word in ["canary", secret, ORG, CREATOR] {
                assert!(!record.contains(word), "{kind}: {word} in {record}");
            }
        }
    }
}

#[test]
fn no_answer_of_a_refusal_repeats_the_key() {
    for (kind, door) in every_kind() {
        for request in
            [door.post().body("{"), door.post().uri("/x"), door.post().header("authorization", &format!("Basic {}", door.keys.good))]
        {
            let answer = request.send();
            assert!(
                !answer.text().contains(&door.keys.good[9..]) && !format!("{:?}", answer.headers).contains(&door.keys.good[9..]),
                "{kind}"
            );
        }
    }
}
