//! The schema, from a step down to its options and rules.

use serde_json::Value;

use super::ids::IdKind;
use super::reader::{Extras, Object, any_number, distinct, flag, list, text, whole, word, wrong_type};
use super::report::{Path, Report};
use super::structure::id;
use crate::decimal;
use crate::template::{
    BarcodeConfig, BooleanConfig, ChoiceConfig, ChoiceOption, Condition, DatetimeConfig, EvidenceRule, InstructionConfig,
    MultiChoiceConfig, NoteRule, NumberConfig, Op, PhotoConfig, PhotoOverlay, PhotoRule, RatingConfig, Scalar, SelfWhen, SignatureConfig,
    Step, StepKind, StepScore, StepType, TextConfig, When,
};

/// A step as far as it is sound.
pub(super) struct DraftStep {
    /// Holds what is sound. Where the type is not known, its kind says nothing.
    step: Step,
    /// The type, where it is known.
    pub(super) step_type: Option<StepType>,
    /// Everything in the configuration is sound.
    pub(super) config_sound: bool,
    /// Every option is known, or the type has none.
    pub(super) options_sound: bool,
    /// It carries a score, or an option carries points, sound or not.
    pub(super) has_points: bool,
    /// Place in its list.
    pub(super) index: usize,
}

impl DraftStep {
    pub(super) fn step(&self) -> &Step {
        &self.step
    }

    pub(super) fn into_step(self) -> Step {
        self.step
    }
}

/// Reads a step; `None` where it is no object.
pub(super) fn read(value: &Value, path: &Path<'_>, index: usize, report: &mut Report) -> Option<DraftStep> {
    const MEMBERS: [&str; 12] =
        ["id", "type", "label", "hint", "required", "photo", "geo", "condition", "note", "evidence", "score", "config"];
    let object = Object::read(value, path, &MEMBERS, Extras::Allowed, report)?;
    let id = object.get("id", report, id(IdKind::Step)).unwrap_or_default();
    let step_type: Option<StepType> = object.require("type", report, word);
    let label = object.require("label", report, text(1, 300)).unwrap_or_default();
    let hint = object.get("hint", report, text(0, 1_000));
    let required = object.get("required", report, flag);
    let photo = object.get("photo", report, overlay(step_type));
    let geo = object.get("geo", report, flag);
    let condition = object.get("condition", report, condition);
    let note = object.get("note", report, word);
    let evidence = object.get("evidence", report, list(0, 5, evidence_rule));
    let score = object.get("score", report, step_score);

    let before = report.count();
    let kind = kind(&object, step_type, report);
    let config_sound = report.count() == before;
    let options_sound = match step_type {
        None => !object.has("config"),
        // A list of options is read whole or not at all.
        Some(StepType::Choice | StepType::MultiChoice) => config_sound || kind.as_ref().is_some_and(|kind| !kind.options().is_empty()),
        Some(_) => true,
    };
    let config = object.members.get("config");
    let options = config.and_then(|config| config.get("options")).and_then(Value::as_array);
    let has_points = object.has("score") || options.is_some_and(|options| options.iter().any(|option| option.get("points").is_some()));
    Some(DraftStep {
        step: Step {
            id,
            kind: kind.unwrap_or(StepKind::Instruction(None)),
            label,
            hint,
            required,
            photo,
            geo,
            condition,
            note,
            evidence,
            score,
            extras: object.extras(),
        },
        step_type,
        config_sound,
        options_sound,
        has_points,
        index,
    })
}

fn kind(object: &Object<'_, '_>, step_type: Option<StepType>, report: &mut Report) -> Option<StepKind> {
    Some(match step_type? {
        StepType::Boolean => StepKind::Boolean(object.get("config", report, boolean)),
        StepType::Choice => StepKind::Choice(object.require("config", report, choice).unwrap_or_default()),
        StepType::MultiChoice => StepKind::MultiChoice(object.require("config", report, multi_choice).unwrap_or_default()),
        StepType::Text => StepKind::Text(object.get("config", report, text_field)),
        StepType::Number => StepKind::Number(object.get("config", report, number)),
        StepType::Rating => StepKind::Rating(object.get("config", report, rating)),
        StepType::Photo => StepKind::Photo(object.get("config", report, photo)),
        StepType::Signature => StepKind::Signature(object.get("config", report, signature)),
        StepType::Instruction => StepKind::Instruction(object.get("config", report, instruction)),
        StepType::Barcode => StepKind::Barcode(object.get("config", report, barcode)),
        StepType::Datetime => StepKind::Datetime(object.get("config", report, datetime)),
    })
}

