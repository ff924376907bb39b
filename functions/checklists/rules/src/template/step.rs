//! A step: one thing to do or to answer.

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use super::config::{
    BarcodeConfig, BooleanConfig, ChoiceConfig, ChoiceOption, DatetimeConfig, InstructionConfig, MultiChoiceConfig, NumberConfig,
    PhotoConfig, RatingConfig, SignatureConfig, TextConfig,
};
use super::rule::{Condition, EvidenceRule, PhotoRule, StepScore};
use crate::word::words;

/// One thing to do or to answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// `s-` and 3 to 12 lower-case letters or digits.
    pub id: String,
    /// The type, with what is set for it.
    pub kind: StepKind,
    /// 1 to 300 characters.
    pub label: String,
    /// Up to 1,000 characters.
    pub hint: Option<String>,
    /// Blocks handing in until answered, where the step is shown. Default false.
    pub required: Option<bool>,
    /// Photos beside the answer. Default none.
    pub photo: Option<PhotoOverlay>,
    /// The place is noted when the step is done. Default false.
    pub geo: Option<bool>,
    /// When the step is shown; always when absent.
    pub condition: Option<Condition>,
    /// Default [`NotePolicy::Off`].
    pub note: Option<NotePolicy>,
    /// Up to 5 rules for proof that an answer asks for.
    pub evidence: Option<Vec<EvidenceRule>>,
    /// What the step contributes to the score.
    pub score: Option<StepScore>,
    /// The author's own `x_…` members, kept as given.
    pub extras: Map<String, Value>,
}

words! {
    /// The type of a step.
    StepType {
        /// Yes or no.
        Boolean = "boolean",
        /// One option.
        Choice = "choice",
        /// Several options.
        MultiChoice = "multi_choice",
        /// A text.
        Text = "text",
        /// A number.
        Number = "number",
        /// A mark on a scale.
        Rating = "rating",
        /// Photos.
        Photo = "photo",
        /// A signature.
        Signature = "signature",
        /// Something to read.
        Instruction = "instruction",
        /// A scanned code.
        Barcode = "barcode",
        /// A day, a moment or a time of day.
        Datetime = "datetime",
    }
}

/// The type of a step, with its configuration as given.
#[derive(Clone, Debug, PartialEq)]
pub enum StepKind {
    /// Yes or no.
    Boolean(Option<BooleanConfig>),
    /// One option.
    Choice(ChoiceConfig),
    /// Several options.
    MultiChoice(MultiChoiceConfig),
    /// A text.
    Text(Option<TextConfig>),
    /// A number.
    Number(Option<NumberConfig>),
    /// A mark on a scale.
    Rating(Option<RatingConfig>),
    /// Photos.
    Photo(Option<PhotoConfig>),
    /// A signature.
    Signature(Option<SignatureConfig>),
    /// Something to read.
    Instruction(Option<InstructionConfig>),
    /// A scanned code.
    Barcode(Option<BarcodeConfig>),
    /// A day, a moment or a time of day.
    Datetime(Option<DatetimeConfig>),
}

/// Photos beside the answer of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum PhotoOverlay {
    /// Written `false`.
    Off,
    /// So many.
    Rule(PhotoRule),
}

words! {
    /// Whether a free remark may stand beside the answer.
    NotePolicy {
        /// No.
        Off = "off",
        /// Yes.
        Optional = "optional",
    }
}

impl StepKind {
    /// The type alone.
    pub const fn step_type(&self) -> StepType {
        match self {
            Self::Boolean(_) => StepType::Boolean,
            Self::Choice(_) => StepType::Choice,
            Self::MultiChoice(_) => StepType::MultiChoice,
            Self::Text(_) => StepType::Text,
            Self::Number(_) => StepType::Number,
            Self::Rating(_) => StepType::Rating,
            Self::Photo(_) => StepType::Photo,
            Self::Signature(_) => StepType::Signature,
            Self::Instruction(_) => StepType::Instruction,
            Self::Barcode(_) => StepType::Barcode,
            Self::Datetime(_) => StepType::Datetime,
        }
    }

    /// The options of a choice; none for the other types.
    pub fn options(&self) -> &[ChoiceOption] {
        match self {
            Self::Choice(config) => &config.options,
            Self::MultiChoice(config) => &config.options,
            _ => &[],
        }
    }

    pub(crate) fn options_mut(&mut self) -> &mut [ChoiceOption] {
        match self {
            Self::Choice(config) => &mut config.options,
            Self::MultiChoice(config) => &mut config.options,
            _ => &mut [],
        }
    }

    fn config(&self) -> Option<Value> {
        fn document(config: impl Serialize) -> Value {
            serde_json::to_value(config).expect("a configuration has string keys only")
        }
        match self {
            Self::Boolean(config) => config.as_ref().map(document),
            Self::Choice(config) => Some(document(config)),
            Self::MultiChoice(config) => Some(document(config)),
            Self::Text(config) => config.as_ref().map(document),
            Self::Number(config) => config.as_ref().map(document),
            Self::Rating(config) => config.as_ref().map(document),
            Self::Photo(config) => config.as_ref().map(document),
            Self::Signature(config) => config.as_ref().map(document),
            Self::Instruction(config) => config.as_ref().map(document),
            Self::Barcode(config) => config.as_ref().map(document),
            Self::Datetime(config) => config.as_ref().map(document),
        }
    }

