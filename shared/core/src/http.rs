//! HTTP as this suite knows it: a request with its bytes in, a response with its bytes out.
//!
//! The checks that need no body come first, in this order: path, method, `Origin`, then (by the server) the
//! credential, then content type, encoding and size. A refusal is a status and a JSON-RPC error without an id, so that
//! a client which reads the body whatever the status can carry on.

use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS,
    ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, ALLOW, CONTENT_ENCODING, CONTENT_TYPE, ORIGIN, RETRY_AFTER, VARY,
    WWW_AUTHENTICATE,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::json;

use crate::jsonrpc::Error;

/// A request whose body has arrived whole. The path is the one the endpoint serves: a shell strips its own prefix.
pub type Request = http::Request<Bytes>;

/// A complete answer. Nothing is ever streamed.
pub type Response = http::Response<Bytes>;

/// One endpoint behind any transport: Lambda, the local stack, a test.
pub trait Endpoint: Send + Sync {
    /// Answers one request. Never fails: a fault is an answer too.
    fn answer(&self, request: Request) -> Pin<Box<dyn Future<Output = Response> + Send + '_>>;
}

/// What an endpoint lets in before it looks at who calls.
#[derive(Debug, Clone, Default)]
pub struct Gate {
    /// Origins of pages that may call, as `scheme://host[:port]`.
    pub origins: Vec<String>,
    /// The endpoint itself is on this machine, so pages on this machine may call it too.
    pub local: bool,
}

/// A request that is refused by HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rejection {
    /// No endpoint at this path.
    NotFound,
    /// Another method than POST.
    MethodNotAllowed,
    /// A page of a foreign origin.
    ForbiddenOrigin,
    /// No valid credential; the text says how to send one.
    Unauthorized(String),
    /// A credential without this right, which its owner can ask for.
    MissingScope(&'static str),
    /// Another content type than JSON.
    NotJson,
    /// A compressed body.
    Encoded,
    /// A body over this many bytes.
    TooLarge(usize),
    /// Too many calls; in so many seconds there is room again.
    TooManyCalls(u32),
    /// The store behind the key check does not answer.
    Unavailable,
}

impl Gate {
    /// Checks path, method and origin. `Ok(Some)` is the answer to a permitted preflight.
    pub fn check(&self, request: &Request, path: &str) -> Result<Option<Response>, Rejection> {
        let asked = request.uri().path();
        // One trailing slash is served directly: a redirect would lose the key or turn POST into GET.
        if asked != path && asked.strip_suffix('/') != Some(path) {
            return Err(Rejection::NotFound);
        }
        if request.method() == Method::OPTIONS && self.lets_pages_in() && request.headers().contains_key(ORIGIN) {
            let origin = self.allowed_origin(request.headers()).ok_or(Rejection::ForbiddenOrigin)?;
            return Ok(Some(preflight(request.headers(), &origin)));
        }
        if request.method() != Method::POST {
            return Err(Rejection::MethodNotAllowed);
        }
        if request.headers().contains_key(ORIGIN) && self.allowed_origin(request.headers()).is_none() {
            return Err(Rejection::ForbiddenOrigin);
        }
        Ok(None)
    }

    /// Lets a permitted page read the answer.
    pub fn open_to_page(&self, request_headers: &HeaderMap, response: &mut Response) {
        if let Some(origin) = self.allowed_origin(request_headers) {
            let headers = response.headers_mut();
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("www-authenticate, retry-after, x-request-id"));
            headers.insert(VARY, HeaderValue::from_static("origin"));
        }
    }

    /// Whether CORS is answered at all.
    fn lets_pages_in(&self) -> bool {
        self.local || !self.origins.is_empty()
    }

    fn allowed_origin(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let mut all = headers.get_all(ORIGIN).iter();
        let (Some(only), None) = (all.next(), all.next()) else {
            return None;
        };
        let text = only.to_str().ok()?;
        (self.origins.iter().any(|origin| origin == text) || (self.local && is_local(text))).then(|| only.clone())
    }
}

/// Checks what can be known of a body before it is read.
pub fn check_body(headers: &HeaderMap, body: &[u8], limit: usize) -> Result<(), Rejection> {
    if !is_json(headers) {
        return Err(Rejection::NotJson);
    }
    // Gateways join repeated headers with commas, so that one value and several mean the same.
    let identity =
        |value: &HeaderValue| value.as_bytes().split(|byte| *byte == b',').all(|one| one.trim_ascii().eq_ignore_ascii_case(b"identity"));
    if headers.get_all(CONTENT_ENCODING).iter().any(|value| !identity(value)) {
        return Err(Rejection::Encoded);
    }
    if body.len() > limit {
        return Err(Rejection::TooLarge(limit));
    }
    Ok(())
}

