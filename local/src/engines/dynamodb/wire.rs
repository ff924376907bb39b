//! AWS JSON 1.0, as the SDK clients speak it: one POST to `/`, the operation in `X-Amz-Target`, the error's type in the
//! body. What an operation does and how it refuses is the engine's; this hands requests in and answers out.

use axum::Router;
use axum::body::Body;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, State};
use axum::response::Response;
use bytes::Bytes;
use dynoxide::auth_material::{self, AuthMaterial};
use dynoxide::{Database, DynoxideError};
use http::{HeaderMap, Method, StatusCode, Uri, header};

use super::operations;

/// DynamoDB's limit on a request, in bytes.
const MAX_BODY: usize = 16 * 1024 * 1024;
const AMZ_JSON: &str = "application/x-amz-json-1.0";
const PLAIN_JSON: &str = "application/json";

pub(super) fn router(database: Database) -> Router {
    Router::new().fallback(answer).layer(DefaultBodyLimit::max(MAX_BODY)).with_state(database)
}

async fn answer(
    State(database): State<Database>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let content_type = content_type(&headers).filter(|_| method == Method::POST && uri.path() == "/");
    let Some(content_type) = content_type else {
        return respond(StatusCode::NOT_FOUND, "text/plain", "<UnknownOperationException/>\n".into());
    };
    let body = match body {
        Ok(body) => body,
        Err(rejection) => return respond(rejection.status(), content_type, coral("SerializationException")),
    };
    let operation = match operation(&uri, &headers) {
        Ok(operation) => operation.to_owned(),
        Err(refusal) => return respond(StatusCode::BAD_REQUEST, content_type, refusal),
    };
    // It waits for its turn at the database, and a change for the disk.
    let ran = tokio::task::spawn_blocking(move || operations::run(&database, &operation, &body));
    let outcome = ran.await.unwrap_or_else(|panic| Err(DynoxideError::InternalServerError(panic.to_string())));
    match outcome {
        Ok(Some(answer)) => respond(StatusCode::OK, content_type, answer),
        Ok(None) => respond(StatusCode::BAD_REQUEST, content_type, coral("UnknownOperationException")),
        Err(error) => {
            let status = StatusCode::from_u16(error.status_code()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            if status.is_server_error() {
                tracing::error!(%error, "DynamoDB failed");
            }
            respond(status, content_type, error.to_json())
        }
    }
}

/// The media type of the answer, which is the request's; none for what is not of this protocol.
fn content_type(headers: &HeaderMap) -> Option<&'static str> {
    let Some(given) = headers.get(header::CONTENT_TYPE) else { return Some(PLAIN_JSON) };
    let essence = given.to_str().ok()?.split(';').next()?.trim();
    [AMZ_JSON, PLAIN_JSON].into_iter().find(|known| essence.eq_ignore_ascii_case(known))
}

/// Which operation is asked for. Signatures are looked for, as the cloud does, and not checked: the key is anybody's.
fn operation<'a>(uri: &Uri, headers: &'a HeaderMap) -> Result<&'a str, String> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let operation = text("x-amz-target")
        .and_then(|target| target.strip_prefix("DynamoDB_20120810.").or_else(|| target.strip_prefix("DynamoDBStreams_20120810.")))
        .ok_or_else(|| coral("UnknownOperationException"))?;
    let material = AuthMaterial {
        authorization: text("authorization"),
        query: uri.query().unwrap_or_default(),
        has_date_header: headers.contains_key("x-amz-date") || headers.contains_key(header::DATE),
    };
    match auth_material::validate(material) {
        Some(refusal) => Err(refusal),
        None => Ok(operation),
    }
}

/// An error of the protocol itself, which says its type alone.
fn coral(kind: &str) -> String {
    format!(r#"{{"__type":"com.amazon.coral.service#{kind}"}}"#)
}

fn respond(status: StatusCode, content_type: &'static str, body: String) -> Response {
    Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, content_type)
        .header("x-amzn-requestid", uuid::Uuid::new_v4().simple().to_string().to_uppercase())
        .header("x-amz-crc32", crc32fast::hash(body.as_bytes()))
        .body(Body::from(body))
        .expect("these header values are plain text")
}
