//! The services that the products stand on in the cloud, served from this process over their own wire protocols, so that
//! the products run here on the same code path, with the real AWS SDK clients and another endpoint URL.
//!
//! They listen on ports that the operating system picks. No page in a browser is answered. Programs are believed without
//! a proof: whoever can run one on this machine can read what the engines hold, as with every emulator of these services.

pub mod dynamodb;
pub mod secrets;

use std::future::Future;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::Response;
use http::{StatusCode, header};
use tokio::net::TcpListener;

use crate::loopback;

/// How long a stopping engine waits for requests that run. They take milliseconds; only a client that has sent half a
/// request reaches this.
const STOP_WITHIN: Duration = Duration::from_secs(5);

/// Serves an engine's wire to programs alone.
async fn serve(listener: TcpListener, wire: Router, shutdown: impl Future<Output = ()> + Send + 'static) {
    let guarded = wire.layer(middleware::from_fn(refuse_pages));
    loopback::serve(listener, guarded, loopback::HEAD_TIME, shutdown).await;
}

/// Before anything is read of a request, and for preflights as well: without a yes to these no page sends what would reach
/// an operation.
async fn refuse_pages(request: Request, next: Next) -> Response {
    if !loopback::may_come_from_a_page(request.headers()) {
        return next.run(request).await;
    }
    let body = r#"{"__type":"AccessDeniedException","message":"Not for browsers."}"#;
    Response::builder()
        .status(StatusCode::FORBIDDEN)
        .header(header::CONTENT_TYPE, "application/x-amz-json-1.0")
        .header("x-amzn-errortype", "AccessDeniedException")
        .body(Body::from(body))
        .expect("these header values are plain text")
}
