//! The entry point of all commands, opening, and who may still write.

use jiff::Timestamp;

use super::command::{Command, Identity, IdentityMode, Origin};
use super::{CLOCK_TOLERANCE, Change, Event, LATE_GRACE, Refusal, Run, RunStatus};
use crate::answer::{is_email, is_phone};
use crate::template::{ExternalField, IdentityRequired, Scope, Template};

/// Longest statement of an executor about themselves, in characters.
const MAX_IDENTITY_CHARS: usize = 200;
/// Longest name of a time zone, in bytes.
const MAX_ZONE_BYTES: usize = 64;

/// What a command did, before it is put beside the statuses.
#[derive(Debug, Default)]
pub(super) struct Effect {
    pub(super) written: Vec<String>,
    pub(super) removed: Vec<String>,
    pub(super) changed: bool,
    pub(super) events: Vec<Event>,
}

impl Effect {
    /// A repeat: nothing to write.
    pub(super) fn repeat() -> Self {
        Self::default()
    }

    pub(super) fn of_run(events: Vec<Event>) -> Self {
        Self { changed: true, events, ..Self::default() }
    }
}

/// Whether an accepted command of an executor came before or after expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    InTime,
    Late,
}

impl Run {
    /// Carries a command out at the time `now`, against the template that the run was dispatched with.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] with a stable code; the run is then exactly as it was.
    ///
    /// A repeat is no error while nothing else has happened: the same command once more is accepted, and its [`Change`]
    /// says that nothing changed. One that comes after other commands, or after the link has run out, is judged by the run
    /// as it is now: answering again is refused where the run has ended or the step is hidden meanwhile, and changes the
    /// answer where another stands. Whoever wants the first result whatever happened in between keeps the ids of the
    /// operations, as the store does.
    pub fn apply(&mut self, template: &Template, command: &Command, now: Timestamp) -> Result<Change, Refusal> {
        let status_before = self.status_at(now);
        let effect = match command {
            Command::Open { identity } => self.open(template, identity, now),
            Command::Answer { step_id, given, seen_rev, origin } => self.answer(template, step_id, given, *seen_rev, origin, now),
            Command::Skip { step_id, note, seen_rev, origin } => self.skip(template, step_id, note.as_deref(), *seen_rev, origin, now),
            Command::Clear { step_id, seen_rev, origin } => self.clear(template, step_id, *seen_rev, origin, now),
            Command::Photo { step_id, photo, origin } => self.put_photo(template, step_id, photo, origin, now),
            Command::RemovePhoto { step_id, photo_id, origin } => self.remove_photo(template, step_id, photo_id, origin, now),
            Command::Complete { signature, origin } => self.complete(template, signature.as_ref(), origin, now),
            Command::Exit { reason } => self.exit(reason, now),
            Command::Cancel { reason } => self.withdraw(reason.as_deref(), now),
            Command::Expire => self.expire(now),
            Command::Extend { expires_at } => self.extend(*expires_at, now),
        }?;
        Ok(Change {
            status_before,
            status_after: self.status_at(now),
            written: effect.written,
            removed: effect.removed,
            changed: effect.changed,
            events: effect.events,
        })
    }

    /// Lets a command of an executor through while the run takes answers, and late ones as [`Origin`] describes.
    pub(super) fn admit(&self, origin: &Origin, now: Timestamp) -> Result<Arrival, Refusal> {
        if origin.tz.as_ref().is_some_and(|zone| zone.len() > MAX_ZONE_BYTES) {
            return Err(Refusal::invalid("tz", "Give the IANA name of a time zone."));
        }
        match self.status_at(now) {
            RunStatus::Pending | RunStatus::InProgress => Ok(Arrival::InTime),
            RunStatus::Expired if self.was_captured_in_time(origin, now) => Ok(Arrival::Late),
            closed => Err(Refusal::closed(closed)),
        }
    }

    fn was_captured_in_time(&self, origin: &Origin, now: Timestamp) -> bool {
        let (Some(expires_at), Some(session), Some(captured)) = (self.expires_at, origin.session_opened_at, origin.captured_at) else {
            return false;
        };
        // Differences instead of sums: the end of a run may lie so late that nothing can be added to it.
        session < expires_at
            && session.duration_since(captured) <= CLOCK_TOLERANCE
            && captured.duration_since(expires_at) <= CLOCK_TOLERANCE
            && now.duration_since(expires_at) <= LATE_GRACE
    }

