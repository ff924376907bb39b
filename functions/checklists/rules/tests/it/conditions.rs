//! Which steps are shown.

use checklists_rules::answer::Given;
use checklists_rules::condition::Visibility;
use checklists_rules::{Run, Template};
use serde_json::{Value, json};

use crate::fixtures::{Stage, answer, clear, complete, give, minute, skip, steps, template};

fn shows(template: &Template, run: &Run, step_id: &str) -> bool {
    Visibility::of(template, &run.answers).shows(step_id)
}

/// A step of the given type, and one that is shown when the comparison with it holds.
fn pair(source: Value, op: &str, value: Value) -> Template {
    let mut source = source;
    source["id"] = json!("s-source");
    source["label"] = json!("Source");
    let mut when = json!({ "step": "s-source", "op": op });
    if !value.is_null() {
        when["value"] = value;
    }
    template(json!({
        "name": "Pair",
        "settings": { "allow_skip": true },
        "steps": [source, { "id": "s-target", "type": "photo", "label": "Target", "condition": { "when": when } }],
    }))
}

#[test]
fn comparisons_with_every_type_of_answer() {
    let options = json!({ "options": [{ "id": "o-aaa", "label": "a" }, { "id": "o-bbb", "label": "b" }] });
    let boolean = json!({ "type": "boolean" });
    let choice = json!({ "type": "choice", "config": options });
    let multi = json!({ "type": "multi_choice", "config": options });
    let text = json!({ "type": "text" });
    let number = json!({ "type": "number", "config": { "decimals": 3 } });
    let rating = json!({ "type": "rating" });
    let barcode = json!({ "type": "barcode" });
    let date = json!({ "type": "datetime" });
    let moment = json!({ "type": "datetime", "config": { "mode": "datetime" } });
    for (source, op, value, given, expected) in [
        (&boolean, "eq", json!(true), json!(true), true),
        (&boolean, "eq", json!(true), json!(false), false),
        (&boolean, "neq", json!(true), json!(false), true),
        (&choice, "eq", json!("o-aaa"), json!("o-aaa"), true),
        (&choice, "neq", json!("o-aaa"), json!("o-bbb"), true),
        (&multi, "contains", json!("o-aaa"), json!(["o-bbb", "o-aaa"]), true),
        (&multi, "contains", json!("o-aaa"), json!(["o-bbb"]), false),
        (&multi, "not_contains", json!("o-aaa"), json!([]), true),
        (&multi, "eq", json!("o-aaa"), json!(["o-aaa"]), true),
        (&multi, "eq", json!("o-aaa"), json!(["o-aaa", "o-bbb"]), false),
        (&multi, "neq", json!("o-aaa"), json!(["o-aaa", "o-bbb"]), true),
        (&text, "eq", json!("Sand"), json!("Sand"), true),
        (&text, "eq", json!("Sand"), json!("sand"), false),
        (&text, "eq", json!("Sand"), json!("Sand "), false),
        (&text, "contains", json!("an"), json!("Sand"), true),
        (&text, "contains", json!("AN"), json!("Sand"), false),
        (&text, "not_contains", json!("."), json!("Sand"), true),
        (&number, "eq", json!(0.1), json!(0.10), true),
        (&number, "eq", json!(5), json!(5.0), true),
        (&number, "gt", json!(9), json!(10), true),
        (&number, "gt", json!(10), json!(10), false),
        (&number, "gte", json!(10), json!(10.000), true),
        (&number, "lt", json!(-1), json!(-1.5), true),
        (&number, "lte", json!(0.125), json!(0.126), false),
        (&rating, "lte", json!(2), json!(2), true),
        (&rating, "neq", json!(2), json!(2.0), false),
        (&barcode, "eq", json!("0042"), json!("0042"), true),
        (&barcode, "eq", json!("42"), json!("0042"), false),
        (&date, "eq", json!("2027-03-01"), json!("2027-03-01"), true),
        (&moment, "eq", json!("2027-03-01T14:00:00Z"), json!("2027-03-01T14:00:00.000Z"), true),
    ] {
        let mut stage = Stage::new(pair(source.clone(), op, value.clone()));
        stage.accept(answer("s-source", given.clone()));
        assert_eq!(shows(&stage.template, &stage.run, "s-target"), expected, "{given} {op} {value}");
    }
}

#[test]
fn without_an_answer_every_comparison_is_false_even_the_negative_ones() {
    for (op, value, shown_when_skipped) in [
        ("eq", json!("a"), false),
        ("neq", json!("a"), false),
        ("contains", json!("a"), false),
        ("not_contains", json!("a"), false),
        ("answered", Value::Null, false),
        ("skipped", Value::Null, true),
    ] {
        let mut stage = Stage::new(pair(json!({ "type": "text" }), op, value));
        assert!(!shows(&stage.template, &stage.run, "s-target"), "{op} of an open step");
        stage.accept(skip("s-source"));
        assert_eq!(shows(&stage.template, &stage.run, "s-target"), shown_when_skipped, "{op} of a skipped step");
    }
}

