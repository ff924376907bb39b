//! The list of assets: pages, cursors, limits.

use jiff::SignedDuration;
use onepost_core::auth::{Pepper, Peppers};
use serde_json::{Value, json};

use crate::world::{Said, World};

/// Makes assets a millisecond apart and answers their names, newest first.
async fn fleet(world: &World, count: usize) -> Vec<String> {
    let mut names = Vec::new();
    for number in 0..count {
        names.insert(0, format!("Van {number}"));
        world.asset(&names[0]).await;
        world.clock.advance(SignedDuration::from_millis(1));
    }
    names
}

fn names(page: &Value) -> Vec<String> {
    page["data"].as_array().unwrap().iter().map(|asset| asset["name"].as_str().unwrap().to_owned()).collect()
}

async fn page(world: &World, limit: usize, cursor: &Value) -> Value {
    world.call("list_assets", json!({ "limit": limit, "cursor": cursor })).await.done()
}

#[tokio::test]
async fn pages_of_any_size_show_every_asset_once_newest_first() {
    let world = World::new().await;
    let all = fleet(&world, 12).await;
    for limit in [1, 2, 3, 5, 6, 11, 12, 13, 100] {
        let (mut seen, mut cursor, mut pages) = (Vec::new(), Value::Null, 0);
        loop {
            let page = page(&world, limit, &cursor).await;
            assert!((1..=limit).contains(&names(&page).len()), "{limit}: {page}");
            seen.extend(names(&page));
            pages += 1;
            cursor = page["next_cursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!(seen, all, "by {limit}");
        assert_eq!(pages, 12_usize.div_ceil(limit), "by {limit}");
    }
}

#[tokio::test]
async fn assets_made_and_deleted_while_somebody_turns_pages_disturb_nobody() {
    let world = World::new().await;
    let all = fleet(&world, 6).await;
    let first = page(&world, 2, &Value::Null).await;
    // The asset that the cursor stands on goes, the next one goes, and a new one comes in front.
    let listed = page(&world, 100, &Value::Null).await;
    for place in [1, 2] {
        world.call("delete_asset", json!({ "asset_id": listed["data"][place]["id"] })).await.done();
    }
    world.asset("New").await;
    let second = page(&world, 2, &first["next_cursor"]).await;
    assert_eq!(names(&second), all[3..5]);
    let third = page(&world, 2, &second["next_cursor"]).await;
    assert_eq!((names(&third), &third["next_cursor"]), (all[5..].to_vec(), &Value::Null));
}

#[tokio::test]
async fn a_limit_is_a_number_from_1_to_100() {
    let world = World::new().await;
    fleet(&world, 2).await;
    for (limit, rule) in [
        (json!(0), "minimum"),
        (json!(-1), "minimum"),
        (json!(101), "maximum"),
        (json!(1_000_000), "maximum"),
        (json!(2_147_483_648_i64), "maximum"),
        (json!(u64::MAX), "maximum"),
        (json!(1.5), "type"),
        (json!("many"), "type"),
    ] {
        let refused = world.call("list_assets", json!({ "limit": limit })).await;
        assert_eq!(refused.violations(), [("/limit".to_owned(), rule.to_owned())], "{limit}");
    }
    for (limit, shown) in [(json!(1), 1), (json!(100), 2), (json!(2.0), 2), (json!("1"), 1), (Value::Null, 2)] {
        let page = world.call("list_assets", json!({ "limit": limit })).await.done();
        assert_eq!(names(&page).len(), shown, "{limit}");
    }
}

#[tokio::test]
async fn a_page_without_a_limit_holds_fifty() {
    let world = World::new().await;
    let all = fleet(&world, 51).await;
    let page = world.call("list_assets", json!({})).await.done();
    assert_eq!(names(&page), all[..50]);
    assert!(page["next_cursor"].is_string());
}

/// Pages of large assets are cut by their size, and the cursor goes on where the page was cut.
#[tokio::test]
async fn a_page_of_large_assets_holds_fewer_and_loses_none() {
    let world = World::new().await;
    let fields: serde_json::Map<String, Value> = (0..7).map(|index| (format!("f{index}"), json!("x".repeat(2000)))).collect();
    for number in 0..10 {
        world.call("create_asset", json!({ "name": format!("Van {number}"), "fields": fields })).await.done();
        world.clock.advance(SignedDuration::from_millis(1));
    }
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = page(&world, 100, &cursor).await;
        assert!(page["data"].to_string().len() <= 64 * 1024 + 100);
        seen.extend(names(&page));
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    let expected: Vec<String> = (0..10).rev().map(|number| format!("Van {number}")).collect();
    assert_eq!(seen, expected);
}

fn is_invalid_cursor(said: Said) {
    assert_eq!(said.code(), "invalid_cursor");
    let text = said.refusal().to_string();
    assert!(text.contains("first page") && !text.contains("dynamo"), "{text}");
}

#[tokio::test]
async fn a_cursor_that_this_list_did_not_give_out_is_refused_and_never_page_one() {
    let world = World::new().await;
    fleet(&world, 3).await;
    let cursor = page(&world, 1, &Value::Null).await["next_cursor"].as_str().unwrap().to_owned();
    let mut changed = cursor.clone();
    let last = changed.pop().unwrap();
    changed.push(if last == 'A' { 'B' } else { 'A' });
    for cursor in ["zzz", "1", &cursor[1..], &changed, &"A".repeat(512)] {
        is_invalid_cursor(world.call("list_assets", json!({ "cursor": cursor })).await);
    }
    let stranger = world.another("Elsewhere").await;
    is_invalid_cursor(world.call_with(&stranger.key, "list_assets", json!({ "cursor": cursor })).await);
    // What no cursor can look like is refused by the schema.
    for cursor in [json!(""), json!("A".repeat(513)), json!(7)] {
        assert_eq!(world.call("list_assets", json!({ "cursor": cursor })).await.violations()[0].0, "/cursor", "{cursor}");
    }
}

#[tokio::test]
async fn a_cursor_is_good_for_a_day() {
    let world = World::new().await;
    let all = fleet(&world, 2).await;
    let cursor = page(&world, 1, &Value::Null).await["next_cursor"].clone();
    world.clock.advance(SignedDuration::from_hours(24));
    assert_eq!(names(&page(&world, 1, &cursor).await), all[1..]);
    world.clock.advance(SignedDuration::from_millis(1));
    is_invalid_cursor(world.call("list_assets", json!({ "cursor": cursor })).await);
}

/// A cursor is sealed under the pepper; the one before is still accepted after a rotation.
#[tokio::test]
async fn a_cursor_outlives_a_rotation_of_the_pepper() {
    let mut world = World::new().await;
    let all = fleet(&world, 2).await;
    let cursor = page(&world, 1, &Value::Null).await["next_cursor"].clone();
    world.serve_with(Peppers::new(Pepper::new("2", [8; 32]), Some(Pepper::new("1", [7; 32]))));
    assert_eq!(names(&page(&world, 1, &cursor).await), all[1..]);
}
