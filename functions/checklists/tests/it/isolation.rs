//! No organisation learns anything of another one, or changes anything there: whatever an id, a cursor, a filter or a
//! nested id of it looks like, the answer is that to an id of the same form that never was.

mod forms;
mod furnished;

use std::collections::BTreeMap;

use checklists::store::Store;
use furnished::{Furnished, IDS};
use http::header::AUTHORIZATION;
use onepost_core::auth::{Pepper, Peppers};
use onepost_core::id::Ids;
use onepost_core::mcp::Product;
use onepost_core::seal::{self, CURSOR_LIFETIME, Purpose};
use serde_json::{Value, json};

/// Every argument that takes an id: the tool, the argument, the kind of id, and what else the tool needs.
const ID_ARGUMENTS: &[(&str, &str, char)] = &[
    ("get_asset", "asset_id", 'a'),
    ("update_asset", "asset_id", 'a'),
    ("delete_asset", "asset_id", 'a'),
    ("get_template", "template_id", 't'),
    ("update_template", "template_id", 't'),
    ("delete_template", "template_id", 't'),
    ("create_run", "template_id", 't'),
    ("create_run", "asset_id", 'a'),
    ("get_run", "run_id", 'r'),
    ("delete_run", "run_id", 'r'),
    ("remove_member", "user_id", 'u'),
];

/// The arguments of a tool that would succeed, if the id in it were one of the caller's own.
fn arguments(own: &Furnished, tool: &str, argument: &str, id: Value) -> Value {
    let mut arguments = match tool {
        "update_asset" | "update_template" => json!({ "name": "Taken over" }),
        "create_run" => json!({ "template_id": own.one_of('t'), "asset_id": own.one_of('a') }),
        _ => json!({}),
    };
    arguments[argument] = id;
    arguments
}

#[tokio::test]
async fn the_table_above_names_every_argument_that_takes_an_id() {
    let stage = furnished::stage().await;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let listed: Value = serde_json::from_slice(stage.world.post(&stage.b.key, body.to_string()).await.body()).unwrap();
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 17);
    let mut found: Vec<(&str, &str)> = Vec::new();
    for tool in tools {
        let properties = tool["inputSchema"]["properties"].as_object().into_iter().flatten();
        found.extend(properties.filter(|(name, _)| name.ends_with("_id")).map(|(name, _)| (tool["name"].as_str().unwrap(), name.as_str())));
    }
    let mut expected: Vec<(&str, &str)> = ID_ARGUMENTS.iter().map(|(tool, argument, _)| (*tool, *argument)).collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

/// Every id of the other organisation, in every form, in the place of one's own. Answers how many were tried.
async fn try_every_form(tools: &[&str]) -> usize {
    let stage = furnished::stage().await;
    let before = stage.everything();
    let mut attempts = 0;
    for (tool, argument, kind) in ID_ARGUMENTS.iter().filter(|(tool, ..)| tools.contains(tool)) {
        // What is answered to an id that never was, by the name of its form.
        let mut never: BTreeMap<String, String> = BTreeMap::new();
        for (of, id) in &stage.a.ids {
            let forms = if of == kind { forms::of(id) } else { forms::few(id) };
            let twin = forms::never(id);
            let twins = if of == kind { forms::of(&twin) } else { forms::few(&twin) };
            let call = |id: Value| (*tool, arguments(&stage.b, tool, argument, id));
            let (unknown, twins): (Vec<String>, Vec<Value>) =
                twins.into_iter().map(|(form, twin)| (format!("{of} {form}"), twin)).filter(|(form, _)| !never.contains_key(form)).unzip();
            never.extend(unknown.into_iter().zip(stage.ask_all(twins.into_iter().map(call).collect()).await));
            let answers = stage.ask_all(forms.iter().map(|(_, id)| call(id.clone())).collect()).await;
            for ((form, foreign), answer) in forms.iter().zip(&answers) {
                assert_eq!(answer, &never[&format!("{of} {form}")], "{tool} {argument}: {form}: {foreign}");
                stage.says_nothing_of_a(answer);
                attempts += 1;
            }
            // Alone, with the status of the answer.
            let alone = stage.ask(tool, arguments(&stage.b, tool, argument, json!(id))).await;
            assert_eq!(alone, stage.ask(tool, arguments(&stage.b, tool, argument, json!(twin))).await, "{tool} {argument}: {id}");
            assert!(alone.starts_with("200 ") && alone.contains(&answers[0]), "{alone} is {}", answers[0]);
        }
        assert_eq!(stage.everything(), before, "{tool} {argument} changed something");
    }
    attempts
}

