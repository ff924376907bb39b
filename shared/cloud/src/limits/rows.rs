//! The rows in which instances share their limits.

use std::future::Future;
use std::time::Duration;

use onepost_core::auth::Org;
use serde::Deserialize;

use crate::table::{Action, Comparison, Condition, Consistency, Item, Key, PURGE_AT, Partition, Table, TableError, Update, WriteError};

/// How long a call waits for one answer of the table before it goes on without.
pub const PATIENCE: Duration = Duration::from_millis(200);

/// How long after its window a row may be cleaned up: no clock is so far behind.
const KEPT_SECONDS: u64 = 300;

const TAKEN: &str = "taken";

/// Whose calls are counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Scope {
    /// All calls of an organisation.
    Organisation(Org),
    /// The calls with one of its keys, by the key's public id.
    Key(Org, Box<str>),
}

/// The count of one scope in one window.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// Whose.
    pub scope: &'a Scope,
    /// When the window began, in seconds since 1970.
    pub start: u64,
    /// When it ends.
    pub end: u64,
}

/// What came of an attempt to take tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taking {
    /// They are taken.
    Taken,
    /// Too many were asked for: so many had been taken before, and nothing changed.
    Refused {
        /// The tokens that had been taken.
        taken: u32,
    },
}

/// Where rows are kept. Every answer comes within a short time, or an error does.
pub trait Rows: Send + Sync {
    /// How many tokens of the row have been taken. May be some moments behind.
    fn taken(&self, row: Row<'_>) -> impl Future<Output = Result<u32, TableError>> + Send;

    /// Takes `tokens` if no more than `limit` are taken then, in one step that no other comes between.
    fn take(&self, row: Row<'_>, tokens: u32, limit: u32) -> impl Future<Output = Result<Taking, TableError>> + Send;
}

#[derive(Debug, Default, Deserialize)]
struct Count {
    taken: u32,
}

impl Rows for Table {
    async fn taken(&self, row: Row<'_>) -> Result<u32, TableError> {
        within(PATIENCE, taken(self, row)).await
    }

    async fn take(&self, row: Row<'_>, tokens: u32, limit: u32) -> Result<Taking, TableError> {
        within(PATIENCE, take(self, row, tokens, limit)).await
    }
}

/// A table that calls wait longer for: for tests, on machines that do much else.
#[derive(Debug, Clone)]
pub struct PatientTable {
    /// The table.
    pub table: Table,
    /// How long a call waits for one answer.
    pub patience: Duration,
}

impl Rows for PatientTable {
    async fn taken(&self, row: Row<'_>) -> Result<u32, TableError> {
        within(self.patience, taken(&self.table, row)).await
    }

    async fn take(&self, row: Row<'_>, tokens: u32, limit: u32) -> Result<Taking, TableError> {
        within(self.patience, take(&self.table, row, tokens, limit)).await
    }
}

async fn taken(table: &Table, row: Row<'_>) -> Result<u32, TableError> {
    let count: Option<Count> = table.get(row.key(), Consistency::Eventual).await?;
    Ok(count.unwrap_or_default().taken)
}

async fn take(table: &Table, row: Row<'_>, tokens: u32, limit: u32) -> Result<Taking, TableError> {
    let Some(most_before) = limit.checked_sub(tokens) else {
        return Err(TableError::failed("more tokens were asked for than a limit has"));
    };
    let room = Condition::Any(vec![Condition::Missing(TAKEN), Condition::compares(TAKEN, Comparison::AtMost, most_before)]);
    let update = Update::new().add(TAKEN, tokens.into()).set(PURGE_AT, row.end + KEPT_SECONDS);
    match table.write(Action::update(row.key(), update).only_if(room, ())).await {
        Ok(()) => Ok(Taking::Taken),
        Err(WriteError::Refused(refused)) => {
            let found = refused.into_iter().next().and_then(|refused| refused.found);
            let count: Count = found.map(Item::read).transpose()?.unwrap_or_default();
            Ok(Taking::Refused { taken: count.taken })
        }
        Err(WriteError::Failed(error)) => Err(error),
    }
}

/// Whatever is not done within our patience may still have been done; those tokens are lost until the window ends.
async fn within<T>(patience: Duration, work: impl Future<Output = Result<T, TableError>>) -> Result<T, TableError> {
    let too_late = |_| Err(TableError::failed(format!("a limit was not told within {} ms", patience.as_millis())));
    tokio::time::timeout(patience, work).await.unwrap_or_else(too_late)
}

impl Row<'_> {
    /// A partition for each row, so that no two scopes or windows share what a partition can take.
    fn key(&self) -> Key {
        let start = self.start;
        let partition = match self.scope {
            Scope::Organisation(org) => Partition::of(org, &format!("LIM#{start}")),
            Scope::Key(org, key) => Partition::of(org, &format!("LIM#{start}#{key}")),
        };
        partition.key("LIM")
    }
}
