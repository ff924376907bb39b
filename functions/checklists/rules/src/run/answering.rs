//! Answering, skipping and clearing steps, and their photos.

use jiff::Timestamp;
use serde_json::Value;

use super::apply::{Arrival, Effect};
use super::command::Origin;
use super::{Event, MAX_PHOTOS, Refusal, Run, RunStatus};
use crate::answer::{Answer, Fault, Given, Photo, PhotoState, check_skip, demanded, is_same_value};
use crate::condition::Visibility;
use crate::progress::Progress;
use crate::template::{Step, StepType, Template};

impl Run {
    pub(super) fn answer(
        &mut self,
        template: &Template,
        step_id: &str,
        given: &Given,
        seen_rev: Option<u64>,
        origin: &Origin,
        now: Timestamp,
    ) -> Result<Effect, Refusal> {
        let arrival = self.admit(origin, now)?;
        let step = self.shown_step(template, step_id)?;
        let current = self.answers.get(step_id);
        // Once the run takes answers and shows the step, nothing refuses a phone that repeats itself: neither a revision
        // that its first try has outdated nor a lock that it has closed itself.
        if current.is_some_and(|current| current.says(given)) {
            return Ok(Effect::repeat());
        }
        check_change(template, step, current, &given.value, seen_rev)?;
        given.check(step).map_err(|fault| Refusal::unaccepted(step, fault))?;
        self.check_photo_total(step, given.photos.len())?;

        let is_news = is_news(step, current, given);
        let photos = keep_uploads(&given.photos, current);
        let answer = Answer {
            value: given.value.clone(),
            photos,
            geo: given.geo,
            note: given.note.clone(),
            entry: given.entry,
            signer_name: given.signer_name.clone(),
            ..self.blank_answer(step, origin, arrival, now)
        };
        self.write(template, step, answer.clone(), arrival, self.given_at(origin, now));
        let events = is_news.then(|| Event::StepCompleted {
            step_id: step.id.clone(),
            step_label: step.label.clone(),
            step_type: step.step_type(),
            answer: Box::new(answer),
            progress: self.progress,
        });
        Ok(Effect { written: vec![step.id.clone()], ..Effect::of_run(events.into_iter().collect()) })
    }

    pub(super) fn skip(
        &mut self,
        template: &Template,
        step_id: &str,
        note: Option<&str>,
        seen_rev: Option<u64>,
        origin: &Origin,
        now: Timestamp,
    ) -> Result<Effect, Refusal> {
        let arrival = self.admit(origin, now)?;
        let step = self.shown_step(template, step_id)?;
        let current = self.answers.get(step_id);
        let was_skipped = current.is_some_and(Answer::is_skipped);
        if was_skipped && current.is_some_and(|current| current.note.as_deref() == note) {
            return Ok(Effect::repeat());
        }
        check_change(template, step, current, &Value::Null, seen_rev)?;
        if step.is_required() {
            return Err(Refusal::step_must_be_answered(step));
        }
        if !template.allows_skip() {
            return Err(Refusal::template_forbids_skipping(step));
        }
        check_skip(step, note).map_err(|fault| Refusal::unaccepted(step, fault))?;

        let answer = Answer { skipped: true, note: note.map(str::to_owned), ..self.blank_answer(step, origin, arrival, now) };
        self.write(template, step, answer, arrival, self.given_at(origin, now));
        let events = (!was_skipped).then(|| Event::StepSkipped {
            step_id: step.id.clone(),
            step_label: step.label.clone(),
            step_type: step.step_type(),
            progress: self.progress,
        });
        Ok(Effect { written: vec![step.id.clone()], ..Effect::of_run(events.into_iter().collect()) })
    }

    pub(super) fn clear(
        &mut self,
        template: &Template,
        step_id: &str,
        seen_rev: Option<u64>,
        origin: &Origin,
        now: Timestamp,
    ) -> Result<Effect, Refusal> {
        let arrival = self.admit(origin, now)?;
        let step = self.shown_step(template, step_id)?;
        let Some(current) = self.answers.get(step_id) else { return Ok(Effect::repeat()) };
        check_change(template, step, Some(current), &Value::Null, seen_rev)?;
        self.answers.remove(step_id);
        self.progress = Progress::of(template, &self.answers);
        self.bump(arrival);
        Ok(Effect { removed: vec![step.id.clone()], ..Effect::of_run(Vec::new()) })
    }

    /// A step may be hidden while its photos still arrive: they are taken all the same, so that none is lost when it is
    /// shown again.
    pub(super) fn put_photo(
        &mut self,
        template: &Template,
        step_id: &str,
        photo: &Photo,
        origin: &Origin,
        now: Timestamp,
    ) -> Result<Effect, Refusal> {
        let arrival = self.admit(origin, now)?;
        let step = template.step(step_id).ok_or_else(Refusal::step_not_found)?;
        let answer = self.answers.get(step_id).filter(|answer| !answer.is_skipped());
        let answer = answer.ok_or_else(|| Refusal::photo_without_answer(step))?;
        let place = answer.photos.iter().position(|known| known.photo_id == photo.photo_id);
        match place.map(|place| &answer.photos[place]) {
            // What has been stored stays so, whatever is announced afterwards.
            Some(known) if known == photo || known.state == PhotoState::Stored => return Ok(Effect::repeat()),
            Some(_) => {}
            None => {
                let most = demanded(step, answer.said()).max_photos;
                if answer.photos.len() >= most as usize {
                    let message = format!("This answer takes at most {most} photos.");
                    return Err(Refusal::unaccepted(step, Fault::Unfit { member: "photos", message }));
                }
                self.check_photo_total(step, answer.photos.len() + 1)?;
            }
        }
        let answer = self.answers.get_mut(step_id).expect("the answer was found above");
        match place {
            Some(place) => answer.photos[place] = photo.clone(),
            None => answer.photos.push(photo.clone()),
        }
        answer.photos.sort_by_key(|photo| photo.photo_index);
        self.bump(arrival);
        Ok(Effect { written: vec![step.id.clone()], ..Effect::of_run(Vec::new()) })
    }

