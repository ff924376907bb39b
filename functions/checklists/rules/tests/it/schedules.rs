//! Random schedules of commands over random times: what holds for every run, whatever happens to it.

use std::cell::RefCell;
use std::collections::BTreeSet;

use checklists_rules::answer::{Given, PhotoState};
use checklists_rules::condition::Visibility;
use checklists_rules::run::{Identity, Origin};
use checklists_rules::{Change, Command, Progress, Run, RunStatus, Template};
use jiff::Timestamp;
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use serde_json::{Value, json};

use crate::fixtures::{minute, photo, search, template};

/// Branches, proof, scoring and an acknowledgement, in few steps so that schedules get through.
fn subject() -> Template {
    let when = |step: &str, value: Value| json!({ "when": { "step": step, "op": "eq", "value": value } });
    template(json!({
        "name": "Subject",
        "settings": { "allow_skip": true },
        "scoring": { "enabled": true, "pass_percent": 50 },
        "steps": [
            { "id": "s-read", "type": "instruction", "label": "Read" },
            { "id": "s-gate", "type": "boolean", "label": "Gate", "required": true, "score": { "critical": true } },
            { "id": "s-deep", "type": "boolean", "label": "Deep", "condition": when("s-gate", json!(true)) },
            { "id": "s-last", "type": "text", "label": "Last", "required": true, "condition": when("s-deep", json!(true)) },
            { "id": "s-pics", "type": "photo", "label": "Pics", "score": { "points": 2 } },
        ],
    }))
}

const STEPS: [&str; 6] = ["s-read", "s-gate", "s-deep", "s-last", "s-pics", "s-none"];

/// A step with an answer: mostly one that fits, now and then any.
fn step_and_answer() -> impl Strategy<Value = (String, Given)> {
    let fitting = prop_oneof![
        1 => Just(("s-read", Value::Null)),
        3 => any::<bool>().prop_map(|value| ("s-gate", json!(value))),
        2 => any::<bool>().prop_map(|value| ("s-deep", json!(value))),
        2 => "[ab]".prop_map(|text| ("s-last", json!(text))),
        1 => Just(("s-pics", Value::Null)),
    ];
    let values = prop::sample::select(vec![json!(true), Value::Null, json!("text"), json!(7)]);
    let any = (prop::sample::select(&STEPS[..]), values);
    let state = prop::sample::select(PhotoState::ALL);
    (prop_oneof![5 => fitting, 1 => any], 0..3_u32, state).prop_map(|((step_id, value), photos, state)| {
        let photos = if step_id == "s-pics" { (0..photos).map(|index| photo(index, state)).collect() } else { Vec::new() };
        (step_id.to_owned(), Given { photos, ..Given::value(value) })
    })
}

fn origin() -> impl Strategy<Value = Origin> {
    let times = (0..4_000_i64, 0..4_000_i64);
    prop_oneof![
        2 => Just(Origin::live("Mara")),
        1 => times.prop_map(|(session, captured)| Origin::queued("Mara", minute(session), minute(captured))),
        // As a phone does it: the session comes first.
        1 => (0..1_400_i64, 0..60_i64).prop_map(|(session, after)| {
            Origin::queued("Mara", minute(session), minute(session + after))
        }),
    ]
}

fn command() -> impl Strategy<Value = Command> {
    let step = || prop::sample::select(&STEPS[..]).prop_map(str::to_owned);
    let state = prop::sample::select(PhotoState::ALL);
    let seen_rev = || prop::option::weighted(0.1, 0..12_u64);
    prop_oneof![
        1 => Just(Command::Open { identity: Identity::anonymous() }),
        30 => (step_and_answer(), seen_rev(), origin()).prop_map(|((step_id, given), seen_rev, origin)| {
            Command::Answer { step_id, given, seen_rev, origin }
        }),
        4 => (step(), seen_rev(), origin()).prop_map(|(step_id, seen_rev, origin)| {
            Command::Skip { step_id, note: None, seen_rev, origin }
        }),
        2 => (step(), seen_rev(), origin()).prop_map(|(step_id, seen_rev, origin)| {
            Command::Clear { step_id, seen_rev, origin }
        }),
        4 => (step(), 0..3_u32, state, origin()).prop_map(|(step_id, index, state, origin)| {
            Command::Photo { step_id, photo: photo(index, state), origin }
        }),
        2 => (step(), 0..3_u32, origin()).prop_map(|(step_id, index, origin)| {
            Command::RemovePhoto { step_id, photo_id: format!("p-{index}"), origin }
        }),
        5 => origin().prop_map(|origin| Command::Complete { signature: None, origin }),
        1 => Just(Command::Exit { reason: "Rain".to_owned() }),
        1 => Just(Command::Cancel { reason: None }),
        2 => Just(Command::Expire),
        3 => (0..60_000_i64).prop_map(|minutes| Command::Extend { expires_at: Some(minute(minutes)) }),
    ]
}

/// Commands, each so many minutes after the one before.
fn schedule() -> impl Strategy<Value = Vec<(i64, Command)>> {
    let pause = prop_oneof![24 => 0..20_i64, 2 => 0..2_000_i64, 1 => 0..50_000_i64];
    prop::collection::vec((pause, command()), 1..40)
}

/// The edges that stored statuses may take.
fn is_edge(from: RunStatus, to: RunStatus) -> bool {
    use RunStatus::{Cancelled, Completed, Expired, InProgress, Pending};
    matches!(
        (from, to),
        (Pending, InProgress | Completed | Cancelled | Expired)
            | (InProgress, Completed | Cancelled | Expired)
            // By extending; completed, by a phone that was in time.
            | (Expired, Pending | InProgress | Completed)
            | (Cancelled, Pending | InProgress)
    )
}