#[tokio::test]
async fn an_asset_of_another_organisation_is_answered_as_one_that_never_was_in_whatever_form() {
    let attempts = try_every_form(&["get_asset", "update_asset", "delete_asset"]).await;
    assert!(attempts > 1_500, "{attempts} attempts");
}

#[tokio::test]
async fn a_template_of_another_organisation_is_answered_as_one_that_never_was_in_whatever_form() {
    let attempts = try_every_form(&["get_template", "update_template", "delete_template"]).await;
    assert!(attempts > 1_000, "{attempts} attempts");
}

#[tokio::test]
async fn a_run_or_member_of_another_organisation_is_answered_as_one_that_never_was_in_whatever_form() {
    let attempts = try_every_form(&["create_run", "get_run", "delete_run", "remove_member"]).await;
    assert!(attempts > 2_000, "{attempts} attempts");
}

#[tokio::test]
async fn cursors_of_others_and_changed_ones_are_no_cursors() {
    let stage = furnished::stage().await;
    let before = stage.everything();
    let first = |key: &str| {
        let key = key.to_owned();
        let world = &stage.world;
        async move { world.call_with(&key, "list_assets", json!({ "limit": 1 })).await.done()["next_cursor"].as_str().unwrap().to_owned() }
    };
    let (of_a, of_b) = (first(&stage.a.key).await, first(&stage.b.key).await);
    let mut cursors: Vec<(String, String)> = vec![("of another organisation".into(), of_a.clone())];
    for (whose, cursor) in [("another's", &of_a), ("one's own", &of_b)] {
        cursors.extend(forms::mutations(cursor).into_iter().map(|(form, text)| (format!("{whose}, {form}"), text)));
    }
    // Nobody can seal these, and they are refused all the same.
    let (peppers, ids, now) = (Peppers::new(Pepper::new("1", [7; 32]), None), Ids::default(), stage.world.now());
    let sealed = |org: &str, list: &str, at: jiff::Timestamp, place: &str| {
        let org = stage.world.desk.org(org);
        seal::seal(&peppers, &ids, Purpose::Cursor(&org), list, at + CURSOR_LIFETIME, place.as_bytes())
    };
    let place = stage.a.one_of('a');
    for list in ["list_runs", "list_templates", "list_members", "get_asset", "LIST_ASSETS", "list_assets ", ""] {
        cursors.push((format!("of {list:?}"), sealed(&stage.b.org, list, now, &place)));
    }
    cursors.push(("of yesterday".into(), sealed(&stage.b.org, "list_assets", now - jiff::SignedDuration::from_hours(25), &place)));
    cursors.push(("of a sister".into(), sealed(&format!("{}#A", stage.b.org), "list_assets", now, &place)));
    let garbage = ("list_assets", json!({ "cursor": "x".repeat(of_b.len()) }));
    let expected = stage.ask_all(vec![garbage]).await.remove(0);
    assert!(expected.contains("invalid_cursor"), "{expected}");
    let answers = stage.ask_all(cursors.iter().map(|(_, cursor)| ("list_assets", json!({ "cursor": cursor }))).collect()).await;
    for ((form, cursor), answer) in cursors.iter().zip(&answers) {
        assert_eq!(answer, &expected, "{form}: {cursor}");
    }
    assert!(cursors.len() > 500, "{} cursors", cursors.len());
    assert_eq!(stage.everything(), before);
}

