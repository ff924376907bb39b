//! The schema file is public documentation, so it has to say what the code does: a general JSON Schema validator and
//! `Template::from_document` agree on which documents fit the schema, over generated documents and mutations of them.
//!
//! Members that only the store may set are left aside: the schema describes them, callers may not give them.

#![allow(clippy::unwrap_used)] // the lint knows test functions only, and not what they call

mod fixtures;

use std::cell::Cell;
use std::sync::OnceLock;

use checklists_rules::Template;
use checklists_rules::sample;
use checklists_rules::template::{SCHEMA, STORE_MEMBERS};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::{Map, Value, json};

fn oracle() -> &'static jsonschema::Validator {
    static ORACLE: OnceLock<jsonschema::Validator> = OnceLock::new();
    ORACLE.get_or_init(|| {
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        jsonschema::validator_for(&schema).unwrap()
    })
}

/// Faults of the schema, without those of the rules beyond it.
fn schema_faults(document: &Value) -> Vec<String> {
    let violations = fixtures::check(document.clone()).err().unwrap_or_default();
    // Faults of the schema are found and listed first: a count of more faults behind none of them is about other rules.
    let beyond = |rule: &str| rule == "more" || rule.strip_prefix('V').is_some_and(|number| number.parse::<u32>().is_ok());
    violations
        .into_iter()
        .filter(|violation| !beyond(&violation.rule))
        .map(|violation| format!("{} {}: {}", violation.pointer, violation.rule, violation.message))
        .collect()
}

