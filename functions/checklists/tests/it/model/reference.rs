//! What should be: two organisations in memory, and what each step answers. Things are named by labels such as
//! `<a0.3>`, the fourth asset that organisation 0 made; the labels stand wherever the product would show an id.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use checklists::assets::Fields;
use checklists::members::{INVITATION_LIFETIME, Role};
use checklists::plan::{Limited, Plan};
use checklists_rules::{Command, Run, Template};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::drafts::Draft;
use super::steps::{Kind, Label, Step, Transition, furnishing};

/// The plan that both begin with: small enough to be hit.
pub const PLAN: Plan = Plan { runs_per_month: 6, members: 5, templates: 4, assets: 3 };

/// What a step answers.
#[derive(Clone, Debug)]
pub enum Expected {
    /// This value.
    Done(Value),
    /// The value, in which a new thing appears.
    Made(Label, Value),
    /// A refusal with this code, and these details where they are given here.
    Refused(&'static str, Option<Value>),
    /// A whole list in any order, each entry with `created_at`, which the product does not show.
    Templates(Vec<Value>),
    /// The list that a page is cut from.
    Runs(Vec<Value>),
    /// Members and invitations, oldest first.
    Members(Vec<Value>, Vec<Value>),
    /// What the command makes of the run.
    Run(Box<Command>, Result<Value, &'static str>),
}

#[derive(Clone)]
pub struct Model {
    pub now: Timestamp,
    pub orgs: [Organisation; 2],
    /// What the last step answers.
    pub expected: Expected,
    /// How many steps were taken.
    pub steps: usize,
}

#[derive(Clone)]
pub struct Organisation {
    pub plan: Plan,
    pub default_expiry_hours: Option<f64>,
    pub members: Vec<Member>,
    pub invitations: Vec<Invitation>,
    pub assets: Vec<Asset>,
    pub templates: Vec<Body>,
    pub runs: Vec<Dispatched>,
    pub usage: BTreeMap<String, u32>,
}

#[derive(Clone)]
pub struct Member {
    pub label: Label,
    pub name: String,
    pub email: String,
    pub role: Role,
    pub joined_at: Timestamp,
    pub gone: bool,
}

#[derive(Clone)]
pub struct Invitation {
    pub label: Label,
    pub email: String,
    pub role: Role,
    pub created_at: Timestamp,
    pub used: bool,
}

#[derive(Clone)]
pub struct Asset {
    pub label: Label,
    pub name: String,
    pub fields: Fields,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub gone: bool,
}

#[derive(Clone)]
pub struct Body {
    pub label: Label,
    pub v: u32,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub template: Template,
    pub gone: bool,
}

#[derive(Clone)]
pub struct Dispatched {
    pub label: Label,
    pub template: Body,
    pub asset: Option<(Label, Value)>,
    pub executor_ref: Option<String>,
    pub created_by: Label,
    pub run: Run,
    pub operations: BTreeSet<String>,
    pub gone: bool,
}

/// The whole state would drown what matters in a report.
impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "two organisations after {} steps", self.steps)
    }
}

