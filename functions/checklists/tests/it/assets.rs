//! Assets: free-form fields, pages, and the rule that an asset with an active run stays.

use std::pin::pin;

use futures_util::future::{Either, select};
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

#[tokio::test]
async fn an_id_that_never_was_and_one_that_was_deleted_get_the_same_answer() {
    let world = World::new().await;
    let deleted = world.asset("Van").await;
    world.call("delete_asset", json!({ "asset_id": deleted })).await.done();
    for tool in ["get_asset", "update_asset", "delete_asset"] {
        let arguments =
            |id: &str| if tool == "update_asset" { json!({ "asset_id": id, "name": "New" }) } else { json!({ "asset_id": id }) };
        let never = world.call(tool, arguments("a-00000000-0000-7000-8000-000000000000")).await;
        assert_eq!(never.code(), "asset_not_found", "{tool}");
        assert_eq!(world.call(tool, arguments(&deleted)).await, never, "{tool}");
    }
}

#[tokio::test]
async fn fields_come_back_as_they_were_given_in_their_order() {
    let world = World::new().await;
    let fields = json!({
        "Zip code": "0040", "beds": 5.0, "area": 41.25, "floor": -2, "lift": false, "note": "", "motto": "Grüße, 🌊 \"quoted\" \\ \u{1}",
        "large": 9_007_199_254_740_991_i64, "tiny": 1e-9,
    });
    let made = world.call("create_asset", json!({ "name": "Flat", "fields": fields })).await.done();
    let read = world.call("get_asset", json!({ "asset_id": made["id"] })).await.done();
    assert_eq!(read["fields"].to_string(), fields.to_string());
    assert_eq!(read["fields"], made["fields"]);
}

#[tokio::test]
async fn an_asset_needs_no_fields_and_a_null_names_one_that_is_not_there() {
    let world = World::new().await;
    for arguments in
        [json!({ "name": "Van" }), json!({ "name": "Van", "fields": null }), json!({ "name": "Van", "fields": { "plate": null } })]
    {
        assert_eq!(world.call("create_asset", arguments).await.done()["fields"], json!({}));
    }
}

#[tokio::test]
async fn fields_that_do_not_fit_are_told_all_at_once_and_nothing_is_made() {
    let world = World::new().await;
    let fields = json!({ "1st": 1, "text": "x".repeat(2001), "list": [1], "map": {}, "big": 9_007_199_254_740_992_i64 });
    let refused = world.call("create_asset", json!({ "name": "Van", "fields": fields })).await.refusal();
    assert_eq!(refused["error"], "invalid_argument");
    let errors = refused["details"]["errors"].as_array().unwrap();
    let told: Vec<(&str, &str)> = errors.iter().map(|one| (one["path"].as_str().unwrap(), one["rule"].as_str().unwrap())).collect();
    let expected = [
        ("/fields/1st", "pattern"),
        ("/fields/text", "maxLength"),
        ("/fields/list", "type"),
        ("/fields/map", "type"),
        ("/fields/big", "maximum"),
    ];
    assert_eq!(told, expected);
    assert_eq!(world.call("list_assets", json!({})).await.done()["data"], json!([]));
}

#[tokio::test]
async fn sixteen_kibibytes_of_fields_fit_and_one_byte_more_does_not() {
    let world = World::new().await;
    // 8 texts of 2,000 letters with names and marks take 8 * 2,007 bytes of JSON; the ninth fills up what is left.
    let fields = |last: usize| {
        let mut fields: serde_json::Map<String, Value> = (0..8).map(|index| (format!("f{index}"), json!("x".repeat(2000)))).collect();
        fields.insert("last".into(), json!("x".repeat(last)));
        fields
    };
    let room = 16 * 1024 - serde_json::to_string(&fields(0)).unwrap().len();
    let made = world.call("create_asset", json!({ "name": "Van", "fields": fields(room) })).await.done();
    let refused = world.call("create_asset", json!({ "name": "Van", "fields": fields(room + 1) })).await.refusal();
    assert_eq!(refused["details"]["errors"][0]["rule"], "maxSize");
    assert!(refused["message"].as_str().unwrap().contains("16384"), "{refused}");
    // The outcome of a merge is measured, not what is sent, and the old state stays whole.
    let grown = world.call("update_asset", json!({ "asset_id": made["id"], "fields": { "more": 1 } })).await;
    assert_eq!(grown.code(), "invalid_argument");
    assert_eq!(world.call("get_asset", json!({ "asset_id": made["id"] })).await.done()["fields"], made["fields"]);
}

