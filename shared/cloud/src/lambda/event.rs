//! An event as the request that is inside it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use onepost_core::http::Request;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::refusal::Refusal;

/// What invoked the function: a request, or something that is refused.
///
/// Any JSON is an event, so reading one never fails: what fails before the function is called is a failed invocation. It
/// is read from JSON text alone, which it borrows, so that a large body is copied once, to where it stays.
#[derive(Debug)]
pub struct Event(Result<Request, Refusal>);

impl Event {
    /// The request: path without the stage, body without base64.
    pub(super) fn into_request(self) -> Result<Request, Refusal> {
        self.0
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = <&RawValue>::deserialize(deserializer)?.get();
        Ok(Self(match serde_json::from_str::<Payload>(json) {
            Ok(payload) => payload.into_request(),
            Err(_) => Err(Refusal::of_another_format(json)),
        }))
    }
}

/// What is read of payload format 2.0. A door writes every member; a person who tries a function out leaves out what
/// they do not need, or writes `null`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload<'e> {
    #[serde(rename = "version")]
    _version: Version,
    request_context: RequestContext,
    raw_path: Option<String>,
    raw_query_string: Option<String>,
    headers: Option<BTreeMap<String, String>>,
    cookies: Option<Vec<String>>,
    #[serde(borrow)]
    body: Option<Text<'e>>,
    is_base64_encoded: Option<bool>,
}

/// Other services number their formats as well, so this alone tells nothing; see [`RequestContext::http`].
#[derive(Deserialize)]
enum Version {
    #[serde(rename = "2.0")]
    V2,
}

#[derive(Deserialize)]
struct RequestContext {
    /// No other event has this.
    http: Http,
    stage: Option<String>,
}

#[derive(Deserialize)]
struct Http {
    method: String,
}

/// Bytes and not a `str`: where a body was no Unicode, to say so is the endpoint's matter.
#[derive(Deserialize)]
struct Text<'e>(#[serde(borrow)] Cow<'e, [u8]>);

impl Payload<'_> {
    fn into_request(self) -> Result<Request, Refusal> {
        let mut request = Request::new(match self.body {
            None => Bytes::new(),
            Some(Text(text)) if self.is_base64_encoded == Some(true) => {
                STANDARD.decode(text).map_err(|_| Refusal::Malformed("The body is marked as base64, and it is not."))?.into()
            }
            Some(Text(text)) => text.into_owned().into(),
        });
        *request.method_mut() = Method::from_bytes(self.request_context.http.method.as_bytes())
            .map_err(|_| Refusal::Malformed("The method is none that HTTP has."))?;
        *request.uri_mut() = uri(self.request_context.stage, &self.raw_path.unwrap_or_default(), self.raw_query_string.as_deref())?;
        *request.headers_mut() = headers(self.headers.unwrap_or_default(), self.cookies.unwrap_or_default())?;
        Ok(request)
    }
}

/// Path and query as a client sends them, without the stage that an HTTP API puts before the path.
fn uri(stage: Option<String>, path: &str, query: Option<&str>) -> Result<Uri, Refusal> {
    // The stage of this name, which every Function URL has too, is in no path.
    let stage = stage.filter(|stage| stage != "$default");
    let rest = stage.and_then(|stage| path.strip_prefix('/')?.strip_prefix(stage.as_str()).filter(|rest| rest.starts_with('/')));
    let mut whole = encoded(rest.unwrap_or(path), "/");
    if !whole.starts_with('/') {
        whole.insert(0, '/');
    }
    if let Some(query) = query.filter(|query| !query.is_empty()) {
        whole = format!("{whole}?{}", encoded(query, "/?"));
    }
    PathAndQuery::try_from(whole).map(Uri::from).map_err(|_| Refusal::Malformed("The path and query are too long."))
}

/// HTTP APIs decode the path, and emulators the query too: what cannot stand in one is encoded again, or a space would
/// be no URI and a question mark would begin a query. What a Function URL left encoded stays as it is.
fn encoded(text: &str, also: &str) -> String {
    let stays = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@%".contains(&byte) || also.as_bytes().contains(&byte);
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if stays(byte) {
            encoded.push(char::from(byte));
        } else {
            encoded += &format!("%{byte:02X}");
        }
    }
    encoded
}

/// The headers, whatever the case of their names. One that HTTP does not have is not left out: what is looked for in
/// vain, an `Origin` say, lets a request pass.
fn headers(sent: BTreeMap<String, String>, cookies: Vec<String>) -> Result<HeaderMap, Refusal> {
    let refused = Refusal::Malformed("A header is none that HTTP has.");
    let mut headers = HeaderMap::new();
    // Payload 2.0 takes the cookies out of the headers.
    let cookie = (!cookies.is_empty()).then(|| (header::COOKIE.to_string(), cookies.join("; ")));
    for (name, value) in sent.into_iter().chain(cookie) {
        let name = HeaderName::from_bytes(name.as_bytes());
        // Blanks around a value are no part of it.
        let value = HeaderValue::from_str(value.trim_matches([' ', '\t']));
        let (Ok(name), Ok(value)) = (name, value) else { return Err(refused) };
        if headers.try_append(name, value).is_err() {
            return Err(refused);
        }
    }
    Ok(headers)
}
