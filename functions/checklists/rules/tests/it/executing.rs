//! Carrying a run out: answering, photos, handing in.

use checklists_rules::answer::{Geo, Given, Photo, PhotoState};
use checklists_rules::run::{Event, Identity, Origin};
use checklists_rules::{Command, Run, RunStatus, sample};
use serde_json::{Value, json};

use crate::fixtures::{
    Stage, answer, clear, complete, complete_signed, give, hour, live, minute, names, open, photo, remove_photo, skip, template, two_steps,
};

fn put_photo(step_id: &str, photo: Photo) -> Command {
    Command::Photo { step_id: step_id.to_owned(), photo, origin: live() }
}

fn with_rev(command: Command, rev: u64) -> Command {
    match command {
        Command::Answer { step_id, given, origin, .. } => Command::Answer { step_id, given, origin, seen_rev: Some(rev) },
        Command::Clear { step_id, origin, .. } => Command::Clear { step_id, origin, seen_rev: Some(rev) },
        other => other,
    }
}

// Answering

#[test]
fn the_first_answer_skip_or_acknowledgement_starts_the_run() {
    let document = json!({ "name": "n", "settings": { "allow_skip": true }, "steps": [
        { "id": "s-read", "type": "instruction", "label": "Read" },
        { "id": "s-opt", "type": "text", "label": "Write" },
    ]});
    for command in [answer("s-opt", "x"), skip("s-opt"), answer("s-read", Value::Null)] {
        let mut stage = Stage::new(template(document.clone()));
        let change = stage.at(minute(7)).accept(command);
        assert_eq!((change.status_before, change.status_after), (RunStatus::Pending, RunStatus::InProgress));
        assert_eq!(stage.run.started_at, Some(minute(7)));
    }
}

#[test]
fn an_answer_is_stored_so_that_it_can_be_read_without_the_template() {
    let document = json!({ "name": "n", "steps": [
        { "id": "s-one", "type": "boolean", "label": "Locked?", "geo": true, "note": "optional", "photo": { "max": 2 } },
    ]});
    let mut stage = Stage::new(template(document));
    let given = Given {
        geo: Some(Geo { lat: 41.9, lng: 12.5, accuracy: Some(8.0) }),
        note: Some("Twice".to_owned()),
        photos: vec![photo(0, PhotoState::Pending)],
        ..Given::value(true)
    };
    let origin = Origin { tz: Some("Europe/Rome".to_owned()), captured_at: Some(minute(4)), ..live() };
    let command = Command::Answer { step_id: "s-one".to_owned(), given, seen_rev: Some(0), origin };
    let change = stage.at(minute(5)).accept(command);
    assert_eq!(change.written, ["s-one"]);
    assert_eq!(
        serde_json::to_value(&stage.run.answers["s-one"]).unwrap(),
        json!({
            "label": "Locked?", "type": "boolean", "value": true,
            "photos": [{ "photo_id": "p-0", "photo_index": 0, "state": "pending" }],
            "geo": { "lat": 41.9, "lng": 12.5, "accuracy": 8.0 },
            "at": "2027-03-01T09:05:00Z", "by": "Mara", "note": "Twice",
            "captured_at": "2027-03-01T09:04:00Z", "tz": "Europe/Rome", "rev": 1,
        })
    );
}

#[test]
fn step_completed_goes_out_once_for_each_value() {
    let mut stage = Stage::new(two_steps());
    let first = stage.accept(answer("s-opt", "one"));
    assert_eq!(names(&first), ["step.completed"]);
    let repeat = stage.accept(answer("s-opt", "one"));
    assert!(!repeat.changed && repeat.written.is_empty());
    assert_eq!(names(&repeat), [""; 0]);
    let remark = Given { note: Some("Remark".to_owned()), ..Given::value("one") };
    let noted = stage.accept(give("s-opt", remark));
    assert_eq!((noted.written.len(), names(&noted).len()), (1, 0), "a remark alone is no other value");
    assert_eq!(names(&stage.accept(answer("s-opt", "two"))), ["step.completed"]);

    stage.accept(skip("s-opt"));
    let again = stage.accept(answer("s-opt", "two"));
    let Event::StepCompleted { step_id, step_label, answer, progress, .. } = &again.events[0] else { panic!() };
    assert_eq!((step_id.as_str(), step_label.as_str()), ("s-opt", "Anything else?"));
    assert_eq!(answer.value, json!("two"));
    assert_eq!((progress.answered, progress.total), (1, 2));
}

#[test]
fn an_answer_that_does_not_fit_is_refused_with_what_to_change() {
    let mut stage = Stage::new(two_steps());
    let refusal = stage.refusal(answer("s-req", "yes"));
    assert_eq!(
        serde_json::to_value(&refusal).unwrap(),
        json!({
            "error": "invalid_argument", "message": "Answer with true or false.",
            "details": { "errors": [{ "path": "value", "message": "Answer with true or false." }], "step_id": "s-req" },
        })
    );
    assert_eq!(stage.refuse(answer("s-none", true)), "step_not_found");
}

