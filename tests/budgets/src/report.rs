//! What was measured, against its budget and against what was committed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A figure this much worse than its baseline fails; this much better is to be committed. As a part of the baseline.
const TOLERANCE: f64 = 0.05;

/// One line of the table: a figure, or several that belong together. Less is better in each.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Row {
    /// What its baseline is found by.
    pub id: String,
    /// For people.
    pub what: String,
    /// The figures.
    pub values: Vec<f64>,
    /// The most that they may be.
    pub budget: Option<f64>,
    /// Whether it depends on the machine, so that it is told and not compared.
    pub only_told: bool,
}

impl Row {
    /// A figure with a baseline.
    pub fn new(id: impl Into<String>, what: impl Into<String>, value: f64) -> Self {
        Self { id: id.into(), what: what.into(), values: vec![value], budget: None, only_told: false }
    }

    /// With the most that it may be.
    pub fn within(self, budget: f64) -> Self {
        Self { budget: Some(budget), ..self }
    }

    /// Told, and compared with nothing.
    pub fn only_told(self) -> Self {
        Self { only_told: true, ..self }
    }
}

/// What is committed.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Baseline {
    /// Figures by the row's id.
    pub figures: BTreeMap<String, Vec<f64>>,
    /// Rows whose budget is known to be exceeded, with the reason. They are held to their baseline until they are mended.
    pub over_budget: BTreeMap<String, String>,
}

impl Baseline {
    /// Where it is kept.
    pub fn path() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("baseline.json")
    }

    /// Reads what is committed.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn read() -> Result<Self, crate::Failed> {
        Ok(serde_json::from_str(&std::fs::read_to_string(Self::path())?)?)
    }

    /// Makes these figures the baseline. The known excesses stay as they are: they are for a person to write.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn accept(mut self, rows: &[Row]) -> Result<(), crate::Failed> {
        for row in rows.iter().filter(|row| !row.only_told) {
            self.figures.insert(row.id.clone(), row.values.clone());
        }
        std::fs::write(Self::path(), serde_json::to_string_pretty(&self)? + "\n")?;
        Ok(())
    }

    /// The figures of a row.
    pub fn of(&self, id: &str) -> &[f64] {
        self.figures.get(id).map_or(&[], Vec::as_slice)
    }
}

/// How a row stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Within budget and as committed.
    Holds,
    /// Over budget, which is known, and as committed.
    KnownExcess,
    /// Better than committed.
    Better,
    /// Compared with nothing.
    Told,
    /// Over budget.
    Exceeds,
    /// Worse than committed.
    Worse,
    /// Nothing is committed.
    Unknown,
}

impl Verdict {
    fn of(row: &Row, baseline: &Baseline) -> Self {
        let exceeds = row.budget.is_some_and(|budget| row.values.iter().any(|value| *value > budget));
        if exceeds && !baseline.over_budget.contains_key(&row.id) {
            return Self::Exceeds;
        }
        let committed = baseline.of(&row.id);
        if row.only_told {
            return Self::Told;
        }
        if committed.len() != row.values.len() {
            return Self::Unknown;
        }
        let pairs = || row.values.iter().zip(committed);
        if pairs().any(|(value, committed)| *value > committed * (1.0 + TOLERANCE)) {
            Self::Worse
        } else if pairs().any(|(value, committed)| *value < committed * (1.0 - TOLERANCE)) {
            Self::Better
        } else if exceeds {
            Self::KnownExcess
        } else {
            Self::Holds
        }
    }

    /// Whether the run fails by it.
    pub fn fails(self) -> bool {
        matches!(self, Self::Exceeds | Self::Worse | Self::Unknown)
    }

    fn text(self) -> &'static str {
        match self {
            Self::Holds => "ok",
            Self::KnownExcess => "over budget, known",
            Self::Better => "better: commit it",
            Self::Told => "told only",
            Self::Exceeds => "OVER BUDGET",
            Self::Worse => "WORSE",
            Self::Unknown => "NO BASELINE",
        }
    }
}

