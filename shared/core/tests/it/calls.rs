//! Tool calls that do not succeed: what each says, and what it keeps to itself.

use serde_json::{Value, json};

use library::client::{BOTH, Door, Era, REQUEST_ID};
use library::{CAUSE, LAST_WORDS, LikeAgents, LikeChecklists, LikeRent, LikeViewer, every_kind, open};

/// D63
#[test]
fn names_match_exactly_and_the_refusal_tells_which_there_are() {
    for (kind, door) in every_kind() {
        for name in ["List_Books", " list_books", "list_books ", "list-books", "rent_exec", ""] {
            let answer = door.call(Era::Legacy, name, json!({}));
            let told = match kind {
                "agents" => answer.refusal()["error"].clone(),
                _ => answer.json()["error"]["message"].clone(),
            };
            let told = told.as_str().unwrap();
            assert!(told.contains("list_books, count_books, add_book"), "{kind} {name:?}: {told}");
            assert!(name.trim().is_empty() || name.trim() == "list_books" || !told.contains(name), "{kind}: the name is not repeated");
        }
    }
}

fn misspelt(door: &Door) -> Value {
    door.call(Era::Legacy, "lend_book", json!({ "book": "bk-1", "reader": 7 })).json()
}

#[test]
fn refused_arguments_as_a_protocol_error_list_every_fault_for_programs() {
    let answer = misspelt(&open::<LikeChecklists>());
    insta::assert_json_snapshot!("arguments_as_a_protocol_error", answer);
}

#[test]
fn refused_arguments_as_a_message_name_every_fault_in_words() {
    let answer = open::<LikeAgents>().call(Era::Legacy, "lend_book", json!({ "book": "bk-1", "reader": 7 })).refusal();
    insta::assert_json_snapshot!("arguments_as_a_message", answer);
}

#[test]
fn refused_arguments_as_a_problem_list_every_fault_in_its_details() {
    let answer = open::<LikeRent>().call(Era::Legacy, "lend_book", json!({ "book": "bk-1", "reader": 7 })).refusal();
    insta::assert_json_snapshot!("arguments_as_a_problem", answer);
}

#[test]
fn refused_arguments_with_a_code_list_every_fault_in_their_details() {
    let answer = open::<LikeViewer>().call(Era::Legacy, "lend_book", json!({ "book": "bk-1", "reader": 7 })).refusal();
    insta::assert_json_snapshot!("arguments_with_a_code", answer);
}

/// D75
#[test]
fn a_misspelt_argument_is_refused_by_name_and_the_tool_does_not_run() {
    for (kind, door) in every_kind() {
        let answer = door.call(Era::Legacy, "burn_book", json!({ "book_id": "bk-1", "confirm": true, "forse": 1 }));
        let text = answer.text();
        assert!(text.contains("/forse") && text.contains("the arguments are: book_id, confirm"), "{kind}: {text}");
        assert_eq!(door.backstage.titles(), ["Emma", "Ulysses"], "{kind}");
    }
}

#[test]
fn a_name_that_a_caller_made_up_is_shortened_wherever_it_stands() {
    for (kind, door) in every_kind() {
        let name = "n".repeat(200_000);
        for arguments in [json!({ "title": "x", &name: 1 }), json!({ "title": "x", "copies": { &name: vec![-1; 60] } })] {
            let answer = door.call(Era::Legacy, "add_book", arguments);
            assert!(answer.body.len() < 40_000, "{kind}: {} bytes", answer.body.len());
            assert!(answer.text().contains(&"n".repeat(64)), "{kind}");
        }
    }
}

#[test]
fn of_very_many_faults_five_are_told_in_words() {
    let answer = open::<LikeAgents>().call(Era::Legacy, "add_book", json!({ "title": "x", "copies": { "north": vec![-1; 300] } }));
    let told = answer.refusal()["error"].as_str().unwrap().to_owned();
    assert!(told.contains("/copies/north/4 must be at least 0; and 45 more."), "{told}");
}

