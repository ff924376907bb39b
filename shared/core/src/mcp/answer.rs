//! Results, written in the form of the version that asked.

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::{Profile, Version};
use crate::catalog::Complete;
use crate::http::{Response, json_response};
use crate::jsonrpc::{Error, Id};

/// What 2026-07-28 adds to every result.
#[derive(Serialize)]
struct Modern {
    #[serde(rename = "resultType")]
    result_type: &'static str,
}

/// For how long and by whom a result may be kept.
#[derive(Serialize)]
struct Cacheable {
    #[serde(rename = "ttlMs")]
    ttl_ms: u64,
    #[serde(rename = "cacheScope")]
    cache_scope: &'static str,
}

/// The frame of any result.
#[derive(Serialize)]
struct Framed<T> {
    #[serde(flatten)]
    body: T,
    #[serde(flatten)]
    modern: Option<Modern>,
    #[serde(flatten)]
    cacheable: Option<Cacheable>,
    #[serde(rename = "_meta", skip_serializing_if = "Map::is_empty")]
    meta: Map<String, Value>,
}

fn framed<T: Serialize>(
    profile: &Profile,
    version: Version,
    body: T,
    result_type: &'static str,
    cacheable: bool,
    mut meta: Map<String, Value>,
) -> Box<RawValue> {
    let modern = version.is_modern();
    if modern {
        meta.insert("io.modelcontextprotocol/serverInfo".into(), server_info(profile));
    }
    let framed = Framed {
        body,
        modern: modern.then_some(Modern { result_type }),
        // The same for every caller, so a shared cache may keep it.
        cacheable: (modern && cacheable).then_some(Cacheable { ttl_ms: profile.list_ttl_ms, cache_scope: "public" }),
        meta,
    };
    serde_json::value::to_raw_value(&framed).expect("a result is plain JSON")
}

fn server_info(profile: &Profile) -> Value {
    json!({ "name": profile.name, "title": profile.title, "version": profile.version })
}

/// A result that is complete.
pub(super) fn result(profile: &Profile, version: Version, body: impl Serialize, cacheable: bool) -> Box<RawValue> {
    framed(profile, version, body, "complete", cacheable, Map::new())
}

/// A question to a person, with the call to be repeated.
pub(super) fn asked(profile: &Profile, version: Version, body: Value) -> Box<RawValue> {
    framed(profile, version, body, "input_required", false, Map::new())
}

/// The result of `initialize`. `more` is what the server has beside tools.
pub(super) fn initialized(profile: &Profile, version: Version, more: Map<String, Value>) -> Box<RawValue> {
    let body =
        json!({ "protocolVersion": version.as_str(), "capabilities": capabilities(profile, more), "serverInfo": server_info(profile) });
    result(profile, version, instructed(profile, body), false)
}

/// The result of `server/discover`.
pub(super) fn discovered(profile: &Profile, version: Version, more: Map<String, Value>) -> Box<RawValue> {
    let supported: Vec<&str> = profile.all_versions().map(Version::as_str).collect();
    let body = json!({ "supportedVersions": supported, "capabilities": capabilities(profile, more) });
    result(profile, version, instructed(profile, body), true)
}

fn capabilities(profile: &Profile, more: Map<String, Value>) -> Value {
    let mut capabilities = json!({ "tools": {} });
    if profile.logs {
        capabilities["logging"] = json!({});
    }
    for (name, capability) in more {
        capabilities[name] = capability;
    }
    capabilities
}

fn instructed(profile: &Profile, mut body: Value) -> Value {
    if let Some(instructions) = profile.instructions {
        body["instructions"] = json!(instructions);
    }
    body
}

/// The result of `tools/list`.
pub(super) fn listed(profile: &Profile, version: Version, tools: &RawValue) -> Box<RawValue> {
    #[derive(Serialize)]
    struct List<'a> {
        tools: &'a RawValue,
    }
    result(profile, version, List { tools }, true)
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Content<'a> {
    Text {
        text: &'a str,
    },
    Image {
        data: &'a str,
        #[serde(rename = "mimeType")]
        mime_type: &'a str,
    },
    #[serde(untagged)]
    Raw(&'a Value),
}

