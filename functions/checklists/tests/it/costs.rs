//! What every call consumes beside the check of its key: a read unit per 4 KB, a write unit per 1 KB, and round trips.
//! (The key is read once in half a minute, and for each call that writes: one unit, one round trip.)
//!
//! A write that must not happen without another one is a transaction, in which each item counts double: 2 units per KB.
//! Where a call consumes more than one read by id or one write, the reason stands beside it.

use checklists::members::Role;
use dynoxide::AttributeValue;
use jiff::SignedDuration;
use onepost_cloud::table::Usage;
use serde_json::{Map, Value, json};

use crate::world::World;

/// Calls a tool, holds what it consumed against read units, write units and round trips, and answers its result.
#[track_caller]
fn costs<'w>(world: &'w World, tool: &'w str, arguments: Value, expected: (f64, f64, u64)) -> impl Future<Output = Value> + 'w {
    let at = std::panic::Location::caller();
    async move {
        let (said, Usage { reads, writes, round_trips }) = world.cost_of(tool, arguments).await;
        assert_eq!((reads, writes, round_trips), expected, "{tool}, at {at}");
        said.done()
    }
}

#[tokio::test]
async fn assets() {
    let world = World::new().await;
    // The asset and the organisation's count of assets, which is its limit.
    let asset = costs(&world, "create_asset", json!({ "name": "Van", "fields": { "plate": "AB 1" } }), (0.0, 4.0, 1)).await;
    let id = &asset["id"];
    costs(&world, "list_assets", json!({}), (1.0, 0.0, 1)).await;
    costs(&world, "get_asset", json!({ "asset_id": id }), (1.0, 0.0, 1)).await;
    // The merge is made on what is there.
    costs(&world, "update_asset", json!({ "asset_id": id, "name": "Bus" }), (1.0, 1.0, 2)).await;
    costs(&world, "update_asset", json!({ "asset_id": id, "name": "Bus" }), (1.0, 0.0, 1)).await;
    // The key, which must not have ended, the asset and the count. A delete by id, without a read.
    costs(&world, "delete_asset", json!({ "asset_id": id }), (0.0, 6.0, 1)).await;
    costs(&world, "list_assets", json!({}), (1.0, 0.0, 1)).await;
}

#[tokio::test]
async fn an_asset_with_runs() {
    let world = World::new().await;
    let asset = world.asset("Flat").await;
    world.run(json!({ "template_id": world.template().await, "asset_id": asset, "expires_in_hours": 0.5 })).await;
    // The counter is raised, and only the markers tell which of the runs it counts have lapsed meanwhile.
    costs(&world, "get_asset", json!({ "asset_id": asset }), (2.0, 0.0, 2)).await;
    world.clock.advance(SignedDuration::from_mins(30));
    // Refused once, which no engine reports the units of. The markers are read, the run is read to see that it has
    // lapsed and again, with its template, to settle it: run, list entry and its place in the index, counter, marker.
    // Then the asset is deleted as above.
    costs(&world, "delete_asset", json!({ "asset_id": asset }), (4.0, 4.0 * 2.0 + 2.0 + 6.0, 7)).await;
}

#[tokio::test]
async fn templates() {
    let world = World::new().await;
    let sections = json!([{ "steps": [{ "id": "s-one", "type": "boolean", "label": "Is it clean?", "required": true }] }]);
    // The small head that lists are made of, the body, and the organisation's count of templates.
    let made = costs(&world, "create_template", json!({ "name": "Check", "sections": sections }), (0.0, 6.0, 1)).await;
    let id = &made["id"];
    costs(&world, "list_templates", json!({}), (1.0, 0.0, 1)).await;
    // The head tells that it is there, the newest body what it says; both at once.
    costs(&world, "get_template", json!({ "template_id": id }), (2.0, 0.0, 2)).await;
    // The same two, and the next head and body.
    costs(&world, "update_template", json!({ "template_id": id, "name": "New" }), (2.0, 4.0, 3)).await;
    costs(&world, "update_template", json!({ "template_id": id, "name": "New" }), (2.0, 0.0, 2)).await;
    // The key, the head and the count. Bodies stay for the runs that keep them.
    costs(&world, "delete_template", json!({ "template_id": id }), (0.0, 6.0, 1)).await;
}

/// What a body packs to is what it costs.
#[tokio::test]
async fn a_large_template() {
    let world = World::new().await;
    let ids = onepost_core::id::Ids::default();
    let steps: Vec<Value> = (0..100).map(|_| json!({ "type": "boolean", "label": "l", "hint": ids.base62(1000) })).collect();
    let arguments = json!({ "name": "Check", "sections": [{ "steps": steps }] });
    let (made, created) = world.cost_of("create_template", arguments).await;
    let (_, read) = world.cost_of("get_template", json!({ "template_id": made.done()["id"] })).await;
    let bodies = world.rows_under(&format!("{}#TB#", world.home.organisation.id));
    let Some(AttributeValue::B(packed)) = bodies[0].get("z") else { panic!("no body in {bodies:?}") };
    // Random letters pack to three quarters. Keys and times take some 200 bytes.
    assert!((70_000..90_000).contains(&packed.len()), "{}", packed.len());
    let kilobytes = f64::from(u32::try_from((packed.len() + 200).div_ceil(1024)).unwrap());
    assert!((created.writes - (2.0 * kilobytes + 4.0)).abs() <= 2.0, "{created:?} for {kilobytes} KB");
    assert!((read.reads - ((kilobytes / 4.0).ceil() + 1.0)).abs() <= 1.0, "{read:?} for {kilobytes} KB");
}