fn overlay(step_type: Option<StepType>) -> impl super::reader::Read<PhotoOverlay> {
    move |value: &Value, path: &Path<'_>, report: &mut Report| match value {
        Value::Bool(false) => Some(PhotoOverlay::Off),
        _ if step_type == Some(StepType::Photo) => {
            report.add(path, "const", || {
                "Set \"photo\" to false or leave it out; a photo step says in \"config\" how many it takes.".to_owned()
            });
            None
        }
        Value::Object(_) => photo_rule(value, path, report).map(PhotoOverlay::Rule),
        _ => {
            report.add(path, "oneOf", || "Set \"photo\" to false, or to an object such as {\"min\": 1, \"max\": 3}.".to_owned());
            None
        }
    }
}

fn photo_rule(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<PhotoRule> {
    let object = Object::read(value, path, &["min", "max", "annotate"], Extras::Refused, report)?;
    let before = report.count();
    let rule = PhotoRule {
        min: object.get("min", report, whole(0, PhotoRule::MOST)),
        max: object.get("max", report, whole(1, PhotoRule::MOST)),
        annotate: object.get("annotate", report, flag),
    };
    // A bound that is faulty must not be taken for its default by the rule that compares the two.
    (report.count() == before).then_some(rule)
}

/// Reads a condition; `None` where any part of it is faulty.
pub(super) fn condition(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<Condition> {
    let before = report.count();
    let has = |name: &str| value.get(name).is_some();
    let condition = if has("when") {
        let object = Object::read(value, path, &["when"], Extras::Refused, report)?;
        Condition::When { when: object.require("when", report, when)? }
    } else if has("op") || has("rules") {
        let object = Object::read(value, path, &["op", "rules"], Extras::Refused, report)?;
        let op = object.require("op", report, word);
        let rules = object.require("rules", report, list(1, 10, condition));
        Condition::Group { op: op?, rules: rules? }
    } else if value.is_object() {
        report.add(path, "oneOf", || {
            "Write the condition as {\"when\": {step, op, value}} or as {\"op\": \"and\" or \"or\", \"rules\": [...]}.".to_owned()
        });
        return None;
    } else {
        wrong_type(value, path, "an object", report);
        return None;
    };
    (report.count() == before).then_some(condition)
}

fn when(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<When> {
    let object = Object::read(value, path, &["step", "op", "value"], Extras::Refused, report)?;
    let step = object.require("step", report, id(IdKind::Step));
    let op: Option<Op> = object.require("op", report, word);
    let value = object.get("value", report, scalar);
    match op {
        Some(op) if op.is_state() && object.has("value") => {
            report.add(path, "not", || format!("Leave \"value\" out; {op} compares with nothing."));
        }
        Some(op) if !op.is_state() && !object.has("value") => {
            report.add(path, "required", || format!("Add \"value\"; {op} compares with it."));
        }
        _ => {}
    }
    Some(When { step: step?, op: op?, value })
}

fn scalar(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<Scalar> {
    let scalar = Scalar::of(value);
    if scalar.is_none() {
        wrong_type(value, path, "a string, a number, true or false", report);
    }
    scalar
}

fn evidence_rule(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<EvidenceRule> {
    let object = Object::read(value, path, &["when", "photo", "note"], Extras::Refused, report)?;
    if object.members.is_empty() {
        report.add(path, "minProperties", || "Say what is asked for: add \"photo\", \"note\" or both.".to_owned());
    } else if !object.has("photo") && !object.has("note") {
        report.add(path, "anyOf", || "Say what is asked for: add \"photo\", \"note\" or both.".to_owned());
    }
    Some(EvidenceRule {
        when: object.get("when", report, self_when),
        photo: object.get("photo", report, photo_rule),
        note: object.get("note", report, note_rule),
    })
}

fn self_when(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<SelfWhen> {
    let object = Object::read(value, path, &["op", "value"], Extras::Refused, report)?;
    let before = report.count();
    let op = object.require("op", report, word);
    let value = object.get("value", report, scalar);
    if report.count() > before {
        return None;
    }
    Some(SelfWhen { op: op?, value })
}

fn note_rule(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<NoteRule> {
    let object = Object::read(value, path, &["min_chars"], Extras::Refused, report)?;
    Some(NoteRule { min_chars: object.get("min_chars", report, whole(1, 1_000)) })
}

fn step_score(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<StepScore> {
    const MEMBERS: [&str; 5] = ["points", "pass_value", "pass_min", "pass_max", "critical"];
    let object = Object::read(value, path, &MEMBERS, Extras::Refused, report)?;
    Some(StepScore {
        points: object.get("points", report, whole(0, 1_000)),
        pass_value: object.get("pass_value", report, flag),
        pass_min: object.get("pass_min", report, any_number),
        pass_max: object.get("pass_max", report, any_number),
        critical: object.get("critical", report, flag),
    })
}

fn option(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<ChoiceOption> {
    const MEMBERS: [&str; 5] = ["id", "label", "points", "fail", "exclude"];
    let object = Object::read(value, path, &MEMBERS, Extras::Refused, report)?;
    Some(ChoiceOption {
        id: object.get("id", report, id(IdKind::Option)).unwrap_or_default(),
        label: object.require("label", report, text(1, 120)).unwrap_or_default(),
        points: object.get("points", report, whole(0, 1_000)),
        fail: object.get("fail", report, flag),
        exclude: object.get("exclude", report, flag),
    })
}

fn boolean(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<BooleanConfig> {
    let object = Object::read(value, path, &["true_label", "false_label"], Extras::Refused, report)?;
    Some(BooleanConfig {
        true_label: object.get("true_label", report, text(1, 60)),
        false_label: object.get("false_label", report, text(1, 60)),
    })
}

fn choice(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<ChoiceConfig> {
    let object = Object::read(value, path, &["options"], Extras::Refused, report)?;
    Some(ChoiceConfig { options: object.require("options", report, list(2, 50, option)).unwrap_or_default() })
}

fn multi_choice(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<MultiChoiceConfig> {
    let object = Object::read(value, path, &["options", "min_selected", "max_selected"], Extras::Refused, report)?;
    Some(MultiChoiceConfig {
        options: object.require("options", report, list(1, 50, option)).unwrap_or_default(),
        min_selected: object.get("min_selected", report, whole(0, 50)),
        max_selected: object.get("max_selected", report, whole(1, 50)),
    })
}

fn text_field(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<TextConfig> {
    const MEMBERS: [&str; 6] = ["multiline", "min_length", "max_length", "format", "pattern", "placeholder"];
    let object = Object::read(value, path, &MEMBERS, Extras::Refused, report)?;
    Some(TextConfig {
        multiline: object.get("multiline", report, flag),
        min_length: object.get("min_length", report, whole(0, 5_000)),
        max_length: object.get("max_length", report, whole(1, 5_000)),
        format: object.get("format", report, word),
        pattern: object.get("pattern", report, text(0, 200)),
        placeholder: object.get("placeholder", report, text(0, 120)),
    })
}

fn number(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<NumberConfig> {
    let object = Object::read(value, path, &["min", "max", "decimals", "unit"], Extras::Refused, report)?;
    Some(NumberConfig {
        min: object.get("min", report, any_number),
        max: object.get("max", report, any_number),
        decimals: object.get("decimals", report, whole(0, 6)),
        unit: object.get("unit", report, text(0, 16)),
    })
}

fn rating(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<RatingConfig> {
    let object = Object::read(value, path, &["min", "max", "min_label", "max_label"], Extras::Refused, report)?;
    let lowest = |value: &Value, path: &Path<'_>, report: &mut Report| {
        let lowest = value.as_number().and_then(decimal::whole).and_then(|lowest| u32::try_from(lowest).ok());
        let lowest = lowest.filter(|lowest| *lowest <= 1);
        if lowest.is_none() {
            report.add(path, "enum", || format!("Set {} to one of 0, 1.", path.subject()));
        }
        lowest
    };
    Some(RatingConfig {
        min: object.get("min", report, lowest),
        max: object.get("max", report, whole(3, 10)),
        min_label: object.get("min_label", report, text(0, 40)),
        max_label: object.get("max_label", report, text(0, 40)),
    })
}

fn photo(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<PhotoConfig> {
    let object = Object::read(value, path, &["min", "max", "annotate", "source"], Extras::Refused, report)?;
    Some(PhotoConfig {
        min: object.get("min", report, whole(0, PhotoRule::MOST)),
        max: object.get("max", report, whole(1, PhotoRule::MOST)),
        annotate: object.get("annotate", report, flag),
        source: object.get("source", report, word),
    })
}

fn signature(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<SignatureConfig> {
    let object = Object::read(value, path, &["signer_name"], Extras::Refused, report)?;
    Some(SignatureConfig { signer_name: object.get("signer_name", report, word) })
}

fn instruction(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<InstructionConfig> {
    let object = Object::read(value, path, &["body", "acknowledge"], Extras::Refused, report)?;
    Some(InstructionConfig { body: object.get("body", report, text(0, 10_000)), acknowledge: object.get("acknowledge", report, flag) })
}

fn barcode(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<BarcodeConfig> {
    const MEMBERS: [&str; 3] = ["formats", "allow_manual", "expect_asset_field"];
    let object = Object::read(value, path, &MEMBERS, Extras::Refused, report)?;
    Some(BarcodeConfig {
        formats: object.get("formats", report, distinct(list(0, 8, word))),
        allow_manual: object.get("allow_manual", report, flag),
        expect_asset_field: object.get("expect_asset_field", report, text(0, 64)),
    })
}

fn datetime(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<DatetimeConfig> {
    let object = Object::read(value, path, &["mode", "not_before", "not_after"], Extras::Refused, report)?;
    Some(DatetimeConfig {
        mode: object.get("mode", report, word),
        not_before: object.get("not_before", report, text(0, 32)),
        not_after: object.get("not_after", report, text(0, 32)),
    })
}
