//! What a run won. Computed once, when it is handed in, from the template it was dispatched with.
//!
//! Hidden steps, explicit skips and options marked as not applicable leave both sides of the fraction. A shown step that
//! was left open stays in it with nothing won.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use crate::answer::Answer;
use crate::condition::Visibility;
use crate::decimal;
use crate::template::{ChoiceOption, RatingConfig, Section, Step, StepKind, StepScore, Template};
use crate::word::words;

/// What a run won.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Points won.
    pub won: u64,
    /// Points that could be won.
    pub possible: u64,
    /// Percent with one decimal place, rounded down; absent where nothing could be won.
    pub percent: Option<f64>,
    /// Whether the run passed.
    pub outcome: Outcome,
    /// Steps that failed, in the order of the template, critical or not.
    pub failed_steps: Vec<String>,
    /// The sections that could win points, in order.
    pub sections: Vec<SectionScore>,
}

/// What a section won.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SectionScore {
    /// The section.
    pub section_id: String,
    /// Its title.
    pub title: Option<String>,
    /// Points won.
    pub won: u64,
    /// Points that could be won.
    pub possible: u64,
    /// Percent with one decimal place, rounded down.
    pub percent: Option<f64>,
    /// Whether it reached its own percentage.
    pub outcome: Outcome,
}

words! {
    /// Whether something passed.
    Outcome {
        /// It did.
        Pass = "pass",
        /// It did not.
        Fail = "fail",
        /// Nothing was set to pass or fail.
        None = "none",
    }
}

/// What a step contributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Points {
    won: u64,
    possible: u64,
    failed: bool,
}

impl Score {
    /// The score of a run with these answers; `None` where the template is not scored.
    pub fn of(template: &Template, answers: &BTreeMap<String, Answer>) -> Option<Self> {
        if !template.is_scored() {
            return None;
        }
        let visibility = Visibility::of(template, answers);
        let mut score = Self { won: 0, possible: 0, percent: None, outcome: Outcome::None, failed_steps: Vec::new(), sections: Vec::new() };
        // What was there to pass or fail: without any, there is no outcome.
        let mut judged = false;
        let mut failed = false;
        for section in template.sections() {
            let mut total = SectionScore::of(section);
            for step in section.steps.iter().filter(|step| visibility.shows(&step.id)) {
                let Some(points) = step_points(step, answers.get(&step.id)) else { continue };
                total.won += points.won;
                total.possible += points.possible;
                let critical = step.score.as_ref().is_some_and(StepScore::is_critical);
                judged |= critical;
                if points.failed {
                    score.failed_steps.push(step.id.clone());
                    failed |= critical;
                }
            }
            total.settle(section.pass_percent.as_ref());
            judged |= total.outcome != Outcome::None;
            failed |= total.outcome == Outcome::Fail;
            score.won += total.won;
            score.possible += total.possible;
            if total.possible > 0 {
                score.sections.push(total);
            }
        }
        score.percent = percent(score.won, score.possible);
        let pass_percent = template.scoring.as_ref().and_then(|scoring| scoring.pass_percent.as_ref());
        let overall = outcome(score.percent, pass_percent);
        judged |= overall != Outcome::None;
        failed |= overall == Outcome::Fail;
        score.outcome = match (judged, failed) {
            (_, true) => Outcome::Fail,
            (true, false) => Outcome::Pass,
            (false, false) => Outcome::None,
        };
        Some(score)
    }
}

impl SectionScore {
    fn of(section: &Section) -> Self {
        Self { section_id: section.id.clone(), title: section.title.clone(), won: 0, possible: 0, percent: None, outcome: Outcome::None }
    }

    fn settle(&mut self, pass_percent: Option<&Number>) {
        self.percent = percent(self.won, self.possible);
        self.outcome = outcome(self.percent, pass_percent);
    }
}

/// Tenths of a percent, rounded down, so that 99.96 never reads as 100.
fn percent(won: u64, possible: u64) -> Option<f64> {
    let tenths = (1_000 * won).checked_div(possible)?;
    Some(tenths as f64 / 10.0)
}

