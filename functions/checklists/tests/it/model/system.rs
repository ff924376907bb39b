//! The product, taking the same steps as the model. Ids are told apart by the labels that the model gives them.

use std::collections::BTreeMap;
use std::fmt::Debug;

use checklists::members::Member;
use checklists::operator::PlanChange;
use checklists::plan::Plan;
use checklists::store::{Operation, Organisation};
use checklists_rules::Command;
use onepost_cloud::table::faults::Fault;
use onepost_core::clock::Clock;
use onepost_core::error::ToolError;
use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;

use super::reference::{Expected, Model, PLAN};
use super::steps::{Kind, Label, Step, Transition, Trouble};
use super::stored;
use crate::world::{Said, World};

pub struct System {
    runtime: Runtime,
    world: World,
    houses: [House; 2],
    names: Names,
    /// The steps so far, for whoever has to read a failure.
    taken: Vec<String>,
}

struct House {
    organisation: Organisation,
    /// In the order in which the members came.
    keys: Vec<String>,
}

/// Which id has which label.
#[derive(Default)]
pub struct Names(BTreeMap<String, String>);

impl Names {
    fn bind(&mut self, label: impl ToString, id: &str) {
        let before = self.0.insert(label.to_string(), id.to_owned());
        assert_eq!(before, None, "{} is made once", label.to_string());
    }

    /// The id with this label. One that was never made has an id that nothing has.
    pub fn id(&self, label: &Label) -> String {
        let prefix = ["a", "t", "r", "u", "inv"][label.kind as usize];
        self.0.get(&label.to_string()).cloned().unwrap_or_else(|| format!("{prefix}-00000000-0000-4000-8000-{:012}", label.n))
    }

    /// Ids in the place of labels.
    fn with_ids(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (label, id)| text.replace(label, id))
    }

    /// Labels in the place of ids.
    pub fn with_labels(&self, value: &Value) -> Value {
        let text = self.0.iter().fold(value.to_string(), |text, (label, id)| text.replace(id, label));
        serde_json::from_str(&text).unwrap()
    }

    /// In the order of time and, where that is the same, of ids; the last one first if asked for.
    fn sort(&self, list: &mut [Value], time: &str, id: &str, newest_first: bool) {
        list.sort_by_cached_key(|entry| (entry[time].as_str().map(instant), self.0[entry[id].as_str().unwrap()].clone()));
        if newest_first {
            list.reverse();
        }
    }
}

fn instant(text: &str) -> jiff::Timestamp {
    text.parse().unwrap()
}

