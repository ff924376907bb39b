//! JSON, read strictly: a bounded depth, no member named twice, no half of a surrogate pair.
//!
//! A body that two readers can understand differently is refused before anything looks at its content: a checker that
//! sees `confirm: false` and an executor that sees `confirm: true` would both be right.

use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// How deep arrays and objects may stand in each other, counted over the whole body.
pub const MAX_DEPTH: usize = 64;

/// A name that a caller chose, to be repeated in words that people and models read: a question mark stands for each
/// letter that could be read as more than part of a name (markup, quotation marks, control and direction characters).
pub(crate) fn shown(name: &str) -> String {
    name.chars().map(|letter| if letter.is_alphanumeric() || " _-./~$:@#…".contains(letter) { letter } else { '?' }).collect()
}

/// Why a text was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Not JSON.
    Syntax,
    /// Nested deeper than [`MAX_DEPTH`].
    TooDeep,
    /// An object names this member twice.
    DuplicateKey(String),
}

/// Reads `text`, which must be one JSON value and nothing after it.
pub fn parse(text: &str) -> Result<Value, Fault> {
    let faults = Faults::default();
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Strict::at_depth(0, &faults).deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    value.map_err(|_| faults.take())
}

/// The first fault that a [`Strict`] reader met and that is not one of syntax.
#[derive(Debug, Default)]
pub(crate) struct Faults(RefCell<Option<Fault>>);

impl Faults {
    /// What to report for a read that failed.
    pub(crate) fn take(&self) -> Fault {
        self.0.borrow_mut().take().unwrap_or(Fault::Syntax)
    }

    pub(crate) fn raise<E: serde::de::Error>(&self, fault: Fault) -> E {
        *self.0.borrow_mut() = Some(fault);
        E::custom("refused")
    }
}

/// Reads one value at a given depth of the body.
#[derive(Clone, Copy)]
pub(crate) struct Strict<'f> {
    depth: usize,
    faults: &'f Faults,
}

impl<'f> Strict<'f> {
    pub(crate) fn at_depth(depth: usize, faults: &'f Faults) -> Self {
        Self { depth, faults }
    }

    fn inside<E: serde::de::Error>(self) -> Result<Self, E> {
        if self.depth >= MAX_DEPTH {
            return Err(self.faults.raise(Fault::TooDeep));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inside = self.inside()?;
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(inside)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let inside = self.inside()?;
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let value = members.next_value_seed(inside)?;
            if object.contains_key(&name) {
                return Err(self.faults.raise(Fault::DuplicateKey(name)));
            }
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_named_twice_is_refused_at_any_depth() {
        assert_eq!(parse(r#"{"a":1,"a":1}"#), Err(Fault::DuplicateKey("a".into())));
        assert_eq!(parse(r#"[{"b":{"confirm":false,"c\u006fnfirm":true}}]"#), Err(Fault::DuplicateKey("confirm".into())));
    }

    #[test]
    fn sixty_four_levels_are_read_and_the_next_is_refused() {
        let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(&nested(64)).is_ok());
        assert_eq!(parse(&nested(65)), Err(Fault::TooDeep));
        assert_eq!(parse(&"[".repeat(100_000)), Err(Fault::TooDeep));
    }

    #[test]
    fn half_a_surrogate_pair_and_trailing_text_are_syntax_faults() {
        for text in [r#""\ud800""#, "1 2", "{", "", "nul", "1e999"] {
            assert_eq!(parse(text), Err(Fault::Syntax), "{text}");
        }
    }

    #[test]
    fn what_is_read_equals_what_serde_json_reads() {
        for text in ["null", "true", "-7", "18446744073709551615", "1.5", r#"{"z":[1,{"a":"\u00e9"}],"a":{}}"#] {
            assert_eq!(parse(text).unwrap(), serde_json::from_str::<Value>(text).unwrap());
        }
    }
}
