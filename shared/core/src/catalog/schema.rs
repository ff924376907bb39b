//! Schemas derived from types, brought into the form that every client reads.
//!
//! Clients and model providers refuse combinators at the top, `$ref`, lists of types, arrays without a type for their
//! items and formats of Rust's integers. A schema that would need one of them is refused here, at start.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::tool::Unknown;

/// What the arguments of type `T` are advertised as.
pub(super) fn of_arguments<T: JsonSchema>(unknown: Unknown) -> Result<Value, String> {
    let mut schema = normal::<T>(true)?;
    if unknown == Unknown::Refuse {
        schema.insert("additionalProperties".into(), json!(false));
    }
    Ok(Value::Object(schema))
}

/// What a result of type `T` is advertised as. Results stay open: a member more is no breaking change.
pub(super) fn of_result<T: JsonSchema>() -> Result<Value, String> {
    normal::<T>(false).map(Value::Object)
}

/// Opens the schema of a result to the refusals of the tool: nothing is required any more, and no property may forbid
/// what an error says under the same name.
pub(super) fn admit_refusals(schema: &mut Value) -> Result<(), String> {
    const OF_AN_ERROR: [(&str, &str); 9] = [
        ("type", "string"),
        ("title", "string"),
        ("status", "integer"),
        ("detail", "string"),
        ("code", "string"),
        ("message", "string"),
        ("request_id", "string"),
        ("retry_after", "integer"),
        ("details", "of any type"),
    ];
    let Value::Object(root) = schema else {
        return Err("the schema is no object".into());
    };
    root.shift_remove("required");
    for (name, kind) in OF_AN_ERROR {
        let property = root.get("properties").and_then(|properties| properties.get(name));
        let narrower = ["enum", "pattern", "minimum", "maximum", "maxLength"];
        let admits = |property: &Value| {
            let property = or_null(property);
            property.get("type").is_none_or(|own| own == kind) && narrower.iter().all(|keyword| property.get(keyword).is_none())
        };
        if property.is_some_and(|property| !admits(property)) {
            return Err(format!("{name} in the result stands against {name} in an error"));
        }
    }
    Ok(())
}

fn normal<T: JsonSchema>(arguments: bool) -> Result<Map<String, Value>, String> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let settings = if arguments { settings.for_deserialize() } else { settings.for_serialize() };
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    normalise(&mut schema, arguments)?;
    let Value::Object(mut root) = schema else {
        return Err("the schema is no object".into());
    };
    if root.get("type") != Some(&json!("object")) {
        return Err("the root is no object".into());
    }
    root.shift_remove("title");
    root.shift_remove("description");
    root.entry("properties").or_insert_with(|| json!({}));
    described(&root)?;
    Ok(root)
}

/// Every property says what it is.
fn described(schema: &Map<String, Value>) -> Result<(), String> {
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if property.get("description").and_then(Value::as_str).is_none_or(str::is_empty) {
            return Err(format!("{name} has no description"));
        }
        for inner in [Some(or_null(property)), property.get("items")].into_iter().flatten().filter_map(Value::as_object) {
            described(inner).map_err(|reason| format!("{name}: {reason}"))?;
        }
    }
    Ok(())
}

/// The schema of what stands there, of a value that may also be `null`.
fn or_null(schema: &Value) -> &Value {
    schema.pointer("/anyOf/0").unwrap_or(schema)
}