/// D65
#[test]
fn a_failure_inside_shows_the_request_id_and_hides_its_cause() {
    for (kind, door) in every_kind() {
        for era in BOTH {
            let answer = door.call(era, "dust_shelves", json!({}));
            let refusal = answer.refusal().to_string();
            assert!(refusal.contains(REQUEST_ID), "{kind}: {refusal}");
            for secret in ["prod-books", "Throttling", "arn:"] {
                assert!(!answer.text().contains(secret), "{kind}: {refusal}");
            }
            assert_eq!(answer.record.causes, [CAUSE]);
        }
    }
}

/// D49, where the ruling for a tool that fails inside wins over the -32603 proposed there.
#[test]
fn a_tool_that_panics_has_failed_inside_and_the_next_call_is_served() {
    for (kind, door) in every_kind() {
        for era in BOTH {
            let answer = door.call(era, "move_shelf", json!({}));
            let refusal = answer.refusal().to_string();
            assert!(refusal.contains(REQUEST_ID), "{kind}: {refusal}");
            assert!(!answer.text().contains(LAST_WORDS) && !answer.text().contains("panic"), "{}", answer.text());
            assert_eq!(answer.record.causes, ["move_shelf panicked"]);
            assert_eq!(door.succeed("count_books", json!({}))["count"], 2, "{kind}");
        }
    }
}

#[test]
fn a_panic_outside_of_a_tool_is_an_internal_error_with_the_request_id() {
    for (kind, door) in every_kind() {
        let answer = door.post().rpc("tools/list", json!({})).header("x-panic", "at the door").send();
        assert_eq!(answer.fault(), (200, -32603), "{kind}");
        assert_eq!((&answer.json()["id"], &answer.json()["error"]["data"]["request_id"]), (&Value::Null, &json!(REQUEST_ID)));
        assert_eq!(door.succeed("count_books", json!({}))["count"], 2, "{kind}");
    }
}

#[test]
fn in_a_batch_a_panic_spoils_its_own_message_alone() {
    let door = open::<LikeChecklists>();
    let call = |id: u8, name: &str| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": name } });
    let answers = door.post().json(&json!([call(1, "move_shelf"), call(2, "count_books")])).send().json();
    assert_eq!((&answers[0]["result"]["isError"], &answers[1]["result"]["structuredContent"]["count"]), (&json!(true), &json!(2)));
}

/// D97
#[test]
fn a_too_large_answer_is_refused_whole_and_names_the_argument_that_narrows_it() {
    for (kind, door) in every_kind() {
        for era in BOTH {
            let answer = door.call(era, "print_catalogue", json!({ "letters": 1_000_000 }));
            let refusal = answer.refusal().to_string();
            assert!(refusal.contains("Narrow it with the argument letters."), "{kind}: {refusal}");
            assert!(refusal.contains(&door.profile.answer_limit.to_string()), "{kind}: {refusal}");
        }
    }
}

/// D97
#[test]
fn the_limit_of_an_answer_is_one_number_to_the_byte_and_measured_on_the_whole_body() {
    let door = open::<LikeChecklists>();
    let print = |letters: usize, id: &str| {
        let call = door.ask(Era::Legacy, "tools/call", json!({ "name": "print_catalogue", "arguments": { "letters": letters } }));
        call.change(|body| body["id"] = json!(id)).send()
    };
    let limit = door.profile.answer_limit;
    let empty = print(0, "").body.len();
    let most = (limit - empty) / 2;
    assert_eq!(print(most, "").result()["isError"], Value::Null);
    assert!(print(most, "").body.len() >= limit - 1, "the letters are carried twice");
    assert_eq!(print(most + 1, "").result()["isError"], true);
    assert_eq!(print(most, "an id counts too").result()["isError"], true);
}

#[test]
fn an_answer_that_does_not_fit_into_a_batch_says_that_its_message_was_carried_out() {
    let door = open::<LikeChecklists>();
    let params = json!({ "name": "print_catalogue", "arguments": { "letters": 10_000 } });
    let call = |id: u8| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
    let answers = door.post().json(&json!([call(1), call(2), call(3)])).send().json();
    assert_eq!(answers[0]["id"], 1);
    assert_eq!(answers[0]["result"]["isError"], Value::Null);
    assert_eq!((&answers[2]["id"], &answers[2]["error"]["code"]), (&json!(3), &json!(-32600)));
    assert!(answers[2]["error"]["message"].as_str().unwrap().starts_with("Done, but"), "{}", answers[2]);
}
