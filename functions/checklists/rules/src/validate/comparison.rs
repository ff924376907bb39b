//! Whether a comparison fits the step it looks at: the operator (V3) and the value (V4).

use super::report::{Path, Report, quote};
use super::step::DraftStep;
use crate::answer::moment;
use crate::decimal;
use crate::template::{DatetimeConfig, Op, Scalar, SelfWhen, StepKind, StepType};

/// The operators that look at answers of a type; `answered` and `skipped` look at any step.
const fn operators(step_type: StepType) -> &'static [Op] {
    match step_type {
        StepType::Number | StepType::Rating => &[Op::Eq, Op::Neq, Op::Gt, Op::Lt, Op::Gte, Op::Lte],
        StepType::Text | StepType::MultiChoice => &[Op::Eq, Op::Neq, Op::Contains, Op::NotContains],
        StepType::Boolean | StepType::Choice | StepType::Barcode | StepType::Datetime => &[Op::Eq, Op::Neq],
        StepType::Photo | StepType::Signature | StepType::Instruction => &[],
    }
}

/// Checks a comparison with the answer of a step.
pub(super) fn fits(source: &DraftStep, op: Op, value: Option<&Scalar>, path: &Path<'_>, report: &mut Report) {
    let Some(step_type) = source.step_type.filter(|_| !op.is_state()) else { return };
    if !operators(step_type).contains(&op) {
        report.add(&path.member("op"), "V3", || {
            let words = operators(step_type).iter().chain(&[Op::Answered, Op::Skipped]).map(|op| op.as_str());
            format!("Use one of {} with a {step_type} step.", words.collect::<Vec<_>>().join(", "))
        });
        return;
    }
    let Some(value) = value else { return };
    if let Err(message) = check_value(source, op, value) {
        report.add(&path.member("value"), "V4", || message);
    }
}

/// Checks a comparison of a step with its own answer. The schema says nothing there of when a value belongs to it.
pub(super) fn fits_own(step: &DraftStep, when: &SelfWhen, path: &Path<'_>, report: &mut Report) {
    match (&when.value, when.op.is_state()) {
        (Some(_), true) => report.add(path, "V4", || format!("Leave \"value\" out; {} compares with nothing.", when.op)),
        (None, false) => report.add(path, "V4", || format!("Add \"value\"; {} compares with it.", when.op)),
        _ => {}
    }
    fits(step, when.op, when.value.as_ref(), path, report);
}

fn check_value(source: &DraftStep, op: Op, value: &Scalar) -> Result<(), String> {
    let number = match value {
        Scalar::Number(number) => Some(number),
        _ => None,
    };
    let text = match value {
        Scalar::Text(text) => Some(text.as_str()),
        _ => None,
    };
    let fits = |fits: bool, wanted: &str| if fits { Ok(()) } else { Err(format!("Compare with {wanted}.")) };
    match &source.step().kind {
        StepKind::Boolean(_) => fits(matches!(value, Scalar::Boolean(_)), "true or false, without quotes"),
        StepKind::Choice(_) | StepKind::MultiChoice(_) => {
            let Some(id) = text else { return Err("Compare with the id of an option.".to_owned()) };
            let known = source.step().kind.options().iter().any(|option| option.id == id);
            if known || !source.options_sound {
                Ok(())
            } else {
                Err(format!("Compare with the id of an option of that step; {} is none.", quote(id)))
            }
        }
        StepKind::Number(_) => fits(number.is_some(), "a number, without quotes"),
        StepKind::Rating(_) => fits(number.is_some_and(|number| decimal::whole(number).is_some()), "a whole number, without quotes"),
        StepKind::Text(_) if op == Op::Contains || op == Op::NotContains => {
            fits(text.is_some_and(|text| !text.is_empty()), "a text of at least 1 character")
        }
        StepKind::Text(_) | StepKind::Barcode(_) => fits(text.is_some(), "a text"),
        StepKind::Datetime(config) => {
            let mode = DatetimeConfig::mode(config.as_ref());
            let known = text.is_some_and(|text| moment::read(mode, text).is_some());
            if known || !source.config_sound { Ok(()) } else { Err(format!("Compare with {}.", moment::spelling(mode))) }
        }
        StepKind::Photo(_) | StepKind::Signature(_) | StepKind::Instruction(_) => Ok(()),
    }
}
