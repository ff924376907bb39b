//! What sets one product's endpoint apart from another's.

use super::Version;
use crate::auth::KeyFormat;
use crate::error::Dialect;

/// The settings of one product. Everything the protocol leaves open is decided here.
#[derive(Debug)]
pub struct Profile {
    /// The server's name in the protocol.
    pub name: &'static str,
    /// The server's name for people.
    pub title: &'static str,
    /// The server's version.
    pub version: &'static str,
    /// A short text that tells a model how the tools belong together.
    pub instructions: Option<&'static str>,
    /// The path of the endpoint.
    pub path: &'static str,
    /// The versions with a handshake that are served, newest first.
    pub legacy: &'static [Version],
    /// What `initialize` answers to a version that is not served.
    pub fallback: Version,
    /// The largest body taken, in bytes.
    pub body_limit: usize,
    /// The largest body answered, in bytes.
    pub answer_limit: usize,
    /// For how long a client may keep the list of tools, in milliseconds.
    pub list_ttl_ms: u64,
    /// Whether tools may tell clients what they do ([`crate::catalog::Call::log`]). Without it nothing is told.
    pub logs: bool,
    /// How tool errors are written.
    pub dialect: Dialect,
    /// Where tool errors are written.
    pub refusals: Refusals,
    /// How an unknown tool and arguments that the schema refuses are reported.
    pub faults: Faults,
    /// The keys that open it.
    pub keys: KeyFormat,
    /// The value of `WWW-Authenticate`.
    pub challenge: &'static str,
}

/// How a caller's own mistakes around a tool are reported.
#[derive(Debug, Clone, Copy)]
pub struct Faults {
    /// An unknown tool.
    pub unknown_tool: Reported,
    /// Arguments that the advertised schema refuses.
    pub arguments: Reported,
}

/// Where the refusal of a tool stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusals {
    /// In the text alone.
    Text,
    /// In the text and as `structuredContent`. Clients check that against the tool's output schema, so that schema
    /// requires nothing then, and nothing in it may stand against the members of an error.
    Structured,
}

/// One of the two ways to report a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reported {
    /// As a JSON-RPC error, -32602.
    AsProtocolError,
    /// As a tool result with `isError`.
    AsToolError,
}

impl Profile {
    /// Every version served, newest first.
    pub fn all_versions(&self) -> impl Iterator<Item = Version> {
        std::iter::once(Version::V2026_07_28).chain(self.legacy.iter().copied())
    }

    /// The served version with this name.
    pub fn served(&self, name: &str) -> Option<Version> {
        Version::named(name).filter(|version| self.all_versions().any(|served| served == *version))
    }
}
