//! Input from a person in the middle of a call: asked by a result, answered by the same call again, with a state that
//! the client carries and can neither read nor change nor use elsewhere.

use jiff::SignedDuration;
use library::client::{Answer, BOTH, Door, Draft, Era, META_CAPABILITIES};
use library::{LikeChecklists, LikeRent, every_kind, open};
use serde_json::{Value, json};

/// A call by a client that can be asked this much.
fn ask<'d>(door: &'d Door, tool: &str, arguments: Value, capabilities: Value) -> Draft<'d> {
    let draft = door.ask(Era::Modern, "tools/call", json!({ "name": tool, "arguments": arguments }));
    draft.change(|body| body["params"]["_meta"][META_CAPABILITIES] = capabilities)
}

/// An order by a client that opens links.
fn order<'d>(door: &'d Door, title: &str) -> Draft<'d> {
    ask(door, "order_book", json!({ "title": title }), json!({ "elicitation": { "url": {} } }))
}

/// The same call again, with an answer and the state that came with the question.
fn again<'d>(draft: Draft<'d>, answer: Value, state: &Value) -> Draft<'d> {
    draft.change(|body| {
        body["id"] = json!(1);
        body["params"]["inputResponses"] = answer;
        body["params"]["requestState"] = state.clone();
    })
}

fn pay(action: &str) -> Value {
    json!({ "pay": { "action": action } })
}

/// What the question was answered with.
fn state_of(question: &Answer) -> Value {
    question.result()["requestState"].clone()
}

#[test]
fn a_client_that_opens_links_is_handed_one_to_show() {
    for (kind, door) in every_kind() {
        let result = order(&door, "Emma").send().result();
        let link = json!({ "mode": "url", "message": "Pay for Emma.", "url": "https://library.example/pay/o-4" });
        assert_eq!(result["resultType"], "input_required", "{kind}");
        assert_eq!(result["inputRequests"], json!({ "pay": { "method": "elicitation/create", "params": link } }), "{kind}");
        assert!(result["requestState"].is_string() && result["_meta"].is_object(), "{kind}: {result}");
        for member in ["content", "structuredContent", "isError", "ttlMs", "cacheScope"] {
            assert_eq!(result.get(member), None, "{kind}: {member}");
        }
    }
}

#[test]
fn the_call_goes_on_where_it_was_once_the_person_has_done_it() {
    let door = open::<LikeRent>();
    let state = state_of(&order(&door, "Emma").send());
    door.backstage.paid.lock().unwrap().push("o-4".into());
    let done = again(order(&door, "Emma"), pay("accept"), &state).send().result();
    assert_eq!(done["structuredContent"], json!({ "number": "o-4", "standing": "paid" }));
    assert_eq!(done["resultType"], "complete");
}

/// A yes to a link says that it was opened, and nothing of what was done there.
#[test]
fn a_person_who_said_yes_and_did_not_do_it_is_asked_again() {
    let door = open::<LikeRent>();
    let state = state_of(&order(&door, "Emma").send());
    let asked_again = again(order(&door, "Emma"), pay("accept"), &state).send();
    assert_eq!(asked_again.result()["resultType"], "input_required");
    door.backstage.paid.lock().unwrap().push("o-4".into());
    let done = again(order(&door, "Emma"), pay("accept"), &state_of(&asked_again)).send().result();
    assert_eq!(done["structuredContent"]["standing"], "paid");
}

#[test]
fn a_person_who_says_no_or_nothing_ends_it() {
    let door = open::<LikeRent>();
    let state = state_of(&order(&door, "Emma").send());
    for action in ["decline", "cancel"] {
        let done = again(order(&door, "Emma"), pay(action), &state).send().result();
        assert_eq!(done["structuredContent"]["standing"], "given up", "{action}");
    }
}

#[test]
fn an_answer_that_cannot_be_read_or_is_missing_is_asked_for_again() {
    let door = open::<LikeRent>();
    let state = state_of(&order(&door, "Emma").send());
    for answer in
        [json!({}), json!({ "other": { "action": "accept" } }), json!({ "pay": {} }), pay("perhaps"), json!({ "pay": { "action": 1 } })]
    {
        let result = again(order(&door, "Emma"), answer.clone(), &state).send().result();
        assert_eq!(result["resultType"], "input_required", "{answer}");
    }
}

#[test]
fn answers_that_are_no_objects_and_states_that_are_no_text_are_refused() {
    let door = open::<LikeRent>();
    let state = state_of(&order(&door, "Emma").send());
    for (answer, state) in
        [(json!([]), state.clone()), (json!({ "pay": 12345 }), state.clone()), (json!("yes"), state), (pay("accept"), json!({ "a": 1 }))]
    {
        assert_eq!(again(order(&door, "Emma"), answer.clone(), &state).send().fault(), (200, -32602), "{answer} {state}");
    }
}

#[test]
fn a_state_that_was_changed_is_refused() {
    let door = open::<LikeRent>();
    let state = state_of(&order(&door, "Emma").send());
    let text = state.as_str().unwrap();
    let mut changed: Vec<String> = (0..text.len())
        .map(|place| {
            let other = if text.as_bytes()[place] == b'A' { "B" } else { "A" };
            format!("{}{other}{}", &text[..place], &text[place + 1..])
        })
        .collect();
    changed.extend([format!("{text}-TAMPERED"), text[1..].to_owned(), String::new(), "null".into()]);
    for state in changed {
        let answer = again(order(&door, "Emma"), pay("accept"), &json!(state)).send();
        assert_eq!(answer.fault(), (200, -32602), "{state}");
    }
}