/// If a place in another's list could be sealed, it would still be a place in one's own.
#[tokio::test]
async fn a_place_in_another_list_leads_into_ones_own() {
    let stage = furnished::stage().await;
    let (peppers, ids) = (Peppers::new(Pepper::new("1", [7; 32]), None), Ids::default());
    let org = stage.world.desk.org(&stage.b.org);
    let places: Vec<String> =
        stage.a.ids.iter().map(|(_, id)| id.clone()).chain(["".into(), "#".into(), "zzz".into(), stage.a.org.clone()]).collect();
    let own: Vec<&String> = stage.b.ids.iter().map(|(_, id)| id).collect();
    for place in places.iter().filter(|place| !place.is_empty()) {
        let cursor =
            seal::seal(&peppers, &ids, Purpose::Cursor(&org), "list_assets", stage.world.now() + CURSOR_LIFETIME, place.as_bytes());
        let answer = stage.ask("list_assets", json!({ "cursor": cursor })).await;
        stage.says_nothing_of_a(&answer);
        let page: Value = serde_json::from_str(answer.split_once(' ').unwrap().1).unwrap();
        let data = page["result"]["structuredContent"]["data"].as_array().unwrap_or_else(|| panic!("no page: {page}"));
        assert!(data.iter().all(|asset| own.iter().any(|id| asset["id"] == **id)), "{place}: {page}");
    }
}

#[tokio::test]
async fn lists_are_the_same_whatever_others_have() {
    let stage = furnished::empty_handed().await;
    let questions = furnished::list_questions();
    let mut before = Vec::new();
    for (tool, arguments) in &questions {
        before.push(stage.ask(tool, arguments.clone()).await);
    }
    let stage = stage.furnish_a().await;
    for ((tool, arguments), before) in questions.iter().zip(&before) {
        let answer = stage.ask(tool, arguments.clone()).await;
        stage.says_nothing_of_a(&answer);
        assert_eq!(&answer, before, "{tool} {arguments}");
    }
    assert!(questions.len() > 100, "{} questions", questions.len());
}

#[tokio::test]
async fn no_argument_member_or_header_names_another_organisation() {
    let stage = furnished::stage().await;
    let before = stage.everything();
    let a = &stage.a;
    let names =
        ["org_id", "org", "organisation_id", "organization", "tenant_id", "workspace", "created_by", "user", "pk", "id", "_meta", "key"];
    for (tool, arguments) in furnished::one_call_each(&stage.b) {
        for name in names {
            let with = |value: &str| {
                let mut arguments = arguments.clone();
                arguments[name] = json!(value);
                arguments
            };
            let both = vec![(tool, with("org-00000000-0000-4000-8000-000000000000")), (tool, with(&a.org))];
            let [never, answer] = <[String; 2]>::try_from(stage.ask_all(both).await).unwrap();
            assert_eq!(answer, never, "{tool} with {name}");
            assert!(answer.contains("-32602"), "{tool} refuses {name}: {answer}");
            stage.says_nothing_of_a(&answer);
        }
    }
    let names =
        ["x-organisation", "x-org-id", "x-tenant-id", "x-api-key", "cookie", "x-forwarded-host", "mcp-session-id", "x-amzn-lambda-context"];
    let call = |tool: &str, arguments: Value, meta: Value| {
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": arguments, "_meta": meta } })
            .to_string()
    };
    let asset = json!({ "asset_id": a.one_of('a') });
    let expected = stage.ask("get_asset", asset.clone()).await;
    for name in names {
        for value in [&a.org, &a.key] {
            let request = http::Request::post("/mcp")
                .header("authorization", format!("Bearer {}", stage.b.key))
                .header("content-type", "application/json");
            let request = request.header(name, value.as_str()).body(call("get_asset", asset.clone(), json!({})).into()).unwrap();
            assert_eq!(furnished::told(&stage.world.answer(request).await), expected, "{name}");
        }
        let body = call("get_asset", asset.clone(), json!({ name: a.org, "org": a.org, "io.modelcontextprotocol/org": a.org }));
        assert_eq!(furnished::told(&stage.world.post(&stage.b.key, body).await), expected, "{name} in _meta");
    }
    assert_eq!(stage.everything(), before);
}

