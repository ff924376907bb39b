//! What a caller sees of an answer, and tables of it: a request a row, an era a column, a product a cell.

use onepost_core::mcp::{Refusals, Version};
use serde_json::{Value, json};

use library::client::{Answer, Door, Era, REQUEST_ID};
use library::{PATIENCE, VAULT, every_kind};

/// What a caller sees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Seen<'a> {
    /// Not tried: such a request belongs to the other era.
    Untried,
    /// 200 and a result.
    Served,
    /// 200 and the answer to a handshake, which settles on this version.
    Speaks(&'a str),
    /// 200 and so many answers in one array.
    Answers(usize),
    /// 200 and a question to the person.
    Question,
    /// 202 and nothing.
    Nothing,
    /// 401, in plain text.
    Unauthorized,
    /// 403 and a challenge that names the missing right.
    Challenged,
    /// A status and a JSON-RPC error: with the id of the request, with `null`, or without any.
    Error(u16, i64, Id),
    /// 200 and -32602, with every fault of the arguments in `data.errors`.
    Misfit,
    /// 200 and a tool result with `isError`. The text holds this code where the dialect has codes; the log always does.
    Refusal(&'a str),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Id {
    Echoed,
    Null,
    Absent,
}

use Id::{Absent, Echoed, Null};
use Seen::{Error, Misfit, Question, Refusal, Unauthorized};

fn seen(answer: &Answer) -> Seen<'_> {
    if answer.status == 202 && answer.body.is_empty() {
        return Seen::Nothing;
    }
    if answer.status == 401 && answer.header("content-type") == Some("text/plain; charset=utf-8") {
        return Unauthorized;
    }
    let body = answer.json();
    if let Some(answers) = body.as_array() {
        return Seen::Answers(answers.len());
    }
    if let Some(code) = body["error"]["code"].as_i64() {
        let id = match body.get("id") {
            Some(Value::Null) => Null,
            Some(id) => {
                assert_eq!(id, 1);
                Echoed
            }
            None => Absent,
        };
        let faults = body["error"]["data"]["errors"].as_array().map_or(0, Vec::len);
        return match (answer.status, code, id) {
            (403, -32600, Null) if answer.headers.contains_key("www-authenticate") => Seen::Challenged,
            (200, -32602, Echoed) if faults > 0 => Misfit,
            (status, code, id) => Error(status, code, id),
        };
    }
    let result = answer.result();
    if result["resultType"] == "input_required" {
        return Question;
    }
    if let Some(version) = result["protocolVersion"].as_str() {
        return Version::named(version).map_or(Seen::Served, |version| Seen::Speaks(version.as_str()));
    }
    if result["isError"] != true {
        return Seen::Served;
    }
    let (refusal, code) = (answer.refusal(), answer.record.code.as_deref().unwrap());
    let told = refusal.get("code").or(refusal.get("error").filter(|_| refusal.get("message").is_some()));
    assert!(told.is_none_or(|told| told == code), "{code}: {refusal}");
    Refusal(code)
}

