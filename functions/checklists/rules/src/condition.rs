//! Which steps of a run are shown.
//!
//! A step is shown when its section's condition and its own hold. A source that is hidden, unanswered or skipped makes
//! every comparison with it false, `neq` and `not_contains` included: an unknown answer never counts as "another
//! answer". Only `answered` and `skipped` look at that state, and both are false for a hidden source.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;

use crate::answer::{Answer, Said, moment};
use crate::decimal;
use crate::template::{Condition, DatetimeConfig, GroupOp, Op, Scalar, SelfWhen, Step, StepKind, Template, When};

/// The steps of a template that are shown for a set of answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Visibility<'t> {
    shown: HashSet<&'t str>,
}

impl<'t> Visibility<'t> {
    /// Walks the template once, in order, and decides each step from the answers of the steps before it.
    pub fn of(template: &'t Template, answers: &BTreeMap<String, Answer>) -> Self {
        let mut walk = Walk { answers, shown: HashMap::new() };
        for section in template.sections() {
            // Decided before the section's own steps are known, so that a section can never depend on itself.
            let section_shown = section.condition.as_ref().is_none_or(|condition| walk.holds(condition));
            for step in &section.steps {
                if section_shown && step.condition.as_ref().is_none_or(|condition| walk.holds(condition)) {
                    walk.shown.insert(&step.id, step);
                }
            }
        }
        Self { shown: walk.shown.into_keys().collect() }
    }

    /// Whether the step with this id is shown; false for an unknown id.
    pub fn shows(&self, step_id: &str) -> bool {
        self.shown.contains(step_id)
    }
}

struct Walk<'t, 'a> {
    answers: &'a BTreeMap<String, Answer>,
    /// The steps shown so far. A step that is hidden, comes later or does not exist is not among them.
    shown: HashMap<&'t str, &'t Step>,
}

impl Walk<'_, '_> {
    fn holds(&self, condition: &Condition) -> bool {
        match condition {
            Condition::When { when } => self.compares(when),
            Condition::Group { op: GroupOp::And, rules } => rules.iter().all(|rule| self.holds(rule)),
            Condition::Group { op: GroupOp::Or, rules } => rules.iter().any(|rule| self.holds(rule)),
        }
    }

    fn compares(&self, when: &When) -> bool {
        let Some(source) = self.shown.get(when.step.as_str()) else { return false };
        compares(source, self.answers.get(&when.step).map(Answer::said), when.op, when.value.as_ref())
    }
}

/// Whether what was said about a step meets a rule of that step. `None` stands for no answer.
pub fn own_answer_meets(step: &Step, said: Option<Said<'_>>, rule: &SelfWhen) -> bool {
    compares(step, said, rule.op, rule.value.as_ref())
}

/// Compares what was said about a shown step.
fn compares(source: &Step, said: Option<Said<'_>>, op: Op, value: Option<&Scalar>) -> bool {
    match (said, op) {
        (Some(Said::Skip), Op::Skipped) | (Some(Said::Value(_)), Op::Answered) => true,
        (_, Op::Skipped | Op::Answered) | (None | Some(Said::Skip), _) => false,
        (Some(Said::Value(answer)), _) => value.is_some_and(|value| compares_value(&source.kind, answer, op, value)),
    }
}

fn compares_value(kind: &StepKind, answer: &Value, op: Op, value: &Scalar) -> bool {
    match (kind, answer, value) {
        (StepKind::MultiChoice(_), Value::Array(chosen), Scalar::Text(option)) => {
            let contains = chosen.iter().any(|id| id == option);
            match op {
                Op::Contains => contains,
                Op::NotContains => !contains,
                // A list equals one option when that option alone is chosen.
                Op::Eq => contains && chosen.len() == 1,
                Op::Neq => !(contains && chosen.len() == 1),
                _ => false,
            }
        }
        (StepKind::Datetime(config), Value::String(answer), Scalar::Text(value)) => {
            let mode = DatetimeConfig::mode(config.as_ref());
            let order = moment::compare(mode, answer, value).unwrap_or_else(|| answer.cmp(value));
            orders(op, order)
        }
        (_, Value::String(answer), Scalar::Text(value)) => match op {
            Op::Contains => answer.contains(value.as_str()),
            Op::NotContains => !answer.contains(value.as_str()),
            _ => orders(op, answer.cmp(value)),
        },
        (_, Value::Number(answer), Scalar::Number(value)) => orders(op, decimal::compare(answer, value)),
        (_, Value::Bool(answer), Scalar::Boolean(value)) => orders(op, answer.cmp(value)),
        // Values of different types are unequal, which is not an answer either way.
        _ => false,
    }
}

fn orders(op: Op, order: Ordering) -> bool {
    match op {
        Op::Eq => order.is_eq(),
        Op::Neq => order.is_ne(),
        Op::Gt => order.is_gt(),
        Op::Lt => order.is_lt(),
        Op::Gte => order.is_ge(),
        Op::Lte => order.is_le(),
        Op::Contains | Op::NotContains | Op::Answered | Op::Skipped => false,
    }
}