#[test]
fn only_optional_steps_are_skipped_and_only_where_the_template_allows_it() {
    let mut stage = Stage::new(two_steps());
    assert_eq!(stage.refuse(skip("s-req")), "skip_not_allowed");
    let change = stage.accept(skip("s-opt"));
    assert_eq!(names(&change), ["step.skipped"]);
    assert_eq!((stage.run.progress.skipped, stage.run.progress.answered), (1, 0));
    assert!(!stage.accept(skip("s-opt")).changed);

    let mut strict = Stage::of_steps(json!([{ "id": "s-opt", "type": "text", "label": "l" }]));
    assert_eq!(strict.refuse(skip("s-opt")), "skip_not_allowed");
}

#[test]
fn clearing_takes_an_answer_back_and_the_run_stays_started() {
    let mut stage = Stage::new(two_steps());
    stage.accept(answer("s-req", true));
    let change = stage.accept(clear("s-req"));
    assert_eq!((change.removed.as_slice(), change.status_after), (&["s-req".to_owned()][..], RunStatus::InProgress));
    assert_eq!(stage.run.progress.answered, 0);
    assert!(!stage.accept(clear("s-req")).changed);
}

#[test]
fn where_editing_is_off_an_answer_stands_once_given() {
    let document = json!({ "name": "n", "settings": { "allow_edit": false, "allow_skip": true }, "steps": [
        { "id": "s-one", "type": "text", "label": "l" },
    ]});
    let mut stage = Stage::new(template(document));
    stage.accept(answer("s-one", "x"));
    for command in [answer("s-one", "y"), skip("s-one"), clear("s-one")] {
        assert_eq!(stage.refuse(command), "step_locked");
    }
    assert!(!stage.accept(answer("s-one", "x")).changed, "a repeat is no edit");
}

#[test]
fn a_number_spelt_otherwise_is_the_same_answer() {
    for allow_edit in [true, false] {
        let mut stage = Stage::new(template(json!({ "name": "n", "settings": { "allow_edit": allow_edit }, "steps": [
            { "id": "s-one", "type": "number", "label": "l", "note": "optional", "config": { "decimals": 2 } },
        ]})));
        stage.accept(answer("s-one", 5));
        for spelling in ["5.0", "5e0", "500e-2"] {
            let value: Value = serde_json::from_str(spelling).unwrap();
            assert!(!stage.accept(answer("s-one", value)).changed, "{spelling}");
        }
        if !allow_edit {
            assert_eq!(stage.refuse(answer("s-one", 5.01)), "step_locked");
            continue;
        }
        let noted = stage.accept(give("s-one", Given { note: Some("Twice".to_owned()), ..Given::value(5.0) }));
        assert_eq!((noted.changed, names(&noted).len()), (true, 0), "a remark alone is no other value");
        assert_eq!(names(&stage.accept(answer("s-one", 5.01))), ["step.completed"]);
    }
}

#[test]
fn a_stale_revision_is_a_conflict_that_shows_both_answers() {
    let mut stage = Stage::new(two_steps());
    stage.accept(with_rev(answer("s-opt", "from the phone"), 0));
    let rev = stage.run.answers["s-opt"].rev;
    let refusal = stage.refusal(with_rev(answer("s-opt", "from the tablet"), 0));
    assert_eq!(refusal.code.as_str(), "answer_conflict");
    assert_eq!(refusal.details["current"]["value"], json!("from the phone"));
    assert_eq!(refusal.details["given"], json!("from the tablet"));
    assert_eq!(refusal.details["current_rev"], json!(rev));
    stage.accept(with_rev(answer("s-opt", "from the tablet"), rev));
    assert!(!stage.accept(with_rev(answer("s-opt", "from the tablet"), 0)).changed, "both say the same: no conflict");
}

#[test]
fn a_revision_never_comes_back_after_an_answer_was_cleared() {
    let mut stage = Stage::new(two_steps());
    stage.accept(answer("s-opt", "x"));
    let first = stage.run.answers["s-opt"].rev;
    stage.accept(with_rev(clear("s-opt"), first));
    assert_eq!(stage.refuse(with_rev(answer("s-opt", "y"), first)), "answer_conflict");
    stage.accept(with_rev(answer("s-opt", "y"), 0));
    assert!(stage.run.answers["s-opt"].rev > first);
}

// Photos

