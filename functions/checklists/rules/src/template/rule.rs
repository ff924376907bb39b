//! What hangs on an answer: conditions, demanded evidence, points.

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use crate::word::words;

/// When a section or a step is shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Condition {
    /// One comparison with an earlier step.
    When {
        /// The comparison.
        when: When,
    },
    /// Several conditions together, 1 to 10.
    Group {
        /// All of them, or any.
        op: GroupOp,
        /// The conditions.
        rules: Vec<Condition>,
    },
}

words! {
    /// How the conditions of a group are joined.
    GroupOp {
        /// All hold.
        And = "and",
        /// At least one holds.
        Or = "or",
    }
}

/// A comparison with the answer of an earlier step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct When {
    /// Id of the earlier step.
    pub step: String,
    /// The comparison.
    pub op: Op,
    /// What it is compared with; absent for `answered` and `skipped`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Scalar>,
}

words! {
    /// A comparison.
    Op {
        /// The same value.
        Eq = "eq",
        /// Another value.
        Neq = "neq",
        /// Above.
        Gt = "gt",
        /// Below.
        Lt = "lt",
        /// At least.
        Gte = "gte",
        /// At most.
        Lte = "lte",
        /// A part of a text, or one of the chosen options.
        Contains = "contains",
        /// The opposite of `contains`.
        NotContains = "not_contains",
        /// There is an answer.
        Answered = "answered",
        /// The step was skipped explicitly.
        Skipped = "skipped",
    }
}

impl Op {
    /// Whether it looks at the state of a step and not at a value.
    pub const fn is_state(self) -> bool {
        matches!(self, Self::Answered | Self::Skipped)
    }
}

/// What an answer is compared with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Scalar {
    /// Yes or no.
    Boolean(bool),
    /// A number.
    Number(Number),
    /// A text, an option id, a date.
    Text(String),
}

impl Scalar {
    /// Reads a JSON scalar; `None` for null, arrays and objects.
    pub fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(flag) => Some(Self::Boolean(*flag)),
            Value::Number(number) => Some(Self::Number(number.clone())),
            Value::String(text) => Some(Self::Text(text.clone())),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }
}

/// How many photos a step takes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhotoRule {
    /// Fewest photos, 0 to 10. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<u32>,
    /// Most photos, 1 to 10. Default 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
    /// Stored, and without effect until drawing on photos exists. Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotate: Option<bool>,
}

impl PhotoRule {
    /// Most photos that any step takes.
    pub const MOST: u32 = 10;

    /// Fewest photos.
    pub fn min(&self) -> u32 {
        self.min.unwrap_or(0)
    }

    /// Most photos.
    pub fn max(&self) -> u32 {
        self.max.unwrap_or(Self::MOST)
    }
}

/// A comparison with a step's own answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelfWhen {
    /// The comparison.
    pub op: Op,
    /// What the answer is compared with; absent for `answered` and `skipped`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Scalar>,
}

/// Proof that an answer asks for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EvidenceRule {
    /// Which answers ask for it; every answer when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<SelfWhen>,
    /// Photos asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub photo: Option<PhotoRule>,
    /// A remark asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<NoteRule>,
}

/// A remark asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NoteRule {
    /// Fewest characters, 1 to 1,000. Default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_chars: Option<u32>,
}

/// What a step contributes to the score.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepScore {
    /// Points possible, 0 to 1,000. Default 1. Choices count the points of their options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<u32>,
    /// The answer of a boolean step that wins. Default true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_value: Option<bool>,
    /// Lowest number that wins; unbounded when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_min: Option<Number>,
    /// Highest number that wins; unbounded when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_max: Option<Number>,
    /// Failing this step fails the whole run. Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critical: Option<bool>,
}

impl StepScore {
    /// Points possible.
    pub fn points(&self) -> u32 {
        self.points.unwrap_or(1)
    }

    /// Whether failing this step fails the whole run.
    pub fn is_critical(&self) -> bool {
        self.critical.unwrap_or(false)
    }
}
