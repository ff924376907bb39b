//! What a template may say.

use checklists_rules::Template;
use checklists_rules::template::{STORE_MEMBERS, StepKind};
use serde_json::{Value, json};

use crate::fixtures::{check, found, template};

/// A template with these steps and nothing else.
fn with_steps(steps: Value) -> Value {
    json!({ "name": "Test", "sections": [{ "id": "g-one", "steps": steps }] })
}

fn choice(id: &str, options: [&str; 2]) -> Value {
    let options: Vec<Value> = options.iter().map(|id| json!({ "id": id, "label": id })).collect();
    json!({ "id": id, "type": "choice", "label": "Choose", "config": { "options": options } })
}

fn when(step: &str, op: &str, value: Value) -> Value {
    let mut when = json!({ "step": step, "op": op });
    if !value.is_null() {
        when["value"] = value;
    }
    json!({ "when": when })
}

/// A document that breaks exactly one rule, in one place.
fn assert_breaks(rule: &str, pointer: &str, document: Value) {
    assert_eq!(found(document.clone()), [(pointer.to_owned(), rule.to_owned())], "{document}");
}

#[test]
fn v1_ids_are_unique_over_the_whole_template() {
    assert_breaks(
        "V1",
        "/sections/0/steps/1/id",
        with_steps(json!([
            { "id": "s-twice", "type": "photo", "label": "One" },
            { "id": "s-twice", "type": "photo", "label": "Two" },
        ])),
    );
    assert_breaks("V1", "/sections/0/steps/0/config/options/1/id", with_steps(json!([choice("s-one", ["o-aaa", "o-aaa"])])));
    assert_breaks(
        "V1",
        "/sections/0/steps/1/config/options/0/id",
        with_steps(json!([choice("s-one", ["o-aaa", "o-bbb"]), choice("s-two", ["o-bbb", "o-ccc"]),])),
    );
    assert_breaks(
        "V1",
        "/sections/1/id",
        json!({ "name": "Test", "sections": [
            { "id": "g-one", "steps": [] }, { "id": "g-one", "steps": [] },
        ]}),
    );
}

#[test]
fn v2_a_condition_looks_back_only() {
    let pointer = "/sections/0/steps/0/condition/when/step";
    let of_first = |condition: Value| {
        with_steps(json!([
            { "id": "s-one", "type": "boolean", "label": "One", "condition": condition },
            { "id": "s-two", "type": "boolean", "label": "Two" },
        ]))
    };
    assert_breaks("V2", pointer, of_first(when("s-two", "eq", json!(true))));
    assert_breaks("V2", pointer, of_first(when("s-one", "answered", Value::Null)));
    assert_breaks("V2", pointer, of_first(when("s-none", "answered", Value::Null)));
}

#[test]
fn v2_a_section_looks_at_earlier_sections_only() {
    let document = |condition: Value| {
        json!({ "name": "Test", "sections": [
            { "id": "g-one", "steps": [{ "id": "s-one", "type": "boolean", "label": "One" }] },
            { "id": "g-two", "condition": condition, "steps": [{ "id": "s-two", "type": "boolean", "label": "Two" }] },
        ]})
    };
    assert!(check(document(when("s-one", "eq", json!(true)))).is_ok());
    assert_breaks("V2", "/sections/1/condition/when/step", document(when("s-two", "eq", json!(true))));
}

