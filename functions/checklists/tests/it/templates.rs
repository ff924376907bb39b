//! Templates: written whole, checked whole, kept in versions.

use std::pin::pin;

use checklists::operator::PlanChange;
use checklists_rules::sample;
use futures_util::future::{Either, select};
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::world::{Said, World};

fn yes_or_no(label: &str) -> Value {
    json!({ "type": "boolean", "label": label })
}

async fn create(world: &World, sections: Value) -> Value {
    world.call("create_template", json!({ "name": "Check", "sections": sections })).await.done()
}

async fn get(world: &World, id: &Value) -> Value {
    world.call("get_template", json!({ "template_id": id })).await.done()
}

/// Pointer and rule of each fault of a template.
fn faults(said: Said) -> Vec<(String, String)> {
    assert_eq!(said.code(), "invalid_template");
    let refusal = said.refusal();
    let errors = refusal["details"]["errors"].as_array().unwrap();
    let told = |error: &Value, member: &str| error[member].as_str().unwrap().to_owned();
    assert!(errors.iter().all(|error| !told(error, "message").is_empty()), "{refusal}");
    errors.iter().map(|error| (told(error, "pointer"), told(error, "rule"))).collect()
}

#[tokio::test]
async fn a_template_is_created_read_listed_and_deleted() {
    let world = World::new().await;
    let made = world
        .call(
            "create_template",
            json!({
                "name": "Turnover", "description": "After each guest", "tags": ["flats"], "settings": { "est_minutes": 12.5 },
                "execution": { "scope": "any" }, "sections": [{ "title": "Kitchen", "steps": [yes_or_no("Clean?")] }],
            }),
        )
        .await
        .done();
    let id = &made["id"];
    assert_eq!((&made["v"], &made["org_id"]), (&json!(1), &json!(world.home.organisation.id)));
    assert_eq!((&made["created_at"], &made["updated_at"]), (&json!("2026-05-22T08:31:00Z"), &json!("2026-05-22T08:31:00Z")));
    assert_eq!(get(&world, id).await, made);
    let listed = world.call("list_templates", json!({})).await.done();
    let expected = json!({
        "id": id, "v": 1, "name": "Turnover", "description": "After each guest", "tags": ["flats"], "step_count": 1,
        "est_minutes": 12.5, "updated_at": "2026-05-22T08:31:00Z",
    });
    assert_eq!(listed, json!({ "data": [expected] }));
    assert_eq!(world.call("delete_template", json!({ "template_id": id })).await.done(), json!({ "deleted": true, "template_id": id }));
    assert_eq!(world.call("list_templates", json!({})).await.done(), json!({ "data": [] }));
}

#[tokio::test]
async fn an_id_that_never_was_and_one_that_was_deleted_get_the_same_answer() {
    let world = World::new().await;
    let deleted = world.template().await;
    world.call("delete_template", json!({ "template_id": deleted })).await.done();
    for tool in ["get_template", "update_template", "delete_template", "create_run"] {
        let arguments =
            |id: &str| if tool == "update_template" { json!({ "template_id": id, "name": "New" }) } else { json!({ "template_id": id }) };
        let never = world.call(tool, arguments("t-00000000-0000-7000-8000-000000000000")).await;
        assert_eq!(never.code(), "template_not_found", "{tool}");
        assert_eq!(world.call(tool, arguments(&deleted)).await, never, "{tool}");
    }
}

#[tokio::test]
async fn templates_are_listed_newest_first_with_nulls_for_what_they_lack() {
    let world = World::new().await;
    for name in ["First", "Second", "Third"] {
        world.call("create_template", json!({ "name": name })).await.done();
        world.clock.advance(SignedDuration::from_millis(1));
    }
    let listed = world.call("list_templates", json!({})).await.done();
    let names: Vec<&Value> = listed["data"].as_array().unwrap().iter().map(|template| &template["name"]).collect();
    assert_eq!(names, ["Third", "Second", "First"]);
    let bare = &listed["data"][0];
    assert_eq!(
        (&bare["description"], &bare["tags"], &bare["est_minutes"], &bare["step_count"]),
        (&Value::Null, &json!([]), &Value::Null, &json!(0))
    );
}

