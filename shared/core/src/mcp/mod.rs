//! The Model Context Protocol over plain POST, for both of its eras.
//!
//! Up to 2025-11-25 (**legacy**) a client opens with `initialize` and afterwards names the version in a header; nothing
//! is kept between requests, so every method works without it. From 2026-07-28 (**modern**) each request carries the
//! version and the client's capabilities in `params._meta`, and there is no handshake. `era` tells which rules a
//! request is served by, `server` serves it, `answer` writes the result in that version's form.

mod answer;
mod era;
mod profile;
mod record;
mod server;
mod version;

use std::future::Future;

use http::HeaderMap;
use jiff::Timestamp;
use serde_json::{Map, Value};

pub use profile::{Faults, Profile, Reported};
pub use record::{Outcome, Record, RequestId};
pub use server::Server;
pub use version::Version;

use crate::auth::Unauthenticated;
use crate::catalog::Catalog;
use crate::clock::Clock;
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

    /// What the log may say of a caller.
    fn audit(caller: &Self::Caller) -> Audit;

    /// What is let in before anybody is asked who they are.
    fn gate(&self) -> &Gate;

    /// The time.
    fn clock(&self) -> &dyn Clock;

    /// Where ids come from.
    fn ids(&self) -> &Ids;
}

/// What the log may say of a caller: no name, no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit {
    /// A hash of the organisation.
    pub org: String,
    /// The public id of the key.
    pub key: String,
}

/// What a client said of itself in this request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Client {
    /// Its capabilities; empty in the legacy era, where a stateless server cannot know them.
    pub capabilities: Map<String, Value>,
}
