//! The messages of one body, or of one line: each is served by the rules of its own era.

use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, PoisonError};

use futures_util::FutureExt;
use http::{HeaderMap, StatusCode};
use jiff::Timestamp;
use serde_json::Value;
use serde_json::value::RawValue;

use super::era::{self, Era, Header};
use super::input::{Answers, Binding};
use super::notices::Notices;
use super::record::{Outcome, Record};
use super::{Answer, Ask, Client, Product, Server, Version, answer};
use crate::catalog::Call;
use crate::http::{Rejection, Response};
use crate::jsonrpc::{self, Error, Id, Incoming, Invalid, MOST_MESSAGES, Message};

/// How messages come in.
pub(super) enum Transport<'a> {
    /// Each request stands alone and names its version in a header.
    Http { headers: &'a HeaderMap, header: Header<'a> },
    /// One client over one connection, which was greeted with a version.
    Stdio(&'a Session),
}

/// What a connection remembers, where there is one: the version that its handshake settled on.
#[derive(Debug, Default)]
pub struct Session(Mutex<Option<Version>>);

impl Session {
    fn settled(&self) -> Option<Version> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn settle(&self, version: Version) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(version);
    }
}

impl<'a> Transport<'a> {
    pub(super) fn headers(&self) -> Option<&'a HeaderMap> {
        match self {
            Self::Http { headers, .. } => Some(headers),
            Self::Stdio(_) => None,
        }
    }

    /// What the version header says, or stands in for it.
    fn header(&self, fallback: Version) -> Header<'a> {
        match self {
            Self::Http { header, .. } => *header,
            Self::Stdio(session) => Header::Legacy(session.settled().unwrap_or(fallback)),
        }
    }

    fn takes_batches(&self) -> bool {
        matches!(self, Self::Http { header, .. } if header.takes_batches())
    }
}

/// A caller's messages at a server.
pub(super) struct Exchange<'a, P: Product> {
    pub(super) server: &'a Server<P>,
    pub(super) caller: &'a P::Caller,
    pub(super) transport: Transport<'a>,
    pub(super) now: Timestamp,
}

/// What is answered to a message, and by which status where it stands alone.
pub(super) struct Answered {
    status: StatusCode,
    /// What the call had to tell before.
    pub(super) notices: Vec<String>,
    /// `None` where there is nothing to answer.
    pub(super) body: Option<String>,
    /// What HTTP answers instead, where the message stands alone.
    rejection: Option<Rejection>,
}

impl Answered {
    fn new(status: StatusCode, body: Option<String>) -> Self {
        Self { status, notices: Vec::new(), body, rejection: None }
    }

    fn nothing() -> Self {
        Self::new(StatusCode::ACCEPTED, None)
    }

    /// As an answer to a POST.
    pub(super) fn into_response(self, headers: &HeaderMap, challenge: &str) -> Response {
        match (self.rejection, self.body) {
            (Some(rejection), _) => rejection.into_response(challenge),
            (None, None) => answer::accepted(),
            (None, Some(body)) if !self.notices.is_empty() && answer::takes_event_stream(headers) => {
                answer::event_stream(&self.notices, &body)
            }
            (None, Some(body)) => answer::json(self.status, body),
        }
    }
}

/// Why a request has no result.
pub(super) enum Fault {
    /// A protocol error.
    Protocol(Error),
    /// A refusal that only HTTP can express in full.
    Rejected(Rejection),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Protocol(error)
    }
}

