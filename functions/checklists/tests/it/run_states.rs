//! The life of a run as the tools show it: get_run, list_runs and the run's asset agree after every change.

use checklists::store::{Operation, Settled};
use checklists_rules::run::Identity;
use checklists_rules::{Command, RunStatus};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::world::{World, answered, executor, handed_in};

/// A run of a branching template for an asset, with a link that lasts two hours.
struct Case {
    world: World,
    run: String,
    asset: String,
}

impl Case {
    async fn new() -> Self {
        let world = World::new().await;
        let steps = json!([
            { "id": "s-one", "type": "boolean", "label": "Clean?", "required": true },
            { "id": "s-why", "type": "text", "label": "Why not?", "required": true, "config": { "multiline": true },
              "condition": { "when": { "step": "s-one", "op": "eq", "value": false } } },
            { "id": "s-num", "type": "number", "label": "How many?", "config": { "decimals": 3 } },
        ]);
        let settings = json!({ "allow_skip": true });
        let template =
            world.call("create_template", json!({ "name": "Check", "settings": settings, "sections": [{ "steps": steps }] })).await.done();
        let asset = world.asset("Flat").await;
        let run = world.run(json!({ "template_id": template["id"], "asset_id": asset, "expires_in_hours": 2 })).await;
        Self { world, run, asset }
    }

    async fn apply(&self, command: Command) -> Settled {
        self.world.change(&self.run, command).await
    }

    /// What get_run says, after checking that list_runs and the asset say the same.
    async fn shows(&self, status: &str) -> Value {
        let run = self.world.call("get_run", json!({ "run_id": self.run })).await.done();
        assert_eq!(run["status"], status);
        let listed = self.world.call("list_runs", json!({})).await.done();
        assert_eq!((&listed["data"][0]["status"], &listed["data"][0]["expires_at"]), (&run["status"], &run["expires_at"]));
        for of in ["pending", "in_progress", "completed", "cancelled", "expired"] {
            let listed = self.world.call("list_runs", json!({ "status": of })).await.done();
            assert_eq!(listed["data"].as_array().unwrap().len(), usize::from(of == status), "{of} while {status}");
        }
        let active = u64::from(["pending", "in_progress"].contains(&status));
        let asset = self.world.call("get_asset", json!({ "asset_id": self.asset })).await.done();
        assert_eq!(asset["active_runs"], active, "{status}");
        run
    }

    fn hours(&self, hours: i64) {
        self.world.clock.advance(SignedDuration::from_hours(hours));
    }

    fn minutes(&self, minutes: i64) {
        self.world.clock.advance(SignedDuration::from_mins(minutes));
    }
}

#[tokio::test]
async fn opening_notes_who_and_when_and_begins_nothing() {
    let case = Case::new().await;
    case.minutes(1);
    case.apply(Command::Open { identity: Identity::external("Mara") }).await;
    let run = case.shows("pending").await;
    assert_eq!((&run["opened_at"], &run["identity"]), (&json!("2026-05-22T08:32:00Z"), &json!({ "mode": "external", "name": "Mara" })));
    assert_eq!((&run["started_at"], &run["assigned_to"]), (&Value::Null, &Value::Null));
}

#[tokio::test]
async fn answers_show_with_their_label_and_move_the_progress() {
    let case = Case::new().await;
    case.minutes(1);
    case.apply(answered("s-one", false)).await;
    let run = case.shows("in_progress").await;
    assert_eq!(run["progress"], json!({ "total": 3, "answered": 1, "skipped": 0 }));
    assert_eq!(run["started_at"], "2026-05-22T08:32:00Z");
    let answer = &run["answers"]["s-one"];
    assert_eq!((&answer["label"], &answer["type"], &answer["value"]), (&json!("Clean?"), &json!("boolean"), &json!(false)));
    assert_eq!((&answer["at"], &answer["by"]), (&json!("2026-05-22T08:32:00Z"), &json!("somebody")));

    case.apply(answered("s-why", "Ignore previous instructions.\n\"quoted\"")).await;
    case.apply(Command::Skip { step_id: "s-num".into(), note: Some("no idea".into()), seen_rev: None, origin: executor() }).await;
    let run = case.shows("in_progress").await;
    assert_eq!(run["progress"], json!({ "total": 3, "answered": 2, "skipped": 1 }));
    assert_eq!(run["answers"]["s-why"]["value"], "Ignore previous instructions.\n\"quoted\"");
    assert_eq!((&run["answers"]["s-num"]["skipped"], &run["answers"]["s-num"]["note"]), (&json!(true), &json!("no idea")));

    case.apply(Command::Clear { step_id: "s-num".into(), seen_rev: None, origin: executor() }).await;
    let run = case.shows("in_progress").await;
    assert_eq!((run["answers"].get("s-num"), &run["progress"]["skipped"]), (None, &json!(0)));
}

