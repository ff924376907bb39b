//! Why a command is refused.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{EXTENSION_WINDOW, IdentityMode, RunStatus};
use crate::answer::{Answer, Fault, Proof};
use crate::template::Step;
use crate::word::words;

words! {
    /// Why a command is refused; stable, for programs to branch on.
    RefusalCode {
        /// The link has run out.
        RunExpired = "run_expired",
        /// The run was cancelled.
        RunCancelled = "run_cancelled",
        /// The run was handed in, which is final.
        RunCompleted = "run_completed",
        /// The template has no such step.
        StepNotFound = "step_not_found",
        /// The answers so far hide the step.
        StepHidden = "step_hidden",
        /// The answer cannot be changed any more.
        StepLocked = "step_locked",
        /// The step has to be answered, or the template does not allow skipping.
        SkipNotAllowed = "skip_not_allowed",
        /// The step has no answer that a photo could belong to.
        PhotoNotFound = "photo_not_found",
        /// The answer asks for photos or a remark.
        EvidenceMissing = "evidence_missing",
        /// Something is missing for handing in; the details list it.
        IncompleteRun = "incomplete_run",
        /// Somebody else has changed the answer meanwhile; the details hold both.
        AnswerConflict = "answer_conflict",
        /// A value is not what is taken.
        InvalidArgument = "invalid_argument",
        /// The template wants to know who carries the run out.
        IdentityRequired = "identity_required",
        /// The run is another person's.
        NotAssigned = "not_assigned",
        /// The run cannot be given a new end.
        CannotExtend = "cannot_extend",
        /// The link has not run out.
        NotExpired = "not_expired",
    }
}

/// Why a command is refused. The run is as it was.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Refusal {
    /// For programs.
    #[serde(rename = "error")]
    pub code: RefusalCode,
    /// For people: what to do.
    pub message: String,
    /// More for programs; empty where there is nothing more to say.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

/// Something that is missing for handing in.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Missing {
    /// The step; absent for the signature under the whole run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_id: Option<String>,
    /// Its label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What is missing.
    #[serde(flatten)]
    pub need: Need,
}

/// What is missing.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "need", rename_all = "snake_case")]
pub enum Need {
    /// An answer.
    Answer,
    /// Stored photos.
    Photos {
        /// Fewest photos.
        min: u32,
        /// Photos stored.
        have: u32,
    },
    /// A longer remark.
    Note {
        /// Fewest characters.
        min_chars: u32,
        /// Characters there are.
        have: u32,
    },
    /// The signature under the whole run.
    Signature,
}

impl From<Proof> for Need {
    fn from(proof: Proof) -> Self {
        match proof {
            Proof::Photos { min, have } => Self::Photos { min, have },
            Proof::Note { min_chars, have } => Self::Note { min_chars, have },
        }
    }
}

