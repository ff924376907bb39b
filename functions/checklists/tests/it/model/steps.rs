//! What can happen, and how often which of it is drawn.

use std::fmt;

use checklists::members::Role;
use checklists::plan::Plan;
use checklists_rules::Command;
use checklists_rules::answer::{Given, Photo, PhotoState};
use checklists_rules::run::{Identity, Origin};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;
use serde_json::{Map, Value, json};

use super::drafts::Draft;
use super::reference::{Model, PLAN};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Asset,
    Template,
    Run,
    Member,
    Invitation,
}

/// Names what an organisation made, by its place among all that it made of this kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Label {
    pub kind: Kind,
    pub org: usize,
    pub n: usize,
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = ["a", "t", "r", "u", "inv"][self.kind as usize];
        write!(f, "<{kind}{}.{}>", self.org, self.n)
    }
}

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// A step of one organisation, with the key of one of its members, and what goes wrong below it meanwhile.
#[derive(Clone, Debug)]
pub struct Transition {
    pub org: usize,
    pub key: usize,
    pub step: Step,
    pub faults: Vec<(&'static str, Trouble)>,
}

/// A fault that can be copied.
#[derive(Clone, Copy, Debug)]
pub enum Trouble {
    Conflict,
    Throttle,
    ServerError,
    CutBefore,
    CutAfter,
}

#[derive(Clone, Debug)]
pub enum Step {
    Advance(SignedDuration),
    CreateAsset {
        name: &'static str,
        fields: Value,
    },
    UpdateAsset {
        asset: Label,
        name: Option<&'static str>,
        fields: Option<Value>,
    },
    GetAsset(Label),
    DeleteAsset(Label),
    ListAssets {
        limit: usize,
    },
    CreateTemplate(Draft),
    UpdateTemplate(Label, Map<String, Value>),
    GetTemplate(Label),
    DeleteTemplate(Label),
    ListTemplates,
    CreateRun {
        template: Label,
        asset: Option<Label>,
        executor_ref: Option<&'static str>,
        hours: Option<f64>,
    },
    Execute {
        run: Label,
        deed: Deed,
        operation: Option<String>,
    },
    GetRun(Label),
    ListRuns {
        status: Option<&'static str>,
        limit: usize,
        offset: usize,
    },
    DeleteRun(Label),
    ListMembers,
    Invite {
        email: &'static str,
        role: Option<Role>,
    },
    RemoveMember(Label),
    /// By the operator, with a key for the new member.
    AddMember {
        email: &'static str,
        role: Role,
    },
    /// By the operator.
    SetRole(Label, Role),
    /// By the operator.
    Expel(Label),
    /// By the operator.
    ChangePlan(Plan, Option<f64>),
}

/// What is asked of a run.
#[derive(Clone, Debug)]
pub enum Deed {
    Open(Option<Label>),
    Answer(&'static str, Value),
    Skip(&'static str),
    Clear(&'static str),
    Photo(&'static str, u32),
    Complete,
    Exit,
    Cancel,
    Extend(Option<i64>),
    /// Given in time on a phone without signal, and sent when there is one again.
    LateAnswer(Value),
    LateComplete,
}

impl Deed {
    pub fn command(&self, created_at: Timestamp, now: Timestamp) -> Command {
        let origin = Origin::live("Mara");
        let queued = || Origin::queued("Mara", created_at, created_at);
        match self {
            Self::Open(None) => Command::Open { identity: Identity::anonymous() },
            Self::Open(Some(member)) => Command::Open { identity: Identity::member(member.to_string()) },
            Self::Answer(step, value) => answer(step, value, origin),
            Self::Skip(step) => Command::Skip { step_id: (*step).into(), note: None, seen_rev: None, origin },
            Self::Clear(step) => Command::Clear { step_id: (*step).into(), seen_rev: None, origin },
            Self::Photo(step, index) => Command::Photo { step_id: (*step).into(), photo: photo(*index), origin },
            Self::Complete => Command::Complete { signature: None, origin },
            Self::Exit => Command::Exit { reason: "The key does not fit".into() },
            Self::Cancel => Command::Cancel { reason: None },
            Self::Extend(hours) => Command::Extend { expires_at: hours.map(|hours| now + SignedDuration::from_hours(hours)) },
            Self::LateAnswer(value) => answer("s-one", value, queued()),
            Self::LateComplete => Command::Complete { signature: None, origin: queued() },
        }
    }
}

fn answer(step: &str, value: &Value, origin: Origin) -> Command {
    Command::Answer { step_id: step.into(), given: Given::value(value.clone()), seen_rev: None, origin }
}

fn photo(index: u32) -> Photo {
    Photo {
        photo_id: format!("p-{index}"),
        photo_index: index,
        width: None,
        height: None,
        bytes: None,
        sha256: None,
        captured_at: None,
        state: PhotoState::Stored,
    }
}

/// Anything that could happen now.
pub fn transitions(model: &Model) -> BoxedStrategy<Transition> {
    let of = |org: usize| {
        let keys = model.orgs[org].members.len();
        // The first owner speaks most.
        let key = prop_oneof![1 => Just(0), 1 => 0..keys];
        (Just(org), key, steps(model, org), troubles()).prop_map(|(org, key, step, faults)| Transition { org, key, step, faults })
    };
    prop_oneof![3 => of(0), 1 => of(1)].boxed()
}

/// What both organisations begin with: something of everything.
pub fn furnishing() -> Vec<Transition> {
    let label = |kind, org, n| Label { kind, org, n };
    let of = |org| {
        let (template, asset) = (label(Kind::Template, org, 0), label(Kind::Asset, org, 0));
        [
            Step::AddMember { email: "ann@model.example", role: Role::Admin },
            Step::CreateTemplate(Draft::Plain),
            Step::CreateTemplate(Draft::Branching),
            Step::CreateAsset { name: "Van", fields: json!({ "plate": "AB 1" }) },
            Step::CreateRun { template, asset: Some(asset), executor_ref: None, hours: Some(24.0) },
            Step::CreateRun { template: label(Kind::Template, org, 1), asset: None, executor_ref: Some("booking 7"), hours: None },
        ]
        .map(|step| Transition { org, key: 0, step, faults: Vec::new() })
    };
    of(0).into_iter().chain(of(1)).collect()
}

fn troubles() -> impl Strategy<Value = Vec<(&'static str, Trouble)>> {
    let operation = prop_oneof![
        5 => Just("TransactWriteItems"),
        2 => Just("GetItem"),
        2 => Just("Query"),
        1 => Just("UpdateItem"),
        1 => Just("BatchWriteItem"),
    ];
    let trouble = select(vec![Trouble::Conflict, Trouble::Throttle, Trouble::ServerError, Trouble::CutBefore, Trouble::CutAfter]);
    let some = proptest::collection::vec((operation, trouble), 1..=2);
    prop_oneof![5 => Just(Vec::new()), 1 => some]
}

fn steps(model: &Model, org: usize) -> BoxedStrategy<Step> {
    Union::new_weighted(vec![
        (8, moments()),
        (16, of_assets(model, org)),
        (11, of_templates(model, org)),
        (52, of_runs(model, org)),
        (20, of_members(model, org)),
        (3, plans()),
    ])
    .boxed()
}

fn moments() -> BoxedStrategy<Step> {
    let moments = [(4, 1), (2, 61_000), (4, 1_800_000), (3, 3 * 3_600_000), (2, 26 * 3_600_000), (1, 8 * 86_400_000), (1, 32 * 86_400_000)];
    let moments = moments.map(|(weight, milliseconds)| (weight, Just(Step::Advance(SignedDuration::from_millis(milliseconds)))));
    Union::new_weighted(moments.to_vec()).boxed()
}

/// Mostly what is there, sometimes what is gone, was never or is the other organisation's.
fn label(model: &Model, kind: Kind, org: usize) -> BoxedStrategy<Label> {
    let all = |org: usize| -> Vec<(Label, bool)> {
        let house = &model.orgs[org];
        match kind {
            Kind::Asset => house.assets.iter().map(|asset| (asset.label, asset.gone)).collect(),
            Kind::Template => house.templates.iter().map(|template| (template.label, template.gone)).collect(),
            Kind::Run => house.runs.iter().map(|run| (run.label, run.gone)).collect(),
            Kind::Member | Kind::Invitation => house.members.iter().map(|member| (member.label, member.gone)).collect(),
        }
    };
    let mut live: Vec<Label> = all(org).into_iter().filter(|(_, gone)| !gone).map(|(label, _)| label).collect();
    let never = Label { kind, org, n: 99 };
    live.extend(live.is_empty().then_some(never));
    let mut others: Vec<Label> = all(0).into_iter().chain(all(1)).map(|(label, _)| label).collect();
    others.push(never);
    prop_oneof![9 => select(live), 1 => select(others)].boxed()
}

fn of_assets(model: &Model, org: usize) -> BoxedStrategy<Step> {
    let there = if model.orgs[org].live_assets().next().is_some() { 4 } else { 1 };
    let asset = || label(model, Kind::Asset, org);
    let name = || select(vec!["Van", "Flat", "Boat"]);
    prop_oneof![
        3 => (name(), fields()).prop_map(|(name, fields)| Step::CreateAsset { name, fields }),
        there => (asset(), proptest::option::of(name()), proptest::option::weighted(0.8, fields()))
            .prop_map(|(asset, name, fields)| Step::UpdateAsset { asset, name, fields }),
        1 => asset().prop_map(Step::GetAsset),
        there => asset().prop_map(Step::DeleteAsset),
        1 => (1_usize..4).prop_map(|limit| Step::ListAssets { limit }),
    ]
    .boxed()
}

fn fields() -> impl Strategy<Value = Value> {
    let value = prop_oneof![
        6 => select(vec![json!(1), json!(2.5), json!("red"), json!("blå"), json!(true), json!("")]),
        3 => Just(Value::Null),
        1 => Just(json!(["not allowed"])),
    ];
    proptest::collection::vec((select(vec!["plate", "seats", "colour"]), value), 0..3)
        .prop_map(|fields| fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>().into())
}

fn of_templates(model: &Model, org: usize) -> BoxedStrategy<Step> {
    let there = if model.orgs[org].live_templates().next().is_some() { 4 } else { 1 };
    let template = || label(model, Kind::Template, org);
    let draft = || prop_oneof![8 => select(Draft::ALL[..3].to_vec()), 1 => select(Draft::ALL[3..].to_vec())];
    let part = |name: &str, value: Value| Map::from_iter([(name.to_owned(), value)]);
    let parts = prop_oneof![
        2 => Just(part("name", json!("Renamed"))),
        2 => Just(part("description", json!("What it is for"))),
        1 => Just(part("tags", json!(["spring", "north"]))),
        4 => draft().prop_map(Draft::parts),
        1 => Just(Map::new()),
    ];
    prop_oneof![
        5 => draft().prop_map(Step::CreateTemplate),
        there => (template(), parts).prop_map(|(template, parts)| Step::UpdateTemplate(template, parts)),
        1 => template().prop_map(Step::GetTemplate),
        1 => template().prop_map(Step::DeleteTemplate),
        1 => Just(Step::ListTemplates),
    ]
    .boxed()
}

fn of_runs(model: &Model, org: usize) -> BoxedStrategy<Step> {
    let house = &model.orgs[org];
    let there = if house.live_runs().next().is_some() { 24 } else { 1 };
    let possible = if house.live_templates().next().is_some() { 12 } else { 1 };
    let run = || label(model, Kind::Run, org);
    let status = select(vec!["pending", "in_progress", "completed", "cancelled", "expired"]);
    let asset = proptest::option::weighted(if house.live_assets().next().is_some() { 0.8 } else { 0.1 }, label(model, Kind::Asset, org));
    let hours = prop_oneof![2 => Just(None), 3 => Just(Some(0.5)), 2 => Just(Some(24.0))];
    let executor_ref = proptest::option::weighted(0.2, select(vec!["booking 7", "booking 8"]));
    let operation = proptest::option::weighted(0.4, (0..6).prop_map(|n| format!("op-{n}")));
    prop_oneof![
        possible => (label(model, Kind::Template, org), asset, executor_ref, hours)
            .prop_map(|(template, asset, executor_ref, hours)| Step::CreateRun { template, asset, executor_ref, hours }),
        there => (run(), deeds(model, org), operation).prop_map(|(run, deed, operation)| Step::Execute { run, deed, operation }),
        4 => run().prop_map(Step::GetRun),
        4 => (proptest::option::of(status), 1_usize..4, 0_usize..5)
            .prop_map(|(status, limit, offset)| Step::ListRuns { status, limit, offset }),
        3 => run().prop_map(Step::DeleteRun),
    ]
    .boxed()
}

fn deeds(model: &Model, org: usize) -> BoxedStrategy<Deed> {
    let members: Vec<Label> = model.orgs[org].members.iter().map(|member| member.label).collect();
    let step = || select(vec!["s-one", "s-two", "s-why", "s-nil"]);
    let text = select(vec![json!("all well"), json!("a leak"), json!(7)]);
    prop_oneof![
        3 => proptest::option::of(select(members)).prop_map(Deed::Open),
        8 => any::<bool>().prop_map(|clean| Deed::Answer("s-one", json!(clean))),
        5 => (select(vec!["s-two", "s-why", "s-nil"]), text).prop_map(|(step, text)| Deed::Answer(step, text)),
        2 => step().prop_map(Deed::Skip),
        2 => step().prop_map(Deed::Clear),
        2 => (step(), 0_u32..3).prop_map(|(step, index)| Deed::Photo(step, index)),
        5 => Just(Deed::Complete),
        2 => Just(Deed::Exit),
        2 => Just(Deed::Cancel),
        6 => select(vec![None, Some(-1), Some(1), Some(48)]).prop_map(Deed::Extend),
        2 => any::<bool>().prop_map(|clean| Deed::LateAnswer(json!(clean))),
        1 => Just(Deed::LateComplete),
    ]
    .boxed()
}

fn of_members(model: &Model, org: usize) -> BoxedStrategy<Step> {
    let member = || label(model, Kind::Member, org);
    let email = || select(vec!["ann@model.example", "bob@model.example", "cy@model.example"]);
    let written =
        select(vec!["ann@model.example", "Bob@Model.example", " cy@model.example", "owner0@model.example", "owner1@model.example"]);
    let invited = proptest::option::of(select(vec![Role::Admin, Role::Member]));
    let role = || select(vec![Role::Owner, Role::Admin, Role::Member]);
    prop_oneof![
        6 => (written, invited).prop_map(|(email, role)| Step::Invite { email, role }),
        5 => member().prop_map(Step::RemoveMember),
        5 => (email(), role()).prop_map(|(email, role)| Step::AddMember { email, role }),
        4 => (member(), role()).prop_map(|(member, role)| Step::SetRole(member, role)),
        1 => member().prop_map(Step::Expel),
        1 => Just(Step::ListMembers),
    ]
    .boxed()
}

fn plans() -> BoxedStrategy<Step> {
    let plan = (0_u32..9, 1_u32..5, 0_u32..4, 0_u32..4).prop_map(|(runs_per_month, members, templates, assets)| Plan {
        runs_per_month,
        members,
        templates,
        assets,
    });
    (prop_oneof![Just(PLAN), plan], select(vec![None, Some(0.5), Some(48.0)]))
        .prop_map(|(plan, hours)| Step::ChangePlan(plan, hours))
        .boxed()
}
