//! Runs: dispatched from a template as it is, and read as they stand.

use checklists::operator::PlanChange;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::world::World;

async fn get(world: &World, id: &str) -> Value {
    world.call("get_run", json!({ "run_id": id })).await.done()
}

#[tokio::test]
async fn a_run_is_dispatched_and_answers_its_id_link_and_end() {
    let world = World::new().await;
    let template = world.template().await;
    let made =
        world.call("create_run", json!({ "template_id": template, "executor_ref": "booking_9f2a3b", "expires_in_hours": 24 })).await.done();
    let id = made["run_id"].as_str().unwrap();
    let expected = json!({ "run_id": id, "link": format!("https://checklists.example/r/{id}"), "expires_at": "2026-05-23T08:31:00Z" });
    assert_eq!(made, expected);
    assert_eq!(&id[16..17], "4", "{id} is a UUID of version 4: it cannot be guessed");
}

#[tokio::test]
async fn a_fresh_run_is_pending_and_everything_that_has_not_happened_is_null() {
    let world = World::new().await;
    let template = world.template().await;
    let id = world.run(json!({ "template_id": template })).await;
    let expected = json!({
        "run_id": id, "status": "pending", "template_id": template, "template_v": 1, "template_name": "Check", "asset": null, "executor_ref": null,
        "link": format!("https://checklists.example/r/{id}"), "expires_at": null, "assigned_to": null, "identity": null,
        "progress": { "total": 1, "answered": 0, "skipped": 0 }, "answers": {}, "score": null, "cancel": null,
        "created_at": "2026-05-22T08:31:00Z", "created_by": world.home.owner.user_id, "opened_at": null, "started_at": null,
        "completed_at": null, "cancelled_at": null, "expired_at": null, "duration_seconds": null,
    });
    assert_eq!(get(&world, &id).await, expected);
}

#[tokio::test]
async fn an_id_that_never_was_and_one_that_was_deleted_get_the_same_answer() {
    let world = World::new().await;
    let deleted = world.run(json!({ "template_id": world.template().await })).await;
    world.call("delete_run", json!({ "run_id": deleted })).await.done();
    for tool in ["get_run", "delete_run"] {
        let never = world.call(tool, json!({ "run_id": "r-00000000-0000-4000-8000-000000000000" })).await;
        assert_eq!(never.code(), "run_not_found", "{tool}");
        assert_eq!(world.call(tool, json!({ "run_id": deleted })).await, never, "{tool}");
    }
}

#[tokio::test]
async fn a_run_of_an_asset_that_is_not_there_is_refused_and_counts_nothing() {
    let world = World::new().await;
    let template = world.template().await;
    let plan = PlanChange { runs_per_month: Some(1), ..PlanChange::default() };
    world.desk.change_plan(&world.home.organisation.id, plan).await.unwrap();
    let refused = world.call("create_run", json!({ "template_id": template, "asset_id": "a-00000000-0000-7000-8000-000000000000" })).await;
    assert_eq!(refused.code(), "asset_not_found");
    world.run(json!({ "template_id": template })).await;
}

#[tokio::test]
async fn a_template_with_nothing_to_show_cannot_be_dispatched() {
    let world = World::new().await;
    let empty = world.call("create_template", json!({ "name": "Empty" })).await.done();
    let hollow = world.call("create_template", json!({ "name": "Hollow", "sections": [{ "title": "Nothing", "steps": [] }] })).await.done();
    for template in [&empty, &hollow] {
        assert_eq!(world.call("create_run", json!({ "template_id": template["id"] })).await.code(), "template_empty");
    }
    let steps = json!([{ "steps": [{ "type": "instruction", "label": "Read this" }] }]);
    world.call("update_template", json!({ "template_id": empty["id"], "sections": steps })).await.done();
    world.run(json!({ "template_id": empty["id"] })).await;
}

