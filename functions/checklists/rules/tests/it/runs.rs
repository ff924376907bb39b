//! The life of a run.

use checklists_rules::answer::Given;
use checklists_rules::run::{CancelledBy, Event, Identity, IdentityMode, LATE_GRACE, Origin};
use checklists_rules::{Command, Run, RunStatus};
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::fixtures::{Stage, answer, cancel, clear, complete, exit, hour, live, minute, names, open, skip, template, two_steps};

fn queued(step_id: &str, value: impl Into<Value>, session: i64, captured: i64) -> Command {
    Command::Answer {
        step_id: step_id.to_owned(),
        given: Given::value(value),
        seen_rev: None,
        origin: Origin::queued("Mara", minute(session), minute(captured)),
    }
}

fn queued_complete(session: i64, captured: i64) -> Command {
    Command::Complete { signature: None, origin: Origin::queued("Mara", minute(session), minute(captured)) }
}

fn extend_to(hours: i64) -> Command {
    Command::Extend { expires_at: Some(hour(hours)) }
}

/// A run in each of the states that matter, at the time at which commands meet it.
fn in_state(state: &str) -> Stage {
    let mut stage = Stage::new(two_steps());
    if state == "pending" {
        return stage;
    }
    stage.accept(open(Identity::anonymous()));
    stage.at(minute(3)).accept(answer("s-opt", "first"));
    match state {
        "in_progress" => {}
        "completed" => {
            stage.accept(answer("s-req", true));
            stage.accept(complete());
        }
        "left" => drop(stage.accept(exit())),
        "withdrawn" => drop(stage.accept(cancel())),
        "lapsed" => drop(stage.at(hour(25))),
        "expired" => drop(stage.at(hour(25)).accept(Command::Expire)),
        other => panic!("no such state: {other}"),
    }
    stage
}

#[test]
fn what_each_command_does_in_each_state() {
    // `ok` changes the run, `repeat` is accepted and changes nothing, anything else is the code of a refusal.
    // `left` was cancelled by its executor, `withdrawn` by the organisation; `lapsed` has run out and nobody has
    // stored that yet; `late` commands were captured before expiry in a session that the caller has verified.
    let table = "
        command        pending        in_progress    completed      left           withdrawn      lapsed         expired
        open           ok             repeat         repeat         run_cancelled  run_cancelled  run_expired    run_expired
        answer         ok             ok             run_completed  run_cancelled  run_cancelled  run_expired    run_expired
        late_answer    ok             ok             run_completed  run_cancelled  run_cancelled  ok             ok
        skip           ok             ok             run_completed  run_cancelled  run_cancelled  run_expired    run_expired
        clear          repeat         ok             run_completed  run_cancelled  run_cancelled  run_expired    run_expired
        complete       incomplete_run incomplete_run repeat         run_cancelled  run_cancelled  run_expired    run_expired
        late_complete  incomplete_run incomplete_run repeat         run_cancelled  run_cancelled  incomplete_run incomplete_run
        exit           ok             ok             run_completed  repeat         run_cancelled  run_expired    run_expired
        cancel         ok             ok             run_completed  repeat         repeat         run_expired    run_expired
        expire         not_expired    not_expired    run_completed  run_cancelled  run_cancelled  ok             repeat
        extend         ok             ok             run_completed  ok             cannot_extend  ok             ok
    ";
    let mut rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()).filter(|row| !row.is_empty());
    let states = rows.next().unwrap();
    let mut cells = 0;
    for row in rows {
        let command = match row[0] {
            "open" => open(Identity::anonymous()),
            "answer" => answer("s-opt", "second"),
            "late_answer" => queued("s-opt", "second", 2, 10),
            "skip" => skip("s-opt"),
            "clear" => clear("s-opt"),
            "complete" => complete(),
            "late_complete" => queued_complete(2, 10),
            "exit" => exit(),
            "cancel" => cancel(),
            "expire" => Command::Expire,
            "extend" => extend_to(48),
            other => panic!("no such command: {other}"),
        };
        for (state, expected) in states.iter().zip(&row).skip(1) {
            let mut stage = in_state(state);
            let outcome = match stage.apply(command.clone()) {
                Ok(change) if change.changed => "ok".to_owned(),
                Ok(_) => "repeat".to_owned(),
                Err(refusal) => refusal.code.to_string(),
            };
            assert_eq!(outcome, **expected, "{} meets a run that is {state}", row[0]);
            cells += 1;
        }
    }
    assert_eq!(cells, 77);
}