#[tokio::test]
async fn ids_inside_a_template_are_the_templates_own() {
    let stage = furnished::stage().await;
    let nested = |template_step: &str, section: &str, option: &str| {
        let when = json!({ "when": { "step": template_step, "op": "eq", "value": option } });
        [
            json!([{ "id": section, "steps": [{ "id": "s-new1", "type": "text", "label": "?", "condition": when }] }]),
            json!([{ "id": template_step, "steps": [] }]),
            json!([{ "id": section, "condition": when, "steps": [{ "id": "s-new1", "type": "text", "label": "?" }] }]),
            json!([{ "steps": [{ "id": option, "type": "boolean", "label": "?" }] }]),
        ]
    };
    let before = stage.everything();
    let [step, section, option] = furnished::STEP_IDS;
    let foreign = nested(step, section, option);
    let never = nested("s-nevr01", "g-nevr01", "o-nevr01");
    for (tool, more) in [("create_template", json!({ "name": "Mine" })), ("update_template", json!({ "template_id": stage.b.one_of('t') }))]
    {
        for (foreign, never) in foreign.iter().zip(&never) {
            let with = |sections: &Value| {
                let mut arguments = more.clone();
                arguments["sections"] = sections.clone();
                arguments
            };
            let answer = stage.ask(tool, with(foreign)).await;
            let expected = stage.ask(tool, with(never)).await;
            let renamed = answer.replace(step, "s-nevr01").replace(section, "g-nevr01").replace(option, "o-nevr01");
            assert_eq!(renamed, expected, "{tool} {foreign}");
            assert!(answer.contains("invalid_template"), "{tool} {foreign}: {answer}");
        }
    }
    assert_eq!(stage.everything(), before);
}

#[tokio::test]
async fn an_address_of_another_organisation_is_as_free_as_any() {
    let stage = furnished::stage().await;
    let of_a = stage.rows_of(&stage.a.org);
    for email in furnished::EMAILS {
        let invited = stage.ask("invite_member", json!({ "email": email })).await;
        let never = stage.ask("invite_member", json!({ "email": email.replace("canary", "nobody") })).await;
        let same = |answer: &str| furnished::without_ids(answer).replace("canary", "nobody");
        assert_eq!(same(&invited), same(&never), "{email}");
        assert!(invited.contains("pending"), "{invited}");
    }
    assert_eq!(stage.rows_of(&stage.a.org), of_a);
}

/// The store alone, with what no schema lets through: a partition of one organisation cannot be left by an id.
#[tokio::test]
async fn no_id_leads_the_store_out_of_an_organisation() {
    let stage = furnished::stage().await;
    let (store, org, now): (&Store, _, _) = (&stage.world.store, stage.world.desk.org(&stage.b.org), stage.world.now());
    let keys = store.keys(&stage.world.desk.org(&stage.a.org)).await.unwrap();
    let headers = [(AUTHORIZATION, format!("Bearer {}", stage.b.key).parse().unwrap())].into_iter().collect();
    let right = stage.world.server.product().authenticate(&headers, now).await.unwrap().must_hold_the_key(now);
    let before = stage.everything();
    let mut attempts = 0;
    for id in ['a', 't', 'r', 'u', 'i'].map(|kind| stage.a.one_of(kind)).iter().chain(keys.iter().map(|key| &key.id)) {
        for (form, text) in forms::few(id).into_iter().filter_map(|(form, id)| Some((form, id.as_str()?.to_owned()))) {
            for id in [text.clone(), format!("{}#{text}", stage.a.org)] {
                assert!(store.asset(&org, &id).await.unwrap().is_none(), "{form}");
                assert!(store.template(&org, &id).await.unwrap().is_none(), "{form}");
                assert!(store.template_version(&org, &id, 1).await.unwrap().is_none(), "{form}");
                assert!(store.run(&org, &id).await.unwrap().is_none(), "{form}");
                assert!(store.member(&org, &id).await.unwrap().is_none(), "{form}");
                assert_eq!(store.delete_run(&right, &id).await, Ok(None), "{form}");
                assert_eq!(store.delete_template(&right, &id).await, Ok(false), "{form}");
                assert_eq!(store.delete_asset(&right, &id).await.unwrap_err().code(), "asset_not_found", "{form}");
                assert!(store.key_of(&org, &id).await.unwrap().is_none(), "{form}");
                assert_eq!(stage.world.desk.revoke_key(&stage.b.org, &id).await.unwrap_err().code(), "key_not_found", "{form}");
                attempts += 10;
            }
        }
    }
    assert!(attempts > 500, "{attempts} attempts");
    assert!(stage.a.ids.len() >= IDS, "{} ids", stage.a.ids.len());
    assert_eq!(stage.everything(), before);
}