#[test]
fn v3_and_v4_the_comparison_and_its_value_fit_the_step() {
    let sources = json!([
        { "id": "s-bool", "type": "boolean", "label": "l" },
        choice("s-choice", ["o-aaa", "o-bbb"]),
        { "id": "s-multi", "type": "multi_choice", "label": "l",
          "config": { "options": [{ "id": "o-mmm", "label": "l" }] } },
        { "id": "s-text", "type": "text", "label": "l" },
        { "id": "s-number", "type": "number", "label": "l" },
        { "id": "s-rating", "type": "rating", "label": "l" },
        { "id": "s-photo", "type": "photo", "label": "l" },
        { "id": "s-sign", "type": "signature", "label": "l" },
        { "id": "s-read", "type": "instruction", "label": "l" },
        { "id": "s-code", "type": "barcode", "label": "l" },
        { "id": "s-date", "type": "datetime", "label": "l" },
    ]);
    let verdict = |condition: Value| {
        let mut steps = sources.as_array().unwrap().clone();
        steps.push(json!({ "id": "s-last", "type": "photo", "label": "l", "condition": condition }));
        match check(with_steps(Value::Array(steps))) {
            Ok(_) => "fits".to_owned(),
            Err(violations) => {
                assert_eq!(violations.len(), 1, "{violations:#?}");
                assert!(violations[0].pointer.starts_with("/sections/0/steps/11/condition/when/"), "{violations:#?}");
                violations[0].rule.clone()
            }
        }
    };
    for (step, op, value, expected) in [
        ("s-bool", "eq", json!(true), "fits"),
        ("s-bool", "neq", json!(false), "fits"),
        ("s-bool", "eq", json!("true"), "V4"),
        ("s-bool", "gt", json!(true), "V3"),
        ("s-choice", "eq", json!("o-aaa"), "fits"),
        ("s-choice", "eq", json!("o-mmm"), "V4"),
        ("s-choice", "contains", json!("o-aaa"), "V3"),
        ("s-multi", "contains", json!("o-mmm"), "fits"),
        ("s-multi", "not_contains", json!("o-aaa"), "V4"),
        ("s-multi", "eq", json!("o-mmm"), "fits"),
        ("s-text", "contains", json!("sand"), "fits"),
        ("s-text", "contains", json!(""), "V4"),
        ("s-text", "eq", json!(5), "V4"),
        ("s-text", "lt", json!("b"), "V3"),
        ("s-number", "gte", json!(2.5), "fits"),
        ("s-number", "lte", json!("2.5"), "V4"),
        ("s-number", "contains", json!(2), "V3"),
        ("s-rating", "lt", json!(3), "fits"),
        ("s-rating", "eq", json!(3.0), "fits"),
        ("s-rating", "eq", json!(2.5), "V4"),
        ("s-photo", "answered", Value::Null, "fits"),
        ("s-photo", "eq", json!(1), "V3"),
        ("s-sign", "skipped", Value::Null, "fits"),
        ("s-sign", "neq", json!("x"), "V3"),
        ("s-read", "answered", Value::Null, "fits"),
        ("s-read", "eq", json!(true), "V3"),
        ("s-code", "eq", json!("4006381333931"), "fits"),
        ("s-code", "eq", json!(4006381333931_u64), "V4"),
        ("s-code", "contains", json!("400"), "V3"),
        ("s-date", "eq", json!("2027-03-01"), "fits"),
        ("s-date", "eq", json!("1 March"), "V4"),
        ("s-date", "gt", json!("2027-03-01"), "V3"),
    ] {
        assert_eq!(verdict(when(step, op, value.clone())), expected, "{step} {op} {value}");
    }
}

#[test]
fn v3_and_v4_hold_for_the_rules_of_a_steps_own_answer() {
    let own =
        |when: Value| with_steps(json!([{ "id": "s-one", "type": "boolean", "label": "l", "evidence": [{ "when": when, "note": {} }] }]));
    assert!(check(own(json!({ "op": "eq", "value": false }))).is_ok());
    assert!(check(own(json!({ "op": "skipped" }))).is_ok());
    let at = "/sections/0/steps/0/evidence/0/when";
    assert_breaks("V3", &format!("{at}/op"), own(json!({ "op": "contains", "value": "x" })));
    assert_breaks("V4", &format!("{at}/value"), own(json!({ "op": "eq", "value": "false" })));
    assert_breaks("V4", at, own(json!({ "op": "eq" })));
    assert_breaks("V4", at, own(json!({ "op": "answered", "value": true })));
}

#[test]
fn v5_groups_nest_three_deep_and_hold_ten_comparisons() {
    let last = |condition: Value| {
        with_steps(json!([
            { "id": "s-one", "type": "boolean", "label": "One" },
            { "id": "s-two", "type": "boolean", "label": "Two", "condition": condition },
        ]))
    };
    let leaf = when("s-one", "eq", json!(true));
    let group = |rules: Vec<Value>| json!({ "op": "and", "rules": rules });
    let three = group(vec![group(vec![group(vec![leaf.clone()])])]);
    assert!(check(last(three.clone())).is_ok());
    assert_breaks("V5", "/sections/0/steps/1/condition", last(group(vec![three])));
    let five = group(vec![leaf.clone(); 5]);
    assert!(check(last(group(vec![five.clone(), five.clone()]))).is_ok());
    assert_breaks("V5", "/sections/0/steps/1/condition", last(group(vec![five.clone(), five, leaf])));
}

