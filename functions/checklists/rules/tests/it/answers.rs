//! What a step accepts as an answer.

use checklists_rules::answer::{Demand, Entry, Fault, Geo, Given, PhotoState, Proof, Said, check_skip, demanded};
use checklists_rules::template::Step;
use serde_json::{Value, json};

use crate::fixtures::{photo, steps};

fn step(mut document: Value) -> Step {
    document["id"] = json!("s-one");
    document["label"] = json!("One");
    steps(json!([document])).step("s-one").unwrap().clone()
}

/// What the step says to a value: `None` when it accepts it.
fn objection(step: &Step, value: Value) -> Option<String> {
    refusal(step, &Given::value(value)).map(|(_, message)| message)
}

/// Member and message of a refusal.
fn refusal(step: &Step, given: &Given) -> Option<(&'static str, String)> {
    match given.check(step) {
        Ok(()) => None,
        Err(Fault::Unfit { member, message }) => Some((member, message)),
        Err(Fault::EvidenceMissing(proofs)) => panic!("{proofs:?} is asked for"),
    }
}

/// Every value is accepted, or refused, by the step.
fn judge(step: &Value, accepted: &[Value], refused: &[Value]) {
    let read = self::step(step.clone());
    for value in accepted {
        assert_eq!(objection(&read, value.clone()), None, "{step} should accept {value}");
    }
    for value in refused {
        assert!(objection(&read, value.clone()).is_some(), "{step} should refuse {value}");
    }
}

#[test]
fn boolean_takes_true_or_false() {
    judge(
        &json!({ "type": "boolean" }),
        &[json!(true), json!(false)],
        &[json!("true"), json!(1), json!(null), json!("Yes"), json!([true])],
    );
}

#[test]
fn choice_takes_the_id_of_one_option() {
    let options = json!([{ "id": "o-red", "label": "Red" }, { "id": "o-blue", "label": "Blue" }]);
    let choice = json!({ "type": "choice", "config": { "options": options } });
    judge(
        &choice,
        &[json!("o-red"), json!("o-blue")],
        &[json!("Red"), json!("o-green"), json!(["o-red"]), json!(0), json!(null), json!("")],
    );
    let message = objection(&step(choice), json!("Red")).unwrap();
    assert_eq!(message, "Answer with the id of one option: o-red, o-blue.");
}

#[test]
fn multi_choice_takes_different_ids_within_its_bounds() {
    let options = json!([{ "id": "o-red", "label": "r" }, { "id": "o-blue", "label": "b" }, { "id": "o-grey", "label": "g" }]);
    let multi = |extra: Value| {
        let mut config = json!({ "options": options });
        config.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        json!({ "type": "multi_choice", "config": config })
    };
    judge(
        &multi(json!({})),
        &[json!(["o-red"]), json!(["o-grey", "o-red", "o-blue"]), json!([])],
        &[json!(["o-red", "o-red"]), json!(["o-pink"]), json!("o-red"), json!(null), json!([null])],
    );
    judge(
        &multi(json!({ "min_selected": 2, "max_selected": 2 })),
        &[json!(["o-red", "o-blue"])],
        &[json!(["o-red"]), json!(["o-red", "o-blue", "o-grey"]), json!([])],
    );
}

#[test]
fn a_required_multi_choice_asks_for_one_option_unless_its_bounds_say_otherwise() {
    let options = json!([{ "id": "o-red", "label": "r" }]);
    let required = |config: Value| json!({ "type": "multi_choice", "required": true, "config": config });
    judge(&required(json!({ "options": options })), &[json!(["o-red"])], &[json!([])]);
    judge(&required(json!({ "options": options, "min_selected": 0 })), &[json!([])], &[]);
}

#[test]
fn text_takes_one_line_of_limited_length() {
    judge(
        &json!({ "type": "text" }),
        &[json!("Sand in the drain"), json!("é".repeat(2_000)), json!(" x ")],
        &[json!("é".repeat(2_001)), json!(""), json!("   "), json!("two\nlines"), json!("\u{0}x"), json!(5), json!(null)],
    );
    judge(&json!({ "type": "text", "config": { "multiline": true } }), &[json!("two\r\nlines\twide")], &[json!("a\u{7}b")]);
    judge(
        &json!({ "type": "text", "config": { "min_length": 3, "max_length": 5 } }),
        &[json!("abc"), json!("äöüßx")],
        &[json!("ab"), json!("abcdef")],
    );
}

