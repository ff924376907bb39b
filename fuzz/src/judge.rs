//! Whether an answer of the library is what must come.

use std::sync::LazyLock;

use answers::Answer;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use library::client::{Door, REQUEST_ID};
use onepost_core::mcp::{Record, Version};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::exchange::{DOORS, doors, send};
use crate::expected::{Admission, Body, Message, Said, admission, body, only, version, welcome};

/// What belongs to nobody outside.
const SECRETS: [&str; 3] = [library::CAUSE, library::LAST_WORDS, library::OUTAGE];

/// The tools that fail inside by design.
const FAILING: [&str; 2] = ["dust_shelves", "move_shelf"];

/// The tools behind each door, as they are advertised.
static LISTED: LazyLock<[Vec<Value>; 4]> = LazyLock::new(|| doors().map(|door| listed(&door)));

fn listed(door: &Door) -> Vec<Value> {
    let request = door.post().header("mcp-protocol-version", "2025-06-18").rpc("tools/list", Value::Null).into_request();
    let listed: Value = serde_json::from_slice(send(door, request).body()).expect("the list of tools is JSON");
    listed["result"]["tools"].as_array().expect("the list of tools is a list").clone()
}

/// A tool behind a door, as it is advertised.
pub fn tool(kind: usize, name: &str) -> Option<&'static Value> {
    LISTED[kind].iter().find(|tool| tool["name"] == name)
}

/// One request and its answer.
pub struct Case<'c> {
    /// Where it was sent.
    pub door: &'c Door,
    /// Which door that is.
    pub kind: usize,
    /// What was the matter.
    pub situations: &'c [&'c str],
    /// What was sent.
    pub request: &'c Request<Bytes>,
    /// What came.
    pub response: &'c Response<Bytes>,
}

