//! Checking a caller's document: the whole schema and every rule beyond it, all faults at once.
//!
//! A fault of the schema carries the JSON Schema keyword it breaks (`required`, `maxLength`, …; a member that only the
//! store may set breaks `readOnly`). The rules that no schema can express:
//!
//! | rule | what it asks |
//! | --- | --- |
//! | `V1` | ids are unique in the template, over sections, steps and options |
//! | `V2` | a condition names an earlier step; a section's condition, a step of an earlier section |
//! | `V3` | the comparison fits the type of the step it looks at |
//! | `V4` | so does the value, and options exist |
//! | `V5` | groups of conditions are nested at most 3 deep, with at most 10 comparisons in all |
//! | `V6` | lower bounds do not exceed upper bounds, and dates as bounds can be read |
//! | `V7` | at most 300 steps, 256 KiB of JSON and 32 levels of nesting |
//! | `V9` | a pattern compiles in a linear-time engine |
//! | `V11` | a scored template has something to score |
//! | `V12` | translations name existing texts |
//! | `V14` | a step that keeps its id keeps its type ([`Template::check_successor`]) |
//! | `V15` | the time zone is known |
//!
//! `V8`, `V10` and `V13` refuse nothing: a required instruction has to be acknowledged, `annotate` is stored without
//! effect, and texts are plain or a little Markdown whatever they hold.

mod comparison;
mod cost;
mod ids;
mod reader;
mod report;
mod semantics;
mod step;
mod structure;

use serde::Serialize;
use serde_json::Value;

pub use ids::IdKind;

use crate::template::Template;
use report::{Path, Report};

/// Most violations that are listed one by one; one more then says how many were left out.
pub const MAX_VIOLATIONS: usize = 100;

/// One fault of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// Where: an RFC 6901 JSON pointer into the document, empty for the whole document. Member names of the caller are
    /// cut after 60 characters.
    pub pointer: String,
    /// Which rule: a JSON Schema keyword, `V1` to `V15`, or `more` for the count of violations that were left out.
    pub rule: String,
    /// What to change, in a sentence.
    pub message: String,
    /// How many faults it stands for: 1, or for `more` as many as were left out.
    #[serde(skip)]
    faults: usize,
}

impl Violation {
    /// Where, for people: the pointer, or `the document`, whose pointer is empty. Reads well before a colon and the
    /// message.
    pub fn place(&self) -> &str {
        if self.pointer.is_empty() { "the document" } else { &self.pointer }
    }

    /// How many faults these violations stand for, those that were left out included.
    pub fn count(violations: &[Self]) -> usize {
        violations.iter().map(|violation| violation.faults).sum()
    }
}

impl Template {
    /// Checks a caller's document and reads it.
    ///
    /// Missing ids of sections, steps and options are taken from `new_id`, which returns candidates (`g-…`, `s-…` or
    /// `o-…` with 3 to 12 lower-case letters or digits, best random); candidates that are taken already are asked for
    /// again. Top-level `steps` become one section without a title. The members `id`, `v`, `org_id`, `created_at` and
    /// `updated_at` are refused.
    ///
    /// # Errors
    ///
    /// Every violation of the document, up to [`MAX_VIOLATIONS`]. The rules beyond the schema are run on whatever parts
    /// are sound. A document that is too large or too deep is refused before it is looked into.
    pub fn from_document(document: Value, new_id: &mut dyn FnMut(IdKind) -> String) -> Result<Self, Vec<Violation>> {
        let mut report = Report::default();
        cost::check(&document, &mut report);
        if !report.is_clean() {
            return Err(report.into_violations());
        }
        let draft = structure::read(&document, &mut report);
        semantics::check(&draft, &mut report);
        if !report.is_clean() {
            return Err(report.into_violations());
        }
        let mut template = draft.into_template();
        ids::fill_in(&mut template, new_id);
        // Ids that were filled in count as well: what is stored has to pass again when it is edited.
        cost::check_size(&template, &mut report);
        if report.is_clean() { Ok(template) } else { Err(report.into_violations()) }
    }

    /// Checks that this template may follow `previous`: answers of a step keep their meaning, so a step that keeps its
    /// id keeps its type (`V14`).
    pub fn check_successor(&self, previous: &Self) -> Vec<Violation> {
        let mut report = Report::default();
        let root = Path::root();
        let sections = root.member("sections");
        for (section_index, section) in self.sections().iter().enumerate() {
            let section_path = sections.index(section_index);
            let steps = section_path.member("steps");
            for (step_index, step) in section.steps.iter().enumerate() {
                let Some(before) = previous.step(&step.id).map(|before| before.step_type()) else { continue };
                if before != step.step_type() {
                    report.add(&steps.index(step_index).member("type"), "V14", || {
                        format!("Give this step a new id, or keep its type {before}: answers under the id {} have that type.", step.id)
                    });
                }
            }
        }
        report.into_violations()
    }
}