#[test]
fn answered_and_skipped_look_at_the_state_of_any_step() {
    let mut stage = Stage::new(pair(json!({ "type": "instruction" }), "answered", Value::Null));
    stage.accept(answer("s-source", Value::Null));
    assert!(shows(&stage.template, &stage.run, "s-target"));
    stage.accept(skip("s-source"));
    assert!(!shows(&stage.template, &stage.run, "s-target"));
}

/// Three steps in a row, each shown by the one before it.
fn chain() -> Stage {
    let when = |step: &str, op: &str| json!({ "when": { "step": step, "op": op, "value": true } });
    Stage::of_steps(json!([
        { "id": "s-one", "type": "boolean", "label": "One" },
        { "id": "s-two", "type": "boolean", "label": "Two", "required": true, "condition": when("s-one", "eq") },
        { "id": "s-thr", "type": "boolean", "label": "Three", "condition": when("s-two", "neq") },
    ]))
}

#[test]
fn a_hidden_source_hides_what_depends_on_it_and_its_answer_comes_back_with_it() {
    let mut stage = chain();
    stage.accept(answer("s-one", true));
    stage.accept(answer("s-two", false));
    assert!(shows(&stage.template, &stage.run, "s-thr"));

    stage.accept(answer("s-one", false));
    assert!(!shows(&stage.template, &stage.run, "s-two"));
    assert!(!shows(&stage.template, &stage.run, "s-thr"), "the answer of a hidden step counts for nothing");
    assert_eq!(stage.run.hidden_answers(&stage.template), ["s-two"]);

    stage.accept(answer("s-one", true));
    assert!(shows(&stage.template, &stage.run, "s-thr"));
    assert_eq!(stage.run.answers["s-two"].value, json!(false));
}

#[test]
fn progress_moves_as_branches_open_and_close() {
    let mut stage = chain();
    let count = |stage: &Stage| (stage.run.progress.answered, stage.run.progress.total);
    assert_eq!(count(&stage), (0, 1));
    stage.accept(answer("s-one", true));
    assert_eq!(count(&stage), (1, 2));
    stage.accept(answer("s-two", false));
    assert_eq!(count(&stage), (2, 3));
    stage.accept(answer("s-one", false));
    assert_eq!(count(&stage), (1, 1));
    stage.accept(clear("s-one"));
    assert_eq!(count(&stage), (0, 1));
}

#[test]
fn required_is_void_on_a_hidden_step_and_hidden_answers_are_dropped_when_handed_in() {
    let mut stage = chain();
    stage.accept(answer("s-one", true));
    assert_eq!(stage.refuse(complete()), "incomplete_run");
    stage.accept(answer("s-two", false));
    stage.accept(answer("s-one", false));
    let change = stage.accept(complete());
    assert_eq!(change.removed, ["s-two"]);
    assert_eq!(stage.run.answers.keys().collect::<Vec<_>>(), ["s-one"]);
}

#[test]
fn a_section_hides_all_its_steps() {
    let template = template(json!({ "name": "Sections", "sections": [
        { "id": "g-one", "steps": [{ "id": "s-pets", "type": "boolean", "label": "Pets?" }] },
        { "id": "g-two", "condition": { "when": { "step": "s-pets", "op": "eq", "value": true } }, "steps": [
            { "id": "s-hair", "type": "boolean", "label": "Hair on the sofa?" },
            { "id": "s-bowl", "type": "boolean", "label": "Bowl washed?",
              "condition": { "when": { "step": "s-hair", "op": "answered" } } },
        ] },
    ]}));
    let mut stage = Stage::new(template);
    assert_eq!(stage.refuse(answer("s-hair", true)), "step_hidden");
    stage.accept(answer("s-pets", true));
    stage.accept(answer("s-hair", true));
    assert!(shows(&stage.template, &stage.run, "s-bowl"));
    stage.accept(answer("s-pets", false));
    assert!(!shows(&stage.template, &stage.run, "s-bowl"));
}

#[test]
fn groups_join_with_and_or() {
    let eq = |step: &str| json!({ "when": { "step": step, "op": "eq", "value": true } });
    let template = steps(json!([
        { "id": "s-aaa", "type": "boolean", "label": "a" },
        { "id": "s-bbb", "type": "boolean", "label": "b" },
        { "id": "s-ccc", "type": "boolean", "label": "c" },
        { "id": "s-target", "type": "boolean", "label": "Target", "condition": { "op": "or", "rules": [
            eq("s-aaa"),
            { "op": "and", "rules": [eq("s-bbb"), eq("s-ccc")] },
        ] } },
    ]));
    for bits in 0..8 {
        let (a, b, c) = (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0);
        let mut stage = Stage::new(template.clone());
        stage.at(minute(5));
        for (step_id, value) in [("s-aaa", a), ("s-bbb", b), ("s-ccc", c)] {
            stage.accept(give(step_id, Given::value(value)));
        }
        assert_eq!(shows(&stage.template, &stage.run, "s-target"), a || (b && c), "{a} {b} {c}");
    }
}
