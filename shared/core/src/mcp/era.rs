//! Which rules a request is served by, told from its headers and its `_meta`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, StatusCode};
use serde_json::{Map, Value, json};

use super::notices::Level;
use super::{Client, Profile, Version};
use crate::jsonrpc::{Error, Request};

const VERSION_HEADER: &str = "mcp-protocol-version";
const METHOD_HEADER: &str = "mcp-method";
const NAME_HEADER: &str = "mcp-name";

const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const META_LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
const META_PROGRESS_TOKEN: &str = "progressToken";

/// What the version header says before the body is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Header<'h> {
    /// Nothing: 2025-03-26 by the specification.
    Absent,
    /// A version with a handshake that is served.
    Legacy(Version),
    /// 2026-07-28, or a version that is not served, or more than one.
    Other(&'h str),
}

impl<'h> Header<'h> {
    pub(super) fn read(headers: &'h HeaderMap, profile: &Profile) -> Self {
        match single(headers, VERSION_HEADER) {
            Single::Absent => Self::Absent,
            Single::One(name) => match profile.served(name) {
                Some(version) if !version.is_modern() => Self::Legacy(version),
                _ => Self::Other(name),
            },
            Single::Unreadable => Self::Other(""),
        }
    }

    /// Whether errors of the envelope are written as 2026-07-28 has them.
    pub(super) fn is_modern(self) -> bool {
        matches!(self, Self::Other(_))
    }

    /// Whether an array of messages is taken.
    pub(super) fn takes_batches(self) -> bool {
        matches!(self, Self::Absent | Self::Legacy(Version::V2025_03_26))
    }
}

/// The rules for one request.
#[derive(Debug)]
pub(super) struct Era {
    /// The version it is answered in.
    pub(super) version: Version,
    /// What the client said of itself, but for answers of an earlier round.
    pub(super) client: Client,
}

/// A request that no version serves: the status and the error.
pub(super) type Misfit = (StatusCode, Error);

/// Decides by which version a request is served, and checks what that version demands of the request's frame.
///
/// A request is modern when its `_meta` names a version or its header names one without a handshake. A `_meta` alone
/// says nothing: clients send one on legacy calls too, and proxies add `Mcp-Method` to those. Without HTTP there are no
/// `headers`, and none are asked for.
pub(super) fn decide(profile: &Profile, headers: Option<&HeaderMap>, header: Header<'_>, request: &mut Request) -> Result<Era, Misfit> {
    let meta = match request.params.as_object_mut().and_then(|params| params.shift_remove("_meta")) {
        Some(Value::Object(meta)) => meta,
        _ => Map::new(),
    };
    let claimed = meta.get(META_VERSION);
    let named = |name: &Value| name.as_str().and_then(|name| profile.served(name)).filter(|version| !version.is_modern());
    let version = match (claimed, claimed.and_then(named), header) {
        (None, _, Header::Absent) => Version::V2025_03_26,
        (None, _, Header::Legacy(version)) => version,
        (None, _, Header::Other(name)) if profile.served(name).is_none() => return Err(unsupported(profile, name)),
        (_, Some(version), Header::Absent) => version,
        (_, Some(version), Header::Legacy(header)) if headers.is_none() || version == header => version,
        _ => return modern(profile, headers, request, meta),
    };
    // Stateless: a level that was set in an earlier request is not known. What is worth telling is told from info on.
    let client =
        Client { progress_token: progress_token(&meta), log_level: profile.logs.then_some(Level::Info), meta, ..Client::default() };
    Ok(Era { version, client })
}

