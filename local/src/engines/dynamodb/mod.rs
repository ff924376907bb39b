//! DynamoDB, on SQLite.
//!
//! The engine is `dynoxide`, with a wire of our own in front: its server answers whatever page asks it, preflights too, and
//! its routes cannot be had without it.

mod file;
mod operations;
mod wire;

use std::path::{Path, PathBuf};
use std::time::Duration;

use dynoxide::Database;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::STOP_WITHIN;
use crate::Error;
use crate::error::one_line;
use crate::loopback::{self, Served};

pub(crate) use file::{create, open};

/// How often rows past their TTL are deleted, in a stack that people use. In the cloud it is "within a few days"; a
/// minute is soon enough to see and seldom enough to cost nothing.
pub const SWEEP_EVERY: Duration = Duration::from_secs(60);

/// Where the tables are kept.
#[derive(Clone, Debug)]
pub enum Storage {
    /// In a file, made where it is missing. A write that was answered survives the process being killed.
    File(PathBuf),
    /// In memory, until the engine stops.
    Memory,
}

/// A running DynamoDB. Dropped without [`DynamoDb::stop`], it stops on its own a little later.
pub struct DynamoDb {
    url: String,
    database: Database,
    file: Option<PathBuf>,
    server: Served,
    sweeper: Sweeper,
}

impl DynamoDb {
    /// Opens the storage and serves it on 127.0.0.1, on a port that the operating system picks. `sweep_every`
    /// is how often rows past their TTL are deleted ([`SWEEP_EVERY`], less in tests).
    ///
    /// # Errors
    /// [`Error::DataFileBroken`] for a file that does not hold a whole database, told before anything is served;
    /// [`Error::FileUnusable`] for one that cannot be opened; [`Error::Engine`] for the rest.
    pub async fn start(storage: Storage, sweep_every: Duration) -> Result<DynamoDb, Error> {
        let file = match &storage {
            Storage::File(path) => Some(path.clone()),
            Storage::Memory => None,
        };
        // Off the async threads: a large file takes a moment to check.
        let database = tokio::task::spawn_blocking(move || match storage {
            Storage::File(path) => file::open_or_create(&path),
            Storage::Memory => Database::memory().map_err(failed),
        })
        .await
        .map_err(failed)??;

        let listener = loopback::listen(0).map_err(failed)?;
        let url = loopback::url(&listener).map_err(failed)?;
        let router = wire::router(database.clone());
        let server = Served::start(|stopping| super::serve(listener, router, stopping.wait()));
        let sweeper = Sweeper::start(database.clone(), sweep_every);
        Ok(DynamoDb { url, database, file, server, sweeper })
    }

    /// Where it listens: the endpoint URL for an SDK client, with any credentials and any region.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The database itself, for what the wire does not offer. A clone that outlives [`DynamoDb::stop`] keeps the file
    /// open.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// Answers the requests that run, stops, and closes the file: its write-ahead log is then merged into it. Waits 5
    /// seconds at most for a client that does not finish its request.
    pub async fn stop(self) {
        self.sweeper.stop().await;
        self.server.stop(STOP_WITHIN).await;
        drop(self.database);
        if let Some(file) = self.file {
            wait_until_closed(&file).await;
        }
    }
}

/// A connection's task may hold the database for an instant after the server has returned. SQLite removes the log
/// when the last handle goes; whoever opens the folder next should find it merged. Nothing depends on it (the log
/// is merged at the next start as well), so a second is all it gets.
async fn wait_until_closed(file: &Path) {
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    let log = PathBuf::from(log);
    let closed = async {
        while log.exists() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    let _ = tokio::time::timeout(Duration::from_secs(1), closed).await;
}

/// Deletes rows past their TTL, as DynamoDB does in the background.
struct Sweeper {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Sweeper {
    fn start(database: Database, every: Duration) -> Sweeper {
        let (stop, mut stopping) = oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            let mut ticks = tokio::time::interval(every);
            ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            loop {
                tokio::select! {
                    _ = &mut stopping => return,
                    _ = ticks.tick() => {}
                }
                let database = database.clone();
                // A sweep waits for requests between its pages, with its thread blocked.
                match tokio::task::spawn_blocking(move || database.sweep_ttl()).await {
                    Ok(Ok(0)) => {}
                    Ok(Ok(deleted)) => tracing::debug!(deleted, "rows past their TTL"),
                    Ok(Err(reason)) => tracing::warn!(%reason, "rows past their TTL could not be deleted"),
                    Err(reason) => tracing::warn!(%reason, "rows past their TTL could not be deleted"),
                }
            }
        });
        Sweeper { stop, task }
    }

    async fn stop(self) {
        drop(self.stop);
        let _ = self.task.await;
    }
}

fn failed(reason: impl ToString) -> Error {
    Error::Engine { engine: "DynamoDB", reason: one_line(reason) }
}
