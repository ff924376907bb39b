//! The proof that an answer asks for: photos and remarks.

use serde::{Deserialize, Serialize};

use super::{Fault, Given, Photo, PhotoState, Said, count};
use crate::condition::own_answer_meets;
use crate::template::{NotePolicy, PhotoConfig, PhotoRule, Step, StepKind};

/// Longest remark, in characters.
pub const MAX_NOTE_CHARS: usize = 2_000;

/// Proof that an answer asks for and that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "need", rename_all = "snake_case")]
pub enum Proof {
    /// More photos.
    Photos {
        /// Fewest photos.
        min: u32,
        /// Photos there are.
        have: u32,
    },
    /// A longer remark.
    Note {
        /// Fewest characters.
        min_chars: u32,
        /// Characters there are.
        have: u32,
    },
}

impl Proof {
    /// What to do, as one sentence.
    pub fn sentence(&self) -> String {
        match self {
            Self::Photos { min, have } => format!("Add photos: {min} asked for, {have} there."),
            Self::Note { min_chars, have } => {
                format!("Add a remark of at least {min_chars} characters; it has {have}.")
            }
        }
    }
}

/// What an answer of a step asks for beside its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// Fewest photos.
    pub min_photos: u32,
    /// Most photos; 0 where none are taken.
    pub max_photos: u32,
    /// Fewest characters of the remark, where one is asked for.
    pub min_note_chars: Option<u32>,
}

/// What this answer of the step asks for: the step's own photo rule and every evidence rule that the answer meets. The
/// larger number applies, they are not added. A skip meets no rule but those about skipping.
pub fn demanded(step: &Step, said: Said<'_>) -> Demand {
    let mut demand = Demand::default();
    let skipped = said == Said::Skip;
    if !skipped {
        if let StepKind::Photo(config) = &step.kind {
            (demand.min_photos, demand.max_photos) = PhotoConfig::range(config.as_ref());
        }
        if let Some(rule) = step.photo_rule() {
            demand.add_photos(rule);
        }
    }
    for rule in step.evidence() {
        let applies = match &rule.when {
            None => !skipped,
            Some(when) => own_answer_meets(step, Some(said), when),
        };
        if !applies {
            continue;
        }
        if let Some(photo) = &rule.photo {
            demand.add_photos(photo);
        }
        if let Some(note) = &rule.note {
            let min_chars = note.min_chars.unwrap_or(1);
            demand.min_note_chars = Some(demand.min_note_chars.unwrap_or(0).max(min_chars));
        }
    }
    demand
}

impl Demand {
    fn add_photos(&mut self, rule: &PhotoRule) {
        self.min_photos = self.min_photos.max(rule.min());
        self.max_photos = self.max_photos.max(rule.max());
    }

    /// What is missing when so many photos and this remark are there.
    pub fn missing(&self, photos: u32, note: Option<&str>) -> Vec<Proof> {
        let mut missing = Vec::new();
        if photos < self.min_photos {
            missing.push(Proof::Photos { min: self.min_photos, have: photos });
        }
        // Blanks are no remark.
        let have = note.map_or(0, |note| u32::try_from(note.trim().chars().count()).unwrap_or(u32::MAX));
        if let Some(min_chars) = self.min_note_chars.filter(|min_chars| have < *min_chars) {
            missing.push(Proof::Note { min_chars, have });
        }
        missing
    }
}

/// Checks photos and remark of an answer that is given.
pub(super) fn check(step: &Step, given: &Given) -> Result<(), Fault> {
    let demand = demanded(step, Said::Value(&given.value));
    check_photos(&demand, &given.photos)?;
    if let Some(note) = &given.note {
        check_length(note)?;
        if step.note != Some(NotePolicy::Optional) && demand.min_note_chars.is_none() {
            return Err(Fault::unfit("note", "Leave the remark out; this answer takes none."));
        }
    }
    settle(demand.missing(count(&given.photos, |photo| photo.state != PhotoState::Failed), given.note.as_deref()))
}

/// Checks the remark of a skip: it is always welcome, as the reason, and some steps ask for it.
pub fn check_skip(step: &Step, note: Option<&str>) -> Result<(), Fault> {
    note.map_or(Ok(()), check_length)?;
    // Photos belong to an answer: a skip cannot carry any, so a rule cannot ask for them.
    let demand = Demand { min_photos: 0, ..demanded(step, Said::Skip) };
    settle(demand.missing(0, note))
}

fn settle(missing: Vec<Proof>) -> Result<(), Fault> {
    if missing.is_empty() { Ok(()) } else { Err(Fault::EvidenceMissing(missing)) }
}

fn check_length(note: &str) -> Result<(), Fault> {
    if note.chars().count() > MAX_NOTE_CHARS {
        return Err(Fault::unfit("note", format!("Keep the remark within {MAX_NOTE_CHARS} characters.")));
    }
    Ok(())
}

fn check_photos(demand: &Demand, photos: &[Photo]) -> Result<(), Fault> {
    let most = demand.max_photos;
    if count(photos, |_| true) > most {
        let message = match most {
            0 => "Leave photos out; this answer takes none.".to_owned(),
            _ => format!("Give at most {most} photos."),
        };
        return Err(Fault::unfit("photos", message));
    }
    let named_before = |index: usize| photos[..index].iter().any(|earlier| earlier.photo_id == photos[index].photo_id);
    if (0..photos.len()).any(named_before) {
        return Err(Fault::unfit("photos", "Name each photo once."));
    }
    Ok(())
}
