//! The list of tools: names, arguments, schemas, hints; and that each tool keeps what they promise.

use std::collections::BTreeMap;

use catalog_lint::{Budget, Id, Policy};
use checklists::members::Role;
use checklists_rules::Command;
use checklists_rules::run::Identity;
use onepost_cloud::table::faults::Fault;
use serde_json::{Value, json};

use crate::world::{World, handed_in};

/// Name, required and optional arguments, in the order of the product's documentation.
const TOOLS: [(&str, &[&str], &[&str]); 17] = [
    ("list_assets", &[], &["limit", "cursor"]),
    ("get_asset", &["asset_id"], &[]),
    ("create_asset", &["name"], &["fields"]),
    ("update_asset", &["asset_id"], &["name", "fields"]),
    ("delete_asset", &["asset_id"], &[]),
    ("list_templates", &[], &[]),
    ("get_template", &["template_id"], &[]),
    ("create_template", &["name"], &["description", "tags", "settings", "sections", "execution"]),
    ("update_template", &["template_id"], &["name", "description", "tags", "settings", "sections", "execution"]),
    ("delete_template", &["template_id"], &[]),
    ("create_run", &["template_id"], &["asset_id", "executor_ref", "expires_in_hours"]),
    ("get_run", &["run_id"], &[]),
    ("list_runs", &[], &["status", "limit", "offset"]),
    ("delete_run", &["run_id"], &[]),
    ("list_members", &[], &[]),
    ("invite_member", &["email"], &["role"]),
    ("remove_member", &["user_id"], &[]),
];

const POLICY: Policy = Policy {
    server: "checklists",
    ids: &[
        Id { name: "asset_id", lives: "The id lives until delete_asset" },
        Id { name: "template_id", lives: "The id lives until delete_template" },
        Id { name: "run_id", lives: "The run stays until delete_run" },
        Id { name: "user_id", lives: "A user_id lives until remove_member" },
        Id { name: "invitation_id", lives: "the link works once and for 7 days" },
        Id { name: "org_id", lives: "The organisation it belongs to; its id never changes" },
        Id { name: "cursor", lives: "A cursor is good for 24 hours" },
    ],
    open_world: &["invite_member"],
    says: &[
        ("create_asset", "counts against the plan's assets"),
        ("create_template", "counts against the plan's templates"),
        ("create_run", "counts against the plan's runs per month"),
        ("invite_member", "counts against the plan's members"),
        ("invite_member", "Needs the person who made this API key to be an owner or admin"),
        ("remove_member", "Needs the person who made this API key to be an owner or admin"),
    ],
    budget: Budget { tools: 17, tokens: 3_500, largest: 750, list_bytes: 30_500, description: 450 },
    ..Policy::STRICT
};

/// Each tool as it is advertised in this world.
async fn listed(world: &World) -> Vec<Value> {
    let request = http::Request::post("/mcp")
        .header("authorization", format!("Bearer {}", world.home.key))
        .header("content-type", "application/json")
        .header("mcp-protocol-version", "2025-11-25");
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let response = world.answer(request.body(body.into()).unwrap()).await;
    let answer: Value = serde_json::from_slice(response.body()).unwrap();
    answer["result"]["tools"].as_array().unwrap().clone()
}

async fn tools() -> Vec<Value> {
    listed(&World::new().await).await
}

fn name(tool: &Value) -> &str {
    tool["name"].as_str().unwrap()
}

#[tokio::test]
async fn there_are_seventeen_tools_in_the_documented_order_with_the_documented_arguments() {
    let tools = tools().await;
    let told: Vec<(&str, Vec<&str>, Vec<&str>)> = tools
        .iter()
        .map(|tool| {
            let schema = &tool["inputSchema"];
            let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().map(|name| name.as_str().unwrap()).collect();
            let all = schema["properties"].as_object().unwrap().keys().map(String::as_str);
            let optional = all.filter(|name| !required.contains(name)).collect();
            (name(tool), required, optional)
        })
        .collect();
    assert_eq!(told, TOOLS.map(|(name, required, optional)| (name, required.to_vec(), optional.to_vec())));
}

