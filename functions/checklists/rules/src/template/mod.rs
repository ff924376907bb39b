//! The typed model of a template: a TDL 1.0 document.
//!
//! A [`Template`] is made from a caller's document by [`Template::from_document`], which checks everything. Reading one
//! back from the store with `serde` trusts it. Serialised, it is the canonical document: members in the order of the
//! schema (`schema/tdl-1.0.json`), absent members left out, a default that was not given not written.

mod config;
mod rule;
mod step;

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Number, Value};

pub use config::{
    BarcodeConfig, BarcodeFormat, BooleanConfig, ChoiceConfig, ChoiceOption, DatetimeConfig, DatetimeMode, InstructionConfig,
    MultiChoiceConfig, NumberConfig, PhotoConfig, PhotoSource, RatingConfig, SignatureConfig, SignerName, TextConfig, TextFormat,
};
pub use rule::{Condition, EvidenceRule, GroupOp, NoteRule, Op, PhotoRule, Scalar, SelfWhen, StepScore, When};
pub use step::{NotePolicy, PhotoOverlay, Step, StepKind, StepType};

use crate::progress::Progress;
use crate::word::words;

/// Members of a document that only the store may set; refused in a caller's document.
pub const STORE_MEMBERS: [&str; 5] = ["id", "v", "org_id", "created_at", "updated_at"];
/// The TDL version this crate reads and writes.
pub const TDL_VERSION: &str = "1.0";
/// The JSON Schema of TDL 1.0, for documentation and tools. [`Template::from_document`] judges as it does, and by the
/// rules that it cannot express.
pub const SCHEMA: &str = include_str!("../../schema/tdl-1.0.json");
/// Most sections of a template.
pub const MAX_SECTIONS: usize = 50;
/// Most steps of a section.
pub const MAX_STEPS_PER_SECTION: usize = 100;
/// Most steps of a template, over all sections.
pub const MAX_STEPS: usize = 300;
/// Largest template, in bytes of compact JSON (256 KiB).
pub const MAX_DOCUMENT_BYTES: usize = 256 * 1024;

/// A checklist template, whole and checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Template {
    /// The TDL version; absent means `1.0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tdl: Option<String>,
    /// 1 to 120 characters.
    pub name: String,
    /// Up to 2,000 characters, plain text or a little Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Up to 20 different tags of 1 to 40 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// Language of the plain strings; English when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// How the checklist behaves on the phone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<Settings>,
    /// Who may carry it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<Execution>,
    /// Whether and how a finished run is scored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scoring: Option<Scoring>,
    /// Up to 50 sections. One section without a title is a flat list. Absent and empty are told apart, as given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sections: Option<Vec<Section>>,
    /// Language → text key (`template.name`, `s-ab12.label`, …) → text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub translations: Option<BTreeMap<String, BTreeMap<String, String>>>,
    /// The author's own `x_…` members, kept as given.
    #[serde(flatten, deserialize_with = "extras")]
    pub extras: Map<String, Value>,
}

/// How a checklist behaves on the phone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Optional steps may be skipped explicitly. Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_skip: Option<bool>,
    /// Handing in asks for a signature. Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature_on_complete: Option<bool>,
    /// Labels and hints are read aloud. Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voice: Option<bool>,
    /// Estimated minutes, above 0 and up to 1,440.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub est_minutes: Option<Number>,
    /// IANA time zone in which dates are meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// Default [`Layout::OnePerScreen`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<Layout>,
    /// An answer may be changed until the run is handed in. Default true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_edit: Option<bool>,
    /// The phone shows a summary before handing in. Default true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review_before_submit: Option<bool>,
    /// Long edge of stored photos, 1,024 to 4,096 pixels. Default 2,048.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub photo_long_edge: Option<u32>,
}

words! {
    /// How steps are laid out on the phone.
    Layout {
        /// One step fills the screen.
        OnePerScreen = "one_per_screen",
        /// A section is one page.
        SectionPerScreen = "section_per_screen",
    }
}

/// Who may carry a run out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Execution {
    /// Default [`Scope::Any`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// Default [`IdentityRequired::None`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity_required: Option<IdentityRequired>,
    /// What an external executor has to state; the name alone when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_fields: Option<Vec<ExternalField>>,
}

