//! What a million calls cost: arithmetic on measured units, log bytes and round trips, and on the prices.

use std::fmt::Write;

use checklists::settings::CALLS;
use onepost_cloud::limits::most_leased;

use crate::prices::{DOORS, LAMBDA_GB_SECOND, LAMBDA_REQUESTS, LOGS_GB, READ_UNITS, WRITE_UNITS};
use crate::report::Baseline;

/// The function's memory in GB, as the template has it.
const MEMORY_GB: f64 = 0.25;

/// Milliseconds of an invocation that asks the table nothing.
const MS_ALONE: f64 = 1.2;

/// Milliseconds that each round trip in sequence adds.
const MS_ROUND_TRIP: f64 = 3.3;

/// The document.
pub fn document(baseline: &Baseline) -> String {
    let mut rows = String::new();
    for (id, figures) in &baseline.figures {
        let (Some(case), [reads, writes, waves]) = (id.strip_prefix("table."), figures.as_slice()) else { continue };
        let log_bytes = baseline.of("log.bytes").first().copied().unwrap_or(0.0);
        let call = Call { reads: *reads, writes: *writes, ms: (MS_ALONE + MS_ROUND_TRIP * waves).ceil(), log_bytes };
        let doors: Vec<String> = DOORS.iter().map(|(_, price)| format!("{:.2}", call.dollars() + price)).collect();
        let what = if case == "tools/list" { case.to_owned() } else { format!("`{}`{}", first(case), rest(case)) };
        let parts = [call.compute(), call.table(), call.logs()].map(|part| format!("{part:.3}")).join(" | ");
        let _infallible = writeln!(rows, "| {what} | {reads} | {writes} | {} | {parts} | {} |", call.ms, doors.join(" | "));
    }
    let doors = DOORS.map(|(door, price)| format!("{door} {price:.2}")).join(", ");
    let (key, organisation) = (most_leased(CALLS.per_key), most_leased(CALLS.per_organisation));
    let lease = WRITE_UNITS * (1.0 / f64::from(key) + 1.0 / f64::from(organisation));
    let small_lease = WRITE_UNITS * 2.0 / 16.0;
    format!(
        "<!-- Made by tests/budgets/docs from tests/budgets/baseline.json. Do not edit: a test compares. -->
# Cost

What a million calls of a tool cost, in US dollars. Every figure but one is measured: table units, round trips and log
bytes are those of the shipped function, and a change that raises one of them fails the build (docs/performance.md). The
one that is assumed is how many milliseconds a round trip takes.

A request to Lambda is {LAMBDA_REQUESTS:.2} in every row. The last four columns are the whole, by the door the call comes through
({doors}).

| tool | read units | write units | ms | compute | table | log | {} |
| --- | --- | --- | --- | --- | --- | --- | {} |
{rows}
## How it is worked out

- **Milliseconds**: {MS_ALONE} and {MS_ROUND_TRIP} for each round trip in sequence, rounded up as Lambda bills them. {MS_ALONE} ms is what an empty
  Rust function is billed for on arm64 (maxday/lambda-perf); {MS_ROUND_TRIP} ms is what is left of 7.8 ms for two round trips at
  256 MB (cebert/aws-lambda-performance-benchmarks, December 2025), so it holds the function's own work as well. At
  256 MB a millisecond is {:.4} of a dollar in a million calls: twice as many milliseconds would add a few cents to a row.
  `tools/list` computes more than other calls and may take a millisecond or two longer.
- **Compute**: milliseconds, {MEMORY_GB} GB and {LAMBDA_GB_SECOND:.10} a GB-second (arm64).
- **Table**: {READ_UNITS} for a million read units, {WRITE_UNITS} for a million write units. Tools that write read the key as well,
  and that unit is in their row. Other tools read a key once in 30 seconds: at worst, with a call less often than that,
  another {READ_UNITS}.
- **Log**: {LOGS_GB:.2} for a GB, and the longest line of all tools in every row. Lambda's own lines are switched off in the template.
- **Limits of calls** add nothing to a key's and an organisation's first calls in ten seconds on an instance. Then tokens
  are leased: one write for up to {key} calls of a key and one for up to {organisation} of its organisation, which adds {lease:.3} at full
  speed, and some {small_lease:.2} where leases are of 16.
- **Not in it**: storage, backups, traffic out ($0.09 a GB: 0.18 for a million answers of 2 KB), alarms, the pepper's secret
  (0.40 a month). The free tier is left out too.

Prices are of us-east-1, read on 2026-11-30, and stand with their sources in `tests/budgets/src/prices.rs`. The agent
gateway is Amazon Bedrock AgentCore Gateway. Through a REST API or that gateway the function would have to learn their event
formats first; the columns are here to compare.

`tests/budgets/docs` writes this file anew from what is committed.
",
        DOORS.map(|(door, _)| door).join(" | "),
        DOORS.map(|_| "---").join(" | "),
        Call { reads: 0.0, writes: 0.0, ms: 1.0, log_bytes: 0.0 }.compute(),
    )
}

fn first(case: &str) -> &str {
    case.split(' ').next().unwrap_or_default()
}

fn rest(case: &str) -> &str {
    &case[first(case).len()..]
}

struct Call {
    reads: f64,
    writes: f64,
    ms: f64,
    log_bytes: f64,
}

/// Dollars for a million.
impl Call {
    fn compute(&self) -> f64 {
        self.ms * MEMORY_GB * LAMBDA_GB_SECOND * 1000.0
    }

    fn table(&self) -> f64 {
        self.reads * READ_UNITS + self.writes * WRITE_UNITS
    }

    fn logs(&self) -> f64 {
        self.log_bytes / 1000.0 * LOGS_GB
    }

    fn dollars(&self) -> f64 {
        LAMBDA_REQUESTS + self.compute() + self.table() + self.logs()
    }
}

#[cfg(test)]
mod tests {
    use super::Call;

    #[test]
    fn the_lean_read_of_the_sources_costs_what_they_say() {
        let call = Call { reads: 0.5, writes: 0.0, ms: 5.0, log_bytes: 200.0 };
        assert!((call.dollars() - (0.20 + 0.0167 + 0.0625 + 0.10)).abs() < 0.001, "{}", call.dollars());
    }
}
