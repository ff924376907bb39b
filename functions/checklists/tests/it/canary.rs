//! What the log must never hold: a key, a secret, an argument, a result. Every tool and every kind of error is run with
//! values that occur nowhere else, and then looked for.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use onepost_cloud::table::faults::Fault;
use onepost_cloud::telemetry::Observed;
use onepost_core::auth::KNOWN_FOR;
use onepost_core::http::{Endpoint, Request, Response};
use onepost_core::id::Ids;
use onepost_core::mcp::Record;
use serde_json::{Value, json};
use tracing_subscriber::fmt::MakeWriter;

use crate::world::World;

/// Where the log goes.
#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'w> MakeWriter<'w> for Paper {
    type Writer = Self;

    fn make_writer(&'w self) -> Self {
        self.clone()
    }
}

/// The endpoint as Lambda serves it.
struct Borrowed<'w>(&'w World);

impl Endpoint for Borrowed<'_> {
    fn answer(&self, request: Request) -> std::pin::Pin<Box<dyn Future<Output = Response> + Send + '_>> {
        self.0.server.answer(request)
    }
}

/// What was sent and must not be seen again, and the log so far.
struct Watch<'w> {
    world: &'w World,
    paper: Paper,
    secrets: Vec<String>,
    requests: usize,
}

/// All texts inside a value, names of members too.
fn texts(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) => into.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, into)),
        Value::Object(members) => members.iter().for_each(|(_, member)| texts(member, into)),
        _ => {}
    }
}

impl<'w> Watch<'w> {
    fn new(world: &'w World, paper: &Paper) -> Self {
        let key = &world.home.key;
        let secrets = vec![key.clone(), key["rdk_live_".len() + 12..].to_owned(), world.home.organisation.id.clone()];
        Self { world, paper: paper.clone(), secrets, requests: 0 }
    }

    /// Sends a request; nothing of it or of its answer may be in the record or in the log, whoever writes there.
    async fn send(&mut self, request: http::request::Builder, body: String) -> Value {
        self.requests += 1;
        let request = request.body(body.into()).unwrap();
        let response = Observed(Borrowed(self.world)).answer(request).await;
        let record = format!("{:?}", response.extensions().get::<Record>().unwrap());
        let answer: Value = serde_json::from_slice(response.body()).unwrap_or_default();
        texts(&answer["result"]["structuredContent"], &mut self.secrets);
        let log = String::from_utf8(self.paper.0.lock().unwrap().clone()).unwrap();
        assert_eq!(self.lines().len(), self.requests, "one line a request: {log}");
        for seen in [&record, &log] {
            assert!(!seen.to_lowercase().contains("canary"), "{seen}");
            for secret in self.secrets.iter().filter(|secret| secret.len() > 11) {
                assert!(!seen.contains(secret), "{secret} is in {seen}");
            }
        }
        answer
    }

    /// The lines that requests wrote. The engine and the SDK have theirs beside them.
    fn lines(&self) -> Vec<String> {
        let log = String::from_utf8(self.paper.0.lock().unwrap().clone()).unwrap();
        log.lines().filter(|line| line.contains("onepost_cloud::telemetry")).map(str::to_owned).collect()
    }

    fn post(&self, key: &str) -> http::request::Builder {
        http::Request::post("/mcp").header("authorization", format!("Bearer {key}")).header("content-type", "application/json")
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        texts(&arguments, &mut self.secrets);
        let body =
            json!({ "jsonrpc": "2.0", "id": "canary-id", "method": "tools/call", "params": { "name": tool, "arguments": arguments } });
        self.send(self.post(&self.world.home.key), body.to_string()).await
    }
}

fn listening(paper: &Paper) -> tracing::subscriber::DefaultGuard {
    let subscriber = tracing_subscriber::fmt().json().flatten_event(true).with_max_level(tracing::Level::INFO).with_writer(paper.clone());
    tracing::subscriber::set_default(subscriber.finish())
}