// Opening

#[test]
fn opening_notes_when_and_who_and_does_not_start_the_run() {
    let mut stage = Stage::new(two_steps());
    let change = stage.at(minute(2)).accept(open(Identity::external("Mara")));
    assert_eq!((change.status_before, change.status_after), (RunStatus::Pending, RunStatus::Pending));
    assert_eq!(change.events, []);
    assert_eq!(stage.run.opened_at, Some(minute(2)));
    assert_eq!(stage.run.identity, Some(Identity::external("Mara")));
    assert_eq!(stage.run.assigned_to, None);

    stage.at(minute(9)).accept(open(Identity::member("u-2")));
    assert_eq!(stage.run.opened_at, Some(minute(2)), "the first opening stands");
    assert_eq!(stage.run.identity, Some(Identity::external("Mara")));
}

#[test]
fn a_run_is_assigned_to_the_member_who_opens_it_first() {
    let mut stage = Stage::new(two_steps());
    stage.accept(open(Identity::member("u-1")));
    assert_eq!(stage.run.assigned_to.as_deref(), Some("u-1"));
}

#[test]
fn the_template_says_who_may_open_a_run() {
    let of = |execution: Value| template(json!({ "name": "n", "execution": execution, "steps": [{ "type": "photo", "label": "l" }] }));
    let full = Identity {
        mode: IdentityMode::External,
        user_id: None,
        name: Some("Mara".to_owned()),
        phone: Some("+39 06 1234".to_owned()),
        email: Some("mara@example.org".to_owned()),
    };
    let all = json!({ "identity_required": "external", "external_fields": ["name", "phone", "email"] });
    for (execution, identity, expected) in [
        (json!({}), Identity::anonymous(), "ok"),
        (json!({ "identity_required": "external" }), Identity::anonymous(), "identity_required"),
        (json!({ "identity_required": "external" }), Identity::external("Mara"), "ok"),
        (json!({ "identity_required": "external" }), Identity::member("u-1"), "ok"),
        (json!({ "identity_required": "external", "external_fields": [] }), Identity::anonymous(), "identity_required"),
        (all.clone(), Identity::external("Mara"), "identity_required"),
        (all.clone(), full.clone(), "ok"),
        (all.clone(), Identity { email: Some("nowhere".to_owned()), ..full.clone() }, "invalid_argument"),
        (all.clone(), Identity { phone: Some("none".to_owned()), ..full.clone() }, "invalid_argument"),
        (all, Identity { name: Some(" ".to_owned()), ..full }, "invalid_argument"),
        (json!({ "identity_required": "member" }), Identity::external("Mara"), "identity_required"),
        (json!({ "identity_required": "member" }), Identity::member("u-1"), "ok"),
        (json!({ "scope": "org" }), Identity::anonymous(), "identity_required"),
        (json!({ "scope": "org" }), Identity::member("u-1"), "ok"),
        (json!({ "scope": "assigned" }), Identity::member("u-1"), "ok"),
    ] {
        let mut stage = Stage::new(of(execution.clone()));
        let outcome = stage.apply(open(identity.clone())).map_or_else(|refusal| refusal.code.to_string(), |_| "ok".to_owned());
        assert_eq!(outcome, expected, "{execution} {identity:?}");
    }
}

