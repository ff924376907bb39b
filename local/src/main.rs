//! `onepost`: the whole stack on this machine, and its data out and in.

mod cli;

use std::process::ExitCode;

use clap::Parser;
use onepost_cloud::telemetry;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    // A line a call.
    telemetry::init("info");
    match cli.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