#[tokio::test]
async fn ids_that_were_left_out_are_made_and_given_ones_are_kept() {
    let world = World::new().await;
    let choice =
        json!({ "type": "choice", "label": "Which?", "config": { "options": [{ "id": "o-one", "label": "One" }, { "label": "Two" }] } });
    let made =
        create(&world, json!([{ "id": "g-mine", "steps": [choice, { "id": "s-mine", "type": "photo", "label": "Show it" }] }])).await;
    let section = &made["sections"][0];
    assert_eq!((&section["id"], &section["steps"][1]["id"]), (&json!("g-mine"), &json!("s-mine")));
    let step = &section["steps"][0];
    let options = &step["config"]["options"];
    assert_eq!(options[0]["id"], "o-one");
    for (id, prefix) in [(&step["id"], "s-"), (&options[1]["id"], "o-")] {
        assert!(id.as_str().unwrap().strip_prefix(prefix).is_some_and(|code| code.len() == 6), "{id}");
    }
}

#[tokio::test]
async fn every_type_of_step_is_kept_as_it_was_written() {
    let world = World::new().await;
    let Value::Object(mut document) = sample::every_step_type() else { panic!("the sample is an object") };
    document.retain(|member, _| ["name", "description", "tags", "settings", "sections", "execution"].contains(&member.as_str()));
    let made = world.call("create_template", Value::Object(document)).await.done();
    assert_eq!(get(&world, &made["id"]).await, made);
    let steps = made["sections"].as_array().unwrap().iter().flat_map(|section| section["steps"].as_array().unwrap());
    let types: std::collections::BTreeSet<&str> = steps.map(|step| step["type"].as_str().unwrap()).collect();
    assert_eq!(types.len(), 11, "{types:?}");
}

#[tokio::test]
async fn all_faults_of_a_template_are_told_at_once_each_with_its_place_and_rule() {
    let world = World::new().await;
    let sections = json!([{ "steps": [
        { "id": "s-one", "type": "boolean", "label": "" },
        { "id": "s-one", "type": "number", "label": "How many?", "config": { "min": 5, "max": 1 } },
        { "type": "choice", "label": "Which?" },
        { "type": "guess", "label": "What?" },
    ] }, { "steps": [
        { "id": "s-two", "type": "text", "label": "Why?", "condition": { "when": { "step": "s-two", "op": "answered" } } },
    ] }]);
    let refused = world
        .call(
            "create_template",
            json!({ "name": "Check", "settings": { "timezone": "Mars/Base", "layout": "round" }, "sections": sections, "execution": { "scope": "moon" } }),
        )
        .await;
    let told = faults(refused);
    let expected = [
        ("/settings/timezone", "V15"),
        ("/settings/layout", "enum"),
        ("/execution/scope", "enum"),
        ("/sections/0/steps/0/label", "minLength"),
        ("/sections/0/steps/1/id", "V1"),
        ("/sections/0/steps/1/config", "V6"),
        ("/sections/0/steps/2", "required"),
        ("/sections/0/steps/3/type", "enum"),
        ("/sections/1/steps/0/condition/when/step", "V2"),
    ];
    for (pointer, rule) in expected {
        assert!(told.contains(&(pointer.to_owned(), rule.to_owned())), "{pointer} {rule} is not in {told:?}");
    }
    assert_eq!(told.len(), expected.len(), "{told:?}");
    assert_eq!(world.call("list_templates", json!({})).await.done(), json!({ "data": [] }));
}