#[test]
fn v6_lower_bounds_do_not_exceed_upper_bounds() {
    let at = "/sections/0/steps/0";
    for (place, step) in [
        ("/photo", json!({ "type": "text", "photo": { "min": 3, "max": 2 } })),
        ("/evidence/0/photo", json!({ "type": "text", "evidence": [{ "photo": { "min": 9, "max": 8 } }] })),
        ("/config", json!({ "type": "photo", "config": { "min": 5, "max": 4 } })),
        ("/config", json!({ "type": "text", "config": { "min_length": 11, "max_length": 10 } })),
        // Without an upper bound a text ends at 2,000 characters.
        ("/config", json!({ "type": "text", "config": { "min_length": 2001 } })),
        ("/config", json!({ "type": "number", "config": { "min": 0.2, "max": 0.1 } })),
        ("/score", json!({ "type": "number", "score": { "pass_min": 5, "pass_max": 4.9 } })),
        ("/config/not_after", json!({ "type": "datetime", "config": { "not_after": "tomorrow" } })),
        ("/config", json!({ "type": "datetime", "config": { "not_before": "2027-03-02", "not_after": "2027-03-01" } })),
        (
            "/config",
            json!({ "type": "multi_choice", "config": {
            "options": [{ "label": "a" }, { "label": "b" }, { "label": "c" }], "min_selected": 3, "max_selected": 2 } }),
        ),
        (
            "/config/min_selected",
            json!({ "type": "multi_choice", "config": {
            "options": [{ "label": "a" }], "min_selected": 2 } }),
        ),
    ] {
        let mut step = step;
        step["label"] = json!("l");
        assert_breaks("V6", &format!("{at}{place}"), with_steps(json!([step])));
    }
    // One photo at least is a photo step's default, which `max` alone does not cross.
    assert!(check(with_steps(json!([{ "type": "photo", "label": "l", "config": { "max": 1 } }]))).is_ok());
}

#[test]
fn v7_a_template_has_at_most_300_steps() {
    let sections = |sizes: &[usize]| {
        let section = |size: &usize| json!({ "steps": vec![json!({ "type": "photo", "label": "l" }); *size] });
        json!({ "name": "Test", "sections": sizes.iter().map(section).collect::<Vec<_>>() })
    };
    assert_eq!(template(sections(&[100, 100, 100])).step_count(), 300);
    assert_breaks("V7", "", sections(&[100, 100, 100, 1]));
    assert_breaks("maxItems", "/sections/0/steps", sections(&[101]));
    assert_breaks("maxItems", "/sections", sections(&[0; 51]));
}

#[test]
fn v7_a_template_has_at_most_256_kibibytes_with_the_ids_that_are_filled_in() {
    let sized = |bytes: usize| {
        let empty = json!({ "name": "Test", "x_blob": "" }).to_string().len();
        json!({ "name": "Test", "x_blob": "b".repeat(bytes - empty) })
    };
    assert!(check(sized(256 * 1024)).is_ok());
    assert_breaks("V7", "", sized(256 * 1024 + 1));

    let mut document = sized(256 * 1024 - 30);
    document["sections"] = json!([{ "steps": [] }]);
    assert!(serde_json::to_string(&document).unwrap().len() <= 256 * 1024);
    assert_breaks("V7", "", document);
}

#[test]
fn v8_a_required_instruction_is_allowed_and_has_to_be_acknowledged() {
    let step = |config: Value| {
        let template = template(with_steps(json!([
            { "type": "instruction", "label": "Read", "required": true, "config": config },
        ])));
        template.sections()[0].steps[0].blocks_completion()
    };
    assert!(step(json!({})));
    assert!(!step(json!({ "acknowledge": false })), "what cannot be acknowledged cannot block");
}

