//! What a client may send, each thing written once, as it stands in plain HTTP, with the answer that it gets. A transport
//! carries it in its own way, and the answer stays the same to the byte.
//!
//! Shared with the tests of plain HTTP, which are in the package `tests`.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, Method};
use library::client::{Door, META_CAPABILITIES, META_VERSION, REQUEST_ID};
use library::{LikeChecklists, open_behind};
use onepost_core::http::{Endpoint, Gate, Request, Response};
use onepost_core::mcp::RequestId;
use serde_json::{Value, json};

/// The one site whose pages may call.
const SITE: &str = "https://library.example";

/// What is sent, and how it ends.
#[derive(Clone)]
pub struct Situation {
    pub what: &'static str,
    /// The status, and the code of the JSON-RPC error if there is one.
    pub ends: (u16, Option<i64>),
    pub method: &'static str,
    pub path: &'static str,
    pub query: &'static str,
    /// Line by line, names in the case they are written in.
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

/// A list or a call by legacy rules with all that belongs to it; each situation changes what it is about.
fn situation(what: &'static str, ends: (u16, Option<i64>), key: &str) -> Situation {
    let headers = [("authorization", &*format!("Bearer {key}")), ("content-type", "application/json")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    Situation { what, ends, method: "POST", path: "/mcp", query: "", headers, body: Bytes::new() }.rpc("tools/list", json!({}))
}

impl Situation {
    fn method(self, method: &'static str) -> Self {
        Self { method, body: Bytes::new(), ..self }
    }

    fn at(self, path: &'static str) -> Self {
        Self { path, ..self }
    }

    fn query(self, query: &'static str) -> Self {
        Self { query, ..self }
    }

    /// One more header line.
    fn and(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(sent, _)| !sent.eq_ignore_ascii_case(name));
        self
    }

    /// This line instead of those of its name.
    fn with(self, name: &str, value: &str) -> Self {
        self.without(name).and(name, value)
    }

    fn body(self, body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), ..self }
    }

    fn rpc(self, method: &str, params: Value) -> Self {
        self.body(json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string())
    }

    fn call(self, tool: &str, arguments: Value) -> Self {
        self.rpc("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// The same by the rules of 2026-07-28.
    fn modern(self, method: &str, mut params: Value) -> Self {
        params["_meta"] = json!({ META_VERSION: "2026-07-28", META_CAPABILITIES: {} });
        self.with("MCP-Protocol-Version", "2026-07-28").with("Mcp-Method", method).rpc(method, params)
    }
}

/// Every situation, for a library with these keys.
fn all(key: &str, revoked_key: &str) -> Vec<Situation> {
    const SERVED: (u16, Option<i64>) = (200, None);
    let the = |what, ends| situation(what, ends, key);
    let bearer = |text: &str| text.replace("KEY", key);
    let (page, version) = ("Origin", "MCP-Protocol-Version");
    let count = json!({ "name": "count_books", "arguments": {} });
    let notice = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let batch = json!([{ "jsonrpc": "2.0", "id": "a", "method": "ping" }, notice, { "jsonrpc": "2.0", "id": "b", "method": "ping" }]);
    vec![
        // What is asked.
        the("a handshake", SERVED).rpc("initialize", json!({ "protocolVersion": "2025-06-18" })),
        the("a list by legacy rules", SERVED).with(version, "2025-06-18"),
        the("a list by modern rules", SERVED).modern("tools/list", json!({})),
        the("a call by legacy rules", SERVED).rpc("tools/call", count.clone()),
        the("a call by modern rules", SERVED).modern("tools/call", count.clone()).and("Mcp-Name", "count_books"),
        the("a call that is refused", SERVED).call("burn_book", json!({ "book_id": "bk-1" })),
        the("a call that fails inside", SERVED).call("dust_shelves", json!({})),
        the("an unknown tool", (200, Some(-32602))).call("read_minds", json!({})),
        the("wrong arguments", (200, Some(-32602))).call("list_books", json!({ "limit": "all" })),
        the("an unknown method by modern rules", (404, Some(-32601))).modern("prompts/write", json!({})),
        the("a version that nobody serves", (400, Some(-32022))).with(version, "2030-01-01"),
        the("a body that is no JSON", (200, Some(-32700))).body("{\"jsonrpc\":"),
        the("a body that is no Unicode", (200, Some(-32700))).body(&b"{\"jsonrpc\":\"\xE9\"}"[..]),
        the("no body", (200, Some(-32700))).body(""),
        the("a body with a byte order mark and blanks", SERVED).body("\u{feff} {\"jsonrpc\":\"2.0\",\r\n\t\"id\":1,\"method\":\"ping\"}\n"),
        the("a notification", (202, None)).body(notice.to_string()),
        the("a batch under 2025-03-26", SERVED).with(version, "2025-03-26").body(batch.to_string()),
        the("a batch under 2025-06-18", (200, Some(-32600))).with(version, "2025-06-18").body(batch.to_string()),
        // What is answered.
        the("an image and an emoji in the result", SERVED).call("show_cover", json!({})),
        the("quotes, controls and emoji, there and back", SERVED)
            .call("ask_librarian", json!({ "question": "Wer hat «Ulysses»? 📚", "said": "\"\\/\u{8}\u{1f}\u{7f}\u{2028}é\u{10ffff}" })),
        the("an event stream in one body", SERVED)
            .and("Accept", "application/json")
            .and("Accept", "text/event-stream")
            .rpc("tools/call", json!({ "name": "recite_lines", "arguments": { "lines": 3 }, "_meta": { "progressToken": "p" } })),
        // Who asks.
        the("no key", (401, None)).without("authorization"),
        the("a key that nobody has", (401, None)).with("authorization", "Bearer lib_live_nobody"),
        the("a revoked key", (401, None)).with("authorization", &format!("Bearer {revoked_key}")),
        the("two blanks before the key", SERVED).with("authorization", &bearer("Bearer  KEY")),
        the("a blank after the key", SERVED).with("authorization", &bearer("Bearer KEY ")),
        the("a scheme without a key", (401, None)).with("authorization", "Bearer"),
        the("a word after the key", (401, None)).with("authorization", &bearer("Bearer KEY extra")),
        the("another scheme", (401, None)).with("authorization", &bearer("Basic KEY")),
        // From where.
        the("a page of the site", SERVED).with(page, SITE),
        the("a page of a foreign site", (403, Some(-32600))).with(page, "https://evil.example"),
        the("a page of no site", (403, Some(-32600))).with(page, "null"),
        the("the question of a browser for its page", (204, None)).method("OPTIONS").without("authorization").with(page, SITE),
        the("the same for a foreign page", (403, Some(-32600)))
            .method("OPTIONS")
            .without("authorization")
            .with(page, "https://evil.example"),
        the("a question of nobody", (405, Some(-32600))).method("OPTIONS"),
        // How.
        the("a GET", (405, Some(-32600))).method("GET").without("content-type").with("accept", "text/event-stream"),
        the("a DELETE", (405, Some(-32600))).method("DELETE").without("content-type"),
        the("a trailing slash", SERVED).at("/mcp/"),
        the("two trailing slashes", (404, Some(-32600))).at("/mcp//"),
        the("a query string", SERVED).query("api_version=1&q=a%20b&q=%F0%9F%93%9A"),
        the("an unknown path", (404, Some(-32600))).at("/mcp/tools"),
        the("a path that only decoding would make known", (404, Some(-32600))).at("/m%63p"),
        the("a content type with a charset", SERVED).with("content-type", "Application/JSON; charset=\"UTF-8\""),
        the("another charset", (415, Some(-32600))).with("content-type", "application/json; charset=latin1"),
        the("another content type", (415, Some(-32600))).with("content-type", "text/plain"),
        the("no content type", (415, Some(-32600))).without("content-type"),
        the("a compressed body", (415, Some(-32600))).with("content-encoding", "gzip").body(&b"\x1f\x8b\x08\x00\xff"[..]),
        the("a body that is too large", (413, Some(-32600))).body(vec![b' '; 1024 * 1024 + 1]),
        the("header names in odd case", SERVED)
            .without("authorization")
            .without("content-type")
            .and("aUthoRization", &bearer("Bearer KEY"))
            .and("CONTENT-TYPE", "application/json")
            .and("mCP-pROTOCOL-vERSION", "2025-06-18"),
        // Twice.
        the("the same key twice", (401, None)).and("Authorization", &bearer("Bearer KEY")),
        the("a key and an empty one", (401, None)).and("authorization", ""),
        the("the content type twice", (415, Some(-32600))).and("content-type", "application/json"),
        the("two content types", (415, Some(-32600)))
            .with("content-type", "application/json; charset=utf-8")
            .and("content-type", "text/plain"),
        the("two content types of which the first has a parameter", (415, Some(-32600)))
            .with("content-type", "application/json; a=b")
            .and("content-type", "text/plain"),
        the("no compression, twice", SERVED).with("content-encoding", "identity").and("content-encoding", "Identity"),
        the("the origin twice", (403, Some(-32600))).with(page, SITE).and(page, SITE),
        the("two origins", (403, Some(-32600))).with(page, SITE).and(page, "https://evil.example"),
        the("the version twice", (400, Some(-32022))).with(version, "2025-06-18").and(version, "2025-06-18"),
        the("the modern version twice", (400, Some(-32020))).modern("tools/list", json!({})).and(version, "2026-07-28"),
        the("the method twice", (400, Some(-32020))).modern("tools/list", json!({})).and("Mcp-Method", "tools/list"),
        the("the name twice", (400, Some(-32020)))
            .modern("tools/call", count)
            .and("Mcp-Name", "count_books")
            .and("Mcp-Name", "count_books"),
    ]
}

/// What came back: all that a client could tell two transports apart by.
#[derive(Debug, PartialEq)]
pub struct Told {
    pub status: u16,
    /// One value a name.
    pub headers: BTreeMap<String, String>,
    pub body: Bytes,
}

impl Told {
    /// The status, and the code of the JSON-RPC error if there is one.
    pub fn ends(&self) -> (u16, Option<i64>) {
        let body: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        (self.status, body["error"]["code"].as_i64())
    }
}

/// A library that tells apart everything above, with its situations. Each request has the same name there, unless its
/// transport gave it one.
pub struct Library(Door);

impl Library {
    pub fn open() -> (Self, Vec<Situation>) {
        let door = open_behind::<LikeChecklists>(Gate { origins: vec![SITE.to_owned()], local: false });
        let situations = all(&door.keys.good, &door.keys.revoked);
        (Self(door), situations)
    }
}

impl Endpoint for Library {
    fn answer(&self, mut request: Request) -> Pin<Box<dyn Future<Output = Response> + Send + '_>> {
        request.extensions_mut().get_or_insert_with(|| RequestId(REQUEST_ID.to_owned()));
        self.0.endpoint().answer(request)
    }
}

/// Without a transport.
pub async fn directly(library: &Library, situation: &Situation) -> Told {
    let mut request = Request::new(situation.body.clone());
    *request.method_mut() = Method::from_bytes(situation.method.as_bytes()).unwrap();
    *request.uri_mut() = format!("{}?{}", situation.path, situation.query).trim_end_matches('?').parse().unwrap();
    for (name, value) in &situation.headers {
        request.headers_mut().append(HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
    }
    let (head, body) = library.answer(request).await.into_parts();
    let told = |name: &HeaderName| (name.to_string(), joined(&head.headers, name));
    Told { status: head.status.as_u16(), headers: head.headers.keys().map(told).collect(), body }
}

fn joined(headers: &HeaderMap, name: &HeaderName) -> String {
    headers.get_all(name).iter().map(|value| value.to_str().unwrap()).collect::<Vec<_>>().join(", ")
}
