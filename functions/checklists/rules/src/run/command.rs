//! What can be asked of a run.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Signature;
use crate::answer::{Given, Photo};
use crate::word::words;

/// What can be asked of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Command {
    /// A person starts or resumes it. Fetching the page is not opening.
    Open {
        /// Who they are.
        identity: Identity,
    },
    /// Answers a step, or acknowledges an instruction.
    Answer {
        /// The step.
        step_id: String,
        /// The answer.
        given: Given,
        /// The `rev` of the answer the sender saw last, 0 for none; not compared when absent.
        seen_rev: Option<u64>,
        /// Where it comes from.
        origin: Origin,
    },
    /// Skips an optional step explicitly.
    Skip {
        /// The step.
        step_id: String,
        /// Why.
        note: Option<String>,
        /// As for an answer.
        seen_rev: Option<u64>,
        /// Where it comes from.
        origin: Origin,
    },
    /// Takes an answer or a skip back.
    Clear {
        /// The step.
        step_id: String,
        /// As for an answer.
        seen_rev: Option<u64>,
        /// Where it comes from.
        origin: Origin,
    },
    /// Adds a photo to an answer, or replaces what is known of it: most of all that its picture has been stored. The
    /// answer keeps its `rev`, since the executor did not change it.
    Photo {
        /// The step.
        step_id: String,
        /// The photo.
        photo: Photo,
        /// Where it comes from.
        origin: Origin,
    },
    /// Takes a photo off an answer, to be taken again. An answer that has no such photo stays as it is: a repeat.
    RemovePhoto {
        /// The step.
        step_id: String,
        /// The photo.
        photo_id: String,
        /// Where it comes from.
        origin: Origin,
    },
    /// Hands the run in.
    Complete {
        /// The signature, where the template asks for one.
        signature: Option<Signature>,
        /// Where it comes from.
        origin: Origin,
    },
    /// The executor leaves for good.
    Exit {
        /// Why; 1 to 1,000 characters. Leaving without a word is closing the tab, and that ends nothing.
        reason: String,
    },
    /// The organisation withdraws it.
    Cancel {
        /// Why; up to 1,000 characters.
        reason: Option<String>,
    },
    /// Stores that the link has run out.
    Expire,
    /// Gives the link a new end; revives a run that expired or that its executor left, within 30 days. An expiry that was
    /// never stored is not told afterwards.
    Extend {
        /// The new end, in the future; never, when absent.
        expires_at: Option<Timestamp>,
    },
}

/// Where a command of an executor comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// Who gives it, as the caller names executors.
    pub by: Actor,
    /// When it was given, by the phone's clock corrected by the offset that was measured when the session was opened. With
    /// a session it dates the beginning and the end of the work; without one it is kept and proves nothing.
    #[serde(default)]
    pub captured_at: Option<Timestamp>,
    /// The phone's time zone.
    #[serde(default)]
    pub tz: Option<String>,
    /// When the session was opened whose signature the caller has verified on this very command. Without it nothing is
    /// accepted after expiry: a time that a client states proves nothing.
    #[serde(default)]
    pub session_opened_at: Option<Timestamp>,
}

/// The name of an executor, as the caller writes it.
pub type Actor = String;

impl Origin {
    /// A command from a phone with signal: no captured time, no session to prove.
    pub fn live(by: impl Into<Actor>) -> Self {
        Self { by: by.into(), captured_at: None, tz: None, session_opened_at: None }
    }

    /// A command that waited on a phone, with the verified opening of its session.
    pub fn queued(by: impl Into<Actor>, session_opened_at: Timestamp, captured_at: Timestamp) -> Self {
        Self { by: by.into(), captured_at: Some(captured_at), tz: None, session_opened_at: Some(session_opened_at) }
    }
}

words! {
    /// How an executor is known.
    IdentityMode {
        /// Not at all.
        Anonymous = "anonymous",
        /// By what they stated.
        External = "external",
        /// By their membership.
        Member = "member",
    }
}

/// Who an executor is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// How they are known.
    pub mode: IdentityMode,
    /// The member, whom the caller has verified to belong to the run's organisation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// Stated name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Stated telephone number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    /// Stated e-mail address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
}

impl Identity {
    /// Somebody who holds the link.
    pub const fn anonymous() -> Self {
        Self { mode: IdentityMode::Anonymous, user_id: None, name: None, phone: None, email: None }
    }

    /// Somebody who stated their name.
    pub fn external(name: impl Into<String>) -> Self {
        Self { mode: IdentityMode::External, name: Some(name.into()), ..Self::anonymous() }
    }

    /// A member of the organisation.
    pub fn member(user_id: impl Into<String>) -> Self {
        Self { mode: IdentityMode::Member, user_id: Some(user_id.into()), ..Self::anonymous() }
    }
}
