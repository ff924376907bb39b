//! Reading JSON values against the keywords of the schema: what is faulty is reported and read as `None`.

use std::collections::HashSet;

use serde_json::{Map, Number, Value};

use super::report::{Path, Report, quote};
use crate::decimal;
use crate::template::{STORE_MEMBERS, is_extra};
use crate::word::Word;

/// Reads one value at a place.
pub(super) trait Read<T>: Fn(&Value, &Path<'_>, &mut Report) -> Option<T> {}
impl<T, F: Fn(&Value, &Path<'_>, &mut Report) -> Option<T>> Read<T> for F {}

/// Whether members beginning with `x_` are the author's to use.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extras {
    Allowed,
    Refused,
}

/// An object whose members are known.
pub(super) struct Object<'v, 'p> {
    pub(super) members: &'v Map<String, Value>,
    path: &'p Path<'p>,
}

impl<'v, 'p> Object<'v, 'p> {
    /// Reads an object, and reports members that are not `allowed` in it.
    pub(super) fn read(value: &'v Value, path: &'p Path<'p>, allowed: &[&str], extras: Extras, report: &mut Report) -> Option<Self> {
        let Value::Object(members) = value else {
            wrong_type(value, path, "an object", report);
            return None;
        };
        for name in members.keys().filter(|name| !allowed.contains(&name.as_str())) {
            if extras == Extras::Allowed && is_extra(name) {
                continue;
            }
            report.add(&path.member(name), "additionalProperties", || {
                let own = if extras == Extras::Allowed { ", or your own that begin with x_" } else { "" };
                format!("Remove {}; the members here are {}{own}.", quote(name), allowed.join(", "))
            });
        }
        Some(Self { members, path })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    /// A member that may be absent.
    pub(super) fn get<T>(&self, name: &str, report: &mut Report, read: impl Read<T>) -> Option<T> {
        read(self.members.get(name)?, &self.path.member(name), report)
    }

    /// A member that has to be there.
    pub(super) fn require<T>(&self, name: &str, report: &mut Report, read: impl Read<T>) -> Option<T> {
        self.expect(name, report);
        self.get(name, report, read)
    }

    /// Reports a member that is not there.
    pub(super) fn expect(&self, name: &str, report: &mut Report) {
        if !self.has(name) {
            report.add(self.path, "required", || format!("Add {}.", quote(name)));
        }
    }

    /// The author's own members.
    pub(super) fn extras(&self) -> Map<String, Value> {
        let own = self.members.iter().filter(|(name, _)| is_extra(name));
        own.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Refuses what only the store may set.
    pub(super) fn refuse_store_members(&self, report: &mut Report) {
        for name in STORE_MEMBERS.into_iter().filter(|name| self.has(name)) {
            report.add(&self.path.member(name), "readOnly", || format!("Remove {}; the server sets it.", quote(name)));
        }
    }
}

pub(super) fn wrong_type(value: &Value, path: &Path<'_>, wanted: &str, report: &mut Report) {
    report.add(path, "type", || {
        let given = match value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        };
        format!("Make {} {wanted}; it is {given}.", path.subject())
    });
}

/// A string of so many Unicode characters.
pub(super) fn text(min: usize, max: usize) -> impl Read<String> {
    move |value: &Value, path: &Path<'_>, report: &mut Report| {
        let Value::String(text) = value else {
            wrong_type(value, path, "a string", report);
            return None;
        };
        let count = text.chars().count();
        if count > max {
            report.add(path, "maxLength", || format!("Shorten {} to at most {max} characters; it has {count}.", path.subject()));
            return None;
        }
        if count < min {
            report.add(path, "minLength", || {
                format!("Write at least {min} character{} in {}.", if min == 1 { "" } else { "s" }, path.subject())
            });
            return None;
        }
        Some(text.clone())
    }
}

/// A string that has a form, which `wanted` describes.
pub(super) fn formed(wanted: &'static str, fits: impl Fn(&str) -> bool) -> impl Read<String> {
    move |value: &Value, path: &Path<'_>, report: &mut Report| {
        let Value::String(text) = value else {
            wrong_type(value, path, "a string", report);
            return None;
        };
        if fits(text) {
            return Some(text.clone());
        }
        report.add(path, "pattern", || format!("Write {} as {wanted}; it is {}.", path.subject(), quote(text)));
        None
    }
}