words! {
    /// Who may open a run's link.
    Scope {
        /// Whoever holds the link.
        Any = "any",
        /// Members of the organisation.
        Org = "org",
        /// The member the run is assigned to.
        Assigned = "assigned",
    }
}

words! {
    /// How an executor has to identify.
    IdentityRequired {
        /// Not at all.
        None = "none",
        /// By stating who they are.
        External = "external",
        /// By signing in as a member.
        Member = "member",
    }
}

words! {
    /// What an external executor states about themselves.
    ExternalField {
        /// Their name.
        Name = "name",
        /// Their telephone number.
        Phone = "phone",
        /// Their e-mail address.
        Email = "email",
    }
}

/// Whether and how a finished run is scored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scoring {
    /// Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Percent from which a run passes, 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_percent: Option<Number>,
    /// The executor sees the score on the receipt. Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub show_to_executor: Option<bool>,
}

/// A group of steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Section {
    /// `g-` and 3 to 12 lower-case letters or digits.
    pub id: String,
    /// Up to 120 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Up to 1,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// When the section is shown; always when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Condition>,
    /// Percent below which the whole run fails, 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_percent: Option<Number>,
    /// Up to 100 steps.
    pub steps: Vec<Step>,
    /// The author's own `x_…` members, kept as given.
    #[serde(flatten, deserialize_with = "extras")]
    pub extras: Map<String, Value>,
}

impl Template {
    /// The sections, none when the document has none.
    pub fn sections(&self) -> &[Section] {
        self.sections.as_deref().unwrap_or_default()
    }

    /// Every step with its section, in the order of the document.
    pub fn steps(&self) -> impl Iterator<Item = (&Section, &Step)> {
        self.sections().iter().flat_map(|section| section.steps.iter().map(move |step| (section, step)))
    }

    /// The step with this id.
    pub fn step(&self, id: &str) -> Option<&Step> {
        self.steps().map(|(_, step)| step).find(|step| step.id == id)
    }

    /// Number of steps over all sections, instructions included.
    pub fn step_count(&self) -> usize {
        self.sections().iter().map(|section| section.steps.len()).sum()
    }

    /// The author's estimate in minutes, as given.
    pub fn est_minutes(&self) -> Option<&Number> {
        self.settings.as_ref()?.est_minutes.as_ref()
    }

    /// Whether a run of this template could ever show a step; without one it cannot be dispatched.
    ///
    /// Conditions look back only, so the first step of a valid template has none and neither has its section: any step
    /// at all is enough. A document that was never checked is held to that same rule.
    pub fn has_showable_step(&self) -> bool {
        self.steps().any(|(section, step)| section.condition.is_none() && step.condition.is_none())
    }

    /// The progress of a run on which nothing is answered.
    pub fn initial_progress(&self) -> Progress {
        Progress::of(self, &BTreeMap::new())
    }

    /// The canonical document.
    pub fn to_document(&self) -> Value {
        serde_json::to_value(self).expect("a template has string keys only")
    }

    /// Whether optional steps may be skipped explicitly.
    pub fn allows_skip(&self) -> bool {
        self.settings.as_ref().and_then(|settings| settings.allow_skip).unwrap_or(false)
    }

    /// Whether an answer may be changed before the run is handed in.
    pub fn allows_edit(&self) -> bool {
        self.settings.as_ref().and_then(|settings| settings.allow_edit).unwrap_or(true)
    }

    /// Whether handing in asks for a signature.
    pub fn wants_signature(&self) -> bool {
        self.settings.as_ref().and_then(|settings| settings.signature_on_complete).unwrap_or(false)
    }

    /// Whether a finished run is scored.
    pub fn is_scored(&self) -> bool {
        self.scoring.as_ref().and_then(|scoring| scoring.enabled).unwrap_or(false)
    }
}

/// Whether a member name is the author's own: `x_` and 1 to 40 lower-case letters, digits or underscores.
pub(crate) fn is_extra(name: &str) -> bool {
    name.strip_prefix("x_").is_some_and(|rest| {
        (1..=40).contains(&rest.len()) && rest.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    })
}

/// Reads the author's own members of a stored document and drops whatever else stands beside them.
pub(crate) fn extras<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Value>, D::Error> {
    let mut members = Map::deserialize(deserializer)?;
    members.retain(|name, _| is_extra(name));
    Ok(members)
}
