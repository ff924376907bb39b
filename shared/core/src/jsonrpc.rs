//! JSON-RPC 2.0: the envelope, ids echoed as they were sent, protocol errors.

use std::collections::HashSet;
use std::fmt;

use serde::Serialize;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::json::{Fault, Faults, Strict};

/// The most messages in one batch. Of a longer one no more than one beyond are kept: it is refused whole.
pub const MOST_MESSAGES: usize = 20;

/// The id of a request, as the text that was sent: any string, any integer however large.
#[derive(Debug, Clone)]
pub struct Id(Box<RawValue>);

impl Id {
    /// `text` is a string or an integer in JSON. `1.0` and `1e3` are no integers here: readers would disagree on how
    /// to echo them.
    fn read(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        let integer = || {
            let digits = text.strip_prefix('-').unwrap_or(text);
            !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
        };
        (text.starts_with('"') || integer()).then(|| Self(raw.to_owned()))
    }

    /// The JSON text.
    pub fn as_json(&self) -> &str {
        self.0.get()
    }

    /// Whether it is this value, however either is written.
    pub fn is(&self, value: &Value) -> bool {
        serde_json::from_str::<Value>(self.0.get()).is_ok_and(|own| own == *value)
    }
}

impl Serialize for Id {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// One message of a client.
#[derive(Debug)]
pub enum Message {
    /// Wants an answer.
    Request(Request),
    /// Wants none.
    Notification {
        /// What it is about.
        method: String,
        /// As of a request.
        params: Value,
    },
    /// An answer to a request that we never sent.
    Response,
}

impl Message {
    /// The id of a request.
    pub fn id(&self) -> Option<&Id> {
        match self {
            Self::Request(request) => Some(&request.id),
            Self::Notification { .. } | Self::Response => None,
        }
    }
}

/// A message that wants an answer.
#[derive(Debug)]
pub struct Request {
    /// To be echoed.
    pub id: Id,
    /// What is asked.
    pub method: String,
    /// An object; [`Value::Null`] when it was left out or `null`.
    pub params: Value,
}

/// A message that is none: the error to answer, with the id if it could be read.
#[derive(Debug)]
pub struct Invalid {
    /// The id to echo.
    pub id: Option<Id>,
    /// Why.
    pub error: Error,
}

/// What a body holds.
#[derive(Debug)]
pub enum Incoming {
    /// One message.
    One(Result<Message, Invalid>),
    /// An array of messages.
    Batch(Vec<Result<Message, Invalid>>),
}

/// Reads a body. A byte order mark before it is passed over. The error is one of the whole body: [`Error::parse`], or
/// [`Error::invalid_request`] where JSON is well formed and not to be read safely.
pub fn parse(body: &[u8]) -> Result<Incoming, Error> {
    let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    let text = std::str::from_utf8(body).map_err(|_| Error::parse("The body is not UTF-8."))?;
    let faults = Faults::default();
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = Body { depth: 1, faults: &faults }.deserialize(&mut reader).and_then(|read| reader.end().map(|()| read));
    read.map_err(|_| Error::of_body(faults.take()))
}

/// A protocol error: the request could not be understood or served as one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Error {
    /// One of the codes of JSON-RPC or of MCP.
    pub code: i32,
    /// What to change.
    pub message: String,
    /// Facts for a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl Error {
    /// Not JSON.
    pub const PARSE: i32 = -32700;
    /// JSON, and no request.
    pub const INVALID_REQUEST: i32 = -32600;
    /// No such method here.
    pub const METHOD_NOT_FOUND: i32 = -32601;
    /// The method's parameters do not hold.
    pub const INVALID_PARAMS: i32 = -32602;
    /// Our fault.
    pub const INTERNAL: i32 = -32603;
    /// MCP: a header says otherwise than the body.
    pub const HEADER_MISMATCH: i32 = -32020;
    /// MCP: the client lacks a capability that the call needs.
    pub const MISSING_CAPABILITY: i32 = -32021;
    /// MCP: a version that is not served.
    pub const UNSUPPORTED_VERSION: i32 = -32022;

    fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Not JSON.
    pub fn parse(message: impl Into<String>) -> Self {
        Self::new(Self::PARSE, message)
    }

