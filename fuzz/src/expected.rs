//! What must come of a request, told a second time: from the rulings, not from the server's code.

use bytes::Bytes;
use http::{HeaderMap, Method, Request};
use library::client::Door;
use onepost_core::mcp::Version;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::exchange::FRIEND;

/// What HTTP must make of a request, before its body counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// A refusal with this status.
    Refused(u16),
    /// The answer to a preflight.
    Preflight,
    /// The fixture panics outside of a tool, as it was asked.
    Panicked,
    /// The body is looked at.
    Served,
}

/// The values of a header.
fn values<'h>(headers: &'h HeaderMap, name: &str) -> Vec<&'h [u8]> {
    headers.get_all(name).iter().map(http::HeaderValue::as_bytes).collect()
}

/// The value of a header that is there once, as visible text.
pub fn only<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    match values(headers, name)[..] {
        [one] if one.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~')) => std::str::from_utf8(one).ok(),
        _ => None,
    }
}

/// Decides on admission.
pub fn admission(door: &Door, kind: usize, request: &Request<Bytes>, situations: &[&str]) -> Admission {
    use Admission::{Panicked, Preflight, Refused, Served};
    let headers = request.headers();
    let path = request.uri().path();
    if path != door.profile.path && path.strip_suffix('/') != Some(door.profile.path) {
        return Refused(404);
    }
    let has_origin = headers.contains_key("origin");
    let welcome = welcome(kind, headers);
    if request.method() == Method::OPTIONS && has_origin && (kind == 1 || kind == 2) {
        return if welcome { Preflight } else { Refused(403) };
    }
    if request.method() != Method::POST {
        return Refused(405);
    }
    if has_origin && !welcome {
        return Refused(403);
    }
    let words: Vec<&str> = only(headers, "authorization").unwrap_or_default().split_ascii_whitespace().collect();
    let keys = &door.keys;
    match words[..] {
        [scheme, key] if scheme.eq_ignore_ascii_case("bearer") => {
            if ![&keys.good, &keys.other, &keys.revoked, &keys.token, &keys.librarian].contains(&&key.to_owned()) {
                return Refused(401);
            } else if headers.contains_key("x-panic") {
                return Panicked;
            } else if situations.contains(&"crowded") {
                return Refused(429);
            } else if situations.contains(&"outage") {
                return Refused(503);
            } else if key == keys.revoked {
                return Refused(401);
            }
        }
        _ => return Refused(401),
    }
    let mut encodings = values(headers, "content-encoding").into_iter().flat_map(|value| value.split(|byte| *byte == b','));
    if !is_json(headers) || encodings.any(|encoding| !encoding.trim_ascii().eq_ignore_ascii_case(b"identity")) {
        return Refused(415);
    }
    if request.body().len() > door.profile.body_limit {
        return Refused(413);
    }
    Served
}

/// Whether the request comes from a page that may call.
pub fn welcome(kind: usize, headers: &HeaderMap) -> bool {
    match (kind, only(headers, "origin")) {
        (1, Some(origin)) => origin == FRIEND,
        (2, Some(origin)) => {
            let Some((scheme, host)) = origin.split_once("://") else { return false };
            let name = host.rsplit_once(':').filter(|(_, port)| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()));
            let name = name.map_or(host, |(name, _)| name);
            ["http", "https"].contains(&scheme) && ["localhost", "127.0.0.1", "[::1]"].contains(&name)
        }
        _ => false,
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let Some(text) = only(headers, "content-type").filter(|text| !text.contains(',')) else { return false };
    let mut parts = text.split(';').map(|part| part.trim().to_ascii_lowercase());
    let charset = |part: String| match part.split_once('=') {
        Some((name, value)) => name.trim() != "charset" || value.trim().trim_matches('"') == "utf-8",
        None => true,
    };
    parts.next().as_deref() == Some("application/json") && parts.all(charset)
}

/// What the version header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said<'h> {
    /// Nothing.
    Nothing,
    /// A version with a handshake that is served.
    Legacy(Version),
    /// 2026-07-28.
    Modern,
    /// Another name, or several.
    Unknown(&'h str),
}

impl<'h> Said<'h> {
    /// Reads the header.
    pub fn read(door: &Door, headers: &'h HeaderMap) -> Self {
        if !headers.contains_key("mcp-protocol-version") {
            return Self::Nothing;
        }
        let name = only(headers, "mcp-protocol-version").map(str::trim);
        match name.map(|name| (name, legacy(door, name))) {
            Some((_, Some(version))) => Self::Legacy(version),
            Some(("2026-07-28", None)) => Self::Modern,
            other => Self::Unknown(other.map_or("", |(name, _)| name)),
        }
    }

    /// By which version a body is answered that cannot be read.
    pub fn unread(self) -> Version {
        match self {
            Self::Nothing | Self::Legacy(_) => Version::V2025_03_26,
            Self::Modern | Self::Unknown(_) => Version::V2026_07_28,
        }
    }

    /// Whether a batch is taken.
    pub fn takes_batches(self) -> bool {
        matches!(self, Self::Nothing | Self::Legacy(Version::V2025_03_26))
    }
}