    fn from_parts(step_type: StepType, config: Option<Value>) -> Result<Self, serde_json::Error> {
        // `Option<T>` reads null as absent, and a choice without options fails for want of them.
        let config = config.unwrap_or(Value::Null);
        fn read<T: serde::de::DeserializeOwned>(config: Value) -> Result<T, serde_json::Error> {
            serde_json::from_value(config)
        }
        Ok(match step_type {
            StepType::Boolean => Self::Boolean(read(config)?),
            StepType::Choice => Self::Choice(read(config)?),
            StepType::MultiChoice => Self::MultiChoice(read(config)?),
            StepType::Text => Self::Text(read(config)?),
            StepType::Number => Self::Number(read(config)?),
            StepType::Rating => Self::Rating(read(config)?),
            StepType::Photo => Self::Photo(read(config)?),
            StepType::Signature => Self::Signature(read(config)?),
            StepType::Instruction => Self::Instruction(read(config)?),
            StepType::Barcode => Self::Barcode(read(config)?),
            StepType::Datetime => Self::Datetime(read(config)?),
        })
    }
}

impl Step {
    /// The type.
    pub const fn step_type(&self) -> StepType {
        self.kind.step_type()
    }

    /// Whether the author marked it as required.
    pub fn is_required(&self) -> bool {
        self.required.unwrap_or(false)
    }

    /// Whether it counts in the progress: everything but an instruction.
    pub fn wants_answer(&self) -> bool {
        self.step_type() != StepType::Instruction
    }

    /// Whether a run cannot be handed in while the step is shown and not done. A required instruction has to be
    /// acknowledged, unless its author took the acknowledgement away.
    pub fn blocks_completion(&self) -> bool {
        let can_be_done = match &self.kind {
            StepKind::Instruction(Some(config)) => config.acknowledge.unwrap_or(true),
            _ => true,
        };
        self.is_required() && can_be_done
    }

    /// Photos beside the answer, if any are taken.
    pub fn photo_rule(&self) -> Option<&PhotoRule> {
        match &self.photo {
            Some(PhotoOverlay::Rule(rule)) => Some(rule),
            Some(PhotoOverlay::Off) | None => None,
        }
    }

    /// The rules for proof that an answer asks for.
    pub fn evidence(&self) -> &[EvidenceRule] {
        self.evidence.as_deref().unwrap_or_default()
    }
}

impl Serialize for PhotoOverlay {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => serializer.serialize_bool(false),
            Self::Rule(rule) => rule.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for PhotoOverlay {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Bool(false) => Ok(Self::Off),
            rule => serde_json::from_value(rule).map(Self::Rule).map_err(D::Error::custom),
        }
    }
}

impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("type", &self.step_type())?;
        map.serialize_entry("label", &self.label)?;
        entry(&mut map, "hint", self.hint.as_ref())?;
        entry(&mut map, "required", self.required.as_ref())?;
        entry(&mut map, "photo", self.photo.as_ref())?;
        entry(&mut map, "geo", self.geo.as_ref())?;
        entry(&mut map, "condition", self.condition.as_ref())?;
        entry(&mut map, "note", self.note.as_ref())?;
        entry(&mut map, "evidence", self.evidence.as_ref())?;
        entry(&mut map, "score", self.score.as_ref())?;
        entry(&mut map, "config", self.kind.config().as_ref())?;
        for (name, value) in &self.extras {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

fn entry<M: SerializeMap, T: Serialize>(map: &mut M, name: &str, value: Option<&T>) -> Result<(), M::Error> {
    value.map_or(Ok(()), |value| map.serialize_entry(name, value))
}

/// A step as it is written, before its configuration is read by its type.
#[derive(Deserialize)]
struct WrittenStep {
    id: String,
    r#type: StepType,
    label: String,
    hint: Option<String>,
    required: Option<bool>,
    photo: Option<PhotoOverlay>,
    geo: Option<bool>,
    condition: Option<Condition>,
    note: Option<NotePolicy>,
    evidence: Option<Vec<EvidenceRule>>,
    score: Option<StepScore>,
    config: Option<Value>,
    #[serde(flatten, deserialize_with = "super::extras")]
    extras: Map<String, Value>,
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = WrittenStep::deserialize(deserializer)?;
        Ok(Self {
            id: written.id,
            kind: StepKind::from_parts(written.r#type, written.config).map_err(D::Error::custom)?,
            label: written.label,
            hint: written.hint,
            required: written.required,
            photo: written.photo,
            geo: written.geo,
            condition: written.condition,
            note: written.note,
            evidence: written.evidence,
            score: written.score,
            extras: written.extras,
        })
    }
}