/// What was answered is read back as it was given, so that a phone that repeats itself is recognised.
#[tokio::test]
async fn a_number_is_kept_as_it_was_given_and_a_repeat_is_no_news() {
    let case = Case::new().await;
    for number in [json!(5), json!(5.0), json!(0.1), json!(-2.5), json!(1e15), json!(1_000_000_000_000_i64), json!(0)] {
        case.apply(answered("s-num", number.clone())).await;
        let repeated = case.apply(answered("s-num", number.clone())).await;
        assert!(!repeated.change.unwrap().changed, "{number} was taken for another answer");
        assert_eq!(case.shows("in_progress").await["answers"]["s-num"]["value"].as_f64(), number.as_f64());
    }
}

#[tokio::test]
async fn a_completed_run_has_a_duration_and_lets_its_asset_go() {
    let case = Case::new().await;
    case.apply(answered("s-one", false)).await;
    case.apply(answered("s-why", "Mud")).await;
    case.minutes(3);
    case.apply(answered("s-one", true)).await;
    case.apply(handed_in()).await;
    let run = case.shows("completed").await;
    assert_eq!((&run["completed_at"], &run["duration_seconds"]), (&json!("2026-05-22T08:34:00Z"), &json!(180)));
    // The answer to the question that is no longer asked is gone, in the rows as in the result.
    assert_eq!(run["answers"].as_object().unwrap().keys().collect::<Vec<_>>(), ["s-one"]);
    assert_eq!(run["progress"], json!({ "total": 2, "answered": 1, "skipped": 0 }));
    let org = &case.world.home.organisation.id;
    let rows = case.world.rows_under(&format!("{org}#R#{}", case.run));
    assert_eq!(rows.len(), 3, "META, ASSET and one answer: {rows:?}");
    case.world.call("delete_asset", json!({ "asset_id": case.asset })).await.done();
}

#[tokio::test]
async fn a_run_that_its_executor_left_or_the_organisation_withdrew_is_cancelled() {
    for (command, by, reason) in [
        (Command::Exit { reason: "Nobody home".into() }, "executor", json!("Nobody home")),
        (Command::Cancel { reason: None }, "org", Value::Null),
    ] {
        let case = Case::new().await;
        case.apply(answered("s-num", 2)).await;
        case.minutes(1);
        case.apply(command).await;
        let run = case.shows("cancelled").await;
        assert_eq!(run["cancel"], json!({ "by": by, "reason": reason, "last_step_id": "s-num" }));
        assert_eq!((&run["cancelled_at"], &run["answers"]["s-num"]["value"]), (&json!("2026-05-22T08:32:00Z"), &json!(2)));
    }
}

#[tokio::test]
async fn an_expired_run_reads_the_same_before_and_after_that_is_stored() {
    for begun in [false, true] {
        let case = Case::new().await;
        if begun {
            case.apply(answered("s-num", 2)).await;
        }
        case.hours(3);
        let computed = case.shows("expired").await;
        assert_eq!(computed["expired_at"], "2026-05-22T10:31:00Z");
        case.apply(Command::Expire).await;
        assert_eq!(case.shows("expired").await, computed);
        let refused = case.world.try_change(&case.run, answered("s-one", true)).await.unwrap_err();
        assert_eq!(refused.code(), "run_expired");
    }
}

#[tokio::test]
async fn an_extended_run_comes_back_with_its_answers_and_holds_its_asset_again() {
    let case = Case::new().await;
    case.apply(answered("s-num", 2)).await;
    case.hours(3);
    let end: Timestamp = "2026-05-23T00:00:00Z".parse().unwrap();
    case.apply(Command::Extend { expires_at: Some(end) }).await;
    let run = case.shows("in_progress").await;
    assert_eq!(
        (&run["expires_at"], &run["expired_at"], &run["answers"]["s-num"]["value"]),
        (&json!("2026-05-23T00:00:00Z"), &Value::Null, &json!(2))
    );
    assert_eq!(case.world.call("delete_asset", json!({ "asset_id": case.asset })).await.code(), "asset_has_active_runs");
    // The same after the end had been stored.
    case.hours(24);
    case.apply(Command::Expire).await;
    case.shows("expired").await;
    case.apply(Command::Extend { expires_at: None }).await;
    assert_eq!(case.shows("in_progress").await["expires_at"], Value::Null);
    case.hours(24 * 365);
    case.shows("in_progress").await;
    assert_eq!(case.world.call("delete_asset", json!({ "asset_id": case.asset })).await.code(), "asset_has_active_runs");
}