impl System {
    pub fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (world, houses, names) = runtime.block_on(async {
            let world = World::new().await;
            let mut names = Names::default();
            let mut houses = Vec::new();
            for org in 0..2 {
                let email = format!("owner{org}@model.example");
                let (organisation, owner) = world.desk.create_organisation(&format!("House {org}"), "Olive Owner", &email).await.unwrap();
                world.desk.change_plan(&organisation.id, to(PLAN, None)).await.unwrap();
                let key = world.desk.mint_key(&organisation.id, &owner.user_id, "a key", None).await.unwrap();
                names.bind(format!("<org{org}>"), &organisation.id);
                names.bind(Label { kind: Kind::Member, org, n: 0 }, &owner.user_id);
                houses.push(House { organisation, keys: vec![key.plain.reveal().to_owned()] });
            }
            (world, houses, names)
        });
        let Ok(houses) = <[House; 2]>::try_from(houses) else { unreachable!("two were made") };
        Self { runtime, world, houses, names, taken: Vec::new() }
    }

    /// Takes the step that led to this state of the model, and compares the answers.
    pub fn take(&mut self, model: &Model, transition: &Transition) {
        let Transition { org, key, step, faults } = transition;
        self.taken.push(format!("{:>3}. organisation {org}, key {key}: {step:?}   {faults:?}", model.steps));
        // More in a row than are tried again would be a failure indeed.
        if self.world.faults.left() + faults.len() <= 3 {
            faults.iter().for_each(|(operation, trouble)| self.world.faults.next(operation, fault(*trouble)));
        }
        let made = self.runtime.block_on(self.answer(model, *org, *key, step));
        if let (Expected::Made(label, _), Some(id)) = (&model.expected, made) {
            self.names.bind(label, &id);
            if label.kind == Kind::Member {
                let desk = &self.world.desk;
                let key = self.runtime.block_on(desk.mint_key(&self.houses[*org].organisation.id, &id, "a key", None)).unwrap();
                self.houses[*org].keys.push(key.plain.reveal().to_owned());
            }
        }
    }

    /// Answers the id of what was made.
    async fn answer(&self, model: &Model, org: usize, key: usize, step: &Step) -> Option<String> {
        let (world, id) = (&self.world, |label: &Label| self.names.id(label));
        let call = |tool: &'static str, arguments: Value| world.call_with(&self.houses[org].keys[key], tool, present(arguments));
        let house = &self.houses[org].organisation.id;
        let said = match step {
            Step::Advance(step) => {
                world.clock.advance(*step);
                return None;
            }
            Step::CreateAsset { name, fields } => call("create_asset", json!({ "name": name, "fields": fields })).await,
            Step::UpdateAsset { asset, name, fields } => {
                call("update_asset", json!({ "asset_id": id(asset), "name": name, "fields": fields })).await
            }
            Step::GetAsset(asset) => call("get_asset", json!({ "asset_id": id(asset) })).await,
            Step::DeleteAsset(asset) => call("delete_asset", json!({ "asset_id": id(asset) })).await,
            Step::ListAssets { limit } => {
                self.compare_assets(model, org, key, *limit).await;
                return None;
            }
            Step::CreateTemplate(draft) => call("create_template", draft.document()).await,
            Step::UpdateTemplate(template, parts) => {
                let mut arguments = parts.clone();
                arguments.insert("template_id".into(), json!(id(template)));
                call("update_template", arguments.into()).await
            }
            Step::GetTemplate(template) => call("get_template", json!({ "template_id": id(template) })).await,
            Step::DeleteTemplate(template) => call("delete_template", json!({ "template_id": id(template) })).await,
            Step::ListTemplates => call("list_templates", json!({})).await,
            Step::CreateRun { template, asset, executor_ref, hours } => {
                let asset = asset.as_ref().map(id);
                let arguments =
                    json!({ "template_id": id(template), "asset_id": asset, "executor_ref": executor_ref, "expires_in_hours": hours });
                call("create_run", arguments).await
            }
            Step::Execute { run, operation, .. } => {
                let Expected::Run(command, expected) = &model.expected else { unreachable!("the model answers for a run") };
                let command: Command = serde_json::from_str(&self.names.with_ids(&json!(command).to_string())).unwrap();
                let operation = operation.clone().map(|id| Operation { id, seq: 1 });
                let org = world.desk.org(house);
                let settled = world.store.change_run(&org, &id(run), operation.as_ref(), &command, world.clock.now()).await;
                let found = settled.map(|settled| self.names.with_labels(&json!(settled.file.run))).map_err(|error| error.code());
                self.agree("the run", expected, &found);
                return None;
            }
            Step::GetRun(run) => call("get_run", json!({ "run_id": id(run) })).await,
            Step::ListRuns { status, limit, offset } => {
                call("list_runs", json!({ "status": status, "limit": limit, "offset": offset })).await
            }
            Step::DeleteRun(run) => call("delete_run", json!({ "run_id": id(run) })).await,
            Step::ListMembers => call("list_members", json!({})).await,
            Step::Invite { email, role } => call("invite_member", json!({ "email": email, "role": role })).await,
            Step::RemoveMember(member) => call("remove_member", json!({ "user_id": id(member) })).await,
            Step::AddMember { email, role } => by_operator(world.desk.add_member(house, "A colleague", email, *role).await, shown),
            Step::SetRole(member, role) => by_operator(world.desk.set_role(house, &id(member), *role).await, shown),
            Step::Expel(member) => by_operator(world.desk.remove_member(house, &id(member)).await, shown),
            Step::ChangePlan(plan, hours) => by_operator(world.desk.change_plan(house, to(*plan, *hours)).await, row),
        };
        self.compare(&model.expected, step, &said)
    }

    /// Compares an answer with the expected one; answers the id of what was made.
    fn compare(&self, expected: &Expected, step: &Step, said: &Said) -> Option<String> {
        let (made, mut value) = match (expected, said) {
            (Expected::Refused(code, details), Said::Refused(error)) => {
                self.agree("the code", &json!(code), &error["error"]);
                if let Some(details) = details {
                    self.agree("the details", details, &self.names.with_labels(&error["details"]));
                }
                return None;
            }
            (Expected::Refused(..), _) | (_, Said::Refused(_) | Said::Protocol(_)) => self.fail("the answer", expected, said),
            (Expected::Made(label, _), Said::Done(value)) => {
                let member = ["id", "id", "run_id", "user_id", "invitation_id"][label.kind as usize];
                (Some((label, value[member].as_str().unwrap().to_owned())), value.clone())
            }
            (_, Said::Done(value)) => (None, value.clone()),
        };
        if let Some((label, id)) = &made {
            assert!(!self.names.0.values().any(|known| known == id), "the id {id} is used twice");
            value = serde_json::from_str(&value.to_string().replace(id, &label.to_string())).unwrap();
        }
        let found = self.names.with_labels(&value);
        let expected = match (expected, step) {
            (Expected::Done(value) | Expected::Made(_, value), _) => value.clone(),
            (Expected::Templates(list), _) => {
                let mut list = self.newest_first(list);
                list.iter_mut().for_each(|entry| drop(entry.as_object_mut().unwrap().remove("created_at")));
                json!({ "data": list })
            }
            (Expected::Members(members, invitations), _) => self.oldest_first(members, invitations),
            (Expected::Runs(list), Step::ListRuns { limit, offset, .. }) => self.page(list, *limit, *offset),
            _ => unreachable!("{expected:?} is compared elsewhere"),
        };
        self.agree("the answer", &expected, &found);
        made.map(|(_, id)| id)
    }

    fn newest_first(&self, list: &[Value]) -> Vec<Value> {
        let id = if list.first().is_some_and(|entry| entry.get("id").is_some()) { "id" } else { "run_id" };
        let mut list = list.to_vec();
        self.names.sort(&mut list, "created_at", id, true);
        list
    }

    fn oldest_first(&self, members: &[Value], invitations: &[Value]) -> Value {
        let (mut members, mut invitations) = (members.to_vec(), invitations.to_vec());
        self.names.sort(&mut members, "joined_at", "user_id", false);
        // All live equally long.
        self.names.sort(&mut invitations, "expires_at", "invitation_id", false);
        json!({ "data": members, "invitations": invitations })
    }

    fn page(&self, list: &[Value], limit: usize, offset: usize) -> Value {
        let list = self.newest_first(list);
        let page: Vec<&Value> = list.iter().skip(offset).take(limit).collect();
        json!({ "data": page, "limit": limit, "offset": offset, "has_more": list.len() > offset + limit })
    }

    async fn compare_assets(&self, model: &Model, org: usize, key: usize, limit: usize) {
        let (mut found, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let page = self.world.call_with(&self.houses[org].keys[key], "list_assets", json!({ "limit": limit, "cursor": cursor }));
            let mut page = page.await.done();
            let data = page["data"].as_array().unwrap();
            assert!(data.len() <= limit, "a page of {limit} has no more than that: {data:?}");
            found.extend(data.iter().map(|asset| self.names.with_labels(asset)));
            cursor = page["next_cursor"].take();
            if cursor.is_null() {
                break;
            }
        }
        self.agree("the assets", &self.newest_first(&model.orgs[org].asset_list()), &found);
    }

    /// The rows of both organisations, and their counters among them.
    pub fn compare_stored(&self, model: &Model) {
        let found = stored::rows(&self.world.rows(), &self.names, self.houses.each_ref().map(|house| house.organisation.id.as_str()));
        self.agree("the stored rows", &stored::expected(model), &found);
    }

    /// Every list, every single thing, the counters, and the rows that stand for them.
    pub fn compare_everything(&self, model: &Model) {
        self.compare_stored(model);
        self.runtime.block_on(async {
            for (org, house) in self.houses.iter().enumerate() {
                let expected = &model.orgs[org];
                let call = |tool: &'static str, arguments: Value| self.world.call_with(&house.keys[0], tool, arguments);
                let look = Transition { org, key: 0, step: Step::ListTemplates, faults: Vec::new() };
                let after = |step: Step| {
                    let mut model = model.clone();
                    model.take(&Transition { step, ..look.clone() });
                    model.expected
                };
                let stored = self.world.store.organisation(&self.world.desk.org(&house.organisation.id)).await.unwrap().unwrap();
                self.agree("the counters", &expected.row(), &row(&stored));
                self.compare_assets(model, org, 0, 100).await;
                for asset in expected.live_assets() {
                    let found = call("get_asset", json!({ "asset_id": self.names.id(&asset.label) })).await.done();
                    self.agree("an asset", &expected.asset_details(asset, model.now), &self.names.with_labels(&found));
                }
                for run in expected.live_runs() {
                    let found = call("get_run", json!({ "run_id": self.names.id(&run.label) })).await.done();
                    self.agree("a run", &run.shown(model.now), &self.names.with_labels(&found));
                }
                self.compare(&after(Step::ListTemplates), &Step::ListTemplates, &call("list_templates", json!({})).await);
                self.compare(&after(Step::ListMembers), &Step::ListMembers, &call("list_members", json!({})).await);
                for status in [None, Some("pending"), Some("in_progress"), Some("completed"), Some("cancelled"), Some("expired")] {
                    let step = Step::ListRuns { status, limit: 100, offset: 0 };
                    let said = call("list_runs", present(json!({ "status": status, "limit": 100 }))).await;
                    self.compare(&after(step.clone()), &step, &said);
                }
                assert!(expected.live_members().any(|member| member.role.as_str() == "owner"), "an organisation has an owner");
            }
        });
    }

    #[track_caller]
    fn agree<T: PartialEq + Serialize>(&self, what: &str, expected: &T, found: &T) {
        if expected != found {
            self.fail(what, &in_order(json!(expected)), &in_order(json!(found)));
        }
    }

    /// Tells the steps, and where the two differ first.
    #[track_caller]
    fn fail(&self, what: &str, expected: &dyn Debug, found: &dyn Debug) -> ! {
        let (expected, found) = (format!("{expected:#?}"), format!("{found:#?}"));
        let differs = expected.lines().zip(found.lines()).position(|(one, other)| one != other).unwrap_or(0);
        let near =
            |text: &str| text.lines().skip(differs.saturating_sub(4)).take(9).map(|line| format!("    {line}\n")).collect::<String>();
        let steps = self.taken.join("\n");
        panic!(
            "{what}: not as expected after\n{steps}\n  expected, where it differs first:\n{}  found:\n{}",
            near(&expected),
            near(&found)
        );
    }
}