pub type Outcome = Result<Expected, (&'static str, Option<Value>)>;

pub fn refused<T>(code: &'static str) -> Result<T, (&'static str, Option<Value>)> {
    Err((code, None))
}

impl Model {
    /// Two organisations with an owner each.
    pub fn new(now: Timestamp) -> Self {
        let owner = |org| Member {
            label: Label { kind: Kind::Member, org, n: 0 },
            name: "Olive Owner".into(),
            email: format!("owner{org}@model.example"),
            role: Role::Owner,
            joined_at: now,
            gone: false,
        };
        let orgs = [0, 1].map(|org| Organisation {
            plan: PLAN,
            default_expiry_hours: None,
            members: vec![owner(org)],
            invitations: Vec::new(),
            assets: Vec::new(),
            templates: Vec::new(),
            runs: Vec::new(),
            usage: BTreeMap::new(),
        });
        Self { now, orgs, expected: Expected::Done(Value::Null), steps: 0 }
    }

    /// The same, with something of everything.
    pub fn furnished(now: Timestamp) -> Self {
        let mut model = Self::new(now);
        furnishing().iter().for_each(|transition| model.take(transition));
        model
    }

    /// Takes a step.
    pub fn take(&mut self, transition: &Transition) {
        self.steps += 1;
        let (org, now) = (transition.org, self.now);
        if let Step::Advance(step) = transition.step {
            self.now = now + step;
            self.expected = Expected::Done(Value::Null);
            return;
        }
        let outcome = self.orgs[org].take(org, transition.key, &transition.step, now);
        self.expected = outcome.unwrap_or_else(|(code, details)| Expected::Refused(code, details));
    }
}

impl Organisation {
    fn take(&mut self, org: usize, key: usize, step: &Step, now: Timestamp) -> Outcome {
        let here = |label: &Label| if label.org == org { label.n } else { usize::MAX };
        match step {
            Step::Advance(_) => unreachable!("time passes for both"),
            Step::CreateAsset { name, fields } => self.create_asset(org, name, fields, now),
            Step::UpdateAsset { asset, name, fields } => self.update_asset(here(asset), *name, fields.as_ref(), now),
            Step::GetAsset(asset) => self.get_asset(here(asset), now),
            Step::DeleteAsset(asset) => self.delete_asset(here(asset), now),
            Step::ListAssets { .. } => Ok(Expected::Done(self.asset_list().into())),
            Step::CreateTemplate(draft) => self.create_template(org, *draft, now),
            Step::UpdateTemplate(template, parts) => self.update_template(org, here(template), parts, now),
            Step::GetTemplate(template) => Ok(Expected::Done(self.template(here(template))?.shown(org))),
            Step::DeleteTemplate(template) => {
                let found = here(template);
                self.template(found)?;
                self.templates[found].gone = true;
                Ok(Expected::Done(json!({ "deleted": true, "template_id": template.to_string() })))
            }
            Step::ListTemplates => Ok(Expected::Templates(self.live_templates().map(Body::summary).collect())),
            Step::CreateRun { template, asset, executor_ref, hours } => {
                let asset = asset.as_ref().map(here);
                self.create_run(org, key, here(template), asset, *executor_ref, *hours, now)
            }
            Step::Execute { run, deed, operation } => self.execute(here(run), deed, operation.as_ref(), now),
            Step::GetRun(run) => Ok(Expected::Done(self.run(here(run))?.shown(now))),
            Step::ListRuns { status, .. } => {
                let of_status = |run: &&Dispatched| status.is_none_or(|status| run.run.status_at(now).as_str() == status);
                Ok(Expected::Runs(self.live_runs().filter(of_status).map(|run| run.summary(now)).collect()))
            }
            Step::DeleteRun(run) => {
                let found = here(run);
                let photos: usize = self.run(found)?.run.answers.values().map(|answer| answer.photos.len()).sum();
                self.runs[found].gone = true;
                Ok(Expected::Done(json!({ "deleted": true, "run_id": run.to_string(), "photos_deleted": photos })))
            }
            Step::ListMembers => {
                let open = self.invitations.iter().filter(|invitation| invitation.is_open(now));
                Ok(Expected::Members(self.live_members().map(Member::shown).collect(), open.map(Invitation::shown).collect()))
            }
            Step::Invite { email, role } => self.invite(org, key, email, *role, now),
            Step::RemoveMember(member) => self.remove_member(key, here(member), member),
            Step::AddMember { email, role } => self.add_member(org, email, *role, now),
            Step::SetRole(member, role) => self.set_role(here(member), Some(*role)),
            Step::Expel(member) => self.set_role(here(member), None),
            Step::ChangePlan(plan, default_expiry_hours) => {
                self.plan = *plan;
                self.default_expiry_hours = *default_expiry_hours;
                Ok(Expected::Done(self.row()))
            }
        }
    }

    pub fn live_assets(&self) -> impl Iterator<Item = &Asset> {
        self.assets.iter().filter(|asset| !asset.gone)
    }

    pub fn live_templates(&self) -> impl Iterator<Item = &Body> {
        self.templates.iter().filter(|template| !template.gone)
    }

    pub fn live_runs(&self) -> impl Iterator<Item = &Dispatched> {
        self.runs.iter().filter(|run| !run.gone)
    }

    pub fn live_members(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| !member.gone)
    }

    pub fn asset_list(&self) -> Vec<Value> {
        self.live_assets().map(Asset::shown).collect()
    }

    /// Invitations that hold their address, and until when: the last one of each, also when its time is over.
    pub fn reserved_addresses(&self) -> impl Iterator<Item = (Label, Timestamp)> {
        let last = |email: &str| self.invitations.iter().rfind(|invitation| invitation.email == email).unwrap().label;
        let held = self.invitations.iter().filter(move |invitation| !invitation.used && invitation.label == last(&invitation.email));
        held.map(|invitation| (invitation.label, invitation.created_at + INVITATION_LIFETIME))
    }

    pub fn owners(&self) -> usize {
        self.live_members().filter(|member| member.role == Role::Owner).count()
    }

    /// The organisation's row, as far as it changes.
    pub fn row(&self) -> Value {
        json!({
            "plan": self.plan, "default_expiry_hours": self.default_expiry_hours,
            "members": self.live_members().count(), "owners": self.owners(),
            "templates": self.live_templates().count(), "assets": self.live_assets().count(),
        })
    }

    pub fn room(limited: Limited, limit: u32, used: usize, now: Timestamp) -> Result<(), (&'static str, Option<Value>)> {
        let used = u32::try_from(used).unwrap();
        if used < limit { Ok(()) } else { Err(("quota_exceeded", limited.exceeded(limit, used, now).details().cloned())) }
    }

    pub fn asset(&self, n: usize) -> Result<&Asset, (&'static str, Option<Value>)> {
        self.assets.get(n).filter(|asset| !asset.gone).ok_or(("asset_not_found", None))
    }

    pub fn template(&self, n: usize) -> Result<&Body, (&'static str, Option<Value>)> {
        self.templates.get(n).filter(|template| !template.gone).ok_or(("template_not_found", None))
    }

    pub fn run(&self, n: usize) -> Result<&Dispatched, (&'static str, Option<Value>)> {
        self.runs.get(n).filter(|run| !run.gone).ok_or(("run_not_found", None))
    }

    fn create_asset(&mut self, org: usize, name: &str, fields: &Value, now: Timestamp) -> Outcome {
        let fields: Fields = fields.as_object().unwrap().clone().into_iter().filter(|(_, value)| !value.is_null()).collect();
        check_fields(&fields)?;
        Self::room(Limited::Assets, self.plan.assets, self.live_assets().count(), now)?;
        let label = Label { kind: Kind::Asset, org, n: self.assets.len() };
        let asset = Asset { label, name: name.into(), fields, created_at: now, updated_at: now, gone: false };
        self.assets.push(asset.clone());
        Ok(Expected::Made(label, asset.shown()))
    }

    fn update_asset(&mut self, n: usize, name: Option<&str>, fields: Option<&Value>, now: Timestamp) -> Outcome {
        if name.is_none() && fields.is_none() {
            return refused("invalid_argument");
        }
        let mut next = self.asset(n)?.clone();
        next.name = name.map_or(next.name, str::to_owned);
        for (field, value) in fields.into_iter().flat_map(|fields| fields.as_object().unwrap()) {
            if value.is_null() {
                next.fields.remove(field)
            } else {
                next.fields.insert(field.clone(), value.clone())
            };
        }
        let present = &mut self.assets[n];
        if (&next.name, &next.fields) != (&present.name, &present.fields) {
            check_fields(&next.fields)?;
            *present = Asset { updated_at: now, ..next };
        }
        Ok(Expected::Done(present.shown()))
    }

    /// What `get_asset` answers for every asset that is there.
    pub fn asset_details(&self, asset: &Asset, now: Timestamp) -> Value {
        let mut shown = asset.shown();
        shown["active_runs"] = json!(self.holders(asset.label).filter(|run| run.run.status_at(now).is_active()).count());
        shown
    }

    /// The runs that are stored as active on an asset.
    pub fn holders(&self, asset: Label) -> impl Iterator<Item = &Dispatched> {
        self.live_runs().filter(move |run| run.run.status.is_active() && run.asset.as_ref().is_some_and(|(label, _)| *label == asset))
    }

    fn get_asset(&self, n: usize, now: Timestamp) -> Outcome {
        Ok(Expected::Done(self.asset_details(self.asset(n)?, now)))
    }

    fn delete_asset(&mut self, n: usize, now: Timestamp) -> Outcome {
        let label = self.asset(n)?.label;
        let active = self.holders(label).filter(|run| !run.run.has_lapsed(now)).count();
        if active > 0 {
            return Err(("asset_has_active_runs", Some(json!({ "active_runs": active }))));
        }
        // Runs whose link has run out are settled on the way.
        for run in self.runs.iter_mut().filter(|run| !run.gone && run.asset.as_ref().is_some_and(|(of, _)| *of == label)) {
            if run.run.status.is_active() {
                run.run.apply(&run.template.template, &Command::Expire, now).unwrap();
            }
        }
        self.assets[n].gone = true;
        Ok(Expected::Done(json!({ "deleted": true, "asset_id": label.to_string() })))
    }

    fn create_template(&mut self, org: usize, draft: Draft, now: Timestamp) -> Outcome {
        let template = checked(draft.document())?;
        Self::room(Limited::Templates, self.plan.templates, self.live_templates().count(), now)?;
        let label = Label { kind: Kind::Template, org, n: self.templates.len() };
        let body = Body { label, v: 1, created_at: now, updated_at: now, template, gone: false };
        self.templates.push(body.clone());
        Ok(Expected::Made(label, body.shown(org)))
    }

    fn update_template(&mut self, org: usize, n: usize, parts: &Map<String, Value>, now: Timestamp) -> Outcome {
        if parts.is_empty() {
            return refused("invalid_argument");
        }
        let present = self.template(n)?;
        let mut document = present.template.to_document();
        document.as_object_mut().unwrap().extend(parts.clone());
        let template = checked(document)?;
        if !template.check_successor(&present.template).is_empty() {
            return refused("invalid_template");
        }
        let body = &mut self.templates[n];
        if template != body.template {
            *body = Body { v: body.v + 1, updated_at: now, template, ..body.clone() };
        }
        Ok(Expected::Done(body.shown(org)))
    }
}

fn checked(document: Value) -> Result<Template, (&'static str, Option<Value>)> {
    // Every draft names all of its ids, so that none is made.
    let mut no_id = |kind| panic!("an id was made for {kind:?}");
    Template::from_document(document, &mut no_id).map_err(|_| ("invalid_template", None))
}

/// Steps give lists where they give what is not allowed.
fn check_fields(fields: &Fields) -> Result<(), (&'static str, Option<Value>)> {
    if fields.values().any(Value::is_array) { refused("invalid_argument") } else { Ok(()) }
}
