//! Arguments against a schema, with a complete JSON Schema validator as the oracle.
//!
//! ```text
//! change library/lend_book
//! {"book_id":"bk-1","reader":null}
//! ```
//!
//! The first word says what `null` means for an optional argument: in `keep` the same as leaving it out, in `change` it is
//! refused. Then comes a schema that is advertised somewhere, by name, or a whole schema as JSON. The rest is the
//! arguments.
//!
//! What the checker lets through must be valid for the oracle, after what the checker made of it. What the oracle accepts as
//! it is must be let through, with the differences that are by design: [`unlike_the_oracle`].

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::LazyLock;

use jsonschema::Validator;
use onepost_core::catalog::Nulls;
use onepost_core::json;
use serde_json::{Map, Value};

use crate::draw::{Draw, bytes_of};
use crate::echo::Checker;
use crate::judge;
use crate::near;
use crate::requests::Havoc;
use crate::words::PATTERNS;

macro_rules! snapshots {
    ($($tool:literal),*) => {
        [$(($tool, include_str!(concat!("../../functions/checklists/tests/it/snapshots/it__catalog__tool@", $tool, ".snap")))),*]
    };
}

/// The tools of checklists, from the snapshots that its tests hold against its catalog.
const CHECKLISTS: [(&str, &str); 17] = snapshots!(
    "list_assets",
    "get_asset",
    "create_asset",
    "update_asset",
    "delete_asset",
    "list_templates",
    "get_template",
    "create_template",
    "update_template",
    "delete_template",
    "create_run",
    "get_run",
    "list_runs",
    "delete_run",
    "list_members",
    "invite_member",
    "remove_member"
);

const LIBRARY: [&str; 9] =
    ["list_books", "count_books", "add_book", "lend_book", "burn_book", "ask_librarian", "print_catalogue", "order_book", "recite_lines"];

/// Every schema with a name.
static NAMED: LazyLock<Vec<(String, Value)>> = LazyLock::new(|| {
    let library = LIBRARY.iter().filter_map(|name| Some((format!("library/{name}"), judge::tool(0, name)?["inputSchema"].clone())));
    let checklists = CHECKLISTS.iter().map(|(name, snapshot)| {
        let tool = snapshot.splitn(3, "---\n").nth(2).expect("a snapshot has a head");
        let tool: Value = serde_json::from_str(tool).expect("a snapshot of a tool is JSON");
        (format!("checklists/{name}"), tool["inputSchema"].clone())
    });
    library.chain(checklists).collect()
});

/// The checker and the oracle for one schema.
struct Pair {
    checker: Checker,
    oracle: Validator,
}

impl Pair {
    fn under(schema: &Value) -> Option<Self> {
        let checker = Checker::under(schema)?;
        let oracle = jsonschema::validator_for(&checker.advertised).ok()?;
        Some(Self { checker, oracle })
    }
}

thread_local! {
    static KNOWN: RefCell<HashMap<String, Rc<Pair>>> = RefCell::default();
}

fn pair(schema: &str) -> Option<Rc<Pair>> {
    if schema.starts_with('{') {
        let schema = json::parse(schema).ok().filter(has_plain_patterns)?;
        return Some(Rc::new(Pair::under(&schema)?));
    }
    let (name, schema) = NAMED.iter().find(|(name, _)| name == schema)?;
    KNOWN.with_borrow_mut(|known| match known.get(name) {
        Some(pair) => Some(pair.clone()),
        None => {
            let pair = Rc::new(Pair::under(schema).expect("an advertised schema can be advertised"));
            known.insert(name.clone(), pair.clone());
            Some(pair)
        }
    })
}

/// Whether the patterns are some of those that are drawn, and not what became of one.
fn has_plain_patterns(schema: &Value) -> bool {
    let plain = |(name, value): (&String, &Value)| match value {
        Value::String(pattern) => name != "pattern" || PATTERNS.contains(&pattern.as_str()),
        inner => has_plain_patterns(inner),
    };
    schema.as_object().is_none_or(|members| members.iter().all(plain))
}

/// One input: what `null` means, the schema, the arguments.
struct Input<'i> {
    nulls: Nulls,
    schema: &'i str,
    arguments: &'i str,
}

impl<'i> Input<'i> {
    fn parse(input: &'i [u8]) -> Option<Self> {
        let (head, arguments) = std::str::from_utf8(input).ok()?.split_once('\n')?;
        let (mode, schema) = head.split_once(' ')?;
        let nulls = match mode {
            "keep" => Nulls::Absent,
            "change" => Nulls::Refused,
            _ => return None,
        };
        Some(Self { nulls, schema, arguments })
    }
}

/// Tries one input. `None` where there is nothing to try; else all that is wrong.
pub fn judge(input: &[u8]) -> Option<Vec<String>> {
    let input = Input::parse(input)?;
    let pair = pair(input.schema)?;
    // How a body is read is the other target's matter: three levels stand above the arguments.
    let sent = json::parse(input.arguments).ok().filter(|sent| depth(sent) < 60)?;
    let mut faults = Vec::new();
    match pair.checker.call(input.nulls, input.arguments) {
        Ok(got) => {
            for fault in pair.oracle.iter_errors(&got) {
                faults.push(format!("the tool got {got}, of which the oracle says at {}: {fault}", fault.instance_path()));
            }
            let object = object_of(&sent);
            if !object.is_some_and(|object| says_the_same(&object, &got)) {
                faults.push(format!("the tool got {got}, which says something else"));
            }
            // Once read, nothing is left to read otherwise.
            if pair.checker.call(input.nulls, &got.to_string()).as_ref() != Ok(&got) {
                faults.push(format!("sent again as the tool got them, {got} become something else"));
            }
        }
        Err(error) => {
            if let Some(object) = object_of(&sent)
                && pair.oracle.is_valid(&object)
                && !unlike_the_oracle(input.nulls == Nulls::Refused || told_of(&error, "minProperties"), &object)
            {
                faults.push(format!("the oracle accepts what is refused by {error}"));
            }
            told(&error, &mut faults);
        }
    }
    Some(faults)
}