#[test]
fn a_state_says_nothing_to_who_carries_it() {
    let door = open::<LikeRent>();
    let state = state_of(&order(&door, "Emma").send());
    let other = state_of(&order(&door, "Emma").send());
    assert_ne!(state, other, "two states of the same order differ");
    assert!(state.as_str().unwrap().bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)), "{state}");
}

#[test]
fn a_state_is_worth_nothing_to_another_caller() {
    let door = open::<LikeRent>();
    let state = state_of(&order(&door, "Emma").send());
    for key in [&door.keys.other, &door.keys.librarian] {
        let replayed = again(order(&door, "Emma").key(key), pay("accept"), &state).send();
        assert_eq!(replayed.fault(), (200, -32602));
    }
    assert_eq!(again(order(&door, "Emma"), pay("accept"), &state).send().result()["resultType"], "input_required");
}

#[test]
fn a_state_is_worth_nothing_with_other_arguments_or_to_another_tool() {
    let door = open::<LikeRent>();
    let state = state_of(&order(&door, "Emma").send());
    assert_eq!(again(order(&door, "Emm"), pay("accept"), &state).send().fault(), (200, -32602));
    let forms = json!({ "elicitation": { "form": {} } });
    let signing = ask(&door, "sign_register", json!({}), forms);
    assert_eq!(again(signing, json!({}), &state).send().fault(), (200, -32602));
}

/// Clients may write the members of an object in another order, and the second round has another id and another `_meta`.
#[test]
fn a_state_is_good_for_the_same_arguments_however_they_are_written() {
    let door = open::<LikeRent>();
    let state = state_of(&order(&door, "Emma").send());
    let turned = again(order(&door, "Emma"), pay("decline"), &state).change(|body| {
        let params = body["params"].as_object().unwrap();
        let turned: serde_json::Map<String, Value> = params.iter().rev().map(|(name, value)| (name.clone(), value.clone())).collect();
        body["params"] = Value::Object(turned);
        body["params"]["_meta"]["progressToken"] = json!(7);
    });
    assert_eq!(turned.send().result()["structuredContent"]["standing"], "given up");
}

#[test]
fn a_state_ends_when_its_time_is_over() {
    let door = open::<LikeRent>();
    let state = state_of(&order(&door, "Emma").send());
    door.clock.advance(library::TIME_TO_PAY);
    assert_eq!(again(order(&door, "Emma"), pay("decline"), &state).send().result()["structuredContent"]["standing"], "given up");
    door.clock.advance(SignedDuration::from_millis(1));
    assert_eq!(again(order(&door, "Emma"), pay("decline"), &state).send().fault(), (200, -32602));
}

/// A client that was not asked may still come with answers; what it says counts as much as in a second round.
#[test]
fn answers_without_a_state_are_taken_where_nothing_had_to_be_remembered() {
    let door = open::<LikeChecklists>();
    let signing = ask(&door, "sign_register", json!({}), json!({ "elicitation": {} }));
    let answer = json!({ "name": { "action": "accept", "content": { "name": "Ada" } }, "unasked": { "action": "accept" } });
    let signed = signing.change(|body| body["params"]["inputResponses"] = answer).send().result();
    assert_eq!(signed["structuredContent"], json!({ "name": "Ada" }));
}

#[test]
fn a_client_that_cannot_be_asked_gets_what_the_tool_answers_instead() {
    for (kind, door) in every_kind() {
        for capabilities in [json!({}), json!({ "elicitation": {} }), json!({ "elicitation": { "form": {} } }), json!({ "sampling": {} })] {
            let refusal = ask(&door, "order_book", json!({ "title": "Emma" }), capabilities.clone()).send().refusal();
            assert!(refusal.to_string().contains("https://library.example/pay/o-4"), "{kind} {capabilities}: {refusal}");
        }
        let refusal = door.call(Era::Legacy, "order_book", json!({ "title": "Emma" })).refusal();
        assert!(refusal.to_string().contains("https://library.example/pay/o-4"), "{kind}: {refusal}");
    }
}

#[test]
fn a_tool_that_goes_no_other_way_says_which_capability_is_missing() {
    for (kind, door) in every_kind() {
        for capabilities in [json!({}), json!({ "elicitation": { "url": {} } }), json!({ "sampling": {} }), json!({ "elicitation": null })]
        {
            let answer = ask(&door, "sign_register", json!({}), capabilities.clone()).send();
            assert_eq!(answer.fault(), (400, -32021), "{kind} {capabilities}");
            let required = &answer.json()["error"]["data"]["requiredCapabilities"];
            assert_eq!(required, &json!({ "elicitation": { "form": {} } }), "{kind} {capabilities}");
        }
    }
}

#[test]
fn earlier_versions_cannot_ask_and_say_so() {
    for (kind, door) in every_kind() {
        let answer = door.call(Era::Legacy, "sign_register", json!({}));
        assert!(answer.refusal().to_string().contains("2026-07-28"), "{kind}");
        assert_eq!(answer.record.code.as_deref(), Some("input_unavailable"), "{kind}");
        // Nor do they answer: what is no member of a request in their time is passed over.
        let answers = json!({ "name": { "action": "accept", "content": { "name": "Ada" } } });
        let draft = door.ask(Era::Legacy, "tools/call", json!({ "name": "sign_register", "inputResponses": answers, "requestState": "x" }));
        assert_eq!(draft.send().record.code.as_deref(), Some("input_unavailable"), "{kind}");
    }
}

#[test]
fn a_tool_that_never_asks_passes_answers_and_states_over() {
    let door = open::<LikeChecklists>();
    for era in BOTH {
        let params = json!({ "name": "count_books", "inputResponses": 7, "requestState": "of nothing" });
        assert_eq!(door.ask(era, "tools/call", params).send().result()["structuredContent"]["count"], 2);
    }
}