impl<P: Product> Exchange<'_, P> {
    /// Answers a whole body, as it was read.
    pub(super) async fn body(&self, body: Result<Incoming, Error>, record: &mut Record) -> Answered {
        match body {
            Err(error) => self.misread(None, &error, record),
            Ok(Incoming::Batch(messages)) => self.batch(messages, record).await,
            Ok(Incoming::One(Ok(Message::Response))) if self.header().is_modern() => {
                let error = Error::invalid_request("This server sends no requests, so it takes no answers.");
                self.misread(None, &error, record)
            }
            Ok(Incoming::One(message)) => self.message(message, record).await,
        }
    }

    fn header(&self) -> Header<'_> {
        self.transport.header(P::PROFILE.fallback)
    }

    /// Messages one after the other, in order. `initialize` has no place in a batch.
    async fn batch(&self, messages: Vec<Result<Message, Invalid>>, record: &mut Record) -> Answered {
        let opens = |message: &Result<Message, Invalid>| matches!(message, Ok(Message::Request(request)) if request.method == "initialize");
        let refusal = if !self.transport.takes_batches() {
            Some("There are no batches here: send one message at a time.".to_owned())
        } else if messages.is_empty() || messages.len() > MOST_MESSAGES {
            Some(format!("A batch holds 1 to {MOST_MESSAGES} messages."))
        } else if messages.iter().any(opens) {
            Some("initialize cannot be part of a batch.".to_owned())
        } else {
            None
        };
        if let Some(reason) = refusal {
            return self.misread(None, &Error::invalid_request(reason), record);
        }
        let mut bodies: Vec<String> = Vec::new();
        let mut left = P::PROFILE.answer_limit;
        for message in messages {
            let asked = message.as_ref().ok().and_then(Message::id).cloned();
            let Some(mut body) = self.message(message, record).await.body else { continue };
            if body.len() >= left {
                let error = Error::invalid_request(
                    "Done, but the answer did not fit into this batch's answer: do not repeat a change, read it back.",
                );
                record.ended(Outcome::ProtocolError, error.code.to_string());
                body = answer::failure(asked.as_ref(), &error, false);
            }
            left = left.saturating_sub(body.len() + 1);
            bodies.push(body);
        }
        if bodies.is_empty() {
            return Answered::nothing();
        }
        Answered::new(StatusCode::OK, Some(format!("[{}]", bodies.join(","))))
    }

    async fn message(&self, message: Result<Message, Invalid>, record: &mut Record) -> Answered {
        match message {
            Ok(Message::Request(request)) => self.request(request, record).await,
            Ok(Message::Notification { .. }) => {
                record.subjects.push("notification");
                Answered::nothing()
            }
            Ok(Message::Response) => {
                record.subjects.push("response");
                Answered::nothing()
            }
            Err(Invalid { id, error }) => self.misread(id.as_ref(), &error, record),
        }
    }

    /// The answer to what could not be read as a message.
    fn misread(&self, id: Option<&Id>, error: &Error, record: &mut Record) -> Answered {
        record.ended(Outcome::ProtocolError, error.code.to_string());
        let modern = self.header().is_modern();
        let status = if modern { StatusCode::BAD_REQUEST } else { StatusCode::OK };
        Answered::new(status, Some(answer::failure(id, error, modern)))
    }

    async fn request(&self, mut request: jsonrpc::Request, record: &mut Record) -> Answered {
        let id = request.id.clone();
        let fail = |status, error: &Error, record: &mut Record| {
            record.ended(Outcome::ProtocolError, error.code.to_string());
            Answered::new(status, Some(answer::failure(Some(&id), error, true)))
        };
        let era = match era::decide(P::PROFILE, self.transport.headers(), self.header(), &mut request) {
            Ok(era) => era,
            Err((status, error)) => return fail(status, &error, record),
        };
        let notices = Notices::default();
        match self.method(&era, request, &notices, record).await {
            Ok(result) => {
                Answered { notices: notices.into_messages(), ..Answered::new(StatusCode::OK, Some(answer::success(&id, &result))) }
            }
            Err(Fault::Protocol(error)) => fail(status_of(&error, era.version), &error, record),
            Err(Fault::Rejected(rejection)) => {
                record.ended(Outcome::Rejected, rejection.status().as_str());
                let body = answer::failure(Some(&id), &rejection.error(), true);
                Answered { rejection: Some(rejection), ..Answered::new(StatusCode::OK, Some(body)) }
            }
        }
    }

    async fn method(&self, era: &Era, request: jsonrpc::Request, notices: &Notices, record: &mut Record) -> Result<Box<RawValue>, Fault> {
        let (product, version) = (self.server.product(), era.version);
        let more = |version| product.methods().map(|methods| methods.capabilities(version)).unwrap_or_default();
        match (request.method.as_str(), version.is_modern()) {
            ("initialize", false) => {
                record.subjects.push("initialize");
                let asked = request.params.get("protocolVersion").and_then(Value::as_str).and_then(|name| P::PROFILE.served(name));
                // Even a client that asks for 2026-07-28 by a handshake gets a version that has one.
                let settled = asked.filter(|version| !version.is_modern()).unwrap_or(P::PROFILE.fallback);
                if let Transport::Stdio(session) = self.transport {
                    session.settle(settled);
                }
                Ok(answer::initialized(P::PROFILE, settled, more(settled)))
            }
            ("ping", false) => {
                record.subjects.push("ping");
                Ok(answer::result(P::PROFILE, version, serde_json::json!({}), false))
            }
            ("server/discover", true) => {
                record.subjects.push("discover");
                Ok(answer::discovered(P::PROFILE, version, more(version)))
            }
            ("tools/list", _) => {
                record.subjects.push("list");
                match request.params.get("cursor") {
                    None | Some(Value::Null) => Ok(answer::listed(P::PROFILE, version, self.server.catalog().list(version))),
                    Some(_) => Err(Error::invalid_params("The list has one page: send no cursor.").into()),
                }
            }
            ("tools/call", _) => self.call(era, request, notices, record).await,
            _ => self.other(era, &request, notices, record).await,
        }
    }

    /// A method that only servers with more than tools have.
    async fn other(&self, era: &Era, request: &jsonrpc::Request, notices: &Notices, record: &mut Record) -> Result<Box<RawValue>, Fault> {
        let (product, version) = (self.server.product(), era.version);
        let unknown = |record: &mut Record| {
            record.subjects.push("unknown method");
            Error::method_not_found()
        };
        let Some(methods) = product.methods() else { return Err(unknown(record).into()) };
        let binding = Binding::of(&request.method, &request.params);
        let client = match request.method.as_str() {
            "prompts/get" | "resources/read" => self.with_answers(&era.client, version, &binding, &request.params)?,
            _ => era.client.clone(),
        };
        let request_id = record.request_id.clone();
        let call = Call::new(self.caller, &request_id, self.now, &client, notices);
        let Some(answering) = methods.answer(product, version, &request.method, &request.params, call) else {
            return Err(unknown(record).into());
        };
        record.subjects.push("other method");
        let answered = AssertUnwindSafe(answering).catch_unwind().await.unwrap_or_else(|_| Err(Error::internal(&request_id)));
        let result = match answered? {
            Answer::Result(body) => answer::result(P::PROFILE, version, body, false),
            Answer::Cacheable(body) => answer::result(P::PROFILE, version, body, true),
            Answer::Ask(ask) => self.ask(ask, &client, version, &binding)?,
        };
        if answer::length(&request.id, &result) > P::PROFILE.answer_limit {
            return Err(Error::invalid_params(format!("The answer is larger than {} bytes.", P::PROFILE.answer_limit)).into());
        }
        Ok(result)
    }

    /// The client, with the answers to what it was asked in an earlier round.
    pub(super) fn with_answers(&self, client: &Client, version: Version, binding: &Binding, params: &Value) -> Result<Client, Error> {
        let mut client = client.clone();
        if version.is_modern() {
            client.answers = Answers::read(self.server.product(), self.caller, binding, self.now, params)?;
        }
        Ok(client)
    }

    /// Asks the person, if the client said that it can. Until 2025-11-25 no answer can ask.
    pub(super) fn ask(&self, ask: Ask, client: &Client, version: Version, binding: &Binding) -> Result<Box<RawValue>, Fault> {
        if !version.is_modern() {
            return Err(Error::invalid_params(NEEDS_INPUT).into());
        }
        if !ask.suits(client) {
            return Err(Error::missing_capability(ask.lacking(client)).into());
        }
        let body = ask.into_result(self.server.product(), self.caller, binding, self.now);
        Ok(answer::asked(P::PROFILE, version, body))
    }
}

/// Where a person would have to be asked and the version cannot.
pub(super) const NEEDS_INPUT: &str = "This needs an answer from a person in the middle of the call, which this version of MCP cannot \
                                      ask for: use a client of 2026-07-28.";

/// The status of a protocol error that stands alone.
fn status_of(error: &Error, version: Version) -> StatusCode {
    match error.code {
        Error::METHOD_NOT_FOUND if version.is_modern() => StatusCode::NOT_FOUND,
        Error::HEADER_MISMATCH | Error::MISSING_CAPABILITY => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}
