//! `Mcp-Param-*`: arguments that a client repeats as headers, so that gateways can route by them (2026-07-28).
//!
//! A property of a tool's schema that has `x-mcp-header` makes clients do so. Header and argument must then both be there
//! and equal, or both be absent.

use http::HeaderMap;
use serde_json::{Map, Number, Value};

use super::era::{Single, single, unwrapped};

/// An argument that is repeated as a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParamHeader {
    /// In lower case.
    header: String,
    /// Names of members, from the arguments inwards.
    path: Vec<String>,
}

/// All such arguments of a schema. They are reached through `properties` alone.
pub(crate) fn of_schema(schema: &Value) -> Vec<ParamHeader> {
    let mut found = Vec::new();
    collect(schema, &mut Vec::new(), &mut found);
    found
}

fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Vec<ParamHeader>) {
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        path.push(name.clone());
        if let Some(header) = property.get("x-mcp-header").and_then(Value::as_str) {
            found.push(ParamHeader { header: format!("mcp-param-{}", header.to_ascii_lowercase()), path: path.clone() });
        }
        collect(property, path, found);
        path.pop();
    }
}

impl ParamHeader {
    /// The header's name.
    pub(crate) fn header(&self) -> &str {
        &self.header
    }

    /// Whether header and argument say the same.
    pub(crate) fn agrees(&self, headers: &HeaderMap, arguments: &Map<String, Value>) -> bool {
        let mut path = self.path.iter();
        let outermost = path.next().and_then(|name| arguments.get(name));
        let reached = outermost.and_then(|value| path.try_fold(value, |value, name| value.get(name)));
        match (single(headers, &self.header), reached.filter(|value| !value.is_null())) {
            (Single::Absent, None) => true,
            (Single::One(said), Some(argument)) => {
                // What is marked as wrapped and cannot be unwrapped says nothing.
                let is_wrapped = said.starts_with("=?base64?") && said.ends_with("?=");
                match unwrapped(said) {
                    Some(decoded) => says(&decoded, argument),
                    None => !is_wrapped && says(said, argument),
                }
            }
            _ => false,
        }
    }
}

fn says(said: &str, argument: &Value) -> bool {
    match argument {
        Value::String(text) => said == text,
        Value::Bool(yes) => said == if *yes { "true" } else { "false" },
        // As JSON writes it: other readers of the header may take `010` or `+10` for something else.
        Value::Number(number) => serde_json::from_str::<Number>(said).is_ok_and(|said| match (said.as_i128(), number.as_i128()) {
            (Some(said), Some(number)) => said == number,
            _ => said.as_f64() == number.as_f64() && said.as_i128().is_none() == number.as_i128().is_none(),
        }),
        _ => false,
    }
}
