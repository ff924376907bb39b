//! One product on an embedded table, with a clock that stands still, an outbox instead of a mail server, and faults on
//! command.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use checklists::Checklists;
use checklists::links::Site;
use checklists::mail::{Mail, Mailer, Undelivered};
use checklists::members::{Member, Role};
use checklists::operator::Desk;
use checklists::store::{DESIGN, Organisation, Settled, Store};
use checklists_rules::Command;
use checklists_rules::answer::Given;
use checklists_rules::run::Origin;
use dynoxide::AttributeValue;
use dynoxide::actions::scan::ScanRequest;
use jiff::Timestamp;
use onepost_cloud::aws;
use onepost_cloud::limits::{Limiter, Limits};
use onepost_cloud::table::faults::Faults;
use onepost_cloud::table::{Table, Usage, measured};
use onepost_core::auth::{KeyCache, Org, Pepper, Peppers};
use onepost_core::clock::{Clock, ManualClock};
use onepost_core::error::ToolError;
use onepost_core::http::{Endpoint, Gate, Request, Response};
use onepost_core::id::Ids;
use onepost_core::mcp::Server;
use serde_json::{Value, json};

/// When every test begins.
pub const START: &str = "2026-05-22T08:31:00Z";

/// The product and everything a test may reach for.
pub struct World {
    pub server: Server<Checklists>,
    pub desk: Desk,
    pub store: Store,
    pub faults: Faults,
    pub clock: Arc<ManualClock>,
    pub outbox: Arc<Outbox>,
    /// The table's engine, to look at what is stored.
    pub database: dynoxide::Database,
    /// The organisation that most tests speak for.
    pub home: Tenant,
}

/// An item as it lies in the table.
pub type Row = HashMap<String, AttributeValue>;

/// An organisation with an owner and the owner's key.
pub struct Tenant {
    pub organisation: Organisation,
    pub owner: Member,
    pub key: String,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// A result.
    Done(Value),
    /// A result with `isError`.
    Refused(Value),
    /// A JSON-RPC error.
    Protocol(Value),
}

impl Said {
    /// The result.
    #[track_caller]
    pub fn done(self) -> Value {
        match self {
            Self::Done(value) => value,
            other => panic!("expected a result, got {other:?}"),
        }
    }

    /// The code of the refusal.
    #[track_caller]
    pub fn code(&self) -> &str {
        match self {
            Self::Refused(error) => error["error"].as_str().expect("a refusal has a code"),
            other => panic!("expected a refusal, got {other:?}"),
        }
    }

    /// The whole refusal.
    #[track_caller]
    pub fn refusal(self) -> Value {
        match self {
            Self::Refused(error) => error,
            other => panic!("expected a refusal, got {other:?}"),
        }
    }

    /// The rules that the arguments broke, with their places.
    #[track_caller]
    pub fn violations(&self) -> Vec<(String, String)> {
        let Self::Protocol(error) = self else { panic!("expected a protocol error, got {self:?}") };
        assert_eq!(error["code"], -32602, "{error}");
        let errors = error["data"]["errors"].as_array().unwrap_or_else(|| panic!("no list of errors in {error}"));
        errors.iter().map(|one| (one["path"].as_str().unwrap().to_owned(), one["rule"].as_str().unwrap().to_owned())).collect()
    }
}

impl World {
    pub async fn new() -> Self {
        let database = dynoxide::Database::memory().unwrap();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(dynoxide::server::serve_with_shutdown(listener, database.clone(), std::future::pending()));

        let faults = Faults::default();
        let config = faults.in_front_of(&aws::on_this_machine(&endpoint));
        let store = Store::new(Table::new(&config, "checklists"));
        store.table().provision(&DESIGN).await.unwrap();

        let peppers = Peppers::new(Pepper::new("1", [7; 32]), None);
        let clock = Arc::new(ManualClock::at(START.parse().unwrap()));
        let outbox = Arc::new(Outbox::default());
        let server = serve(&store, &peppers, &outbox, &clock, None);
        let desk = Desk::new(store.clone(), peppers, clock.clone());
        let home = tenant(&desk, "Home", "olive@home.example").await;
        Self { server, desk, store, faults, clock, outbox, home, database }
    }