/// What must stand beside what is seen, and nowhere else.
fn beside(door: &Door, era: Era, answer: &Answer, seen: Seen<'_>) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut expect = |what: &str, found: Value, expected: Value| {
        if found != expected {
            wrong.push(format!("{what} is {found} instead of {expected}"));
        }
    };
    let challenge = match seen {
        Unauthorized => json!(door.profile.challenge),
        Seen::Challenged => {
            let comma = if door.profile.challenge.contains(' ') { "," } else { "" };
            json!(format!("{}{comma} error=\"insufficient_scope\", scope=\"{VAULT}\"", door.profile.challenge))
        }
        _ => json!(null),
    };
    expect("WWW-Authenticate", json!(answer.header("www-authenticate")), challenge);
    expect("Allow", json!(answer.header("allow")), json!((answer.status == 405).then_some("POST")));
    let wait = match answer.status {
        429 => json!(PATIENCE.to_string()),
        503 => json!("2"),
        _ => json!(null),
    };
    expect("Retry-After", json!(answer.header("retry-after")), wait);
    if let Error(status, code, id) = seen {
        let data = &answer.json()["error"]["data"];
        let supported: Vec<&str> = door.profile.all_versions().map(Version::as_str).collect();
        expect("data.supported", data["supported"].clone(), if code == -32022 { json!(supported) } else { json!(null) });
        expect("data.requested is told", json!(data["requested"].is_string()), json!(code == -32022));
        let lacking = json!({ "elicitation": { "form": {} } });
        expect("data.requiredCapabilities", data["requiredCapabilities"].clone(), if code == -32021 { lacking } else { json!(null) });
        let ours = code == -32603 && status == 200;
        expect("data.request_id", data["request_id"].clone(), if ours { json!(REQUEST_ID) } else { json!(null) });
        expect("the id is absent", json!(id == Absent), json!(era == Era::Modern && id != Echoed && [200, 400].contains(&status)));
    }
    if let Refusal(code) = seen {
        let (refusal, result) = (answer.refusal(), answer.result());
        let value = result.get("structuredContent") == Some(&refusal);
        expect("the refusal is a value too", json!(value), json!(door.profile.refusals == Refusals::Structured));
        expect("the request id is told", json!(refusal.to_string().contains(REQUEST_ID)), json!(code == "internal_error"));
        let cause = answer.record.causes.first();
        expect("the cause is told", json!(cause.is_some_and(|cause| answer.text().contains(cause))), json!(false));
    }
    if matches!(seen, Seen::Served | Refusal(_)) {
        expect("resultType", json!(answer.result().get("resultType")), json!((era == Era::Modern).then_some("complete")));
    }
    wrong
}

/// For each of the four, in the order of [`every_kind`]: checklists, agents, rent, viewer.
pub(crate) type Column = [Seen<'static>; 4];

pub(crate) const fn each(seen: Seen<'static>) -> Column {
    [seen; 4]
}

pub(crate) const fn error(status: u16, code: i64, id: Id) -> Column {
    each(Error(status, code, id))
}

pub(crate) struct Situation {
    what: &'static str,
    send: fn(&Door, Era) -> Answer,
    legacy: Column,
    modern: Column,
}

pub(crate) const fn row(what: &'static str, send: fn(&Door, Era) -> Answer, legacy: Column, modern: Column) -> Situation {
    Situation { what, send, legacy, modern }
}

pub(crate) const fn alike(what: &'static str, send: fn(&Door, Era) -> Answer, seen: Column) -> Situation {
    row(what, send, seen, seen)
}

/// Tries every cell, and tells how many there were.
pub(crate) fn holds(table: &[Situation]) -> usize {
    let (mut wrong, mut cells) = (Vec::new(), 0);
    for (place, (kind, door)) in every_kind().iter().enumerate() {
        for situation in table {
            for (era, expected) in [(Era::Legacy, situation.legacy[place]), (Era::Modern, situation.modern[place])] {
                if expected == Seen::Untried {
                    continue;
                }
                cells += 1;
                let answer = (situation.send)(door, era);
                let found = seen(&answer);
                let at = format!("{kind}, {era:?}, {}", situation.what);
                if found != expected {
                    wrong.push(format!("{at}: {found:?} instead of {expected:?}"));
                }
                wrong.extend(beside(door, era, &answer, found).into_iter().map(|fault| format!("{at}: {fault}")));
            }
        }
        assert_eq!(door.backstage.titles(), ["Emma", "Ulysses"], "{kind}: nothing of all this changed anything");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    cells
}

pub(crate) const SERVED: Column = each(Seen::Served);
pub(crate) const UNTRIED: Column = each(Seen::Untried);
pub(crate) const UNKNOWN_TOOL: Column =
    [Error(200, -32602, Echoed), Refusal("unknown_tool"), Error(200, -32602, Echoed), Error(200, -32602, Echoed)];
pub(crate) const BAD_ARGUMENTS: Column = [Misfit, Refusal("invalid_arguments"), Refusal("invalid_arguments"), Refusal("invalid_arguments")];
