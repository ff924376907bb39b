//! Statuses, headers and the frame of a body.

use http::HeaderMap;
use onepost_core::mcp::Version;
use serde_json::Value;

use crate::message::judge;
use crate::schemas::Definitions;
use crate::{Answer, Faults};

/// The messages of a body.
pub(crate) struct Messages {
    /// What stands before the answer.
    pub(crate) notices: Vec<Value>,
    /// The answer.
    pub(crate) last: Value,
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// What holds for whatever is answered.
pub(crate) fn every_answer(answer: &Answer<'_>) -> Faults {
    let mut faults = Vec::new();
    for minted in ["mcp-session-id", "set-cookie", "content-encoding"] {
        if answer.headers.contains_key(minted) {
            faults.push(format!("the header {minted} has no business here"));
        }
    }
    if answer.body.is_empty() && answer.headers.contains_key("content-type") {
        faults.push("a content type of nothing".to_owned());
    }
    if answer.status != 401 && answer.status != 403 && answer.headers.contains_key("www-authenticate") {
        faults.push(format!("a challenge by status {}", answer.status));
    }
    faults
}

/// Reads the body: JSON, or a whole event stream whose last event is the answer.
pub(crate) fn messages(answer: &Answer<'_>) -> Result<Messages, String> {
    let text = std::str::from_utf8(answer.body).map_err(|error| format!("the body is not UTF-8: {error}"))?;
    let read = |text: &str| serde_json::from_str::<Value>(text).map_err(|error| format!("the body is not JSON: {error}"));
    match header(answer.headers, "content-type") {
        Some("application/json") => Ok(Messages { notices: Vec::new(), last: read(text)? }),
        Some("text/event-stream") => {
            let events = text.strip_suffix("\n\n").ok_or("the last event does not end")?;
            let data = |event: &str| match event.strip_prefix("event: message\ndata: ") {
                Some(data) if !data.contains(['\n', '\r']) => read(data),
                _ => Err(format!("an event of another form: {event}")),
            };
            let mut notices = events.split("\n\n").map(data).collect::<Result<Vec<Value>, String>>()?;
            let last = notices.pop().ok_or("a stream without events")?;
            Ok(Messages { notices, last })
        }
        other => Err(format!("the content type is {other:?}")),
    }
}

/// The status of an answer to a request that could be read.
pub(crate) fn status_of_request(version: Version, status: u16, message: &Value, faults: &mut Faults) {
    let modern = version == Version::V2026_07_28;
    let allowed: &[u16] = match (message["error"]["code"].as_i64(), modern) {
        (None, _) => &[200],
        (Some(-32022..=-32020), true) | (Some(-32022), false) => &[400],
        (Some(-32601), true) => &[404],
        (Some(-32600), true) => &[400],
        // 400 where `_meta` lacks what every request must hold.
        (Some(-32602), true) => &[200, 400],
        _ => &[200],
    };
    expect_status(status, allowed, faults);
}

/// The status of an answer to what could not be read.
pub(crate) fn status_of_unread(version: Version, status: u16, message: &Value, faults: &mut Faults) {
    let internal = message["error"]["code"] == -32603;
    expect_status(status, if version == Version::V2026_07_28 && !internal { &[400] } else { &[200] }, faults);
}

fn expect_status(status: u16, allowed: &[u16], faults: &mut Faults) {
    if !allowed.contains(&status) {
        faults.push(format!("the status is {status}, not one of {allowed:?}"));
    }
}

/// 202 and nothing.
pub(crate) fn accepted(answer: &Answer<'_>, faults: &mut Faults) {
    expect_status(answer.status, &[202], faults);
    if !answer.body.is_empty() {
        faults.push(format!("a body of {} bytes that nobody waits for", answer.body.len()));
    }
}

/// A refusal that is decided before the body counts.
pub(crate) fn refusal(answer: &Answer<'_>, faults: &mut Faults) {
    expect_status(answer.status, &[401, 403, 404, 405, 413, 415, 429, 503], faults);
    match (answer.status, header(answer.headers, "allow")) {
        (405, Some("POST")) => {}
        (405, other) => faults.push(format!("405 with Allow: {other:?}")),
        (status, Some(_)) => faults.push(format!("Allow by status {status}")),
        (_, None) => {}
    }
    let seconds = header(answer.headers, "retry-after").map(|text| text.parse::<u32>().is_ok());
    match (answer.status, seconds) {
        (429 | 503, Some(true)) => {}
        (429 | 503, _) => faults.push("no Retry-After in seconds".to_owned()),
        (status, Some(_)) => faults.push(format!("Retry-After by status {status}")),
        (_, None) => {}
    }
    challenge(answer, faults);
    if answer.status == 401 {
        return unauthorised_text(answer, faults);
    }
    match messages(answer) {
        Err(fault) => faults.push(fault),
        Ok(messages) => {
            // The same in all versions: which one is meant is not known yet.
            judge(Definitions::of(Version::V2025_06_18).named("failure_without_id"), &messages.last, "", faults);
            let code = messages.last["error"]["code"].as_i64();
            let expected = if answer.status == 503 { -32603 } else { -32600 };
            if code != Some(expected) {
                faults.push(format!("{code:?} by status {}", answer.status));
            }
        }
    }
}

fn challenge(answer: &Answer<'_>, faults: &mut Faults) {
    let challenge = header(answer.headers, "www-authenticate");
    let bearer = challenge.is_some_and(|text| text == "Bearer" || text.starts_with("Bearer "));
    match (answer.status, challenge) {
        (401, _) if !bearer => faults.push(format!("401 with the challenge {challenge:?}")),
        (403, Some(text)) if !(bearer && text.contains("error=\"insufficient_scope\"") && text.contains("scope=\"")) => {
            faults.push(format!("403 with the challenge {text:?}"));
        }
        _ => {}
    }
}

fn unauthorised_text(answer: &Answer<'_>, faults: &mut Faults) {
    let plain = header(answer.headers, "content-type") == Some("text/plain; charset=utf-8");
    let text = std::str::from_utf8(answer.body).unwrap_or_default();
    if !plain || text.trim().is_empty() || text.trim_end().chars().any(char::is_control) {
        faults.push("401 does not say in plain text how to send a credential".to_owned());
    }
}