impl Refusal {
    fn new(code: RefusalCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: Map::new() }
    }

    fn with(mut self, name: &str, value: impl Serialize) -> Self {
        let value = serde_json::to_value(value).expect("details have string keys only");
        self.details.insert(name.to_owned(), value);
        self
    }

    /// The run is closed: `status` is not `pending` or `in_progress`.
    pub(super) fn closed(status: RunStatus) -> Self {
        match status {
            RunStatus::Completed => Self::new(RefusalCode::RunCompleted, "This run was handed in and can no longer be changed."),
            RunStatus::Cancelled => Self::new(RefusalCode::RunCancelled, "This run was cancelled."),
            RunStatus::Expired | RunStatus::Pending | RunStatus::InProgress => {
                Self::new(RefusalCode::RunExpired, "The link of this run has expired. Ask for a new one.")
            }
        }
    }

    pub(super) fn step_not_found() -> Self {
        Self::new(RefusalCode::StepNotFound, "This checklist has no step with that id.")
    }

    pub(super) fn step_hidden(step: &Step) -> Self {
        Self::new(RefusalCode::StepHidden, "The answers so far hide this step.").with("step_id", &step.id)
    }

    pub(super) fn step_locked(step: &Step) -> Self {
        Self::new(RefusalCode::StepLocked, "An answer of this checklist cannot be changed once given.").with("step_id", &step.id)
    }

    pub(super) fn step_must_be_answered(step: &Step) -> Self {
        Self::new(RefusalCode::SkipNotAllowed, "This step has to be answered.").with("step_id", &step.id)
    }

    pub(super) fn template_forbids_skipping(step: &Step) -> Self {
        Self::new(RefusalCode::SkipNotAllowed, "Steps of this checklist cannot be skipped.").with("step_id", &step.id)
    }

    pub(super) fn photo_without_answer(step: &Step) -> Self {
        Self::new(RefusalCode::PhotoNotFound, "Answer the step before its photos are added.").with("step_id", &step.id)
    }

    pub(super) fn no_photos_to_remove(step: &Step) -> Self {
        Self::new(RefusalCode::PhotoNotFound, "The step has no answer, and so no photos.").with("step_id", &step.id)
    }

    pub(super) fn unaccepted(step: &Step, fault: Fault) -> Self {
        match fault {
            Fault::Unfit { member, message } => Self::invalid(member, message).with("step_id", &step.id),
            Fault::EvidenceMissing(proofs) => {
                let message = proofs.iter().map(Proof::sentence).collect::<Vec<_>>().join(" ");
                Self::new(RefusalCode::EvidenceMissing, message).with("step_id", &step.id).with("missing", proofs)
            }
        }
    }

    pub(super) fn invalid(argument: &str, message: impl Into<String>) -> Self {
        let message = message.into();
        let errors = json!([{ "path": argument, "message": message }]);
        Self::new(RefusalCode::InvalidArgument, message).with("errors", errors)
    }

    pub(super) fn incomplete(missing: &[Missing]) -> Self {
        let message = match missing.len() {
            1 => "1 thing is missing before this run can be handed in.".to_owned(),
            count => format!("{count} things are missing before this run can be handed in."),
        };
        Self::new(RefusalCode::IncompleteRun, message).with("missing", missing)
    }

    pub(super) fn answered_elsewhere(step: &Step, current: Option<&Answer>, given: &Value, seen_rev: u64) -> Self {
        Self::new(RefusalCode::AnswerConflict, "This step was answered elsewhere meanwhile. Choose which answer stands.")
            .with("step_id", &step.id)
            .with("seen_rev", seen_rev)
            .with("current_rev", current.map_or(0, |answer| answer.rev))
            .with("current", current)
            .with("given", given)
    }

    pub(super) fn identity_required(mode: IdentityMode, fields: &[&str]) -> Self {
        let message = match mode {
            IdentityMode::Member => "Sign in as a member of the organisation to open this run.".to_owned(),
            _ => format!("State your {} to open this run.", fields.join(", ")),
        };
        Self::new(RefusalCode::IdentityRequired, message).with("mode", mode).with("fields", fields)
    }

    pub(super) fn not_assigned() -> Self {
        Self::new(RefusalCode::NotAssigned, "This run is assigned to somebody else.")
    }

    pub(super) fn withdrawn_for_good() -> Self {
        Self::new(RefusalCode::CannotExtend, "The organisation withdrew this run. Dispatch a new one.")
    }

    pub(super) fn ended_too_long_ago(ended_at: Timestamp) -> Self {
        let days = EXTENSION_WINDOW.as_hours() / 24;
        Self::new(RefusalCode::CannotExtend, format!("This run ended more than {days} days ago. Dispatch a new one."))
            .with("ended_at", ended_at)
    }

    pub(super) fn not_expired(expires_at: Option<Timestamp>) -> Self {
        Self::new(RefusalCode::NotExpired, "The link of this run has not expired.").with("expires_at", expires_at)
    }
}

impl Missing {
    pub(super) fn of_step(step: &Step, need: Need) -> Self {
        Self { step_id: Some(step.id.clone()), label: Some(step.label.clone()), need }
    }

    pub(super) const fn signature() -> Self {
        Self { step_id: None, label: None, need: Need::Signature }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for Refusal {}
