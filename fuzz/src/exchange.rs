//! A request as text.
//!
//! ```text
//! POST {path} at checklists
//! authorization: Bearer {good}
//! content-type: application/json
//! mcp-protocol-version: 2025-06-18
//!
//! {"jsonrpc":"2.0","id":1,"method":"ping"}
//! ```
//!
//! The first line ends with a door, and may name situations after it: `crowded`, `outage`, `paid`. Known only when the
//! doors are open, and so written by name: `{path}`, the keys `{good}`, `{other}`, `{revoked}`, `{token}`, `{librarian}`,
//! and in a body `{state}`, the request state that the same request gets when it is sent without one. `{x*5000}` in a body
//! is 5000 times x. Whatever follows the first empty line is the body, byte for byte.

use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response};
use library::client::{Door, REQUEST_ID};
use library::{Book, LikeAgents, LikeChecklists, LikeRent, LikeViewer};
use onepost_core::http::Gate;
use onepost_core::mcp::RequestId;
use serde_json::Value;

use crate::finish;

/// The names of the doors.
pub const DOORS: [&str; 4] = ["checklists", "agents", "rent", "viewer"];

/// What may be the matter with the library.
pub const SITUATIONS: [&str; 3] = ["crowded", "outage", "paid"];

/// A page that may call agents.
pub const FRIEND: &str = "https://app.example";

/// The largest body that is ever made, a little more than is taken.
const MOST_BYTES: usize = 1_200_000;

/// A request in its text form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The HTTP method.
    pub method: String,
    /// The target, as it is written.
    pub path: String,
    /// Which door: an index into [`DOORS`].
    pub door: usize,
    /// Some of [`SITUATIONS`].
    pub situations: Vec<&'static str>,
    /// Names and values, as they are written.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body, as it is written.
    pub body: Vec<u8>,
}

impl Exchange {
    /// Reads the text; `None` where there is not even a first line of this form.
    pub fn parse(input: &[u8]) -> Option<Self> {
        let (head, body) = match input.windows(2).position(|two| two == b"\n\n") {
            Some(end) => (&input[..end], &input[end + 2..]),
            None => (input, &b""[..]),
        };
        let mut lines = head.split(|byte| *byte == b'\n');
        let first = std::str::from_utf8(lines.next()?).ok()?;
        let mut words = first.split(' ');
        let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
        let named: Vec<&str> = words.collect();
        let door = DOORS.iter().position(|door| named.contains(door))?;
        let situations = SITUATIONS.into_iter().filter(|situation| named.contains(situation)).collect();
        let header = |line: &[u8]| -> Option<(String, Vec<u8>)> {
            let colon = line.iter().position(|byte| *byte == b':')?;
            let value = line[colon + 1..].strip_prefix(b" ").unwrap_or(&line[colon + 1..]);
            Some((String::from_utf8(line[..colon].to_vec()).ok()?, value.to_vec()))
        };
        Some(Self { method, path, door, situations, headers: lines.filter_map(header).collect(), body: body.to_vec() })
    }

    /// Writes the text.
    pub fn to_text(&self) -> Vec<u8> {
        let mut text = format!("{} {} at {}", self.method, self.path, DOORS[self.door]).into_bytes();
        for situation in &self.situations {
            text.extend_from_slice(format!(" {situation}").as_bytes());
        }
        for (name, value) in &self.headers {
            text.extend_from_slice(b"\n");
            text.extend_from_slice(name.as_bytes());
            text.extend_from_slice(b": ");
            text.extend_from_slice(value);
        }
        text.extend_from_slice(b"\n\n");
        text.extend_from_slice(&self.body);
        text
    }

    /// The request itself; `None` where HTTP has no such request.
    pub fn request(&self, door: &Door) -> Option<Request<Bytes>> {
        let method = Method::from_bytes(self.method.as_bytes()).ok()?;
        let mut request = Request::builder().method(method).uri(self.path.replace("{path}", door.profile.path)).body(Bytes::new()).ok()?;
        *request.headers_mut() = self.header_map(door);
        request.extensions_mut().insert(RequestId(REQUEST_ID.into()));
        let body = repeated(&self.body);
        *request.body_mut() = with_state(door, &request, body).into();
        Some(request)
    }

