//! `onepost-admin`: organisations, members, keys.

use std::process::ExitCode;

use admin::cli::Cli;
use clap::Parser;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    let json = cli.json;
    match cli.run().await {
        Ok(answer) => {
            println!("{}", answer.printed(json));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{}", error.printed(json));
            ExitCode::FAILURE
        }
    }
}
