//! What a run scores when it is handed in.

use checklists_rules::answer::{Given, PhotoState};
use checklists_rules::score::{Outcome, Score};
use serde_json::{Value, json};

use crate::fixtures::{Stage, answer, complete, give, photo, skip, template};

fn stage(scoring: Value, sections: Value) -> Stage {
    Stage::new(template(json!({
        "name": "Scored", "settings": { "allow_skip": true }, "scoring": scoring, "sections": sections,
    })))
}

/// The score of a run over one list of steps with these answers.
fn score(steps: Value, answers: &[(&str, Value)]) -> Score {
    let mut stage = stage(json!({ "enabled": true }), json!([{ "steps": steps }]));
    for (step_id, value) in answers {
        stage.accept(answer(step_id, value.clone()));
    }
    stage.accept(complete());
    stage.run.score.unwrap()
}

/// Points won and possible over one step.
fn points(step: Value, value: Value) -> (u64, u64) {
    let mut step = step;
    step["id"] = json!("s-one");
    step["label"] = json!("One");
    let score = score(json!([step]), &[("s-one", value)]);
    (score.won, score.possible)
}

#[test]
fn boolean_wins_when_it_has_the_passing_value() {
    let step = |score: Value| json!({ "type": "boolean", "score": score });
    assert_eq!(points(step(json!({})), json!(true)), (1, 1));
    assert_eq!(points(step(json!({ "points": 5 })), json!(false)), (0, 5));
    assert_eq!(points(step(json!({ "points": 5, "pass_value": false })), json!(false)), (5, 5));
}

#[test]
fn choice_wins_the_points_of_its_option_out_of_the_best_option() {
    let step = json!({ "type": "choice", "config": { "options": [
        { "id": "o-good", "label": "g", "points": 3 }, { "id": "o-worn", "label": "w", "points": 1 },
        { "id": "o-none", "label": "n" }, { "id": "o-away", "label": "a", "exclude": true, "points": 9 },
    ] } });
    assert_eq!(points(step.clone(), json!("o-good")), (3, 3));
    assert_eq!(points(step.clone(), json!("o-worn")), (1, 3));
    assert_eq!(points(step.clone(), json!("o-none")), (0, 3));
    assert_eq!(points(step, json!("o-away")), (0, 0));
}

#[test]
fn choice_without_points_on_its_options_wins_unless_the_option_fails() {
    let step = json!({ "type": "choice", "score": { "points": 4 }, "config": { "options": [
        { "id": "o-good", "label": "g" }, { "id": "o-fail", "label": "f", "fail": true },
    ] } });
    assert_eq!(points(step.clone(), json!("o-good")), (4, 4));
    assert_eq!(points(step, json!("o-fail")), (0, 4));
}

#[test]
fn multi_choice_wins_what_is_chosen_up_to_what_is_possible() {
    let step = json!({ "type": "multi_choice", "config": { "options": [
        { "id": "o-one", "label": "1", "points": 1 }, { "id": "o-two", "label": "2", "points": 2 },
        { "id": "o-bad", "label": "b", "points": 5, "fail": true }, { "id": "o-away", "label": "a", "exclude": true },
    ] } });
    assert_eq!(points(step.clone(), json!(["o-two"])), (2, 3));
    assert_eq!(points(step.clone(), json!(["o-one", "o-two", "o-bad"])), (3, 3));
    assert_eq!(points(step.clone(), json!(["o-one", "o-away"])), (1, 3));
    assert_eq!(points(step.clone(), json!([])), (0, 3));
    assert_eq!(points(step, json!(["o-away"])), (0, 0));
}

#[test]
fn number_wins_inside_its_bounds_both_included() {
    let step = json!({ "type": "number", "config": { "decimals": 1 }, "score": { "points": 2, "pass_min": 1.5, "pass_max": 4 } });
    for (value, won) in [(1.5, 2), (4.0, 2), (1.4, 0), (4.1, 0)] {
        assert_eq!(points(step.clone(), json!(value)), (won, 2), "{value}");
    }
    let open = json!({ "type": "number", "score": { "pass_min": 3 } });
    assert_eq!(points(open, json!(1_000_000)), (1, 1));
}

