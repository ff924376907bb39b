//! JSON that nearly fits a schema, and JSON that is odd.

use serde_json::{Map, Number, Value, json};

use crate::draw::Draw;
use crate::words::{NAMES, ODD_TEXTS, PATTERNS};

/// Any text.
pub fn text(draw: &mut Draw<'_>) -> String {
    match draw.below(4) {
        0 | 1 => (*draw.pick(&ODD_TEXTS)).to_owned(),
        2 => (0..draw.below(12)).map(|_| draw.letter()).collect(),
        _ => (0..draw.below(130)).map(|_| *draw.pick(&['a', 'é', '-', '7', ' '])).collect(),
    }
}

/// Any number that JSON can carry.
pub fn number(draw: &mut Draw<'_>) -> Value {
    match draw.below(6) {
        0 => json!(draw.below(200)),
        1 => json!(-(i64::try_from(draw.below(200)).unwrap_or_default())),
        2 => json!(*draw.pick(&[
            i64::MIN,
            i64::MAX,
            9_007_199_254_740_991,
            9_007_199_254_740_992,
            -9_007_199_254_740_993,
            4_294_967_296,
            256
        ])),
        3 => json!(draw.number()),
        4 => json!(*draw.pick(&[0.5, -0.0, 1.0, 5.0, 1e15, 9_007_199_254_740_992.0, 1e300, -1e-300, 0.1])),
        _ => Number::from_f64(draw.float()).map_or(Value::Null, Value::Number),
    }
}

/// Any JSON, at most so deep.
pub fn any(draw: &mut Draw<'_>, depth: usize) -> Value {
    match draw.below(if depth == 0 { 5 } else { 8 }) {
        0 => Value::Null,
        1 => json!(draw.once_in(2)),
        2 => number(draw),
        3 | 4 => text(draw).into(),
        5 => (0..draw.below(4)).map(|_| any(draw, depth - 1)).collect::<Vec<_>>().into(),
        6 => (0..draw.below(4)).map(|_| (text(draw), any(draw, depth - 1))).collect::<Map<_, _>>().into(),
        _ => (0..draw.below(4)).map(|_| ((*draw.pick(&NAMES)).to_owned(), any(draw, depth - 1))).collect::<Map<_, _>>().into(),
    }
}

/// A value that fits the schema, or nearly.
pub fn to_schema(draw: &mut Draw<'_>, schema: &Value) -> Value {
    if draw.once_in(24) {
        return any(draw, 2);
    }
    let value = match (schema.get("enum").and_then(Value::as_array), schema.get("type").and_then(Value::as_str)) {
        (Some(values), _) if !values.is_empty() => draw.pick(values).clone(),
        (_, Some("boolean")) => json!(draw.once_in(2)),
        (_, Some(kind @ ("integer" | "number"))) => in_range(draw, schema, kind == "integer"),
        (_, Some("string")) => fitting_text(draw, schema).into(),
        (_, Some("array")) => {
            let most = bounded(schema, "maxItems", 3);
            let items: Vec<Value> = (0..draw.below(most + 2)).map(|_| to_schema(draw, &schema["items"])).collect();
            items.into()
        }
        (_, Some("object")) => members(draw, schema),
        _ => any(draw, 2),
    };
    if draw.once_in(10) { written_otherwise(draw, value) } else { value }
}

/// A bound of the schema, cut down to what is worth drawing.
fn bounded(schema: &Value, keyword: &str, otherwise: usize) -> usize {
    let bound = schema.get(keyword).and_then(Value::as_u64).and_then(|bound| usize::try_from(bound).ok());
    bound.unwrap_or(otherwise).min(130)
}

/// At a bound, beside one, or in between.
fn in_range(draw: &mut Draw<'_>, schema: &Value, whole: bool) -> Value {
    let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_i64);
    let (least, most) = (bound("minimum").unwrap_or(-3), bound("maximum").unwrap_or(100));
    let at = match draw.below(8) {
        0 => least,
        1 => most,
        2 => least.saturating_sub(1),
        3 => most.saturating_add(1),
        _ => {
            let span = most.abs_diff(least).saturating_add(1).max(1);
            least.saturating_add_unsigned(draw.number() % span.min(50))
        }
    };
    if whole || draw.once_in(3) {
        return json!(at);
    }
    #[expect(clippy::cast_precision_loss, reason = "near is near enough")]
    let near = at as f64 + *draw.pick(&[0.0, 0.5, -0.25]);
    json!(near)
}