    /// When a command was given, as far as that is proven: what waited on a phone was given when it was captured and not
    /// when it arrived. A time outside what is possible, by a clock that is off, counts as the nearest that is: from the
    /// opening of the session (and never before the run was dispatched) until now.
    pub(super) fn given_at(&self, origin: &Origin, now: Timestamp) -> Timestamp {
        match (origin.session_opened_at, origin.captured_at) {
            (Some(session), Some(captured)) => captured.max(session).max(self.created_at).min(now),
            // Without a session the time is only what a client states.
            _ => now,
        }
    }

    /// Counts a change, and returns the new revision.
    pub(super) fn bump(&mut self, arrival: Arrival) -> u64 {
        if arrival == Arrival::Late {
            self.late_ops = self.late_ops.saturating_add(1);
        }
        self.rev += 1;
        self.rev
    }

    fn open(&mut self, template: &Template, identity: &Identity, now: Timestamp) -> Result<Effect, Refusal> {
        match self.status_at(now) {
            // The receipt of a finished run stays readable to whoever holds the link.
            RunStatus::Completed => return Ok(Effect::repeat()),
            RunStatus::Pending | RunStatus::InProgress => {}
            closed => return Err(Refusal::closed(closed)),
        }
        check_identity(template, identity)?;
        let scope = template.execution.as_ref().and_then(|execution| execution.scope).unwrap_or(Scope::Any);
        let somebody_elses = self.assigned_to.is_some() && self.assigned_to != identity.user_id;
        if scope == Scope::Assigned && somebody_elses {
            return Err(Refusal::not_assigned());
        }
        if self.opened_at.is_some() {
            return Ok(Effect::repeat());
        }
        self.opened_at = Some(now);
        if self.assigned_to.is_none() && identity.mode == IdentityMode::Member {
            self.assigned_to.clone_from(&identity.user_id);
        }
        self.identity = Some(identity.clone());
        self.bump(Arrival::InTime);
        Ok(Effect::of_run(Vec::new()))
    }
}

fn check_identity(template: &Template, identity: &Identity) -> Result<(), Refusal> {
    let stated = [("user_id", &identity.user_id), ("name", &identity.name), ("phone", &identity.phone), ("email", &identity.email)];
    for (field, text) in stated {
        let Some(text) = text else { continue };
        if text.trim().is_empty() || text.chars().count() > MAX_IDENTITY_CHARS {
            let message = format!("Give 1 to {MAX_IDENTITY_CHARS} characters, or leave it out.");
            return Err(Refusal::invalid(field, message));
        }
    }
    if identity.email.as_deref().is_some_and(|email| !is_email(email)) {
        return Err(Refusal::invalid("email", "Give an e-mail address such as mara@example.org."));
    }
    if identity.phone.as_deref().is_some_and(|phone| !is_phone(phone)) {
        return Err(Refusal::invalid("phone", "Give a telephone number of 5 to 15 digits."));
    }
    let execution = template.execution.as_ref();
    let scope = execution.and_then(|execution| execution.scope).unwrap_or(Scope::Any);
    let required = match scope {
        Scope::Org | Scope::Assigned => IdentityRequired::Member,
        Scope::Any => execution.and_then(|execution| execution.identity_required).unwrap_or(IdentityRequired::None),
    };
    let is_member = identity.mode == IdentityMode::Member && identity.user_id.is_some();
    match required {
        IdentityRequired::None => Ok(()),
        // A member is known better than anybody who states a name.
        _ if is_member => Ok(()),
        IdentityRequired::Member => Err(Refusal::identity_required(IdentityMode::Member, &[])),
        IdentityRequired::External => {
            let wanted = execution.and_then(|execution| execution.external_fields.as_deref()).unwrap_or(&[ExternalField::Name]);
            let missing: Vec<&str> = wanted
                .iter()
                .filter(|field| match field {
                    ExternalField::Name => identity.name.is_none(),
                    ExternalField::Phone => identity.phone.is_none(),
                    ExternalField::Email => identity.email.is_none(),
                })
                .map(|field| field.as_str())
                .collect();
            if missing.is_empty() && identity.mode == IdentityMode::External {
                return Ok(());
            }
            let asked = if missing.is_empty() { wanted.iter().map(|field| field.as_str()).collect() } else { missing };
            Err(Refusal::identity_required(IdentityMode::External, &asked))
        }
    }
}
