//! The only place that builds table requests.
//!
//! | rows | partition | sort key |
//! | --- | --- | --- |
//! | key | `K#<key id>` | `K` |
//! | organisation, month's usage, member, e-mail taken, invitation, its keys | `<org>#O` | `META`, `USE#2026-05`, `M#<user>`, `E#<hmac>`, `I#<id>`, `K#<key id>` |
//! | asset (with its counter of active runs) | `<org>#A` | id |
//! | active-run marker | `<org>#AR#<asset>` | run |
//! | template head | `<org>#T` | id |
//! | template body, deflated, immutable | `<org>#TB#<template>` | `v0000007` |
//! | run | `<org>#R#<run>` | `#RUN`, `ASSET`, `ANS#<step>` |
//! | run's operations | `<org>#RO#<run>` | operation id |
//! | link | `L#<run>` | `L` |
//! | run list entry, also indexed by stored status | `<org>#L` | `<ms>#<run>` |
//!
//! After the key check a call makes one wave of reads and at most one write, which carries its own conditions.
//! Exceptions say why. Nothing is ever scanned.

mod assets;
mod deletions;
mod keys;
mod members;
mod organisations;
mod runs;
mod templates;
mod transitions;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use onepost_cloud::table::{Design, Index, Partition, Table, WriteError};
use onepost_core::auth::Org;

pub use assets::asset_not_found;
pub use organisations::Organisation;
pub use runs::{Dispatch, ListEntry, RunFile, RunHead, run_not_found};
pub use templates::{TemplateBody, TemplateHead, template_not_found};
pub use transitions::{Operation, Settled};

/// Run list entries by their stored status.
const BY_STATUS: Index = Index { name: "by_status", partition: "st" };

/// What the table is made of.
pub const DESIGN: Design = Design { indexes: &[BY_STATUS] };

/// How often a read-and-write is begun anew when somebody else was quicker.
const TRIES: u32 = 8;

/// Steps aside for a moment, so that those who met do not meet again: longer with each try, and never equally long.
async fn step_aside(tries: u32) {
    let random = RandomState::new().build_hasher().finish() % 1_000;
    let longest = 8_u64 << tries.min(5);
    tokio::time::sleep(Duration::from_micros(longest * random)).await;
}

/// The data of all organisations, of which each call sees one.
#[derive(Debug, Clone)]
pub struct Store {
    table: Table,
}

impl Store {
    /// A store on this table.
    pub fn new(table: Table) -> Self {
        Self { table }
    }

    /// The table, for making it and for opening the connection.
    pub fn table(&self) -> &Table {
        &self.table
    }
}

/// The organisation's own rows.
fn office(org: &Org) -> Partition {
    Partition::of(org, "O")
}

/// The sort key of the organisation's row.
const META: &str = "META";

/// Whether a write failed because somebody else had changed what it was based on: reading again may mend that.
fn was_overtaken<C>(error: &WriteError<C>, overtaken: impl Fn(&C) -> bool) -> bool {
    matches!(error, WriteError::Refused(all) if all.first().is_some_and(|first| overtaken(&first.cause)))
}
