//! Documents that follow the schema.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

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

/// A document that follows the schema; the rules beyond it are broken now and then.
pub fn document() -> Json {
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