#[tokio::test]
async fn runs() {
    let world = World::new().await;
    let (template, asset) = (world.template().await, world.asset("Van").await);
    // Template head and organisation (its plan) are read at once. Written are the month's count, the run, its list
    // entry with its place in the index, and its link.
    let bare = costs(&world, "create_run", json!({ "template_id": template }), (2.0, 4.0 * 2.0 + 1.0, 3)).await;
    // With an asset, also: the asset, its counter, the marker, the copy.
    let run = costs(&world, "create_run", json!({ "template_id": template, "asset_id": asset }), (3.0, 7.0 * 2.0 + 1.0, 4)).await;
    costs(&world, "get_run", json!({ "run_id": run["run_id"] }), (1.0, 0.0, 1)).await;
    world.answer_step(run["run_id"].as_str().unwrap(), "s-one", true).await;
    costs(&world, "get_run", json!({ "run_id": run["run_id"] }), (1.0, 0.0, 1)).await;
    // The run is read whole; its rows and its operations are listed once it is out of sight. Checked is the key; written
    // are tombstone, list entry with its place in the index, and link, then the tombstone goes.
    costs(&world, "delete_run", json!({ "run_id": bare["run_id"] }), (3.0, 4.0 * 2.0 + 1.0 + 1.0, 5)).await;
    // With an asset, also: counter and marker; then the copy and the answer go, in a batch before the tombstone.
    costs(&world, "delete_run", json!({ "run_id": run["run_id"] }), (3.0, 6.0 * 2.0 + 1.0 + 3.0, 6)).await;
}

#[tokio::test]
async fn lists_of_runs() {
    let world = World::new().await;
    let template = world.template().await;
    for _ in 0..60 {
        world.run(json!({ "template_id": template, "expires_in_hours": 1 })).await;
        world.clock.advance(SignedDuration::from_millis(1));
    }
    // An entry has some 430 bytes: 9 to a unit, and one more than the page is read.
    costs(&world, "list_runs", json!({ "limit": 5 }), (1.0, 0.0, 1)).await;
    costs(&world, "list_runs", json!({ "limit": 25 }), (3.0, 0.0, 1)).await;
    // Runs that are passed over are read and paid for.
    costs(&world, "list_runs", json!({ "limit": 5, "offset": 50 }), (6.0, 0.0, 1)).await;
    // An index is read at half the price, and the filter of those that have lapsed does not make the page dearer.
    costs(&world, "list_runs", json!({ "limit": 5, "status": "pending" }), (0.5, 0.0, 1)).await;
    costs(&world, "list_runs", json!({ "limit": 25, "status": "pending" }), (1.5, 0.0, 1)).await;
    costs(&world, "list_runs", json!({ "status": "completed" }), (0.5, 0.0, 1)).await;
    // Expired ones are in three lists. Of the pending ones all are read to find the lapsed, in steps that grow.
    costs(&world, "list_runs", json!({ "limit": 5, "status": "expired" }), (5.0, 0.0, 5)).await;
    world.clock.advance(SignedDuration::from_hours(1));
    costs(&world, "list_runs", json!({ "limit": 5, "status": "expired" }), (1.5, 0.0, 3)).await;
}

#[tokio::test]
async fn members() {
    let world = World::new().await;
    let (ada, _) = world.colleague("ada@home.example", Role::Member).await;
    let (ben, _) = world.colleague("ben@home.example", Role::Owner).await;
    // Members and invitations are two lists, read at once.
    costs(&world, "list_members", json!({}), (2.0, 0.0, 2)).await;
    // Organisation and actor, whom the mail names, and the open invitations, which take room too, are read at once. The
    // invitation and its hold on the address are written on two conditions: the actor's role, and room. Both are
    // confirmed when the mail is out.
    costs(&world, "invite_member", json!({ "email": "new@home.example" }), (3.0, 8.0 + 4.0, 5)).await;
    // Actor and target are read at once. The member, the address and the counts are changed, on the key and the actor's
    // role.
    for target in [ada, ben] {
        costs(&world, "remove_member", json!({ "user_id": target.user_id }), (2.0, 10.0, 3)).await;
    }
}

/// What large assets cost, since the counter of their runs lies in the same row and the page is cut after it is read.
#[tokio::test]
async fn large_assets() {
    let world = World::new().await;
    let fields: Map<String, Value> = (0..7).map(|index| (format!("f{index}"), json!("x".repeat(2000)))).collect();
    // 14 KB in a transaction, and the count.
    let mut asset = Value::Null;
    for _ in 0..10 {
        asset = costs(&world, "create_asset", json!({ "name": "Van", "fields": fields }), (0.0, 2.0 * 14.0 + 2.0, 1)).await;
        world.clock.advance(SignedDuration::from_millis(1));
    }
    costs(&world, "get_asset", json!({ "asset_id": asset["id"] }), (4.0, 0.0, 1)).await;
    costs(&world, "update_asset", json!({ "asset_id": asset["id"], "name": "Bus" }), (4.0, 14.0, 2)).await;
    // The page shows four of the ten that are read.
    let page = costs(&world, "list_assets", json!({}), (35.0, 0.0, 1)).await;
    assert_eq!(page["data"].as_array().unwrap().len(), 4);
    // As above, but 14 KB each for the asset with its counter and for the copy.
    let arguments = json!({ "template_id": world.template().await, "asset_id": asset["id"] });
    costs(&world, "create_run", arguments, (2.0 + 4.0, 5.0 * 2.0 + 1.0 + 2.0 * 2.0 * 14.0, 4)).await;
}
