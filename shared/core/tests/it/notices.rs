//! What a call has to tell beside its result: as one event stream in one body, to clients that take one and asked for it.

use library::client::{Door, Draft, Era, META_LOG_LEVEL};
use library::{LikeChecklists, Talkative, every_kind, open};
use serde_json::{Value, json};

const BOTH_KINDS: &str = "application/json, text/event-stream";

fn recite(door: &Door, era: Era, meta: Value) -> Draft<'_> {
    let draft = door.ask(era, "tools/call", json!({ "name": "recite_lines", "arguments": { "lines": 2 } })).header("accept", BOTH_KINDS);
    draft.change(|body| {
        for (name, value) in meta.as_object().unwrap() {
            body["params"]["_meta"][name] = value.clone();
        }
    })
}

/// The messages of an event stream, each on a line of its own.
fn events(draft: Draft<'_>) -> Vec<Value> {
    let answer = draft.send();
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/event-stream")), "{answer:?}");
    let events = answer.text().split_terminator("\n\n");
    events.map(|event| serde_json::from_str(event.strip_prefix("event: message\ndata: ").unwrap()).unwrap()).collect()
}

#[test]
fn progress_is_told_before_the_result_to_a_client_that_named_the_request() {
    let door = open::<LikeChecklists>();
    for token in [json!("a token"), json!(7)] {
        let events = events(recite(&door, Era::Modern, json!({ "progressToken": token })));
        let progress = |progress: f64| json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progressToken": token, "progress": progress, "total": 2.0 } });
        assert_eq!(events[..2], [progress(1.0), progress(2.0)]);
        assert_eq!((&events[2]["id"], &events[2]["result"]["structuredContent"]["count"]), (&json!(1), &json!(2)));
        assert_eq!(events.len(), 3);
    }
}

#[test]
fn log_messages_are_told_from_the_level_that_was_asked_for() {
    let door = open::<Talkative>();
    for (level, told) in [("debug", 2), ("notice", 1)] {
        let events = events(recite(&door, Era::Modern, json!({ META_LOG_LEVEL: level })));
        assert_eq!(events.len(), told + 1, "{level}: {events:?}");
        let last = &events[told - 1];
        assert_eq!((&last["method"], &last["params"]), (&json!("notifications/message"), &json!({ "level": "notice", "data": "line\n2" })));
    }
    let quiet = recite(&door, Era::Modern, json!({ META_LOG_LEVEL: "warning" })).send();
    assert_eq!(quiet.header("content-type"), Some("application/json"));
}

#[test]
fn nothing_is_told_to_a_client_of_2026_07_28_that_asked_for_nothing() {
    let door = open::<Talkative>();
    let answer = recite(&door, Era::Modern, json!({})).send();
    assert_eq!((answer.header("content-type"), &answer.result()["structuredContent"]["count"]), (Some("application/json"), &json!(2)));
}

/// Their level was set by a request of its own, which a stateless server has forgotten.
#[test]
fn earlier_clients_are_told_from_info_on() {
    let door = open::<Talkative>();
    let events = events(recite(&door, Era::Legacy, json!({})));
    let levels: Vec<&Value> = events.iter().filter_map(|event| event["params"].get("level")).collect();
    assert_eq!((levels, events.len()), (vec![&json!("notice")], 2));
}

#[test]
fn a_client_that_takes_no_event_stream_gets_the_result_alone() {
    let door = open::<Talkative>();
    for era in [Era::Legacy, Era::Modern] {
        for accept in [Some("application/json"), Some("*/*"), Some("text/event-stream;q=0"), Some("xtext/event-stream-foo"), None] {
            let draft = recite(&door, era, json!({ "progressToken": 1, META_LOG_LEVEL: "debug" }));
            let draft =
                accept.map_or(draft.without("accept"), |accept| recite(&door, era, json!({ "progressToken": 1 })).header("accept", accept));
            let answer = draft.send();
            assert_eq!((answer.header("content-type"), answer.result().is_object()), (Some("application/json"), true), "{accept:?}");
        }
    }
}

#[test]
fn a_token_that_is_neither_text_nor_a_whole_number_is_no_token() {
    let door = open::<Talkative>();
    for token in [json!(null), json!(1.5), json!([1]), json!({}), json!(true)] {
        let answer = recite(&door, Era::Modern, json!({ "progressToken": token })).send();
        assert_eq!(answer.header("content-type"), Some("application/json"), "{token}");
    }
}

/// The answer must still fit into what carries it.
#[test]
fn what_is_told_beside_the_result_has_an_end() {
    let door = open::<Talkative>();
    let draft = recite(&door, Era::Modern, json!({ "progressToken": 1 }));
    let answer = draft.change(|body| body["params"]["arguments"]["lines"] = json!(10_000)).send();
    assert!((128_000..256_000).contains(&answer.body.len()), "{} bytes", answer.body.len());
    let last = answer.text().trim_end().rsplit("data: ").next().unwrap();
    assert_eq!(serde_json::from_str::<Value>(last).unwrap()["result"]["structuredContent"]["count"], 10_000);
}

#[test]
fn servers_that_do_not_say_that_they_log_do_not() {
    for (kind, door) in every_kind() {
        let greeted = door.ask(Era::Legacy, "initialize", json!({})).send().result();
        assert_eq!(greeted["capabilities"], json!({ "tools": {} }), "{kind}");
        for era in [Era::Legacy, Era::Modern] {
            let answer = recite(&door, era, json!({ META_LOG_LEVEL: "debug" })).send();
            assert_eq!(answer.header("content-type"), Some("application/json"), "{kind}");
        }
    }
    let greeted = open::<Talkative>().ask(Era::Legacy, "initialize", json!({})).send().result();
    assert_eq!(greeted["capabilities"], json!({ "tools": {}, "logging": {} }));
}
