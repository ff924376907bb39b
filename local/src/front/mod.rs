//! The HTTP front: one port, a product under each prefix.
//!
//! A request reaches its endpoint when it has arrived whole, as it does in the cloud, or not at all.

mod body;
mod routes;

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode, header};
use onepost_core::http::Endpoint;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::{OwnedRwLockReadGuard, RwLock, watch};

pub use routes::{Mount, Routes};

use crate::{Error, loopback};
use body::Arrival;

/// What the front takes, and how long it waits.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The largest body, in bytes. The default, 7 MiB, is above what Lambda carries (6 MB), so that an endpoint's own
    /// limit speaks first.
    pub body_bytes: usize,
    /// How long a body may take to arrive. Default: 30 seconds.
    pub body_time: Duration,
    /// The largest head: names and values of all headers, in bytes. Default: 32 KiB.
    pub header_bytes: usize,
    /// How long a connection may go without a whole head, from its start or from its last answer. Default: 2 minutes.
    pub head_time: Duration,
    /// How long stopping waits for requests that run. Default: 5 seconds.
    pub stop_within: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            body_bytes: 7 * 1024 * 1024,
            body_time: Duration::from_secs(30),
            header_bytes: 32 * 1024,
            head_time: loopback::HEAD_TIME,
            stop_within: Duration::from_secs(5),
        }
    }
}

/// A port that is taken and not served yet: connections wait.
#[derive(Debug)]
pub struct Front {
    listener: TcpListener,
    base_url: String,
    limits: Limits,
}

impl Front {
    /// Takes a port of 127.0.0.1. Port 0 takes any free one. Called within a Tokio runtime.
    ///
    /// # Errors
    /// [`Error::PortTaken`], [`Error::PortUnusable`].
    pub fn bind(port: u16) -> Result<Front, Error> {
        let failed = |reason: io::Error| match reason.kind() {
            io::ErrorKind::AddrInUse => Error::PortTaken { port },
            _ => Error::PortUnusable { port, reason },
        };
        let listener = loopback::listen(port).map_err(failed)?;
        let base_url = loopback::url(&listener).map_err(failed)?;
        Ok(Front { listener, base_url, limits: Limits::default() })
    }

    /// The same front with other limits.
    pub fn with_limits(self, limits: Limits) -> Front {
        Front { limits, ..self }
    }

    /// `http://127.0.0.1:<port>`, without a slash at the end.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Serves until `shutdown` resolves, then finishes the requests that run, for [`Limits::stop_within`] at most. A
    /// call that has reached its endpoint is finished even where its client has gone, as it would be in the cloud.
    pub async fn serve(self, routes: Routes, shutdown: impl Future<Output = ()> + Send + 'static) {
        let limits = self.limits;
        let (give_up, given_up) = watch::channel(false);
        let running = Arc::new(RwLock::new(()));
        let served = Served { routes, base_url: self.base_url, limits, running: running.clone(), given_up };
        let router = Router::new().fallback(answer).with_state(Arc::new(served));

        let (stopping, mut stops) = watch::channel(false);
        let server = loopback::serve(self.listener, router, limits.head_time, async move {
            shutdown.await;
            // The receiver lives as long as the server.
            let _ = stopping.send(true);
        });
        let finish = async {
            // It ends when the last connection has.
            server.await;
            // Calls whose clients have gone run in tasks of their own.
            drop(running.write().await);
        };
        let overdue = async {
            // An error is a shutdown future that panicked, which stops the server like any other end of it.
            let _ = stops.wait_for(|stopping| *stopping).await;
            tokio::time::sleep(limits.stop_within).await;
        };
        tokio::select! {
            () = finish => {}
            () = overdue => {
                let _ = give_up.send(true);
            }
        }
    }
}

struct Served {
    routes: Routes,
    base_url: String,
    limits: Limits,
    /// Held for reading by each call that has reached its endpoint.
    running: Arc<RwLock<()>>,
    given_up: watch::Receiver<bool>,
}

