//! The shell of a Lambda function: API Gateway HTTP APIs and Function URLs, both with payload 2.0.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http_body_util::BodyExt;
use lambda_http::request::RequestContext;
use lambda_http::{Body, RequestExt, service_fn};
use onepost_core::http::{Endpoint, Request};
use onepost_core::mcp::RequestId;
use tokio::time::Instant;

use crate::table;
use crate::telemetry::Observed;

/// How long a call may take where the event does not say.
const LONGEST: Duration = Duration::from_secs(25);

/// Serves events with `endpoint` until the runtime ends the process, and writes a line of each.
pub async fn serve(endpoint: impl Endpoint + 'static) -> Result<(), lambda_http::Error> {
    let endpoint = Arc::new(Observed(endpoint));
    lambda_http::run(service_fn(move |event| {
        let endpoint = endpoint.clone();
        async move { answer(endpoint.as_ref(), event).await }
    }))
    .await
}

/// Answers one event.
async fn answer(endpoint: &dyn Endpoint, event: lambda_http::Request) -> Result<http::Response<Body>, lambda_http::Error> {
    let deadline = deadline(&event);
    let request = from_event(event).await?;
    Ok(table::by(deadline, endpoint.answer(request)).await.map(into_event))
}

/// When Lambda ends the invocation.
fn deadline(event: &lambda_http::Request) -> Instant {
    let at = event.lambda_context_ref().map(lambda_http::Context::deadline);
    let left = at.and_then(|at| at.duration_since(SystemTime::now()).ok());
    Instant::now() + left.unwrap_or(LONGEST)
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
    let path = stage
        .as_deref()
        .and_then(|stage| path.strip_prefix('/')?.strip_prefix(stage))
        .filter(|rest| rest.starts_with('/'))
        .unwrap_or(&path);
    let query = parts.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    // A path that is no URI belongs to nobody: it stays as the gateway gave it, and is not found.
    if let Ok(uri) = format!("{path}{query}").parse() {
        parts.uri = uri;
    }
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

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::Pin;

    use onepost_core::http::Response;

    use super::*;

    /// Tells what reached it.
    struct Echo;

    impl Endpoint for Echo {
        fn answer(&self, request: Request) -> Pin<Box<dyn Future<Output = Response> + Send + '_>> {
            let key = request.headers().get("authorization").map_or("none", |value| value.to_str().unwrap());
            let body = String::from_utf8_lossy(request.body()).into_owned();
            let told = format!("{} {} key={key} body={body}", request.method(), request.uri());
            Box::pin(async move { Response::new(told.into()) })
        }
    }

    async fn answered(event: &str) -> String {
        let event = lambda_http::request::from_str(event).unwrap();
        match answer(&Echo, event).await.unwrap().into_body() {
            Body::Text(text) => text,
            other => panic!("expected text, got {other:?}"),
        }
    }

    fn event(stage: &str, path: &str, body: &str, base64: bool) -> String {
        format!(
            r#"{{"version":"2.0","routeKey":"$default","rawPath":"{path}","rawQueryString":"x=1","headers":{{"authorization":"Bearer K"}},
            "requestContext":{{"accountId":"1","apiId":"a","domainName":"d","domainPrefix":"p","requestId":"r","routeKey":"$default",
            "stage":"{stage}","time":"t","timeEpoch":1,"http":{{"method":"POST","path":"{path}","protocol":"HTTP/1.1","sourceIp":"1.1.1.1",
            "userAgent":"u"}}}},"body":"{body}","isBase64Encoded":{base64}}}"#
        )
    }

    #[tokio::test]
    async fn a_body_in_base64_is_the_same_body() {
        let plain = answered(&event("$default", "/mcp", "hello", false)).await;
        assert_eq!(plain, "POST /mcp?x=1 key=Bearer K body=hello");
        assert_eq!(answered(&event("$default", "/mcp", "aGVsbG8=", true)).await, plain);
    }

    #[tokio::test]
    async fn the_stage_is_no_part_of_the_path() {
        assert!(answered(&event("prod", "/prod/mcp", "", false)).await.starts_with("POST /mcp?x=1 "));
        assert!(answered(&event("prod", "/production/mcp", "", false)).await.starts_with("POST /production/mcp?x=1 "));
    }

    #[test]
    fn an_event_of_a_rest_api_is_refused() {
        let event = r#"{"resource":"/mcp","path":"/mcp","httpMethod":"POST","headers":{},"requestContext":{"resourceId":"x"},"body":"{}"}"#;
        assert!(lambda_http::request::from_str(event).is_err());
    }
}