    fn header_map(&self, door: &Door) -> HeaderMap {
        let mut map = HeaderMap::new();
        let keys = &door.keys;
        let places = [
            ("{good}", &keys.good),
            ("{other}", &keys.other),
            ("{revoked}", &keys.revoked),
            ("{token}", &keys.token),
            ("{librarian}", &keys.librarian),
        ];
        for (name, value) in &self.headers {
            let value = match std::str::from_utf8(value) {
                Ok(text) => places.iter().fold(text.to_owned(), |text, (place, key)| text.replace(place, key)).into_bytes(),
                Err(_) => value.clone(),
            };
            if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::from_bytes(&value)) {
                map.append(name, value);
            }
        }
        map
    }
}

/// Writes out what stands there as `{x*5000}`.
fn repeated(body: &[u8]) -> Vec<u8> {
    let mut written = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some(open) = rest.windows(2).position(|two| two[0] == b'{' && two[1] != b'"') {
        let read = rest.get(open + 2).filter(|star| **star == b'*').and_then(|_| {
            let digits = rest[open + 3..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let closed = rest.get(open + 3 + digits) == Some(&b'}');
            let count: usize = std::str::from_utf8(&rest[open + 3..open + 3 + digits]).ok()?.parse().ok()?;
            closed.then_some((rest[open + 1], count, open + 4 + digits))
        });
        match read {
            Some((byte, count, end)) if written.len() + count <= MOST_BYTES => {
                written.extend_from_slice(&rest[..open]);
                written.resize(written.len() + count, byte);
                rest = &rest[end..];
            }
            _ => {
                written.extend_from_slice(&rest[..=open]);
                rest = &rest[open + 1..];
            }
        }
    }
    written.extend_from_slice(rest);
    written
}

/// Puts a real request state where `{state}` stands.
fn with_state(door: &Door, request: &Request<Bytes>, body: Vec<u8>) -> Vec<u8> {
    const PLACE: &str = "{state}";
    let Ok(text) = std::str::from_utf8(&body) else { return body };
    if !text.contains(PLACE) {
        return body;
    }
    let state = serde_json::from_str::<Value>(text).ok().and_then(|mut asked| {
        let params = asked.get_mut("params").and_then(Value::as_object_mut)?;
        params.shift_remove("requestState");
        params.shift_remove("inputResponses");
        let mut first = request.clone();
        *first.body_mut() = asked.to_string().into();
        let answer: Value = serde_json::from_slice(send(door, first).body()).ok()?;
        answer["result"]["requestState"].as_str().map(str::to_owned)
    });
    text.replace(PLACE, state.as_deref().unwrap_or("none")).into_bytes()
}

/// Opens the doors: to no page, to one, to those on this machine, to no page.
pub fn doors() -> [Door; 4] {
    let friend = Gate { origins: vec![FRIEND.into()], local: false };
    [
        library::open::<LikeChecklists>(),
        library::open_behind::<LikeAgents>(friend),
        library::open_behind::<LikeRent>(Gate { origins: Vec::new(), local: true }),
        library::open::<LikeViewer>(),
    ]
}

/// Puts everything behind a door back in its place, so that an answer depends on its request alone.
///
/// # Panics
/// If a tool panicked while it held the books.
pub fn tidy(door: &Door, situations: &[&str]) {
    let backstage = &door.backstage;
    let book = |id: &str, title: &str| Book { id: id.into(), title: title.into(), reader: None };
    *backstage.books.lock().expect("no tool panics with the books in its hands") = vec![book("bk-1", "Emma"), book("bk-2", "Ulysses")];
    backstage.crowded.store(situations.contains(&"crowded"), Ordering::Relaxed);
    backstage.outage.store(situations.contains(&"outage"), Ordering::Relaxed);
    let paid = if situations.contains(&"paid") { (0..40).map(|length| format!("o-{length}")).collect() } else { Vec::new() };
    *backstage.paid.lock().expect("no tool panics with the orders in its hands") = paid;
}

/// Sends a request through a door. Whoever waits for the bell hears it.
pub fn send(door: &Door, request: Request<Bytes>) -> Response<Bytes> {
    finish(door.endpoint().answer(request), || door.backstage.bell.notify_one())
}

/// As [`send`], and as quickly as any call must be answered.
///
/// # Panics
/// If that takes more than a second of this thread's own time: what else the machine has to do is no finding.
pub fn send_in_time(door: &Door, request: Request<Bytes>) -> Response<Bytes> {
    let began = time_spent();
    let response = send(door, request);
    assert!(time_spent().saturating_sub(began) < Duration::from_secs(1), "an answer takes more than a second");
    response
}

/// The time that this thread has had a processor for; nothing where the system does not tell.
fn time_spent() -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(told.split(' ').next().and_then(|nanoseconds| nanoseconds.parse().ok()).unwrap_or_default())
}
