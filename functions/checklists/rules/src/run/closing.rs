//! How a run ends, and how it comes back.

use jiff::Timestamp;

use super::apply::{Arrival, Effect};
use super::command::Origin;
use super::{Cancel, CancelledBy, EXTENSION_WINDOW, Event, MAX_REASON_CHARS, Missing, Need, Refusal, Run, RunStatus, Signature};
use crate::answer::{MAX_NAME_CHARS, demanded, is_image};
use crate::condition::Visibility;
use crate::progress::Progress;
use crate::score::Score;
use crate::template::Template;

impl Run {
    pub(super) fn complete(
        &mut self,
        template: &Template,
        signature: Option<&Signature>,
        origin: &Origin,
        now: Timestamp,
    ) -> Result<Effect, Refusal> {
        if self.status == RunStatus::Completed {
            return Ok(Effect::repeat());
        }
        let arrival = self.admit(origin, now)?;
        check_signature(template, signature)?;
        let mut missing = self.missing(template);
        if template.wants_signature() && signature.is_none() {
            missing.push(Missing::signature());
        }
        if !missing.is_empty() {
            return Err(Refusal::incomplete(&missing));
        }

        let removed = self.hidden_answers(template);
        self.answers.retain(|step_id, _| !removed.contains(step_id));
        self.progress = Progress::of(template, &self.answers);
        self.score = Score::of(template, &self.answers);
        self.signature = signature.cloned();
        let given_at = self.given_at(origin, now);
        // Two phones' clocks may differ, so that the end seems to lie before the beginning: no time at all, then.
        let seconds_since = |began: Timestamp| u64::try_from(given_at.duration_since(began).as_secs()).unwrap_or(0);
        self.duration_seconds = self.started_at.or(self.opened_at).map(seconds_since);
        let after_expiry = self.status == RunStatus::Expired;
        self.status = RunStatus::Completed;
        self.completed_at = Some(now);
        self.expired_at = None;
        self.bump(arrival);
        let event = Event::RunCompleted {
            answers: self.answers.clone(),
            progress: self.progress,
            score: self.score.clone(),
            completed_at: now,
            duration_seconds: self.duration_seconds,
            after_expiry,
        };
        Ok(Effect { removed, ..Effect::of_run(vec![event]) })
    }

    /// What keeps the run from being handed in, in the order of the template; the signature under the whole run is not
    /// looked at, since it comes with handing in.
    ///
    /// An optional step that was answered has to have its proof as well.
    pub fn missing(&self, template: &Template) -> Vec<Missing> {
        let visibility = Visibility::of(template, &self.answers);
        let mut missing = Vec::new();
        for (_, step) in template.steps().filter(|(_, step)| visibility.shows(&step.id)) {
            match self.answers.get(&step.id) {
                None if step.blocks_completion() => missing.push(Missing::of_step(step, Need::Answer)),
                None => {}
                Some(answer) if answer.is_skipped() => {}
                Some(answer) => {
                    let demand = demanded(step, answer.said());
                    let proofs = demand.missing(answer.stored_photos(), answer.note.as_deref());
                    missing.extend(proofs.into_iter().map(|proof| Missing::of_step(step, proof.into())));
                }
            }
        }
        missing
    }

    pub(super) fn exit(&mut self, reason: &str, now: Timestamp) -> Result<Effect, Refusal> {
        match self.status_at(now) {
            RunStatus::Pending | RunStatus::InProgress => {}
            RunStatus::Cancelled if self.was_left_by_executor() => return Ok(Effect::repeat()),
            closed => return Err(Refusal::closed(closed)),
        }
        if reason.trim().is_empty() || reason.chars().count() > MAX_REASON_CHARS {
            return Err(Refusal::invalid("reason", format!("Say why, in 1 to {MAX_REASON_CHARS} characters.")));
        }
        Ok(self.cancel(CancelledBy::Executor, Some(reason), now))
    }

