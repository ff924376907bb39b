//! A product's endpoint: from a request's bytes to a response's bytes.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;

use futures_util::FutureExt;
use http::{HeaderMap, HeaderValue, StatusCode};
use jiff::Timestamp;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::era::{self, Era, Header};
use super::record::{Outcome, Record, RequestId};
use super::{Product, Reported, Version, answer};
use crate::auth::Unauthenticated;
use crate::catalog::{Call, Catalog, Violation};
use crate::error::ToolError;
use crate::http::{Endpoint, Rejection, Request, Response, check_body};
use crate::json as strict_json;
use crate::jsonrpc::{self, Error, Id, Incoming, Invalid, Message};

/// The most messages in one batch.
const MOST_MESSAGES: usize = 20;

/// An MCP endpoint for one product. Holds no state between requests but what the product holds.
pub struct Server<P: Product> {
    product: P,
    catalog: Catalog<P>,
}

impl<P: Product> Server<P> {
    /// Builds the catalog, so that everything is ready before the first call.
    pub fn new(product: P) -> Self {
        Self { product, catalog: P::catalog().ready() }
    }

    /// The product.
    pub fn product(&self) -> &P {
        &self.product
    }

    /// Its tools.
    pub fn catalog(&self) -> &Catalog<P> {
        &self.catalog
    }
}

impl<P: Product> Endpoint for Server<P> {
    fn answer(&self, request: Request) -> Pin<Box<dyn Future<Output = Response> + Send + '_>> {
        Box::pin(async move {
            let named = request.extensions().get::<RequestId>().map(|id| id.0.clone());
            let request_id = named.unwrap_or_else(|| self.product.ids().uuid().to_string());
            let mut record = Record { request_id, ..Record::default() };
            let answering = AssertUnwindSafe(self.admit_and_serve(&request, &mut record)).catch_unwind().await;
            let mut response = answering.unwrap_or_else(|_| failed::<P>(&request, &mut record));
            self.product.gate().open_to_page(request.headers(), &mut response);
            if let Ok(id) = HeaderValue::from_str(&record.request_id) {
                response.headers_mut().insert("x-request-id", id);
            }
            response.extensions_mut().insert(record);
            response
        })
    }
}

enum Admitted<C> {
    Preflight(Response),
    Caller(C, Timestamp),
}

/// What one request of a body is served with.
struct Frame<'a, P: Product> {
    caller: &'a P::Caller,
    headers: &'a HeaderMap,
    header: Header<'a>,
    now: Timestamp,
}

/// A JSON-RPC answer and the status it has when it stands alone.
struct Answered {
    status: StatusCode,
    body: String,
}

impl<P: Product> Server<P> {
    async fn admit_and_serve(&self, request: &Request, record: &mut Record) -> Response {
        match self.admit(request, record).await {
            Ok(Admitted::Preflight(response)) => response,
            Ok(Admitted::Caller(caller, now)) => self.serve(request, &caller, now, record).await,
            Err(rejection) => {
                record.ended(Outcome::Rejected, rejection.status().as_str());
                rejection.into_response(P::PROFILE.challenge)
            }
        }
    }

    /// Everything that is decided before the body is parsed.
    async fn admit(&self, request: &Request, record: &mut Record) -> Result<Admitted<P::Caller>, Rejection> {
        if let Some(preflight) = self.product.gate().check(request, P::PROFILE.path)? {
            return Ok(Admitted::Preflight(preflight));
        }
        let now = self.product.clock().now();
        let caller = self.product.authenticate(request.headers(), now).await.map_err(|refused| match refused {
            Unauthenticated::Refused => Rejection::Unauthorized(how_to_authenticate::<P>()),
            Unauthenticated::Unavailable(cause) => {
                record.causes.push(cause);
                Rejection::Unavailable
            }
        })?;
        record.caller = Some(P::audit(&caller));
        check_body(request.headers(), request.body(), P::PROFILE.body_limit)?;
        Ok(Admitted::Caller(caller, now))
    }

    async fn serve(&self, request: &Request, caller: &P::Caller, now: Timestamp, record: &mut Record) -> Response {
        let header = Header::read(request.headers(), P::PROFILE);
        let frame = Frame::<P> { caller, headers: request.headers(), header, now };
        match jsonrpc::parse(request.body()) {
            Err(error) => misread(None, &error, header, record).into_response(),
            Ok(Incoming::Batch(messages)) => self.batch(&frame, messages, record).await,
            Ok(Incoming::One(Ok(Message::Response))) if header.is_modern() => {
                let error = Error::invalid_request("This server sends no requests, so it takes no answers.");
                misread(None, &error, header, record).into_response()
            }
            Ok(Incoming::One(message)) => match self.message(&frame, message, record).await {
                Some(answered) => answered.into_response(),
                None => answer::accepted(),
            },
        }
    }

