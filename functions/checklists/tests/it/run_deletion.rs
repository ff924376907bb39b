//! Deleting a run: in every state, in two steps, finished after a crash, and against others at the same moment.

use checklists::store::Operation;
use checklists_rules::Command;
use checklists_rules::answer::{Given, Photo, PhotoState};
use checklists_rules::run::Identity;
use dynoxide::AttributeValue;
use futures_util::future::join_all;
use jiff::SignedDuration;
use onepost_cloud::table::faults::Fault;
use serde_json::{Value, json};
use std::time::Duration;

use crate::world::{World, answered, executor, handed_in};

/// A run for an asset, answered once with an operation and once with two photos.
struct Case {
    world: World,
    run: String,
    asset: String,
}

impl Case {
    async fn new() -> Self {
        let world = World::new().await;
        let template = world
            .template_of(json!([
                { "id": "s-one", "type": "boolean", "label": "Clean?" },
                { "id": "s-pic", "type": "photo", "label": "Show it", "config": { "max": 5 } },
            ]))
            .await;
        let asset = world.asset("Flat").await;
        let run = world.run(json!({ "template_id": template, "asset_id": asset, "expires_in_hours": 2 })).await;
        Self { world, run, asset }
    }

    async fn answered(self) -> Self {
        let photo = |index| Photo {
            photo_id: format!("p-00000000-0000-4000-8000-00000000000{index}"),
            photo_index: index,
            width: None,
            height: None,
            bytes: None,
            sha256: None,
            captured_at: None,
            state: PhotoState::Stored,
        };
        let given = Given { photos: vec![photo(0), photo(1)], ..Given::default() };
        self.world.change(&self.run, Command::Answer { step_id: "s-pic".into(), given, seen_rev: None, origin: executor() }).await;
        let operation = Operation { id: "7d3c1a52-6ee5-4b8a-9d26-333333333333".into(), seq: 1 };
        let world = &self.world;
        let command = answered("s-one", true);
        world.store.change_run(&world.home_org(), &self.run, Some(&operation), &command, world.now()).await.unwrap();
        self
    }

    async fn delete(&self) -> crate::world::Said {
        self.world.call("delete_run", json!({ "run_id": self.run })).await
    }

    /// Rows of the run itself and of its operations.
    fn rows(&self) -> usize {
        let org = &self.world.home.organisation.id;
        ["R", "RO"].map(|room| self.world.rows_under(&format!("{org}#{room}#{}", self.run)).len()).iter().sum()
    }

    /// Nothing of the run is to be seen through any tool, and its asset is free.
    async fn is_out_of_sight(&self) {
        let world = &self.world;
        assert_eq!(world.call("get_run", json!({ "run_id": self.run })).await.code(), "run_not_found");
        for status in [None, Some("pending"), Some("in_progress"), Some("completed"), Some("cancelled"), Some("expired")] {
            assert_eq!(world.call("list_runs", json!({ "status": status })).await.done()["data"], json!([]), "{status:?}");
        }
        assert_eq!(world.call("get_asset", json!({ "asset_id": self.asset })).await.done()["active_runs"], 0);
        let org = &world.home.organisation.id;
        assert_eq!(world.rows_under(&format!("{org}#AR#")), []);
        let refused = world.try_change(&self.run, answered("s-one", false)).await.unwrap_err();
        assert_eq!(refused.code(), "run_not_found");
    }

    /// Of the whole run only the link's row is left, which says that it was withdrawn and when it may be cleaned up.
    async fn is_gone(&self) {
        self.is_out_of_sight().await;
        assert_eq!(self.rows(), 0);
        let links = self.world.rows_under(&format!("L#{}", self.run));
        assert_eq!(links.len(), 1);
        assert_eq!(links[0]["withdrawn"], AttributeValue::BOOL(true));
        assert!(links[0].contains_key("purge_at"));
        self.world.call("delete_asset", json!({ "asset_id": self.asset })).await.done();
    }
}