#[tokio::test]
async fn a_link_lasts_from_a_quarter_of_an_hour_to_a_year() {
    let world = World::new().await;
    let template = world.template().await;
    for (hours, end) in [
        (json!(0.25), "2026-05-22T08:46:00Z"),
        (json!(8760), "2027-05-22T08:31:00Z"),
        (json!("1.5"), "2026-05-22T10:01:00Z"),
        (json!(0.333_333), "2026-05-22T08:51:00Z"),
    ] {
        let made = world.call("create_run", json!({ "template_id": template, "expires_in_hours": hours })).await.done();
        assert_eq!(made["expires_at"], end, "{hours}");
        assert_eq!(get(&world, made["run_id"].as_str().unwrap()).await["expires_at"], end);
    }
    for (hours, rule) in
        [(json!(0), "minimum"), (json!(-1), "minimum"), (json!(0.249), "minimum"), (json!(8760.1), "maximum"), (json!("soon"), "type")]
    {
        let refused = world.call("create_run", json!({ "template_id": template, "expires_in_hours": hours })).await;
        assert_eq!(refused.violations(), [("/expires_in_hours".to_owned(), rule.to_owned())], "{hours}");
    }
}

#[tokio::test]
async fn without_a_word_of_the_caller_the_organisations_setting_ends_the_link() {
    let world = World::new().await;
    let template = world.template().await;
    let setting = |hours| PlanChange { default_expiry_hours: Some(hours), ..PlanChange::default() };
    world.desk.change_plan(&world.home.organisation.id, setting(Some(72.0))).await.unwrap();
    let made = world.call("create_run", json!({ "template_id": template })).await.done();
    assert_eq!(made["expires_at"], "2026-05-25T08:31:00Z");
    let made = world.call("create_run", json!({ "template_id": template, "expires_in_hours": 1 })).await.done();
    assert_eq!(made["expires_at"], "2026-05-22T09:31:00Z");
    world.desk.change_plan(&world.home.organisation.id, setting(None)).await.unwrap();
    let made = world.call("create_run", json!({ "template_id": template })).await.done();
    assert_eq!(made["expires_at"], Value::Null);
}

#[tokio::test]
async fn a_reference_of_the_caller_is_one_line_told_back_as_it_was_given() {
    let world = World::new().await;
    let template = world.template().await;
    for reference in ["x", "Büro 7 / 🌊 #1", &"é".repeat(128)] {
        let id = world.run(json!({ "template_id": template, "executor_ref": reference })).await;
        assert_eq!(get(&world, &id).await["executor_ref"], reference);
    }
    for (reference, rule) in
        [("", "minLength"), (&"é".repeat(129) as &str, "maxLength"), ("a\nb", "pattern"), ("a\u{0}", "pattern"), ("\u{7f}", "pattern")]
    {
        let refused = world.call("create_run", json!({ "template_id": template, "executor_ref": reference })).await;
        assert!(refused.violations().contains(&("/executor_ref".to_owned(), rule.to_owned())), "{reference:?} {refused:?}");
    }
    // One booking may have two runs: the reference merges nothing.
    let first = world.run(json!({ "template_id": template, "executor_ref": "same" })).await;
    let second = world.run(json!({ "template_id": template, "executor_ref": "same" })).await;
    assert_ne!(first, second);
}

#[tokio::test]
async fn a_misspelt_argument_is_named_with_the_valid_ones_and_no_run_is_made() {
    let world = World::new().await;
    let template = world.template().await;
    let refused = world.call("create_run", json!({ "template_id": template, "asset": "a-1" })).await;
    assert_eq!(refused.violations(), [("/asset".to_owned(), "additionalProperties".to_owned())]);
    let text = format!("{refused:?}");
    for valid in ["template_id", "asset_id", "executor_ref", "expires_in_hours"] {
        assert!(text.contains(valid), "{text}");
    }
    assert_eq!(world.call("list_runs", json!({})).await.done()["data"], json!([]));
}