/// The checks of 2026-07-28, in the order in which its conformance suite expects them. A version that header and body
/// agree on and that is not served comes before them: what else that version demands is not known here.
fn modern(profile: &Profile, headers: Option<&HeaderMap>, request: &Request, meta: Map<String, Value>) -> Result<Era, Misfit> {
    let bad_request = |error| Err((StatusCode::BAD_REQUEST, error));
    let Some(name) = meta.get(META_VERSION).and_then(Value::as_str) else {
        return bad_request(Error::invalid_params(format!("params._meta must hold {META_VERSION} as a string.")));
    };
    if profile.served(name).is_none() && agrees(headers, VERSION_HEADER, name) {
        return Err(unsupported(profile, name));
    }
    let Some(capabilities) = meta.get(META_CAPABILITIES).and_then(Value::as_object) else {
        return bad_request(Error::invalid_params(format!("params._meta must hold {META_CAPABILITIES} as an object.")));
    };
    let log_level = match meta.get(META_LOG_LEVEL) {
        None => None,
        Some(level) => match level.as_str().and_then(Level::named) {
            Some(level) => Some(level),
            None => {
                let names = Level::ALL.map(Level::as_str).join(", ");
                return bad_request(Error::invalid_params(format!("{META_LOG_LEVEL} must be one of: {names}.")));
            }
        },
    };
    for (header, says) in
        [(VERSION_HEADER, Some(name)), (METHOD_HEADER, Some(request.method.as_str())), (NAME_HEADER, routed_name(request))]
    {
        if says.is_some_and(|says| !agrees(headers, header, says)) {
            return bad_request(Error::header_mismatch(format!("The header {header} must be sent once and say what the body says.")));
        }
    }
    match profile.served(name) {
        Some(version) if version.is_modern() => {
            let (capabilities, progress_token) = (capabilities.clone(), progress_token(&meta));
            let log_level = log_level.filter(|_| profile.logs);
            Ok(Era { version, client: Client { capabilities, progress_token, log_level, meta, ..Client::default() } })
        }
        _ => Err(unsupported(profile, name)),
    }
}

/// A string or an integer, to be repeated in notifications.
fn progress_token(meta: &Map<String, Value>) -> Option<Value> {
    meta.get(META_PROGRESS_TOKEN).filter(|token| token.is_string() || token.is_i64() || token.is_u64()).cloned()
}

/// What `Mcp-Name` must repeat, for the methods that have it.
fn routed_name(request: &Request) -> Option<&str> {
    let member = match request.method.as_str() {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return None,
    };
    request.params.get(member).and_then(Value::as_str)
}

fn agrees(headers: Option<&HeaderMap>, header: &str, says: &str) -> bool {
    let Some(headers) = headers else {
        return true;
    };
    match single(headers, header) {
        Single::One(value) if value == says => true,
        Single::One(value) => header == NAME_HEADER && unwrapped(value).as_deref() == Some(says),
        Single::Absent | Single::Unreadable => false,
    }
}

/// A value that ASCII cannot carry comes as `=?base64?` and base64 of its UTF-8 and `?=`.
pub(super) fn unwrapped(value: &str) -> Option<String> {
    let encoded = value.strip_prefix("=?base64?")?.strip_suffix("?=")?;
    String::from_utf8(STANDARD.decode(encoded).ok()?).ok()
}

/// A header that must not be repeated.
pub(super) enum Single<'h> {
    Absent,
    One(&'h str),
    Unreadable,
}

/// Reads a header that must not be repeated: the first and the last reader would disagree.
pub(super) fn single<'h>(headers: &'h HeaderMap, name: &str) -> Single<'h> {
    let mut all = headers.get_all(name).iter();
    match (all.next(), all.next()) {
        (None, _) => Single::Absent,
        (Some(value), None) => value.to_str().map_or(Single::Unreadable, |text| Single::One(text.trim())),
        _ => Single::Unreadable,
    }
}

fn unsupported(profile: &Profile, requested: &str) -> Misfit {
    let supported: Vec<&str> = profile.all_versions().map(Version::as_str).collect();
    let message = format!("This version of MCP is not served. Served are: {}.", supported.join(", "));
    let requested: String = requested.chars().take(32).collect();
    (StatusCode::BAD_REQUEST, Error::unsupported_version(message, json!({ "supported": supported, "requested": requested })))
}