#[test]
fn text_may_have_a_format() {
    let of = |format: &str| json!({ "type": "text", "config": { "format": format } });
    judge(&of("plain"), &[json!("anything @ all")], &[]);
    judge(
        &of("email"),
        &[json!("mara@example.org"), json!("m.o+x@sub.example.co.uk")],
        &[
            json!("mara"),
            json!("mara@localhost"),
            json!("a b@example.org"),
            json!("@example.org"),
            json!("a@@example.org"),
            json!("a@.org"),
        ],
    );
    judge(
        &of("phone"),
        &[json!("+39 06 1234 5678"), json!("(020) 123-45"), json!("112233")],
        &[json!("12"), json!("call me"), json!("+1 234 567 890 123 456 7"), json!("06+1234567")],
    );
    judge(
        &of("url"),
        &[json!("https://example.org/a?b=c"), json!("HTTP://example.org")],
        &[json!("example.org"), json!("ftp://example.org"), json!("https://"), json!("https://exa mple.org"), json!("javascript:alert(1)")],
    );
}

#[test]
fn a_pattern_has_to_match_the_whole_text() {
    let of = |pattern: &str| json!({ "type": "text", "config": { "pattern": pattern } });
    judge(&of("[A-Z]{2}\\d{3}"), &[json!("AB123")], &[json!("xAB123"), json!("AB1234"), json!("ab123")]);
    judge(&of("cat|dog"), &[json!("cat"), json!("dog")], &[json!("catalogue"), json!("hotdog")]);
    judge(&of("(?m)^a$"), &[json!("a")], &[json!("aa")]);
    // The longer alternative comes second, and would not be what a search finds first.
    judge(&of("a|ab"), &[json!("a"), json!("ab")], &[json!("abc"), json!("b")]);
}

#[test]
fn a_pattern_with_comments_has_to_match_the_whole_text_as_well() {
    let of = |pattern: &str| json!({ "type": "text", "config": { "pattern": pattern, "multiline": true } });
    let (fitting, unfit) = ([json!("AB123")], [json!("AB1234"), json!("xAB123"), json!("AB"), json!("AB123\n"), json!("AB123)\\z")]);
    for pattern in [
        "(?x) [A-Z]{2} \\d{3} # two letters, three digits",
        "(?x) [A-Z]{2} # letters\n \\d{3} # digits (three)",
        "(?x) [A-Z]{2} \\d{3} #",
        "(?x) [A-Z]{2} \\d{3} # digits\n",
        "(?x) [A-Z]{2} \\d{3} ",
        "[A-Z]{2}\\d{3}(?x)# digits",
        "(?x: [A-Z]{2} # letters\n)\\d{3}",
    ] {
        judge(&of(pattern), &fitting, &unfit);
    }
    // What looks like a comment is none where comments are not asked for.
    judge(&of("[a-z]+ #[0-9]"), &[json!("no #7")], &[json!("no"), json!("no #7\n"), json!("no #77")]);
}

#[test]
fn number_takes_decimals_and_bounds_exactly() {
    judge(&json!({ "type": "number" }), &[json!(5), json!(-5), json!(5.0)], &[json!(5.5), json!("5"), json!(null), json!(true)]);
    judge(
        &json!({ "type": "number", "config": { "min": 0.1, "max": 0.3, "decimals": 2 } }),
        &[json!(0.1), json!(0.3), json!(0.25), json!(0.10)],
        &[json!(0.09), json!(0.31), json!(0.301), json!(0.30000000000000004), json!(0)],
    );
    judge(
        &json!({ "type": "number", "config": { "max": 9007199254740992_u64 } }),
        &[json!(9007199254740992_u64)],
        &[json!(9007199254740993_u64)],
    );
}

#[test]
fn rating_takes_a_whole_number_on_its_scale() {
    judge(&json!({ "type": "rating" }), &[json!(1), json!(5), json!(3.0)], &[json!(0), json!(6), json!(2.5), json!("3"), json!(null)]);
    judge(&json!({ "type": "rating", "config": { "min": 0, "max": 10 } }), &[json!(0), json!(10)], &[json!(-1), json!(11)]);
}

#[test]
fn photo_and_instruction_take_null() {
    judge(&json!({ "type": "instruction" }), &[json!(null)], &[json!(true), json!("read")]);
    let photos = step(json!({ "type": "photo" }));
    let given = Given { photos: vec![photo(0, PhotoState::Pending)], ..Given::value(Value::Null) };
    assert_eq!(given.check(&photos), Ok(()));
    assert!(refusal(&photos, &Given { value: json!("p-0"), ..given }).is_some());
}