/// Figures as people read them.
pub fn written(values: &[f64]) -> String {
    let one = |value: &f64| {
        let whole = format!("{:.0}", value.trunc());
        let mut grouped = String::new();
        for (place, digit) in whole.chars().enumerate() {
            if place > 0 && (whole.len() - place).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        if value.fract().abs() > 0.001 {
            format!("{grouped}{}", format!("{:.1}", value.fract().abs()).trim_start_matches('0'))
        } else {
            grouped
        }
    };
    values.iter().map(one).collect::<Vec<_>>().join(" / ")
}

/// Prints the table and tells whether everything holds.
pub fn print(rows: &[Row], baseline: &Baseline) -> bool {
    let lines: Vec<[String; 5]> = rows
        .iter()
        .map(|row| {
            let budget = row.budget.map_or_else(|| "-".to_owned(), |budget| written(&[budget]));
            let committed = if row.only_told { "-".to_owned() } else { written(baseline.of(&row.id)) };
            [row.what.clone(), written(&row.values), budget, committed, Verdict::of(row, baseline).text().to_owned()]
        })
        .collect();
    let head = ["", "measured", "budget", "baseline", "verdict"].map(str::to_owned);
    let widths: Vec<usize> =
        (0..4).map(|column| lines.iter().chain([&head]).map(|line| line[column].chars().count()).max().unwrap_or(0)).collect();
    for [what, measured, budget, committed, verdict] in [&head].into_iter().chain(&lines) {
        let [first, second, third, fourth] = [0, 1, 2, 3].map(|column| widths[column]);
        println!("{what:<first$} | {measured:>second$} | {budget:>third$} | {committed:>fourth$} | {verdict}");
    }
    let verdicts: Vec<Verdict> = rows.iter().map(|row| Verdict::of(row, baseline)).collect();
    println!();
    for (id, reason) in &baseline.over_budget {
        println!("Over budget and known: {id}: {reason}");
    }
    if verdicts.contains(&Verdict::Better) {
        println!("Some figures are better than committed by more than 5 %. Commit them: tests/budgets/run --accept");
    }
    if verdicts.contains(&Verdict::Unknown) {
        println!("Some figures have no baseline. Look at them, then commit them: tests/budgets/run --accept");
    }
    let fails = verdicts.iter().filter(|verdict| verdict.fails()).count();
    println!("{}", if fails == 0 { "All budgets hold.".to_owned() } else { format!("{fails} of {} rows fail.", rows.len()) });
    fails == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(value: f64, budget: f64, committed: Option<f64>, known: bool) -> Verdict {
        let row = Row::new("row", "A row", value).within(budget);
        let figures = committed.map(|committed| ("row".to_owned(), vec![committed])).into_iter().collect();
        let over_budget = known.then(|| ("row".to_owned(), "a reason".to_owned())).into_iter().collect();
        Verdict::of(&row, &Baseline { figures, over_budget })
    }

    #[test]
    fn a_figure_may_be_five_percent_worse_than_committed_and_no_more() {
        assert_eq!(verdict(105.0, 200.0, Some(100.0), false), Verdict::Holds);
        assert_eq!(verdict(106.0, 200.0, Some(100.0), false), Verdict::Worse);
        assert_eq!(verdict(1.0, 200.0, Some(0.0), false), Verdict::Worse);
        assert_eq!(verdict(0.0, 200.0, Some(0.0), false), Verdict::Holds);
        assert_eq!(verdict(94.0, 200.0, Some(100.0), false), Verdict::Better);
        assert_eq!(verdict(94.0, 200.0, None, false), Verdict::Unknown);
    }

    #[test]
    fn a_budget_holds_whatever_is_committed_unless_a_person_has_said_why() {
        assert_eq!(verdict(201.0, 200.0, Some(201.0), false), Verdict::Exceeds);
        assert_eq!(verdict(201.0, 200.0, Some(201.0), true), Verdict::KnownExcess);
        assert_eq!(verdict(220.0, 200.0, Some(201.0), true), Verdict::Worse);
    }

    #[test]
    fn figures_are_grouped() {
        assert_eq!(written(&[1_234_567.0, 0.5, 12.0]), "1,234,567 / 0.5 / 12");
    }
}