    /// The same product after a cold start with these peppers.
    pub fn serve_with(&mut self, peppers: Peppers) {
        self.server = serve(&self.store, &peppers, &self.outbox, &self.clock, None);
        self.desk = Desk::new(self.store.clone(), peppers, self.clock.clone());
    }

    /// Lets keys and organisations make no more calls than these. Each time this is an instance of its own.
    pub fn limit_to(&mut self, limits: Limits) {
        let peppers = Peppers::new(Pepper::new("1", [7; 32]), None);
        let limiter = Limiter::new(self.store.table().clone(), limits);
        self.server = serve(&self.store, &peppers, &self.outbox, &self.clock, Some(limiter));
    }

    /// Another organisation.
    pub async fn another(&self, name: &str) -> Tenant {
        tenant(&self.desk, name, &format!("owner@{}.example", name.to_lowercase())).await
    }

    /// A further member of the home organisation, and a key of theirs.
    pub async fn colleague(&self, email: &str, role: Role) -> (Member, String) {
        let id = &self.home.organisation.id;
        let member = self.desk.add_member(id, "A colleague", email, role).await.unwrap();
        let key = self.desk.mint_key(id, &member.user_id, "theirs", None).await.unwrap();
        (member, key.plain.reveal().to_owned())
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub fn home_org(&self) -> Org {
        self.desk.org(&self.home.organisation.id)
    }

    /// Calls a tool with the home organisation's key.
    pub async fn call(&self, tool: &str, arguments: Value) -> Said {
        self.call_with(&self.home.key, tool, arguments).await
    }

    /// Calls a tool with this key.
    pub async fn call_with(&self, key: &str, tool: &str, arguments: Value) -> Said {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": arguments } });
        let response = self.post(key, body.to_string()).await;
        assert_eq!(response.status(), 200, "{response:?}");
        let answer: Value = serde_json::from_slice(response.body()).unwrap();
        read(&answer)
    }

    /// Calls a tool and tells what it consumed, the key check left out.
    pub async fn cost_of(&self, tool: &str, arguments: Value) -> (Said, Usage) {
        // The key was read a moment ago, and noted as used: only tools that write read it again.
        self.call("list_templates", json!({})).await.done();
        let (said, usage) = measured(self.call(tool, arguments)).await;
        let writes = self.server.catalog().specs().any(|(spec, ..)| spec.name == tool && !spec.hints.read_only);
        match said {
            Said::Done(_) | Said::Refused(_) if writes => {
                (said, Usage { reads: usage.reads - 1.0, round_trips: usage.round_trips - 1, ..usage })
            }
            _ => (said, usage),
        }
    }

    pub async fn post(&self, key: &str, body: impl Into<Bytes>) -> Response {
        let request =
            http::Request::post("/mcp").header("authorization", format!("Bearer {key}")).header("content-type", "application/json");
        self.answer(request.body(body.into()).unwrap()).await
    }

    pub async fn answer(&self, request: Request) -> Response {
        self.server.answer(request).await
    }

    /// An asset's id.
    pub async fn asset(&self, name: &str) -> String {
        id_of(self.call("create_asset", json!({ "name": name })).await, "id")
    }

    /// The id of a template with one yes-or-no step, `s-one`.
    pub async fn template(&self) -> String {
        let sections = json!([{ "steps": [{ "id": "s-one", "type": "boolean", "label": "Is it clean?", "required": true }] }]);
        id_of(self.call("create_template", json!({ "name": "Check", "sections": sections })).await, "id")
    }

    /// The id of a template with these steps.
    pub async fn template_of(&self, steps: Value) -> String {
        id_of(self.call("create_template", json!({ "name": "Check", "sections": [{ "steps": steps }] })).await, "id")
    }

    /// Does to a run what its executor's page or the organisation would do.
    pub async fn change(&self, run_id: &str, command: Command) -> Settled {
        self.try_change(run_id, command).await.unwrap()
    }

    /// The same, where it may be refused.
    pub async fn try_change(&self, run_id: &str, command: Command) -> Result<Settled, ToolError> {
        self.store.change_run(&self.home_org(), run_id, None, &command, self.now()).await
    }

    /// Answers a step of a run.
    pub async fn answer_step(&self, run_id: &str, step_id: &str, value: impl Into<Value>) -> Settled {
        self.change(run_id, answered(step_id, value)).await
    }

    /// Every item of the table.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        let mut from = None;
        loop {
            let request = ScanRequest { table_name: "checklists".into(), exclusive_start_key: from.take(), ..ScanRequest::default() };
            let answer = self.database.scan(request).unwrap();
            rows.extend(answer.items.unwrap_or_default());
            from = answer.last_evaluated_key;
            if from.is_none() {
                return rows;
            }
        }
    }

