//! Two organisations with something of everything. Whatever the one wrote, or was called, holds a word that the other
//! must never read.

use std::collections::BTreeMap;

use checklists::members::Role;
use checklists_rules::Command;
use checklists_rules::answer::{Given, Photo, PhotoState};
use checklists_rules::run::{Identity, Origin};
use jiff::SignedDuration;
use onepost_core::http::Response;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::world::World;

/// The word, in the forms it is planted in.
const CANARIES: [&str; 2] = ["canary", "Canary"];

/// How many ids an organisation has, at least.
pub const IDS: usize = 12;

/// A step, a section and an option of the organisation's template.
pub const STEP_IDS: [&str; 3] = ["s-canary", "g-canary", "o-canary"];

/// Addresses of the organisation's members and invitations.
pub const EMAILS: [&str; 3] = ["owner@canary.example", "ann@canary.example", "invited@canary.example"];

/// A batch takes no more.
const MOST_IN_A_BATCH: usize = 20;

pub struct Stage {
    pub world: World,
    pub a: Furnished,
    pub b: Furnished,
}

pub struct Furnished {
    pub org: String,
    pub key: String,
    /// The first letter of the kind, and the id.
    pub ids: Vec<(char, String)>,
}

impl Furnished {
    /// The first id of this kind.
    pub fn one_of(&self, kind: char) -> String {
        self.ids.iter().find(|(of, _)| *of == kind).unwrap().1.clone()
    }
}

/// Both organisations, furnished. The caller of everything is `b`.
pub async fn stage() -> Stage {
    empty_handed().await.furnish_a().await
}

/// The same, where `a` has nothing yet.
pub async fn empty_handed() -> Stage {
    let world = World::new().await;
    let mut both = Vec::new();
    for name in ["canary", "brook"] {
        let tenant = world.another(name).await;
        let ids = vec![('u', tenant.owner.user_id.clone()), ('o', tenant.organisation.id.clone())];
        both.push(Furnished { org: tenant.organisation.id, key: tenant.key, ids });
    }
    let [a, mut b] = <[Furnished; 2]>::try_from(both).unwrap_or_else(|_| unreachable!("two were made"));
    furnish(&world, &mut b, "brook").await;
    // The use of a key is written down once an hour; later calls write nothing.
    let stage = Stage { world, a, b };
    stage.ask("list_assets", json!({})).await;
    stage
}

async fn furnish(world: &World, tenant: &mut Furnished, word: &str) {
    let call = |tool: &'static str, arguments: Value| {
        let key = tenant.key.clone();
        async move { world.call_with(&key, tool, arguments).await.done() }
    };
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut ids = Vec::new();
    for n in 0..3 {
        let fields = json!({ format!("{word} field"): format!("{word} value {n}"), "plate": n });
        let asset = call("create_asset", json!({ "name": format!("{word} asset {n}"), "fields": fields })).await;
        ids.push(('a', text(&asset["id"])));
        world.clock.advance(SignedDuration::from_millis(5));
    }
    let options = json!([{ "id": format!("o-{word}"), "label": format!("{word} option") }, { "id": "o-other", "label": "Another" }]);
    let choice = json!({ "id": "s-choice", "type": "choice", "label": format!("{word} choice"), "config": { "options": options } });
    let step = json!({ "id": format!("s-{word}"), "type": "text", "label": format!("{word} label"), "hint": format!("{word} hint"), "photo": { "min": 0, "max": 3 }, "note": "optional" });
    for n in 0..2 {
        let template = json!({
            "name": format!("{word} template {n}"), "description": format!("{word} description"), "tags": [format!("{word} tag")],
            "sections": [{ "id": format!("g-{word}"), "title": format!("{word} title"), "steps": [step, choice] }],
        });
        ids.push(('t', text(&call("create_template", template).await["id"])));
    }
    let org = world.desk.org(&tenant.org);
    for (n, command) in [None, Some(false), Some(true)].into_iter().enumerate() {
        let (template, asset) = (&ids[3].1, &ids[0].1);
        let run = call(
            "create_run",
            json!({ "template_id": template, "asset_id": asset, "executor_ref": format!("{word} {n}"), "expires_in_hours": 48 }),
        );
        let run = text(&run.await["run_id"]);
        if let Some(left) = command {
            let name = format!("{word} person");
            let photo = Photo {
                photo_id: format!("p-{word}"),
                photo_index: 0,
                width: None,
                height: None,
                bytes: None,
                sha256: None,
                captured_at: None,
                state: PhotoState::Stored,
            };
            let given = Given { photos: vec![photo], note: Some(format!("{word} note")), ..Given::value(format!("{word} answer")) };
            let mut commands = vec![
                Command::Open { identity: Identity::external(&name) },
                Command::Answer { step_id: format!("s-{word}"), given, seen_rev: None, origin: Origin::live(&name) },
            ];
            commands.extend(left.then(|| Command::Exit { reason: format!("{word} reason") }));
            for command in commands {
                world.store.change_run(&org, &run, None, &command, world.now()).await.unwrap();
            }
        }
        ids.push(('r', run));
    }
    let ann = world.desk.add_member(&tenant.org, &format!("{word} member"), &format!("ann@{word}.example"), Role::Admin).await.unwrap();
    ids.push(('u', ann.user_id));
    let invited = call("invite_member", json!({ "email": format!("invited@{word}.example") })).await;
    ids.push(('i', text(&invited["invitation_id"])));
    tenant.ids.extend(ids);
    tenant.ids.sort();
}

