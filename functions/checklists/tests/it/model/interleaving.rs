//! Two changes at the same moment: one is held at each of its requests while the other runs to its end. What both
//! answer and what is stored afterwards is what one of the two orders, one after the other, leads to.

use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;

use checklists::members::Role;
use checklists::operator::PlanChange;
use checklists_rules::Command;
use checklists_rules::answer::Given;
use checklists_rules::run::Origin;
use jiff::{SignedDuration, Timestamp};
use onepost_cloud::table::faults::Fault;
use onepost_cloud::table::{Action, Condition, Consistency, Key, Update};
use onepost_core::error::ToolError;
use serde_json::{Value, json};

use super::stored::as_json;
use crate::world::{START, Said, Tenant, World};

/// What is done. Things are named as [`Scene::new`] names them.
#[derive(Clone, Copy, Debug)]
enum Act {
    UpdateAsset(&'static str, &'static str),
    DeleteAsset(&'static str),
    CreateAsset,
    CreateRun(&'static str),
    DeleteRun(&'static str),
    GetRun(&'static str),
    Answer(&'static str, bool),
    Complete(&'static str),
    LateComplete(&'static str),
    Cancel(&'static str),
    Extend(&'static str),
    UpdateTemplate(&'static str),
    GetTemplate,
    DeleteTemplate,
    /// By whom, and whom.
    Remove(&'static str, &'static str),
    Invite(&'static str),
    Join(&'static str),
    SetRole(&'static str, Role),
}

/// Operations at which an act is held: what was read before is then out of date.
const WRITES: &[&str] = &["TransactWriteItems", "UpdateItem", "BatchWriteItem"];
/// The same, and between its reads.
const ALL: &[&str] = &["TransactWriteItems", "UpdateItem", "BatchWriteItem", "Query"];

/// An organisation of its own.
struct Scene<'w> {
    world: &'w World,
    tenant: Tenant,
    ids: BTreeMap<&'static str, String>,
    keys: BTreeMap<&'static str, String>,
}

/// What both answered, and what is stored.
#[derive(Debug, PartialEq)]
struct Outcome {
    said: [Value; 2],
    rows: Vec<String>,
}

impl<'w> Scene<'w> {
    /// `bare` is an asset without a run, `van` has the active run `run`, and `boat` the run `lapsed`, whose end nobody
    /// has noticed yet. `olive` and `ann` are owners, `bob` a member. There is room for one more of everything.
    async fn new(world: &'w World, acts: [Act; 2]) -> Self {
        // Every scene plays at the same time.
        world.clock.advance(START.parse::<Timestamp>().unwrap().duration_since(world.now()));
        let tenant = world.another("Scene").await;
        let needed = format!("{acts:?}");
        let mut scene = Self { world, ids: BTreeMap::new(), keys: BTreeMap::from([("olive", tenant.key.clone())]), tenant };
        scene.ids.insert("olive", scene.tenant.owner.user_id.clone());
        let id = |said: Said, member: &str| said.done()[member].as_str().unwrap().to_owned();
        let sections = json!([{ "id": "g-main", "steps": [{ "id": "s-one", "type": "boolean", "label": "Is it clean?" }] }]);
        let template = scene.call("create_template", json!({ "name": "Check", "sections": sections })).await;
        scene.ids.insert("template", id(template, "id"));
        for (asset, run) in [("bare", None), ("van", Some(("run", 24.0))), ("boat", Some(("lapsed", 0.25)))] {
            if !(needed.contains(asset) || run.is_some_and(|(run, _)| needed.contains(run))) {
                continue;
            }
            let made = id(scene.call("create_asset", json!({ "name": asset, "fields": { "seats": 1 } })).await, "id");
            if let Some((run, hours)) = run {
                let arguments = json!({ "template_id": scene.ids["template"], "asset_id": made, "expires_in_hours": hours });
                let run_id = id(scene.call("create_run", arguments).await, "run_id");
                scene.ids.insert(run, run_id);
            }
            scene.ids.insert(asset, made);
        }
        world.clock.advance(SignedDuration::from_mins(20));
        let house = scene.tenant.organisation.id.clone();
        for (name, role) in [("ann", Role::Owner), ("bob", Role::Member)] {
            if needed.contains(name) {
                let member = world.desk.add_member(&house, name, &format!("{name}@scene.example"), role).await.unwrap();
                let key = world.desk.mint_key(&house, &member.user_id, name, None).await.unwrap();
                scene.ids.insert(name, member.user_id);
                scene.keys.insert(name, key.plain.reveal().to_owned());
            }
        }
        // An invitation takes a seat and the member another, or none would be left to be told anything else.
        let seats = if needed.contains("Invite") { 2 } else { 1 };
        let now = world.desk.organisation(&house).await.unwrap();
        let (runs, assets) = (scene.ids.contains_key("van") as u32 + scene.ids.contains_key("boat") as u32, now.n_assets);
        let room = PlanChange {
            assets: Some(assets + 1),
            runs_per_month: Some(runs + 1),
            members: Some(now.n_members + seats),
            ..Default::default()
        };
        world.desk.change_plan(&house, room).await.unwrap();
        scene
    }

    async fn call(&self, tool: &str, arguments: Value) -> Said {
        self.world.call_with(&self.tenant.key, tool, arguments).await
    }

    async fn act(&self, act: Act) -> Value {
        let id = |name: &str| self.ids[name].as_str();
        let said = match act {
            Act::UpdateAsset(asset, field) => self.call("update_asset", json!({ "asset_id": id(asset), "fields": { field: 2 } })).await,
            Act::DeleteAsset(asset) => self.call("delete_asset", json!({ "asset_id": id(asset) })).await,
            Act::CreateAsset => self.call("create_asset", json!({ "name": "new" })).await,
            Act::CreateRun(asset) => self.call("create_run", json!({ "template_id": id("template"), "asset_id": id(asset) })).await,
            Act::DeleteRun(run) => self.call("delete_run", json!({ "run_id": id(run) })).await,
            Act::GetRun(run) => self.call("get_run", json!({ "run_id": id(run) })).await,
            Act::Answer(run, clean) => {
                let answer =
                    Command::Answer { step_id: "s-one".into(), given: Given::value(clean), seen_rev: None, origin: Origin::live("Mara") };
                self.change(run, answer).await
            }
            Act::Complete(run) => self.change(run, Command::Complete { signature: None, origin: Origin::live("Mara") }).await,
            Act::LateComplete(run) => {
                let begun = START.parse().unwrap();
                self.change(run, Command::Complete { signature: None, origin: Origin::queued("Mara", begun, begun) }).await
            }
            Act::Cancel(run) => self.change(run, Command::Cancel { reason: None }).await,
            Act::Extend(run) => self.change(run, Command::Extend { expires_at: None }).await,
            Act::UpdateTemplate(name) => self.call("update_template", json!({ "template_id": id("template"), "name": name })).await,
            Act::GetTemplate => self.call("get_template", json!({ "template_id": id("template") })).await,
            Act::DeleteTemplate => self.call("delete_template", json!({ "template_id": id("template") })).await,
            Act::Remove(by, whom) => self.world.call_with(&self.keys[by], "remove_member", json!({ "user_id": id(whom) })).await,
            Act::Invite(email) => self.call("invite_member", json!({ "email": email })).await,
            Act::Join(email) => {
                let joined = self.world.desk.add_member(&self.tenant.organisation.id, "New", email, Role::Member).await;
                told(joined.map(|member| json!(member)))
            }
            Act::SetRole(whom, role) => {
                let changed = self.world.desk.set_role(&self.tenant.organisation.id, id(whom), role).await;
                told(changed.map(|member| json!(member)))
            }
        };
        let said = match said {
            Said::Done(value) => value,
            Said::Refused(error) => json!({ "refused": error["error"], "details": error["details"] }),
            Said::Protocol(error) => panic!("{act:?} is well formed: {error}"),
        };
        serde_json::from_str(&self.in_words(said)).unwrap()
    }

    async fn change(&self, run: &str, command: Command) -> Said {
        let org = self.world.desk.org(&self.tenant.organisation.id);
        let settled = self.world.store.change_run(&org, &self.ids[run], None, &command, self.world.now()).await;
        told(settled.map(|settled| json!(settled.file.run)))
    }

    /// The same text in every scene: names for ids, and nothing that is drawn, counted on the way or ciphered.
    fn in_words(&self, value: Value) -> String {
        let mut text = without_accidents(value).to_string();
        for (name, id) in self.ids.iter().map(|(name, id)| (*name, id)).chain([("organisation", &self.tenant.organisation.id)]) {
            text = text.replace(id.as_str(), name);
        }
        without_uuids(&text)
    }

    /// What is stored of this organisation.
    fn rows(&self) -> Vec<String> {
        let org = &self.tenant.organisation.id;
        let mine =
            |row: &serde_json::Map<String, Value>| row["pk"].as_str().unwrap().starts_with(org) || row.get("org") == Some(&json!(org));
        let rows = self.world.rows().iter().map(as_json).filter(mine).collect::<Vec<_>>();
        let mut rows: Vec<String> = rows
            .into_iter()
            .filter(|row| !row["pk"].as_str().unwrap().starts_with("K#"))
            .map(|mut row| {
                let sk = row["sk"].as_str().unwrap().to_owned();
                if let Some((kind @ ("E" | "K"), _)) = sk.split_once('#') {
                    row.insert("sk".into(), json!(kind));
                    row.remove("key_id");
                }
                self.in_words(row.into())
            })
            .collect();
        rows.sort();
        rows
    }
}

fn told(outcome: Result<Value, ToolError>) -> Said {
    match outcome {
        Ok(value) => Said::Done(value),
        Err(error) => Said::Refused(json!({ "error": error.code(), "details": error.details() })),
    }
}

fn without_accidents(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.into_iter().filter(|(name, _)| !["rev", "w", "z", "token", "request_id"].contains(&name.as_str()));
            let mut kept: Vec<(String, Value)> = kept.map(|(name, value)| (name, without_accidents(value))).collect();
            kept.sort_by(|one, other| one.0.cmp(&other.0));
            Value::Object(kept.into_iter().collect())
        }
        // A document that is kept as text has revisions too.
        Value::String(text) if text.starts_with('{') => {
            json!(serde_json::from_str(&text).map(|value| without_accidents(value).to_string()).unwrap_or(text))
        }
        Value::Array(values) => values.into_iter().map(without_accidents).collect(),
        other => other,
    }
}

/// An id that is no scene's own was drawn in it.
fn without_uuids(text: &str) -> String {
    let is_uuid = |part: &[u8]| {
        part.iter().enumerate().all(|(n, byte)| if [8, 13, 18, 23].contains(&n) { *byte == b'-' } else { byte.is_ascii_hexdigit() })
    };
    let bytes = text.as_bytes();
    let Some(at) = (0..bytes.len().saturating_sub(35)).find(|at| is_uuid(&bytes[*at..*at + 36])) else { return text.to_owned() };
    format!("{}new{}", &text[..at], without_uuids(&text[at + 36..]))
}

/// One after the other; the answers in the order of the pair.
async fn one_after_the_other(world: &World, acts: [Act; 2], first: usize) -> Outcome {
    let scene = Scene::new(world, acts).await;
    let mut said = [Value::Null, Value::Null];
    for turn in [first, 1 - first] {
        said[turn] = scene.act(acts[turn]).await;
    }
    Outcome { said, rows: scene.rows() }
}

/// What should be where the first one was turned away.
async fn alone(world: &World, acts: [Act; 2], first: usize, outcome: &Outcome) -> Outcome {
    let scene = Scene::new(world, acts).await;
    let mut said = outcome.said.clone();
    said[1 - first] = scene.act(acts[1 - first]).await;
    Outcome { said, rows: scene.rows() }
}

/// One is held at its `nth` request of this operation until the other is through. `None` where it makes fewer.
async fn held(world: &World, acts: [Act; 2], first: usize, operation: &'static str, nth: usize) -> Option<Outcome> {
    let scene = Scene::new(world, acts).await;
    for _ in 0..nth {
        world.faults.next(operation, Fault::Slow(Duration::ZERO));
    }
    let (arrived, release) = world.faults.hold(operation);
    let mut one = pin!(scene.act(acts[first]));
    tokio::select! {
        biased;
        _ = &mut one => {
            drop(release);
            use_up_the_faults(world).await;
            return None;
        }
        _ = arrived => {}
    }
    let other = async {
        let said = scene.act(acts[1 - first]).await;
        release.send(()).unwrap();
        said
    };
    let (one, other) = futures_util::join!(one, other);
    let said = if first == 0 { [one, other] } else { [other, one] };
    Some(Outcome { said, rows: scene.rows() })
}

/// Requests that change nothing, until none of them is held up any more.
async fn use_up_the_faults(world: &World) {
    let table = world.store.table();
    let nowhere = || Key::before_the_organisation_is_known("K", "nowhere");
    while world.faults.left() > 0 {
        assert_eq!(table.get::<Value>(nowhere(), Consistency::Strong).await, Ok(None));
        table.keys_of(onepost_cloud::table::Partition::of(&world.home_org(), "nowhere")).await.unwrap();
        table.delete_all(vec![nowhere()]).await.unwrap();
        table.transact(vec![Action::<()>::delete(nowhere())]).await.unwrap();
        let refused = table.write(Action::update(nowhere(), Update::new().set("x", 1)).only_if(Condition::Exists, ())).await;
        refused.unwrap_err();
    }
}

/// Runs the pair in every way.
async fn either_order(acts: [Act; 2], operations: &[&'static str]) {
    either_order_or(&[], acts, operations).await;
}

/// The same, where the one that was overtaken may also say so with one of these codes and do nothing.
async fn either_order_or(turned_away: &[&str], acts: [Act; 2], operations: &[&'static str]) {
    let world = World::new().await;
    let orders = [one_after_the_other(&world, acts, 0).await, one_after_the_other(&world, acts, 1).await];
    let mut held_up = 0;
    for first in [0, 1] {
        for operation in operations {
            for nth in 0.. {
                let Some(outcome) = held(&world, acts, first, operation, nth).await else { break };
                held_up += 1;
                let gave_up = turned_away.iter().any(|code| outcome.said[first]["refused"] == *code);
                assert!(
                    orders.contains(&outcome) || (gave_up && outcome == alone(&world, acts, first, &outcome).await),
                    "{:?} was held at its {operation} number {nth} while {:?} ran:\n{outcome:#?}\nis neither of\n{orders:#?}",
                    acts[first],
                    acts[1 - first]
                );
            }
        }
    }
    assert!(held_up >= 1, "{acts:?} were never held");
}

#[tokio::test]
async fn changes_of_one_asset_happen_in_one_order() {
    for acts in [
        [Act::UpdateAsset("bare", "seats"), Act::UpdateAsset("bare", "doors")],
        [Act::UpdateAsset("bare", "seats"), Act::DeleteAsset("bare")],
        [Act::DeleteAsset("bare"), Act::DeleteAsset("bare")],
        [Act::CreateAsset, Act::CreateAsset],
        [Act::CreateRun("bare"), Act::DeleteAsset("bare")],
        [Act::CreateRun("bare"), Act::UpdateAsset("bare", "seats")],
    ] {
        either_order(acts, WRITES).await;
    }
}

#[tokio::test]
async fn the_end_of_a_run_and_of_its_asset_happen_in_one_order() {
    for acts in [[Act::Cancel("run"), Act::DeleteAsset("van")], [Act::DeleteRun("run"), Act::DeleteAsset("van")]] {
        either_order(acts, WRITES).await;
    }
    for acts in [
        [Act::DeleteAsset("boat"), Act::Extend("lapsed")],
        [Act::DeleteAsset("boat"), Act::LateComplete("lapsed")],
        [Act::DeleteAsset("boat"), Act::DeleteRun("lapsed")],
    ] {
        either_order(acts, ALL).await;
    }
}

#[tokio::test]
async fn changes_of_one_run_happen_in_one_order() {
    for acts in [
        [Act::DeleteRun("run"), Act::Answer("run", true)],
        [Act::Answer("run", true), Act::Answer("run", false)],
        [Act::Answer("run", true), Act::Complete("run")],
        [Act::Complete("run"), Act::Cancel("run")],
        [Act::GetRun("run"), Act::DeleteRun("run")],
        [Act::CreateRun("van"), Act::CreateRun("van")],
    ] {
        either_order(acts, WRITES).await;
    }
    either_order([Act::DeleteRun("run"), Act::DeleteRun("run")], &["TransactWriteItems"]).await;
}

#[tokio::test]
async fn who_finishes_the_deletion_that_another_began_has_deleted_the_run_too() {
    let (world, acts) = (World::new().await, [Act::DeleteRun("run"), Act::DeleteRun("run")]);
    let one = one_after_the_other(&world, acts, 0).await;
    let both = held(&world, acts, 0, "BatchWriteItem", 0).await.unwrap();
    assert_eq!(both.said, [one.said[0].clone(), one.said[0].clone()]);
    assert_eq!(both.rows, one.rows);
}

#[tokio::test]
async fn changes_of_one_template_happen_in_one_order() {
    for acts in [
        [Act::UpdateTemplate("One"), Act::UpdateTemplate("Two")],
        [Act::UpdateTemplate("One"), Act::DeleteTemplate],
        [Act::CreateRun("bare"), Act::DeleteTemplate],
    ] {
        either_order(acts, WRITES).await;
    }
    either_order([Act::GetTemplate, Act::UpdateTemplate("One")], ALL).await;
}

#[tokio::test]
async fn changes_of_members_happen_in_one_order() {
    for acts in [
        [Act::Remove("olive", "ann"), Act::Remove("ann", "olive")],
        [Act::Remove("olive", "bob"), Act::Remove("ann", "bob")],
        [Act::SetRole("ann", Role::Member), Act::SetRole("olive", Role::Member)],
        [Act::SetRole("ann", Role::Member), Act::Remove("ann", "bob")],
        [Act::Invite("new@scene.example"), Act::Invite("new@scene.example")],
        [Act::Invite("new@scene.example"), Act::Join("new@scene.example")],
        [Act::Join("new@scene.example"), Act::Join("other@scene.example")],
    ] {
        either_order(acts, WRITES).await;
    }
    // Whose right was judged by a role that is no longer the target's is told to try again.
    either_order_or(&["busy"], [Act::SetRole("bob", Role::Admin), Act::Remove("olive", "bob")], WRITES).await;
}
