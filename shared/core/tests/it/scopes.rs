//! Rights: a tool may ask for one. A key that can never have it gets a refusal, a token that could be exchanged for one
//! that has it gets a challenge.

use library::client::{BOTH, Era};
use library::{LikeRent, VAULT, every_kind, open};
use serde_json::json;

#[test]
fn a_key_without_the_right_is_refused_by_the_tool() {
    for (kind, door) in every_kind() {
        for era in BOTH {
            let answer = door.call(era, "enter_vault", json!({}));
            assert!(answer.refusal().to_string().contains("may not enter"), "{kind}");
            assert_eq!(answer.record.code.as_deref(), Some("forbidden"), "{kind}");
        }
    }
}

#[test]
fn a_token_that_lacks_the_right_is_challenged_to_get_it() {
    for (kind, door) in every_kind() {
        for era in BOTH {
            let answer = door.ask(era, "tools/call", json!({ "name": "enter_vault" })).key(&door.keys.token).send();
            assert_eq!((answer.status, answer.json()["id"].is_null()), (403, true), "{kind}: {answer:?}");
            assert_eq!(answer.json()["error"]["code"], -32600, "{kind}");
            let challenge = answer.header("www-authenticate").unwrap();
            assert!(challenge.starts_with(door.profile.challenge), "{kind}: {challenge}");
            assert!(challenge.ends_with(&format!("error=\"insufficient_scope\", scope=\"{VAULT}\"")), "{kind}: {challenge}");
            assert_eq!(challenge.contains("resource_metadata"), kind == "rent", "{kind}: {challenge}");
        }
    }
}

#[test]
fn who_has_the_right_is_served() {
    for (kind, door) in every_kind() {
        for era in BOTH {
            let answer = door.ask(era, "tools/call", json!({ "name": "enter_vault" })).key(&door.keys.librarian).send();
            assert_eq!(answer.result()["structuredContent"]["title"], "Beowulf", "{kind}");
        }
    }
}

#[test]
fn tools_that_ask_for_no_right_are_served_to_every_key() {
    let door = open::<LikeRent>();
    for key in [&door.keys.good, &door.keys.token] {
        assert_eq!(door.ask(Era::Modern, "tools/call", json!({ "name": "count_books" })).key(key).send().status, 200);
    }
}

/// A status belongs to a whole answer; in a batch there is none to give.
#[test]
fn in_a_batch_the_challenge_is_an_error_of_its_message() {
    let door = open::<LikeRent>();
    let call = |id: u8, tool: &str| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool } });
    let answer = door.post().key(&door.keys.token).json(&json!([call(1, "enter_vault"), call(2, "count_books")])).send();
    let answers = answer.json();
    assert_eq!((answer.status, &answers[0]["id"], &answers[0]["error"]["code"]), (200, &json!(1), &json!(-32600)));
    assert_eq!(answers[1]["result"]["structuredContent"]["count"], 2);
}