    /// Messages one after the other, in order. `initialize` has no place in a batch.
    async fn batch(&self, frame: &Frame<'_, P>, messages: Vec<Result<Message, Invalid>>, record: &mut Record) -> Response {
        let opens = |message: &Result<Message, Invalid>| matches!(message, Ok(Message::Request(request)) if request.method == "initialize");
        let refusal = if !frame.header.takes_batches() {
            Some("This version of MCP has no batches: send one message at a time.".to_owned())
        } else if messages.is_empty() || messages.len() > MOST_MESSAGES {
            Some(format!("A batch holds 1 to {MOST_MESSAGES} messages."))
        } else if messages.iter().any(opens) {
            Some("initialize cannot be part of a batch.".to_owned())
        } else {
            None
        };
        if let Some(reason) = refusal {
            return misread(None, &Error::invalid_request(reason), frame.header, record).into_response();
        }
        let mut bodies: Vec<String> = Vec::new();
        let mut left = P::PROFILE.answer_limit;
        for message in messages {
            let asked = message.as_ref().ok().and_then(Message::id).cloned();
            let Some(Answered { mut body, .. }) = self.message(frame, message, record).await else { continue };
            if body.len() >= left {
                let error = Error::invalid_request(
                    "Done, but the answer did not fit into this batch's answer: do not repeat a change, read it back.",
                );
                body = misread(asked.as_ref(), &error, frame.header, record).body;
            }
            left = left.saturating_sub(body.len() + 1);
            bodies.push(body);
        }
        if bodies.is_empty() {
            return answer::accepted();
        }
        answer::json(StatusCode::OK, format!("[{}]", bodies.join(",")))
    }

    /// One message; `None` where none is to be answered.
    async fn message(&self, frame: &Frame<'_, P>, message: Result<Message, Invalid>, record: &mut Record) -> Option<Answered> {
        match message {
            Ok(Message::Request(request)) => Some(self.request(frame, request, record).await),
            Ok(Message::Notification { .. }) => {
                record.subjects.push("notification");
                None
            }
            Ok(Message::Response) => {
                record.subjects.push("response");
                None
            }
            Err(Invalid { id, error }) => Some(misread(id.as_ref(), &error, frame.header, record)),
        }
    }

    async fn request(&self, frame: &Frame<'_, P>, request: jsonrpc::Request, record: &mut Record) -> Answered {
        let id = request.id.clone();
        let fail = |status, error: &Error, record: &mut Record| {
            record.ended(Outcome::ProtocolError, error.code.to_string());
            Answered { status, body: answer::failure(Some(&id), error, true) }
        };
        let era = match era::decide(P::PROFILE, frame.headers, frame.header, &request) {
            Ok(era) => era,
            Err((status, error)) => return fail(status, &error, record),
        };
        match self.method(frame, &era, request, record).await {
            Ok(result) => Answered { status: StatusCode::OK, body: answer::success(&id, &result) },
            Err(error) if error.code == Error::METHOD_NOT_FOUND && era.version.is_modern() => fail(StatusCode::NOT_FOUND, &error, record),
            Err(error) => fail(StatusCode::OK, &error, record),
        }
    }

    async fn method(
        &self,
        frame: &Frame<'_, P>,
        era: &Era,
        request: jsonrpc::Request,
        record: &mut Record,
    ) -> Result<Box<RawValue>, Error> {
        let version = era.version;
        match (request.method.as_str(), version.is_modern()) {
            ("initialize", false) => {
                record.subjects.push("initialize");
                let asked = request.params.get("protocolVersion").and_then(Value::as_str).and_then(|name| P::PROFILE.served(name));
                // Even a client that asks for 2026-07-28 by a handshake gets a version that has one.
                Ok(answer::initialized(P::PROFILE, asked.filter(|version| !version.is_modern()).unwrap_or(P::PROFILE.fallback)))
            }
            ("ping", false) => {
                record.subjects.push("ping");
                Ok(answer::empty(P::PROFILE, version))
            }
            ("server/discover", true) => {
                record.subjects.push("discover");
                Ok(answer::discovered(P::PROFILE, version))
            }
            ("tools/list", _) => {
                record.subjects.push("list");
                match request.params.get("cursor") {
                    None | Some(Value::Null) => Ok(answer::listed(P::PROFILE, version, self.catalog.list(version))),
                    Some(_) => Err(Error::invalid_params("The list has one page: send no cursor.")),
                }
            }
            ("tools/call", _) => self.call(frame, era, request, record).await,
            _ => {
                record.subjects.push("unknown method");
                Err(Error::method_not_found())
            }
        }
    }