#[derive(Serialize)]
struct Called<'a> {
    content: Vec<Content<'a>>,
    #[serde(rename = "structuredContent", skip_serializing_if = "Option::is_none")]
    structured: Option<&'a RawValue>,
    #[serde(rename = "isError", skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
}

/// The result of a tool: the same JSON as text and as a value, and what else it shows.
pub(super) fn called(profile: &Profile, version: Version, complete: Complete) -> Box<RawValue> {
    let Complete { value, images, raw, meta } = complete;
    let value = value.as_deref();
    let text = value.map(|value| Content::Text { text: value.get() });
    let pictures = images.iter().map(|image| Content::Image { data: &image.base64, mime_type: image.mime_type });
    let content = text.into_iter().chain(pictures).chain(raw.iter().map(Content::Raw)).collect();
    framed(profile, version, Called { content, structured: value, is_error: false }, "complete", false, meta)
}

/// The refusal of a tool: as text, and as a value only where the tool's output schema admits its shape.
pub(super) fn refused(profile: &Profile, version: Version, error: &Value, structured: bool) -> Box<RawValue> {
    let value = serde_json::value::to_raw_value(error).expect("an error is plain JSON");
    let body = Called { content: vec![Content::Text { text: value.get() }], structured: structured.then_some(&*value), is_error: true };
    result(profile, version, body, false)
}

#[derive(Serialize)]
struct Success<'a> {
    jsonrpc: &'static str,
    id: &'a Id,
    result: &'a RawValue,
}

/// A whole JSON-RPC answer.
pub(super) fn success(id: &Id, result: &RawValue) -> String {
    serde_json::to_string(&Success { jsonrpc: "2.0", id, result }).expect("a result is plain JSON")
}

/// How long the whole JSON-RPC answer with this result is, in bytes.
pub(super) fn length(id: &Id, result: &RawValue) -> usize {
    r#"{"jsonrpc":"2.0","id":,"result":}"#.len() + id.as_json().len() + result.get().len()
}

/// A whole JSON-RPC error. Without an id that could be read, legacy clients get `null` and modern ones none: the
/// modern schema knows no `null` there.
pub(super) fn failure(id: Option<&Id>, error: &Error, modern: bool) -> String {
    let error = serde_json::to_string(error).expect("an error is plain JSON");
    match (id, modern) {
        (Some(id), _) => format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, id.as_json()),
        (None, false) => format!(r#"{{"jsonrpc":"2.0","id":null,"error":{error}}}"#),
        (None, true) => format!(r#"{{"jsonrpc":"2.0","error":{error}}}"#),
    }
}

/// 202 without a body or a content type.
pub(super) fn accepted() -> Response {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

/// Whether the client takes an event stream. Without an `Accept` it is not asked for.
pub(super) fn takes_event_stream(headers: &HeaderMap) -> bool {
    let wanted = |range: &str| {
        let mut parts = range.split(';').map(str::trim);
        let is_stream = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("text/event-stream"));
        let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        is_stream && weight.is_none_or(|weight| weight.parse::<f32>().is_ok_and(|weight| weight > 0.0))
    };
    headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).any(|value| value.split(',').any(wanted))
}

/// A whole event stream in one body: the notices and, last, the answer.
pub(super) fn event_stream(notices: &[String], body: &str) -> Response {
    let events = notices.iter().map(String::as_str).chain([body]);
    let stream: String = events.map(|message| format!("event: message\ndata: {message}\n\n")).collect();
    let mut response = Response::new(stream.into());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response
}

/// A body of JSON with this status.
pub(super) fn json(status: StatusCode, body: String) -> Response {
    json_response(status, body)
}