#[test]
fn whatever_happens_a_run_stays_sound() {
    let subject = subject();
    let seen: RefCell<BTreeSet<String>> = RefCell::default();
    let mut runner = TestRunner::new(search(1_500));
    runner
        .run(&schedule(), |schedule| {
            let mut run = Run::dispatched(&subject, minute(0), Some(minute(1_440)));
            let mut now = 0;
            for (pause, command) in schedule {
                now += pause;
                let before = run.clone();
                let outcome = run.apply(&subject, &command, minute(now));
                match outcome {
                    Ok(change) => {
                        check_change(&subject, &before, &run, &command, &change, minute(now))?;
                        let mut seen = seen.borrow_mut();
                        if before.status != run.status {
                            seen.insert(format!("{} to {}", before.status, run.status));
                        }
                        seen.extend(change.events.iter().map(|event| event.name().to_owned()));
                    }
                    Err(refusal) => {
                        prop_assert_eq!(&run, &before, "refused, yet changed");
                        prop_assert!(!refusal.message.is_empty());
                        seen.borrow_mut().insert(refusal.code.to_string());
                    }
                }
                check_run(&subject, &run)?;
            }
            Ok(())
        })
        .unwrap();

    // The schedules have been everywhere, or the test would say little.
    let seen = seen.into_inner();
    for expected in [
        "pending to in_progress",
        "pending to cancelled",
        "pending to expired",
        "in_progress to completed",
        "in_progress to cancelled",
        "in_progress to expired",
        "expired to in_progress",
        "expired to pending",
        "cancelled to in_progress",
        "cancelled to pending",
        "step.completed",
        "step.skipped",
        "run.completed",
        "run.cancelled",
        "run.expired",
        "run_expired",
        "run_cancelled",
        "run_completed",
        "step_not_found",
        "step_hidden",
        "evidence_missing",
        "incomplete_run",
        "answer_conflict",
        "invalid_argument",
        "cannot_extend",
        "not_expired",
    ] {
        assert!(seen.contains(expected), "no schedule met {expected}; met were {seen:?}");
    }
}

fn check_change(
    subject: &Template,
    before: &Run,
    after: &Run,
    command: &Command,
    change: &Change,
    now: Timestamp,
) -> Result<(), TestCaseError> {
    prop_assert_eq!(change.status_before, before.status_at(now));
    prop_assert_eq!(change.status_after, after.status_at(now));
    prop_assert_eq!(change.changed, before != after, "what is reported is what happened");
    if !change.changed {
        prop_assert!(change.events.is_empty() && change.written.is_empty() && change.removed.is_empty());
        return Ok(());
    }
    prop_assert_eq!(after.rev, before.rev + 1);
    prop_assert!(before.status != RunStatus::Completed, "a completed run changed");
    prop_assert!(before.status == after.status || is_edge(before.status, after.status), "{} to {}", before.status, after.status);

    // The store writes what is named, and nothing else differs.
    for step_id in before.answers.keys().chain(after.answers.keys()) {
        let (was, is) = (before.answers.get(step_id), after.answers.get(step_id));
        prop_assert_eq!(change.removed.contains(step_id), was.is_some() && is.is_none(), "{} removed", step_id);
        prop_assert_eq!(change.written.contains(step_id), is.is_some() && was != is, "{} written", step_id);
    }
    // The same command again, at the same time, is accepted, does nothing more and tells nothing more.
    let mut again = after.clone();
    match again.apply(subject, command, now) {
        Ok(repeat) => prop_assert!(!repeat.changed && repeat.events.is_empty(), "a repeat of {:?} changed the run", command),
        Err(refusal) => prop_assert!(false, "a repeat of {:?} was refused: {}", command, refusal),
    }
    Ok(())
}

fn check_run(subject: &Template, run: &Run) -> Result<(), TestCaseError> {
    let progress = run.progress;
    prop_assert!(progress.answered + progress.skipped <= progress.total);
    prop_assert_eq!(progress, Progress::of(subject, &run.answers));
    prop_assert_eq!(run.status == RunStatus::Completed, run.completed_at.is_some());
    prop_assert_eq!(run.status == RunStatus::Cancelled, run.cancelled_at.is_some());
    prop_assert_eq!(run.status == RunStatus::Cancelled, run.cancel.is_some());
    prop_assert_eq!(run.status == RunStatus::Expired, run.expired_at.is_some());
    prop_assert_eq!(run.status == RunStatus::Completed, run.score.is_some());
    prop_assert!(run.status != RunStatus::InProgress || run.started_at.is_some());
    prop_assert!(run.started_at.is_none_or(|started_at| started_at >= run.created_at), "started before it was dispatched");
    if let (Some(began), Some(completed_at), Some(seconds)) = (run.started_at.or(run.opened_at), run.completed_at, run.duration_seconds) {
        let most = completed_at.duration_since(began).as_secs();
        prop_assert!(i64::try_from(seconds).unwrap() <= most, "{} seconds of work within {}", seconds, most);
    }
    let revs: BTreeSet<u64> = run.answers.values().map(|answer| answer.rev).collect();
    prop_assert_eq!(revs.len(), run.answers.len(), "no two answers share a revision");
    prop_assert!(revs.iter().all(|rev| *rev <= run.rev));
    if run.status == RunStatus::Completed {
        let visibility = Visibility::of(subject, &run.answers);
        prop_assert!(run.answers.keys().all(|step_id| visibility.shows(step_id)), "a hidden answer was handed in");
        prop_assert!(run.missing(subject).is_empty());
    }
    Ok(())
}