fn outcome(percent: Option<f64>, pass_percent: Option<&Number>) -> Outcome {
    match (percent, pass_percent.and_then(Number::as_f64)) {
        (Some(percent), Some(needed)) if percent < needed => Outcome::Fail,
        (Some(_), Some(_)) => Outcome::Pass,
        _ => Outcome::None,
    }
}

/// What a shown step contributes; `None` where it does not count.
fn step_points(step: &Step, answer: Option<&Answer>) -> Option<Points> {
    if answer.is_some_and(Answer::is_skipped) {
        return None;
    }
    let options = step.kind.options();
    let by_options = options.iter().any(|option| option.points.is_some());
    let rule = match (&step.score, by_options) {
        (Some(rule), _) => rule.clone(),
        (None, true) => StepScore::default(),
        (None, false) => return None,
    };
    let points = u64::from(rule.points());
    let possible = match &step.kind {
        StepKind::Choice(_) if by_options => counting(options).map(option_points).max().unwrap_or(0),
        StepKind::MultiChoice(_) if by_options => counting(options).filter(|option| option.fail != Some(true)).map(option_points).sum(),
        _ => points,
    };
    let Some(answer) = answer else { return Some(Points { won: 0, possible, failed: true }) };

    let chosen: Vec<&ChoiceOption> = options.iter().filter(|option| chooses(&answer.value, &option.id)).collect();
    if !chosen.is_empty() && chosen.iter().all(|option| option.exclude == Some(true)) {
        return None;
    }
    let fails = chosen.iter().any(|option| option.fail == Some(true));
    let whole = |passes: bool| Points { won: if passes { points } else { 0 }, possible, failed: !passes };
    Some(match &step.kind {
        StepKind::Boolean(_) => whole(answer.value == Value::Bool(rule.pass_value.unwrap_or(true))),
        StepKind::Choice(_) | StepKind::MultiChoice(_) if by_options => {
            let won: u64 = counting(chosen.iter().copied()).map(option_points).sum();
            Points { won: won.min(possible), possible, failed: fails }
        }
        StepKind::Choice(_) | StepKind::MultiChoice(_) => whole(!fails),
        StepKind::Number(_) => whole(answer.value.as_number().is_some_and(|number| is_within(number, &rule))),
        StepKind::Rating(config) => {
            let rating = answer.value.as_number();
            let won = rating.map_or(0, |rating| rating_points(rating, config.as_ref(), points));
            let bounded = rule.pass_min.is_some() || rule.pass_max.is_some();
            let failed = match bounded {
                true => !rating.is_some_and(|rating| is_within(rating, &rule)),
                false => won == 0 && possible > 0,
            };
            Points { won, possible, failed }
        }
        _ => whole(true),
    })
}

fn counting<'o>(options: impl IntoIterator<Item = &'o ChoiceOption>) -> impl Iterator<Item = &'o ChoiceOption> {
    options.into_iter().filter(|option| option.exclude != Some(true))
}

fn option_points(option: &ChoiceOption) -> u64 {
    u64::from(option.points.unwrap_or(0))
}

fn chooses(value: &Value, option_id: &str) -> bool {
    match value {
        Value::String(id) => id == option_id,
        Value::Array(ids) => ids.iter().any(|id| id == option_id),
        _ => false,
    }
}

fn is_within(number: &Number, rule: &StepScore) -> bool {
    rule.pass_min.as_ref().is_none_or(|min| decimal::compare(number, min).is_ge())
        && rule.pass_max.as_ref().is_none_or(|max| decimal::compare(number, max).is_le())
}

fn rating_points(rating: &Number, config: Option<&RatingConfig>, points: u64) -> u64 {
    let (min, max) = RatingConfig::range(config);
    let above = decimal::whole(rating).and_then(|rating| u64::try_from(rating - i64::from(min)).ok()).unwrap_or(0);
    (points * above).checked_div(u64::from(max - min)).unwrap_or(0).min(points)
}
