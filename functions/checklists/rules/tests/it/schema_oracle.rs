//! The schema file is public documentation, so it has to say what the code does: a general JSON Schema validator and
//! `Template::from_document` agree on which documents fit the schema, over generated documents and mutations of them.
//!
//! Members that only the store may set are left aside: the schema describes them, callers may not give them.

mod documents;

use std::cell::Cell;
use std::sync::OnceLock;

use checklists_rules::Template;
use checklists_rules::sample;
use checklists_rules::template::{SCHEMA, STORE_MEMBERS};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{TestCaseError, TestRunner};
use serde_json::{Value, json};

use crate::fixtures::{check, search};
use documents::document;

fn oracle() -> &'static jsonschema::Validator {
    static ORACLE: OnceLock<jsonschema::Validator> = OnceLock::new();
    ORACLE.get_or_init(|| {
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        jsonschema::validator_for(&schema).unwrap()
    })
}

/// Faults of the schema, without those of the rules beyond it.
fn schema_faults(document: &Value) -> Vec<String> {
    let violations = check(document.clone()).err().unwrap_or_default();
    // Faults of the schema are found and listed first: a count of more faults behind none of them is about other rules.
    let beyond = |rule: &str| rule == "more" || rule.strip_prefix('V').is_some_and(|number| number.parse::<u32>().is_ok());
    violations
        .into_iter()
        .filter(|violation| !beyond(&violation.rule))
        .map(|violation| format!("{} {}: {}", violation.pointer, violation.rule, violation.message))
        .collect()
}

fn agree(document: &Value) -> Result<bool, TestCaseError> {
    let faults = schema_faults(document);
    let valid = oracle().is_valid(document);
    prop_assert_eq!(
        faults.is_empty(),
        valid,
        "the code says {:?}, the schema says {:?}",
        faults,
        oracle().iter_errors(document).map(|error| error.to_string()).collect::<Vec<_>>()
    );
    Ok(valid)
}

#[test]
fn the_schema_file_is_a_schema_and_the_sample_fits_it() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    assert!(jsonschema::meta::is_valid(&schema));
    let sample = sample::every_step_type();
    assert!(oracle().is_valid(&sample));
    assert_eq!(schema_faults(&sample), Vec::<String>::new());
}

#[test]
fn generated_documents_that_fit_the_schema_are_accepted_by_both() {
    let mut runner = TestRunner::new(search(128));
    runner
        .run(&document(), |document| {
            prop_assert!(agree(&document)?, "the generator is meant to follow the schema");
            Ok(())
        })
        .unwrap();
}

#[test]
fn an_accepted_document_is_a_fixed_point_and_survives_the_store() {
    /// What mostly breaks a rule beyond the schema when it is generated.
    const FRAGILE: [&str; 8] = ["condition", "evidence", "translations", "timezone", "scoring", "pattern", "not_before", "not_after"];
    fn settle(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.retain(|name, _| !FRAGILE.contains(&name.as_str()));
                members.values_mut().for_each(settle);
            }
            Value::Array(items) => items.iter_mut().for_each(settle),
            _ => {}
        }
    }
    let accepted = Cell::new(0);
    let mut runner = TestRunner::new(search(256));
    runner
        .run(&document(), |mut document| {
            settle(&mut document);
            let Ok(template) = check(document) else { return Ok(()) };
            let canonical = template.to_document();
            prop_assert!(oracle().is_valid(&canonical));
            let text = canonical.to_string();
            let again = Template::from_document(canonical, &mut |kind| panic!("asked for an id of {kind:?}"));
            prop_assert_eq!(&again.unwrap(), &template);
            let stored: Template = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(&stored, &template);
            prop_assert_eq!(stored.to_document().to_string(), text);
            accepted.set(accepted.get() + 1);
            Ok(())
        })
        .unwrap();
    assert!(accepted.get() > 60, "{} accepted", accepted.get());
}

#[test]
fn a_single_mutation_is_judged_the_same_by_both() {
    let (accepted, refused) = (Cell::new(0), Cell::new(0));
    let mut runner = TestRunner::new(search(1_200));
    runner
        .run(&(document(), any::<Index>(), mutation()), |(mut document, place, mutation)| {
            mutate(&mut document, place, &mutation);
            if document.as_object().is_some_and(|root| STORE_MEMBERS.iter().any(|name| root.contains_key(*name))) {
                return Ok(());
            }
            let count = if agree(&document)? { &accepted } else { &refused };
            count.set(count.get() + 1);
            Ok(())
        })
        .unwrap();
    // Neither verdict is rare, or the test would say little.
    assert!(accepted.get() > 100, "{} accepted", accepted.get());
    assert!(refused.get() > 100, "{} refused", refused.get());
}