#[test]
fn v9_a_pattern_compiles_in_a_linear_time_engine() {
    let text = |pattern: &str| with_steps(json!([{ "type": "text", "label": "l", "config": { "pattern": pattern } }]));
    for good in ["[A-Z]{2}\\d{3}", "^abc$", "a|b", "", "\\+?[0-9 ]+", "(?x) \\d+ # digits (or none", "a|", "(?x)"] {
        assert!(check(text(good)).is_ok(), "{good}");
    }
    for bad in ["(?=a)b", "(a)\\1", "(?<!a)b", "(", "a)|(b", "[z-a]", "(?:(?:a{100}){100}){100}", "\\p{Greek}"] {
        assert_breaks("V9", "/sections/0/steps/0/config/pattern", text(bad));
    }
}

#[test]
fn v10_and_v13_refuse_nothing() {
    let template = template(json!({ "name": "Test", "description": "<script>alert(1)</script> **bold**", "steps": [
        { "type": "photo", "label": "<b>l</b>", "config": { "annotate": true } },
        { "type": "text", "label": "l", "photo": { "annotate": true } },
    ]}));
    assert_eq!(template.to_document()["sections"][0]["steps"][1]["photo"], json!({ "annotate": true }));
}

#[test]
fn v11_a_scored_template_has_something_to_score() {
    let scored = |step: Value| json!({ "name": "Test", "scoring": { "enabled": true }, "steps": [step] });
    assert_breaks("V11", "/scoring", scored(json!({ "type": "boolean", "label": "l" })));
    assert!(check(scored(json!({ "type": "boolean", "label": "l", "score": {} }))).is_ok());
    let options = json!([{ "label": "a", "points": 1 }, { "label": "b" }]);
    assert!(check(scored(json!({ "type": "choice", "label": "l", "config": { "options": options } }))).is_ok());
}

#[test]
fn v12_translations_name_existing_texts() {
    let translated = |key: &str| {
        let mut document = with_steps(json!([choice("s-one", ["o-aaa", "o-bbb"])]));
        document["translations"] = json!({ "it": { key: "Testo" } });
        document
    };
    for good in ["template.name", "g-one.title", "s-one.label", "o-bbb.label"] {
        assert!(check(translated(good)).is_ok(), "{good}");
    }
    for bad in ["s-two.label", "o-ccc.label", "g-two.title", "template.label", "o-aaa.title", "s-one.name"] {
        assert_breaks("V12", &format!("/translations/it/{bad}"), translated(bad));
    }
    assert_breaks("propertyNames", "/translations/it/s-one", translated("s-one"));
}

#[test]
fn v14_a_step_that_keeps_its_id_keeps_its_type() {
    let of = |steps: Value| template(with_steps(steps));
    let before = of(json!([
        { "id": "s-one", "type": "text", "label": "One" },
        { "id": "s-two", "type": "number", "label": "Two" },
    ]));
    let renamed = of(json!([
        { "id": "s-two", "type": "number", "label": "Another label", "config": { "min": 1 } },
        { "id": "s-new", "type": "rating", "label": "One" },
    ]));
    assert_eq!(renamed.check_successor(&before), []);
    let retyped = of(json!([
        { "id": "s-two", "type": "number", "label": "Two" },
        { "id": "s-one", "type": "rating", "label": "One" },
    ]));
    let violations = retyped.check_successor(&before);
    assert_eq!(violations.len(), 1);
    assert_eq!((violations[0].rule.as_str(), violations[0].pointer.as_str()), ("V14", "/sections/0/steps/1/type"));
}

#[test]
fn v15_the_time_zone_is_known() {
    let zoned = |zone: &str| json!({ "name": "Test", "settings": { "timezone": zone } });
    for good in ["Europe/Rome", "America/Argentina/Ushuaia", "UTC"] {
        assert!(check(zoned(good)).is_ok(), "{good}");
    }
    for bad in ["Europe/Atlantis", "GMT+25", ""] {
        assert_breaks("V15", "/settings/timezone", zoned(bad));
    }
}

#[test]
fn a_document_too_deep_or_too_large_is_refused_before_it_is_read() {
    let mut deep = json!(1);
    for _ in 0..31 {
        deep = json!([deep]);
    }
    assert!(check(json!({ "name": "n", "x_deep": deep })).is_ok());
    assert_breaks("V7", "", json!({ "name": "n", "x_deep": [deep] }));
    // Faults that would be found by reading are not looked for.
    assert_breaks("V7", "", json!({ "nonsense": "x".repeat(300_000) }));
}

