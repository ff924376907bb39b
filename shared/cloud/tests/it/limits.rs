//! Limits per key and organisation, shared through the table. Fleets of instances are simulated beside the code.

use std::time::Duration;

use futures_util::FutureExt;
use jiff::{SignedDuration, Timestamp};
use onepost_cloud::limits::{Admission, Limiter, Limits, MOST_SCOPES, PATIENCE, PAUSE, PatientTable, Rows, free_calls, most_leased};
use onepost_cloud::table::faults::{Fault, Faults};
use onepost_cloud::table::{Consistency, PURGE_AT, Partition, Table, Usage, measured};
use onepost_core::auth::Org;
use serde::Deserialize;

use crate::{org, org_named, table};

const KEY: &str = "k00000000001";
const OTHER_KEY: &str = "k00000000002";
const WINDOW: u64 = 10;
const NOTHING: Usage = Usage { reads: 0.0, writes: 0.0, round_trips: 0 };

/// The start of a window.
const START: &str = "2026-01-01T00:00:00Z";

/// So long after the start of the first window.
fn at(milliseconds: i64) -> Timestamp {
    START.parse::<Timestamp>().unwrap() + SignedDuration::from_millis(milliseconds)
}

fn limits(per_key: u32, per_organisation: u32) -> Limits {
    Limits { window: Duration::from_secs(WINDOW), per_key, per_organisation }
}

/// An instance. It waits for the table however busy this machine is.
fn limiter(table: &Table, per_key: u32, per_organisation: u32) -> Limiter<PatientTable> {
    Limiter::new(PatientTable { table: table.clone(), patience: Duration::from_secs(30) }, limits(per_key, per_organisation))
}

/// One limit alone: the key's is the organisation's.
fn one_limit(table: &Table, limit: u32) -> Limiter<PatientTable> {
    limiter(table, limit, limit)
}

/// How many of so many calls, all at one moment, are admitted.
async fn admitted(limiter: &Limiter<impl Rows>, org: &Org, key: &str, calls: u32, now: Timestamp) -> u32 {
    let mut admitted = 0;
    for _ in 0..calls {
        admitted += u32::from(limiter.admit(org, key, now).await == Admission::Admitted);
    }
    admitted
}

#[derive(Debug, PartialEq, Deserialize)]
struct Row {
    taken: u32,
    purge_at: u64,
}

async fn row(table: &Table, now: Timestamp) -> Option<Row> {
    assert_eq!(PURGE_AT, "purge_at");
    let start = now.as_second() / 10 * 10;
    table.get(Partition::of(&org(), &format!("LIM#{start}")).key("LIM"), Consistency::Strong).await.unwrap()
}

fn go_wrong_for_long(faults: &Faults, fault: impl Fn() -> Fault) {
    for operation in ["GetItem", "UpdateItem"] {
        for _ in 0..50 {
            faults.next(operation, fault());
        }
    }
}

/// What the first call is told that is not free.
async fn first_that_asks(limiter: &Limiter<impl Rows>, faults: &Faults) -> Admission {
    faults.operations();
    loop {
        let admission = limiter.admit(&org(), KEY, at(0)).await;
        if !faults.operations().is_empty() {
            return admission;
        }
    }
}

#[tokio::test]
async fn two_instances_share_one_limit() {
    let (table, _) = table().await;
    let (one, other) = (one_limit(&table, 200), one_limit(&table, 200));
    let mut both = 0;
    for _ in 0..250 {
        both += admitted(&one, &org(), KEY, 1, at(0)).await + admitted(&other, &org(), OTHER_KEY, 1, at(0)).await;
    }
    assert!((200..=200 + 2 * free_calls(200)).contains(&both), "{both}");
    assert_eq!(row(&table, at(0)).await.unwrap().taken, 200);
}

#[tokio::test]
async fn one_instance_admits_the_limit_exactly() {
    let (table, _) = table().await;
    for limit in [1, 7, 99, 1000] {
        let org = org_named(&format!("org-with-{limit}"));
        assert_eq!(admitted(&one_limit(&table, limit), &org, KEY, limit + 50, at(0)).await, limit);
    }
}

#[tokio::test]
async fn a_caller_of_few_calls_costs_nothing() {
    let (table, _) = table().await;
    let limiter = limiter(&table, 500, 2000);
    for window in 0..5 {
        let (admitted, usage) = measured(admitted(&limiter, &org(), KEY, 2, at(window * 10_000))).await;
        assert_eq!((admitted, usage), (2, NOTHING));
    }
}

