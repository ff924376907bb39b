//! The table against an embedded DynamoDB through the real SDK client, with faults on command, and the Lambda shell with events.

#![allow(clippy::unwrap_used, reason = "tests may, and Clippy sees only the functions marked as tests")]

mod events;
mod faults;
mod limits;
mod oracle;
mod queries;
mod refusals;
mod runtime;
mod situations;
mod stdio;
mod units;
mod writes;

use std::time::Duration;

use aws_smithy_types::timeout::TimeoutConfig;
use onepost_cloud::aws;
use onepost_cloud::table::faults::Faults;
use onepost_cloud::table::{Design, Index, Key, Partition, Table};
use onepost_core::auth::{Operator, Org};
use serde::{Deserialize, Serialize};

const BY_COLOUR: Index = Index { name: "by_colour", partition: "colour_of" };

/// A table of its own, and the faults that stand before it.
async fn table() -> (Table, Faults) {
    table_within(Duration::from_secs(2)).await
}

/// The same, with another limit for one attempt.
async fn table_within(attempt: Duration) -> (Table, Faults) {
    let database = dynoxide::Database::memory().unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(dynoxide::server::serve_with_shutdown(listener, database, std::future::pending()));
    let faults = Faults::default();
    let config = aws::on_this_machine(&endpoint);
    let limits = TimeoutConfig::builder().operation_attempt_timeout(attempt).build();
    let config = faults.in_front_of(&config.to_builder().timeout_config(limits).build());
    let table = Table::new(&config, "things");
    table.provision(&Design { indexes: &[BY_COLOUR] }).await.unwrap();
    table.provision(&Design { indexes: &[BY_COLOUR] }).await.unwrap();
    (table, faults)
}

fn org() -> Org {
    org_named("org-1")
}

#[expect(clippy::disallowed_methods, reason = "tests act for any organisation")]
fn org_named(id: &str) -> Org {
    Operator::at_the_terminal().org(id)
}

fn shelf() -> Partition {
    Partition::of(&org(), "S")
}

fn place(sk: &str) -> Key {
    shelf().key(sk)
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Thing {
    name: String,
    count: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    colour_of: Option<String>,
}

fn thing(name: &str, count: i64) -> Thing {
    Thing { name: name.into(), count, colour_of: None }
}
