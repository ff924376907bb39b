//! Who calls: from a header to a caller, and from a caller to its organisation.
//!
//! An [`Org`] is made in this module alone, by a source that proved something: a checked key, or an operator at the
//! terminal. Every table key is built from one, so that no argument, cursor or header can name another organisation.

mod cache;
mod key;
mod pepper;

use http::HeaderMap;
use http::header::AUTHORIZATION;

use crate::error::ToolError;

pub use cache::{KNOWN_FOR, KeyCache, StoredKey, UNKNOWN_FOR};
pub use key::{Admission, KeyDigest, KeyDigests, KeyFormat, KeyRecord, MintedKey, PlainKey};
pub use pepper::{Pepper, Peppers, Verified};

/// An organisation whose right to be acted for has been proved.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Org(Box<str>);

impl Org {
    /// Its id, as `org-<UUID>`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The right of a person with the operator's credentials (the command line, the first start of the local stack) to
/// act for any organisation. No request can make one.
#[derive(Debug)]
pub struct Operator(());

impl Operator {
    /// For programs that an operator starts. An endpoint has no business calling this.
    pub fn at_the_terminal() -> Self {
        Self(())
    }

    /// The organisation with this id.
    pub fn org(&self, id: &str) -> Org {
        Org(id.into())
    }
}

/// The caller that a checked API key stands for.
#[derive(Debug, Clone)]
pub struct KeyCaller {
    org: Org,
    key_id: String,
    creator: String,
}

impl KeyCaller {
    /// The organisation that owns the key.
    pub fn org(&self) -> &Org {
        &self.org
    }

    /// The public part of the key: 12 characters, safe to log.
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// The person who made the key.
    pub fn creator(&self) -> &str {
        &self.creator
    }
}

/// Why a request has no caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unauthenticated {
    /// No key, or none that is valid. Missing, malformed, unknown, revoked and expired look the same to the caller.
    Refused,
    /// The caller, or all callers of its organisation, make more calls than they may. In so many seconds there is room.
    TooManyCalls {
        /// Seconds.
        retry_after: u32,
    },
    /// The key could not be looked up; the text is for the log. The caller is told to try again.
    Unavailable(String),
}

/// Why a caller may not use a tool.
#[derive(Debug, Clone, PartialEq)]
pub enum Denied {
    /// The credential can never have the right: the tool refuses.
    Refused(ToolError),
    /// The credential is a token that its owner can exchange for one with the right: 403 and a challenge that names it.
    Challenged,
}

/// The token of the one `Authorization: Bearer` header. The scheme's case and blanks around the token are free; a
/// second header, a second token or another scheme is no credential.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let (Some(only), None) = (all.next(), all.next()) else {
        return None;
    };
    let mut words = only.to_str().ok()?.split_ascii_whitespace();
    let (Some(scheme), Some(token), None) = (words.next(), words.next(), words.next()) else {
        return None;
    };
    scheme.eq_ignore_ascii_case("bearer").then_some(token)
}

/// A short name for an organisation in logs: stable, and useless to find the organisation by.
pub fn log_name(org: &Org) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, org.as_str().as_bytes());
    digest.as_ref()[..4].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
pub(crate) mod testing {
    //! Organisations and peppers for this crate's own tests.

    use super::{Operator, Org, Pepper, Peppers};

    #[expect(clippy::disallowed_methods, reason = "tests act for any organisation")]
    pub(crate) fn org(id: &str) -> Org {
        Operator::at_the_terminal().org(id)
    }

    pub(crate) fn peppers() -> Peppers {
        Peppers::new(Pepper::new("1", [7; 32]), None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(values: &[&str]) -> HeaderMap {
        values.iter().map(|value| (AUTHORIZATION, value.parse().unwrap())).collect()
    }

    #[test]
    fn one_bearer_token_is_read_whatever_the_blanks_and_the_case_of_the_scheme() {
        for value in ["Bearer KEY", "bearer KEY", "BEARER  KEY", "Bearer KEY ", "Bearer\tKEY"] {
            assert_eq!(bearer(&headers(&[value])), Some("KEY"), "{value:?}");
        }
    }

    #[test]
    fn anything_else_is_no_credential() {
        for values in [&[][..], &["Bearer"], &["Bearer KEY extra"], &["Basic KEY"], &["KEY"], &[""], &["Bearer A", "Bearer A"]] {
            assert_eq!(bearer(&headers(values)), None, "{values:?}");
        }
    }
}