impl Case<'_> {
    /// Everything that is wrong with the answer.
    pub fn judge(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let answer = Answer::from(self.response);
        match admission(self.door, self.kind, self.request, self.situations) {
            Admission::Refused(status) => {
                note(&mut faults, answers::check_refusal(&answer));
                if answer.status != status {
                    faults.push(format!("the status must be {status}"));
                }
            }
            Admission::Preflight => {
                if answer.status != 204 || !answer.body.is_empty() || !answer.headers.contains_key("access-control-allow-origin") {
                    faults.push("a permitted preflight is answered by 204 and what is allowed".to_owned());
                }
            }
            Admission::Panicked => {
                note(&mut faults, answers::check_unread(self.said().unread(), &answer));
                if self.error_code() != Some(-32603) {
                    faults.push("a panic outside of a tool is -32603".to_owned());
                }
            }
            Admission::Served => self.served(&answer, &mut faults),
        }
        self.everywhere(&answer, &mut faults);
        faults
    }

    fn said(&self) -> Said<'_> {
        Said::read(self.door, self.request.headers())
    }

    fn error_code(&self) -> Option<i64> {
        serde_json::from_slice::<Value>(self.response.body()).ok()?["error"]["code"].as_i64()
    }

    fn served(&self, answer: &Answer<'_>, faults: &mut Vec<String>) {
        let said = self.said();
        match body(self.request.body()) {
            Body::Unreadable { broken } => {
                note(faults, answers::check_unread(said.unread(), answer));
                match self.error_code() {
                    Some(-32600) => {}
                    Some(-32700) if broken || holds_bad_values(self.request.body()) => {}
                    code => faults.push(format!("{code:?} for a body that cannot be read")),
                }
            }
            Body::Batch(messages) => self.batch(&messages, answer, faults),
            Body::One(Message::Notification) => note(faults, answers::check_accepted(answer)),
            Body::One(Message::Response) if said.unread() == Version::V2026_07_28 => {
                note(faults, answers::check_unread(said.unread(), answer))
            }
            Body::One(Message::Response) => note(faults, answers::check_accepted(answer)),
            Body::One(Message::Invalid(id)) => {
                note(faults, answers::check_unread(said.unread(), answer));
                if let Some(id) = id {
                    note(faults, answers::check_echo(id, &text(answer.body)));
                }
            }
            Body::One(Message::Request { id, method, params }) => {
                let scope_missing = answer.status == 403 && self.request.headers().contains_key("authorization");
                let version = version(self.door, said, &params);
                note(faults, answers::check(version, &method, answer));
                if !scope_missing {
                    let message = last_message(answer.body);
                    note(faults, answers::check_echo(id, &message));
                    self.request_answered(version, said, &method, &params, &message, faults);
                }
            }
        }
    }

    fn batch(&self, messages: &[Message<'_>], answer: &Answer<'_>, faults: &mut Vec<String>) {
        let said = self.said();
        let opens = |message: &Message<'_>| matches!(message, Message::Request { method, .. } if method == "initialize");
        if !said.takes_batches() || messages.is_empty() || messages.len() > 20 || messages.iter().any(opens) {
            note(faults, answers::check_unread(said.unread(), answer));
            return;
        }
        let answered: Vec<&Message<'_>> =
            messages.iter().filter(|message| matches!(message, Message::Request { .. } | Message::Invalid(_))).collect();
        if answered.is_empty() {
            note(faults, answers::check_accepted(answer));
            return;
        }
        let body = text(answer.body);
        let Ok(told) = serde_json::from_str::<Vec<&RawValue>>(&body) else {
            faults.push("a batch is answered by an array".to_owned());
            return;
        };
        if answer.status != 200 || told.len() != answered.len() || answer.body.len() > self.door.profile.answer_limit + 8192 {
            faults.push(format!("{} messages want an answer; {} came by {}", answered.len(), told.len(), answer.status));
            return;
        }
        for (asked, told) in answered.into_iter().zip(told) {
            let value: Value = serde_json::from_str(told.get()).expect("a raw value is JSON");
            match asked {
                Message::Request { id, method, params } => {
                    let version = version(self.door, said, params);
                    note(faults, answers::check_message(version, method, &value));
                    note(faults, answers::check_echo(id, told.get()));
                    self.request_answered(version, said, method, params, told.get(), faults);
                }
                Message::Invalid(id) => {
                    note(faults, answers::check_unread_message(said.unread(), &value));
                    if let Some(id) = id {
                        note(faults, answers::check_echo(id, told.get()));
                    }
                }
                Message::Notification | Message::Response => {}
            }
        }
    }

    /// What more can be told of the answer to a request.
    fn request_answered(&self, version: Version, said: Said<'_>, method: &str, params: &Value, message: &str, faults: &mut Vec<String>) {
        let Ok(message) = serde_json::from_str::<Value>(message) else { return };
        let code = message["error"]["code"].as_i64();
        let claims = params["_meta"].get("io.modelcontextprotocol/protocolVersion").is_some();
        if matches!(said, Said::Unknown(_)) && !claims && code != Some(-32022) {
            faults.push(format!("{code:?} for a version that is not served"));
        }
        if version == Version::V2026_07_28 && claims {
            let agrees = routed(self.request.headers(), method, params);
            if !agrees && code.is_none() {
                faults.push("served, though a header says otherwise than the body".to_owned());
            }
            if agrees && code == Some(-32020) {
                faults.push("-32020, though every header says what the body says".to_owned());
            }
        }
        if version != Version::V2026_07_28 && code == Some(-32022) {
            faults.push("-32022 for a version that is served".to_owned());
        }
        if method == "tools/call" && code.is_none() {
            match params["name"].as_str().and_then(|name| tool(self.kind, name)) {
                Some(tool) => note(faults, answers::check_told(&tool["outputSchema"], &message["result"])),
                None if message["result"]["isError"] == true => {}
                None => faults.push("a result of a tool that does not exist".to_owned()),
            }
        }
        if code == Some(-32603) {
            faults.push("a failure outside of a tool".to_owned());
        }
    }

    /// What holds for whatever is answered.
    fn everywhere(&self, answer: &Answer<'_>, faults: &mut Vec<String>) {
        let told = String::from_utf8_lossy(answer.body);
        if let Some(secret) = SECRETS.iter().find(|secret| told.contains(**secret)) {
            faults.push(format!("the answer tells {secret}"));
        }
        if answer.headers.get("x-request-id").is_none_or(|id| id != REQUEST_ID) {
            faults.push("an answer without the request's name".to_owned());
        }
        if answer.headers.contains_key("access-control-allow-origin") != welcome(self.kind, self.request.headers()) {
            faults.push(format!("{} lets a page read what it may not, or not what it may", DOORS[self.kind]));
        }
        if let Ok(message) = serde_json::from_str::<Value>(&last_message(answer.body)) {
            message.as_array().map_or(std::slice::from_ref(&message), Vec::as_slice).iter().for_each(|one| words(one, faults));
        }
        let record = self.response.extensions().get::<Record>();
        let internal = record.is_some_and(|record| record.code.as_deref() == Some("internal_error"));
        if internal && !record.is_some_and(|record| record.subjects.iter().any(|subject| FAILING.contains(subject))) {
            faults.push(format!("a tool fails that should not: {:?}", record.map(|record| &record.causes)));
        }
        if record.is_none() {
            faults.push("an answer without a record for the log".to_owned());
        }
    }
}