#[test]
fn signature_takes_the_image_and_the_signers_name_as_configured() {
    let of = |policy: Value| step(json!({ "type": "signature", "config": policy }));
    let signed = |name: Option<&str>| Given { signer_name: name.map(str::to_owned), ..Given::value("p-sig") };
    for (policy, name, accepted) in [
        (json!({}), None, true),
        (json!({}), Some("Mara"), true),
        (json!({ "signer_name": "off" }), None, true),
        (json!({ "signer_name": "off" }), Some("Mara"), false),
        (json!({ "signer_name": "required" }), None, false),
        (json!({ "signer_name": "required" }), Some("Mara"), true),
        (json!({ "signer_name": "required" }), Some("  "), false),
    ] {
        assert_eq!(signed(name).check(&of(policy.clone())).is_ok(), accepted, "{policy} {name:?}");
    }
    judge(
        &json!({ "type": "signature" }),
        &[json!("https://media.example.org/s.png")],
        &[json!(null), json!(""), json!("two words"), json!(true), json!("x".repeat(2_049))],
    );
    let text = step(json!({ "type": "text" }));
    assert_eq!(refusal(&text, &signed(Some("Mara"))).unwrap().0, "signer_name");
}

#[test]
fn barcode_takes_a_string_scanned_or_typed() {
    judge(
        &json!({ "type": "barcode" }),
        &[json!("4006381333931"), json!("0")],
        &[json!(4006381333931_u64), json!(""), json!(" "), json!(null)],
    );
    let typed = Given { entry: Some(Entry::Manual), ..Given::value("42") };
    let scanned = Given { entry: Some(Entry::Scan), ..Given::value("42") };
    let open = step(json!({ "type": "barcode" }));
    let strict = step(json!({ "type": "barcode", "config": { "allow_manual": false } }));
    assert_eq!(refusal(&open, &typed), None);
    assert_eq!(refusal(&strict, &scanned), None);
    assert_eq!(refusal(&strict, &Given::value("42")), None, "scanned, when nothing is said");
    assert_eq!(refusal(&strict, &typed).unwrap().0, "entry");
    assert_eq!(refusal(&step(json!({ "type": "text" })), &typed).unwrap().0, "entry");
}

#[test]
fn datetime_takes_what_its_mode_says_within_its_bounds() {
    judge(
        &json!({ "type": "datetime", "config": { "not_before": "2027-01-01", "not_after": "2027-12-31" } }),
        &[json!("2027-01-01"), json!("2027-12-31")],
        &[json!("2026-12-31"), json!("2028-01-01"), json!("2027-02-29"), json!("2027-03-01T00:00:00Z"), json!(20270301), json!(null)],
    );
    judge(
        &json!({ "type": "datetime", "config": { "mode": "datetime", "not_before": "2027-01-01T00:00:00Z" } }),
        &[json!("2027-01-01T00:00:00Z"), json!("2027-06-01T12:30:15.5Z")],
        &[json!("2026-12-31T23:59:59Z"), json!("2027-06-01T12:30:15+02:00"), json!("2027-06-01")],
    );
    judge(
        &json!({ "type": "datetime", "config": { "mode": "time", "not_before": "08:00", "not_after": "20:00" } }),
        &[json!("08:00"), json!("20:00:00")],
        &[json!("07:59:59"), json!("20:01"), json!("8:00"), json!("24:00")],
    );
}

#[test]
fn the_place_is_taken_where_it_is_asked_for() {
    let asks = step(json!({ "type": "boolean", "geo": true }));
    let with = |geo: Option<Geo>| Given { geo, ..Given::value(true) };
    let rome = Geo { lat: 41.9, lng: 12.5, accuracy: Some(8.0) };
    assert_eq!(refusal(&asks, &with(Some(rome))), None);
    assert_eq!(refusal(&asks, &with(None)), None, "refusing the place never blocks");
    for wrong in [
        Geo { lat: 90.1, ..rome },
        Geo { lng: -180.1, ..rome },
        Geo { lat: f64::NAN, ..rome },
        Geo { accuracy: Some(-1.0), ..rome },
        Geo { accuracy: Some(f64::INFINITY), ..rome },
    ] {
        assert_eq!(refusal(&asks, &with(Some(wrong))).unwrap().0, "geo", "{wrong:?}");
    }
    let silent = step(json!({ "type": "boolean" }));
    assert_eq!(refusal(&silent, &with(Some(rome))).unwrap().0, "geo");
}

