//! A product's endpoint: who is let in, and by which transport.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;

use futures_util::FutureExt;
use http::{HeaderValue, StatusCode};
use jiff::Timestamp;

use super::era::Header;
use super::exchange::{Exchange, Session, Transport};
use super::record::{Outcome, Record, RequestId};
use super::{Product, answer};
use crate::auth::Unauthenticated;
use crate::catalog::Catalog;
use crate::http::{Endpoint, Rejection, Request, Response, check_body};
use crate::jsonrpc::{self, Error, Id, Incoming};

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
            let mut record = self.record(request.extensions().get::<RequestId>());
            let answering = AssertUnwindSafe(self.admit_and_serve(&request, &mut record)).catch_unwind().await;
            let mut response = answering.unwrap_or_else(|_| {
                let header = Header::read(request.headers(), P::PROFILE);
                answer::json(StatusCode::OK, panicked(&mut record, header.is_modern()))
            });
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

impl<P: Product> Server<P> {
    fn record(&self, named: Option<&RequestId>) -> Record {
        let request_id = named.map_or_else(|| self.product.ids().uuid().to_string(), |id| id.0.clone());
        Record { request_id, ..Record::default() }
    }

    async fn admit_and_serve(&self, request: &Request, record: &mut Record) -> Response {
        match self.admit(request, record).await {
            Ok(Admitted::Preflight(response)) => response,
            Ok(Admitted::Caller(caller, now)) => {
                let headers = request.headers();
                let transport = Transport::Http { headers, header: Header::read(headers, P::PROFILE) };
                let exchange = Exchange { server: self, caller: &caller, transport, now };
                exchange.body(jsonrpc::parse(request.body()), record).await.into_response(headers, P::PROFILE.challenge)
            }
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
        let caller = self.product.authenticate(request.headers(), now).await.map_err(|refused| rejected::<P>(refused, record))?;
        record.caller = Some(P::audit(&caller));
        check_body(request.headers(), request.body(), P::PROFILE.body_limit)?;
        Ok(Admitted::Caller(caller, now))
    }
}

/// What one line is answered with.
#[derive(Debug)]
pub struct Lines {
    /// Each without its line feed; none where there is nothing to answer.
    pub lines: Vec<String>,
    /// What the log will say of it.
    pub record: Record,
}

impl<P: Product> Server<P> {
    /// Answers one line of a connection whose caller is known, as over stdio. There are no headers, so that the version
    /// is the one that the handshake settled on, or the one that a request's `_meta` names; there are no batches.
    pub async fn line(&self, caller: &P::Caller, session: &Session, line: &[u8]) -> Lines {
        self.message(caller, session, jsonrpc::parse(line)).await
    }

    /// The same for a line that was read already.
    pub(crate) async fn message(&self, caller: &P::Caller, session: &Session, read: Result<Incoming, Error>) -> Lines {
        let mut record = self.record(None);
        record.caller = Some(P::audit(caller));
        let exchange = Exchange { server: self, caller, transport: Transport::Stdio(session), now: self.product.clock().now() };
        let lines = match AssertUnwindSafe(exchange.body(read, &mut record)).catch_unwind().await {
            Ok(answered) => answered.notices.into_iter().chain(answered.body).collect(),
            Err(_) => vec![panicked(&mut record, false)],
        };
        Lines { lines, record }
    }

    /// Answers a line that is not served: the id is that of its request, if it has one that could be read.
    pub(crate) fn refused_line(&self, id: Option<&Id>, error: &Error) -> Lines {
        let mut record = self.record(None);
        record.ended(Outcome::ProtocolError, error.code.to_string());
        Lines { lines: vec![answer::failure(id, error, false)], record }
    }
}

/// The answer to a request that made us panic outside of a tool. Only where panics unwind: under the release profile the
/// process ends, and Lambda starts another.
fn panicked(record: &mut Record, modern: bool) -> String {
    record.causes.push("a panic outside of a tool".to_owned());
    record.ended(Outcome::ProtocolError, Error::INTERNAL.to_string());
    answer::failure(None, &Error::internal(&record.request_id), modern)
}

/// How a caller who could not be told is refused.
pub(super) fn rejected<P: Product>(refused: Unauthenticated, record: &mut Record) -> Rejection {
    match refused {
        Unauthenticated::Refused => Rejection::Unauthorized(how_to_authenticate::<P>()),
        Unauthenticated::TooManyCalls { retry_after } => Rejection::TooManyCalls(retry_after),
        Unauthenticated::Unavailable(cause) => {
            record.causes.push(cause);
            Rejection::Unavailable
        }
    }
}

fn how_to_authenticate<P: Product>() -> String {
    format!("Unauthorized. Send a valid API key of your organisation: Authorization: Bearer {}_...\n", P::PROFILE.keys.prefix)
}