#[tokio::test]
async fn a_run_is_deleted_whatever_its_status_with_its_answers_photos_and_operations() {
    let states: [(&str, Option<Command>, i64); 6] = [
        ("in_progress", None, 0),
        ("completed", Some(handed_in()), 0),
        ("cancelled", Some(Command::Exit { reason: "No key".into() }), 0),
        ("cancelled", Some(Command::Cancel { reason: None }), 0),
        ("expired", None, 3),
        ("expired", Some(Command::Expire), 3),
    ];
    join_all(states.into_iter().map(async |(status, command, hours)| {
        let case = Case::new().await.answered().await;
        case.world.clock.advance(SignedDuration::from_hours(hours));
        if let Some(command) = command {
            case.world.change(&case.run, command).await;
        }
        assert_eq!(case.world.call("get_run", json!({ "run_id": case.run })).await.done()["status"], status);
        assert_eq!(case.delete().await.done(), json!({ "deleted": true, "run_id": case.run, "photos_deleted": 2 }), "{status}");
        case.is_gone().await;
    }))
    .await;
}

#[tokio::test]
async fn a_run_that_nobody_opened_or_that_was_only_opened_is_deleted() {
    for opened in [false, true] {
        let case = Case::new().await;
        if opened {
            case.world.change(&case.run, Command::Open { identity: Identity::anonymous() }).await;
        }
        assert_eq!(case.delete().await.done()["photos_deleted"], 0);
        case.is_gone().await;
    }
}

#[tokio::test]
async fn a_deletion_leaves_other_runs_alone() {
    let case = Case::new().await;
    let listed = case.world.call("list_templates", json!({})).await.done();
    let other = case.world.run(json!({ "template_id": listed["data"][0]["id"], "asset_id": case.asset })).await;
    let before = case.world.call("get_run", json!({ "run_id": other })).await.done();
    case.delete().await.done();
    assert_eq!(case.world.call("get_run", json!({ "run_id": other })).await.done(), before);
    assert_eq!(case.world.call("get_asset", json!({ "asset_id": case.asset })).await.done()["active_runs"], 1);
}

/// The first step, one transaction, takes the run out of sight; the second takes its rows away. When the second
/// fails, deleting again finishes it.
#[tokio::test]
async fn what_a_crash_between_the_two_steps_leaves_is_out_of_sight_and_deleting_again_finishes_it() {
    join_all(["ServerError", "CutBefore"].map(async |kind| {
        let case = Case::new().await.answered().await;
        let rows = case.rows();
        // More attempts than are made.
        for _ in 0..6 {
            case.world.faults.next("BatchWriteItem", if kind == "CutBefore" { Fault::CutBefore } else { Fault::ServerError });
        }
        assert_eq!(case.delete().await.code(), "internal_error");
        assert_eq!(case.world.faults.left(), 0, "every attempt was made");
        case.is_out_of_sight().await;
        assert_eq!(case.rows(), rows, "{kind}: nothing was erased yet");
        assert_eq!(case.delete().await.done()["photos_deleted"], 2);
        case.is_gone().await;
    }))
    .await;
}

/// The tombstone goes last: as long as anything else is there, the deletion can be finished.
#[tokio::test]
async fn a_crash_in_the_middle_of_the_erasure_leaves_the_tombstone() {
    let case = Case::new().await.answered().await;
    case.world.faults.next("BatchWriteItem", Fault::Slow(Duration::ZERO));
    for _ in 0..6 {
        case.world.faults.next("BatchWriteItem", Fault::ServerError);
    }
    assert_eq!(case.delete().await.code(), "internal_error");
    assert_eq!(case.rows(), 1, "the tombstone alone");
    case.is_out_of_sight().await;
    case.delete().await.done();
    case.is_gone().await;
    assert_eq!(case.delete().await.code(), "run_not_found");
}