#[test]
fn a_remark_is_taken_where_it_is_welcome() {
    let noted = |note: &str| Given { note: Some(note.to_owned()), ..Given::value(true) };
    let welcome = step(json!({ "type": "boolean", "note": "optional" }));
    assert_eq!(refusal(&welcome, &noted("The rooster is fine")), None);
    assert_eq!(refusal(&welcome, &noted(&"x".repeat(2_001))).unwrap().0, "note");
    assert_eq!(refusal(&step(json!({ "type": "boolean" })), &noted("Hello")).unwrap().0, "note");
}

#[test]
fn photos_are_bounded_by_the_steps_own_rule() {
    let with =
        |count: u32, state: PhotoState| Given { photos: (0..count).map(|index| photo(index, state)).collect(), ..Given::value(true) };
    let two_to_three = step(json!({ "type": "boolean", "photo": { "min": 2, "max": 3 } }));
    assert_eq!(with(2, PhotoState::Pending).check(&two_to_three), Ok(()));
    assert_eq!(with(1, PhotoState::Stored).check(&two_to_three), Err(Fault::EvidenceMissing(vec![Proof::Photos { min: 2, have: 1 }])));
    assert_eq!(
        with(2, PhotoState::Failed).check(&two_to_three),
        Err(Fault::EvidenceMissing(vec![Proof::Photos { min: 2, have: 0 }])),
        "a photo that was given up is no proof"
    );
    assert_eq!(refusal(&two_to_three, &with(4, PhotoState::Stored)).unwrap().0, "photos");
    assert_eq!(refusal(&step(json!({ "type": "boolean" })), &with(1, PhotoState::Stored)).unwrap().0, "photos");

    let mut twice = with(2, PhotoState::Stored);
    twice.photos[1].photo_id = twice.photos[0].photo_id.clone();
    assert_eq!(refusal(&two_to_three, &twice).unwrap().1, "Name each photo once.");
}

#[test]
fn a_photo_step_asks_for_one_photo_unless_it_says_otherwise() {
    let none = Given::value(Value::Null);
    let missing = |config: Value| none.check(&step(json!({ "type": "photo", "config": config })));
    assert_eq!(missing(json!({})), Err(Fault::EvidenceMissing(vec![Proof::Photos { min: 1, have: 0 }])));
    assert_eq!(missing(json!({ "min": 0 })), Ok(()));
}

#[test]
fn a_smaller_demand_does_not_lower_the_steps_own_rule() {
    let step = step(json!({ "type": "boolean", "photo": { "min": 3, "max": 5 }, "evidence": [
        { "photo": { "min": 1, "max": 2 }, "note": { "min_chars": 8 } },
        { "note": { "min_chars": 2 } },
    ] }));
    let demand = demanded(&step, Said::Value(&json!(true)));
    assert_eq!(demand, Demand { min_photos: 3, max_photos: 5, min_note_chars: Some(8) });
}

#[test]
fn an_answer_may_ask_for_proof_and_the_larger_number_applies() {
    let step = step(json!({ "type": "boolean", "photo": { "min": 1, "max": 2 }, "evidence": [
        { "when": { "op": "eq", "value": false }, "photo": { "min": 3, "max": 4 }, "note": { "min_chars": 10 } },
        { "when": { "op": "eq", "value": false }, "note": {} },
        { "when": { "op": "skipped" }, "note": { "min_chars": 5 } },
    ] }));
    let demand = |value: bool| demanded(&step, Said::Value(&json!(value)));
    assert_eq!(demand(true), Demand { min_photos: 1, max_photos: 2, min_note_chars: None });
    assert_eq!(demand(false), Demand { min_photos: 3, max_photos: 4, min_note_chars: Some(10) });
    assert_eq!(demanded(&step, Said::Skip), Demand { min_photos: 0, max_photos: 0, min_note_chars: Some(5) });

    let broken = |photos: u32, note: &str| Given {
        photos: (0..photos).map(|index| photo(index, PhotoState::Pending)).collect(),
        note: Some(note.to_owned()),
        ..Given::value(false)
    };
    assert_eq!(
        broken(2, "  short   ").check(&step),
        Err(Fault::EvidenceMissing(vec![Proof::Photos { min: 3, have: 2 }, Proof::Note { min_chars: 10, have: 5 },]))
    );
    assert_eq!(broken(3, "The rooster lost its comb").check(&step), Ok(()));
    assert_eq!(broken(4, "The rooster lost its comb").check(&step), Ok(()));
    assert_eq!(refusal(&step, &broken(5, "The rooster lost its comb")).unwrap().0, "photos");

    assert!(check_skip(&step, None).is_err());
    assert_eq!(check_skip(&step, Some("No time")), Ok(()));
}