/// `application/json`, whatever its case and parameters. Also what keeps a page from posting without a preflight.
fn is_json(headers: &HeaderMap) -> bool {
    let mut all = headers.get_all(CONTENT_TYPE).iter();
    let (Some(only), None) = (all.next(), all.next()) else {
        return false;
    };
    // A comma is how gateways join repeated headers; no parameter of JSON needs one.
    let Some(text) = only.to_str().ok().filter(|text| !text.contains(',')) else {
        return false;
    };
    let mut parts = text.split(';').map(str::trim);
    let json = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"));
    let utf_8 = |parameter: &str| match parameter.split_once('=') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8"),
        _ => true,
    };
    json && parts.all(utf_8)
}

fn is_local(origin: &str) -> bool {
    let Some(host) = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")) else {
        return false;
    };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit()) => name,
        _ => host,
    };
    matches!(name, "localhost" | "127.0.0.1" | "[::1]")
}

fn preflight(asked: &HeaderMap, origin: &HeaderValue) -> Response {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST"));
    let names = "authorization, content-type, accept, x-api-key, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id, last-event-id";
    // Which arguments are repeated as headers, only the tools say.
    let asked = asked.get(ACCESS_CONTROL_REQUEST_HEADERS).and_then(|asked| asked.to_str().ok()).unwrap_or_default();
    let repeated = asked.split(',').map(str::trim).filter(|name| name.to_ascii_lowercase().starts_with("mcp-param-"));
    let names: Vec<&str> = [names].into_iter().chain(repeated.take(20)).collect();
    let names = HeaderValue::from_str(&names.join(", ")).expect("what was text in a header is text in a header");
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, names);
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("7200"));
    headers.insert(VARY, HeaderValue::from_static("origin"));
    response
}

/// A JSON answer with this status.
pub fn json_response(status: StatusCode, body: impl Into<Bytes>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

impl Rejection {
    /// The status it is answered with.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::ForbiddenOrigin | Self::MissingScope(_) => StatusCode::FORBIDDEN,
            Self::Unauthorized(_) => StatusCode::UNAUTHORIZED,
            Self::NotJson | Self::Encoded => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooManyCalls(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The refusal as a JSON-RPC error.
    pub fn error(&self) -> Error {
        let message = match self {
            Self::NotFound => "There is no endpoint at this path.".to_owned(),
            Self::MethodNotAllowed => "This endpoint takes POST only: it holds no session and opens no stream.".to_owned(),
            Self::ForbiddenOrigin => "Pages of this origin may not call this endpoint.".to_owned(),
            Self::Unauthorized(text) => text.trim_end().to_owned(),
            Self::MissingScope(scope) => format!("This needs a token with the scope {scope}."),
            Self::NotJson => "Send the body as Content-Type: application/json (UTF-8).".to_owned(),
            Self::Encoded => "Send the body without a Content-Encoding.".to_owned(),
            Self::TooLarge(limit) => format!("The body is larger than {limit} bytes. Send less in one call."),
            Self::TooManyCalls(seconds) => format!("Too many calls. Try again in {seconds} s."),
            Self::Unavailable => {
                let message = "The service cannot check keys at this moment. Try again shortly.".to_owned();
                return Error { code: Error::INTERNAL, message, data: None };
            }
        };
        Error::invalid_request(message)
    }

    /// The whole answer. `challenge` is the value of `WWW-Authenticate`.
    pub fn into_response(self, challenge: &str) -> Response {
        let status = self.status();
        if let Self::Unauthorized(text) = self {
            return unauthorized(text, challenge);
        }
        let mut response = json_response(status, json!({ "jsonrpc": "2.0", "id": null, "error": self.error() }).to_string());
        let headers = response.headers_mut();
        match self {
            Self::MethodNotAllowed => headers.insert(ALLOW, HeaderValue::from_static("POST")),
            Self::TooManyCalls(seconds) => headers.insert(RETRY_AFTER, HeaderValue::from(seconds)),
            Self::Unavailable => headers.insert(RETRY_AFTER, HeaderValue::from_static("2")),
            Self::MissingScope(scope) => {
                let more = if challenge.contains(' ') { "," } else { "" };
                let challenge = format!("{challenge}{more} error=\"insufficient_scope\", scope=\"{scope}\"");
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_str(&challenge).expect("a challenge is written by us, in ASCII"))
            }
            _ => None,
        };
        response
    }
}

fn unauthorized(text: String, challenge: &str) -> Response {
    let mut response = Response::new(text.into());
    *response.status_mut() = StatusCode::UNAUTHORIZED;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(WWW_AUTHENTICATE, HeaderValue::from_str(challenge).expect("a challenge is written by us, in ASCII"));
    response
}