    async fn call(&self, frame: &Frame<'_, P>, era: &Era, request: jsonrpc::Request, record: &mut Record) -> Result<Box<RawValue>, Error> {
        let Value::Object(mut params) = request.params else {
            return Err(Error::invalid_params("tools/call needs params with the name of a tool."));
        };
        let sent = params.remove("arguments");
        let name = params
            .get("name")
            .and_then(Value::as_str)
            .ok_or_else(|| Error::invalid_params("name must be the name of a tool, as a string."))?;
        let Some(tool) = self.catalog.find(name) else {
            record.subjects.push("unknown tool");
            let names: Vec<&str> = self.catalog.names().collect();
            let message = format!("There is no tool of this name. The tools are: {}.", names.join(", "));
            return match P::PROFILE.faults.unknown_tool {
                Reported::AsProtocolError => Err(Error::invalid_params(message)),
                Reported::AsToolError => Ok(self.refused(era.version, &ToolError::not_found("unknown_tool", message), record)),
            };
        };
        let spec = tool.spec();
        record.subjects.push(spec.name);
        let ready = match arguments(sent).and_then(|arguments| tool.check(arguments)) {
            Ok(ready) => ready,
            Err(violations) => {
                return self.misfit_arguments(era.version, spec.name, &violations, record);
            }
        };
        let request_id = record.request_id.clone();
        let call = Call { caller: frame.caller, request_id: &request_id, now: frame.now, client: &era.client };
        let rendered = match AssertUnwindSafe(ready.run(&self.product, call)).catch_unwind().await {
            Ok(Ok(rendered)) => rendered,
            Ok(Err(error)) => return Ok(self.refused(era.version, &error, record)),
            Err(_) => return Ok(self.refused(era.version, &ToolError::internal(format!("{} panicked", spec.name)), record)),
        };
        let result = answer::called(P::PROFILE, era.version, &rendered.value, &rendered.images, rendered.meta);
        if answer::length(&request.id, &result) > P::PROFILE.answer_limit {
            let narrower = spec.narrowed_by.map_or_else(String::new, |argument| format!(" Narrow it with the argument {argument}."));
            let message = format!("The answer is larger than {} bytes.{narrower}", P::PROFILE.answer_limit);
            return Ok(self.refused(era.version, &ToolError::answer_too_large(message), record));
        }
        Ok(result)
    }

    fn misfit_arguments(
        &self,
        version: Version,
        tool: &str,
        violations: &[Violation],
        record: &mut Record,
    ) -> Result<Box<RawValue>, Error> {
        let told: Vec<String> =
            violations.iter().take(5).map(|one| format!("{} {}", one.path, one.message).trim_start().to_owned()).collect();
        let more = violations.len().checked_sub(5).filter(|more| *more > 0).map_or_else(String::new, |more| format!("; and {more} more"));
        let message = format!("The arguments of {tool} do not fit: {}{more}.", told.join("; "));
        let errors = json!({ "errors": violations });
        match P::PROFILE.faults.arguments {
            Reported::AsProtocolError => Err(Error::invalid_params(message).with_data(errors)),
            Reported::AsToolError => {
                Ok(self.refused(version, &ToolError::invalid("invalid_arguments", message).with_details(errors), record))
            }
        }
    }

    fn refused(&self, version: Version, error: &ToolError, record: &mut Record) -> Box<RawValue> {
        record.ended(Outcome::ToolError, error.code());
        record.causes.extend(error.cause().map(str::to_owned));
        answer::refused(P::PROFILE, version, &P::PROFILE.dialect.render(error, &record.request_id))
    }
}

impl Answered {
    fn into_response(self) -> Response {
        answer::json(self.status, self.body)
    }
}

/// The answer to a request that made us panic outside of a tool. Only where panics unwind: under the release profile the
/// process ends, and Lambda starts another.
fn failed<P: Product>(request: &Request, record: &mut Record) -> Response {
    record.causes.push("a panic outside of a tool".to_owned());
    record.ended(Outcome::ProtocolError, Error::INTERNAL.to_string());
    let header = Header::read(request.headers(), P::PROFILE);
    answer::json(StatusCode::OK, answer::failure(None, &Error::internal(&record.request_id), header.is_modern()))
}

/// The answer to what could not be read as a message.
fn misread(id: Option<&Id>, error: &Error, header: Header<'_>, record: &mut Record) -> Answered {
    record.ended(Outcome::ProtocolError, error.code.to_string());
    let modern = header.is_modern();
    let status = if modern { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    Answered { status, body: answer::failure(id, error, modern) }
}

/// Arguments left out, `null`, an object, or an object as JSON text.
fn arguments(sent: Option<Value>) -> Result<Map<String, Value>, Vec<Violation>> {
    let refused = || vec![Violation { path: String::new(), rule: "type", message: "must be an object".to_owned() }];
    match sent {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(arguments)) => Ok(arguments),
        Some(Value::String(text)) => match strict_json::parse(&text) {
            Ok(Value::Object(arguments)) => Ok(arguments),
            _ => Err(refused()),
        },
        Some(_) => Err(refused()),
    }
}

fn how_to_authenticate<P: Product>() -> String {
    format!("Unauthorized. Send a valid API key of your organisation: Authorization: Bearer {}_...\n", P::PROFILE.keys.prefix)
}
