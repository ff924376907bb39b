//! AWS JSON 1.1, as the SDK clients speak it: one POST to `/`, the operation in `X-Amz-Target`, the error's type in the
//! body and in a header.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode, Uri, header};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::store::{Refusal, Secret, SecretStore, SecretValue, Version};

pub(super) fn router(store: Arc<SecretStore>) -> Router {
    Router::new().fallback(answer).with_state(store)
}

/// An error of the protocol: its status, its type and what it says.
struct Failure(StatusCode, &'static str, String);

impl Failure {
    fn bad_request(kind: &'static str, message: impl Into<String>) -> Failure {
        Failure(StatusCode::BAD_REQUEST, kind, message.into())
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        match refusal {
            Refusal::NotFound(message) => Failure::bad_request("ResourceNotFoundException", message),
            Refusal::Exists(message) => Failure::bad_request("ResourceExistsException", message),
            Refusal::InvalidParameter(message) => Failure::bad_request("InvalidParameterException", message),
            Refusal::Internal(error) => {
                tracing::error!(%error, "a secret could not be written");
                Failure(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "InternalServiceError",
                    "The secret could not be written; nothing was changed.".into(),
                )
            }
        }
    }
}

async fn answer(State(store): State<Arc<SecretStore>>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let outcome = match operation(&method, &uri, &headers) {
        // A change waits for the disk.
        Ok(operation) => tokio::task::spawn_blocking(move || run(&store, &operation, &body))
            .await
            .unwrap_or_else(|_| Err(Failure(StatusCode::INTERNAL_SERVER_ERROR, "InternalServiceError", String::new()))),
        Err(failure) => Err(failure),
    };
    let mut response = Response::builder()
        .header(header::CONTENT_TYPE, "application/x-amz-json-1.1")
        .header("x-amzn-requestid", uuid::Uuid::new_v4().to_string());
    let body = match outcome {
        Ok(value) => value,
        Err(Failure(status, kind, message)) => {
            response = response.status(status).header("x-amzn-errortype", kind);
            json!({ "__type": kind, "Message": message })
        }
    };
    response.body(Body::from(body.to_string())).expect("these header values are plain text")
}

/// Which operation is asked for.
fn operation(method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<String, Failure> {
    let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok());
    let operation = target.and_then(|target| target.strip_prefix("secretsmanager."));
    match operation {
        Some(operation) if method == Method::POST && uri.path() == "/" => {
            if !headers.contains_key(header::AUTHORIZATION) {
                return Err(Failure::bad_request("MissingAuthenticationTokenException", "Request is missing Authentication Token"));
            }
            Ok(operation.to_owned())
        }
        _ => Err(unknown_operation()),
    }
}

fn run(store: &SecretStore, operation: &str, body: &[u8]) -> Result<Value, Failure> {
    match operation {
        "GetSecretValue" => get_secret_value(store, arguments(body)?),
        "CreateSecret" => create_secret(store, arguments(body)?),
        "PutSecretValue" => put_secret_value(store, arguments(body)?),
        "DescribeSecret" => describe_secret(store, arguments(body)?),
        "ListSecretVersionIds" => list_secret_version_ids(store, arguments(body)?),
        _ => Err(unknown_operation()),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GetSecretValue {
    secret_id: String,
    version_id: Option<String>,
    version_stage: Option<String>,
}

fn get_secret_value(store: &SecretStore, arguments: GetSecretValue) -> Result<Value, Failure> {
    let secret = store.find(&arguments.secret_id)?;
    let version = secret.version(arguments.version_id.as_deref(), arguments.version_stage.as_deref())?;
    let mut answer = json!({
        "ARN": secret.arn,
        "Name": secret.name,
        "VersionId": version.id,
        "VersionStages": version.stages,
        "CreatedDate": seconds(version.created_ms),
    });
    let (field, value) = match &version.value {
        SecretValue::String(text) => ("SecretString", text.clone()),
        SecretValue::Binary(bytes) => ("SecretBinary", BASE64.encode(bytes)),
    };
    answer[field] = value.into();
    Ok(answer)
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct CreateSecret {
    name: String,
    description: Option<String>,
    client_request_token: Option<String>,
    secret_string: Option<String>,
    secret_binary: Option<String>,
}

fn create_secret(store: &SecretStore, arguments: CreateSecret) -> Result<Value, Failure> {
    let value = value(arguments.secret_string, arguments.secret_binary)?;
    let secret = store.create(&arguments.name, arguments.description, arguments.client_request_token, value)?;
    let mut answer = json!({ "ARN": secret.arn, "Name": secret.name });
    if let Some(version) = secret.versions.last() {
        answer["VersionId"] = version.id.clone().into();
    }
    Ok(answer)
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct PutSecretValue {
    secret_id: String,
    client_request_token: Option<String>,
    secret_string: Option<String>,
    secret_binary: Option<String>,
    version_stages: Option<Vec<String>>,
}

fn put_secret_value(store: &SecretStore, arguments: PutSecretValue) -> Result<Value, Failure> {
    let value = value(arguments.secret_string, arguments.secret_binary)?
        .ok_or_else(|| Failure::bad_request("InvalidRequestException", "You must provide either SecretString or SecretBinary."))?;
    let stages = arguments.version_stages.unwrap_or_default();
    let (secret, version) = store.put(&arguments.secret_id, arguments.client_request_token, value, stages)?;
    Ok(json!({
        "ARN": secret.arn,
        "Name": secret.name,
        "VersionId": version.id,
        "VersionStages": version.stages,
    }))
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct DescribeSecret {
    secret_id: String,
}

fn describe_secret(store: &SecretStore, arguments: DescribeSecret) -> Result<Value, Failure> {
    let secret = store.find(&arguments.secret_id)?;
    let stages: Map<String, Value> = labelled(&secret).map(|version| (version.id.clone(), version.stages.clone().into())).collect();
    let mut answer = json!({
        "ARN": secret.arn,
        "Name": secret.name,
        "CreatedDate": seconds(secret.created_ms),
        "LastChangedDate": seconds(secret.changed_ms),
        "VersionIdsToStages": stages,
    });
    if let Some(description) = secret.description {
        answer["Description"] = description.into();
    }
    Ok(answer)
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ListSecretVersionIds {
    secret_id: String,
    #[serde(default)]
    include_deprecated: bool,
}

fn list_secret_version_ids(store: &SecretStore, arguments: ListSecretVersionIds) -> Result<Value, Failure> {
    let secret = store.find(&arguments.secret_id)?;
    let versions: Vec<Value> = secret
        .versions
        .iter()
        .filter(|version| arguments.include_deprecated || !version.stages.is_empty())
        .map(|version| {
            json!({
                "VersionId": version.id,
                "VersionStages": version.stages,
                "CreatedDate": seconds(version.created_ms),
            })
        })
        .collect();
    Ok(json!({ "ARN": secret.arn, "Name": secret.name, "Versions": versions }))
}

fn labelled(secret: &Secret) -> impl Iterator<Item = &Version> {
    secret.versions.iter().filter(|version| !version.stages.is_empty())
}

/// The arguments. The parser's own message is not passed on: it quotes what it met, which may be the secret.
fn arguments<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Failure> {
    serde_json::from_slice(body).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => {
            Failure::bad_request("InvalidParameterException", "A required parameter is missing, or one has the wrong type.")
        }
        _ => Failure::bad_request("SerializationException", "The body is not JSON."),
    })
}

fn value(text: Option<String>, binary: Option<String>) -> Result<Option<SecretValue>, Failure> {
    match (text, binary) {
        (Some(_), Some(_)) => Err(Failure::bad_request(
            "InvalidParameterException",
            "You can't specify both a binary secret value and a string secret value in the same secret.",
        )),
        (Some(text), None) => Ok(Some(SecretValue::String(text))),
        (None, Some(base64)) => match BASE64.decode(base64) {
            Ok(bytes) => Ok(Some(SecretValue::Binary(bytes))),
            Err(_) => Err(Failure::bad_request("SerializationException", "SecretBinary is not base64.")),
        },
        (None, None) => Ok(None),
    }
}

fn unknown_operation() -> Failure {
    Failure::bad_request("UnknownOperationException", "This Secrets Manager does not know the operation.")
}

/// A timestamp as the protocol writes it.
fn seconds(milliseconds: i64) -> f64 {
    milliseconds as f64 / 1000.0
}