/// True or false.
pub(super) fn flag(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<bool> {
    let flag = value.as_bool();
    if flag.is_none() {
        wrong_type(value, path, "true or false", report);
    }
    flag
}

/// A whole number from `min` to `max`; `5.0` is one, as in JSON Schema.
pub(super) fn whole(min: u32, max: u32) -> impl Read<u32> {
    move |value: &Value, path: &Path<'_>, report: &mut Report| {
        let number = value.as_number().and_then(decimal::whole);
        let Some(number) = number else {
            wrong_type(value, path, &format!("a whole number from {min} to {max}"), report);
            return None;
        };
        bounded(number < i64::from(min), number > i64::from(max), path, report, || {
            format!("Set {} to a whole number from {min} to {max}.", path.subject())
        })?;
        u32::try_from(number).ok()
    }
}

/// A number from 0 to 100.
pub(super) fn percentage(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<Number> {
    let number = any_number(value, path, report)?;
    let below = decimal::compare(&number, &Number::from(0)).is_lt();
    let above = decimal::compare(&number, &Number::from(100)).is_gt();
    bounded(below, above, path, report, || format!("Set {} to a number from 0 to 100.", path.subject()))?;
    Some(number)
}

/// Any number.
pub(super) fn any_number(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<Number> {
    let number = value.as_number().cloned();
    if number.is_none() {
        wrong_type(value, path, "a number", report);
    }
    number
}

fn bounded(below: bool, above: bool, path: &Path<'_>, report: &mut Report, message: impl FnOnce() -> String) -> Option<()> {
    match (below, above) {
        (true, _) => report.add(path, "minimum", message),
        (_, true) => report.add(path, "maximum", message),
        (false, false) => return Some(()),
    }
    None
}

/// One word of a vocabulary.
pub(super) fn word<W: Word>(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<W> {
    let given = value.as_str();
    let word = W::ALL.iter().copied().find(|word| Some(word.as_str()) == given);
    if word.is_none() {
        report.add(path, "enum", || {
            let words: Vec<&str> = W::ALL.iter().map(|word| word.as_str()).collect();
            format!("Set {} to one of {}.", path.subject(), words.join(", "))
        });
    }
    word
}

/// A list of so many items. Items are read even when they are too many, and `None` means that the list or any item is
/// faulty.
pub(super) fn list<T>(min: usize, max: usize, read: impl Read<T>) -> impl Read<Vec<T>> {
    move |value: &Value, path: &Path<'_>, report: &mut Report| {
        let Value::Array(items) = value else {
            wrong_type(value, path, "a list", report);
            return None;
        };
        let before = report.count();
        if items.len() > max {
            report.add(path, "maxItems", || format!("Keep at most {max} items in {}; it has {}.", path.subject(), items.len()));
        }
        if items.len() < min {
            report.add(path, "minItems", || format!("Put at least {min} item{} into {}.", if min == 1 { "" } else { "s" }, path.subject()));
        }
        let read: Vec<T> = items.iter().enumerate().filter_map(|(index, item)| read(item, &path.index(index), report)).collect();
        (report.count() == before).then_some(read)
    }
}

/// A list of which no two items are the same.
pub(super) fn distinct<T>(read: impl Read<Vec<T>>) -> impl Read<Vec<T>> {
    move |value: &Value, path: &Path<'_>, report: &mut Report| {
        let items = read(value, path, report);
        let mut seen = HashSet::new();
        for (index, item) in value.as_array().into_iter().flatten().enumerate() {
            // Lists of strings only: another item is reported as of the wrong type.
            let Some(text) = item.as_str() else { continue };
            if !seen.insert(text) {
                report.add(&path.index(index), "uniqueItems", || format!("Remove the repeated {} from {}.", quote(text), path.subject()));
            }
        }
        items
    }
}