#[tokio::test]
async fn a_steady_pace_costs_a_twentieth_of_a_write_a_call_at_most() {
    let (table, _) = table().await;
    for (instances, org) in [(1, "org-of-1"), (10, "org-of-10")] {
        let org = org_named(org);
        let fleet: Vec<_> = (0..instances).map(|_| limiter(&table, 1500, 4000)).collect();
        let calls = 100 * 10 * 3;
        let ((), usage) = measured(async {
            for call in 0..calls {
                let limiter = &fleet[usize::try_from(call).unwrap() % fleet.len()];
                assert_eq!(limiter.admit(&org, KEY, at(call * 10)).await, Admission::Admitted);
            }
        })
        .await;
        #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
        let (reads, writes) = (usage.reads / calls as f64, usage.writes / calls as f64);
        println!("{instances} instances at 100 calls/s: {reads:.4} read units, {writes:.4} write units a call");
        assert!(writes <= 0.05 && reads <= 0.02, "{instances} instances: {usage:?}");
    }
}

#[tokio::test]
async fn a_denied_call_costs_nothing_once_the_instance_knows() {
    let (table, _) = table().await;
    let knows = limiter(&table, 50, 100);
    admitted(&knows, &org(), KEY, 60, at(0)).await;
    let (admitted_more, usage) = measured(admitted(&knows, &org(), KEY, 100, at(9_000))).await;
    assert_eq!((admitted_more, usage), (0, NOTHING));
}

#[tokio::test]
async fn an_instance_learns_without_a_write_that_a_limit_is_spent() {
    let (table, _) = table().await;
    admitted(&one_limit(&table, 100), &org(), KEY, 150, at(0)).await;
    let late = one_limit(&table, 100);
    let (admitted, usage) = measured(admitted(&late, &org(), KEY, 50, at(1_000))).await;
    assert!((1..=free_calls(100)).contains(&admitted), "{admitted}");
    assert_eq!(usage, Usage { reads: 0.5, writes: 0.0, round_trips: 1 });
}

#[tokio::test]
async fn a_denied_caller_is_told_when_the_window_ends_and_is_admitted_then() {
    let (table, _) = table().await;
    let limiter = limiter(&table, 20, 100);
    admitted(&limiter, &org(), KEY, 30, at(3_200)).await;
    for (now, retry_after) in [(3_200, 7), (5_000, 5), (9_000, 1), (9_001, 1), (9_999, 1)] {
        assert_eq!(limiter.admit(&org(), KEY, at(now)).await, Admission::Denied { retry_after }, "{now}");
        let then = now + i64::from(retry_after) * 1000;
        let another_time = one_limit(&table, 20);
        assert_eq!(another_time.admit(&org(), KEY, at(then)).await, Admission::Admitted, "{now}");
    }
    assert_eq!(admitted(&limiter, &org(), KEY, 30, at(10_000)).await, 20);
}

#[tokio::test]
async fn another_key_and_another_organisation_are_unharmed() {
    let (table, _) = table().await;
    let limiter = limiter(&table, 30, 100);
    assert_eq!(admitted(&limiter, &org(), KEY, 500, at(0)).await, 30);
    assert_eq!(admitted(&limiter, &org(), OTHER_KEY, 30, at(0)).await, 30);
    for key in 3..10 {
        admitted(&limiter, &org(), &format!("k{key}"), 30, at(0)).await;
    }
    assert_eq!(admitted(&limiter, &org(), "k10", 1, at(0)).await, 0, "the organisation has spent its own limit");
    assert_eq!(admitted(&limiter, &org_named("org-2"), KEY, 30, at(0)).await, 30);
}

#[tokio::test]
async fn calls_that_one_limit_denies_take_nothing_from_the_other() {
    let (table, _) = table().await;
    let limiter = limiter(&table, 10, 25);
    assert_eq!(admitted(&limiter, &org(), KEY, 200, at(0)).await, 10);
    assert_eq!(admitted(&limiter, &org(), OTHER_KEY, 200, at(0)).await, 10);
    assert_eq!(admitted(&limiter, &org(), "third", 200, at(0)).await, 5, "the organisation's limit is whole");
    assert_eq!(admitted(&limiter, &org(), "fourth", 200, at(0)).await, 0);
}

#[tokio::test]
async fn a_row_belongs_to_one_window_and_is_cleaned_up_after_it() {
    let (table, _) = table().await;
    let limiter = one_limit(&table, 100);
    for window in 0..2 {
        let now = at(window * 10_000 + 5_000);
        admitted(&limiter, &org(), KEY, 150, now).await;
        let end = u64::try_from(now.as_second()).unwrap() + 5;
        let row = row(&table, now).await.unwrap();
        assert_eq!(row.taken, 100);
        assert!((end + 60..end + 3600).contains(&row.purge_at), "{row:?} after {end}");
    }
}

#[tokio::test]
async fn calls_that_come_at_the_same_time_ask_once() {
    let (table, faults) = table().await;
    let limiter = one_limit(&table, 100);
    first_that_asks(&limiter, &faults).await;
    let leased = most_leased(100);
    assert_eq!(admitted(&limiter, &org(), KEY, leased - 1, at(0)).await, leased - 1);
    assert!(faults.operations().is_empty(), "the tokens of the first lease are spent first");
    let org = org();
    let at_once = (0..8).map(|_| limiter.admit(&org, KEY, at(0)));
    let all = futures_util::future::join_all(at_once).await;
    assert_eq!(all, vec![Admission::Admitted; 8]);
    let asked = faults.operations();
    assert_eq!(asked, ["UpdateItem"]);
}

