//! The list of runs: newest first, by status, in pages.

use std::collections::HashMap;

use checklists_rules::Command;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::world::{World, answered, handed_in};

const STATUSES: [&str; 5] = ["pending", "in_progress", "completed", "cancelled", "expired"];

fn ids(page: &Value) -> Vec<String> {
    page["data"].as_array().unwrap().iter().map(|run| run["run_id"].as_str().unwrap().to_owned()).collect()
}

async fn list(world: &World, arguments: Value) -> Value {
    world.call("list_runs", arguments).await.done()
}

/// Runs of every status, a millisecond apart and mixed, newest first. Of the expired ones some are stored as that and
/// some have merely lapsed, from both states that can.
async fn mixed(world: &World, rounds: usize) -> Vec<(String, &'static str)> {
    let template = world.template().await;
    let mut all = Vec::new();
    let mut settled = Vec::new();
    for _ in 0..rounds {
        for kind in ["pending", "lapsed pending", "completed", "lapsed in_progress", "in_progress", "settled", "cancelled"] {
            let short = kind.contains(' ') || kind == "settled";
            let id = world.run(json!({ "template_id": template, "expires_in_hours": if short { 1 } else { 48 } })).await;
            if !["pending", "lapsed pending", "settled", "cancelled"].contains(&kind) {
                world.answer_step(&id, "s-one", true).await;
            }
            match kind {
                "completed" => drop(world.change(&id, handed_in()).await),
                "cancelled" => drop(world.change(&id, Command::Cancel { reason: None }).await),
                "settled" => settled.push(id.clone()),
                _ => {}
            }
            let shown = STATUSES.into_iter().find(|status| *status == kind).unwrap_or("expired");
            all.insert(0, (id, shown));
            world.clock.advance(SignedDuration::from_millis(1));
        }
    }
    world.clock.advance(SignedDuration::from_hours(1));
    for id in settled {
        world.change(&id, Command::Expire).await;
    }
    all
}

#[tokio::test]
async fn every_status_lists_its_own_runs_newest_first_and_all_lists_all() {
    let world = World::new().await;
    let all = mixed(&world, 3).await;
    let listed = list(&world, json!({})).await;
    let expected: Vec<(&str, &str)> = all.iter().map(|(id, status)| (id.as_str(), *status)).collect();
    let told: Vec<(&str, &str)> =
        listed["data"].as_array().unwrap().iter().map(|run| (run["run_id"].as_str().unwrap(), run["status"].as_str().unwrap())).collect();
    assert_eq!(told, expected);
    for status in STATUSES {
        let listed = list(&world, json!({ "status": status })).await;
        let expected: Vec<String> = all.iter().filter(|(_, of)| *of == status).map(|(id, _)| id.clone()).collect();
        assert_eq!(ids(&listed), expected, "{status}");
        assert!(listed["data"].as_array().unwrap().iter().all(|run| run["status"] == status), "{listed}");
        assert_eq!(listed["has_more"], false);
    }
}

#[tokio::test]
async fn pages_of_any_size_show_every_run_once() {
    let world = World::new().await;
    let all = mixed(&world, 2).await;
    for status in STATUSES.map(Some).into_iter().chain([None]) {
        let expected: Vec<&String> = all.iter().filter(|(_, of)| status.is_none_or(|status| status == *of)).map(|(id, _)| id).collect();
        for limit in [1, 2, 3, 5, 14, 100] {
            let mut seen = Vec::new();
            loop {
                let page = list(&world, json!({ "status": status, "limit": limit, "offset": seen.len() })).await;
                assert_eq!((&page["limit"], &page["offset"]), (&json!(limit), &json!(seen.len())));
                seen.extend(ids(&page));
                assert_eq!(page["has_more"], seen.len() < expected.len(), "{status:?} by {limit} at {}", seen.len());
                if page["has_more"] == false {
                    break;
                }
            }
            assert_eq!(seen.iter().collect::<Vec<_>>(), expected, "{status:?} by {limit}");
        }
    }
}

