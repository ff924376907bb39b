//! Everything out of a data folder and into another, as lines of JSON that any program can read, so that no engine holds
//! the data captive.
//!
//! | line | says |
//! | --- | --- |
//! | `{"onepost_export":1,"exported_at":…}` | first: the format |
//! | `{"table_definition":{"ttl_attribute":…,"create":{…}}}` | a table: the arguments of `CreateTable`, and the attribute of its TTL |
//! | `{"table":…,"item":{…}}` | an item of a table above, in DynamoDB JSON: numbers and bytes as they are |
//! | `{"secret":{"name":…,"arn":…,…}}` | a secret, without its values |
//! | `{"secret_version":{"secret":…,"id":…,"stages":[…],"value":{…},…}}` | a version of the secret above; `value` is `{"string":…}` or `{"binary":base64}` |
//! | `{"end":{"tables":n,"items":n,"secrets":n,"secret_versions":n,"sha256":…}}` | last: what came before; the digest is over all bytes before this line. Who edits an export on purpose takes it out |
//!
//! Stream records, which live for a day, and the mail folder, which is plain files already, are not part of it.

mod export;
mod import;

use std::collections::HashMap;

use dynoxide::AttributeValue;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use export::export;
pub use import::import;

use crate::engines::secrets::SecretValue;

/// The format that this version writes and reads.
const FORMAT: u64 = 1;

/// What an export holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Tables.
    pub tables: u64,
    /// Items of all tables.
    pub items: u64,
    /// Secrets.
    pub secrets: u64,
    /// Versions of all secrets.
    pub secret_versions: u64,
}

#[derive(Serialize, Deserialize)]
struct Header {
    onepost_export: u64,
    exported_at: Option<String>,
}

/// A line after the header: one of the fields, or `table` and `item`.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(skip_serializing_if = "Option::is_none")]
    table_definition: Option<TableDefinition>,
    #[serde(skip_serializing_if = "Option::is_none")]
    table: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<HashMap<String, AttributeValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<SecretLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    secret_version: Option<SecretVersionLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<End>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TableDefinition {
    ttl_attribute: Option<String>,
    create: Value,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SecretLine {
    name: String,
    arn: String,
    description: Option<String>,
    created_ms: i64,
    changed_ms: i64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SecretVersionLine {
    secret: String,
    id: String,
    stages: Vec<String>,
    created_ms: i64,
    value: SecretValue,
}

// Not `flatten`, which would undo the refusal of unknown fields.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct End {
    tables: u64,
    items: u64,
    secrets: u64,
    secret_versions: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

impl End {
    fn new(totals: &Totals, sha256: String) -> End {
        let Totals { tables, items, secrets, secret_versions } = *totals;
        End { tables, items, secrets, secret_versions, sha256: Some(sha256) }
    }

    fn totals(&self) -> Totals {
        Totals { tables: self.tables, items: self.items, secrets: self.secrets, secret_versions: self.secret_versions }
    }
}

fn hex(digest: impl AsRef<[u8]>) -> String {
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