#[test]
fn handing_in_waits_until_the_photos_asked_for_are_stored() {
    let mut stage = Stage::of_steps(json!([
        { "id": "s-pho", "type": "photo", "label": "Rooms", "required": true, "config": { "min": 2, "max": 3 } },
    ]));
    let with = |count: u32| Given { photos: (0..count).map(|index| photo(index, PhotoState::Pending)).collect(), ..Given::default() };
    let refusal = stage.refusal(give("s-pho", with(1)));
    assert_eq!((refusal.code.as_str(), refusal.message.as_str()), ("evidence_missing", "Add photos: 2 asked for, 1 there."));
    assert_eq!(refusal.details["missing"], json!([{ "need": "photos", "min": 2, "have": 1 }]));
    stage.accept(give("s-pho", with(2)));

    let refusal = stage.refusal(complete());
    assert_eq!(refusal.details["missing"], json!([{ "step_id": "s-pho", "label": "Rooms", "need": "photos", "min": 2, "have": 0 }]));
    let rev = stage.run.answers["s-pho"].rev;
    for index in 0..2 {
        assert_eq!(stage.accept(put_photo("s-pho", photo(index, PhotoState::Stored))).written, ["s-pho"]);
    }
    assert_eq!(stage.run.answers["s-pho"].rev, rev, "an upload is no edit of the executor");
    assert!(!stage.accept(put_photo("s-pho", photo(0, PhotoState::Pending))).changed, "what is stored stays stored");
    stage.accept(put_photo("s-pho", photo(2, PhotoState::Failed)));
    assert_eq!(stage.refuse(put_photo("s-pho", photo(3, PhotoState::Pending))), "invalid_argument");
    stage.accept(complete());
}

#[test]
fn announcing_a_photo_again_does_not_forget_its_upload() {
    let mut stage = Stage::of_steps(json!([{ "id": "s-one", "type": "boolean", "label": "l", "photo": {} }]));
    let given = |value: bool| Given { photos: vec![photo(0, PhotoState::Pending)], ..Given::value(value) };
    stage.accept(give("s-one", given(true)));
    stage.accept(put_photo("s-one", photo(0, PhotoState::Stored)));
    stage.accept(give("s-one", given(false)));
    assert_eq!(stage.run.answers["s-one"].photos, [photo(0, PhotoState::Stored)]);
}

#[test]
fn a_photo_belongs_to_an_answer_and_can_be_taken_again() {
    let mut stage = Stage::of_steps(json!([{ "id": "s-one", "type": "boolean", "label": "l", "photo": { "min": 1 } }]));
    assert_eq!(stage.refuse(put_photo("s-one", photo(0, PhotoState::Pending))), "photo_not_found");
    stage.accept(give("s-one", Given { photos: vec![photo(0, PhotoState::Stored)], ..Given::value(true) }));
    stage.accept(remove_photo("s-one", "p-0"));
    assert_eq!(stage.refuse(complete()), "incomplete_run");
    stage.accept(put_photo("s-one", photo(1, PhotoState::Stored)));
    stage.accept(complete());
}

#[test]
fn a_photo_that_is_gone_is_removed_again_without_a_change() {
    // Where editing is off only a photo that never arrived may go, and its removal is repeated like any other.
    for (settings, state) in [(json!({}), PhotoState::Stored), (json!({ "allow_edit": false }), PhotoState::Failed)] {
        let steps = json!([{ "id": "s-one", "type": "boolean", "label": "l", "photo": {} }]);
        let mut stage = Stage::new(template(json!({ "name": "n", "settings": settings, "steps": steps })));
        assert_eq!(stage.refuse(remove_photo("s-one", "p-0")), "photo_not_found");
        stage.accept(give("s-one", Given { photos: vec![photo(0, state)], ..Given::value(true) }));
        assert!(stage.accept(remove_photo("s-one", "p-0")).changed);
        let removed = stage.run.clone();
        let repeat = stage.at(minute(9)).accept(remove_photo("s-one", "p-0"));
        assert!(!repeat.changed && repeat.written.is_empty() && repeat.events.is_empty());
        assert_eq!(stage.run, removed);
    }
}

#[test]
fn a_run_takes_three_hundred_photos_in_all() {
    let step = |index: usize| json!({ "id": format!("s-{index:03}"), "type": "photo", "label": "l" });
    let mut stage = Stage::of_steps((0..31).map(step).collect());
    let full = Given { photos: (0..10).map(|index| photo(index, PhotoState::Stored)).collect(), ..Given::default() };
    for index in 0..30 {
        stage.accept(give(&format!("s-{index:03}"), full.clone()));
    }
    let one = Given { photos: vec![photo(0, PhotoState::Stored)], ..Given::default() };
    assert_eq!(stage.refuse(give("s-030", one)), "invalid_argument");
}

// Handing in

