//! Keys: every partition begins with the organisation.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use onepost_core::auth::Org;

pub(super) const PK: &str = "pk";
pub(super) const SK: &str = "sk";

/// The place of one item.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    pk: String,
    sk: String,
}

/// The place of a list of items, in the order of their sort keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    pk: String,
}

impl Partition {
    /// A room of an organisation's data, such as `A` for its assets.
    pub fn of(org: &Org, room: &str) -> Self {
        Self { pk: format!("{}#{room}", org.as_str()) }
    }

    /// The place of one item in it.
    pub fn key(&self, sk: impl Into<String>) -> Key {
        Key { pk: self.pk.clone(), sk: sk.into() }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.pk
    }

    /// The value of an index's partition attribute for this partition.
    pub fn index_value(&self) -> String {
        self.pk.clone()
    }
}

impl Key {
    /// The place of an item that is looked up before the organisation is known: a key, a link. The item names the
    /// organisation, and nothing of it reaches a caller who has not proved a right to it.
    pub fn before_the_organisation_is_known(kind: &str, id: &str) -> Self {
        Self { pk: format!("{kind}#{id}"), sk: kind.to_owned() }
    }

    /// Its sort key.
    pub fn sk(&self) -> &str {
        &self.sk
    }

    pub(super) fn into_attributes(self) -> HashMap<String, AttributeValue> {
        HashMap::from([(PK.to_owned(), AttributeValue::S(self.pk)), (SK.to_owned(), AttributeValue::S(self.sk))])
    }
}
