//! Results, written in the form of the version that asked.

use http::StatusCode;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::{Profile, Version};
use crate::catalog::Image;
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

fn framed<T: Serialize>(profile: &Profile, version: Version, body: T, cacheable: bool, mut meta: Map<String, Value>) -> Box<RawValue> {
    let modern = version.is_modern();
    if modern {
        meta.insert("io.modelcontextprotocol/serverInfo".into(), server_info(profile));
    }
    let framed = Framed {
        body,
        modern: modern.then_some(Modern { result_type: "complete" }),
        // The list is the same for every caller, so a shared cache may keep it.
        cacheable: (modern && cacheable).then_some(Cacheable { ttl_ms: profile.list_ttl_ms, cache_scope: "public" }),
        meta,
    };
    serde_json::value::to_raw_value(&framed).expect("a result is plain JSON")
}

fn server_info(profile: &Profile) -> Value {
    json!({ "name": profile.name, "title": profile.title, "version": profile.version })
}

/// The result of `initialize`.
pub(super) fn initialized(profile: &Profile, version: Version) -> Box<RawValue> {
    let mut body = json!({ "protocolVersion": version.as_str(), "capabilities": { "tools": {} }, "serverInfo": server_info(profile) });
    if let Some(instructions) = profile.instructions {
        body["instructions"] = json!(instructions);
    }
    framed(profile, version, body, false, Map::new())
}

/// The result of `server/discover`.
pub(super) fn discovered(profile: &Profile, version: Version) -> Box<RawValue> {
    let supported: Vec<&str> = profile.all_versions().map(Version::as_str).collect();
    let mut body = json!({ "supportedVersions": supported, "capabilities": { "tools": {} } });
    if let Some(instructions) = profile.instructions {
        body["instructions"] = json!(instructions);
    }
    framed(profile, version, body, true, Map::new())
}

/// The result of `tools/list`.
pub(super) fn listed(profile: &Profile, version: Version, tools: &RawValue) -> Box<RawValue> {
    #[derive(Serialize)]
    struct List<'a> {
        tools: &'a RawValue,
    }
    framed(profile, version, List { tools }, true, Map::new())
}

/// The empty result of `ping`.
pub(super) fn empty(profile: &Profile, version: Version) -> Box<RawValue> {
    framed(profile, version, json!({}), false, Map::new())
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
}

#[derive(Serialize)]
struct Called<'a> {
    content: Vec<Content<'a>>,
    #[serde(rename = "structuredContent", skip_serializing_if = "Option::is_none")]
    structured: Option<&'a RawValue>,
    #[serde(rename = "isError", skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
}

/// The result of a tool: the same JSON as text and as a value.
pub(super) fn called(profile: &Profile, version: Version, value: &RawValue, images: &[Image], meta: Map<String, Value>) -> Box<RawValue> {
    let pictures = images.iter().map(|image| Content::Image { data: &image.base64, mime_type: image.mime_type });
    let content = std::iter::once(Content::Text { text: value.get() }).chain(pictures).collect();
    framed(profile, version, Called { content, structured: Some(value), is_error: false }, false, meta)
}

/// The refusal of a tool, as text alone: its shape is not the one that the tool's output schema promises.
pub(super) fn refused(profile: &Profile, version: Version, error: &Value) -> Box<RawValue> {
    let text = error.to_string();
    let body = Called { content: vec![Content::Text { text: &text }], structured: None, is_error: true };
    framed(profile, version, body, false, Map::new())
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

/// A body of JSON with this status.
pub(super) fn json(status: StatusCode, body: String) -> Response {
    json_response(status, body)
}