#[test]
fn an_assigned_run_is_its_first_members_alone() {
    let document = json!({ "name": "n", "execution": { "scope": "assigned" }, "steps": [{ "type": "photo", "label": "l" }] });
    let mut stage = Stage::new(template(document));
    stage.accept(open(Identity::member("u-1")));
    assert_eq!(stage.refuse(open(Identity::member("u-2"))), "not_assigned");
    assert!(!stage.accept(open(Identity::member("u-1"))).changed);
}

#[test]
fn a_refused_identity_is_told_which_fields_are_missing() {
    let document = json!({ "name": "n", "steps": [{ "type": "photo", "label": "l" }],
        "execution": { "identity_required": "external", "external_fields": ["name", "phone"] } });
    let mut stage = Stage::new(template(document));
    let refusal = stage.refusal(open(Identity::external("Mara")));
    assert_eq!(refusal.message, "State your phone to open this run.");
    assert_eq!(refusal.details["fields"], json!(["phone"]));
}

// Ending without handing in

#[test]
fn leaving_keeps_the_answers_and_says_why_and_where() {
    let mut stage = Stage::new(two_steps());
    stage.accept(answer("s-req", true));
    stage.accept(answer("s-opt", "x"));
    assert_eq!(stage.refuse(Command::Exit { reason: "  ".to_owned() }), "invalid_argument");
    assert_eq!(stage.refuse(Command::Exit { reason: "x".repeat(1_001) }), "invalid_argument");
    let change = stage.accept(exit());
    assert_eq!(names(&change), ["run.cancelled"]);
    assert_eq!(
        serde_json::to_value(&change.events[0]).unwrap(),
        json!({
            "answers": serde_json::to_value(&stage.run.answers).unwrap(),
            "progress": { "total": 2, "answered": 2, "skipped": 0 },
            "by": "executor", "reason": "The key does not fit", "last_step_id": "s-opt",
            "cancelled_at": "2027-03-01T09:01:00Z",
        })
    );
    assert_eq!(stage.run.cancel.as_ref().unwrap().by, CancelledBy::Executor);
    assert_eq!(stage.run.answers.len(), 2);
}

#[test]
fn withdrawing_twice_answers_as_the_first_time() {
    let mut stage = Stage::new(two_steps());
    let reason = Some("Wrong flat".to_owned());
    assert!(stage.accept(Command::Cancel { reason }).changed);
    let cancelled = stage.run.clone();
    assert!(!stage.at(minute(50)).accept(cancel()).changed);
    assert_eq!(stage.run, cancelled);
}

// Expiry

#[test]
fn a_run_is_expired_from_the_moment_its_link_runs_out_whether_stored_or_not() {
    let run = Run::dispatched(&two_steps(), minute(0), Some(hour(24)));
    let just_before = hour(24) - SignedDuration::from_secs(1);
    assert_eq!(run.status_at(just_before), RunStatus::Pending);
    assert_eq!(run.status_at(hour(24)), RunStatus::Expired);
    assert_eq!(run.status, RunStatus::Pending);

    let endless = Run::dispatched(&two_steps(), minute(0), None);
    assert_eq!(endless.status_at(hour(1_000_000)), RunStatus::Pending);
}

#[test]
fn storing_an_expiry_tells_it_once_with_the_moment_it_happened() {
    let mut stage = Stage::new(two_steps());
    let change = stage.at(hour(30)).accept(Command::Expire);
    assert_eq!((change.status_before, change.status_after), (RunStatus::Expired, RunStatus::Expired));
    assert!(change.changed);
    assert_eq!(names(&change), ["run.expired"]);
    assert_eq!(stage.run.expired_at, Some(hour(24)));
    assert_eq!(names(&stage.at(hour(31)).accept(Command::Expire)), [""; 0]);
}