#[tokio::test]
async fn an_answer_that_arrives_while_its_run_is_deleted_finds_it_gone() {
    let case = Case::new().await;
    let (arrived, release) = case.world.faults.hold("TransactWriteItems");
    let deletion = async {
        arrived.await.unwrap();
        case.delete().await.done();
        release.send(()).unwrap();
    };
    let (answer, ()) = futures_util::join!(case.world.try_change(&case.run, answered("s-one", true)), deletion);
    assert_eq!(answer.unwrap_err().code(), "run_not_found");
    case.is_gone().await;
}

#[tokio::test]
async fn a_deletion_that_an_answer_overtakes_takes_that_answer_along() {
    let case = Case::new().await;
    let (arrived, release) = case.world.faults.hold("TransactWriteItems");
    let answer = async {
        arrived.await.unwrap();
        case.world.answer_step(&case.run, "s-one", true).await;
        release.send(()).unwrap();
    };
    let (deleted, ()) = futures_util::join!(case.delete(), answer);
    deleted.done();
    case.is_gone().await;
}

#[tokio::test]
async fn of_two_deletions_at_once_one_is_told_that_the_run_is_gone() {
    let case = Case::new().await.answered().await;
    let (arrived, release) = case.world.faults.hold("TransactWriteItems");
    let quick = async {
        arrived.await.unwrap();
        let quick = case.delete().await;
        release.send(()).unwrap();
        quick
    };
    let (slow, quick) = futures_util::join!(case.delete(), quick);
    quick.done();
    assert_eq!(slow.code(), "run_not_found");
    case.is_gone().await;
}

/// Deleting an asset settles the runs that have lapsed. One of them may come back to life, end or go in that very moment.
#[tokio::test]
async fn an_asset_is_judged_by_what_its_lapsed_run_became_meanwhile() {
    let meanwhile: [(&str, Value); 3] =
        [("extended", json!("asset_has_active_runs")), ("handed in late", Value::Null), ("deleted", Value::Null)];
    for (event, refusal) in meanwhile {
        let case = Case::new().await;
        let opened = case.world.now();
        case.world.clock.advance(SignedDuration::from_hours(3));
        // The markers and the run have been read; the run is about to be read again to be settled.
        for _ in 0..2 {
            case.world.faults.next("Query", Fault::Slow(Duration::ZERO));
        }
        let (arrived, release) = case.world.faults.hold("Query");
        let other = async {
            arrived.await.unwrap();
            match event {
                "extended" => drop(case.world.change(&case.run, Command::Extend { expires_at: None }).await),
                "deleted" => drop(case.delete().await.done()),
                _ => {
                    let origin = checklists_rules::run::Origin::queued("somebody", opened, opened);
                    case.world.change(&case.run, Command::Complete { signature: None, origin }).await;
                }
            }
            release.send(()).unwrap();
        };
        let (deleted, ()) = futures_util::join!(case.world.call("delete_asset", json!({ "asset_id": case.asset })), other);
        match refusal.as_str() {
            Some(code) => assert_eq!(deleted.code(), code, "{event}"),
            None => drop(deleted.done()),
        }
    }
}

/// A throttled table hands a batch back; it is sent again after a pause, and not for ever.
#[tokio::test]
async fn rows_that_a_throttled_table_hands_back_are_deleted_at_the_next_attempt() {
    let case = Case::new().await.answered().await;
    for _ in 0..2 {
        case.world.faults.next("BatchWriteItem", Fault::Undone);
    }
    case.delete().await.done();
    case.is_gone().await;

    let case = Case::new().await.answered().await;
    for _ in 0..6 {
        case.world.faults.next("BatchWriteItem", Fault::Undone);
    }
    // Not "busy", which says that nothing was changed.
    assert_eq!(case.delete().await.code(), "internal_error");
    case.is_out_of_sight().await;
    case.delete().await.done();
    case.is_gone().await;
}