    pub(super) fn remove_photo(
        &mut self,
        template: &Template,
        step_id: &str,
        photo_id: &str,
        origin: &Origin,
        now: Timestamp,
    ) -> Result<Effect, Refusal> {
        let arrival = self.admit(origin, now)?;
        let step = self.shown_step(template, step_id)?;
        let answer = self.answers.get(step_id).ok_or_else(|| Refusal::no_photos_to_remove(step))?;
        // A photo that is not there has been removed before: which ones there were is not kept.
        let Some(photo) = answer.photos.iter().find(|photo| photo.photo_id == photo_id) else { return Ok(Effect::repeat()) };
        // A photo that never arrived is no part of the answer yet, and has to make room for another.
        if !template.allows_edit() && photo.state != PhotoState::Failed {
            return Err(Refusal::step_locked(step));
        }
        let answer = self.answers.get_mut(step_id).expect("the answer was found above");
        answer.photos.retain(|photo| photo.photo_id != photo_id);
        self.bump(arrival);
        Ok(Effect { written: vec![step.id.clone()], ..Effect::of_run(Vec::new()) })
    }

    fn shown_step<'t>(&self, template: &'t Template, step_id: &str) -> Result<&'t Step, Refusal> {
        let step = template.step(step_id).ok_or_else(Refusal::step_not_found)?;
        if Visibility::of(template, &self.answers).shows(step_id) { Ok(step) } else { Err(Refusal::step_hidden(step)) }
    }

    fn check_photo_total(&self, step: &Step, photos: usize) -> Result<(), Refusal> {
        let others = self.answers.iter().filter(|(step_id, _)| **step_id != step.id);
        let total = photos + others.map(|(_, answer)| answer.photos.len()).sum::<usize>();
        if total <= MAX_PHOTOS {
            return Ok(());
        }
        let message = format!("A run takes at most {MAX_PHOTOS} photos in all.");
        Err(Refusal::unaccepted(step, Fault::Unfit { member: "photos", message }))
    }

    fn blank_answer(&self, step: &Step, origin: &Origin, arrival: Arrival, now: Timestamp) -> Answer {
        Answer {
            label: step.label.clone(),
            r#type: step.step_type(),
            value: Value::Null,
            photos: Vec::new(),
            geo: None,
            at: now,
            by: origin.by.clone(),
            note: None,
            skipped: false,
            captured_at: origin.captured_at,
            tz: origin.tz.clone(),
            late: arrival == Arrival::Late,
            entry: None,
            signer_name: None,
            rev: self.rev + 1,
        }
    }

    fn write(&mut self, template: &Template, step: &Step, answer: Answer, arrival: Arrival, given_at: Timestamp) {
        let rev = self.bump(arrival);
        debug_assert_eq!(rev, answer.rev, "an answer carries the revision that wrote it");
        self.answers.insert(step.id.clone(), answer);
        self.last_step_id = Some(step.id.clone());
        self.started_at.get_or_insert(given_at);
        if self.status == RunStatus::Pending {
            self.status = RunStatus::InProgress;
        }
        self.progress = Progress::of(template, &self.answers);
    }
}

/// Whether the answer that stands may be replaced or taken back.
fn check_change(template: &Template, step: &Step, current: Option<&Answer>, given: &Value, seen_rev: Option<u64>) -> Result<(), Refusal> {
    let current_rev = current.map_or(0, |answer| answer.rev);
    if let Some(seen_rev) = seen_rev.filter(|seen_rev| *seen_rev != current_rev) {
        return Err(Refusal::answered_elsewhere(step, current, given, seen_rev));
    }
    if current.is_some() && !template.allows_edit() {
        return Err(Refusal::step_locked(step));
    }
    Ok(())
}

/// Whether an answer says something new about the step: another value, or other photos where they are the answer.
fn is_news(step: &Step, current: Option<&Answer>, given: &Given) -> bool {
    let Some(current) = current.filter(|current| !current.is_skipped()) else { return true };
    let photos_are_the_answer = step.step_type() == StepType::Photo;
    !is_same_value(&current.value, &given.value) || (photos_are_the_answer && !current.has_photos_of(given))
}

/// What is known of a photo's upload outlives a repeated announcement of that photo.
fn keep_uploads(given: &[Photo], current: Option<&Answer>) -> Vec<Photo> {
    let known = current.map(|answer| answer.photos.as_slice()).unwrap_or_default();
    let mut photos: Vec<Photo> = given
        .iter()
        .map(|photo| {
            let stored = known.iter().find(|known| known.photo_id == photo.photo_id && known.state == PhotoState::Stored);
            match stored {
                Some(stored) => Photo { photo_index: photo.photo_index, ..stored.clone() },
                None => photo.clone(),
            }
        })
        .collect();
    photos.sort_by_key(|photo| photo.photo_index);
    photos
}