    /// The items whose partition key begins so.
    pub fn rows_under(&self, pk: &str) -> Vec<Row> {
        self.rows().into_iter().filter(|row| matches!(&row["pk"], AttributeValue::S(found) if found.starts_with(pk))).collect()
    }

    /// A run's id.
    pub async fn run(&self, arguments: Value) -> String {
        id_of(self.call("create_run", arguments).await, "run_id")
    }
}

fn serve(store: &Store, peppers: &Peppers, outbox: &Arc<Outbox>, clock: &Arc<ManualClock>, limiter: Option<Limiter>) -> Server<Checklists> {
    Server::new(Checklists {
        store: store.clone(),
        peppers: peppers.clone(),
        site: Site::at("https://checklists.example"),
        mailer: Box::new(Counter(outbox.clone())),
        gate: Gate::default(),
        clock: Box::new(clock.clone()),
        ids: Ids::default(),
        keys: KeyCache::default(),
        limiter,
    })
}

async fn tenant(desk: &Desk, name: &str, email: &str) -> Tenant {
    let (organisation, owner) = desk.create_organisation(name, "Olive Owner", email).await.unwrap();
    let key = desk.mint_key(&organisation.id, &owner.user_id, "test", None).await.unwrap();
    Tenant { organisation, owner, key: key.plain.reveal().to_owned() }
}

/// The command that answers a step.
pub fn answered(step_id: &str, value: impl Into<Value>) -> Command {
    Command::Answer { step_id: step_id.into(), given: Given::value(value), seen_rev: None, origin: executor() }
}

/// The command that hands a run in.
pub fn handed_in() -> Command {
    Command::Complete { signature: None, origin: executor() }
}

/// Somebody with a phone.
pub fn executor() -> Origin {
    Origin::live("somebody")
}

fn id_of(said: Said, member: &str) -> String {
    said.done()[member].as_str().unwrap().to_owned()
}

/// What the answer to a tool call says.
pub fn read(answer: &Value) -> Said {
    if let Some(error) = answer.get("error") {
        return Said::Protocol(error.clone());
    }
    let result = &answer["result"];
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    if result["isError"] == true {
        assert_eq!(result.get("structuredContent"), None, "a refusal is text alone");
        return Said::Refused(text);
    }
    assert_eq!(result["structuredContent"], text, "text and structured content say the same");
    Said::Done(text)
}

/// Mail that would have been sent.
#[derive(Default)]
pub struct Outbox {
    sent: Mutex<Vec<Mail>>,
    down: AtomicBool,
}

impl Outbox {
    pub fn sent(&self) -> Vec<Mail> {
        self.sent.lock().unwrap().clone()
    }

    /// Lets all mail fail from now on, or no longer.
    pub fn break_down(&self, down: bool) {
        self.down.store(down, Ordering::Relaxed);
    }
}

/// Where mail is handed in.
struct Counter(Arc<Outbox>);

impl Mailer for Counter {
    fn send(&self, mail: Mail) -> Pin<Box<dyn Future<Output = Result<(), Undelivered>> + Send + '_>> {
        Box::pin(async move {
            if self.0.down.load(Ordering::Relaxed) {
                return Err(Undelivered::for_now("the outbox is broken"));
            }
            if mail.to.starts_with("refused") {
                return Err(Undelivered::for_good("the outbox does not like this address"));
            }
            self.0.sent.lock().unwrap().push(mail);
            Ok(())
        })
    }
}