#[tokio::test]
async fn a_run_keeps_the_template_and_the_asset_as_they_were() {
    let world = World::new().await;
    let template = world.template().await;
    let asset = world.call("create_asset", json!({ "name": "Van", "fields": { "plate": "AB 1", "seats": 3.0 } })).await.done();
    let id = world.run(json!({ "template_id": template, "asset_id": asset["id"] })).await;
    let before = get(&world, &id).await;
    assert_eq!(before["asset"], json!({ "id": asset["id"], "name": "Van", "fields": { "plate": "AB 1", "seats": 3.0 } }));

    let steps = json!([{ "steps": [{ "id": "s-two", "type": "text", "label": "Another?" }] }]);
    world.call("update_template", json!({ "template_id": template, "name": "New", "sections": steps })).await.done();
    world.call("update_asset", json!({ "asset_id": asset["id"], "name": "Bus", "fields": { "plate": null } })).await.done();
    assert_eq!(get(&world, &id).await, before);
    world.answer_step(&id, "s-one", true).await;
    world.call("delete_template", json!({ "template_id": template })).await.done();
    world.change(&id, crate::world::handed_in()).await;
    world.call("delete_asset", json!({ "asset_id": asset["id"] })).await.done();

    let after = get(&world, &id).await;
    assert_eq!(after["status"], "completed");
    for kept in ["asset", "template_id", "template_v", "template_name"] {
        assert_eq!(after[kept], before[kept], "{kept}");
    }
    assert_eq!(after["answers"]["s-one"]["label"], "Is it clean?");
    assert_eq!(world.call("create_run", json!({ "template_id": template })).await.code(), "template_not_found");
}

#[tokio::test]
async fn the_plan_limits_the_runs_of_a_calendar_month() {
    let world = World::new().await;
    let template = world.template().await;
    let plan = |runs| PlanChange { runs_per_month: Some(runs), ..PlanChange::default() };
    let dispatch = || world.call("create_run", json!({ "template_id": template }));
    world.desk.change_plan(&world.home.organisation.id, plan(2)).await.unwrap();
    let first = dispatch().await.done();
    dispatch().await.done();
    // Deleting gives none back.
    world.call("delete_run", json!({ "run_id": first["run_id"] })).await.done();
    let refused = dispatch().await.refusal();
    let details = json!({ "limit": 2, "used": 2, "resets_at": "2026-06-01T00:00:00Z" });
    assert_eq!((&refused["error"], &refused["details"]), (&json!("quota_exceeded"), &details));
    world.clock.advance(SignedDuration::from_hours(10 * 24 - 9));
    assert_eq!(world.now().to_string(), "2026-05-31T23:31:00Z");
    assert_eq!(dispatch().await.code(), "quota_exceeded");
    world.clock.advance(SignedDuration::from_mins(29));
    dispatch().await.done();
    // A plan without runs, and one that shrank below what is used.
    for (runs, used) in [(0, 1), (1, 1)] {
        world.desk.change_plan(&world.home.organisation.id, plan(runs)).await.unwrap();
        let details = json!({ "limit": runs, "used": used, "resets_at": "2026-07-01T00:00:00Z" });
        assert_eq!(dispatch().await.refusal()["details"], details);
    }
}

/// The counter, the run, its list entry and its link are one transaction: of two dispatches into the last place of the
/// month, one is refused and leaves nothing.
#[tokio::test]
async fn two_dispatches_into_the_last_place_of_the_month_make_one_run() {
    let world = World::new().await;
    let template = world.template().await;
    let plan = PlanChange { runs_per_month: Some(1), ..PlanChange::default() };
    world.desk.change_plan(&world.home.organisation.id, plan).await.unwrap();
    let (arrived, release) = world.faults.hold("TransactWriteItems");
    let slow = world.call("create_run", json!({ "template_id": template }));
    let quick = async {
        arrived.await.unwrap();
        let quick = world.call("create_run", json!({ "template_id": template })).await;
        release.send(()).unwrap();
        quick
    };
    let (slow, quick) = futures_util::join!(slow, quick);
    assert_eq!(slow.code(), "quota_exceeded");
    let listed = world.call("list_runs", json!({})).await.done();
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    assert_eq!(listed["data"][0]["run_id"], quick.done()["run_id"]);
}