async fn answer(State(served): State<Arc<Served>>, request: Request) -> Response {
    let (mut head, mut body) = request.into_parts();
    let size = head.headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum::<usize>();
    if size > served.limits.header_bytes {
        body::drain(&head.headers, body);
        let message = format!("The headers are larger than {} bytes.", served.limits.header_bytes);
        return refuse(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, message).map(Body::from);
    }
    if head.uri.path() == "/" {
        body::drain(&head.headers, body);
        return served.index(&head.method);
    }
    let Some((endpoint, uri)) = served.routes.find(&head.uri) else {
        body::drain(&head.headers, body);
        return json_response(
            StatusCode::NOT_FOUND,
            &json!({
                "error": "not_found",
                "message": "Nothing is served at this path.",
                "served": served.routes.endpoints(&served.base_url),
            }),
        );
    };
    let endpoint = endpoint.clone();
    head.uri = uri;

    let arrived = tokio::time::timeout(served.limits.body_time, body::arrive(&mut body, served.limits.body_bytes));
    let bytes = match arrived.await {
        Ok(Arrival::Whole(bytes)) => bytes,
        Ok(Arrival::TooLarge) => {
            body::drain(&head.headers, body);
            let limit = served.limits.body_bytes;
            return refuse(StatusCode::PAYLOAD_TOO_LARGE, format!("The body is larger than {limit} bytes.")).map(Body::from);
        }
        Ok(Arrival::Cut) => return refuse(StatusCode::BAD_REQUEST, "The body did not arrive whole.".into()).map(Body::from),
        Err(_) => {
            let seconds = served.limits.body_time.as_secs_f64();
            let message = format!("The body did not arrive within {seconds} seconds.");
            return refuse(StatusCode::REQUEST_TIMEOUT, message).map(Body::from);
        }
    };
    // Refused only once the front is stopping and waits for nothing but the calls that run.
    let Ok(permit) = served.running.clone().try_read_owned() else { return stopping().map(Body::from) };
    let request = http::Request::from_parts(head, bytes);
    run(endpoint, request, permit, served.given_up.clone()).await.map(Body::from)
}

/// Runs a call in a task of its own, so that a client that hangs up takes nothing with it. Where panics unwind (in tests
/// and in development), one is an answer as well; the release profile aborts, and a panic there ends the process.
async fn run(
    endpoint: Arc<dyn Endpoint>,
    request: http::Request<Bytes>,
    permit: OwnedRwLockReadGuard<()>,
    mut given_up: watch::Receiver<bool>,
) -> http::Response<Bytes> {
    let call = tokio::spawn(async move {
        let _permit = permit;
        tokio::select! {
            response = endpoint.answer(request) => Some(response),
            // The front is gone, or has waited long enough.
            _ = given_up.wait_for(|given_up| *given_up) => None,
        }
    });
    match call.await {
        Ok(Some(response)) => response,
        Ok(None) => stopping(),
        Err(error) => {
            tracing::error!(%error, "an endpoint panicked");
            error_bytes(StatusCode::INTERNAL_SERVER_ERROR, -32603, "Internal error.".into())
        }
    }
}

impl Served {
    /// `GET /`: what runs here, for whoever opens the port in a browser.
    fn index(&self, method: &Method) -> Response {
        if method != Method::GET && method != Method::HEAD {
            let mut response = json_response(StatusCode::METHOD_NOT_ALLOWED, &json!({ "error": "method_not_allowed" }));
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        let mut response = Response::new(Body::from(self.routes.page(&self.base_url)));
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        response
    }
}

/// A refusal by the front itself, for which the connection ends: what is left of the request may still be on its way.
fn refuse(status: StatusCode, message: String) -> http::Response<Bytes> {
    let mut response = error_bytes(status, -32600, message);
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

fn stopping() -> http::Response<Bytes> {
    refuse(StatusCode::SERVICE_UNAVAILABLE, "The server is stopping.".into())
}

/// A JSON-RPC error without an id, which is also readable JSON to a client that speaks something else.
fn error_bytes(status: StatusCode, code: i64, message: String) -> http::Response<Bytes> {
    let error = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": message } });
    json_bytes(status, &error)
}

fn json_response(status: StatusCode, value: &serde_json::Value) -> Response {
    json_bytes(status, value).map(Body::from)
}

fn json_bytes(status: StatusCode, value: &serde_json::Value) -> http::Response<Bytes> {
    let mut response = http::Response::new(Bytes::from(value.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
