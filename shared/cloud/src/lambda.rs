//! The shell of a Lambda function: API Gateway HTTP APIs and Function URLs, both with payload 2.0.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::BodyExt;
use lambda_http::request::RequestContext;
use lambda_http::{Body, RequestExt, service_fn};
use onepost_core::http::{Endpoint, Request};
use onepost_core::mcp::RequestId;

use crate::telemetry::Observed;

/// Serves events with `endpoint` until the runtime ends the process, and writes a line of each.
pub async fn serve(endpoint: impl Endpoint + 'static) -> Result<(), lambda_http::Error> {
    let endpoint = Arc::new(Observed(endpoint));
    lambda_http::run(service_fn(move |event: lambda_http::Request| {
        let endpoint = endpoint.clone();
        async move {
            let response = endpoint.answer(from_event(event).await?).await;
            Ok::<_, lambda_http::Error>(response.map(into_event))
        }
    }))
    .await
}

/// The request inside an event: path without the stage, bytes without base64, and the name that Lambda gave it.
async fn from_event(event: lambda_http::Request) -> Result<Request, lambda_http::Error> {
    let path = event.raw_http_path().to_owned();
    let stage = match event.request_context_ref() {
        Some(RequestContext::ApiGatewayV2(context)) => context.stage.clone().filter(|stage| stage != "$default"),
        _ => None,
    };
    let name = event.lambda_context_ref().map(|context| RequestId(context.request_id.clone()));
    let (mut parts, body) = event.into_parts();
    let body: Bytes = body.collect().await?.to_bytes();
    let path = stage.as_deref().and_then(|stage| path.strip_prefix('/')?.strip_prefix(stage)).filter(|rest| rest.starts_with('/')).unwrap_or(&path);
    let query = parts.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    parts.uri = format!("{path}{query}").parse()?;
    if let Some(name) = name {
        parts.extensions.insert(name);
    }
    Ok(Request::from_parts(parts, body))
}

/// Everything we answer is text: it goes out as it is, not in base64.
fn into_event(body: Bytes) -> Body {
    match String::from_utf8(body.into()) {
        Ok(text) if text.is_empty() => Body::Empty,
        Ok(text) => Body::Text(text),
        Err(bytes) => Body::Binary(bytes.into_bytes()),
    }
}