impl Stage {
    pub async fn furnish_a(mut self) -> Self {
        let before = self.world.now();
        furnish(&self.world, &mut self.a, "canary").await;
        // What `b` is told depends on the time, and not on what `a` has.
        self.world.clock.advance(before.duration_since(self.world.now()));
        self
    }

    /// Status and body of what `b` is answered.
    pub async fn ask(&self, tool: &str, arguments: Value) -> String {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": arguments } });
        told(&self.world.post(&self.b.key, body.to_string()).await)
    }

    /// What `b` is answered to many calls, each as it stands in the answer to a batch.
    pub async fn ask_all(&self, calls: Vec<(&str, Value)>) -> Vec<String> {
        let mut answers = Vec::new();
        for batch in calls.chunks(MOST_IN_A_BATCH) {
            let call = |(tool, arguments): &(&str, Value)| json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": arguments } });
            let body = Value::Array(batch.iter().map(call).collect()).to_string();
            let response = self.world.post(&self.b.key, body).await;
            let parts: Vec<Box<RawValue>> = serde_json::from_slice(response.body()).unwrap();
            assert_eq!(parts.len(), batch.len(), "every call is answered");
            answers.extend(parts.iter().map(|part| part.get().to_owned()));
        }
        answers
    }

    #[track_caller]
    pub fn says_nothing_of_a(&self, answer: &str) {
        assert!(!CANARIES.iter().any(|canary| answer.contains(canary)), "{answer}");
        assert!(!self.a.ids.iter().any(|(_, id)| answer.contains(id.as_str())), "{answer}");
    }

    /// Every row of the table.
    pub fn everything(&self) -> BTreeMap<String, String> {
        self.rows_where(|_| true)
    }

    /// The rows of one organisation, those of its keys and links among them.
    pub fn rows_of(&self, org: &str) -> BTreeMap<String, String> {
        self.rows_where(|row| row.contains(org))
    }

    fn rows_where(&self, wanted: impl Fn(&str) -> bool) -> BTreeMap<String, String> {
        let rows = self.world.rows();
        let rows =
            rows.iter().map(|row| (format!("{:?} {:?}", row["pk"], row["sk"]), format!("{:?}", row.iter().collect::<BTreeMap<_, _>>())));
        rows.filter(|(_, row)| wanted(row)).collect()
    }
}

/// Status and body, the parts that a caller could tell answers apart by.
pub fn told(response: &Response) -> String {
    let body = String::from_utf8(response.body().to_vec()).unwrap();
    format!("{} {body}", response.status().as_u16())
}

/// The answer without the UUIDs in it.
pub fn without_ids(answer: &str) -> String {
    let is_uuid = |part: &[u8]| {
        part.iter().enumerate().all(|(n, byte)| if [8, 13, 18, 23].contains(&n) { *byte == b'-' } else { byte.is_ascii_hexdigit() })
    };
    let bytes = answer.as_bytes();
    let Some(at) = (0..bytes.len().saturating_sub(35)).find(|at| is_uuid(&bytes[*at..*at + 36])) else { return answer.to_owned() };
    format!("{}new{}", &answer[..at], without_ids(&answer[at + 36..]))
}

/// Every list, in every order of its filters and places.
pub fn list_questions() -> Vec<(&'static str, Value)> {
    let mut questions = vec![("list_assets", json!({})), ("list_templates", json!({})), ("list_members", json!({}))];
    questions.extend(
        (1..6)
            .map(|limit| ("list_assets", json!({ "limit": limit })))
            .filter(|(_, arguments)| arguments["limit"] != 1 && arguments["limit"] != 2),
    );
    for status in [None, Some("pending"), Some("in_progress"), Some("completed"), Some("cancelled"), Some("expired")] {
        for limit in [1, 2, 100] {
            for offset in [0, 1, 2, 3, 4, 50, 1_000_000] {
                let mut arguments = json!({ "limit": limit, "offset": offset });
                if let Some(status) = status {
                    arguments["status"] = json!(status);
                }
                questions.push(("list_runs", arguments));
            }
        }
    }
    questions
}

/// A call of every tool that would succeed.
pub fn one_call_each(own: &Furnished) -> Vec<(&'static str, Value)> {
    let (asset, template, run) = (own.one_of('a'), own.one_of('t'), own.one_of('r'));
    vec![
        ("list_assets", json!({})),
        ("get_asset", json!({ "asset_id": asset })),
        ("create_asset", json!({ "name": "x" })),
        ("update_asset", json!({ "asset_id": asset, "name": "x" })),
        ("delete_asset", json!({ "asset_id": asset })),
        ("list_templates", json!({})),
        ("get_template", json!({ "template_id": template })),
        ("create_template", json!({ "name": "x" })),
        ("update_template", json!({ "template_id": template, "name": "x" })),
        ("delete_template", json!({ "template_id": template })),
        ("create_run", json!({ "template_id": template })),
        ("get_run", json!({ "run_id": run })),
        ("list_runs", json!({})),
        ("delete_run", json!({ "run_id": run })),
        ("list_members", json!({})),
        ("invite_member", json!({ "email": "x@brook.example" })),
        ("remove_member", json!({ "user_id": own.one_of('u') })),
    ]
}