#[tokio::test]
async fn a_call_that_is_given_up_while_it_asks_holds_up_nobody() {
    let (table, faults) = table().await;
    let limiter = one_limit(&table, 100);
    let (mut arrived, release) = faults.hold("GetItem");
    let org = org();
    let asks = loop {
        let mut call = Box::pin(limiter.admit(&org, KEY, at(0)));
        tokio::select! {
            free = &mut call => assert_eq!(free, Admission::Admitted),
            told = &mut arrived => { told.unwrap(); break call }
        }
    };
    let mut waits = Box::pin(limiter.admit(&org, KEY, at(0)));
    assert_eq!((&mut waits).now_or_never(), None);
    drop(asks);
    drop(release);
    assert_eq!(waits.await, Admission::Admitted);
}

#[tokio::test]
async fn a_lease_is_taken_once_whatever_happens_to_its_answer() {
    for fault in [Fault::Throttle, Fault::ServerError, Fault::CutBefore, Fault::CutAfter] {
        let (table, faults) = table().await;
        let told = format!("{fault:?}");
        faults.next("UpdateItem", fault);
        assert_eq!(admitted(&one_limit(&table, 100), &org(), KEY, 150, at(0)).await, 100, "{told}");
        assert_eq!((faults.left(), row(&table, at(0)).await.unwrap().taken), (0, 100), "{told}");
    }
}

#[tokio::test]
async fn a_table_that_fails_or_is_throttled_admits_and_the_log_is_told_once_a_pause() {
    for named in ["InternalServerError", "ThrottlingException"] {
        let fault = || if named == "ThrottlingException" { Fault::Throttle } else { Fault::ServerError };
        let (table, faults) = table().await;
        let limiter = one_limit(&table, 100);
        go_wrong_for_long(&faults, fault);
        let first = first_that_asks(&limiter, &faults).await;
        assert!(matches!(&first, Admission::OnTrust { cause } if cause.contains(named)), "{first:?}");
        let pause = i64::try_from(PAUSE.as_millis()).unwrap();
        assert_eq!(admitted(&limiter, &org(), KEY, 20, at(pause - 1)).await, 20);
        assert!(faults.operations().is_empty(), "the row is left alone");
        faults.forget();
        assert_eq!(limiter.admit(&org(), KEY, at(pause)).await, Admission::Admitted);
        let paid = row(&table, at(0)).await.unwrap().taken;
        assert!(paid >= 22, "what was admitted on trust is charged: {paid}");
    }
}

#[tokio::test]
async fn a_row_that_does_not_answer_is_not_waited_for() {
    let (table, faults) = table().await;
    let limiter = Limiter::new(table, limits(100, 100));
    faults.next("GetItem", Fault::Slow(Duration::from_secs(60)));
    let started = std::time::Instant::now();
    let admission = first_that_asks(&limiter, &faults).await;
    assert!(matches!(&admission, Admission::OnTrust { cause } if cause.contains("200 ms")), "{admission:?}");
    assert!(started.elapsed() >= PATIENCE);
}

#[tokio::test]
async fn a_table_that_stays_down_admits_no_more_than_the_limit_on_one_instance() {
    let (table, faults) = table().await;
    let limiter = one_limit(&table, 100);
    go_wrong_for_long(&faults, || Fault::CutBefore);
    let mut admitted = 0;
    for _ in 0..150 {
        match limiter.admit(&org(), KEY, at(500)).await {
            Admission::Admitted | Admission::OnTrust { .. } => admitted += 1,
            Admission::Denied { retry_after } => assert_eq!(retry_after, 10),
        }
    }
    assert_eq!(admitted, 100);
}

#[tokio::test]
async fn a_clock_that_was_set_wrong_denies_nobody_for_longer_than_it_is_wrong() {
    let (table, _) = table().await;
    let limiter = one_limit(&table, 20);
    let an_hour = 3_600_000;
    assert_eq!(admitted(&limiter, &org(), KEY, 50, at(an_hour)).await, 20);
    assert_eq!(admitted(&limiter, &org(), KEY, 50, at(0)).await, 20);
}

#[tokio::test]
async fn a_limiter_that_knows_as_many_scopes_as_it_can_admits_the_others_uncounted_and_says_so() {
    let (table, _) = table().await;
    let limiter = limiter(&table, 100, 1_000_000);
    for key in 1..MOST_SCOPES {
        assert_eq!(limiter.admit(&org(), &format!("k{key}"), at(0)).await, Admission::Admitted);
    }
    let beyond = limiter.admit(&org(), "one too many", at(0)).await;
    assert!(matches!(&beyond, Admission::OnTrust { cause } if cause.contains("4096")), "{beyond:?}");
    let windows_later = at(20_000);
    assert_eq!(limiter.admit(&org(), "one too many", windows_later).await, Admission::Admitted, "there is room again");
}
