//! API keys: a row under the key's public id, and a pointer in the organisation's office so that they can be listed.

use std::collections::BTreeMap;

use futures_util::future::try_join_all;
use jiff::Timestamp;
use onepost_cloud::table::{Action, Blob, Comparison, Condition, Consistency, Key, TableError, Update, WriteError};
use onepost_core::auth::{KeyDigest, KeyDigests, KeyRecord, MintedKey, Operator, Org};
use onepost_core::error::ToolError;
use serde::{Deserialize, Serialize};

use super::{Store, office};
use crate::caller::KeyCheck;

#[derive(Serialize, Deserialize)]
struct KeyRow {
    #[serde(flatten)]
    record: KeyRecord,
    /// By the version of the pepper that each was made under.
    digests: BTreeMap<String, Blob>,
}

#[derive(Serialize, Deserialize)]
struct Pointer {
    key_id: String,
}

impl Store {
    /// The key with this public id. Strong: what was revoked is read as revoked.
    pub async fn key(&self, id: &str) -> Result<Option<(KeyRecord, KeyDigests)>, TableError> {
        let row: Option<KeyRow> = self.table.get(key_row(id), Consistency::Strong).await?;
        Ok(row.map(|KeyRow { record, digests }| {
            let read = |(version, digest): (String, Blob)| Some((version, KeyDigest::from_bytes(digest.0.try_into().ok()?)));
            (record, digests.into_iter().filter_map(read).collect())
        }))
    }

    /// Notes the hour of use and, where they are due, new digests. Of calls at the same moment one writes.
    pub async fn note_use(&self, record: &KeyRecord, digests: Option<&KeyDigests>, now: Timestamp) -> Result<(), WriteError<()>> {
        let update = Update::new().set("last_used_at", now);
        let update = match digests {
            Some(digests) => update.set("digests", stored(digests)),
            None => update,
        };
        let as_read = match record.last_used_at {
            Some(used) => Condition::is("last_used_at", used),
            None => Condition::Missing("last_used_at"),
        };
        self.table.write(Action::update(key_row(&record.id), update).only_if(Condition::Exists.and(as_read), ())).await
    }

    /// Stores a minted key of `org`.
    pub async fn add_key(&self, _: &Operator, org: &Org, key: &MintedKey) -> Result<(), ToolError> {
        let row = KeyRow { record: key.record.clone(), digests: stored(&key.digests) };
        let pointer = Pointer { key_id: key.record.id.clone() };
        let actions = vec![
            Action::put(key_row(&key.record.id), &row).only_if(Condition::Absent, "the key id is taken"),
            Action::put(pointer_row(org, &key.record.id), &pointer),
        ];
        self.table.transact(actions).await.map_err(|error| error.told(|refused| ToolError::internal(refused.cause)))
    }

    /// The keys of an organisation, in no order that means anything.
    pub async fn keys(&self, org: &Org) -> Result<Vec<KeyRecord>, TableError> {
        let pointers: Vec<Pointer> = self.table.query(office(org)).beginning_with("K#").all().await?;
        let rows = try_join_all(pointers.iter().map(|pointer| self.key(&pointer.key_id))).await?;
        Ok(rows.into_iter().flatten().map(|(record, _)| record).filter(|record| record.org == org.as_str()).collect())
    }

    /// Ends a key of `org` for good: at once for tools that write, within [`onepost_core::auth::KNOWN_FOR`] for others. Without such a key: `false`.
    pub async fn revoke_key(&self, _: &Operator, org: &Org, id: &str, now: Timestamp) -> Result<bool, TableError> {
        let first = Condition::is("org", org.as_str()).and(Condition::Missing("revoked_at"));
        let revoked = self.change_key(id, Update::new().set("revoked_at", now), first).await?;
        Ok(revoked || self.key_of(org, id).await?.is_some())
    }

    /// Lets a key of `org` that was replaced end at `at`. Without such a key: `false`.
    pub async fn replace_key(&self, _: &Operator, org: &Org, id: &str, at: Timestamp) -> Result<bool, TableError> {
        self.change_key(id, Update::new().set("replaced_until", at), Condition::is("org", org.as_str())).await
    }

    /// The key with this public id, if it is of `org`.
    pub async fn key_of(&self, org: &Org, id: &str) -> Result<Option<KeyRecord>, TableError> {
        Ok(self.key(id).await?.map(|(record, _)| record).filter(|record| record.org == org.as_str()))
    }

    async fn change_key(&self, id: &str, update: Update, only_if: Condition) -> Result<bool, TableError> {
        match self.table.write(Action::update(key_row(id), update).only_if(only_if, ())).await {
            Ok(()) => Ok(true),
            Err(WriteError::Refused(_)) => Ok(false),
            Err(WriteError::Failed(error)) => Err(error),
        }
    }
}

/// The pending check of a key, as a part of a transaction. Times are compared as text, which is exact to the second; the
/// key was read for this call, so this is about what happened since.
pub(super) fn demand<C>(right: &KeyCheck, ended: C) -> Action<C> {
    let later =
        |attribute| Condition::Any(vec![Condition::Missing(attribute), Condition::compares(attribute, Comparison::Above, right.now())]);
    let alive = Condition::Missing("revoked_at").and(Condition::Exists).and(later("replaced_until")).and(later("expires_at"));
    Action::check(key_row(right.key_id()), alive, ended)
}

fn stored(digests: &KeyDigests) -> BTreeMap<String, Blob> {
    digests.iter().map(|(version, digest)| (version.clone(), Blob(digest.to_bytes().to_vec()))).collect()
}

fn key_row(id: &str) -> Key {
    Key::before_the_organisation_is_known("K", id)
}

fn pointer_row(org: &Org, id: &str) -> Key {
    office(org).key(format!("K#{id}"))
}