/// The object that `arguments` stand for.
fn object_of(sent: &Value) -> Option<Value> {
    match sent {
        Value::Null => Some(Map::new().into()),
        Value::Object(_) => Some(sent.clone()),
        Value::String(text) => json::parse(text).ok().filter(Value::is_object),
        _ => None,
    }
}

/// What the oracle accepts and the checker need not: `null`, where it could mean to clear a value or to keep it, or means
/// absence and so counts for nothing; and a whole number written as a float that some reader rounds.
fn unlike_the_oracle(null_is: bool, value: &Value) -> bool {
    match value {
        Value::Null => null_is,
        Value::Number(number) => number.is_f64() && number.as_f64().is_some_and(|number| number.abs() > 9_007_199_254_740_991.0),
        Value::Array(items) => items.iter().any(|item| unlike_the_oracle(null_is, item)),
        Value::Object(members) => members.values().any(|member| unlike_the_oracle(null_is, member)),
        Value::Bool(_) | Value::String(_) => false,
    }
}

/// Whether a refusal names this keyword.
fn told_of(error: &Value, rule: &str) -> bool {
    error["data"]["errors"].as_array().is_some_and(|errors| errors.iter().any(|one| one["rule"] == rule))
}

/// Whether what the tool got says what was sent: the same, but for how a number is written, JSON as text where no text
/// was wanted, and `null` where it means absence.
fn says_the_same(sent: &Value, got: &Value) -> bool {
    match (sent, got) {
        _ if sent == got => true,
        (Value::Number(sent), Value::Number(got)) => sent.as_f64() == got.as_f64(),
        (Value::String(text), Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            json::parse(text).is_ok_and(|read| !read.is_string() && says_the_same(&read, got))
        }
        (Value::Array(sent), Value::Array(got)) => {
            sent.len() == got.len() && sent.iter().zip(got).all(|(sent, got)| says_the_same(sent, got))
        }
        (Value::Object(sent), Value::Object(got)) => {
            let kept = sent.iter().all(|(name, value)| got.get(name).map_or(value.is_null(), |got| says_the_same(value, got)));
            kept && got.keys().all(|name| sent.contains_key(name))
        }
        _ => false,
    }
}

/// A refusal says where and why, in words that can be shown.
fn told(error: &Value, faults: &mut Vec<String>) {
    let errors = error["data"]["errors"].as_array().map_or(&[][..], Vec::as_slice);
    if error["code"] != -32602 || errors.is_empty() {
        faults.push(format!("arguments are refused by {error}"));
    }
    let words = errors.iter().map(|one| &one["message"]).chain([&error["message"]]);
    for words in words.filter_map(Value::as_str) {
        if words.is_empty() || words.chars().any(char::is_control) {
            faults.push(format!("words that cannot be shown: {words:?}"));
        }
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}

/// Changes an input in place and returns its new length.
pub fn changed(data: &mut [u8], size: usize, max_size: usize, seed: u32, havoc: Havoc) -> usize {
    let bytes = bytes_of(seed);
    let mut draw = Draw::new(&bytes);
    let draw = &mut draw;
    if draw.once_in(8) {
        return havoc(data, size, max_size);
    }
    let old = Input::parse(&data[..size]).filter(|_| !draw.once_in(4));
    let mode = if draw.once_in(3) { "change" } else { "keep" };
    let (schema, value) = match old {
        Some(input) => (input.schema.to_owned(), json::parse(input.arguments).unwrap_or_default()),
        None if draw.once_in(2) => (draw.pick(&NAMED).0.clone(), Value::Null),
        None => (near::object_schema(draw, 3).to_string(), Value::Null),
    };
    let parsed = NAMED.iter().find(|(name, _)| *name == schema).map(|(_, schema)| schema.clone());
    let parsed = parsed.or_else(|| json::parse(&schema).ok()).unwrap_or_default();
    let value = match draw.below(4) {
        0 | 1 => near::to_schema(draw, &parsed),
        _ => with_a_change(draw, value, &parsed),
    };
    let text = format!("{mode} {schema}\n{value}");
    if text.len() > max_size || text.len() > data.len() {
        return havoc(data, size, max_size);
    }
    data[..text.len()].copy_from_slice(text.as_bytes());
    text.len()
}

/// Draws one argument anew.
fn with_a_change(draw: &mut Draw<'_>, value: Value, schema: &Value) -> Value {
    let Value::Object(mut members) = value else { return near::to_schema(draw, schema) };
    let names: Vec<&String> = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name).collect();
    if names.is_empty() || draw.once_in(5) {
        members.insert(near::text(draw), near::any(draw, 2));
    } else {
        let name = *draw.pick(&names);
        let drawn = if draw.once_in(5) { near::any(draw, 2) } else { near::to_schema(draw, &schema["properties"][name]) };
        members.insert(name.clone(), drawn);
    }
    members.into()
}
