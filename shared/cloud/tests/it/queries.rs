//! Lists.

use onepost_cloud::table::{Action, Condition, Direction, Partition};

use crate::{BY_COLOUR, Thing, org, place, shelf, table, thing};

async fn filled(count: i64) -> onepost_cloud::table::Table {
    let (table, _) = table().await;
    for index in 0..count {
        let colour = if index % 3 == 0 { "red" } else { "blue" };
        let thing = Thing { colour_of: Some(format!("org-1#{colour}")), ..thing("x", index) };
        table.write(Action::<()>::put(place(&format!("{index:03}")), &thing)).await.unwrap();
    }
    table
}

#[tokio::test]
async fn pages_of_every_size_have_no_gaps_and_no_repeats() {
    let table = filled(10).await;
    for direction in [Direction::Ascending, Direction::Descending] {
        for size in 1..=11 {
            let (mut seen, mut after) = (Vec::new(), None);
            loop {
                let page = table.query(shelf()).direction(direction).after(after).page::<Thing>(size).await.unwrap();
                seen.extend(page.items.iter().map(|thing| thing.count));
                after = page.next;
                if after.is_none() {
                    break;
                }
                assert_eq!(page.items.len(), size, "only the last page is short");
            }
            let mut expected: Vec<i64> = (0..10).collect();
            if direction == Direction::Descending {
                expected.reverse();
            }
            assert_eq!(seen, expected, "pages of {size}");
        }
    }
}

#[tokio::test]
async fn a_page_that_the_filter_emptied_is_not_the_end() {
    let table = filled(40).await;
    let page = table.query(shelf()).only(Condition::is_one_of("count", [5, 39])).page::<Thing>(1).await.unwrap();
    assert_eq!((page.items[0].count, page.next.as_deref()), (5, Some("005")));
    let page = table.query(shelf()).only(Condition::is_one_of("count", [5, 39])).after(page.next).page::<Thing>(1).await.unwrap();
    assert_eq!((page.items[0].count, page.next), (39, None));
}

#[tokio::test]
async fn paging_goes_on_where_the_last_item_was_deleted_meanwhile() {
    let table = filled(6).await;
    let first = table.query(shelf()).page::<Thing>(3).await.unwrap();
    table.write(Action::<()>::delete(place(first.next.as_deref().unwrap()))).await.unwrap();
    let rest = table.query(shelf()).after(first.next).page::<Thing>(10).await.unwrap();
    assert_eq!(rest.items.iter().map(|thing| thing.count).collect::<Vec<_>>(), [3, 4, 5]);
}

#[tokio::test]
async fn an_index_lists_only_what_carries_its_attribute() {
    let table = filled(9).await;
    let red = Partition::of(&org(), "red");
    assert_eq!(red.index_value(), "org-1#red");
    let found: Vec<Thing> = table.query(red).through(BY_COLOUR).all().await.unwrap();
    assert_eq!(found.iter().map(|thing| thing.count).collect::<Vec<_>>(), [0, 3, 6]);
}

#[tokio::test]
async fn a_prefix_picks_and_another_organisations_items_are_elsewhere() {
    let table = filled(12).await;
    let tens: Vec<Thing> = table.query(shelf()).beginning_with("01").all().await.unwrap();
    assert_eq!(tens.iter().map(|thing| thing.count).collect::<Vec<_>>(), [10, 11]);
    let elsewhere = Partition::of(&crate::org_named("org-2"), "S");
    assert_eq!(table.query(elsewhere).all::<Thing>().await.unwrap(), []);
}

#[tokio::test]
async fn the_first_item_is_read_alone() {
    let table = filled(3).await;
    let newest: Option<Thing> = table.query(shelf()).direction(Direction::Descending).first().await.unwrap();
    assert_eq!(newest.unwrap().count, 2);
    assert_eq!(table.query(Partition::of(&org(), "empty")).first::<Thing>().await.unwrap(), None);
}

#[tokio::test]
async fn items_are_passed_over_with_and_without_a_filter() {
    let table = filled(20).await;
    let counts = |page: onepost_cloud::table::Page<Thing>| page.items.iter().map(|thing| thing.count).collect::<Vec<_>>();
    let page = table.query(shelf()).skip(5).page::<Thing>(3).await.unwrap();
    assert_eq!(page.next.as_deref(), Some("007"));
    assert_eq!(counts(page), [5, 6, 7]);
    let red = || table.query(shelf()).only(Condition::is("colour_of", "org-1#red"));
    assert_eq!(counts(red().skip(2).page(3).await.unwrap()), [6, 9, 12]);
    assert_eq!(counts(red().skip(100).page(3).await.unwrap()), Vec::<i64>::new());
}