#[tokio::test]
async fn what_the_schema_can_judge_is_a_fault_of_the_arguments() {
    let world = World::new().await;
    for (arguments, place, rule) in [
        (json!({}), "/name", "required"),
        (json!({ "name": "" }), "/name", "minLength"),
        (json!({ "name": "n".repeat(121) }), "/name", "maxLength"),
        (json!({ "name": "n", "description": 7 }), "/description", "type"),
        (json!({ "name": "n", "tags": vec!["t"; 21] }), "/tags", "maxItems"),
        (json!({ "name": "n", "tags": [""] }), "/tags/0", "minLength"),
        (json!({ "name": "n", "sections": "x" }), "/sections", "type"),
        (json!({ "name": "n", "sections": [1] }), "/sections/0", "type"),
        (json!({ "name": "n", "settings": [] }), "/settings", "type"),
        (json!({ "name": "n", "steps": [] }), "/steps", "additionalProperties"),
    ] {
        let refused = world.call("create_template", arguments).await;
        assert_eq!(refused.violations()[0], (place.to_owned(), rule.to_owned()));
    }
    // Its length is a rule of TDL: grammars of local models refuse a schema that counts to 2,000.
    let too_long = world.call("create_template", json!({ "name": "n", "description": "d".repeat(2001) })).await;
    assert_eq!(too_long.refusal()["error"], "invalid_template");
    let template = world.template().await;
    for member in ["name", "description", "tags", "settings", "sections", "execution"] {
        let refused = world.call("update_template", json!({ "template_id": template, member: null })).await;
        assert_eq!(refused.violations(), [(format!("/{member}"), "type".to_owned())]);
    }
    assert_eq!(get(&world, &json!(template)).await["v"], 1);
}

#[tokio::test]
async fn an_update_replaces_what_it_names_whole_and_keeps_the_rest() {
    let world = World::new().await;
    let made = world
        .call(
            "create_template",
            json!({ "name": "Check", "description": "Old", "tags": ["a", "b"], "settings": { "voice": true, "allow_skip": true } }),
        )
        .await
        .done();
    world.clock.advance(SignedDuration::from_mins(1));
    let update = json!({ "template_id": made["id"], "tags": ["c"], "settings": { "voice": false } });
    let updated = world.call("update_template", update).await.done();
    let mut expected = made.clone();
    for (member, value) in
        [("v", json!(2)), ("tags", json!(["c"])), ("settings", json!({ "voice": false })), ("updated_at", json!("2026-05-22T08:32:00Z"))]
    {
        expected[member] = value;
    }
    assert_eq!(updated, expected);
    assert_eq!(get(&world, &made["id"]).await, expected);
}

#[tokio::test]
async fn an_update_to_what_is_there_already_keeps_version_and_time() {
    let world = World::new().await;
    let made = create(&world, json!([{ "steps": [yes_or_no("Clean?")] }])).await;
    world.clock.advance(SignedDuration::from_mins(1));
    let same = json!({ "template_id": made["id"], "name": "Check", "sections": made["sections"] });
    assert_eq!(world.call("update_template", same).await.done(), made);
}

/// Ids that are left out are made anew only where something else changes, so that a repeated call is no second change.
#[tokio::test]
async fn an_update_without_ids_that_is_sent_twice_is_one_change() {
    let world = World::new().await;
    let made = create(&world, json!([{ "id": "g-old", "steps": [yes_or_no("Clean?")] }])).await;
    let options = json!([{ "label": "One" }, { "id": "o-two", "label": "Two" }, { "label": "Three" }]);
    let steps = json!([
        { "type": "choice", "label": "Which?", "config": { "options": options } },
        { "id": "s-mid", "type": "boolean", "label": "Clean?" },
        { "type": "text", "label": "Why?" },
    ]);
    let update = json!({ "template_id": made["id"], "sections": [{ "steps": [] }, { "id": "g-old", "steps": steps }] });
    let once = world.call("update_template", update.clone()).await.done();
    assert_eq!(once["v"], 2);
    assert_eq!(world.call("update_template", update.clone()).await.done(), once);
    // Another text is another template, and its steps are new ones.
    let mut other = update;
    other["sections"][1]["steps"][2]["label"] = json!("Why not?");
    let changed = world.call("update_template", other).await.done();
    assert_eq!(changed["v"], 3);
    assert_ne!(changed["sections"][1]["steps"][2]["id"], once["sections"][1]["steps"][2]["id"]);
}

