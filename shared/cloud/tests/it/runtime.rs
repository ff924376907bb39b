//! The shell under the real runtime, which polls a Runtime API that these tests stand in for.

use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use onepost_cloud::lambda;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::situations::Library;

/// What the function answered: the name of the invocation, the last part of the path, the body.
type Answered = (String, String, String);

struct Invocations {
    waiting: Mutex<Vec<String>>,
    answered: mpsc::UnboundedSender<Answered>,
}

async fn next(State(invocations): State<Arc<Invocations>>) -> Response {
    let (number, event) = {
        let mut waiting = invocations.waiting.lock().unwrap();
        (waiting.len(), waiting.pop())
    };
    let Some(event) = event else {
        return std::future::pending().await;
    };
    let ends = SystemTime::now() + Duration::from_secs(10);
    let ends = ends.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis().to_string();
    let headers = [("lambda-runtime-aws-request-id", format!("invocation-{number}")), ("lambda-runtime-deadline-ms", ends)];
    (headers, event).into_response()
}

async fn answer(
    State(invocations): State<Arc<Invocations>>,
    Path((name, how)): Path<(String, String)>,
    body: axum::body::Bytes,
) -> StatusCode {
    invocations.answered.send((name, how, String::from_utf8(body.to_vec()).unwrap())).unwrap();
    StatusCode::ACCEPTED
}

/// Ends with the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// The function: what the test below starts as a process of its own, since a runtime is set up by its environment.
#[tokio::test]
#[ignore = "started by the_runtime_hands_over_every_event, with the environment of a function"]
async fn the_function() {
    let (library, _) = Library::open();
    lambda::serve(library).await.unwrap();
}

/// The runtime fails an invocation whose event it cannot read, before the shell is asked: it reads every one.
#[tokio::test]
async fn the_runtime_hands_over_every_event() {
    let get_mcp = json!({ "version": "2.0", "rawPath": "/mcp", "requestContext": { "http": { "method": "GET" } } });
    let post_mcp =
        json!({ "version": "2.0", "rawPath": "/mcp", "requestContext": { "http": { "method": "POST" } }, "body": "x".repeat(5_000_000) });
    let broken = json!({ "version": "2.0", "requestContext": { "http": { "method": "GET" } }, "body": "%", "isBase64Encoded": true });
    let events =
        [(get_mcp, 405), (post_mcp, 401), (broken, 400), (json!({ "httpMethod": "GET" }), 501), (json!({}), 501), (json!(null), 501)];

    let (answered, mut answers) = mpsc::unbounded_channel();
    let waiting = Mutex::new(events.iter().rev().map(|(event, _)| event.to_string()).collect());
    let router = Router::new()
        .route("/2018-06-01/runtime/invocation/next", get(next))
        .route("/2018-06-01/runtime/invocation/{name}/{how}", post(answer))
        .layer(axum::extract::DefaultBodyLimit::disable())
        .with_state(Arc::new(Invocations { waiting, answered }));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let api = listener.local_addr().unwrap().to_string();
    tokio::spawn(axum::serve(listener, router).into_future());
    let _function = Process(
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "runtime::the_function", "--ignored"])
            .envs([("AWS_LAMBDA_RUNTIME_API", api.as_str()), ("AWS_LAMBDA_FUNCTION_NAME", "library")])
            .envs([("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "128"), ("AWS_LAMBDA_FUNCTION_VERSION", "1")])
            .stdout(Stdio::null())
            .spawn()
            .unwrap(),
    );

    for (number, (event, status)) in events.iter().enumerate() {
        let (name, how, body) = tokio::time::timeout(Duration::from_secs(60), answers.recv()).await.unwrap().unwrap();
        let shown: String = event.to_string().chars().take(80).collect();
        let returned: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((how.as_str(), &returned["statusCode"]), ("response", &json!(status)), "{shown}: {body}");
        assert_eq!(returned["headers"]["x-request-id"], name, "{shown}");
        assert_eq!(name, format!("invocation-{}", events.len() - number));
    }
}
