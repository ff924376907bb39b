//! The life of a run: from dispatch until it is completed, cancelled or expired.
//!
//! ```text
//!             dispatch            first answer               complete
//!   (nothing) --------> pending ----------------> in_progress --------> completed
//!                         |                            |
//!                         +-- cancel, exit ------------+--> cancelled
//!                         +-- the link runs out -------+--> expired
//!   expired, or left by the executor -- extend, within 30 days --> pending or in_progress
//! ```
//!
//! Expiry is computed, never awaited: [`Run::status_at`] is what readers see, and every command compares the clock
//! first. [`Run::apply`] is the only way to change a run. A refused command changes nothing.

mod answering;
mod apply;
mod change;
mod closing;
mod command;
mod refusal;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

pub use change::{Change, Event};
pub use command::{Actor, Command, Identity, IdentityMode, Origin};
pub use refusal::{Missing, Need, Refusal, RefusalCode};

use crate::answer::Answer;
use crate::condition::Visibility;
use crate::progress::Progress;
use crate::score::Score;
use crate::template::Template;
use crate::word::words;

/// How long after expiry an answer that was captured before it may still arrive.
pub const LATE_GRACE: SignedDuration = SignedDuration::from_hours(48);
/// How far a phone's corrected clock may be off.
pub const CLOCK_TOLERANCE: SignedDuration = SignedDuration::from_mins(5);
/// How long after its end a run may be extended.
pub const EXTENSION_WINDOW: SignedDuration = SignedDuration::from_hours(30 * 24);
/// Most photos of a run, over all steps.
pub const MAX_PHOTOS: usize = 300;
/// Longest reason for leaving or cancelling, in characters.
pub const MAX_REASON_CHARS: usize = 1_000;

words! {
    /// Where a run is in its life.
    RunStatus {
        /// Dispatched; nothing answered yet.
        Pending = "pending",
        /// Answering has begun.
        InProgress = "in_progress",
        /// Handed in. Final.
        Completed = "completed",
        /// The executor gave up, or the organisation withdrew it.
        Cancelled = "cancelled",
        /// The link ran out first.
        Expired = "expired",
    }
}

impl RunStatus {
    /// Whether answers are still taken.
    pub const fn is_active(self) -> bool {
        matches!(self, Self::Pending | Self::InProgress)
    }
}

words! {
    /// Who ended a run before it was handed in.
    CancelledBy {
        /// The person who carried it out.
        Executor = "executor",
        /// The organisation that dispatched it.
        Org = "org",
    }
}

/// How a run was ended before it was handed in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cancel {
    /// By whom.
    pub by: CancelledBy,
    /// Why, in their words.
    pub reason: Option<String>,
    /// The step that was answered or skipped last.
    pub last_step_id: Option<String>,
}

/// The signature given when handing in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Signature {
    /// Address or id of the image.
    pub image: String,
    /// The name typed beside it.
    #[serde(default)]
    pub signer_name: Option<String>,
}

/// The state of a run. What it was dispatched for (template, asset, references) belongs to the store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The status that is stored; readers see [`Run::status_at`].
    pub status: RunStatus,
    /// When it was dispatched.
    pub created_at: Timestamp,
    /// When the link runs out; never, when absent.
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
    /// When a person opened it first.
    #[serde(default)]
    pub opened_at: Option<Timestamp>,
    /// When the first answer that was accepted was given: its arrival, or for one that waited on a phone its captured
    /// time ([`Origin::captured_at`], held between the opening of its session and its arrival).
    #[serde(default)]
    pub started_at: Option<Timestamp>,
    /// When it was handed in: when that arrived, however long it had waited on a phone.
    #[serde(default)]
    pub completed_at: Option<Timestamp>,
    /// When it was cancelled.
    #[serde(default)]
    pub cancelled_at: Option<Timestamp>,
    /// When it expired: the moment its link ran out.
    #[serde(default)]
    pub expired_at: Option<Timestamp>,
    /// How it was cancelled.
    #[serde(default)]
    pub cancel: Option<Cancel>,
    /// The member it is assigned to: the first who opened it, unless it was assigned before.
    #[serde(default)]
    pub assigned_to: Option<String>,
    /// Who opened it first.
    #[serde(default)]
    pub identity: Option<Identity>,
    /// Step id → answer. Answers of steps that are hidden for now are kept until the run is handed in.
    #[serde(default)]
    pub answers: BTreeMap<String, Answer>,
    /// The step that was answered or skipped last.
    #[serde(default)]
    pub last_step_id: Option<String>,
    /// How far it is.
    pub progress: Progress,
    /// The score, once handed in and where the template is scored.
    #[serde(default)]
    pub score: Option<Score>,
    /// The signature given when handing in.
    #[serde(default)]
    pub signature: Option<Signature>,
    /// Seconds of work: from [`Run::started_at`] (or, without an answer, the opening) until the handing in was given. That
    /// is dated as an answer is, by its captured time where it waited on a phone, so that the wait does not count.
    #[serde(default)]
    pub duration_seconds: Option<u64>,
    /// Accepted commands that arrived after expiry.
    #[serde(default)]
    pub late_ops: u32,
    /// Rises by one with every change.
    pub rev: u64,
}

impl Run {
    /// A run that was just dispatched.
    pub fn dispatched(template: &Template, created_at: Timestamp, expires_at: Option<Timestamp>) -> Self {
        Self::dispatched_with(template.initial_progress(), created_at, expires_at)
    }

    /// The same, where the template's [`Template::initial_progress`] is known and the template is not at hand.
    pub fn dispatched_with(progress: Progress, created_at: Timestamp, expires_at: Option<Timestamp>) -> Self {
        Self {
            status: RunStatus::Pending,
            created_at,
            expires_at,
            opened_at: None,
            started_at: None,
            completed_at: None,
            cancelled_at: None,
            expired_at: None,
            cancel: None,
            assigned_to: None,
            identity: None,
            answers: BTreeMap::new(),
            last_step_id: None,
            progress,
            score: None,
            signature: None,
            duration_seconds: None,
            late_ops: 0,
            rev: 0,
        }
    }

    /// The status that readers see: `expired` from the moment the link has run out, whether or not that is stored yet.
    pub fn status_at(&self, now: Timestamp) -> RunStatus {
        if self.status.is_active() && self.has_lapsed(now) { RunStatus::Expired } else { self.status }
    }

    /// Whether the link has run out. The moment of expiry itself is too late.
    pub fn has_lapsed(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|expires_at| now >= expires_at)
    }

    /// The ids of answers whose step is hidden for now. They come back when it is shown again.
    pub fn hidden_answers(&self, template: &Template) -> Vec<String> {
        let visibility = Visibility::of(template, &self.answers);
        self.answers.keys().filter(|step_id| !visibility.shows(step_id)).cloned().collect()
    }
}