/// Nothing of the request is repeated as it came in words that people and models read. Our own words hold no angle
/// brackets and nothing that turns the direction of text, and quotation marks only around the version of JSON-RPC and a
/// member's name that is escaped.
fn words(message: &Value, faults: &mut Vec<String>) {
    const RAW: [char; 13] = [
        '<', '>', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}', '\u{2066}', '\u{2067}', '\u{2068}',
        '\u{2069}',
    ];
    let refusal = message["result"]["content"][0]["text"].as_str().filter(|_| message["result"]["isError"] == true);
    let refusal: Option<Value> = refusal.and_then(|text| serde_json::from_str(text).ok());
    let told = refusal.as_ref().map(|told| [&told["error"], &told["message"], &told["detail"]]).into_iter().flatten();
    for words in told.chain([&message["error"]["message"]]).filter_map(Value::as_str) {
        let ours = words.replace("\"2.0\"", "");
        if words.contains(RAW) || (ours.contains('"') && !ours.starts_with("A member is named twice in one object: \"")) {
            faults.push(format!("an error repeats what it was sent: {words}"));
        }
    }
}

/// Whether the routing headers of 2026-07-28 say what the body says.
fn routed(headers: &HeaderMap, method: &str, params: &Value) -> bool {
    let says = |header: &str| only(headers, header).map(str::trim);
    let decoded = |value: &str| STANDARD.decode(value.strip_prefix("=?base64?")?.strip_suffix("?=")?).ok();
    let named = match method {
        "tools/call" | "prompts/get" => params["name"].as_str(),
        "resources/read" => params["uri"].as_str(),
        _ => None,
    };
    let version = params["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str();
    let name_agrees = named.is_none_or(|name| {
        says("mcp-name").is_some_and(|said| said == name || decoded(said).is_some_and(|bytes| bytes == name.as_bytes()))
    });
    version.is_none_or(|version| says("mcp-protocol-version") == Some(version)) && says("mcp-method") == Some(method) && name_agrees
}

/// A string or a number in it is none, though its brackets close.
fn holds_bad_values(body: &[u8]) -> bool {
    serde_json::from_slice::<Value>(body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body)).is_err()
}

fn text(body: &[u8]) -> String {
    String::from_utf8_lossy(body).into_owned()
}

/// The answer itself, also where it ends a stream of events.
fn last_message(body: &[u8]) -> String {
    let body = text(body);
    match body.strip_prefix("event: message\n") {
        None => body,
        Some(_) => body
            .trim_end()
            .rsplit("\n\nevent: message\n")
            .next()
            .and_then(|event| event.split_once("data: "))
            .map_or(String::new(), |(_, data)| data.to_owned()),
    }
}

fn note(faults: &mut Vec<String>, verdict: Result<(), answers::Faults>) {
    faults.extend(verdict.err().into_iter().flatten());
}
