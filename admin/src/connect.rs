//! Finds the table and the pepper: those of a running local stack, or real ones.

use std::path::{Path, PathBuf};

use aws_config::retry::RetryConfig;
use aws_config::{BehaviorVersion, SdkConfig};
use checklists::operator::Desk;
use checklists::store::Store;
use onepost_cloud::table::Table;
use onepost_cloud::{aws, secrets};
use onepost_core::clock::SystemClock;
use serde::Deserialize;
use thiserror::Error;

/// Where the data is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A local stack that runs on this data folder.
    Local(PathBuf),
    /// A table in AWS, by the credentials and region of the environment.
    Cloud {
        /// The table's name.
        table: String,
        /// Name or ARN of the secret with the pepper.
        pepper_secret: String,
    },
}

/// The data cannot be reached. The text is one line that says what to do.
#[derive(Debug, Error)]
pub enum Unreachable {
    /// No stack runs on the folder.
    #[error("No local stack runs on {}. Start it with cargo run, or name a real table with --table and --pepper-secret.", .0.display())]
    NotRunning(PathBuf),
    /// The stack is of another version.
    #[error("{} is not what this version writes: {reason}. Start the local stack again.", .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: serde_json::Error,
    },
    /// The pepper cannot be read.
    #[error(transparent)]
    Pepper(#[from] secrets::SecretError),
}

#[derive(Deserialize)]
struct Engines {
    dynamodb: String,
    secretsmanager: String,
    checklists: Named,
}

#[derive(Deserialize)]
struct Named {
    table: String,
    pepper_secret: String,
}

impl Place {
    /// The operator's desk over the data there.
    pub async fn desk(&self) -> Result<Desk, Unreachable> {
        let (tables, vault, named) = match self {
            Self::Local(folder) => {
                let engines = engines(folder)?;
                (aws::on_this_machine(&engines.dynamodb), aws::on_this_machine(&engines.secretsmanager), engines.checklists)
            }
            Self::Cloud { table, pepper_secret } => {
                let config = of_the_operator().await;
                (config.clone(), config, Named { table: table.clone(), pepper_secret: pepper_secret.clone() })
            }
        };
        let peppers = secrets::peppers(&vault, &named.pepper_secret).await.map_err(|error| match (self, &error) {
            (Self::Local(folder), secrets::SecretError::Unanswered { .. }) => Unreachable::NotRunning(folder.clone()),
            _ => error.into(),
        })?;
        Ok(Desk::new(Store::new(Table::new(&tables, named.table)), peppers, SystemClock))
    }
}

/// What the AWS command line would use: profiles, environment, region.
async fn of_the_operator() -> SdkConfig {
    let loader = aws_config::defaults(BehaviorVersion::latest());
    loader.http_client(aws::https()).retry_config(RetryConfig::disabled()).timeout_config(aws::timeouts()).load().await
}

/// What a running stack writes down of its engines. A stack that was killed leaves the file behind, and nothing answers.
fn engines(folder: &Path) -> Result<Engines, Unreachable> {
    let file = folder.join("engines.json");
    let text = std::fs::read(&file).map_err(|_| Unreachable::NotRunning(folder.to_owned()))?;
    serde_json::from_slice(&text).map_err(|reason| Unreachable::Unreadable { file, reason })
}
