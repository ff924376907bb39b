//! What an accepted command did.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::{Cancel, RunStatus};
use crate::answer::Answer;
use crate::progress::Progress;
use crate::score::Score;
use crate::template::StepType;

/// What an accepted command did: what the store has to write, and what the world is told.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The status that readers saw before.
    pub status_before: RunStatus,
    /// The status that readers see now.
    pub status_after: RunStatus,
    /// Steps whose answer was written: `run.answers` holds it.
    pub written: Vec<String>,
    /// Steps whose answer was removed.
    pub removed: Vec<String>,
    /// Whether anything changed. Where false, the command was a repeat: answer as the first time and write nothing.
    pub changed: bool,
    /// What happened, in order.
    pub events: Vec<Event>,
}

/// Something that happened to a run, as webhooks report it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Event {
    /// A step was answered, or its answer changed its value. Once for each value.
    StepCompleted {
        /// The step.
        step_id: String,
        /// Its label.
        step_label: String,
        /// Its type.
        step_type: StepType,
        /// The answer, with photos and place.
        answer: Box<Answer>,
        /// How far the run is now.
        progress: Progress,
    },
    /// A step was skipped explicitly.
    StepSkipped {
        /// The step.
        step_id: String,
        /// Its label.
        step_label: String,
        /// Its type.
        step_type: StepType,
        /// How far the run is now.
        progress: Progress,
    },
    /// The run was handed in.
    RunCompleted {
        /// Every answer of a shown step.
        answers: BTreeMap<String, Answer>,
        /// How far it was.
        progress: Progress,
        /// The score, where the template is scored.
        score: Option<Score>,
        /// When the handing in arrived.
        completed_at: Timestamp,
        /// Seconds of work, without the time that the handing in waited on a phone; see [`super::Run::duration_seconds`].
        duration_seconds: Option<u64>,
        /// A `run.expired` had gone out before: the run was handed in on a phone without signal, in time.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        after_expiry: bool,
    },
    /// The run was cancelled.
    RunCancelled {
        /// The answers so far.
        answers: BTreeMap<String, Answer>,
        /// How far it was.
        progress: Progress,
        /// By whom, why, and the last step.
        #[serde(flatten)]
        cancel: Cancel,
        /// When.
        cancelled_at: Timestamp,
    },
    /// The link ran out.
    RunExpired {
        /// When it ran out.
        expires_at: Timestamp,
        /// How far the run was.
        progress: Progress,
    },
}

impl Event {
    /// Every event's name.
    pub const NAMES: [&'static str; 5] = ["step.completed", "step.skipped", "run.completed", "run.cancelled", "run.expired"];

    /// The event's name, such as `step.completed`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::StepCompleted { .. } => "step.completed",
            Self::StepSkipped { .. } => "step.skipped",
            Self::RunCompleted { .. } => "run.completed",
            Self::RunCancelled { .. } => "run.cancelled",
            Self::RunExpired { .. } => "run.expired",
        }
    }
}