#[test]
fn members_of_the_store_are_refused_and_nothing_else_is_said_of_them() {
    for name in STORE_MEMBERS {
        let mut document = json!({ "name": "n" });
        document[name] = json!("t-550e8400-e29b-41d4-a716-446655440000");
        assert_breaks("readOnly", &format!("/{name}"), document);
    }
}

#[test]
fn steps_without_sections_become_one_untitled_section() {
    let template = template(json!({ "name": "n", "steps": [{ "type": "photo", "label": "l" }] }));
    let document = template.to_document();
    assert_eq!(document["sections"].as_array().unwrap().len(), 1);
    assert_eq!(document["sections"][0]["title"], Value::Null);
    assert!(document.get("steps").is_none());
    assert_breaks("not", "", json!({ "name": "n", "steps": [], "sections": [] }));
    assert_breaks("minLength", "/steps/0/label", json!({ "name": "n", "steps": [{ "type": "photo", "label": "" }] }));
    assert_breaks(
        "V2",
        "/steps/0/condition/when/step",
        json!({ "name": "n", "steps": [
            { "type": "photo", "label": "l", "condition": when("s-none", "answered", Value::Null) },
        ]}),
    );
}

#[test]
fn a_document_comes_back_with_what_was_given_in_the_order_of_the_schema() {
    let given = json!({
        "x_team": { "b": 1, "a": [2] },
        "sections": [{
            "x_colour": "red",
            "steps": [{
                "config": {}, "label": "l", "type": "boolean", "x_n": 1.0, "photo": false, "required": false, "id": "s-one",
            }, {
                "id": "s-two", "type": "number", "label": "l", "config": { "min": 0.10, "max": 1e2 },
            }],
            "id": "g-one",
        }],
        "scoring": {}, "name": "n", "tags": [],
    });
    let text = serde_json::to_string(&template(given).to_document()).unwrap();
    assert_eq!(
        text,
        "{\"name\":\"n\",\"tags\":[],\"scoring\":{},\"sections\":[{\"id\":\"g-one\",\"steps\":[\
         {\"id\":\"s-one\",\"type\":\"boolean\",\"label\":\"l\",\"required\":false,\"photo\":false,\"config\":{},\"x_n\":1.0},\
         {\"id\":\"s-two\",\"type\":\"number\",\"label\":\"l\",\"config\":{\"min\":0.1,\"max\":100.0}}\
         ],\"x_colour\":\"red\"}],\"x_team\":{\"b\":1,\"a\":[2]}}"
    );
    let read: Template = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
    assert!(matches!(&read.step("s-one").unwrap().kind, StepKind::Boolean(Some(_))));
}

#[test]
fn a_stored_template_that_the_store_has_marked_is_read_without_the_marks() {
    let stored = json!({ "id": "t-1", "v": 3, "org_id": "org-1", "name": "n", "sections": [], "x_own": 1 });
    let read: Template = serde_json::from_value(stored).unwrap();
    assert_eq!(read.to_document(), json!({ "name": "n", "sections": [], "x_own": 1 }));
}

#[test]
fn small_facts_of_a_template() {
    let empty = template(json!({ "name": "n" }));
    assert!(!empty.has_showable_step());
    assert_eq!((empty.step_count(), empty.est_minutes()), (0, None));
    assert!(!template(json!({ "name": "n", "sections": [{ "steps": [] }] })).has_showable_step());

    let template = template(json!({ "name": "n", "settings": { "est_minutes": 7.5 }, "steps": [
        { "id": "s-one", "type": "instruction", "label": "Read" },
        { "id": "s-two", "type": "boolean", "label": "Two" },
        { "id": "s-thr", "type": "boolean", "label": "Three", "condition": when("s-two", "eq", json!(true)) },
    ]}));
    assert!(template.has_showable_step());
    assert_eq!(template.step_count(), 3);
    assert_eq!(template.est_minutes().unwrap().to_string(), "7.5");
    let progress = template.initial_progress();
    assert_eq!((progress.total, progress.answered, progress.skipped), (1, 0, 0));
}
