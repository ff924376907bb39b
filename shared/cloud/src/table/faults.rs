//! A connector that goes wrong on command, for tests: what no embedded engine shows.
//!
//! It stands where the SDK's HTTP client stands, so that everything above it is the code that runs in the cloud.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_runtime_api::http::StatusCode;
use aws_smithy_types::body::SdkBody;
use aws_types::SdkConfig;
use tokio::sync::oneshot;

/// What goes wrong with one request.
#[derive(Debug)]
pub enum Fault {
    /// Another transaction holds an item; nothing happens.
    Conflict,
    /// The table is throttled; nothing happens.
    Throttle,
    /// The service fails; nothing happens.
    ServerError,
    /// The connection is cut before the request arrives.
    CutBefore,
    /// The request is carried out and its answer is lost.
    CutAfter,
    /// A batch is handed back undone.
    Undone,
    /// The answer comes after this long; with no time at all, nothing goes wrong.
    Slow(Duration),
    /// The request waits until it is released. The first half tells that it has arrived.
    Held(oneshot::Sender<()>, oneshot::Receiver<()>),
}

/// Faults to come, each for the next request of an operation.
#[derive(Debug, Clone, Default)]
pub struct Faults(Arc<Mutex<Script>>);

#[derive(Debug, Default)]
struct Script {
    to_come: VecDeque<(&'static str, Fault)>,
    seen: Vec<String>,
}

impl Faults {
    /// Lets the next request of this operation (`PutItem`, say) go wrong.
    pub fn next(&self, operation: &'static str, fault: Fault) {
        self.script().to_come.push_back((operation, fault));
    }

    /// Holds the next request of this operation: the first half resolves when it has arrived, the second releases it.
    pub fn hold(&self, operation: &'static str) -> (oneshot::Receiver<()>, oneshot::Sender<()>) {
        let (arrived, arrival) = oneshot::channel();
        let (release, released) = oneshot::channel();
        self.next(operation, Fault::Held(arrived, released));
        (arrival, release)
    }

    /// How many faults have not happened yet.
    pub fn left(&self) -> usize {
        self.script().to_come.len()
    }

    /// Lets nothing more go wrong.
    pub fn forget(&self) {
        self.script().to_come.clear();
    }

    /// The operations of all requests since this was asked last.
    pub fn operations(&self) -> Vec<String> {
        std::mem::take(&mut self.script().seen)
    }

    /// The same configuration with this connector in front of its own.
    ///
    /// # Panics
    /// Where the configuration has no HTTP client.
    pub fn in_front_of(&self, config: &SdkConfig) -> SdkConfig {
        let client = config.http_client().expect("the configuration has an HTTP client");
        config.to_builder().http_client(SharedHttpClient::new(Faulty { faults: self.clone(), client })).build()
    }

    fn take(&self, operation: &str) -> Option<Fault> {
        let mut script = self.script();
        script.seen.push(operation.to_owned());
        let at = script.to_come.iter().position(|(of, _)| *of == operation)?;
        script.to_come.remove(at).map(|(_, fault)| fault)
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.0.lock().expect("no holder of the faults panics")
    }
}

#[derive(Debug)]
struct Faulty<C> {
    faults: Faults,
    client: C,
}

impl HttpClient for Faulty<SharedHttpClient> {
    fn http_connector(&self, settings: &HttpConnectorSettings, components: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(Faulty { faults: self.faults.clone(), client: self.client.http_connector(settings, components) })
    }
}

impl HttpConnector for Faulty<SharedHttpConnector> {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let target = request.headers().get("x-amz-target").unwrap_or_default();
        let operation = target.rsplit('.').next().unwrap_or_default().to_owned();
        let Some(fault) = self.faults.take(&operation) else { return self.client.call(request) };
        let client = self.client.clone();
        HttpConnectorFuture::new(async move {
            match fault {
                Fault::Conflict if operation == "TransactWriteItems" => Ok(cancelled_by_conflict()),
                Fault::Conflict => Ok(failure(400, "TransactionConflictException", "")),
                Fault::Throttle => Ok(failure(400, "ThrottlingException", "")),
                Fault::ServerError => Ok(failure(500, "InternalServerError", "")),
                Fault::CutBefore => Err(cut()),
                Fault::CutAfter => {
                    client.call(request).await?;
                    Err(cut())
                }
                Fault::Undone => Ok(handed_back(&request)),
                Fault::Slow(pause) => {
                    tokio::time::sleep(pause).await;
                    client.call(request).await
                }
                Fault::Held(arrived, released) => {
                    let _nobody_may_wait = arrived.send(());
                    let _released_or_dropped = released.await;
                    client.call(request).await
                }
            }
        })
    }
}

fn handed_back(request: &HttpRequest) -> HttpResponse {
    let body: serde_json::Value = serde_json::from_slice(request.body().bytes().unwrap_or_default()).unwrap_or_default();
    let answer = serde_json::json!({ "UnprocessedItems": body["RequestItems"] });
    let mut response = HttpResponse::new(StatusCode::try_from(200).expect("a status of three digits"), SdkBody::from(answer.to_string()));
    response.headers_mut().insert("content-type", "application/x-amz-json-1.0");
    response
}

fn cut() -> ConnectorError {
    ConnectorError::io(std::io::Error::from(std::io::ErrorKind::ConnectionReset).into())
}

fn cancelled_by_conflict() -> HttpResponse {
    failure(400, "TransactionCanceledException", r#","CancellationReasons":[{"Code":"TransactionConflict"}]"#)
}

fn failure(status: u16, kind: &str, more: &str) -> HttpResponse {
    let body = format!(r#"{{"__type":"com.amazonaws.dynamodb.v20120810#{kind}","message":"a fault on command"{more}}}"#);
    let status = StatusCode::try_from(status).expect("a status of three digits");
    let mut response = HttpResponse::new(status, SdkBody::from(body));
    response.headers_mut().insert("content-type", "application/x-amz-json-1.0");
    response
}