fn fitting_text(draw: &mut Draw<'_>, schema: &Value) -> String {
    if draw.once_in(6) {
        return text(draw);
    }
    let id = |prefix: &str| format!("{prefix}-0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b");
    match schema.get("pattern").and_then(Value::as_str) {
        Some("^bk-[0-9]{1,9}$") => (*draw.pick(&["bk-1", "bk-2", "bk-3", "bk-1\n", "bk-", "bk-0123456789"])).to_owned(),
        Some(pattern) if pattern.contains("-[0-9a-f") => {
            let id = id(pattern.get(1..2).unwrap_or("a"));
            if draw.once_in(5) { id.to_uppercase() } else { id }
        }
        _ => {
            let (least, most) = (bounded(schema, "minLength", 0), bounded(schema, "maxLength", 12));
            let length = match draw.below(6) {
                0 => least,
                1 => most,
                2 => most + 1,
                3 => least.saturating_sub(1),
                _ => least + draw.below(8),
            };
            (0..length).map(|_| *draw.pick(&['a', 'b', 'é', ' ', '📚', '7', '\t'])).collect()
        }
    }
}

fn members(draw: &mut Draw<'_>, schema: &Value) -> Value {
    let required = |name: &str| schema.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|one| one == name));
    let mut object = Map::new();
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let wanted = if required(name) { !draw.once_in(12) } else { draw.once_in(2) };
        if wanted {
            let value = if draw.once_in(12) { Value::Null } else { to_schema(draw, property) };
            object.insert(name.clone(), value);
        }
    }
    let more = match schema.get("additionalProperties") {
        Some(Value::Bool(false)) => usize::from(draw.once_in(12)),
        _ => draw.below(bounded(schema, "maxProperties", 2) + 2).min(4),
    };
    for _ in 0..more {
        let value = match schema.get("additionalProperties") {
            Some(inner @ Value::Object(_)) => to_schema(draw, inner),
            _ => any(draw, 1),
        };
        object.insert(text(draw), value);
    }
    object.into()
}

/// The same value as some client writes it.
fn written_otherwise(draw: &mut Draw<'_>, value: Value) -> Value {
    match &value {
        Value::Number(number) if draw.once_in(2) => number.as_f64().map_or(value.clone(), |number| json!(number)),
        Value::String(_) | Value::Null => value,
        other => other.to_string().into(),
    }
}

/// A schema of the kind that can be advertised.
pub fn schema(draw: &mut Draw<'_>, depth: usize) -> Value {
    let mut schema = match draw.below(if depth == 0 { 6 } else { 9 }) {
        0 => json!({ "type": "boolean" }),
        1 | 2 => {
            let least = i64::try_from(draw.below(20)).unwrap_or_default() - 10;
            let mut schema = json!({ "type": *draw.pick(&["integer", "integer", "number"]), "minimum": least });
            schema["maximum"] = json!(least + *draw.pick(&[0, 1, 5, 1000, 9_007_199_254_740_000]));
            schema
        }
        3 => json!({ "type": "string", "enum": ["a", "b", "7", "null"] }),
        4 => {
            let mut schema = json!({ "type": "string" });
            if draw.once_in(2) {
                schema["minLength"] = json!(draw.below(3));
                schema["maxLength"] = json!(draw.below(6));
            }
            if draw.once_in(4) {
                schema["pattern"] = json!(*draw.pick(&PATTERNS));
            }
            schema
        }
        5 => json!({}),
        6 => {
            let mut array = json!({ "type": "array", "items": schema(draw, depth - 1) });
            if draw.once_in(2) {
                array["maxItems"] = json!(draw.below(4));
                array["minItems"] = json!(draw.below(2));
            }
            if draw.once_in(3) {
                array["uniqueItems"] = json!(true);
            }
            array
        }
        _ => object_schema(draw, depth - 1),
    };
    schema["description"] = json!("What it is.");
    schema
}

/// As [`schema`], and an object.
pub fn object_schema(draw: &mut Draw<'_>, depth: usize) -> Value {
    let mut properties = Map::new();
    for _ in 0..draw.below(4) {
        properties.insert((*draw.pick(&["a", "b", "c", "a/b~c", "é", ""])).to_owned(), schema(draw, depth));
    }
    let required: Vec<&String> = properties.keys().filter(|_| draw.once_in(3)).collect();
    let mut object = json!({ "type": "object", "properties": properties, "required": required });
    match draw.below(4) {
        0 => {}
        1 => object["additionalProperties"] = json!(true),
        2 => object["additionalProperties"] = json!(false),
        _ => object["additionalProperties"] = schema(draw, depth.saturating_sub(1)),
    }
    if draw.once_in(4) {
        object["maxProperties"] = json!(1 + draw.below(3));
    }
    if draw.once_in(4) {
        object["minProperties"] = json!(draw.below(3));
    }
    object
}
