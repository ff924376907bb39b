//! How far a run is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::answer::Answer;
use crate::condition::Visibility;
use crate::template::Template;

/// How far a run is, over the steps that are shown and want an answer (instructions excluded). The total moves as
/// answers open and close branches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Shown steps that want an answer.
    pub total: u32,
    /// Those answered.
    pub answered: u32,
    /// Those skipped explicitly.
    pub skipped: u32,
}

impl Progress {
    /// Counts for a set of answers.
    pub fn of(template: &Template, answers: &BTreeMap<String, Answer>) -> Self {
        Self::over(template, &Visibility::of(template, answers), answers)
    }

    /// Counts where the visibility is known already.
    pub fn over(template: &Template, visibility: &Visibility<'_>, answers: &BTreeMap<String, Answer>) -> Self {
        let mut progress = Self::default();
        for (_, step) in template.steps().filter(|(_, step)| step.wants_answer() && visibility.shows(&step.id)) {
            progress.total += 1;
            match answers.get(&step.id) {
                Some(answer) if answer.is_skipped() => progress.skipped += 1,
                Some(_) => progress.answered += 1,
                None => {}
            }
        }
        progress
    }
}
