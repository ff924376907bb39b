//! `onepost-admin`: organisations, members, keys.

use std::io::Write;
use std::process::ExitCode;

use admin::cli::Cli;
use clap::Parser;
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(usage) => return told_to_use_it_otherwise(&usage),
    };
    let as_json = cli.json;
    match cli.run().await {
        Ok(answer) => match writeln!(std::io::stdout(), "{}", answer.printed(as_json)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                let message = format!("It was done, and could not be shown: {error}. {}", answer.what_to_do_unseen());
                eprintln!("{}", if as_json { json!({ "error": "not_shown", "message": message }).to_string() } else { message });
                ExitCode::FAILURE
            }
        },
        Err(error) => {
            eprintln!("{}", error.printed(as_json));
            ExitCode::FAILURE
        }
    }
}

/// Help and version go to standard output; a wrong command line is told as JSON where JSON was asked for.
fn told_to_use_it_otherwise(usage: &clap::Error) -> ExitCode {
    if usage.use_stderr() && std::env::args_os().any(|argument| argument == "--json") {
        eprintln!("{}", json!({ "error": "usage", "message": usage.to_string().trim() }));
    } else {
        let _nobody_reads = usage.print();
    }
    ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(2))
}