#[test]
fn rating_wins_its_share_of_the_scale_rounded_down() {
    let step = json!({ "type": "rating", "score": { "points": 10 } });
    for (value, won) in [(1, 0), (2, 2), (3, 5), (4, 7), (5, 10)] {
        assert_eq!(points(step.clone(), json!(value)), (won, 10), "{value}");
    }
    let from_zero = json!({ "type": "rating", "config": { "min": 0, "max": 10 }, "score": { "points": 5 } });
    assert_eq!(points(from_zero, json!(3)), (1, 5));
}

#[test]
fn other_types_win_by_being_answered() {
    assert_eq!(points(json!({ "type": "text", "score": { "points": 2 } }), json!("Done")), (2, 2));
    assert_eq!(points(json!({ "type": "barcode", "score": {} }), json!("42")), (1, 1));
    assert_eq!(points(json!({ "type": "instruction", "score": {} }), json!(null)), (1, 1));
    let mut stage = stage(
        json!({ "enabled": true }),
        json!([{ "steps": [
        { "id": "s-one", "type": "photo", "label": "l", "score": { "points": 3 } },
    ] }]),
    );
    stage.accept(give("s-one", Given { photos: vec![photo(0, PhotoState::Stored)], ..Given::default() }));
    stage.accept(complete());
    assert_eq!(stage.run.score.unwrap().won, 3);
}

#[test]
fn hidden_and_skipped_steps_leave_both_sides_and_open_ones_stay() {
    let mut stage = stage(
        json!({ "enabled": true }),
        json!([{ "steps": [
        { "id": "s-one", "type": "boolean", "label": "l", "score": { "points": 1 } },
        { "id": "s-hid", "type": "boolean", "label": "l", "score": { "points": 2 },
          "condition": { "when": { "step": "s-one", "op": "eq", "value": false } } },
        { "id": "s-ski", "type": "boolean", "label": "l", "score": { "points": 4 } },
        { "id": "s-ope", "type": "boolean", "label": "l", "score": { "points": 8 } },
        { "id": "s-not", "type": "boolean", "label": "l" },
    ] }]),
    );
    stage.accept(answer("s-one", true));
    stage.accept(skip("s-ski"));
    stage.accept(complete());
    let score = stage.run.score.unwrap();
    assert_eq!((score.won, score.possible), (1, 9));
    assert_eq!(score.failed_steps, ["s-ope"]);
}

#[test]
fn percent_has_one_decimal_and_is_rounded_down() {
    let steps = |points: &[u32]| {
        let step = |(index, points): (usize, &u32)| json!({ "id": format!("s-{index:03}"), "type": "boolean", "label": "l", "score": { "points": points } });
        Value::Array(points.iter().enumerate().map(step).collect())
    };
    let won_first = |points: &[u32]| score(steps(points), &[("s-000", json!(true))]).percent;
    assert_eq!(won_first(&[2, 1]), Some(66.6));
    assert_eq!(won_first(&[999, 1]), Some(99.9));
    assert_eq!(won_first(&[1]), Some(100.0));
    assert_eq!(won_first(&[0]), None, "nothing could be won");
    assert_eq!(won_first(&[1000, 1000, 1000, 1]), Some(33.3));
}

