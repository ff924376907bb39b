//! The table of one product: typed keys, conditions with a cause each, retries that do no harm, and a count of what
//! every call consumes. Only a product's `store` modules build requests with it.

mod deadline;
mod expression;
pub mod faults;
mod key;
mod meter;
mod provision;
mod query;
mod retry;
mod write;

use std::collections::HashMap;
use std::fmt;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity};
use aws_types::SdkConfig;
use onepost_core::error::ToolError;
use onepost_core::id::Ids;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use deadline::by;
pub use expression::{Comparison, Condition, Update};
pub use key::{Key, Partition};
pub use meter::{Usage, measured};
pub use provision::{Design, Index};
pub use query::{Direction, Page, Query};
pub use write::{Action, Refused, WriteError};

use meter::Kind;
use retry::{Nature, Trouble, retrying, trouble};

/// The attribute whose time lets DynamoDB clean an item up, in seconds since 1970. It only cleans up: an item past it
/// is absent to every read that cares.
pub const PURGE_AT: &str = "purge_at";

/// One product's table.
#[derive(Debug, Clone)]
pub struct Table {
    client: Client,
    name: String,
    ids: std::sync::Arc<Ids>,
}

/// Whether a read may be behind the latest write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consistency {
    /// Sees every write that was acknowledged before. One unit per 4 KB.
    Strong,
    /// May be some moments behind, at half the price. The only kind that an index has.
    Eventual,
}

/// An item as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Item(HashMap<String, AttributeValue>);

impl Item {
    /// Reads it as a type.
    pub fn read<T: DeserializeOwned>(self) -> Result<T, TableError> {
        serde_dynamo::aws_sdk_dynamodb_1::from_item(self.0).map_err(|error| TableError::failed(format!("an item cannot be read: {error}")))
    }

    /// Its sort key.
    pub fn sk(&self) -> &str {
        self.0.get(key::SK).and_then(|value| value.as_s().ok()).map_or("", String::as_str)
    }
}

/// The table did not do what it was asked, for no reason of the caller's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableError {
    busy: bool,
    cause: String,
}

impl TableError {
    pub(crate) fn failed(cause: impl Into<String>) -> Self {
        Self { busy: false, cause: cause.into() }
    }
}

impl From<Trouble> for TableError {
    fn from(trouble: Trouble) -> Self {
        Self { busy: trouble.nature == Nature::Busy, cause: trouble.cause }
    }
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.cause)
    }
}

impl std::error::Error for TableError {}

impl From<TableError> for ToolError {
    fn from(error: TableError) -> Self {
        if error.busy {
            let message = "Too much is asked of this data at this moment, and nothing was changed. Try again.";
            return Self::try_again("busy", message, 1).with_cause(error.cause);
        }
        Self::internal(error.cause)
    }
}

impl Table {
    /// The table of this name.
    pub fn new(config: &SdkConfig, name: impl Into<String>) -> Self {
        Self { client: Client::new(config), name: name.into(), ids: Ids::default().into() }
    }

    /// Opens the connection, so that the first call need not. A failure is of no consequence.
    pub async fn prime(&self) {
        let nowhere = Key::before_the_organisation_is_known("K", "prime");
        let _either_way = self.get::<serde::de::IgnoredAny>(nowhere, Consistency::Eventual).await;
    }

    /// Reads one item.
    pub async fn get<T: DeserializeOwned>(&self, key: Key, consistency: Consistency) -> Result<Option<T>, TableError> {
        let attributes = key.into_attributes();
        let answer = retrying(|_| async {
            meter::round_trip();
            let request = self
                .client
                .get_item()
                .table_name(&self.name)
                .set_key(Some(attributes.clone()))
                .consistent_read(consistency == Consistency::Strong)
                .return_consumed_capacity(ReturnConsumedCapacity::Total);
            request.send().await.map_err(|error| trouble(&error))
        })
        .await?;
        meter::consumed(Kind::Read, answer.consumed_capacity());
        answer.item.map(|item| Item(item).read()).transpose()
    }

    /// Reads a list of items.
    pub fn query(&self, partition: Partition) -> Query<'_> {
        Query::new(self, partition)
    }
}

/// Bytes, stored as DynamoDB's binary type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob(pub Vec<u8>);

impl Serialize for Blob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl serde::de::Visitor<'_> for Bytes {
            type Value = Blob;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Blob, E> {
                Ok(Blob(bytes.to_vec()))
            }

            fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Blob, E> {
                Ok(Blob(bytes))
            }
        }
        deserializer.deserialize_byte_buf(Bytes)
    }
}
