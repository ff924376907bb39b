//! Budgets as tests: everything that makes the suite fast and cheap is counted and held against a budget and a committed
//! baseline. Nothing is timed. `tests/budgets/run` builds what is measured and starts this.

mod cost;
mod function;
mod ground;
mod instructions;
mod memory;
mod performance;
mod prices;
mod proxy;
mod report;
mod start;
mod tools;

use std::path::Path;
use std::process::{Command, ExitCode};

use report::{Baseline, Row};

/// Why nothing could be measured.
type Failed = Box<dyn std::error::Error + Send + Sync>;

const USAGE: &str = "budgets measure <function> <driver> [--accept] | budgets docs [--check]";

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["measure", function, driver] => measure(Path::new(function), Path::new(driver), false).await,
        ["measure", function, driver, "--accept"] => measure(Path::new(function), Path::new(driver), true).await,
        ["docs"] => documents(false),
        ["docs", "--check"] => documents(true),
        _ => Err(format!("Usage: {USAGE}").into()),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("budgets: {error}");
            ExitCode::from(2)
        }
    }
}

async fn measure(function: &Path, driver: &Path, accept: bool) -> Result<bool, Failed> {
    let mut rows = Vec::new();
    let has = |tool: &str| Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success());
    let mut passed_over = Vec::new();
    if has("valgrind") {
        rows.extend(instructions::rows(driver)?)
    } else {
        passed_over.push("instructions: there is no valgrind")
    }
    if has("strace") {
        rows.extend(start::rows(function).await?)
    } else {
        passed_over.push("files and connections: there is no strace")
    }
    rows.extend(memory::rows(function).await?);
    rows.push(zip(function, driver)?);
    rows.extend(tools::rows(function).await?);
    let baseline = Baseline::read()?;
    let holds = report::print(&rows, &baseline);
    for what in passed_over {
        println!("SKIPPED: {what}, and none could be installed");
    }
    if accept {
        baseline.accept(&rows)?;
        println!("These figures are the baseline now. Commit tests/budgets/baseline.json, and docs/ after tests/budgets/docs.");
        return Ok(true);
    }
    Ok(holds)
}

fn zip(function: &Path, driver: &Path) -> Result<Row, Failed> {
    let output = Command::new(driver).arg("zip").arg(function).output()?;
    let bytes: f64 = String::from_utf8(output.stdout)?.trim().parse()?;
    Ok(Row::new("zip.bytes", "zip of the function, in bytes", bytes).within(3_500_000.0))
}

/// Writes what is computed from the baseline into the documents, or tells whether it stands there already.
fn documents(check: bool) -> Result<bool, Failed> {
    let baseline = Baseline::read()?;
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let (cost, performance) = (docs.join("cost.md"), docs.join("performance.md"));
    let now = std::fs::read_to_string(&performance)?;
    let mut is_current = true;
    for (path, text) in [(&cost, cost::document(&baseline)), (&performance, performance::document(&now, &baseline)?)] {
        if check {
            if std::fs::read_to_string(path).unwrap_or_default() != text {
                is_current = false;
                println!("{} is not what tests/budgets/docs makes of the committed figures", path.display());
            }
        } else {
            std::fs::write(path, text)?;
        }
    }
    Ok(is_current)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_documents_say_what_the_committed_figures_say() {
        assert!(super::documents(true).unwrap(), "run tests/budgets/docs");
    }
}