#[test]
fn every_member_of_the_sample_is_judged_the_same_when_it_is_replaced() {
    let sample = sample::every_step_type();
    for (place, pointer) in pointers(&sample).into_iter().enumerate() {
        // A third of the values for each member, in turn: every kind of member meets every value somewhere.
        for value in odd_values().into_iter().skip(place % 3).step_by(3) {
            let mut document = sample.clone();
            *document.pointer_mut(&pointer).unwrap() = value;
            agree(&document).unwrap();
        }
    }
}

fn odd_values() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(-0.0),
        json!(1.0),
        json!(1.5),
        json!(-1),
        json!(11),
        json!(1e300),
        json!(u64::MAX),
        json!(""),
        json!("x"),
        json!("o-abc"),
        json!([]),
        json!({}),
        json!(["a", "a"]),
        json!({ "a": 1 }),
    ]
}

fn pointers(value: &Value) -> Vec<String> {
    fn walk(value: &Value, at: String, into: &mut Vec<String>) {
        match value {
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(index, item)| walk(item, format!("{at}/{index}"), into));
            }
            Value::Object(members) => {
                let escape = |name: &str| name.replace('~', "~0").replace('/', "~1");
                members.iter().for_each(|(name, member)| walk(member, format!("{at}/{}", escape(name)), into));
            }
            _ => {}
        }
        into.push(at);
    }
    let mut into = Vec::new();
    walk(value, String::new(), &mut into);
    into
}

/// One change at one place of a document.
#[derive(Clone, Debug)]
enum Mutation {
    Replace(Value),
    /// Leaves a member out.
    Remove(Index),
    Add(&'static str, Value),
    /// Strings get this many characters, lists this many items.
    Resize(usize),
    /// Numbers move by so many halves; moving by none turns a whole number into a float.
    Shift(i32),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    const NAMES: [&str; 24] = [
        "x_own", "x_", "X_own", "x_Own", "id", "type", "label", "steps", "sections", "when", "op", "rules", "value", "photo", "note",
        "config", "options", "min", "max", "points", "evidence", "title", "colour", "",
    ];
    const LENGTHS: [usize; 17] = [0, 1, 2, 3, 5, 6, 16, 17, 20, 21, 40, 41, 51, 61, 64, 65, 121];
    let value = prop::sample::select(odd_values());
    prop_oneof![
        2 => value.clone().prop_map(Mutation::Replace),
        3 => any::<Index>().prop_map(Mutation::Remove),
        3 => (prop::sample::select(&NAMES[..]), value).prop_map(|(name, value)| Mutation::Add(name, value)),
        3 => prop::sample::select(&LENGTHS[..]).prop_map(Mutation::Resize),
        3 => (-4..=4).prop_map(Mutation::Shift),
    ]
}

fn mutate(document: &mut Value, place: Index, mutation: &Mutation) {
    let suits = |value: &Value| match mutation {
        Mutation::Replace(_) => true,
        Mutation::Remove(_) => value.as_object().is_some_and(|members| !members.is_empty()),
        Mutation::Add(..) => value.is_object(),
        Mutation::Resize(_) => value.is_string() || value.as_array().is_some_and(|items| !items.is_empty()),
        Mutation::Shift(_) => value.is_number(),
    };
    let places: Vec<String> = pointers(document).into_iter().filter(|pointer| suits(document.pointer(pointer).unwrap())).collect();
    if places.is_empty() {
        return;
    }
    let target = document.pointer_mut(&places[place.index(places.len())]).unwrap();
    match (mutation, target) {
        (Mutation::Replace(value), target) => *target = value.clone(),
        (Mutation::Remove(which), Value::Object(members)) => {
            let name = members.keys().nth(which.index(members.len())).unwrap().clone();
            members.remove(&name);
        }
        (Mutation::Add(name, value), Value::Object(members)) => {
            members.insert((*name).to_owned(), value.clone());
        }
        (Mutation::Resize(length), Value::String(text)) => {
            let filler = text.chars().next().unwrap_or('é');
            *text = text.chars().chain(std::iter::repeat(filler)).take(*length).collect();
        }
        (Mutation::Resize(length), Value::Array(items)) => {
            *items = items.iter().cycle().take(*length).cloned().collect();
        }
        (Mutation::Shift(halves), Value::Number(number)) => {
            let moved = number.as_f64().unwrap() + f64::from(*halves) / 2.0;
            *number = serde_json::Number::from_f64(moved).unwrap();
        }
        (mutation, target) => panic!("{mutation:?} does not suit {target}"),
    }
}
