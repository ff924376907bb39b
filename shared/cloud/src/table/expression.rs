//! Conditions and updates, built from names and values and written with placeholders, so that no name can collide
//! with a reserved word and no value can be read as an expression.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use serde::Serialize;

use super::key::PK;

/// What must hold of the stored item for a write to happen.
#[derive(Debug, Clone)]
pub enum Condition {
    /// The item is there.
    Exists,
    /// The item is not there.
    Absent,
    /// The attribute is not there.
    Missing(&'static str),
    /// The attribute compares so with the value.
    Compares(&'static str, Comparison, AttributeValue),
    /// The attribute compares so with another attribute of the same item.
    ComparesWith(&'static str, Comparison, &'static str),
    /// All hold.
    All(Vec<Condition>),
    /// One holds at least.
    Any(Vec<Condition>),
}

/// How two values compare.
#[derive(Debug, Clone, Copy)]
pub enum Comparison {
    /// Equal.
    Is,
    /// Unequal.
    IsNot,
    /// Below.
    Below,
    /// Equal or below.
    AtMost,
    /// Above.
    Above,
}

impl Comparison {
    fn sign(self) -> &'static str {
        match self {
            Self::Is => "=",
            Self::IsNot => "<>",
            Self::Below => "<",
            Self::AtMost => "<=",
            Self::Above => ">",
        }
    }
}

impl Condition {
    /// The attribute has this value.
    pub fn is(attribute: &'static str, value: impl Serialize) -> Self {
        Self::Compares(attribute, Comparison::Is, attribute_value(value))
    }

    /// The attribute has one of these values.
    pub fn is_one_of<T: Serialize>(attribute: &'static str, values: impl IntoIterator<Item = T>) -> Self {
        Self::Any(values.into_iter().map(|value| Self::is(attribute, value)).collect())
    }

    /// The attribute compares so with this value.
    pub fn compares(attribute: &'static str, comparison: Comparison, value: impl Serialize) -> Self {
        Self::Compares(attribute, comparison, attribute_value(value))
    }

    /// Both hold.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match self {
            Self::All(mut all) => {
                all.push(other);
                Self::All(all)
            }
            one => Self::All(vec![one, other]),
        }
    }
}

/// What a write changes of an item that may be there already.
#[derive(Debug, Clone, Default)]
pub struct Update {
    set: Vec<(&'static str, AttributeValue)>,
    add: Vec<(&'static str, i64)>,
    remove: Vec<&'static str>,
}

impl Update {
    /// Changes nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives the attribute this value.
    #[must_use]
    pub fn set(mut self, attribute: &'static str, value: impl Serialize) -> Self {
        self.set.push((attribute, attribute_value(value)));
        self
    }

    /// Adds to a number that counts from 0 where it is missing.
    #[must_use]
    pub fn add(mut self, attribute: &'static str, amount: i64) -> Self {
        self.add.push((attribute, amount));
        self
    }

    /// Whether making it twice differs from making it once.
    pub(super) fn adds(&self) -> bool {
        !self.add.is_empty()
    }

    /// Takes the attribute away.
    #[must_use]
    pub fn remove(mut self, attribute: &'static str) -> Self {
        self.remove.push(attribute);
        self
    }
}

/// A value as DynamoDB has it.
pub(super) fn attribute_value(value: impl Serialize) -> AttributeValue {
    serde_dynamo::aws_sdk_dynamodb_1::to_attribute_value(value).expect("only plain values are stored")
}

/// Placeholders of one request.
#[derive(Debug, Default)]
pub(super) struct Placeholders {
    pub(super) names: HashMap<String, String>,
    pub(super) values: HashMap<String, AttributeValue>,
}

impl Placeholders {
    pub(super) fn name(&mut self, attribute: &str) -> String {
        let placeholder = format!("#{attribute}");
        self.names.insert(placeholder.clone(), attribute.to_owned());
        placeholder
    }

    pub(super) fn value(&mut self, value: AttributeValue) -> String {
        let placeholder = format!(":v{}", self.values.len());
        self.values.insert(placeholder.clone(), value);
        placeholder
    }

    pub(super) fn condition(&mut self, condition: &Condition) -> String {
        match condition {
            Condition::Exists => format!("attribute_exists({})", self.name(PK)),
            Condition::Absent => format!("attribute_not_exists({})", self.name(PK)),
            Condition::Missing(attribute) => format!("attribute_not_exists({})", self.name(attribute)),
            Condition::Compares(attribute, comparison, value) => {
                format!("{} {} {}", self.name(attribute), comparison.sign(), self.value(value.clone()))
            }
            Condition::ComparesWith(attribute, comparison, other) => {
                format!("{} {} {}", self.name(attribute), comparison.sign(), self.name(other))
            }
            Condition::All(all) => self.joined(all, " AND "),
            Condition::Any(any) => self.joined(any, " OR "),
        }
    }

    fn joined(&mut self, conditions: &[Condition], word: &str) -> String {
        let parts: Vec<String> = conditions.iter().map(|condition| self.condition(condition)).collect();
        format!("({})", parts.join(word))
    }

    pub(super) fn update(&mut self, update: &Update) -> String {
        let set: Vec<String> =
            update.set.iter().map(|(attribute, value)| format!("{} = {}", self.name(attribute), self.value(value.clone()))).collect();
        let add: Vec<String> = update
            .add
            .iter()
            .map(|(attribute, amount)| format!("{} {}", self.name(attribute), self.value(attribute_value(amount))))
            .collect();
        let remove: Vec<String> = update.remove.iter().map(|attribute| self.name(attribute)).collect();
        let clause = |word: &str, parts: Vec<String>| (!parts.is_empty()).then(|| format!("{word} {}", parts.join(", ")));
        [clause("SET", set), clause("ADD", add), clause("REMOVE", remove)].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}