/// The same value with the members of objects in order.
fn in_order(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let members: BTreeMap<String, Value> = members.into_iter().map(|(name, value)| (name, in_order(value))).collect();
            members.into_iter().collect::<Map<_, _>>().into()
        }
        Value::Array(values) => values.into_iter().map(in_order).collect(),
        other => other,
    }
}

/// Arguments without those that are left out.
fn present(mut arguments: Value) -> Value {
    arguments.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    arguments
}

fn by_operator<T>(outcome: Result<T, ToolError>, shown: impl FnOnce(&T) -> Value) -> Said {
    match outcome {
        Ok(done) => Said::Done(shown(&done)),
        Err(error) => Said::Refused(json!({ "error": error.code(), "details": error.details() })),
    }
}

fn shown(member: &Member) -> Value {
    json!(member)
}

fn row(organisation: &Organisation) -> Value {
    let Organisation { plan, default_expiry_hours, n_members, n_owners, n_templates, n_assets, .. } = organisation;
    json!({
        "plan": plan, "default_expiry_hours": default_expiry_hours, "members": n_members, "owners": n_owners, "templates": n_templates,
        "assets": n_assets,
    })
}

fn to(plan: Plan, hours: Option<f64>) -> PlanChange {
    let Plan { runs_per_month, members, templates, assets } = plan;
    PlanChange {
        runs_per_month: Some(runs_per_month),
        members: Some(members),
        templates: Some(templates),
        assets: Some(assets),
        default_expiry_hours: Some(hours),
    }
}

fn fault(trouble: Trouble) -> Fault {
    match trouble {
        Trouble::Conflict => Fault::Conflict,
        Trouble::Throttle => Fault::Throttle,
        Trouble::ServerError => Fault::ServerError,
        Trouble::CutBefore => Fault::CutBefore,
        Trouble::CutAfter => Fault::CutAfter,
    }
}
