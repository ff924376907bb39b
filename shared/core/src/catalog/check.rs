//! Arguments against a schema: coerced where the schema leaves no doubt, then checked, all faults at once.
//!
//! Models and clients write `"5"` or `5.0` for an integer and an object as JSON text. Where the schema admits one
//! reading only, that reading is taken. Text stays text wherever the schema says so.

use std::collections::HashSet;

use serde::Serialize;
use serde_json::{Map, Value};

use super::shape::{Count, Kind, Other, Range, Shape};
use crate::json;

/// The largest integer that every JSON reader keeps exactly.
const EXACT: f64 = 9_007_199_254_740_991.0;

/// At most this many faults are told; a caller who has more has another problem.
const MOST_VIOLATIONS: usize = 50;

/// What `null` means for an optional argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nulls {
    /// The same as leaving it out.
    Absent,
    /// Refused: in an update it could be meant to clear the value or to keep it.
    Refused,
}

/// One way in which arguments differ from what is advertised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// Where: a JSON pointer into the arguments; empty for the whole.
    pub path: String,
    /// Which keyword of the schema.
    pub rule: &'static str,
    /// What to change.
    pub message: String,
}

/// Checks the arguments of a call and returns them coerced.
pub(super) fn arguments(shape: &Shape, arguments: Map<String, Value>, nulls: Nulls) -> Result<Value, Vec<Violation>> {
    let mut checker = Checker { nulls, path: String::new(), found: Vec::new() };
    let mut value = Value::Object(arguments);
    checker.check(shape, &mut value);
    if checker.found.is_empty() { Ok(value) } else { Err(checker.found) }
}

struct Checker {
    nulls: Nulls,
    path: String,
    found: Vec<Violation>,
}

impl Checker {
    fn refuse(&mut self, rule: &'static str, message: impl Into<String>) {
        if self.found.len() < MOST_VIOLATIONS {
            self.found.push(Violation { path: self.path.clone(), rule, message: message.into() });
        }
    }

    /// Runs `work` one level further down the path.
    fn at(&mut self, step: &str, work: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        self.path.push('/');
        self.path.push_str(&step.replace('~', "~0").replace('/', "~1"));
        work(self);
        self.path.truncate(length);
    }

    fn check(&mut self, shape: &Shape, value: &mut Value) {
        coerce(&shape.kind, value);
        match (&shape.kind, &mut *value) {
            (Kind::Any, _) | (Kind::Boolean, Value::Bool(_)) => {}
            (Kind::Integer(range), Value::Number(number)) if !number.is_f64() => {
                let number = number.as_f64().unwrap_or(f64::MAX);
                self.range(range, number);
            }
            (Kind::Number(range), Value::Number(number)) => {
                let number = number.as_f64().unwrap_or(f64::MAX);
                self.range(range, number);
            }
            (Kind::String { length, pattern }, Value::String(text)) => {
                self.count(length, text.chars().count(), "minLength", "maxLength", "character");
                if let Some(pattern) = pattern.as_ref().filter(|pattern| !pattern.is_match(text)) {
                    self.refuse("pattern", format!("must match {}", pattern.as_str()));
                }
            }
            (Kind::Array { items, count, unique }, Value::Array(array)) => {
                self.count(count, array.len(), "minItems", "maxItems", "item");
                for (index, item) in array.iter_mut().enumerate() {
                    self.at(&index.to_string(), |checker| checker.check(items, item));
                }
                let mut seen = HashSet::new();
                if *unique && !array.iter().all(|item| seen.insert(item)) {
                    self.refuse("uniqueItems", "must not hold the same item twice");
                }
            }
            (Kind::Object { .. }, Value::Object(members)) => self.object(&shape.kind, members),
            (kind, found) => {
                let message = format!("must be {}, not {}", kind.name(), name_of(found));
                self.refuse("type", message);
                return;
            }
        }
        if let (Some(permitted), Value::String(text)) = (&shape.one_of, &*value)
            && !permitted.contains(text)
        {
            self.refuse("enum", format!("must be one of: {}", permitted.join(", ")));
        }
    }

