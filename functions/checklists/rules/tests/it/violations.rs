//! What authors are told when a document is refused.

use checklists_rules::Violation;
use serde_json::{Value, json};

use crate::fixtures::{found, violations};

#[test]
fn every_fault_is_told_at_once_and_rules_run_on_what_is_sound() {
    let document = json!({
        "tdl": "2.0",
        "tags": ["a", "a", ""],
        "colour": "red",
        "settings": { "allow_skip": "yes", "timezone": "Mars/Base", "est_minutes": 0 },
        "sections": [
            { "steps": [
                { "type": "text", "label": "", "config": { "min_length": 5, "max_length": 2 } },
                { "id": "S-BAD", "type": "chat", "label": "l" },
                "not a step",
                { "id": "s-cho", "type": "choice", "label": "l", "config": { "options": [{ "label": "only" }] } },
                { "id": "s-end", "type": "number", "label": "l", "hint": 5, "config": { "max": 3 },
                  "condition": { "when": { "step": "s-end", "op": "answered" } } },
            ] },
            { "title": 7 },
        ],
        "translations": { "ENGLISH": {}, "it": { "s-cho.label": "Scegli" } },
    });
    let mut found = found(document);
    found.sort();
    let mut expected = [
        ("/tdl", "const"),
        ("", "required"),
        ("/tags/1", "uniqueItems"),
        ("/tags/2", "minLength"),
        ("/colour", "additionalProperties"),
        ("/settings/allow_skip", "type"),
        ("/settings/timezone", "V15"),
        ("/settings/est_minutes", "exclusiveMinimum"),
        ("/sections/0/steps/0/label", "minLength"),
        ("/sections/0/steps/0/config", "V6"),
        ("/sections/0/steps/1/id", "pattern"),
        ("/sections/0/steps/1/type", "enum"),
        ("/sections/0/steps/2", "type"),
        ("/sections/0/steps/3/config/options", "minItems"),
        ("/sections/0/steps/4/hint", "type"),
        ("/sections/0/steps/4/condition/when/step", "V2"),
        ("/sections/1/title", "type"),
        ("/sections/1", "required"),
        ("/translations/ENGLISH", "propertyNames"),
    ]
    .map(|(pointer, rule)| (pointer.to_owned(), rule.to_owned()));
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn what_could_not_be_read_is_not_said_to_be_missing() {
    // The faulty step may be the one that is meant, and the faulty list may hold the option.
    let document = json!({ "name": "Test", "scoring": { "enabled": true },
        "sections": [{ "steps": [
            17,
            { "id": "s-cho", "type": "choice", "label": "l", "config": { "options": "none" } },
            { "id": "s-end", "type": "photo", "label": "l", "condition": { "op": "and", "rules": [
                { "when": { "step": "s-lost", "op": "answered" } },
                { "when": { "step": "s-cho", "op": "eq", "value": "o-lost" } },
            ] } },
        ] }],
        "translations": { "it": { "o-lost.label": "Perso" } },
    });
    let rules: Vec<String> = found(document).into_iter().map(|(_, rule)| rule).collect();
    assert_eq!(rules, ["type", "type"]);
}

#[test]
fn messages_say_what_to_change_with_the_bounds_and_allowed_values() {
    let message = |document: Value| {
        let violations = violations(document);
        assert_eq!(violations.len(), 1, "{violations:#?}");
        violations[0].message.clone()
    };
    assert_eq!(message(json!({ "name": "é".repeat(121) })), "Shorten \"name\" to at most 120 characters; it has 121.");
    assert_eq!(message(json!({})), "Add \"name\".");
    assert_eq!(
        message(json!({ "name": "n", "settings": { "layout": "grid" } })),
        "Set \"layout\" to one of one_per_screen, section_per_screen."
    );
    assert_eq!(
        message(json!({ "name": "n", "settings": { "photo_long_edge": 9000 } })),
        "Set \"photo_long_edge\" to a whole number from 1024 to 4096."
    );
    assert_eq!(
        message(json!({ "name": "n", "settings": { "colour": 1 } })),
        "Remove \"colour\"; the members here are allow_skip, signature_on_complete, voice, est_minutes, timezone, \
         layout, allow_edit, review_before_submit, photo_long_edge."
    );
    assert_eq!(message(json!(["a template"])), "Make the template an object; it is a list.");
    assert_eq!(
        message(json!({ "name": "n", "steps": [{ "type": "boolean", "label": "l", "photo": true }] })),
        "Set \"photo\" to false, or to an object such as {\"min\": 1, \"max\": 3}."
    );
    assert_eq!(message(json!({ "name": "n", "tags": ["ok", 5] })), "Make item 2 of \"tags\" a string; it is a number.");
}

#[test]
fn hostile_text_is_never_repeated_at_length() {
    let long = "x".repeat(50_000);
    let document = json!({ "name": "n", &long: 1, "locale": long, "settings": { "timezone": "z".repeat(64) },
        "translations": { &long: { &long: "t" } } });
    for violation in violations(document) {
        assert!(violation.message.len() < 400, "{}", violation.message.len());
        assert!(violation.pointer.len() < 200, "{}", violation.pointer.len());
    }
}

#[test]
fn a_hundred_violations_are_listed_and_the_rest_is_counted() {
    let steps = vec![json!({ "type": "nonsense", "label": "" }); 90];
    let violations = violations(json!({ "name": "n", "steps": steps }));
    assert_eq!(violations.len(), 101);
    assert_eq!(violations[100].rule, "more");
    assert_eq!(violations[100].message, "Correct these first; 80 more are not listed.");
    assert_eq!(Violation::count(&violations), 180);
    assert_eq!(
        serde_json::to_value(&violations[100]).unwrap(),
        json!({ "pointer": "", "rule": "more", "message": "Correct these first; 80 more are not listed." }),
        "how many it stands for is said in words alone"
    );
}

#[test]
fn faults_are_counted_whether_all_are_listed_or_not() {
    let faulty = |count: usize| violations(json!({ "name": "n", "tags": vec![json!(5); 20], "steps": vec![json!(5); count] }));
    for (steps, listed, counted) in [(1, 21, 21), (80, 100, 100), (81, 101, 101), (82, 101, 102)] {
        let violations = faulty(steps);
        assert_eq!((violations.len(), Violation::count(&violations)), (listed, counted));
    }
    assert_eq!(faulty(81)[100].message, "Correct these first; 1 more is not listed.");
    assert_eq!(Violation::count(&[]), 0);
}

#[test]
fn place_and_message_read_as_one_line() {
    let line = |document: Value| {
        let violations = violations(document);
        format!("{}: {}", violations[0].place(), violations[0].message)
    };
    assert_eq!(line(json!({})), "the document: Add \"name\".");
    assert_eq!(line(json!([])), "the document: Make the template an object; it is a list.");
    assert_eq!(line(json!({ "name": "n", "steps": [], "sections": [] })), "the document: Keep either \"sections\" or \"steps\", not both.");
    assert_eq!(
        line(json!({ "name": "n", "x_long": "x".repeat(300_000) })),
        "the document: Shorten the template to at most 256 KiB of compact JSON."
    );
    assert_eq!(line(json!({ "name": "n", "tags": [5] })), "/tags/0: Make item 1 of \"tags\" a string; it is a number.");
}