#[tokio::test]
async fn an_update_that_changes_nothing_or_breaks_a_rule_leaves_the_template_as_it_was() {
    let world = World::new().await;
    let made = create(&world, json!([{ "steps": [{ "id": "s-one", "type": "boolean", "label": "Clean?" }] }])).await;
    let id = &made["id"];
    assert_eq!(world.call("update_template", json!({ "template_id": id })).await.code(), "invalid_argument");
    let retyped = json!({ "template_id": id, "sections": [{ "steps": [{ "id": "s-one", "type": "text", "label": "Clean?" }] }] });
    assert_eq!(faults(world.call("update_template", retyped).await), [("/sections/0/steps/0/type".to_owned(), "V14".to_owned())]);
    let unknown = world.call("update_template", json!({ "template_id": id, "title": "New" })).await;
    assert_eq!(unknown.violations(), [("/title".to_owned(), "additionalProperties".to_owned())]);
    assert_eq!(get(&world, id).await, made);
}

/// Sections of `count` steps whose labels and hints are random letters: nothing that packs well.
fn bulky(steps: usize, hint: usize) -> Value {
    let ids = onepost_core::id::Ids::default();
    let section = |from: usize| {
        let steps: Vec<Value> = (from..(from + 100).min(steps))
            .map(|step| json!({ "id": format!("s-n{step:04}"), "type": "boolean", "label": "l", "hint": ids.base62(hint) }))
            .collect();
        json!({ "id": format!("g-n{from:04}"), "steps": steps })
    };
    Value::Array((0..steps).step_by(100).map(section).collect())
}

#[tokio::test]
async fn a_large_template_comes_back_whole_and_one_beyond_256_kib_is_refused() {
    let world = World::new().await;
    let mut sections = bulky(300, 700);
    let size = |sections: &Value| json!({ "name": "Check", "sections": sections }).to_string().len();
    let room = 256 * 1024 - size(&sections);
    // Fill up to the byte with hints of up to 1,000 characters.
    let mut left = room;
    for section in 0..3 {
        for step in 0..100 {
            let hint = &mut sections[section]["steps"][step]["hint"];
            let more = left.min(1000 - 700);
            *hint = json!(format!("{}{}", hint.as_str().unwrap(), "x".repeat(more)));
            left -= more;
        }
    }
    assert_eq!((left, size(&sections)), (0, 256 * 1024));
    let made = create(&world, sections.clone()).await;
    assert_eq!(made["sections"], sections);
    assert_eq!(get(&world, &made["id"]).await, made);
    let grown = world.call("update_template", json!({ "template_id": made["id"], "name": "Checks" })).await;
    assert_eq!(faults(grown), [(String::new(), "V7".to_owned())]);
    assert_eq!(get(&world, &made["id"]).await["v"], 1);
    // A body of incompressible text in more bytes than characters is as large as an item gets.
    let mut dense = sections;
    dense[0]["steps"][0]["hint"] = json!("x");
    let listed = world.call("update_template", json!({ "template_id": made["id"], "sections": dense })).await.done();
    assert_eq!((&listed["v"], &listed["sections"]), (&json!(2), &dense));
}

#[tokio::test]
async fn more_than_300_steps_are_refused() {
    let world = World::new().await;
    let refused = world.call("create_template", json!({ "name": "Check", "sections": bulky(301, 1) })).await;
    assert!(faults(refused).iter().any(|(_, rule)| rule == "V7"));
}