#[test]
fn the_outcome_is_judged_only_where_something_is_set_to_pass() {
    let run = |scoring: Value, value: bool| {
        let mut stage = stage(
            scoring,
            json!([{ "steps": [
            { "id": "s-one", "type": "boolean", "label": "l", "score": { "points": 8 } },
            { "id": "s-two", "type": "boolean", "label": "l", "score": { "points": 2 } },
        ] }]),
        );
        stage.accept(answer("s-one", true));
        stage.accept(answer("s-two", value));
        stage.accept(complete());
        stage.run.score.map(|score| score.outcome)
    };
    assert_eq!(run(json!({ "enabled": true }), false), Some(Outcome::None));
    assert_eq!(run(json!({ "enabled": true, "pass_percent": 80 }), false), Some(Outcome::Pass));
    assert_eq!(run(json!({ "enabled": true, "pass_percent": 80.1 }), false), Some(Outcome::Fail));
    assert_eq!(run(json!({ "enabled": true, "pass_percent": 80.1 }), true), Some(Outcome::Pass));
    assert_eq!(run(json!({ "enabled": false, "pass_percent": 80 }), true), None);
    assert_eq!(run(json!({ "pass_percent": 80 }), true), None, "scoring is off unless it is switched on");
}

#[test]
fn a_critical_step_fails_the_run_whatever_the_total() {
    let steps = |critical: bool| {
        json!([
            { "id": "s-one", "type": "boolean", "label": "l", "score": { "points": 1000 } },
            { "id": "s-cri", "type": "boolean", "label": "l", "score": { "points": 0, "critical": critical } },
        ])
    };
    let run = |critical: bool, value: bool| score(steps(critical), &[("s-one", json!(true)), ("s-cri", json!(value))]);
    assert_eq!(run(true, false).outcome, Outcome::Fail);
    assert_eq!(run(true, false).percent, Some(100.0));
    assert_eq!(run(true, true).outcome, Outcome::Pass);
    let lenient = run(false, false);
    assert_eq!(lenient.outcome, Outcome::None);
    assert_eq!(lenient.failed_steps, ["s-cri"], "failed, though nothing hangs on it");
}

#[test]
fn a_failing_option_of_a_critical_step_fails_the_run() {
    let options = json!([{ "id": "o-fine", "label": "f", "points": 1 }, { "id": "o-leak", "label": "l", "points": 1, "fail": true }]);
    let step = |kind: &str| {
        json!([{ "id": "s-cri", "type": kind, "label": "l", "score": { "critical": true },
        "config": { "options": options } }])
    };
    assert_eq!(score(step("choice"), &[("s-cri", json!("o-fine"))]).outcome, Outcome::Pass);
    assert_eq!(score(step("choice"), &[("s-cri", json!("o-leak"))]).outcome, Outcome::Fail);
    assert_eq!(score(step("multi_choice"), &[("s-cri", json!(["o-fine", "o-leak"]))]).outcome, Outcome::Fail);
}

#[test]
fn a_section_below_its_own_percentage_fails_the_run() {
    let mut stage = stage(
        json!({ "enabled": true, "pass_percent": 50 }),
        json!([
            { "id": "g-one", "title": "Rooms", "steps": [
                { "id": "s-one", "type": "boolean", "label": "l", "score": { "points": 90 } },
            ] },
            { "id": "g-two", "title": "Safety", "pass_percent": 60, "steps": [
                { "id": "s-two", "type": "boolean", "label": "l", "score": { "points": 5 } },
                { "id": "s-thr", "type": "boolean", "label": "l", "score": { "points": 5 } },
            ] },
            { "id": "g-thr", "title": "Notes", "pass_percent": 100, "steps": [
                { "id": "s-fou", "type": "text", "label": "l" },
            ] },
        ]),
    );
    stage.accept(answer("s-one", true));
    stage.accept(answer("s-two", true));
    stage.accept(answer("s-thr", false));
    stage.accept(complete());
    let score = stage.run.score.unwrap();
    assert_eq!((score.percent, score.outcome), (Some(95.0), Outcome::Fail));
    let sections: Vec<_> = score.sections.iter().map(|section| (section.section_id.as_str(), section.percent, section.outcome)).collect();
    assert_eq!(sections, [("g-one", Some(100.0), Outcome::None), ("g-two", Some(50.0), Outcome::Fail)]);
}
