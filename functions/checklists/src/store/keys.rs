//! API keys: a row under the key's public id, and a pointer in the organisation's office so that they can be listed.

use futures_util::future::try_join_all;
use jiff::Timestamp;
use onepost_cloud::table::{Action, Blob, Condition, Consistency, Key, TableError, Update, WriteError};
use onepost_core::auth::{KeyDigest, KeyRecord, MintedKey, Org};
use onepost_core::error::ToolError;
use serde::{Deserialize, Serialize};

use super::{Store, office};

#[derive(Serialize, Deserialize)]
struct KeyRow {
    #[serde(flatten)]
    record: KeyRecord,
    digest: Blob,
}

#[derive(Serialize, Deserialize)]
struct Pointer {
    key_id: String,
}

impl Store {
    /// The key with this public id. Strong: a revoked key ends with the next call.
    pub async fn key(&self, id: &str) -> Result<Option<(KeyRecord, KeyDigest)>, TableError> {
        let row: Option<KeyRow> = self.table.get(key_row(id), Consistency::Strong).await?;
        Ok(row.and_then(|row| Some((row.record, KeyDigest::from_bytes(row.digest.0.try_into().ok()?)))))
    }

    /// Notes the hour of use, and the digest under the present pepper.
    pub async fn note_use(&self, record: &KeyRecord, digest: &KeyDigest, now: Timestamp) -> Result<(), WriteError<()>> {
        let update = Update::new().set("last_used_at", now).set("digest", Blob(digest.to_bytes().to_vec()));
        self.table.write(Action::update(key_row(&record.id), update).only_if(Condition::Exists, ())).await
    }

    /// Stores a minted key of `org`.
    pub async fn add_key(&self, org: &Org, key: &MintedKey) -> Result<(), ToolError> {
        let row = KeyRow { record: key.record.clone(), digest: Blob(key.digest.to_bytes().to_vec()) };
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

    /// Ends a key of `org` at `at`. A key that was revoked before keeps its first time. Without such a key: `false`.
    pub async fn end_key(&self, org: &Org, id: &str, at: Timestamp) -> Result<bool, TableError> {
        let Some((record, _)) = self.key(id).await?.filter(|(record, _)| record.org == org.as_str()) else { return Ok(false) };
        if record.revoked_at.is_some_and(|revoked| revoked <= at) {
            return Ok(true);
        }
        let update = Update::new().set("revoked_at", at);
        let mine = Condition::is("org", org.as_str());
        match self.table.write(Action::update(key_row(id), update).only_if(mine, ())).await {
            Ok(()) => Ok(true),
            Err(WriteError::Refused(_)) => Ok(false),
            Err(WriteError::Failed(error)) => Err(error),
        }
    }
}

fn key_row(id: &str) -> Key {
    Key::before_the_organisation_is_known("K", id)
}

fn pointer_row(org: &Org, id: &str) -> Key {
    office(org).key(format!("K#{id}"))
}