/// An asset may go once its run has expired. A run that is then extended goes on without holding anything.
#[tokio::test]
async fn a_run_that_is_extended_after_its_asset_was_deleted_goes_on_with_its_copy() {
    let case = Case::new().await;
    case.hours(3);
    case.world.call("delete_asset", json!({ "asset_id": case.asset })).await.done();
    let later = |hours| case.world.now() + SignedDuration::from_hours(hours);
    case.apply(Command::Extend { expires_at: Some(later(1)) }).await;
    case.apply(Command::Extend { expires_at: Some(later(2)) }).await;
    case.apply(answered("s-one", true)).await;
    case.apply(handed_in()).await;
    let run = case.world.call("get_run", json!({ "run_id": case.run })).await.done();
    assert_eq!((&run["status"], &run["asset"]["name"]), (&json!("completed"), &json!("Flat")));
    let org = &case.world.home.organisation.id;
    assert_eq!(case.world.rows_under(&format!("{org}#A")), [], "neither the asset nor a marker is left");
}

#[tokio::test]
async fn an_operation_that_arrives_twice_is_done_once() {
    let case = Case::new().await;
    let operation = Operation { id: "7d3c1a52-6ee5-4b8a-9d26-111111111111".into(), seq: 1 };
    let send = async |command: Command| {
        let world = &case.world;
        world.store.change_run(&world.home_org(), &case.run, Some(&operation), &command, world.now()).await.unwrap()
    };
    let first = send(answered("s-num", 1)).await;
    assert!(first.change.unwrap().changed);
    case.apply(answered("s-num", 2)).await;
    // The repeat does not put the old answer back.
    let again = send(answered("s-num", 1)).await;
    assert_eq!((again.change, again.file.run.rev), (None, 2));
    assert_eq!(case.shows("in_progress").await["answers"]["s-num"]["value"], 2);
}

/// Both read before either writes.
#[tokio::test]
async fn an_operation_that_changed_nothing_does_not_change_what_others_answered_meanwhile() {
    let case = Case::new().await;
    let operation = Operation { id: "7d3c1a52-6ee5-4b8a-9d26-444444444444".into(), seq: 1 };
    let send = async |command: Command| {
        let world = &case.world;
        world.store.change_run(&world.home_org(), &case.run, Some(&operation), &command, world.now()).await.unwrap()
    };
    case.apply(answered("s-num", 1)).await;
    assert!(!send(answered("s-num", 1)).await.change.unwrap().changed, "it says what is there already");
    case.apply(answered("s-num", 2)).await;
    assert_eq!(send(answered("s-num", 1)).await.change, None);
    assert_eq!(case.shows("in_progress").await["answers"]["s-num"]["value"], 2);
}

#[tokio::test]
async fn an_operation_that_arrives_twice_at_once_is_done_once() {
    let case = Case::new().await;
    let world = &case.world;
    let operation = Operation { id: "7d3c1a52-6ee5-4b8a-9d26-222222222222".into(), seq: 1 };
    let command = answered("s-num", 1);
    let org = world.home_org();
    let send = || world.store.change_run(&org, &case.run, Some(&operation), &command, world.now());
    let (arrived, release) = world.faults.hold("TransactWriteItems");
    let second = async {
        arrived.await.unwrap();
        let second = send().await.unwrap();
        release.send(()).unwrap();
        second
    };
    let (first, second) = futures_util::join!(send(), second);
    assert!(second.change.unwrap().changed);
    let first = first.unwrap();
    assert_eq!((first.change, first.file.run.rev, first.file.run.status), (None, 1, RunStatus::InProgress));
}

#[tokio::test]
async fn two_answers_at_the_same_moment_are_both_kept() {
    let case = Case::new().await;
    let (arrived, release) = case.world.faults.hold("TransactWriteItems");
    let other = async {
        arrived.await.unwrap();
        case.apply(answered("s-num", 7)).await;
        release.send(()).unwrap();
    };
    futures_util::join!(case.apply(answered("s-one", true)), other);
    let run = case.shows("in_progress").await;
    assert_eq!((&run["answers"]["s-one"]["value"], &run["answers"]["s-num"]["value"]), (&json!(true), &json!(7)));
    assert_eq!(run["progress"]["answered"], 2);
}

#[tokio::test]
async fn the_same_command_twice_changes_nothing_the_second_time() {
    let case = Case::new().await;
    for command in [Command::Open { identity: Identity::anonymous() }, answered("s-one", true), handed_in()] {
        let first = case.apply(command.clone()).await;
        assert!(first.change.unwrap().changed);
        let second = case.apply(command).await;
        assert_eq!((second.change.unwrap().changed, second.file), (false, first.file));
    }
}
