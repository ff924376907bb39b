//! A client that says exactly what it is told to and looks closely at what it gets.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method};
use onepost_core::clock::ManualClock;
use onepost_core::http::Endpoint;
use onepost_core::mcp::{Profile, Record, RequestId};
use serde_json::{Value, json};

use crate::{Backstage, Keys};

/// The name that every request of this client has.
pub const REQUEST_ID: &str = "q-42";

pub const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub const META_LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
pub const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";

/// By which rules a request is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// With the header of 2025-06-18, which every profile serves.
    Legacy,
    /// Of 2026-07-28.
    Modern,
}

pub const BOTH: [Era; 2] = [Era::Legacy, Era::Modern];

/// An endpoint with a key to it.
pub struct Door {
    endpoint: Box<dyn Endpoint>,
    pub profile: &'static Profile,
    pub keys: Keys,
    pub backstage: Arc<Backstage>,
    pub clock: Arc<ManualClock>,
}

impl Door {
    pub fn new(
        endpoint: Box<dyn Endpoint>,
        profile: &'static Profile,
        keys: Keys,
        backstage: Arc<Backstage>,
        clock: Arc<ManualClock>,
    ) -> Self {
        Self { endpoint, profile, keys, backstage, clock }
    }

    /// A POST with the key and `application/json` and nothing more: no version, no body.
    pub fn post(&self) -> Draft<'_> {
        let request = http::Request::post(self.profile.path).header("content-type", "application/json");
        let request = request.header("authorization", format!("Bearer {}", self.keys.good)).extension(RequestId(REQUEST_ID.into()));
        Draft { door: self, request: request.body(Bytes::new()).unwrap() }
    }

    /// A request of this era, with all that the era demands.
    pub fn ask(&self, era: Era, method: &str, params: Value) -> Draft<'_> {
        match era {
            Era::Legacy => self.post().header("mcp-protocol-version", "2025-06-18").rpc(method, params),
            Era::Modern => {
                let mut params = params;
                params["_meta"] = json!({ META_VERSION: "2026-07-28", META_CAPABILITIES: {} });
                let draft = self.post().header("mcp-protocol-version", "2026-07-28").header("mcp-method", method);
                match params.get("name").and_then(Value::as_str) {
                    Some(name) => draft.header("mcp-name", name),
                    None => draft,
                }
                .rpc(method, params)
            }
        }
    }

    /// What answers, without a client before it.
    pub fn endpoint(&self) -> &dyn Endpoint {
        self.endpoint.as_ref()
    }

    /// Calls a tool.
    pub fn call(&self, era: Era, tool: &str, arguments: Value) -> Answer {
        self.ask(era, "tools/call", json!({ "name": tool, "arguments": arguments })).send()
    }

    /// Calls a tool by legacy rules and expects it to succeed.
    pub fn succeed(&self, tool: &str, arguments: Value) -> Value {
        self.call(Era::Legacy, tool, arguments).result()["structuredContent"].clone()
    }
}

/// A request in the making.
#[must_use]
pub struct Draft<'d> {
    door: &'d Door,
    request: http::Request<Bytes>,
}

impl Draft<'_> {
    pub fn method(mut self, method: &str) -> Self {
        *self.request.method_mut() = Method::from_bytes(method.as_bytes()).unwrap();
        self
    }

    pub fn uri(mut self, uri: &str) -> Self {
        *self.request.uri_mut() = uri.parse().unwrap();
        self
    }

    /// With another key.
    pub fn key(self, key: &str) -> Self {
        let value = format!("Bearer {key}");
        self.header("authorization", &value)
    }

    /// The request, to be sent another way.
    pub fn into_request(self) -> http::Request<Bytes> {
        self.request
    }

    /// Sets a header, instead of the one that may be there.
    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.request.headers_mut().insert(name, value.parse().unwrap());
        self
    }

    /// Adds a header to those of its name that are there.
    pub fn header_too(mut self, name: &'static str, value: &str) -> Self {
        self.request.headers_mut().append(name, value.parse().unwrap());
        self
    }

    /// A header of bytes that are no text.
    pub fn header_bytes(mut self, name: &'static str, value: &[u8]) -> Self {
        self.request.headers_mut().insert(name, HeaderValue::from_bytes(value).unwrap());
        self
    }

    pub fn without(mut self, name: &str) -> Self {
        self.request.headers_mut().remove(name);
        self
    }

    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        *self.request.body_mut() = body.into();
        self
    }

    pub fn json(self, body: &Value) -> Self {
        self.body(body.to_string())
    }

    /// A request of JSON-RPC with the id 1.
    pub fn rpc(self, method: &str, params: Value) -> Self {
        self.json(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
    }

    /// The body as JSON, changed.
    pub fn change(self, change: impl FnOnce(&mut Value)) -> Self {
        let mut body = serde_json::from_slice(self.request.body()).unwrap();
        change(&mut body);
        self.json(&body)
    }

    pub fn send(self) -> Answer {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let response = runtime.block_on(self.door.endpoint.answer(self.request));
        let (head, body) = response.into_parts();
        let record = head.extensions.get::<Record>().expect("every answer carries its record").clone();
        Answer { status: head.status.as_u16(), headers: head.headers, body, record }
    }
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub record: Record,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The result of a request that was served.
    pub fn result(&self) -> Value {
        let answer = self.json();
        assert_eq!((self.status, &answer["error"]), (200, &Value::Null), "{answer}");
        answer["result"].clone()
    }

    /// The status and the code of a protocol error, which are the two things that a client branches on.
    pub fn fault(&self) -> (u16, i64) {
        let answer = self.json();
        let code = answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("no protocol error: {answer}"));
        assert!(answer["error"]["message"].as_str().is_some_and(|message| !message.is_empty()), "{answer}");
        assert!(answer.get("result").is_none(), "{answer}");
        (self.status, code)
    }

    /// What a tool says that refuses, out of its only text.
    pub fn refusal(&self) -> Value {
        let result = self.result();
        assert_eq!(result["isError"], true, "{result}");
        assert_eq!(result["content"].as_array().map(Vec::len), Some(1), "{result}");
        serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
    }
}
