//! Deleting runs, in two steps of which each leaves something that can be finished.

use futures_util::try_join;
use jiff::Timestamp;
use onepost_cloud::table::{Action, Condition, Key, TableError};
use onepost_core::auth::Org;
use onepost_core::error::ToolError;
use serde::{Deserialize, Serialize};

use super::assets::{count_active, unmark};
use super::runs::{LinkRow, RUN, RunFile, entry_key, file, link_key, operations, photos_of, read_file, run_key};
use super::{Store, TRIES, keys, step_aside, was_overtaken};
use crate::caller::{KeyCheck, key_ended};

/// How long a deleted run's link says that it was withdrawn, in seconds.
const WITHDRAWN_LINK_LIFETIME: i64 = 90 * 24 * 3600;

/// What is left of a run between the two steps of its deletion. It has no TTL: were it cleaned up before the run's other
/// rows, those would stay for ever.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Tombstone {
    deleted: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    KeyEnded,
    Overtaken,
    AssetGone,
}

impl Store {
    /// Deletes a run for good: first a transaction that takes it out of every list and leaves a tombstone, then its
    /// rows, in batches. What a crash leaves in between is finished by deleting it again. Answers how many photos it
    /// had, or `None` without such a run.
    pub async fn delete_run(&self, right: &KeyCheck, id: &str) -> Result<Option<usize>, ToolError> {
        let (org, now) = (right.org(), right.now());
        let mut holds = true;
        for tries in 0..TRIES {
            let items = self.table.query(file(org, id)).items().await?;
            if !items.iter().any(|item| item.sk() == RUN) {
                return Ok(None);
            }
            let photos = photos_of(&items)?;
            let Some(found) = read_file(items)? else {
                self.erase(org, id).await.map_err(ToolError::internal)?;
                return Ok(Some(photos));
            };
            let mut actions = vec![keys::demand(right, Cause::KeyEnded)];
            actions.extend(withdrawal(org, &found, holds, now));
            match self.table.transact(actions).await {
                Ok(()) => {
                    // The run is withdrawn: that the rest failed is no reason to say that nothing was changed.
                    self.erase(org, id).await.map_err(ToolError::internal)?;
                    return Ok(Some(photos));
                }
                Err(error) if was_overtaken(&error, |cause| *cause == Cause::KeyEnded) => return Err(key_ended()),
                Err(error) if was_overtaken(&error, |cause| *cause == Cause::AssetGone) => holds = false,
                Err(error) if was_overtaken(&error, |_| true) => step_aside(tries).await,
                Err(error) => return Err(error.told(|_| ToolError::internal("every refusal is tried again"))),
            }
        }
        Err(ToolError::try_again("busy", "This run is being worked on at this moment. Try again.", 1))
    }

    async fn erase(&self, org: &Org, id: &str) -> Result<(), TableError> {
        let (rows, operations) = try_join!(self.table.keys_of(file(org, id)), self.table.keys_of(operations(org, id)))?;
        // The tombstone goes last: as long as it stands, the deletion can be finished.
        let (tombstone, mut others): (Vec<Key>, Vec<Key>) = rows.into_iter().partition(|key| key.sk() == RUN);
        others.extend(operations);
        self.table.delete_all(others).await?;
        self.table.delete_all(tombstone).await
    }
}

/// Takes a run out of every list, and lets its asset go.
fn withdrawal(org: &Org, found: &RunFile, holds: bool, now: Timestamp) -> Vec<Action<Cause>> {
    let RunFile { head, run, .. } = found;
    let purge_at = Some(now.as_second() + WITHDRAWN_LINK_LIFETIME);
    let link = LinkRow { run_id: head.id.clone(), org: org.as_str().to_owned(), withdrawn: true, purge_at };
    let tombstone = Tombstone { deleted: true };
    let mut actions = vec![
        Action::put(run_key(org, &head.id), &tombstone).only_if(Condition::is("rev", run.rev), Cause::Overtaken),
        Action::delete(entry_key(org, &head.id, run.created_at)),
        Action::put(link_key(&head.id), &link),
    ];
    if let Some(asset_id) = head.asset_id.as_deref().filter(|_| holds && run.status.is_active()) {
        actions.push(count_active(org, asset_id, -1, Cause::AssetGone));
        actions.push(unmark(org, asset_id, &head.id));
    }
    actions
}
