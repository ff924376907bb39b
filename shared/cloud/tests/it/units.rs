//! What calls are told to have consumed.

use onepost_cloud::table::{Action, Condition, Consistency, Usage, measured};

use crate::{Thing, place, shelf, table, thing};

#[tokio::test]
async fn reads_writes_and_round_trips_are_counted_as_the_table_bills_them() {
    let (table, _) = table().await;
    let large = Thing { name: "x".repeat(5000), ..thing("", 1) };
    let (_, put) = measured(table.write(Action::<()>::put(place("a"), &large))).await;
    assert_eq!(put, Usage { reads: 0.0, writes: 5.0, round_trips: 1 });
    let (_, strong) = measured(table.get::<Thing>(place("a"), Consistency::Strong)).await;
    assert_eq!(strong, Usage { reads: 2.0, writes: 0.0, round_trips: 1 });
    let (_, eventual) = measured(table.get::<Thing>(place("a"), Consistency::Eventual)).await;
    assert_eq!(eventual.reads, 1.0);
    let (_, both) =
        measured(table.transact(vec![Action::<()>::put(place("b"), &thing("b", 1)), Action::check(place("a"), Condition::Exists, ())]))
            .await;
    assert!(both.writes >= 4.0 && both.round_trips == 1, "{both:?}");
}

#[tokio::test]
async fn two_calls_at_the_same_time_are_counted_apart() {
    let (table, _) = table().await;
    table.write(Action::<()>::put(place("a"), &thing("a", 1))).await.unwrap();
    let one = measured(table.get::<Thing>(place("a"), Consistency::Strong));
    let two =
        measured(async { futures_util::join!(table.query(shelf()).all::<Thing>(), table.get::<Thing>(place("a"), Consistency::Strong)) });
    let ((_, one), (_, two)) = futures_util::join!(one, two);
    assert_eq!((one.round_trips, two.round_trips), (1, 2));
    assert_eq!((one.reads, two.reads), (1.0, 2.0));
}