fn cases(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
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
    let mut runner = TestRunner::new(cases(128));
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
    let mut runner = TestRunner::new(cases(256));
    runner
        .run(&document(), |mut document| {
            settle(&mut document);
            let Ok(template) = fixtures::check(document) else { return Ok(()) };
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
    let mut runner = TestRunner::new(cases(1_200));
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

type Json = BoxedStrategy<Value>;
/// A member with whether it has to be there.
type Member = (&'static str, bool, Json);

fn must(name: &'static str, value: Json) -> Member {
    (name, true, value)
}

fn may(name: &'static str, value: Json) -> Member {
    (name, false, value)
}

fn object(members: Vec<Member>) -> Json {
    let (given, values): (Vec<_>, Vec<_>) = members.into_iter().map(|(name, required, value)| ((name, required), (value, 0..10))).unzip();
    values
        .prop_map(move |values| {
            let members = given.iter().zip(values).filter(|((_, required), (_, roll))| *required || *roll < 4);
            Value::Object(members.map(|((name, _), (value, _))| ((*name).to_owned(), value)).collect::<Map<_, _>>())
        })
        .boxed()
}

fn list(item: Json, min: usize, max: usize) -> Json {
    prop::collection::vec(item, min..=max).prop_map(Value::Array).boxed()
}

fn words(words: &'static [&'static str]) -> Json {
    prop::sample::select(words).prop_map(Value::from).boxed()
}

fn distinct_words(of: &'static [&'static str]) -> Json {
    prop::sample::subsequence(of, 0..=of.len()).prop_map(|words| json!(words)).boxed()
}

fn matching(pattern: &'static str) -> Json {
    pattern.prop_map(Value::from).boxed()
}

/// Mostly short, now and then as long as is allowed, in characters of several bytes.
fn text(min: usize, max: usize) -> Json {
    let longest = "é".repeat(max);
    prop_oneof![
        12 => "[a-zé✓ ]{1,8}".prop_map(Value::from),
        1 => Just(Value::from(longest)),
        1 => Just(Value::from("e".repeat(min))),
    ]
    .boxed()
}

fn whole(min: i64, max: i64) -> Json {
    prop_oneof![4 => (min..=max).prop_map(Value::from), 1 => Just(json!(min as f64)), 1 => Just(json!(max))].boxed()
}

fn number() -> Json {
    prop_oneof![any::<i32>().prop_map(Value::from), (-1e6..1e6).prop_map(Value::from)].boxed()
}

fn percent() -> Json {
    prop_oneof![(0..=100).prop_map(Value::from), (0.0..=100.0).prop_map(Value::from)].boxed()
}

fn flag() -> Json {
    any::<bool>().prop_map(Value::from).boxed()
}

fn scalar() -> Json {
    prop_oneof![flag(), number(), text(0, 20)].boxed()
}

const OPS: &[&str] = &["eq", "neq", "gt", "lt", "gte", "lte", "contains", "not_contains"];
const STATES: &[&str] = &["answered", "skipped"];

fn condition() -> Json {
    let step = || must("step", matching("s-[a-z0-9]{3,12}"));
    let when = prop_oneof![
        object(vec![step(), must("op", words(OPS)), must("value", scalar())]),
        object(vec![step(), must("op", words(STATES))]),
    ];
    let leaf = when.prop_map(|when| json!({ "when": when })).boxed();
    leaf.prop_recursive(3, 8, 3, |inner| object(vec![must("op", words(&["and", "or"])), must("rules", list(inner.boxed(), 1, 3))])).boxed()
}

fn photo_rule() -> Json {
    object(vec![may("min", whole(0, 10)), may("max", whole(1, 10)), may("annotate", flag())])
}

fn evidence_rule() -> Json {
    let self_when = || {
        let ops = prop_oneof![words(OPS), words(STATES)].boxed();
        may("when", object(vec![must("op", ops), may("value", scalar())]))
    };
    let note = || object(vec![may("min_chars", whole(1, 1_000))]);
    prop_oneof![
        object(vec![self_when(), must("photo", photo_rule()), may("note", note())]),
        object(vec![self_when(), must("note", note())]),
    ]
    .boxed()
}

fn option() -> Json {
    object(vec![
        may("id", matching("o-[a-z0-9]{3,12}")),
        must("label", text(1, 120)),
        may("points", whole(0, 1_000)),
        may("fail", flag()),
        may("exclude", flag()),
    ])
}

fn step() -> Json {
    let of_type = |name: &'static str, required: bool, config: Vec<Member>| {
        let overlay = match name {
            "photo" => Just(json!(false)).boxed(),
            _ => prop_oneof![Just(json!(false)), photo_rule()].boxed(),
        };
        object(vec![
            may("id", matching("s-[a-z0-9]{3,12}")),
            must("type", Just(json!(name)).boxed()),
            must("label", text(1, 300)),
            may("hint", text(0, 1_000)),
            may("required", flag()),
            may("photo", overlay),
            may("geo", flag()),
            may("condition", condition()),
            may("note", words(&["off", "optional"])),
            may("evidence", list(evidence_rule(), 0, 2)),
            may("score", score()),
            ("config", required, object(config)),
            may("x_own", scalar()),
        ])
    };
    let bound = || text(0, 32);
    prop_oneof![
        of_type("boolean", false, vec![may("true_label", text(1, 60)), may("false_label", text(1, 60))]),
        of_type("choice", true, vec![must("options", list(option(), 2, 4))]),
        of_type(
            "multi_choice",
            true,
            vec![must("options", list(option(), 1, 4)), may("min_selected", whole(0, 50)), may("max_selected", whole(1, 50)),]
        ),
        of_type(
            "text",
            false,
            vec![
                may("multiline", flag()),
                may("min_length", whole(0, 5_000)),
                may("max_length", whole(1, 5_000)),
                may("format", words(&["plain", "email", "phone", "url"])),
                may("pattern", text(0, 200)),
                may("placeholder", text(0, 120)),
            ]
        ),
        of_type("number", false, vec![may("min", number()), may("max", number()), may("decimals", whole(0, 6)), may("unit", text(0, 16)),]),
        of_type(
            "rating",
            false,
            vec![may("min", whole(0, 1)), may("max", whole(3, 10)), may("min_label", text(0, 40)), may("max_label", text(0, 40)),]
        ),
        of_type(
            "photo",
            false,
            vec![may("min", whole(0, 10)), may("max", whole(1, 10)), may("annotate", flag()), may("source", words(&["camera", "any"])),]
        ),
        of_type("signature", false, vec![may("signer_name", words(&["off", "optional", "required"]))]),
        of_type("instruction", false, vec![may("body", text(0, 10_000)), may("acknowledge", flag())]),
        of_type(
            "barcode",
            false,
            vec![
                may("formats", distinct_words(&["qr", "code_128", "code_39", "ean_13", "upc_a", "data_matrix", "pdf_417", "vin",])),
                may("allow_manual", flag()),
                may("expect_asset_field", text(0, 64)),
            ]
        ),
        of_type(
            "datetime",
            false,
            vec![may("mode", words(&["date", "datetime", "time"])), may("not_before", bound()), may("not_after", bound()),]
        ),
    ]
    .boxed()
}

fn score() -> Json {
    object(vec![
        may("points", whole(0, 1_000)),
        may("pass_value", flag()),
        may("pass_min", number()),
        may("pass_max", number()),
        may("critical", flag()),
    ])
}

fn section() -> Json {
    object(vec![
        may("id", matching("g-[a-z0-9]{3,12}")),
        may("title", text(0, 120)),
        may("description", text(0, 1_000)),
        may("condition", condition()),
        may("pass_percent", percent()),
        must("steps", list(step(), 0, 2)),
        may("x_own", scalar()),
    ])
}

fn document() -> Json {
    let minutes = prop_oneof![whole(1, 1_440), Just(json!(0.5))].boxed();
    let settings = object(vec![
        may("allow_skip", flag()),
        may("signature_on_complete", flag()),
        may("voice", flag()),
        may("est_minutes", minutes),
        may("timezone", text(0, 64)),
        may("layout", words(&["one_per_screen", "section_per_screen"])),
        may("allow_edit", flag()),
        may("review_before_submit", flag()),
        may("photo_long_edge", whole(1_024, 4_096)),
    ]);
    let execution = object(vec![
        may("scope", words(&["any", "org", "assigned"])),
        may("identity_required", words(&["none", "external", "member"])),
        may("external_fields", distinct_words(&["name", "phone", "email"])),
    ]);
    let scoring = object(vec![may("enabled", flag()), may("pass_percent", percent()), may("show_to_executor", flag())]);
    let texts = prop::collection::btree_map(
        "(template|[gso]-[a-z0-9]{3,12})\\.(name|description|title|label|hint|body|true_label|false_label|placeholder)",
        text(0, 200),
        0..3,
    )
    .prop_map(|texts| json!(texts));
    let translations =
        prop::collection::btree_map("[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,2}", texts, 0..3).prop_map(|languages| json!(languages)).boxed();
    let shared = move || {
        vec![
            may("tdl", Just(json!("1.0")).boxed()),
            must("name", text(1, 120)),
            may("description", text(0, 2_000)),
            may("tags", distinct_words(&["a", "b", "cleaning", "élan"])),
            may("locale", matching("[a-z]{2,3}(-[A-Za-z0-9]{2,8})?")),
            may("settings", settings.clone()),
            may("execution", execution.clone()),
            may("scoring", scoring.clone()),
            may("translations", translations.clone()),
            may("x_own", scalar()),
        ]
    };
    let with = |member: Member| object(shared().into_iter().chain([member]).collect());
    prop_oneof![with(may("sections", list(section(), 0, 2))), with(may("steps", list(step(), 0, 3)))].boxed()
}