/// The id that a call answered.
fn id(answer: &Value, member: &str) -> Value {
    let id = &answer["result"]["structuredContent"][member];
    assert!(id.is_string(), "{answer}");
    id.clone()
}

/// A call of every tool that succeeds.
async fn every_tool(watch: &mut Watch<'_>) {
    let fields = json!({ "canary field": "canary-value", "other": 5 });
    let asset = id(&watch.call("create_asset", json!({ "name": "canary-asset", "fields": fields })).await, "id");
    watch.call("update_asset", json!({ "asset_id": asset, "name": "canary-renamed" })).await;
    let steps = json!([{ "id": "s-canary", "type": "boolean", "label": "canary-label", "x_canary": "canary-own" }]);
    let sections = json!([{ "title": "canary-title", "steps": steps }]);
    let arguments = json!({ "name": "canary-name", "description": "canary-text", "tags": ["canary-tag"], "sections": sections });
    let template = id(&watch.call("create_template", arguments).await, "id");
    watch.call("update_template", json!({ "template_id": template, "description": "canary-other" })).await;
    let arguments = json!({ "template_id": template, "asset_id": asset, "executor_ref": "canary-ref", "expires_in_hours": 3 });
    let run = id(&watch.call("create_run", arguments).await, "run_id");
    watch.world.answer_step(run.as_str().unwrap(), "s-canary", true).await;
    watch.call("invite_member", json!({ "email": "canary@canary.example" })).await;
    for (tool, argument, of) in [("get_asset", "asset_id", &asset), ("get_template", "template_id", &template), ("get_run", "run_id", &run)]
    {
        watch.call(tool, json!({ argument: of })).await;
    }
    for list in ["list_assets", "list_templates", "list_runs", "list_members"] {
        let answer = watch.call(list, json!({})).await;
        assert!(answer.to_string().contains("canary"), "{answer}");
    }
    let (member, _) = watch.world.colleague("canary.member@canary.example", checklists::members::Role::Member).await;
    watch.call("remove_member", json!({ "user_id": member.user_id })).await;
    watch.call("delete_asset", json!({ "asset_id": asset })).await;
    for (tool, argument, of) in
        [("delete_run", "run_id", &run), ("delete_asset", "asset_id", &asset), ("delete_template", "template_id", &template)]
    {
        watch.call(tool, json!({ argument: of })).await;
    }
}