#[tokio::test]
async fn the_plan_limits_templates_and_a_deletion_makes_room() {
    let world = World::new().await;
    let change = PlanChange { templates: Some(1), ..PlanChange::default() };
    world.desk.change_plan(&world.home.organisation.id, change).await.unwrap();
    let template = world.template().await;
    let refused = world.call("create_template", json!({ "name": "Two" })).await.refusal();
    assert_eq!((&refused["error"], &refused["details"]), (&json!("quota_exceeded"), &json!({ "limit": 1, "used": 1 })));
    world.call("delete_template", json!({ "template_id": template })).await.done();
    world.template().await;
}

#[tokio::test]
async fn two_updates_at_the_same_moment_are_both_kept() {
    let world = World::new().await;
    let id = world.template().await;
    let (arrived, release) = world.faults.hold("TransactWriteItems");
    let first = world.call("update_template", json!({ "template_id": id, "description": "first" }));
    let second = async {
        arrived.await.unwrap();
        let second = world.call("update_template", json!({ "template_id": id, "tags": ["second"] })).await;
        release.send(()).unwrap();
        second
    };
    let (first, second) = futures_util::join!(first, second);
    assert_eq!(second.done()["v"], 2);
    let first = first.done();
    assert_eq!((&first["v"], &first["description"], &first["tags"]), (&json!(3), &json!("first"), &json!(["second"])));
}

#[tokio::test]
async fn an_update_of_a_template_that_is_deleted_meanwhile_finds_it_gone() {
    let world = World::new().await;
    let id = world.template().await;
    let (arrived, release) = world.faults.hold("TransactWriteItems");
    let update = world.call("update_template", json!({ "template_id": id, "name": "New" }));
    let deletion = async {
        arrived.await.unwrap();
        world.call("delete_template", json!({ "template_id": id })).await.done();
        release.send(()).unwrap();
    };
    let (update, ()) = futures_util::join!(update, deletion);
    assert_eq!(update.code(), "template_not_found");
    assert_eq!(world.call("list_templates", json!({})).await.done(), json!({ "data": [] }));
}

#[tokio::test]
async fn an_update_that_others_keep_overtaking_is_asked_to_try_again() {
    let world = World::new().await;
    let id = world.template().await;
    let (mut arrived, mut release) = world.faults.hold("TransactWriteItems");
    let slow = world.call("update_template", json!({ "template_id": id, "description": "slow" }));
    let quick = async {
        for round in 0.. {
            (&mut arrived).await.unwrap();
            world.call("update_template", json!({ "template_id": id, "name": format!("Round {round}") })).await.done();
            let (next_arrived, next_release) = world.faults.hold("TransactWriteItems");
            release.send(()).unwrap();
            (arrived, release) = (next_arrived, next_release);
        }
    };
    let Either::Left((slow, _)) = select(pin!(slow), pin!(quick)).await else { panic!("there is always another update") };
    assert_eq!((slow.code(), &slow.clone().refusal()["retry_after"]), ("busy", &json!(1)));
    let left = get(&world, &json!(id)).await;
    assert!(left["name"].as_str().unwrap().starts_with("Round") && left.get("description").is_none(), "{left}");
}

#[tokio::test]
async fn members_that_begin_with_x_are_the_authors_own_and_others_are_refused() {
    let world = World::new().await;
    let made =
        create(&world, json!([{ "x_source": "import", "steps": [{ "type": "boolean", "label": "l", "x_note": { "any": [1] } }] }])).await;
    assert_eq!((&made["sections"][0]["x_source"], &made["sections"][0]["steps"][0]["x_note"]), (&json!("import"), &json!({ "any": [1] })));
    let refused = world.call("create_template", json!({ "name": "n", "sections": [{ "mine": 1, "steps": [] }] })).await;
    assert_eq!(faults(refused), [("/sections/0/mine".to_owned(), "additionalProperties".to_owned())]);
}