    /// JSON, and no request.
    pub fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(Self::INVALID_REQUEST, message)
    }

    /// No such method here. The name is not repeated: it may be anything.
    pub fn method_not_found() -> Self {
        Self::new(Self::METHOD_NOT_FOUND, "Method not found. This server has tools: ask tools/list, then tools/call.")
    }

    /// The method's parameters do not hold.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(Self::INVALID_PARAMS, message)
    }

    /// Our fault; the cause is in the log under the request id.
    pub fn internal(request_id: &str) -> Self {
        Self::new(Self::INTERNAL, "Something failed on our side. Try again; if it stays, report the request id.")
            .with_data(serde_json::json!({ "request_id": request_id }))
    }

    /// A header says otherwise than the body.
    pub fn header_mismatch(message: impl Into<String>) -> Self {
        Self::new(Self::HEADER_MISMATCH, message)
    }

    /// The client did not declare what the call needs. `required` has the form of a client's capabilities.
    pub fn missing_capability(required: Value) -> Self {
        let message = "This call must ask something of the client: declare requiredCapabilities, or use a client that has them.";
        Self::new(Self::MISSING_CAPABILITY, message).with_data(serde_json::json!({ "requiredCapabilities": required }))
    }

    /// A version that is not served.
    pub fn unsupported_version(message: impl Into<String>, data: Value) -> Self {
        Self::new(Self::UNSUPPORTED_VERSION, message).with_data(data)
    }

    /// Adds facts for a program.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    fn of_body(fault: Fault) -> Self {
        match fault {
            Fault::Syntax => Self::parse("The body is not valid JSON."),
            Fault::TooDeep => Self::invalid_request(format!("The body is nested deeper than {} levels.", crate::json::MAX_DEPTH)),
            Fault::DuplicateKey(name) => {
                let name: String = name.chars().take(64).collect();
                Self::invalid_request(format!("A member is named twice in one object: {}. Send it once.", crate::json::shown(&name)))
            }
        }
    }
}

/// Reads a body, or at depth 2 one element of a batch: an element that is no object spoils itself alone.
struct Body<'f> {
    depth: usize,
    faults: &'f Faults,
}

impl<'de> DeserializeSeed<'de> for Body<'_> {
    type Value = Incoming;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Incoming, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Body<'_> {
    type Value = Incoming;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Incoming, A::Error> {
        envelope(members, self.depth, self.faults).map(Incoming::One)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Incoming, A::Error> {
        if self.depth > 1 {
            while items.next_element_seed(Strict::at_depth(self.depth, self.faults))?.is_some() {}
            return Ok(Incoming::One(Err(no_object())));
        }
        let mut messages = Vec::new();
        while messages.len() <= MOST_MESSAGES {
            match items.next_element_seed(Body { depth: self.depth + 1, faults: self.faults })? {
                Some(Incoming::One(message)) => messages.push(message),
                Some(Incoming::Batch(_)) => messages.push(Err(no_object())),
                None => return Ok(Incoming::Batch(messages)),
            }
        }
        while items.next_element_seed(Strict::at_depth(self.depth, self.faults))?.is_some() {}
        Ok(Incoming::Batch(messages))
    }

    fn visit_unit<E>(self) -> Result<Incoming, E> {
        Ok(Incoming::One(Err(no_object())))
    }

    fn visit_bool<E: serde::de::Error>(self, _: bool) -> Result<Incoming, E> {
        self.visit_unit()
    }

    fn visit_i64<E: serde::de::Error>(self, _: i64) -> Result<Incoming, E> {
        self.visit_unit()
    }

    fn visit_u64<E: serde::de::Error>(self, _: u64) -> Result<Incoming, E> {
        self.visit_unit()
    }

    fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<Incoming, E> {
        self.visit_unit()
    }

    fn visit_str<E: serde::de::Error>(self, _: &str) -> Result<Incoming, E> {
        self.visit_unit()
    }
}

fn no_object() -> Invalid {
    Invalid { id: None, error: Error::invalid_request("A message is a JSON object with jsonrpc, id and method.") }
}

/// Reads the members of one message that stands at `depth`.
fn envelope<'de, A: MapAccess<'de>>(mut members: A, depth: usize, faults: &Faults) -> Result<Result<Message, Invalid>, A::Error> {
    let mut seen: HashSet<String> = HashSet::with_capacity(4);
    let (mut version, mut id, mut method, mut params, mut answers) = (None, None, None, Value::Null, false);
    while let Some(name) = members.next_key::<String>()? {
        match name.as_str() {
            "id" => id = Some(members.next_value_seed(RawId)?),
            "params" => params = members.next_value_seed(Strict::at_depth(depth, faults))?,
            _ => {
                let value = members.next_value_seed(Strict::at_depth(depth, faults))?;
                match name.as_str() {
                    "jsonrpc" => version = Some(value),
                    "method" => method = Some(value),
                    "result" | "error" => answers = true,
                    _ => {}
                }
            }
        }
        if seen.contains(&name) {
            return Err(faults.raise(Fault::DuplicateKey(name)));
        }
        seen.insert(name);
    }
    Ok(message(version, id, method, params, answers))
}

fn message(
    version: Option<Value>,
    id: Option<Option<Id>>,
    method: Option<Value>,
    params: Value,
    answers: bool,
) -> Result<Message, Invalid> {
    let echoed = id.clone().flatten();
    let invalid = |reason: &str| Err(Invalid { id: echoed.clone(), error: Error::invalid_request(reason) });
    if version.as_ref().and_then(Value::as_str) != Some("2.0") {
        return invalid("jsonrpc must be \"2.0\".");
    }
    let method = match method {
        None if answers => return Ok(Message::Response),
        Some(Value::String(method)) => method,
        _ => return invalid("method must be a string."),
    };
    match id {
        None => Ok(Message::Notification { method, params }),
        Some(None) => invalid("id must be a string or an integer."),
        Some(Some(id)) => match params {
            Value::Null | Value::Object(_) => Ok(Message::Request(Request { id, method, params })),
            _ => Err(Invalid { id: Some(id), error: Error::invalid_params("params must be an object.") }),
        },
    }
}