#[test]
fn a_late_answer_needs_a_session_from_before_expiry_a_captured_time_and_48_hours() {
    // Expiry is at hour 24, in seconds: 86,400.
    let moment = |seconds: i64| minute(0) + SignedDuration::from_secs(seconds);
    let expiry = 86_400;
    let grace = LATE_GRACE.as_secs();
    for (session, captured, arrives, accepted) in [
        (Some(expiry - 600), Some(expiry - 60), expiry + 60, true),
        (Some(expiry - 600), Some(expiry - 60), expiry + grace, true),
        (Some(expiry - 600), Some(expiry - 60), expiry + grace + 1, false),
        (Some(expiry - 600), Some(expiry + 300), expiry + 600, true),
        (Some(expiry - 600), Some(expiry + 301), expiry + 600, false),
        (Some(expiry - 600), Some(expiry - 900), expiry + 60, true),
        (Some(expiry - 600), Some(expiry - 901), expiry + 60, false),
        (Some(expiry - 1), Some(expiry - 1), expiry, true),
        (Some(expiry), Some(expiry), expiry + 1, false),
        (None, Some(expiry - 60), expiry + 60, false),
        (Some(expiry - 600), None, expiry + 60, false),
    ] {
        let mut stage = Stage::new(two_steps());
        let origin = Origin { session_opened_at: session.map(moment), captured_at: captured.map(moment), ..live() };
        let command = Command::Answer { step_id: "s-req".to_owned(), given: Given::value(true), seen_rev: None, origin };
        let outcome = stage.at(moment(arrives)).apply(command);
        assert_eq!(outcome.is_ok(), accepted, "{session:?} {captured:?} {arrives}");
        match outcome {
            Ok(change) => {
                assert_eq!(change.status_after, RunStatus::Expired, "readers still see what they saw");
                assert!(stage.run.answers["s-req"].late);
                assert_eq!(stage.run.late_ops, 1);
            }
            Err(refusal) => assert_eq!(refusal.code.as_str(), "run_expired"),
        }
    }
}

#[test]
fn an_answer_in_time_is_never_marked_late() {
    let mut stage = Stage::new(two_steps());
    stage.at(minute(20)).accept(queued("s-req", true, 1, 3));
    assert!(!stage.run.answers["s-req"].late);
    assert_eq!(stage.run.late_ops, 0);
}

#[test]
fn a_run_answered_in_time_may_still_be_handed_in_and_says_if_its_expiry_was_told() {
    for told in [false, true] {
        let mut stage = Stage::new(two_steps());
        stage.at(hour(25));
        if told {
            stage.accept(Command::Expire);
        }
        stage.accept(queued("s-req", true, 10, 20));
        let change = stage.accept(queued_complete(10, 21));
        assert_eq!((change.status_before, change.status_after), (RunStatus::Expired, RunStatus::Completed));
        let Event::RunCompleted { after_expiry, .. } = &change.events[0] else { panic!() };
        assert_eq!(*after_expiry, told);
        assert_eq!((stage.run.expired_at, stage.run.late_ops), (None, 2));
    }
}

#[test]
fn a_run_from_a_phone_without_signal_is_dated_by_when_it_was_carried_out() {
    let mut stage = Stage::new(two_steps());
    stage.at(minute(2)).accept(open(Identity::anonymous()));
    stage.at(hour(30)).accept(queued("s-req", true, 2, 10));
    assert_eq!(stage.run.started_at, Some(minute(10)));
    assert_eq!(stage.run.answers["s-req"].at, hour(30), "an answer still says when it was accepted");
    let change = stage.at(hour(31)).accept(queued_complete(2, 25));
    assert_eq!(stage.run.duration_seconds, Some(15 * 60));
    assert_eq!(stage.run.completed_at, Some(hour(31)), "handing in takes place where it is received");
    let Event::RunCompleted { duration_seconds, completed_at, .. } = &change.events[0] else { panic!() };
    assert_eq!((*duration_seconds, *completed_at), (Some(15 * 60), hour(31)));

    // A phone whose clock went back between the two.
    let mut stage = Stage::new(two_steps());
    stage.at(minute(40)).accept(queued("s-req", true, 2, 30));
    stage.accept(queued_complete(2, 20));
    assert_eq!(stage.run.duration_seconds, Some(0));
}

