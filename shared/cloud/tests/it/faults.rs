//! What no embedded engine shows: conflicts, throttling, and answers that get lost.

use std::time::Duration;

use onepost_cloud::table::faults::Fault;
use onepost_cloud::table::{Action, Condition, Consistency, Update, WriteError, by, measured};
use onepost_core::error::ToolError;

use crate::{Thing, place, shelf, table, table_within, thing};

fn every_fault() -> [Fault; 5] {
    [Fault::Conflict, Fault::Throttle, Fault::ServerError, Fault::CutBefore, Fault::CutAfter]
}

#[tokio::test]
async fn a_write_that_adds_is_done_once_whatever_happens_to_its_answer() {
    let (table, faults) = table().await;
    table.write(Action::<()>::put(place("a"), &thing("a", 0))).await.unwrap();
    for (done, fault) in (1..).zip(every_fault()) {
        let told = format!("{fault:?}");
        faults.next("UpdateItem", fault);
        let still = Condition::is("count", done - 1);
        table.write(Action::update(place("a"), Update::new().add("count", 1)).only_if(still, ())).await.unwrap();
        assert_eq!(table.get(place("a"), Consistency::Strong).await.unwrap(), Some(thing("a", done)), "{told}");
    }
}

#[tokio::test]
async fn a_transaction_that_adds_is_done_once_whatever_happens_to_its_answer() {
    let (table, faults) = table().await;
    for (done, fault) in (1..).zip(every_fault()) {
        let told = format!("{fault:?}");
        faults.next("TransactWriteItems", fault);
        table.transact(vec![Action::<()>::update(place("a"), Update::new().set("name", "a").add("count", 1))]).await.unwrap();
        assert_eq!(table.get(place("a"), Consistency::Strong).await.unwrap(), Some(thing("a", done)), "{told}");
    }
}

#[tokio::test]
async fn a_put_and_a_deletion_recognise_their_own_work_when_the_answer_was_lost() {
    let (table, faults) = table().await;
    faults.next("PutItem", Fault::CutAfter);
    assert_eq!(table.write(Action::put(place("a"), &thing("a", 1)).only_if(Condition::Absent, ())).await, Ok(()));
    faults.next("DeleteItem", Fault::CutAfter);
    assert_eq!(table.write(Action::delete(place("a")).only_if(Condition::Exists, ())).await, Ok(()));
    assert_eq!(faults.left(), 0);
}

#[tokio::test]
async fn somebody_elses_write_is_not_taken_for_ones_own() {
    let (table, faults) = table().await;
    table.write(Action::<()>::put(place("a"), &thing("a", 1))).await.unwrap();
    faults.next("PutItem", Fault::CutBefore);
    let refused = table.write(Action::put(place("a"), &thing("b", 2)).only_if(Condition::Absent, "taken")).await;
    assert!(matches!(refused, Err(WriteError::Refused(_))), "{refused:?}");
}

#[tokio::test]
async fn reads_are_tried_again_too() {
    let (table, faults) = table().await;
    table.write(Action::<()>::put(place("a"), &thing("a", 1))).await.unwrap();
    for fault in every_fault() {
        faults.next("GetItem", fault);
        assert_eq!(table.get(place("a"), Consistency::Strong).await.unwrap(), Some(thing("a", 1)));
    }
    for fault in every_fault() {
        faults.next("Query", fault);
        assert_eq!(table.query(shelf()).all::<Thing>().await.unwrap(), [thing("a", 1)]);
    }
}

#[tokio::test]
async fn a_table_that_stays_down_is_given_up_after_a_bounded_number_of_attempts() {
    let (table, faults) = table().await;
    for _ in 0..50 {
        faults.next("GetItem", Fault::ServerError);
    }
    let (failed, usage) = measured(table.get::<Thing>(place("a"), Consistency::Strong)).await;
    let told = ToolError::from(failed.unwrap_err());
    assert_eq!(told.code(), "internal_error");
    assert!(told.cause().unwrap().contains("InternalServerError"), "the log is told why");
    assert!((2..=10).contains(&usage.round_trips), "{usage:?}");
}

#[tokio::test]
async fn no_request_is_repeated_past_the_deadline_of_its_call() {
    let (table, faults) = table().await;
    for _ in 0..50 {
        faults.next("GetItem", Fault::Throttle);
    }
    let read = || table.get::<Thing>(place("a"), Consistency::Strong);
    let passed = tokio::time::Instant::now();
    let (failed, usage) = measured(by(passed, read())).await;
    assert_eq!((failed.is_err(), usage.round_trips), (true, 1));
    let (_, usage) = measured(by(passed + Duration::from_secs(60), read())).await;
    assert!(usage.round_trips > 1, "{usage:?}");
    faults.forget();
    faults.next("GetItem", Fault::Slow(Duration::from_secs(60)));
    let soon = tokio::time::Instant::now() + Duration::from_millis(600);
    let failed = by(soon, read()).await.unwrap_err();
    assert!(failed.to_string().contains("deadline"), "an attempt under way is given up too: {failed}");
}

#[tokio::test]
async fn a_table_that_stays_busy_is_a_refusal_to_try_again() {
    let (table, faults) = table().await;
    for _ in 0..50 {
        faults.next("TransactWriteItems", Fault::Conflict);
    }
    let failed = table.transact(vec![Action::<()>::put(place("a"), &thing("a", 1))]).await.unwrap_err();
    let told = failed.told(|_| unreachable!("nothing was refused"));
    assert_eq!((told.code(), told.status()), ("busy", 503));
}

#[tokio::test]
async fn a_write_that_may_have_been_made_is_not_told_as_one_that_was_not() {
    let (table, faults) = table().await;
    faults.next("TransactWriteItems", Fault::CutAfter);
    for _ in 0..50 {
        faults.next("TransactWriteItems", Fault::Throttle);
    }
    let failed = table.transact(vec![Action::<()>::put(place("a"), &thing("a", 1))]).await.unwrap_err();
    assert_eq!(
        failed.told(|_| unreachable!("nothing was refused")).code(),
        "internal_error",
        "not busy, which says that nothing was changed"
    );
    assert_eq!(table.get(place("a"), Consistency::Strong).await.unwrap(), Some(thing("a", 1)));
}

#[tokio::test]
async fn what_was_added_once_is_not_added_again_also_where_nothing_else_is_demanded() {
    let (table, faults) = table().await;
    for condition in [None, Some(Condition::Exists)] {
        let before = table.get::<Thing>(place("a"), Consistency::Strong).await.unwrap().map_or(0, |thing| thing.count);
        faults.next("UpdateItem", Fault::CutAfter);
        let mut action = Action::update(place("a"), Update::new().set("name", "a").add("count", 1));
        if let Some(condition) = condition {
            action = action.only_if(condition, ());
        }
        table.write(action).await.unwrap();
        assert_eq!(table.get(place("a"), Consistency::Strong).await.unwrap(), Some(thing("a", before + 1)));
    }
}

#[tokio::test]
async fn an_answer_that_is_too_slow_counts_as_lost() {
    let (table, faults) = table_within(Duration::from_millis(250)).await;
    faults.next("UpdateItem", Fault::Slow(Duration::from_secs(60)));
    table.write(Action::<()>::update(place("a"), Update::new().set("name", "a").add("count", 1))).await.unwrap();
    assert_eq!(table.get(place("a"), Consistency::Strong).await.unwrap(), Some(thing("a", 1)));
}