fn legacy(door: &Door, name: &str) -> Option<Version> {
    door.profile.legacy.iter().copied().find(|version| version.as_str() == name)
}

/// By which version a request is answered.
pub fn version(door: &Door, said: Said<'_>, params: &Value) -> Version {
    let claimed = params.get("_meta").and_then(|meta| meta.get("io.modelcontextprotocol/protocolVersion"));
    let named = claimed.and_then(Value::as_str).and_then(|name| legacy(door, name));
    match (claimed, named, said) {
        (None, _, Said::Nothing) => Version::V2025_03_26,
        (None, _, Said::Legacy(version)) => version,
        (Some(_), Some(version), Said::Nothing) => version,
        (Some(_), Some(version), Said::Legacy(header)) if version == header => version,
        _ => Version::V2026_07_28,
    }
}

/// What one message is.
#[derive(Debug)]
pub enum Message<'b> {
    /// A request.
    Request {
        /// Its id, as it was sent.
        id: &'b str,
        /// Its method.
        method: String,
        /// Its parameters.
        params: Value,
    },
    /// Wants no answer.
    Notification,
    /// Answers what nobody asked.
    Response,
    /// No message, with the id if at least that can be echoed.
    Invalid(Option<&'b str>),
}

/// What a body is.
#[derive(Debug)]
pub enum Body<'b> {
    /// Not JSON, or JSON that two readers may read differently.
    Unreadable {
        /// It is no JSON at all.
        broken: bool,
    },
    /// One message.
    One(Message<'b>),
    /// An array.
    Batch(Vec<Message<'b>>),
}

/// Reads a body.
pub fn body(bytes: &[u8]) -> Body<'_> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let raw = std::str::from_utf8(bytes).ok().and_then(|text| serde_json::from_str::<&RawValue>(text).ok());
    let Some(raw) = raw else { return Body::Unreadable { broken: true } };
    match raw.get().as_bytes()[0] {
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(raw.get()).expect("it starts like an array and is JSON");
            match items.into_iter().map(|item| message(item, 1)).collect::<Option<Vec<_>>>() {
                Some(messages) => Body::Batch(messages),
                None => Body::Unreadable { broken: false },
            }
        }
        _ => message(raw, 0).map_or(Body::Unreadable { broken: false }, Body::One),
    }
}

/// Reads one message that stands below so many levels; `None` where the whole body is refused for it.
fn message(raw: &RawValue, depth: usize) -> Option<Message<'_>> {
    if !raw.get().starts_with('{') {
        return is_sound(raw, depth).then_some(Message::Invalid(None));
    }
    let members = unique(raw)?;
    let member = |name: &str| members.iter().find(|(own, _)| own == name).map(|(_, value)| *value);
    // An id is not read as a value: it only has to be an id.
    if !members.iter().all(|(name, value)| if name == "id" { is_text_or_else(value) } else { is_sound(value, depth + 1) }) {
        return None;
    }
    let value = |name: &str| member(name).map(|raw| serde_json::from_str::<Value>(raw.get()).expect("it is sound"));
    let id = member("id").map(RawValue::get);
    let digits = |text: &str| text.strip_prefix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit());
    let usable = id.filter(|text| text.starts_with('"') || digits(text));
    let (method, params) = (value("method"), value("params").unwrap_or_default());
    if value("jsonrpc") != Some(Value::from("2.0")) {
        return Some(Message::Invalid(usable));
    }
    Some(match (method, id, usable) {
        (None, _, _) if member("result").is_some() || member("error").is_some() => Message::Response,
        (Some(Value::String(_)), None, _) => Message::Notification,
        (Some(Value::String(method)), _, Some(id)) if params.is_null() || params.is_object() => Message::Request { id, method, params },
        (_, _, usable) => Message::Invalid(usable),
    })
}

fn is_text_or_else(raw: &RawValue) -> bool {
    !raw.get().starts_with('"') || serde_json::from_str::<String>(raw.get()).is_ok()
}

/// Whether every reader reads the same: 64 levels, no member twice, no half of a surrogate pair, no number out of range.
fn is_sound(raw: &RawValue, depth: usize) -> bool {
    let text = raw.get();
    match text.as_bytes()[0] {
        b'{' => depth < 64 && unique(raw).is_some_and(|members| members.iter().all(|(_, value)| is_sound(value, depth + 1))),
        b'[' => {
            let items = || serde_json::from_str::<Vec<&RawValue>>(text).expect("it starts like an array and is JSON");
            depth < 64 && items().into_iter().all(|item| is_sound(item, depth + 1))
        }
        _ => serde_json::from_str::<Value>(text).is_ok(),
    }
}

/// The members of an object, none of them twice.
fn unique(raw: &RawValue) -> Option<Vec<(String, &RawValue)>> {
    let Members(members) = serde_json::from_str(raw.get()).ok()?;
    let mut names: Vec<&String> = members.iter().map(|(name, _)| name).collect();
    names.sort_unstable();
    names.windows(2).all(|two| two[0] != two[1]).then_some(members)
}

struct Members<'b>(Vec<(String, &'b RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry::<String, &RawValue>()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(All)
    }
}