/// Reads an id without reading it as a number. A string is checked to be one.
struct RawId;

impl<'de> DeserializeSeed<'de> for RawId {
    type Value = Option<Id>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<Id>, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        if raw.get().starts_with('"') {
            serde_json::from_str::<String>(raw.get()).map_err(serde::de::Error::custom)?;
        }
        Ok(Id::read(raw))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(body: &str) -> Result<Message, Invalid> {
        match parse(body.as_bytes()) {
            Ok(Incoming::One(message)) => message,
            other => panic!("{body}: {other:?}"),
        }
    }

    #[test]
    fn ids_are_echoed_byte_for_byte() {
        let ids = [
            r#""req-abc-123""#,
            "0",
            "-7",
            "9223372036854775808",
            "18446744073709551615",
            "123456789012345678901234567890",
            r#""\u00e9é""#,
            r#""""#,
        ];
        for id in ids {
            let Ok(Message::Request(request)) = one(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)) else { panic!("{id}") };
            assert_eq!(request.id.as_json(), id);
        }
    }

    #[test]
    fn an_id_that_is_neither_string_nor_integer_is_refused_without_an_echo() {
        for id in ["null", "1.0", "1.5", "1e3", "true", "[]", "{}"] {
            let refused = one(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)).unwrap_err();
            assert_eq!((refused.error.code, refused.id.is_none()), (Error::INVALID_REQUEST, true), "{id}");
        }
    }

    #[test]
    fn a_message_without_an_id_wants_no_answer() {
        let message = one(r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":{}}"#);
        assert!(matches!(message, Ok(Message::Notification { method, .. }) if method == "notifications/initialized"));
    }

    #[test]
    fn an_answer_is_told_from_a_request() {
        for body in [r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#] {
            assert!(matches!(one(body), Ok(Message::Response)), "{body}");
        }
    }

    #[test]
    fn an_escaped_method_name_is_the_name() {
        let Ok(Message::Request(request)) = one(r#"{"jsonrpc":"2.0","id":1,"m\u0065thod":"tools\/list"}"#) else { panic!() };
        assert_eq!(request.method, "tools/list");
    }

    #[test]
    fn a_byte_order_mark_is_passed_over() {
        let mut body = b"\xEF\xBB\xBF".to_vec();
        body.extend_from_slice(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        assert!(matches!(parse(&body), Ok(Incoming::One(Ok(Message::Request(_))))));
    }

    #[test]
    fn what_is_no_json_is_a_parse_error() {
        for body in
            [&b""[..], b"{", b"nope", b"{} {}", b"\"\xff\"", br#"{"jsonrpc":"2.0","id":"\ud800","method":"ping"}"#, br#"{"a":"\ud800"}"#]
        {
            assert_eq!(parse(body).unwrap_err().code, Error::PARSE, "{}", String::from_utf8_lossy(body));
        }
    }

    #[test]
    fn what_is_json_and_no_request_says_so() {
        for body in ["1", "null", "\"x\"", "{}", r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, r#"{"jsonrpc":"2.0","id":1,"method":7}"#] {
            assert_eq!(one(body).unwrap_err().error.code, Error::INVALID_REQUEST, "{body}");
        }
    }

    #[test]
    fn duplicate_members_and_bottomless_nesting_refuse_the_whole_body() {
        let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"a":{}}}}}"#, "[".repeat(5000));
        for body in
            [r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":1,"a":2}}"#, &deep]
        {
            assert_eq!(parse(body.as_bytes()).unwrap_err().code, Error::INVALID_REQUEST, "{}", &body[..40]);
        }
    }

    #[test]
    fn a_batch_keeps_its_sound_messages_beside_broken_ones() {
        let Ok(Incoming::Batch(messages)) = parse(br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}, 7, [], {"jsonrpc":"2.0","method":"x"}]"#)
        else {
            panic!()
        };
        let shapes: Vec<bool> = messages.iter().map(Result::is_ok).collect();
        assert_eq!(shapes, [true, false, false, true]);
    }

    /// However long it is: each message would take a hundred times the bytes that it was sent in.
    #[test]
    fn of_a_batch_that_is_too_long_no_more_is_kept_than_tells_so() {
        let Ok(Incoming::Batch(messages)) = parse(format!("[{}0]", "0,".repeat(500_000)).as_bytes()) else { panic!() };
        assert_eq!(messages.len(), MOST_MESSAGES + 1);
        assert_eq!(parse(format!("[{}x]", "0,".repeat(500)).as_bytes()).unwrap_err().code, Error::PARSE, "the rest is still read");
    }
}