#[tokio::test]
async fn each_tool_reads_as_it_is_meant_to() {
    for tool in tools().await {
        insta::with_settings!({ snapshot_suffix => name(&tool).to_owned(), omit_expression => true }, {
            insta::assert_json_snapshot!("tool", tool);
        });
    }
}

/// D85, D87, D89, D91, D93: what clients and models refuse, what a description owes, what the list may cost.
#[tokio::test]
async fn the_list_keeps_to_the_rules_of_every_catalog() {
    catalog_lint::check(&tools().await, &POLICY);
}

/// A world with one of everything, and a call of every tool that succeeds in it. Creating tools stand first, deleting
/// ones last.
async fn calls(world: &World) -> Vec<(&'static str, Value)> {
    let (template, other_template) = (world.template().await, world.template().await);
    let (asset, other_asset) = (world.asset("Van").await, world.asset("Bus").await);
    let run = world.run(json!({ "template_id": template, "asset_id": asset })).await;
    let (member, _) = world.colleague("mia@home.example", Role::Member).await;
    let sections = json!([{ "steps": [{ "type": "text", "label": "Why?" }] }]);
    vec![
        ("create_asset", json!({ "name": "Bike", "fields": { "gears": 7, "bell": true, "note": "x" } })),
        (
            "create_template",
            json!({ "name": "Two", "description": "d", "tags": ["t"], "settings": { "est_minutes": 3 }, "sections": sections }),
        ),
        ("create_run", json!({ "template_id": template, "expires_in_hours": 1 })),
        ("invite_member", json!({ "email": "new@home.example", "role": "admin" })),
        ("list_assets", json!({ "limit": 1 })),
        ("get_asset", json!({ "asset_id": asset })),
        ("list_templates", json!({})),
        ("get_template", json!({ "template_id": template })),
        ("get_run", json!({ "run_id": run })),
        ("list_runs", json!({})),
        ("list_members", json!({})),
        ("update_asset", json!({ "asset_id": asset, "name": "Car", "fields": { "plate": "AB 1", "ghost": null } })),
        ("update_template", json!({ "template_id": template, "description": "d", "sections": sections })),
        ("delete_asset", json!({ "asset_id": other_asset })),
        ("delete_template", json!({ "template_id": other_template })),
        ("delete_run", json!({ "run_id": run })),
        ("remove_member", json!({ "user_id": member.user_id })),
    ]
}

/// Everything that is stored, without the marks of single writes.
fn stored(world: &World) -> Vec<String> {
    let told = |mut row: crate::world::Row| {
        row.remove("w");
        format!("{:?}", row.into_iter().collect::<BTreeMap<_, _>>())
    };
    let mut rows: Vec<String> = world.rows().into_iter().map(told).collect();
    rows.sort();
    rows
}

/// D105. A second call may answer that the thing is gone; what is stored is what counts.
#[tokio::test]
async fn a_call_that_says_it_is_idempotent_leaves_the_same_state_when_it_is_repeated() {
    let world = World::new().await;
    let tools = listed(&world).await;
    let calls = calls(&world).await;
    assert_eq!(calls.len(), tools.len());
    for (tool, arguments) in calls {
        world.call(tool, arguments.clone()).await.done();
        let once = stored(&world);
        world.clock.advance(jiff::SignedDuration::from_secs(1));
        let again = world.call(tool, arguments).await;
        let hint = &tools.iter().find(|advertised| name(advertised) == tool).unwrap()["annotations"]["idempotentHint"];
        if tool == "invite_member" {
            // Not promised, and yet no second invitation stands beside the first.
            assert_eq!((hint, again.code()), (&json!(false), "invitation_pending"));
        } else {
            assert_eq!(hint, &json!(stored(&world) == once), "{tool}");
        }
    }
}

fn faults(tool: &Value, result: &Value) -> Vec<String> {
    let validator = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
    validator.iter_errors(result).map(|fault| format!("{fault} at {}", fault.instance_path())).collect()
}