    fn object(&mut self, kind: &Kind, members: &mut Map<String, Value>) {
        let Kind::Object { properties, other, count } = kind else {
            return;
        };
        if self.nulls == Nulls::Absent {
            let absent = |name: &String, value: &Value| value.is_null() && properties.iter().any(|one| one.name == *name && !one.required);
            members.retain(|name, value| !absent(name, value));
        }
        // What means absence is not counted.
        self.count(count, members.len(), "minProperties", "maxProperties", "member");
        for property in properties {
            match members.get_mut(&property.name) {
                Some(Value::Null) if !property.required => {
                    self.at(&property.name, |checker| checker.refuse("type", "must not be null: leave it out to keep the present value"));
                }
                Some(value) => self.at(&property.name, |checker| checker.check(&property.shape, value)),
                None if property.required => self.at(&property.name, |checker| checker.refuse("required", "is required")),
                None => {}
            }
        }
        let known = |name: &String| properties.iter().any(|property| property.name == *name);
        for (name, value) in members.iter_mut().filter(|(name, _)| !known(name)) {
            match other {
                Other::Free => {}
                Other::Shaped(shape) => self.at(&shortened(name), |checker| checker.check(shape, value)),
                Other::Refused => {
                    let names: Vec<&str> = properties.iter().map(|property| property.name.as_str()).collect();
                    let valid = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                    self.at(&shortened(name), |checker| {
                        checker.refuse("additionalProperties", format!("is not an argument here; the arguments are: {valid}"));
                    });
                }
            }
        }
    }

    fn range(&mut self, range: &Range, number: f64) {
        if let Some(least) = range.least.filter(|least| number < *least) {
            self.refuse("minimum", format!("must be at least {least}"));
        }
        if let Some(most) = range.most.filter(|most| number > *most) {
            self.refuse("maximum", format!("must be at most {most}"));
        }
    }

    fn count(&mut self, bounds: &Count, found: usize, least: &'static str, most: &'static str, unit: &str) {
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        if let Some(bound) = bounds.least.filter(|bound| found < *bound) {
            self.refuse(least, format!("must have at least {bound} {unit}{}", plural(bound)));
        }
        if let Some(bound) = bounds.most.filter(|bound| found > *bound) {
            self.refuse(most, format!("must have at most {bound} {unit}{}; it has {found}", plural(bound)));
        }
    }
}

impl Kind {
    fn name(&self) -> &'static str {
        match self {
            Self::Any => "anything",
            Self::Boolean => "true or false",
            Self::Integer(_) => "a whole number",
            Self::Number(_) => "a number",
            Self::String { .. } => "text",
            Self::Array { .. } => "an array",
            Self::Object { .. } => "an object",
        }
    }
}

fn name_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(number) if number.is_f64() => "a number with a fraction or one that large",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Replaces `value` by the one reading that `kind` admits, if it has one.
fn coerce(kind: &Kind, value: &mut Value) {
    let read = match (kind, &*value) {
        (Kind::Integer(_), Value::Number(number)) => number.as_f64().filter(|_| number.is_f64()).and_then(integer),
        (Kind::Integer(_) | Kind::Number(_) | Kind::Array { .. } | Kind::Object { .. } | Kind::Boolean, Value::String(text)) => {
            json::parse(text).ok().and_then(|read| match (kind, &read) {
                (Kind::Integer(_), Value::Number(number)) if number.is_f64() => number.as_f64().and_then(integer),
                (Kind::Integer(_) | Kind::Number(_), Value::Number(_))
                | (Kind::Array { .. }, Value::Array(_))
                | (Kind::Object { .. }, Value::Object(_))
                | (Kind::Boolean, Value::Bool(_)) => Some(read),
                _ => None,
            })
        }
        _ => None,
    };
    if let Some(read) = read {
        *value = read;
    }
}

/// A float that is a whole number which no reader of JSON rounds.
fn integer(number: f64) -> Option<Value> {
    #[expect(clippy::cast_possible_truncation, reason = "the guard keeps it in range and whole")]
    (number.fract() == 0.0 && number.abs() <= EXACT).then(|| Value::from(number as i64))
}

/// At most 64 characters of a name that a caller chose.
fn shortened(name: &str) -> String {
    match name.char_indices().nth(64) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