fn normalise(schema: &mut Value, arguments: bool) -> Result<(), String> {
    let Value::Object(object) = schema else {
        return Ok(());
    };
    for forbidden in ["$ref", "$defs", "allOf", "not", "if"] {
        if object.contains_key(forbidden) {
            return Err(format!("{forbidden} is not read by every client"));
        }
    }
    // Where a doc comment was wrapped is no matter for its reader.
    if let Some(Value::String(description)) = object.get_mut("description") {
        *description = description.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    }
    if object.get("default") == Some(&Value::Null) {
        object.shift_remove("default");
    }
    // A number's format is Rust's business. What an integer's width does not hold, the schema must refuse.
    if object.get("type").is_some_and(|name| mentions(name, "integer") || mentions(name, "number")) {
        let format = object.shift_remove("format");
        if let Some((least, most)) = format.as_ref().and_then(Value::as_str).and_then(bounds).filter(|_| arguments) {
            object.entry("minimum").or_insert(json!(least));
            object.entry("maximum").or_insert(json!(most));
        }
    }
    constants_to_enum(object)?;
    let nullable = without_null(object)?;
    for keyword in ["items", "additionalProperties"] {
        if let Some(inner) = object.get_mut(keyword) {
            normalise(inner, arguments)?;
        }
    }
    for (name, property) in object.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        normalise(property, arguments).map_err(|reason| format!("{name}: {reason}"))?;
    }
    if nullable && !arguments {
        admit_null(object);
    }
    Ok(())
}

/// What an integer of this format holds, as far as every reader of JSON keeps it exactly. Narrower ones come with their
/// bounds.
fn bounds(format: &str) -> Option<(i64, i64)> {
    const EXACT: i64 = 9_007_199_254_740_991;
    match format {
        "int32" => Some((i32::MIN.into(), i32::MAX.into())),
        "uint32" => Some((0, u32::MAX.into())),
        "int" | "int64" | "int128" => Some((-EXACT, EXACT)),
        "uint" | "uint64" | "uint128" => Some((0, EXACT)),
        _ => None,
    }
}

fn mentions(of: &Value, name: &str) -> bool {
    of == name || of.as_array().is_some_and(|names| names.iter().any(|one| one == name))
}

/// schemars writes an enum whose variants have docs as `oneOf` of constants; clients read `enum`.
fn constants_to_enum(object: &mut Map<String, Value>) -> Result<(), String> {
    let Some(Value::Array(variants)) = object.shift_remove("oneOf") else {
        return Ok(());
    };
    let mut names = Vec::new();
    for variant in &variants {
        match (variant.get("const"), variant.get("enum").and_then(Value::as_array)) {
            (Some(Value::String(name)), _) => names.push(json!(name)),
            (_, Some(several)) => names.extend(several.iter().cloned()),
            _ => return Err("oneOf is not read by every client".into()),
        }
    }
    object.insert("type".into(), json!("string"));
    object.insert("enum".into(), Value::Array(names));
    Ok(())
}

/// Takes `null` out of a schema, and tells whether it was in. schemars writes an optional value as a list of types, a
/// value among the others of an enum, or `anyOf [T, null]`.
///
/// An optional argument is one that may be left out; what `null` means for it is the tool's rule, not its type.
fn without_null(object: &mut Map<String, Value>) -> Result<bool, String> {
    let mut nullable = false;
    if let Some(Value::Array(options)) = object.shift_remove("anyOf") {
        let mut named: Vec<Value> = options.into_iter().filter(|option| option.get("type") != Some(&json!("null"))).collect();
        let (Some(Value::Object(mut only)), true) = (named.pop(), named.is_empty()) else {
            return Err("anyOf is not read by every client".into());
        };
        constants_to_enum(&mut only)?;
        for (keyword, value) in only {
            object.entry(keyword).or_insert(value);
        }
        nullable = true;
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(names)) = object.get("type") {
        let named: Vec<Value> = names.iter().filter(|name| *name != "null").cloned().collect();
        nullable |= named.len() < names.len();
        let Ok([one]) = <[Value; 1]>::try_from(named) else {
            return Err("a value of several types cannot be advertised".into());
        };
        object.insert("type".into(), one);
    }
    Ok(nullable)
}

/// A result that may be `null` says so. A list of types is refused by some clients, two alternatives by none that is
/// known, in results.
fn admit_null(object: &mut Map<String, Value>) {
    let mut value = std::mem::take(object);
    for keyword in ["title", "description"] {
        if let Some(text) = value.shift_remove(keyword) {
            object.insert(keyword.into(), text);
        }
    }
    object.insert("anyOf".into(), json!([value, { "type": "null" }]));
}
