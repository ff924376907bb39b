//! The part of JSON Schema that we advertise, compiled so that arguments can be checked against it quickly.
//!
//! A keyword that is not here cannot be advertised: compiling the schema fails, at start and in tests.

use regex_lite::Regex;
use serde_json::{Map, Value};

/// A compiled schema.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) kind: Kind,
    /// The only permitted values, all strings.
    pub(super) one_of: Option<Vec<String>>,
}

#[derive(Debug)]
pub(super) enum Kind {
    Any,
    Boolean,
    Integer(Range),
    Number(Range),
    String { length: Count, pattern: Option<Regex> },
    Array { items: Box<Shape>, count: Count, unique: bool },
    Object { properties: Vec<Property>, other: Other, count: Count },
}

#[derive(Debug)]
pub(super) struct Property {
    pub(super) name: String,
    pub(super) required: bool,
    pub(super) shape: Shape,
}

/// What an object's members that are not named may be.
#[derive(Debug)]
pub(super) enum Other {
    Refused,
    Free,
    Shaped(Box<Shape>),
}

/// Inclusive bounds of a number.
#[derive(Debug, Default)]
pub(super) struct Range {
    pub(super) least: Option<f64>,
    pub(super) most: Option<f64>,
}

/// Inclusive bounds of a length or a number of members.
#[derive(Debug, Default)]
pub(super) struct Count {
    pub(super) least: Option<usize>,
    pub(super) most: Option<usize>,
}

impl Shape {
    /// Compiles a schema; the reason of a refusal names the keyword.
    pub(super) fn compile(schema: &Value) -> Result<Self, String> {
        let Value::Object(schema) = schema else {
            return (schema == &Value::Bool(true)).then(Self::any).ok_or_else(|| format!("{schema} is no schema that we check"));
        };
        let mut keywords = Keywords { of: schema, used: vec!["title", "description", "default", "examples"] };
        let kind = match keywords.take("type") {
            None => Kind::Any,
            Some(Value::String(name)) => keywords.kind(name)?,
            Some(other) => return Err(format!("type {other} is not one name")),
        };
        let one_of = match keywords.take("enum") {
            None => None,
            Some(_) if !matches!(kind, Kind::String { .. }) => return Err("enum of something else than strings".into()),
            Some(values) => Some(strings(values).ok_or("enum holds something else than strings")?),
        };
        keywords.all_used()?;
        Ok(Self { kind, one_of })
    }

    fn any() -> Self {
        Self { kind: Kind::Any, one_of: None }
    }
}

/// A schema's keywords, of which each must be used.
struct Keywords<'s> {
    of: &'s Map<String, Value>,
    used: Vec<&'static str>,
}

impl<'s> Keywords<'s> {
    fn take(&mut self, keyword: &'static str) -> Option<&'s Value> {
        self.used.push(keyword);
        self.of.get(keyword)
    }

    fn kind(&mut self, name: &str) -> Result<Kind, String> {
        Ok(match name {
            "boolean" => Kind::Boolean,
            "integer" => Kind::Integer(self.range()?),
            "number" => Kind::Number(self.range()?),
            "string" => Kind::String { length: self.count("minLength", "maxLength")?, pattern: self.pattern()? },
            "array" => {
                let items = Shape::compile(self.take("items").ok_or("an array without items")?)?;
                let unique = self.take("uniqueItems") == Some(&Value::Bool(true));
                // 1 and 1.0 are one number to JSON Schema, also inside of an item.
                if unique && !matches!(items.kind, Kind::String { .. } | Kind::Integer(_) | Kind::Boolean) {
                    return Err("uniqueItems of items that can be written in two ways".into());
                }
                Kind::Array { items: Box::new(items), count: self.count("minItems", "maxItems")?, unique }
            }
            "object" => self.object()?,
            other => return Err(format!("type {other} is not checked")),
        })
    }

    fn object(&mut self) -> Result<Kind, String> {
        let required = self.take("required").map_or(Some(Vec::new()), strings).ok_or("required is no list of names")?;
        let mut properties = Vec::new();
        if let Some(Value::Object(named)) = self.take("properties") {
            for (name, schema) in named {
                let shape = Shape::compile(schema).map_err(|reason| format!("{name}: {reason}"))?;
                properties.push(Property { name: name.clone(), required: required.contains(name), shape });
            }
        }
        if let Some(name) = required.iter().find(|name| !properties.iter().any(|property| property.name == **name)) {
            return Err(format!("{name} is required and no property"));
        }
        let other = match self.take("additionalProperties") {
            None | Some(Value::Bool(true)) => Other::Free,
            Some(Value::Bool(false)) => Other::Refused,
            Some(schema) => Other::Shaped(Box::new(Shape::compile(schema)?)),
        };
        Ok(Kind::Object { properties, other, count: self.count("minProperties", "maxProperties")? })
    }

    fn range(&mut self) -> Result<Range, String> {
        let mut bound = |keyword| match self.take(keyword) {
            None => Ok(None),
            Some(value) => value.as_f64().map(Some).ok_or(format!("{keyword} is no number")),
        };
        Ok(Range { least: bound("minimum")?, most: bound("maximum")? })
    }

    fn count(&mut self, least: &'static str, most: &'static str) -> Result<Count, String> {
        let mut bound = |keyword| match self.take(keyword) {
            None => Ok(None),
            Some(value) => value.as_u64().and_then(|count| usize::try_from(count).ok()).map(Some).ok_or(format!("{keyword} is no count")),
        };
        Ok(Count { least: bound(least)?, most: bound(most)? })
    }

    fn pattern(&mut self) -> Result<Option<Regex>, String> {
        let Some(pattern) = self.take("pattern") else {
            return Ok(None);
        };
        let pattern = pattern.as_str().ok_or("pattern is no text")?;
        Regex::new(pattern).map(Some).map_err(|error| format!("pattern {pattern}: {error}"))
    }

    fn all_used(&self) -> Result<(), String> {
        match self.of.keys().find(|keyword| !self.used.contains(&keyword.as_str())) {
            None => Ok(()),
            Some(keyword) => Err(format!("{keyword} would be advertised and not checked")),
        }
    }
}

fn strings(values: &Value) -> Option<Vec<String>> {
    values.as_array()?.iter().map(|value| value.as_str().map(str::to_owned)).collect()
}