#[test]
fn a_captured_time_counts_between_the_opening_of_its_session_and_its_arrival() {
    let origin = |session: Option<i64>, captured: Option<i64>| Origin {
        session_opened_at: session.map(minute),
        captured_at: captured.map(minute),
        ..live()
    };
    for (session, captured, began) in [
        (Some(5), Some(20), 20),
        (Some(5), Some(1), 5),
        // The session of an earlier run on the same phone: not before this one was dispatched.
        (Some(-30), Some(-20), 0),
        (Some(5), Some(90), 60),
        (Some(70), Some(20), 60),
        // A time that a client states proves nothing.
        (None, Some(20), 60),
        (Some(5), None, 60),
    ] {
        let mut stage = Stage::new(two_steps());
        let given = Given::value(true);
        let command = Command::Answer { step_id: "s-req".to_owned(), given, seen_rev: None, origin: origin(session, captured) };
        stage.at(minute(60)).accept(command);
        assert_eq!(stage.run.started_at, Some(minute(began)), "{session:?} {captured:?}");

        let mut stage = Stage::new(two_steps());
        stage.run.started_at = Some(minute(0));
        stage.accept(answer("s-req", true));
        stage.at(minute(60)).accept(Command::Complete { signature: None, origin: origin(session, captured) });
        assert_eq!(stage.run.duration_seconds, Some(u64::try_from(began * 60).unwrap()), "{session:?} {captured:?}");
    }
}

// Extending

#[test]
fn extending_revives_a_run_where_it_was_and_keeps_its_answers() {
    for (state, revived) in [("lapsed", RunStatus::InProgress), ("expired", RunStatus::InProgress), ("left", RunStatus::InProgress)] {
        let mut stage = in_state(state);
        let answers = stage.run.answers.clone();
        let change = stage.accept(extend_to(72));
        assert_eq!(change.status_after, revived, "{state}");
        assert_eq!(stage.run.answers, answers);
        assert_eq!((stage.run.expired_at, stage.run.cancelled_at, &stage.run.cancel), (None, None, &None));
        assert_eq!(stage.run.expires_at, Some(hour(72)));
        stage.accept(answer("s-req", true));
        stage.accept(complete());
    }
    let mut untouched = Stage::new(two_steps());
    assert_eq!(untouched.at(hour(30)).accept(extend_to(48)).status_after, RunStatus::Pending);
}

#[test]
fn a_run_is_extended_within_thirty_days_of_its_end() {
    let days = |days: i64| SignedDuration::from_hours(24 * days);
    let second = SignedDuration::from_secs(1);
    for (state, ended_at) in [("expired", hour(24)), ("left", minute(3))] {
        let mut stage = in_state(state);
        let later = Command::Extend { expires_at: Some(ended_at + days(60)) };
        let refusal = stage.at(ended_at + days(30) + second).refusal(later.clone());
        assert_eq!(refusal.code.as_str(), "cannot_extend", "{state}");
        stage.at(ended_at + days(30)).accept(later);
    }
}

#[test]
fn a_new_end_lies_in_the_future_or_is_none() {
    let mut stage = Stage::new(two_steps());
    stage.at(hour(2));
    assert_eq!(stage.refuse(extend_to(2)), "invalid_argument");
    assert!(!stage.accept(extend_to(24)).changed, "the end it has already");
    stage.accept(extend_to(3));
    stage.accept(Command::Extend { expires_at: None });
    assert_eq!(stage.run.status_at(hour(100_000)), RunStatus::Pending);
}

#[test]
fn a_run_that_expired_again_tells_it_again() {
    let mut stage = in_state("expired");
    stage.accept(extend_to(48));
    assert_eq!(names(&stage.at(hour(49)).accept(Command::Expire)), ["run.expired"]);
    assert_eq!(stage.run.expired_at, Some(hour(48)));
}
