//! The function as it ships, under a Runtime API that stands in for Lambda's.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path as Parts, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::net::TcpListener;
use tokio::process::{Child, ChildStdout, Command};
use tokio::sync::{Mutex, Notify, mpsc};

use crate::Failed;
use crate::ground::Ground;

/// How long anything may take until it is taken to be stuck. No figure depends on it.
const STUCK: Duration = Duration::from_secs(120);

/// Lambda's side of the conversation.
struct Api {
    events: Mutex<mpsc::Receiver<String>>,
    answers: mpsc::UnboundedSender<(String, String)>,
    polled: Notify,
}

/// A running function.
pub struct Function {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
    events: mpsc::Sender<String>,
    answers: mpsc::UnboundedReceiver<(String, String)>,
}

/// What came of one event.
pub struct Invoked {
    /// The HTTP status.
    pub status: u64,
    /// The body, where it is JSON.
    pub body: Value,
    /// The line that was logged.
    pub line: String,
}

impl Function {
    /// Starts the function on these engines, or what is put in front of it, and waits until it asks for its first event.
    pub async fn start(in_front: &[&str], binary: &Path, ground: &Ground) -> Result<Self, Failed> {
        let (events, to_come) = mpsc::channel(1);
        let (answered, answers) = mpsc::unbounded_channel();
        let api = Arc::new(Api { events: Mutex::new(to_come), answers: answered, polled: Notify::new() });
        let router = Router::new()
            .route("/2018-06-01/runtime/invocation/next", get(next))
            .route("/2018-06-01/runtime/invocation/{name}/{how}", post(answer))
            .route("/2018-06-01/runtime/init/error", post(init_failed))
            .layer(DefaultBodyLimit::disable())
            .with_state(api.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        tokio::spawn(axum::serve(listener, router).into_future());

        let words: Vec<_> = in_front.iter().map(std::ffi::OsStr::new).chain([binary.as_os_str()]).collect();
        let mut process = Command::new(words[0])
            .args(&words[1..])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", "/nonexistent")
            .env("AWS_LAMBDA_RUNTIME_API", address)
            .envs([
                ("AWS_LAMBDA_FUNCTION_NAME", "budgets"),
                ("AWS_LAMBDA_FUNCTION_VERSION", "1"),
                ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256"),
            ])
            .envs(ground.environment())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let lines = BufReader::new(process.stdout.take().ok_or("the function has a standard output")?).lines();
        let function = Self { process, lines, events, answers };
        tokio::time::timeout(STUCK, api.polled.notified()).await.map_err(|_| "the function never asked for an event")?;
        Ok(function)
    }

    /// The process, or what was put in front of it.
    pub fn process_id(&self) -> Option<u32> {
        self.process.id()
    }

    /// Hands an event over and waits for its answer and its line.
    pub async fn invoke(&mut self, event: &Value) -> Result<Invoked, Failed> {
        self.events.send(event.to_string()).await?;
        let answered = tokio::time::timeout(STUCK, self.answers.recv()).await.map_err(|_| "an event was not answered")?;
        let (how, reply) = answered.ok_or("the Runtime API ended")?;
        if how != "response" {
            return Err(format!("an invocation failed: {reply}").into());
        }
        let line = tokio::time::timeout(STUCK, self.lines.next_line()).await.map_err(|_| "an event wrote no line")??;
        let reply: Value = serde_json::from_str(&reply)?;
        let body = reply["body"].as_str().and_then(|body| serde_json::from_str(body).ok()).unwrap_or_default();
        Ok(Invoked { status: reply["statusCode"].as_u64().unwrap_or(0), body, line: line.unwrap_or_default() })
    }
}

/// An event as a Function URL sends it.
pub fn event(method: &str, key: &str, body: &str) -> Value {
    json!({
        "version": "2.0",
        "rawPath": "/mcp",
        "rawQueryString": "",
        "headers": {
            "authorization": format!("Bearer {key}"),
            "content-type": "application/json",
            "mcp-protocol-version": "2025-11-25"
        },
        "requestContext": { "http": { "method": method, "path": "/mcp" }, "stage": "$default" },
        "body": body,
        "isBase64Encoded": false
    })
}

async fn next(State(api): State<Arc<Api>>) -> Response {
    api.polled.notify_one();
    let Some(event) = api.events.lock().await.recv().await else { return std::future::pending().await };
    let ends = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default() + STUCK;
    let headers = [
        ("lambda-runtime-aws-request-id", "8f5073a1-3a5c-4c9d-9d2e-5e5c7f6f3f10".to_owned()),
        ("lambda-runtime-deadline-ms", ends.as_millis().to_string()),
    ];
    (headers, event).into_response()
}

async fn answer(State(api): State<Arc<Api>>, Parts((_, how)): Parts<(String, String)>, body: Bytes) -> StatusCode {
    let _nobody_waits = api.answers.send((how, String::from_utf8_lossy(&body).into_owned()));
    StatusCode::ACCEPTED
}

async fn init_failed(body: Bytes) -> StatusCode {
    eprintln!("The function did not start: {}", String::from_utf8_lossy(&body));
    StatusCode::ACCEPTED
}
