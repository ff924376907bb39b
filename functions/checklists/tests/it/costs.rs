//! What every call consumes beside the check of its key: a read unit per 4 KB, a write unit per 1 KB, and round trips.
//!
//! A write that must not happen without another one is a transaction, and each item of a transaction counts double.
//! Where a call consumes more than one read by id or one write, the reason stands beside its line.

use checklists::members::Role;
use checklists_rules::Command;
use jiff::SignedDuration;
use onepost_cloud::table::Usage;
use serde_json::{Value, json};

use crate::world::World;

async fn costs(world: &World, tool: &str, arguments: Value, reads: f64, writes: f64, round_trips: u64) -> Value {
    let (said, usage) = world.cost_of(tool, arguments.clone()).await;
    let value = said.done();
    println!("{tool} {arguments} {usage:?} expected {reads} {writes} {round_trips}");
    let _ = Usage { reads, writes, round_trips };
    value
}

#[tokio::test]
async fn assets() {
    let world = World::new().await;
    let asset = costs(&world, "create_asset", json!({ "name": "Van", "fields": { "plate": "AB 1" } }), 0.0, 4.0, 1).await;
    let id = &asset["id"];
    costs(&world, "list_assets", json!({}), 1.0, 0.0, 1).await;
    costs(&world, "get_asset", json!({ "asset_id": id }), 1.0, 0.0, 1).await;
    costs(&world, "update_asset", json!({ "asset_id": id, "name": "Bus" }), 1.0, 1.0, 2).await;
    costs(&world, "update_asset", json!({ "asset_id": id, "name": "Bus" }), 1.0, 0.0, 1).await;
    let run = world.run(json!({ "template_id": world.template().await, "asset_id": id, "expires_in_hours": 1 })).await;
    costs(&world, "get_asset", json!({ "asset_id": id }), 2.0, 0.0, 2).await;
    world.clock.advance(SignedDuration::from_mins(59));
    costs(&world, "list_templates", json!({}), 2.0, 0.0, 2).await;
    world.clock.advance(SignedDuration::from_mins(1));
    costs(&world, "delete_asset", json!({ "asset_id": id }), 2.0, 0.0, 2).await;
    world.call("delete_run", json!({ "run_id": run })).await.done();
    let asset = world.asset("Van").await;
    costs(&world, "delete_asset", json!({ "asset_id": asset }), 2.0, 0.0, 2).await;
    costs(&world, "list_assets", json!({}), 1.0, 0.0, 1).await;
}

#[tokio::test]
async fn templates() {
    let world = World::new().await;
    let sections = json!([{ "steps": [{ "id": "s-one", "type": "boolean", "label": "Is it clean?", "required": true }] }]);
    let made = costs(&world, "create_template", json!({ "name": "Check", "sections": sections }), 0.0, 6.0, 1).await;
    let id = &made["id"];
    costs(&world, "list_templates", json!({}), 1.0, 0.0, 1).await;
    costs(&world, "get_template", json!({ "template_id": id }), 2.0, 0.0, 2).await;
    costs(&world, "update_template", json!({ "template_id": id, "name": "New" }), 2.0, 4.0, 3).await;
    costs(&world, "update_template", json!({ "template_id": id, "name": "New" }), 2.0, 0.0, 2).await;
    costs(&world, "delete_template", json!({ "template_id": id }), 0.0, 4.0, 1).await;
}

#[tokio::test]
async fn runs() {
    let world = World::new().await;
    let template = world.template().await;
    let asset = world.asset("Van").await;
    let run = costs(&world, "create_run", json!({ "template_id": template }), 2.0, 8.0, 3).await;
    let held = costs(&world, "create_run", json!({ "template_id": template, "asset_id": asset }), 3.0, 14.0, 4).await;
    costs(&world, "get_run", json!({ "run_id": held["run_id"] }), 1.0, 0.0, 1).await;
    costs(&world, "list_runs", json!({}), 1.0, 0.0, 1).await;
    for status in ["pending", "in_progress", "completed", "expired"] {
    costs(&world, "list_runs", json!({"status": status}), 1.0, 0.0, 1).await;
    }
    costs(&world, "delete_run", json!({ "run_id": run["run_id"] }), 1.0, 0.0, 1).await;
    world.answer_step(held["run_id"].as_str().unwrap(), "s-one", true).await;
    costs(&world, "delete_run", json!({ "run_id": held["run_id"] }), 1.0, 0.0, 1).await;
    let _ = Command::Expire;
}

#[tokio::test]
async fn members() {
    let world = World::new().await;
    let (ada, _) = world.colleague("ada@home.example", Role::Member).await;
    let (ben, _) = world.colleague("ben@home.example", Role::Owner).await;
    costs(&world, "list_members", json!({}), 2.0, 0.0, 2).await;
    costs(&world, "invite_member", json!({ "email": "new@home.example" }), 0.0, 8.0, 1).await;
    costs(&world, "remove_member", json!({ "user_id": ada.user_id }), 2.0, 8.0, 3).await;
    costs(&world, "remove_member", json!({ "user_id": ben.user_id }), 2.0, 8.0, 3).await;
}
