//! Assets: free-form fields, pages, and the rule that an asset with an active run stays.

use jiff::SignedDuration;
use onepost_cloud::table::faults::Fault;
use serde_json::{Value, json};

use crate::world::World;

#[tokio::test]
async fn an_asset_is_created_read_listed_and_deleted() {
    let world = World::new().await;
    let made = world.call("create_asset", json!({ "name": "Van", "fields": { "plate": "AB 1", "seats": 3, "heated": true } })).await.done();
    let id = made["id"].as_str().unwrap();
    assert_eq!(made["fields"], json!({ "plate": "AB 1", "seats": 3, "heated": true }));
    assert_eq!(made["created_at"], "2026-05-22T08:31:00Z");
    let read = world.call("get_asset", json!({ "asset_id": id })).await.done();
    assert_eq!((&read["name"], &read["active_runs"]), (&json!("Van"), &json!(0)));
    let listed = world.call("list_assets", json!({})).await.done();
    assert_eq!((&listed["data"][0]["id"], &listed["next_cursor"]), (&json!(id), &Value::Null));
    assert_eq!(world.call("delete_asset", json!({ "asset_id": id })).await.done(), json!({ "deleted": true, "asset_id": id }));
    assert_eq!(world.call("get_asset", json!({ "asset_id": id })).await.code(), "asset_not_found");
    assert_eq!(world.call("delete_asset", json!({ "asset_id": id })).await.code(), "asset_not_found");
}

#[tokio::test]
async fn an_update_merges_fields_and_null_removes_one() {
    let world = World::new().await;
    let made = world.call("create_asset", json!({ "name": "Van", "fields": { "plate": "AB 1", "seats": 3 } })).await.done();
    let id = &made["id"];
    let updated = world.call("update_asset", json!({ "asset_id": id, "fields": { "seats": null, "colour": "red" } })).await.done();
    assert_eq!(updated["fields"], json!({ "plate": "AB 1", "colour": "red" }));
    assert_eq!(updated["name"], "Van");
}

#[tokio::test]
async fn two_updates_at_the_same_moment_are_both_kept() {
    let world = World::new().await;
    let id = world.asset("Van").await;
    let (arrived, release) = world.faults.hold("UpdateItem");
    let first = world.call("update_asset", json!({ "asset_id": id, "fields": { "one": 1 } }));
    let second = async {
        arrived.await.unwrap();
        let second = world.call("update_asset", json!({ "asset_id": id, "fields": { "two": 2 } })).await;
        release.send(()).unwrap();
        second
    };
    let (first, second) = futures_util::join!(first, second);
    assert_eq!(second.done()["fields"], json!({ "two": 2 }));
    assert_eq!(first.done()["fields"], json!({ "two": 2, "one": 1 }));
}

#[tokio::test]
async fn an_asset_with_an_active_run_stays_and_goes_once_the_run_has_expired() {
    let world = World::new().await;
    let (asset, template) = (world.asset("Flat").await, world.template().await);
    world.run(json!({ "template_id": template, "asset_id": asset, "expires_in_hours": 1 })).await;
    assert_eq!(world.call("get_asset", json!({ "asset_id": asset })).await.done()["active_runs"], 1);
    let refused = world.call("delete_asset", json!({ "asset_id": asset })).await.refusal();
    assert_eq!((&refused["error"], &refused["details"]["active_runs"]), (&json!("asset_has_active_runs"), &json!(1)));
    world.clock.advance(SignedDuration::from_hours(1));
    assert_eq!(world.call("get_asset", json!({ "asset_id": asset })).await.done()["active_runs"], 0);
    world.call("delete_asset", json!({ "asset_id": asset })).await.done();
}

#[tokio::test]
async fn a_run_that_is_being_dispatched_and_the_deletion_of_its_asset_never_both_succeed() {
    let world = World::new().await;
    let (asset, template) = (world.asset("Flat").await, world.template().await);
    // The run has read its asset and is about to be written when the asset goes.
    let (arrived, release) = world.faults.hold("TransactWriteItems");
    let dispatch = world.call("create_run", json!({ "template_id": template, "asset_id": asset }));
    let deletion = async {
        arrived.await.unwrap();
        let deleted = world.call("delete_asset", json!({ "asset_id": asset })).await;
        release.send(()).unwrap();
        deleted
    };
    let (dispatched, deleted) = futures_util::join!(dispatch, deletion);
    deleted.done();
    assert_eq!(dispatched.code(), "asset_not_found");
    assert_eq!(world.call("list_runs", json!({})).await.done()["data"], json!([]));
}

#[tokio::test]
async fn a_write_whose_answer_is_lost_is_done_once_and_reported_as_done() {
    let world = World::new().await;
    for fault in [Fault::CutAfter, Fault::CutBefore, Fault::Conflict, Fault::Throttle, Fault::ServerError] {
        let name = format!("{fault:?}");
        world.faults.next("TransactWriteItems", fault);
        world.call("create_asset", json!({ "name": name })).await.done();
        assert_eq!(world.faults.left(), 0);
        world.clock.advance(SignedDuration::from_millis(1));
    }
    let listed = world.call("list_assets", json!({})).await.done();
    let names: Vec<&str> = listed["data"].as_array().unwrap().iter().map(|asset| asset["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["ServerError", "Throttle", "Conflict", "CutBefore", "CutAfter"]);
}
