//! What an answer may look like, version by version.
//!
//! A judge that shares no code with the server: what a version allows is said in `schemas/`, one document a version, and
//! what a schema cannot say (statuses, headers, that a text and a value agree) in the modules beside this one. Only the
//! versions' names come from the core.
//!
//! | the answer to | is judged by |
//! | --- | --- |
//! | a request | [`check`]; one of a batch or of a line, [`check_message`] |
//! | what could not be read as a message | [`check_unread`], [`check_unread_message`] |
//! | a notification, or an answer that nobody asked for | [`check_accepted`] |
//! | what HTTP alone refuses | [`check_refusal`] |
//!
//! [`check_told`] adds what only a tool's own output schema can say, and [`check_echo`] that the id came back as it was
//! sent. Each gives every fault that it finds.

mod http_rules;
mod message;
mod schemas;
#[cfg(test)]
mod tests;

use http::HeaderMap;
use onepost_core::mcp::Version;
use serde_json::Value;

/// All that is wrong with an answer.
pub type Faults = Vec<String>;

/// What came back by HTTP.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: &'a HeaderMap,
    /// The whole body.
    pub body: &'a [u8],
}

impl<'a, B: AsRef<[u8]>> From<&'a http::Response<B>> for Answer<'a> {
    fn from(response: &'a http::Response<B>) -> Self {
        Self { status: response.status().as_u16(), headers: response.headers(), body: response.body().as_ref() }
    }
}

/// Judges the answer to a request of this version that could be read and had a usable id.
///
/// # Errors
/// All that is wrong.
pub fn check(version: Version, method: &str, answer: &Answer<'_>) -> Result<(), Faults> {
    // A scope that is missing is told by HTTP, whatever was asked.
    if answer.status == 403 {
        return check_refusal(answer);
    }
    let mut faults = http_rules::every_answer(answer);
    match http_rules::messages(answer) {
        Err(fault) => faults.push(fault),
        Ok(messages) => {
            for notice in &messages.notices {
                message::notice(version, notice, &mut faults);
            }
            message::of_request(version, method, &messages.last, &mut faults);
            http_rules::status_of_request(version, answer.status, &messages.last, &mut faults);
        }
    }
    verdict(faults)
}

/// Judges one message that answers a request, where it does not stand alone: an element of a batch, a line.
///
/// # Errors
/// All that is wrong.
pub fn check_message(version: Version, method: &str, message: &Value) -> Result<(), Faults> {
    let mut faults = Vec::new();
    message::of_request(version, method, message, &mut faults);
    verdict(faults)
}

/// Judges the answer to a body that could not be read as messages, or as one that may be sent here. `version` stands for
/// what the header says: a name that is not served is answered as 2026-07-28 has it.
///
/// # Errors
/// All that is wrong.
pub fn check_unread(version: Version, answer: &Answer<'_>) -> Result<(), Faults> {
    let mut faults = http_rules::every_answer(answer);
    match http_rules::messages(answer) {
        Err(fault) => faults.push(fault),
        Ok(messages) => {
            if !messages.notices.is_empty() {
                faults.push("what could not be read has nothing to tell beside".to_owned());
            }
            message::unread(version, &messages.last, &mut faults);
            http_rules::status_of_unread(version, answer.status, &messages.last, &mut faults);
        }
    }
    verdict(faults)
}

/// As [`check_unread`], for one message that does not stand alone.
///
/// # Errors
/// All that is wrong.
pub fn check_unread_message(version: Version, message: &Value) -> Result<(), Faults> {
    let mut faults = Vec::new();
    message::unread(version, message, &mut faults);
    verdict(faults)
}

/// Judges what comes back for what wants no answer: 202 and nothing.
///
/// # Errors
/// All that is wrong.
pub fn check_accepted(answer: &Answer<'_>) -> Result<(), Faults> {
    let mut faults = http_rules::every_answer(answer);
    http_rules::accepted(answer, &mut faults);
    verdict(faults)
}

/// Judges a refusal by HTTP: 401, 403, 404, 405, 413, 415, 429 or 503, the same in all versions.
///
/// # Errors
/// All that is wrong.
pub fn check_refusal(answer: &Answer<'_>) -> Result<(), Faults> {
    let mut faults = http_rules::every_answer(answer);
    http_rules::refusal(answer, &mut faults);
    verdict(faults)
}

/// Judges the result of `tools/call` against the output schema that the tool advertises.
///
/// # Errors
/// All that is wrong.
///
/// # Panics
/// If `output_schema` is no schema.
pub fn check_told(output_schema: &Value, result: &Value) -> Result<(), Faults> {
    let Some(told) = result.get("structuredContent") else {
        let asks = result["resultType"] == "input_required";
        return match result["isError"] == true || asks {
            true => Ok(()),
            false => Err(vec!["a tool that says what it answers answers no value".to_owned()]),
        };
    };
    let validator = jsonschema::validator_for(output_schema).expect("an output schema is a schema");
    verdict(validator.iter_errors(told).map(|fault| format!("structuredContent{}: {fault}", fault.instance_path())).collect())
}

/// Judges whether one message gives back the id, given as the JSON text that was sent, to the byte.
///
/// # Errors
/// What stands there instead.
pub fn check_echo(id: &str, message: &str) -> Result<(), Faults> {
    // Told by the start of the text: a reader of JSON would give the number, not how it was written.
    let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"#);
    match message.starts_with(&start) {
        true => Ok(()),
        false => Err(vec![format!("the answer does not start with {start}")]),
    }
}

fn verdict(faults: Faults) -> Result<(), Faults> {
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}
