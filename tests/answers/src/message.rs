//! One JSON-RPC message.

use jsonschema::Validator;
use onepost_core::mcp::Version;
use serde_json::Value;

use crate::Faults;
use crate::schemas::Definitions;

/// The answer to a request whose id could be read.
pub(crate) fn of_request(version: Version, method: &str, message: &Value, faults: &mut Faults) {
    let known = Definitions::of(version);
    if message.get("error").is_some() {
        judge(known.named("failure"), message, "", faults);
        findable(message, faults);
        return;
    }
    judge(known.named("success"), message, "", faults);
    let Some(result) = message.get("result") else { return };
    judge(known.result_of(method), result, "/result", faults);
    if method == "tools/call" {
        called(result, faults);
    }
}

/// The answer to what could not be read, with the id if at least that could be.
pub(crate) fn unread(version: Version, message: &Value, faults: &mut Faults) {
    let has_id = message.get("id").is_some_and(|id| !id.is_null());
    judge(Definitions::of(version).named(if has_id { "failure" } else { "failure_without_id" }), message, "", faults);
    let code = message["error"]["code"].as_i64();
    if !matches!(code, Some(-32700 | -32600 | -32602 | -32603)) || (has_id && code == Some(-32700)) {
        faults.push(format!("{code:?} is no code of what could not be read"));
    }
    findable(message, faults);
}

/// A failure of ours says under which name the log has it.
fn findable(message: &Value, faults: &mut Faults) {
    if message["error"]["code"] == -32603 && message["error"]["data"]["request_id"].is_null() {
        faults.push("an internal error without its request id".to_owned());
    }
}

/// What stands before an answer.
pub(crate) fn notice(version: Version, message: &Value, faults: &mut Faults) {
    judge(Definitions::of(version).named("notice"), message, "", faults);
}

pub(crate) fn judge(by: &Validator, value: &Value, place: &str, faults: &mut Faults) {
    faults.extend(by.iter_errors(value).map(|fault| format!("{place}{}: {fault}", fault.instance_path())));
}

/// What the parts of a tool's result say of each other.
fn called(result: &Value, faults: &mut Faults) {
    let text = result["content"].get(0).and_then(|block| block.get("text")).and_then(Value::as_str);
    let told = text.and_then(|text| serde_json::from_str::<Value>(text).ok());
    if let Some(value) = result.get("structuredContent") {
        match &told {
            Some(told) if told == value => {}
            _ => faults.push("/result: the first text and structuredContent say different things".to_owned()),
        }
    }
    if result["isError"] == true {
        refused(text, told.as_ref(), faults);
    }
}

/// A refusal is one object, whose words can be shown.
fn refused(text: Option<&str>, told: Option<&Value>, faults: &mut Faults) {
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        faults.push("/result: a refusal says nothing".to_owned());
        return;
    };
    let words = |value: &Value| -> Vec<String> {
        let said = ["error", "message", "title", "detail"].iter().filter_map(|name| value.get(name));
        said.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    for said in told.map_or_else(|| vec![text.to_owned()], words) {
        if let Some(control) = said.chars().find(|letter| letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}')) {
            faults.push(format!("/result: a refusal holds the control character {control:?}: {said:?}"));
        }
    }
}
