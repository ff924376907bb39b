//! Writes and their conditions.

use onepost_cloud::table::{Action, Comparison, Condition, Consistency, Refused, Update, WriteError};

use crate::{Thing, place, table, thing};

async fn read(table: &onepost_cloud::table::Table, sk: &str) -> Option<Thing> {
    table.get(place(sk), Consistency::Strong).await.unwrap()
}

fn causes<C: Clone>(error: WriteError<C>) -> Vec<C> {
    match error {
        WriteError::Refused(all) => all.into_iter().map(|refused| refused.cause).collect(),
        WriteError::Failed(error) => panic!("expected a refusal: {error}"),
    }
}

#[tokio::test]
async fn a_condition_that_does_not_hold_tells_its_cause_and_what_was_found() {
    let (table, _) = table().await;
    table.write(Action::put(place("a"), &thing("a", 1)).only_if(Condition::Absent, "taken")).await.unwrap();
    let refused = table.write(Action::put(place("a"), &thing("b", 2)).only_if(Condition::Absent, "taken")).await.unwrap_err();
    let WriteError::Refused(all) = refused else { panic!("{refused:?}") };
    let [Refused { cause, found }] = &all[..] else { panic!("{all:?}") };
    assert_eq!((*cause, found.clone().unwrap().read::<Thing>().unwrap()), ("taken", thing("a", 1)));
    assert_eq!(read(&table, "a").await, Some(thing("a", 1)));
}

#[tokio::test]
async fn an_update_sets_adds_and_removes_in_one_write() {
    let (table, _) = table().await;
    let coloured = Thing { colour_of: Some("red".into()), ..thing("a", 1) };
    table.write(Action::<()>::put(place("a"), &coloured)).await.unwrap();
    let update = Update::new().set("name", "b").add("count", 5).remove("colour_of");
    table.write(Action::<()>::update(place("a"), update)).await.unwrap();
    assert_eq!(read(&table, "a").await, Some(thing("b", 6)));
}

#[tokio::test]
async fn every_kind_of_condition_holds_and_fails_where_it_should() {
    let (table, _) = table().await;
    table.write(Action::<()>::put(place("a"), &thing("a", 3))).await.unwrap();
    let holds = [
        Condition::Exists,
        Condition::Missing("colour_of"),
        Condition::is("name", "a"),
        Condition::is_one_of("name", ["x", "a"]),
        Condition::compares("count", Comparison::Below, 4),
        Condition::compares("count", Comparison::AtMost, 3),
        Condition::compares("count", Comparison::Above, 2),
        Condition::compares("name", Comparison::IsNot, "b"),
        Condition::ComparesWith("count", Comparison::Is, "count"),
        Condition::Exists.and(Condition::is("name", "a")).and(Condition::is("count", 3)),
        Condition::Any(vec![Condition::Absent, Condition::is("count", 3)]),
    ];
    let fails = [
        Condition::Absent,
        Condition::Missing("name"),
        Condition::is("name", "b"),
        Condition::is_one_of("name", ["x", "y"]),
        Condition::compares("count", Comparison::Below, 3),
        Condition::compares("count", Comparison::AtMost, 2),
        Condition::compares("count", Comparison::Above, 3),
        Condition::ComparesWith("count", Comparison::Below, "count"),
        Condition::Exists.and(Condition::is("name", "b")),
    ];
    for condition in holds {
        let told = format!("{condition:?}");
        let write = Action::update(place("a"), Update::new().add("seen", 1)).only_if(condition, ());
        assert_eq!(table.write(write).await, Ok(()), "{told}");
    }
    for condition in fails {
        let told = format!("{condition:?}");
        let write = Action::update(place("a"), Update::new().add("seen", 1)).only_if(condition, ());
        assert!(table.write(write).await.is_err(), "{told}");
    }
}

#[tokio::test]
async fn a_transaction_is_made_whole_or_not_at_all_and_tells_every_cause_in_order() {
    let (table, _) = table().await;
    table.write(Action::<()>::put(place("a"), &thing("a", 1))).await.unwrap();
    let actions = |wanted| {
        vec![
            Action::check(place("a"), Condition::is("count", wanted), "count"),
            Action::put(place("b"), &thing("b", 2)).only_if(Condition::Absent, "taken"),
            Action::update(place("c"), Update::new().add("count", 1)),
            Action::delete(place("d")).only_if(Condition::Exists, "gone"),
        ]
    };
    assert_eq!(causes(table.transact(actions(2)).await.unwrap_err()), ["count", "gone"]);
    assert_eq!(read(&table, "b").await, None);
    table.write(Action::<()>::put(place("d"), &thing("d", 4))).await.unwrap();
    table.transact(actions(1)).await.unwrap();
    assert_eq!((read(&table, "b").await, read(&table, "d").await), (Some(thing("b", 2)), None));
}

#[tokio::test]
async fn many_items_are_deleted_in_batches_also_those_that_are_gone() {
    let (table, _) = table().await;
    for index in 0..60 {
        table.write(Action::<()>::put(place(&format!("{index:02}")), &thing("x", index))).await.unwrap();
    }
    let keys = table.keys_of(crate::shelf()).await.unwrap();
    assert_eq!(keys.len(), 60);
    table.delete_all(keys.clone()).await.unwrap();
    table.delete_all(keys).await.unwrap();
    assert_eq!(table.keys_of(crate::shelf()).await.unwrap(), []);
}

#[tokio::test]
async fn what_is_null_is_not_stored() {
    let (table, _) = table().await;
    #[derive(serde::Serialize)]
    struct Sparse {
        name: Option<String>,
        count: i64,
    }
    table.write(Action::<()>::put(place("a"), &Sparse { name: None, count: 1 })).await.unwrap();
    let missing = Action::update(place("a"), Update::new().set("name", "now")).only_if(Condition::Missing("name"), ());
    assert_eq!(table.write(missing).await, Ok(()));
}
