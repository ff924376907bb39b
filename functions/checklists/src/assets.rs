//! Assets: what runs are dispatched for, such as a flat or a van. A name and free-form fields.

use jiff::Timestamp;
use onepost_core::error::ToolError;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The most fields of an asset.
pub const MOST_FIELDS: usize = 50;
/// The longest field name, in characters.
pub const LONGEST_FIELD_NAME: usize = 64;
/// The longest text of a field, in characters.
pub const LONGEST_FIELD_TEXT: usize = 2_000;
/// The size of all fields together, in bytes of JSON.
pub const FIELDS_SIZE: usize = 16 * 1024;

/// The largest whole number that every reader of JSON keeps exactly.
const EXACT: f64 = 9_007_199_254_740_991.0;

/// Free-form fields, in the order they were given.
pub type Fields = Map<String, Value>;

/// An asset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Asset {
    /// `a-` and a UUID of version 7: newest last.
    pub id: String,
    /// 1 to 200 characters.
    pub name: String,
    /// Its fields.
    pub fields: Fields,
    /// When it was made.
    pub created_at: Timestamp,
    /// When its name or fields last changed.
    pub updated_at: Timestamp,
}

/// What a run keeps of its asset, so that deleting the asset blanks no history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AssetCopy {
    /// The asset's id when the run was dispatched.
    pub id: String,
    /// Its name then.
    pub name: String,
    /// Its fields then.
    pub fields: Fields,
}

impl Asset {
    /// The asset with another name or other fields. Fields are merged: those not given stay, `null` removes one.
    /// `None` where nothing would change.
    pub fn updated(&self, name: Option<String>, fields: Option<Fields>, now: Timestamp) -> Result<Option<Self>, ToolError> {
        let mut next = self.clone();
        next.name = name.unwrap_or(next.name);
        for (field, value) in fields.into_iter().flatten() {
            match value {
                Value::Null => next.fields.shift_remove(&field),
                value => next.fields.insert(field, value),
            };
        }
        if next == *self {
            return Ok(None);
        }
        check_fields(&next.fields)?;
        Ok(Some(Self { updated_at: now, ..next }))
    }

    /// What a run keeps of it.
    pub fn copy(&self) -> AssetCopy {
        AssetCopy { id: self.id.clone(), name: self.name.clone(), fields: self.fields.clone() }
    }
}

/// Fields as they may be given for a new asset: a `null` names a field that is not there.
pub fn new_fields(fields: Option<Fields>) -> Result<Fields, ToolError> {
    let fields: Fields = fields.into_iter().flatten().filter(|(_, value)| !value.is_null()).collect();
    check_fields(&fields)?;
    Ok(fields)
}

/// Checks what a schema cannot: every fault at once.
fn check_fields(fields: &Fields) -> Result<(), ToolError> {
    let mut errors = Vec::new();
    let mut refuse = |path: String, rule: &str, message: String| errors.push(json!({ "path": path, "rule": rule, "message": message }));
    if fields.len() > MOST_FIELDS {
        refuse("/fields".into(), "maxProperties", format!("An asset has at most {MOST_FIELDS} fields; this makes {}.", fields.len()));
    }
    for (name, value) in fields.iter().take(2 * MOST_FIELDS) {
        let short: String = name.chars().take(LONGEST_FIELD_NAME).collect();
        let path = format!("/fields/{}", short.replace('~', "~0").replace('/', "~1"));
        if !is_field_name(name) {
            let message =
                format!("A field's name has 1 to {LONGEST_FIELD_NAME} letters, digits, blanks, _ or -, and begins with a letter.");
            refuse(path.clone(), "pattern", message);
        }
        match value {
            Value::String(text) if text.chars().count() > LONGEST_FIELD_TEXT => {
                refuse(path, "maxLength", format!("A field's text has at most {LONGEST_FIELD_TEXT} characters."));
            }
            Value::Number(number) if number.as_f64().is_some_and(|number| number.fract() == 0.0 && number.abs() > EXACT) => {
                refuse(path, "maximum", "A whole number this large would be rounded by many readers: send it as text.".into());
            }
            Value::Array(_) | Value::Object(_) => {
                refuse(path, "type", "A field is text, a number, true or false.".into());
            }
            _ => {}
        }
    }
    let size = serde_json::to_string(fields).map_or(0, |text| text.len());
    if size > FIELDS_SIZE {
        refuse("/fields".into(), "maxSize", format!("All fields together have at most {FIELDS_SIZE} bytes of JSON; these have {size}."));
    }
    if errors.is_empty() {
        return Ok(());
    }
    let message = format!("The fields do not fit: {}", errors[0]["message"].as_str().unwrap_or_default());
    Err(ToolError::invalid("invalid_argument", message).with_details(json!({ "errors": errors })))
}

/// Letters of ASCII: names are keys that people and programs type.
fn is_field_name(name: &str) -> bool {
    name.len() <= LONGEST_FIELD_NAME
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, b'_' | b'-' | b' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(value: Value) -> Fields {
        value.as_object().unwrap().clone()
    }

    fn van() -> Asset {
        Asset {
            id: "a-1".into(),
            name: "Van".into(),
            fields: fields(json!({ "plate": "AB1", "seats": 3 })),
            created_at: Timestamp::UNIX_EPOCH,
            updated_at: Timestamp::UNIX_EPOCH,
        }
    }

    fn rules(refused: &ToolError) -> Vec<(String, String)> {
        let errors = refused.details().unwrap()["errors"].as_array().unwrap().clone();
        let text = |error: &Value, member: &str| error[member].as_str().unwrap().to_owned();
        errors.iter().map(|error| (text(error, "path"), text(error, "rule"))).collect()
    }

    #[test]
    fn given_fields_are_merged_and_null_removes_one() {
        let now = Timestamp::from_second(60).unwrap();
        let next = van().updated(None, Some(fields(json!({ "seats": null, "colour": "red" }))), now).unwrap().unwrap();
        assert_eq!(Value::Object(next.fields), json!({ "plate": "AB1", "colour": "red" }));
        assert_eq!((next.name.as_str(), next.updated_at), ("Van", now));
    }

    #[test]
    fn an_update_that_says_what_is_there_already_changes_nothing() {
        let same = van().updated(Some("Van".into()), Some(fields(json!({ "plate": "AB1", "ghost": null }))), Timestamp::MAX);
        assert_eq!(same, Ok(None));
    }

    #[test]
    fn every_fault_of_the_fields_is_told_at_once() {
        let bad = fields(json!({ "1st": 1, "ok": "x".repeat(2001), "list": [1], "big": 9_007_199_254_740_993_i64 }));
        let refused = new_fields(Some(bad)).unwrap_err();
        assert_eq!(refused.code(), "invalid_argument");
        let expected = [("/fields/1st", "pattern"), ("/fields/ok", "maxLength"), ("/fields/list", "type"), ("/fields/big", "maximum")];
        assert_eq!(rules(&refused), expected.map(|(path, rule)| (path.to_owned(), rule.to_owned())));
    }

    #[test]
    fn a_merge_that_grows_too_large_is_refused_whole() {
        let half = |prefix: &str| (0..5).map(|index| (format!("{prefix}{index}"), json!("é".repeat(1000)))).collect::<Fields>();
        let van = Asset { fields: half("a"), ..van() };
        let refused = van.updated(None, Some(half("b")), Timestamp::MAX).unwrap_err();
        assert_eq!(rules(&refused), [("/fields".to_owned(), "maxSize".to_owned())]);
    }
}