#[tokio::test]
async fn names_are_counted_in_characters() {
    let world = World::new().await;
    world.call("create_asset", json!({ "name": "é".repeat(200) })).await.done();
    for (name, rule) in [
        (json!("é".repeat(201)), "maxLength"),
        (json!(""), "minLength"),
        (json!(" \t"), "pattern"),
        (json!(5), "type"),
        (Value::Null, "type"),
    ] {
        let refused = world.call("create_asset", json!({ "name": name })).await;
        assert_eq!(refused.violations()[0], ("/name".to_owned(), rule.to_owned()), "{name}");
    }
    assert_eq!(world.call("create_asset", json!({})).await.violations(), [("/name".to_owned(), "required".to_owned())]);
}

#[tokio::test]
async fn an_update_changes_only_what_it_names() {
    let world = World::new().await;
    let made = world.call("create_asset", json!({ "name": "Van", "fields": { "plate": "AB 1" } })).await.done();
    let id = &made["id"];
    world.clock.advance(SignedDuration::from_mins(1));
    let renamed = world.call("update_asset", json!({ "asset_id": id, "name": "Bus" })).await.done();
    assert_eq!((&renamed["name"], &renamed["fields"]), (&json!("Bus"), &made["fields"]));
    assert_eq!((&renamed["created_at"], &renamed["updated_at"]), (&made["created_at"], &json!("2026-05-22T08:32:00Z")));
    assert_eq!(world.call("get_asset", json!({ "asset_id": id })).await.done()["updated_at"], "2026-05-22T08:32:00Z");
}

#[tokio::test]
async fn an_update_to_what_is_there_already_changes_nothing() {
    let world = World::new().await;
    let made = world.call("create_asset", json!({ "name": "Van", "fields": { "plate": "AB 1" } })).await.done();
    world.clock.advance(SignedDuration::from_mins(1));
    let same = json!({ "asset_id": made["id"], "name": "Van", "fields": { "plate": "AB 1", "ghost": null } });
    assert_eq!(world.call("update_asset", same).await.done(), made);
}

#[tokio::test]
async fn an_update_takes_no_null_no_unknown_argument_and_not_nothing() {
    let world = World::new().await;
    let id = world.asset("Van").await;
    for (arguments, place, rule) in [
        (json!({ "asset_id": id, "name": null }), "/name", "type"),
        (json!({ "asset_id": id, "fields": null }), "/fields", "type"),
        (json!({ "asset_id": id, "title": "Bus" }), "/title", "additionalProperties"),
        (json!({ "name": "Bus" }), "/asset_id", "required"),
    ] {
        let refused = world.call("update_asset", arguments).await;
        assert_eq!(refused.violations(), [(place.to_owned(), rule.to_owned())]);
    }
    assert_eq!(world.call("update_asset", json!({ "asset_id": id })).await.code(), "invalid_argument");
    assert_eq!(world.call("get_asset", json!({ "asset_id": id })).await.done()["name"], "Van");
}

#[tokio::test]
async fn an_update_that_others_keep_overtaking_is_asked_to_try_again() {
    let world = World::new().await;
    let id = world.asset("Van").await;
    let (mut arrived, mut release) = world.faults.hold("UpdateItem");
    let slow = world.call("update_asset", json!({ "asset_id": id, "fields": { "slow": true } }));
    let quick = async {
        for round in 0.. {
            (&mut arrived).await.unwrap();
            world.call("update_asset", json!({ "asset_id": id, "fields": { "round": round } })).await.done();
            let (next_arrived, next_release) = world.faults.hold("UpdateItem");
            release.send(()).unwrap();
            (arrived, release) = (next_arrived, next_release);
        }
    };
    let Either::Left((slow, _)) = select(pin!(slow), pin!(quick)).await else { panic!("there is always another update") };
    assert_eq!((slow.code(), &slow.clone().refusal()["retry_after"]), ("busy", &json!(1)));
    let left = world.call("get_asset", json!({ "asset_id": id })).await.done();
    assert!(left["fields"]["round"].is_u64() && left["fields"].get("slow").is_none(), "{left}");
}

#[tokio::test]
async fn the_plan_limits_assets_and_a_deletion_makes_room() {
    let world = World::new().await;
    let change = checklists::operator::PlanChange { assets: Some(1), ..Default::default() };
    world.desk.change_plan(&world.home.organisation.id, change).await.unwrap();
    let first = world.asset("Van").await;
    let refused = world.call("create_asset", json!({ "name": "Bus" })).await.refusal();
    assert_eq!((&refused["error"], &refused["details"]), (&json!("quota_exceeded"), &json!({ "limit": 1, "used": 1 })));
    world.call("delete_asset", json!({ "asset_id": first })).await.done();
    world.asset("Bus").await;
}