#[tokio::test]
async fn an_offset_past_the_end_is_an_empty_page() {
    let world = World::new().await;
    let all = mixed(&world, 1).await;
    for status in STATUSES.map(Some).into_iter().chain([None]) {
        let count = all.iter().filter(|(_, of)| status.is_none_or(|status| status == *of)).count();
        for offset in [count, count + 1, 5_001, 1_000_000] {
            let page = list(&world, json!({ "status": status, "offset": offset })).await;
            assert_eq!(page, json!({ "data": [], "limit": 50, "offset": offset, "has_more": false }), "{status:?}");
        }
    }
}

#[tokio::test]
async fn limit_and_offset_are_whole_numbers_in_their_range() {
    let world = World::new().await;
    let template = world.template().await;
    for _ in 0..3 {
        world.run(json!({ "template_id": template })).await;
    }
    for (argument, value, rule) in [
        ("limit", json!(0), "minimum"),
        ("limit", json!(-1), "minimum"),
        ("limit", json!(101), "maximum"),
        ("limit", json!(1_000_000), "maximum"),
        ("limit", json!(2_147_483_648_i64), "maximum"),
        ("limit", json!(2.5), "type"),
        ("offset", json!(-1), "minimum"),
        ("offset", json!(1_000_001), "maximum"),
        ("offset", json!(u64::MAX), "maximum"),
        ("offset", json!("first"), "type"),
        ("status", json!("open"), "enum"),
        ("status", json!("Pending"), "enum"),
        ("cursor", json!("x"), "additionalProperties"),
    ] {
        let refused = world.call("list_runs", json!({ argument: value })).await;
        assert_eq!(refused.violations(), [(format!("/{argument}"), rule.to_owned())], "{value}");
    }
    for (limit, shown) in [(json!(1), 1), (json!("2"), 2), (json!(2.0), 2), (json!(100), 3), (Value::Null, 3)] {
        assert_eq!(ids(&list(&world, json!({ "limit": limit })).await).len(), shown, "{limit}");
    }
}

#[tokio::test]
async fn an_entry_tells_what_the_run_was_dispatched_for() {
    let world = World::new().await;
    let (template, asset) = (world.template().await, world.asset("Van").await);
    let arguments = json!({ "template_id": template, "asset_id": asset, "executor_ref": "b-1", "expires_in_hours": 2 });
    let id = world.run(arguments).await;
    let expected = json!({
        "run_id": id, "status": "pending", "template_id": template, "template_v": 1, "template_name": "Check", "asset_id": asset,
        "executor_ref": "b-1", "link": format!("https://checklists.example/r/{id}"), "created_at": "2026-05-22T08:31:00Z",
        "expires_at": "2026-05-22T10:31:00Z",
    });
    let listed = list(&world, json!({})).await;
    assert_eq!(listed["data"], json!([expected]));
    assert_eq!(list(&world, json!({ "status": "pending" })).await, listed);
}

/// The moment of expiry itself is too late, in lists as everywhere.
#[tokio::test]
async fn a_run_moves_to_the_expired_ones_with_the_clock_alone() {
    let world = World::new().await;
    let id = world.run(json!({ "template_id": world.template().await, "expires_in_hours": 1 })).await;
    let where_it_is = async || {
        let mut found = HashMap::new();
        for status in STATUSES {
            found.insert(status, ids(&list(&world, json!({ "status": status })).await).len());
        }
        found.into_iter().filter(|(_, count)| *count > 0).collect::<Vec<_>>()
    };
    world.clock.advance(SignedDuration::from_mins(60) - SignedDuration::from_millis(1));
    assert_eq!(where_it_is().await, [("pending", 1)]);
    world.clock.advance(SignedDuration::from_millis(1));
    assert_eq!(where_it_is().await, [("expired", 1)]);
    world.change(&id, Command::Extend { expires_at: None }).await;
    assert_eq!(where_it_is().await, [("pending", 1)]);
    world.change(&id, answered("s-one", true)).await;
    assert_eq!(where_it_is().await, [("in_progress", 1)]);
}