/// D81
#[tokio::test]
async fn every_result_satisfies_the_output_schema_of_its_tool() {
    let world = World::new().await;
    let tools = listed(&world).await;
    let check = |tool: &str, result: &Value| {
        let advertised = tools.iter().find(|advertised| name(advertised) == tool).unwrap();
        assert_eq!(faults(advertised, result), Vec::<String>::new(), "{tool}: {result}");
    };
    for (list, member) in [("list_assets", "data"), ("list_templates", "data"), ("list_runs", "data"), ("list_members", "invitations")] {
        let empty = world.call(list, json!({})).await.done();
        assert_eq!(empty[member], json!([]), "{list}");
        check(list, &empty);
    }
    for (tool, arguments) in calls(&world).await {
        check(tool, &world.call(tool, arguments).await.done());
    }
    // Lists with something in them, and a run in every state, from one of which nothing is known to one scored.
    let template = world.template().await;
    for commands in [
        vec![],
        vec![Command::Open { identity: Identity::member(&world.home.owner.user_id) }],
        vec![crate::world::answered("s-one", true)],
        vec![crate::world::answered("s-one", true), handed_in()],
        vec![Command::Exit { reason: "No key".into() }],
    ] {
        let run = world.run(json!({ "template_id": template, "executor_ref": "x" })).await;
        for command in commands {
            world.change(&run, command).await;
        }
        check("get_run", &world.call("get_run", json!({ "run_id": run })).await.done());
    }
    for list in ["list_assets", "list_templates", "list_runs", "list_members"] {
        check(list, &world.call(list, json!({})).await.done());
    }
}

/// D81. The reader of answers in these tests insists on it for every refusal; here each tool gives one.
#[tokio::test]
async fn every_tool_can_refuse_and_a_refusal_is_text_alone() {
    let world = World::new().await;
    let id = |prefix: &str| format!("{prefix}-00000000-0000-4000-8000-000000000000");
    let asset = json!({ "asset_id": id("a"), "name": "x" });
    let refusals = [
        ("list_assets", json!({ "cursor": "zzz" }), "invalid_cursor"),
        ("get_asset", json!({ "asset_id": id("a") }), "asset_not_found"),
        ("create_asset", json!({ "name": "x", "fields": { "": 1 } }), "invalid_argument"),
        ("update_asset", asset, "asset_not_found"),
        ("delete_asset", json!({ "asset_id": id("a") }), "asset_not_found"),
        ("list_templates", json!({}), "internal_error"),
        ("get_template", json!({ "template_id": id("t") }), "template_not_found"),
        ("create_template", json!({ "name": "x", "sections": [{}] }), "invalid_template"),
        ("update_template", json!({ "template_id": id("t"), "name": "x" }), "template_not_found"),
        ("delete_template", json!({ "template_id": id("t") }), "template_not_found"),
        ("create_run", json!({ "template_id": id("t") }), "template_not_found"),
        ("get_run", json!({ "run_id": id("r") }), "run_not_found"),
        ("list_runs", json!({}), "internal_error"),
        ("delete_run", json!({ "run_id": id("r") }), "run_not_found"),
        ("list_members", json!({}), "internal_error"),
        ("invite_member", json!({ "email": "not an address" }), "invalid_argument"),
        ("remove_member", json!({ "user_id": id("u") }), "member_not_found"),
    ];
    assert_eq!(refusals.each_ref().map(|(tool, _, _)| *tool), TOOLS.map(|(tool, _, _)| tool));
    for (tool, arguments, code) in refusals {
        // A list without arguments is only refused by a table that does not answer.
        for _ in 0..if code == "internal_error" { 12 } else { 0 } {
            world.faults.next("Query", Fault::ServerError);
        }
        let said = world.call(tool, arguments).await;
        world.faults.forget();
        assert_eq!(said.code(), code, "{tool}");
        let refusal = said.refusal();
        assert!(refusal["message"].as_str().is_some_and(|message| message.len() > 20), "{tool}: {refusal}");
        let members: Vec<&str> = refusal.as_object().unwrap().keys().map(String::as_str).collect();
        assert!(members.iter().all(|member| ["error", "message", "details", "retry_after", "request_id"].contains(member)), "{refusal}");
    }
}