#[test]
fn handing_in_lists_everything_that_is_missing() {
    let document = json!({ "name": "n", "settings": { "signature_on_complete": true }, "steps": [
        { "id": "s-read", "type": "instruction", "label": "House rules", "required": true },
        { "id": "s-one", "type": "boolean", "label": "Locked?", "required": true },
        { "id": "s-opt", "type": "text", "label": "Anything?" },
    ]});
    let mut stage = Stage::new(template(document));
    let refusal = stage.refusal(complete());
    assert_eq!(refusal.message, "3 things are missing before this run can be handed in.");
    assert_eq!(
        refusal.details["missing"],
        json!([
            { "step_id": "s-read", "label": "House rules", "need": "answer" },
            { "step_id": "s-one", "label": "Locked?", "need": "answer" },
            { "need": "signature" },
        ])
    );
    stage.accept(answer("s-read", Value::Null));
    stage.accept(answer("s-one", false));
    assert_eq!(stage.refuse(complete()), "incomplete_run");
    stage.accept(complete_signed());
    assert_eq!(stage.run.signature.as_ref().unwrap().image, "p-sign");
}

#[test]
fn a_run_that_requires_nothing_may_be_handed_in_untouched() {
    let mut stage = Stage::of_steps(json!([{ "type": "text", "label": "l" }]));
    let change = stage.accept(complete());
    assert_eq!((change.status_before, change.status_after), (RunStatus::Pending, RunStatus::Completed));
    assert_eq!(stage.run.duration_seconds, None, "nobody opened it");
}

#[test]
fn a_signature_is_refused_where_none_is_asked_for() {
    let mut stage = Stage::of_steps(json!([{ "type": "text", "label": "l" }]));
    assert_eq!(stage.refuse(complete_signed()), "invalid_argument");
}

#[test]
fn a_completed_run_has_its_duration_score_and_event_and_never_changes_again() {
    let mut stage = Stage::new(two_steps());
    stage.at(minute(2)).accept(open(Identity::anonymous()));
    stage.at(minute(10)).accept(answer("s-req", true));
    let change = stage.at(minute(25)).accept(complete());
    assert_eq!(names(&change), ["run.completed"]);
    let Event::RunCompleted { answers, duration_seconds, after_expiry, completed_at, .. } = &change.events[0] else { panic!() };
    assert_eq!((*duration_seconds, *after_expiry, *completed_at), (Some(15 * 60), false, minute(25)));
    assert_eq!(answers, &stage.run.answers);
    assert_eq!(stage.run.completed_at, Some(minute(25)));

    let receipt = stage.run.clone();
    let again = stage.at(hour(100)).accept(complete());
    assert!(!again.changed && again.events.is_empty());
    assert_eq!((again.status_before, again.status_after), (RunStatus::Completed, RunStatus::Completed));
    assert_eq!(stage.run, receipt);
    assert_eq!(stage.run.status_at(hour(1_000)), RunStatus::Completed, "it does not expire");
}

// As a whole

#[test]
fn the_sample_is_carried_out_from_the_door_to_the_concierge() {
    let mut stage = Stage::new(template(sample::every_step_type()));
    stage.accept(open(Identity::external("Mara")));
    let photos = |count: u32| (0..count).map(|index| photo(index, PhotoState::Stored)).collect::<Vec<_>>();
    stage.accept(answer("s-hello", Value::Null));
    stage.accept(answer("s-keytag", "LIMONE-7"));
    stage.accept(answer("s-arrive", "2027-03-01T09:00:00Z"));
    assert_eq!(stage.refuse(answer("s-broken", json!(["o-roost"]))), "step_hidden");
    assert_eq!(stage.refuse(answer("s-damage", false)), "evidence_missing");
    stage.accept(give("s-damage", Given { photos: photos(1), note: Some("The rooster lost its comb".to_owned()), ..Given::value(false) }));
    stage.accept(answer("s-broken", json!(["o-roost"])));
    stage.accept(answer("s-bed", "o-fresh"));
    stage.accept(give("s-views", Given { photos: photos(3), ..Given::default() }));
    stage.accept(answer("s-clean", 4));
    stage.accept(answer("s-why", "Glue is in the drawer.\nIt needs an hour."));
    stage.accept(give("s-meter", Given { photos: photos(1), ..Given::value(json!(10482.5)) }));
    stage.accept(skip("s-next"));
    stage.accept(give("s-handed", Given { signer_name: Some("Gino".to_owned()), ..Given::value("p-sig") }));
    stage.at(minute(41)).accept(complete_signed());
    let score = stage.run.score.as_ref().unwrap();
    assert_eq!((score.won, score.possible), (7, 12));
    assert_eq!(score.outcome.as_str(), "fail");
    assert_eq!(score.failed_steps, ["s-damage"]);
    assert_eq!((stage.run.progress.answered, stage.run.progress.skipped, stage.run.progress.total), (10, 1, 11));

    let stored = serde_json::to_string(&stage.run).unwrap();
    assert_eq!(serde_json::from_str::<Run>(&stored).unwrap(), stage.run);
}