#[tokio::test]
async fn no_key_and_no_argument_of_any_tool_is_logged() {
    let (world, paper) = (World::new().await, Paper::default());
    let _guard = listening(&paper);
    let mut watch = Watch::new(&world, &paper);
    every_tool(&mut watch).await;
    let log = watch.lines().join("\n");
    for tool in world.server.catalog().names() {
        assert!(log.contains(&format!(r#""call":"{tool}""#)), "{tool} is not in {log}");
    }
    // The public part of the key is: it is what an operator revokes a key by.
    assert!(log.contains(&world.home.key["rdk_live_".len()..][..12]));
    // A line of a call that ends well has a budget of 200 bytes, more or less a digit of a slow machine. In Lambda it
    // has no target.
    let target = r#","target":"onepost_cloud::telemetry""#.len();
    let ends_well = |line: &&str| line.contains("INFO") && !line.contains("outcome");
    let longest = log.lines().filter(ends_well).map(|line| line.len() - target).max().unwrap();
    assert!(longest <= 203, "{longest} bytes a line: {log}");
}

#[tokio::test]
async fn refusals_and_faults_log_nothing_of_what_was_sent() {
    let (world, paper) = (World::new().await, Paper::default());
    let _guard = listening(&paper);
    let mut watch = Watch::new(&world, &paper);
    let watch = &mut watch;
    let never = |prefix: &str| format!("{prefix}-0000cafe-0000-4000-8000-000000000000");
    // Arguments that the schema refuses, a value that the rules refuse, an id that is not there, a cursor.
    for (tool, arguments) in [
        ("get_asset", json!({ "asset_id": "canary-id" })),
        ("create_asset", json!({ "canary": "canary-value" })),
        ("create_asset", json!({ "name": "canary", "fields": { "canary!": ["canary-value"] } })),
        ("create_template", json!({ "name": "canary", "sections": [{ "canary": "canary", "steps": [{ "type": "canary" }] }] })),
        ("update_template", json!({ "template_id": never("t"), "name": "canary" })),
        ("create_run", json!({ "template_id": never("t"), "executor_ref": "canary" })),
        ("get_run", json!({ "run_id": never("r") })),
        ("delete_run", json!({ "run_id": never("r") })),
        ("remove_member", json!({ "user_id": never("u") })),
        ("invite_member", json!({ "email": "canary at canary" })),
        ("list_assets", json!({ "cursor": "canary-cursor" })),
        ("list_runs", json!({ "status": "canary" })),
        ("canary_tool", json!({ "canary": 1 })),
    ] {
        let answer = watch.call(tool, arguments).await;
        assert!(answer.get("error").is_some() || answer["result"]["isError"] == true, "{answer}");
    }
    // Bodies, methods, versions, paths and headers.
    let key = world.home.key.clone();
    for body in ["{\"canary", r#"{"jsonrpc":"2.0","id":"canary","method":"canary/method"}"#, r#"[{"canary":1}]"#, "\"canary\""] {
        watch.send(watch.post(&key), body.to_owned()).await;
    }
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"canary":"canary"}}"#;
    for (header, value) in
        [("mcp-protocol-version", "canary"), ("origin", "https://canary.example"), ("x-canary", "canary"), ("content-encoding", "canary")]
    {
        watch.send(watch.post(&key).header(header, value), list.to_owned()).await;
    }
    watch.send(watch.post(&key).uri("/canary?canary=1").method("PUT"), list.to_owned()).await;
    watch.send(watch.post(&key).uri("/mcp?token=canary"), list.to_owned()).await;
    // Keys that open nothing.
    let unknown = checklists::KEYS.mint(&Ids::default()).reveal().to_owned();
    watch.secrets.extend([unknown.clone(), unknown[21..].to_owned()]);
    for key in [unknown.as_str(), "rdk_live_canary", "canary"] {
        watch.send(watch.post(key), list.to_owned()).await;
    }
}

/// Here the log has a cause, which is what somebody else said.
#[tokio::test]
async fn the_cause_of_a_fault_is_logged_without_what_was_sent() {
    let (world, paper) = (World::new().await, Paper::default());
    let _guard = listening(&paper);
    let mut watch = Watch::new(&world, &paper);
    watch.call("create_asset", json!({ "name": "canary" })).await;
    world.outbox.break_down(true);
    let answer = watch.call("invite_member", json!({ "email": "Canary.Invited@canary.example" })).await;
    assert!(answer.to_string().contains("mail_unavailable"), "{answer}");
    for fault in [(|| Fault::ServerError) as fn() -> Fault, || Fault::CutBefore, || Fault::Throttle] {
        for _ in 0..6 {
            world.faults.next("TransactWriteItems", fault());
        }
        let answer = watch.call("create_asset", json!({ "name": "canary", "fields": { "canary": "canary-value" } })).await;
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        for _ in 0..6 {
            world.faults.next("GetItem", fault());
        }
        world.faults.next("GetItem", Fault::Slow(Duration::ZERO));
        world.clock.advance(KNOWN_FOR);
        let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        watch.send(watch.post(&world.home.key), list.to_owned()).await;
        world.faults.forget();
    }
    let with_cause = watch.lines().iter().filter(|line| line.contains("ERROR") && line.contains(r#""cause":""#)).count();
    assert_eq!(with_cause, 7, "a mail, three writes and three key checks");
}