    pub(super) fn withdraw(&mut self, reason: Option<&str>, now: Timestamp) -> Result<Effect, Refusal> {
        match self.status_at(now) {
            RunStatus::Pending | RunStatus::InProgress => {}
            RunStatus::Cancelled => return Ok(Effect::repeat()),
            closed => return Err(Refusal::closed(closed)),
        }
        if reason.is_some_and(|reason| reason.chars().count() > MAX_REASON_CHARS) {
            return Err(Refusal::invalid("reason", format!("Keep the reason within {MAX_REASON_CHARS} characters.")));
        }
        Ok(self.cancel(CancelledBy::Org, reason, now))
    }

    fn cancel(&mut self, by: CancelledBy, reason: Option<&str>, now: Timestamp) -> Effect {
        let cancel = Cancel { by, reason: reason.map(str::to_owned), last_step_id: self.last_step_id.clone() };
        self.status = RunStatus::Cancelled;
        self.cancelled_at = Some(now);
        self.cancel = Some(cancel.clone());
        self.bump(Arrival::InTime);
        Effect::of_run(vec![Event::RunCancelled { answers: self.answers.clone(), progress: self.progress, cancel, cancelled_at: now }])
    }

    pub(super) fn expire(&mut self, now: Timestamp) -> Result<Effect, Refusal> {
        match self.status {
            RunStatus::Pending | RunStatus::InProgress => {}
            RunStatus::Expired => return Ok(Effect::repeat()),
            closed => return Err(Refusal::closed(closed)),
        }
        let Some(expires_at) = self.expires_at.filter(|_| self.has_lapsed(now)) else {
            return Err(Refusal::not_expired(self.expires_at));
        };
        self.status = RunStatus::Expired;
        // The moment the link ran out, and not the one when somebody noticed.
        self.expired_at = Some(expires_at);
        self.bump(Arrival::InTime);
        Ok(Effect::of_run(vec![Event::RunExpired { expires_at, progress: self.progress }]))
    }

    pub(super) fn extend(&mut self, expires_at: Option<Timestamp>, now: Timestamp) -> Result<Effect, Refusal> {
        let status = self.status_at(now);
        let ended_at = match status {
            RunStatus::Pending | RunStatus::InProgress => None,
            RunStatus::Expired => self.expires_at,
            RunStatus::Cancelled if self.was_left_by_executor() => self.cancelled_at,
            RunStatus::Cancelled => return Err(Refusal::withdrawn_for_good()),
            RunStatus::Completed => return Err(Refusal::closed(status)),
        };
        if let Some(ended_at) = ended_at.filter(|ended_at| now.duration_since(*ended_at) > EXTENSION_WINDOW) {
            return Err(Refusal::ended_too_long_ago(ended_at));
        }
        if expires_at.is_some_and(|expires_at| expires_at <= now) {
            return Err(Refusal::invalid("expires_at", "Give a moment in the future."));
        }
        if status.is_active() && self.expires_at == expires_at {
            return Ok(Effect::repeat());
        }
        self.expires_at = expires_at;
        if !status.is_active() {
            self.status = if self.started_at.is_some() { RunStatus::InProgress } else { RunStatus::Pending };
            self.expired_at = None;
            self.cancelled_at = None;
            self.cancel = None;
        }
        self.bump(Arrival::InTime);
        Ok(Effect::of_run(Vec::new()))
    }

    fn was_left_by_executor(&self) -> bool {
        self.cancel.as_ref().is_some_and(|cancel| cancel.by == CancelledBy::Executor)
    }
}

fn check_signature(template: &Template, signature: Option<&Signature>) -> Result<(), Refusal> {
    let Some(signature) = signature else { return Ok(()) };
    if !template.wants_signature() {
        return Err(Refusal::invalid("signature", "Leave the signature out; this checklist asks for none."));
    }
    if !is_image(&signature.image) {
        return Err(Refusal::invalid("signature", "Give the address or id of the signature's image."));
    }
    let name_fits = signature.signer_name.as_deref().is_none_or(|name| !name.trim().is_empty() && name.chars().count() <= MAX_NAME_CHARS);
    if name_fits {
        return Ok(());
    }
    Err(Refusal::invalid("signer_name", format!("Give a name of 1 to {MAX_NAME_CHARS} characters, or leave it out.")))
}
