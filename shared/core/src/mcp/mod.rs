//! The Model Context Protocol over plain POST, for both of its eras.
//!
//! Up to 2025-11-25 (**legacy**) a client opens with `initialize` and afterwards names the version in a header; nothing
//! is kept between requests, so every method works without it. From 2026-07-28 (**modern**) each request carries the
//! version and the client's capabilities in `params._meta`, and there is no handshake.
//!
//! `server` lets a request in, `exchange` reads its body as messages, `era` tells which rules each is served by, `call`
//! runs a tool, `answer` writes the result in that version's form. `input` asks a person in between, `notices` keeps what
//! a call has to tell beside its result, `methods` is the door for servers that have more than tools.

mod answer;
mod call;
mod client;
mod era;
mod exchange;
mod input;
mod methods;
mod notices;
pub(crate) mod param_headers;
mod profile;
mod record;
mod server;
mod version;

use std::future::Future;

use http::HeaderMap;
use jiff::Timestamp;

pub use client::Client;
pub use exchange::Session;
pub use input::{Answers, Ask, Input, Said};
pub use methods::{Answer, Answering, Methods};
pub use notices::{Level, Notices};
pub use profile::{Faults, Profile, Refusals, Reported};
pub use record::{Outcome, Record, RequestId};
pub use server::{Lines, Server};
pub use version::Version;

use crate::auth::{Denied, Peppers, Unauthenticated};
use crate::catalog::Catalog;
use crate::clock::Clock;
use crate::error::ToolError;
use crate::http::Gate;
use crate::id::Ids;

/// A product behind an MCP endpoint: who may call it, and its tools. The value holds what tools work with.
pub trait Product: Send + Sync + Sized + 'static {
    /// Who calls, once that is proved.
    type Caller: Send + Sync;

    /// What sets this endpoint apart.
    const PROFILE: &'static Profile;

    /// The tools, in the order they are advertised.
    fn catalog() -> Catalog<Self>;

    /// Finds out who calls. Runs before the body is parsed.
    fn authenticate(&self, headers: &HeaderMap, now: Timestamp) -> impl Future<Output = Result<Self::Caller, Unauthenticated>> + Send;

    /// Makes sure that the caller's credential has not ended, before a tool that writes runs. A product whose
    /// [`Product::authenticate`] relies on what it read earlier reads anew here.
    fn confirm(&self, _caller: &Self::Caller, _now: Timestamp) -> impl Future<Output = Result<(), Unauthenticated>> + Send {
        std::future::ready(Ok(()))
    }

    /// Whether the caller has the right that a tool asks for ([`crate::catalog::ToolSpec::scope`]). A product whose
    /// tools ask for rights must say who has them: unless it does, nobody has any.
    fn authorise(&self, _caller: &Self::Caller, scope: &'static str) -> Result<(), Denied> {
        Err(Denied::Refused(ToolError::forbidden(format!("This needs the right {scope}, which your credential does not have."))))
    }

    /// Names the caller among all callers, for what is sealed for them alone.
    fn principal(caller: &Self::Caller) -> String;

    /// What the log may say of a caller.
    fn audit(caller: &Self::Caller) -> Audit;

    /// What is let in before anybody is asked who they are.
    fn gate(&self) -> &Gate;

    /// What sealed texts are sealed under.
    fn peppers(&self) -> &Peppers;

    /// The time.
    fn clock(&self) -> &dyn Clock;

    /// Where ids come from.
    fn ids(&self) -> &Ids;

    /// What it has beyond tools.
    fn methods(&self) -> Option<&dyn Methods<Self>> {
        None
    }
}

/// What the log may say of a caller: no name, no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit {
    /// A hash of the organisation.
    pub org: String,
    /// The public id of the key.
    pub key: String,
}
