//! Who calls: the holder of a valid key.

use jiff::Timestamp;
use onepost_core::auth::{KeyCaller, Org};
use onepost_core::error::ToolError;

use crate::members::Actor;

/// The holder of a valid key.
#[derive(Debug)]
pub struct Caller {
    pub(crate) key: KeyCaller,
    /// Whether the key was read for this very call, and not a moment earlier.
    pub(crate) was_read: bool,
}

impl Caller {
    /// Their organisation.
    pub fn org(&self) -> &Org {
        self.key.org()
    }

    /// The person who made the key.
    pub fn actor(&self) -> Actor {
        Actor::new(self.key.org().clone(), self.key.creator())
    }

    /// Demands that the key has not ended when something is deleted for good.
    pub fn must_hold_the_key(&self, now: Timestamp) -> KeyCheck {
        KeyCheck { org: self.key.org().clone(), key_id: self.key.key_id().to_owned(), now }
    }
}

/// A demand that a key has not ended at the moment of writing. The store's deletions take nothing less.
#[derive(Debug, Clone)]
pub struct KeyCheck {
    org: Org,
    key_id: String,
    now: Timestamp,
}

impl KeyCheck {
    /// The organisation that the key opens.
    pub fn org(&self) -> &Org {
        &self.org
    }

    /// The public id of the key.
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// When the call came in.
    pub fn now(&self) -> Timestamp {
        self.now
    }
}

/// The refusal where the check fails.
pub fn key_ended() -> ToolError {
    ToolError::denied("key_ended", "This API key ended while the call was made, and nothing was deleted. Use another key.")
}
