//! Assets, each with a counter of its active runs: deleting one is a conditional delete on a counter of 0, so that no
//! run can begin on an asset that is going.

use jiff::Timestamp;
use onepost_cloud::table::{Action, Condition, Consistency, Direction, Key, Page, Partition, TableError, Update, WriteError};
use onepost_core::auth::Org;
use onepost_core::error::ToolError;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::organisations::ASSETS;
use super::runs::live;
use super::{Store, TRIES, keys, step_aside, was_overtaken};
use crate::assets::{Asset, Fields};
use crate::caller::{KeyCheck, key_ended};

/// Runs that are settled before a deletion is tried again. One after the other: each changes the asset's counter, and
/// together they would be in each other's way.
const MOST_SETTLED: usize = 25;

/// An asset as stored. Fields are JSON text: their order and their numbers come back as they were given.
#[derive(Debug, Serialize, Deserialize)]
struct AssetRow {
    id: String,
    name: String,
    fields: String,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// Rises with each change of name or fields.
    rev: u64,
    /// Runs that are stored as pending or in progress.
    active: u64,
}

/// A run that keeps its asset from being deleted.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Marker {
    pub(super) run_id: String,
    /// When the run's link runs out, in milliseconds; never, when absent.
    #[serde(default)]
    pub(super) expires_ms: Option<i64>,
}

impl AssetRow {
    fn new(asset: &Asset) -> Self {
        Self {
            id: asset.id.clone(),
            name: asset.name.clone(),
            fields: text_of(&asset.fields),
            created_at: asset.created_at,
            updated_at: asset.updated_at,
            rev: 1,
            active: 0,
        }
    }

    fn into_asset(self) -> Result<Asset, ToolError> {
        let fields = serde_json::from_str(&self.fields).map_err(ToolError::internal)?;
        Ok(Asset { id: self.id, name: self.name, fields, created_at: self.created_at, updated_at: self.updated_at })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// The id is taken.
    Taken,
    /// The plan's limit is reached.
    NoRoom,
    /// The asset is gone, or changed.
    Changed,
    /// The asset is gone, or has active runs.
    Held,
    /// The caller's key ended.
    KeyEnded,
}

impl Store {
    /// Adds an asset. Two items: the limit of assets is kept in the same transaction.
    pub async fn add_asset(&self, org: &Org, asset: &Asset, now: Timestamp) -> Result<(), ToolError> {
        let put = Action::put(asset_key(org, &asset.id), &AssetRow::new(asset)).only_if(Condition::Absent, Cause::Taken);
        let written = self.table.transact(vec![put, ASSETS.raise(org, Cause::NoRoom)]).await;
        written.map_err(|error| {
            error.told(|refused| match refused.cause {
                Cause::NoRoom => ASSETS.exceeded(refused.found, now),
                _ => ToolError::internal("an asset's id was drawn twice"),
            })
        })
    }

    /// One asset.
    pub async fn asset(&self, org: &Org, id: &str) -> Result<Option<Asset>, ToolError> {
        self.asset_row(org, id).await?.map(AssetRow::into_asset).transpose()
    }

    /// One asset, and how many runs are active on it. Only where its counter is raised is there a second read, since
    /// runs whose link has run out are counted until they are settled.
    pub async fn asset_with_active_runs(&self, org: &Org, id: &str, now: Timestamp) -> Result<Option<(Asset, u64)>, ToolError> {
        let Some(row) = self.asset_row(org, id).await? else { return Ok(None) };
        let active = if row.active == 0 { 0 } else { self.live_markers(org, id, now).await?.len() as u64 };
        Ok(Some((row.into_asset()?, active)))
    }

    async fn asset_row(&self, org: &Org, id: &str) -> Result<Option<AssetRow>, TableError> {
        self.table.get(asset_key(org, id), Consistency::Strong).await
    }

    /// Assets, newest first, beyond the one with the id `after`.
    pub async fn assets(&self, org: &Org, limit: usize, after: Option<String>) -> Result<Page<Asset>, ToolError> {
        let page: Page<AssetRow> = self.table.query(shelf(org)).direction(Direction::Descending).after(after).page(limit).await?;
        let items = page.items.into_iter().map(AssetRow::into_asset).collect::<Result<_, _>>()?;
        Ok(Page { items, next: page.next })
    }

    /// Changes name and fields. Somebody else's change in between is kept: the merge is made anew on it.
    pub async fn update_asset(
        &self,
        org: &Org,
        id: &str,
        name: Option<String>,
        fields: Option<Fields>,
        now: Timestamp,
    ) -> Result<Option<Asset>, ToolError> {
        for tries in 0..TRIES {
            let Some(row) = self.asset_row(org, id).await? else { return Ok(None) };
            let rev = row.rev;
            let asset = row.into_asset()?;
            let Some(next) = asset.updated(name.clone(), fields.clone(), now)? else { return Ok(Some(asset)) };
            let update = Update::new()
                .set("name", &next.name)
                .set("fields", text_of(&next.fields))
                .set("updated_at", next.updated_at)
                .set("rev", rev + 1);
            let unchanged = Condition::is("rev", rev);
            match self.table.write(Action::update(asset_key(org, id), update).only_if(unchanged, Cause::Changed)).await {
                Ok(()) => return Ok(Some(next)),
                Err(error) if was_overtaken(&error, |cause| *cause == Cause::Changed) => step_aside(tries).await,
                Err(error) => return Err(error.told(|_| ToolError::internal("only one condition was set"))),
            }
        }
        Err(ToolError::try_again("busy", "This asset is being changed by others at this moment. Try again.", 1))
    }

    /// Deletes an asset that no active run holds. Runs whose link has run out hold it no longer: if the delete is
    /// refused, they are settled and it is tried again.
    pub async fn delete_asset(&self, right: &KeyCheck, id: &str) -> Result<(), ToolError> {
        let (org, now) = (right.org(), right.now());
        let mut refused = 0;
        for _ in 0..TRIES {
            match self.try_delete_asset(right, id).await {
                Ok(()) => return Ok(()),
                Err(Refusal::KeyEnded) => return Err(key_ended()),
                Err(Refusal::Gone) => return Err(asset_not_found()),
                Err(Refusal::Failed(error)) => return Err(error),
                Err(Refusal::Held) => refused = self.settle_and_count(org, id, now).await?,
            }
            if refused > 0 {
                break;
            }
        }
        if refused == 0 {
            return Err(ToolError::try_again("busy", "Runs of this asset begin and end at this moment. Try again.", 1));
        }
        let message = format!(
            "{refused} run{} of this asset can still be completed. Wait for them, delete them (delete_run), or let their links expire.",
            if refused == 1 { "" } else { "s" }
        );
        Err(ToolError::conflict("asset_has_active_runs", message).with_details(json!({ "active_runs": refused })))
    }

    /// Settles the runs of an asset whose link has run out, and counts the others.
    async fn settle_and_count(&self, org: &Org, id: &str, now: Timestamp) -> Result<usize, ToolError> {
        let markers: Vec<Marker> = self.table.query(markers(org, id)).all().await?;
        let (live, lapsed): (Vec<Marker>, Vec<Marker>) = markers.into_iter().partition(|marker| is_live(marker, now));
        if live.is_empty() {
            for marker in lapsed.iter().take(MOST_SETTLED) {
                self.settle_lapsed(org, &marker.run_id, now).await?;
            }
        }
        Ok(live.len())
    }

    async fn try_delete_asset(&self, right: &KeyCheck, id: &str) -> Result<(), Refusal> {
        let org = right.org();
        let idle = Condition::is("active", 0).and(Condition::Exists);
        let delete = Action::delete(asset_key(org, id)).only_if(idle, Cause::Held);
        let written = self.table.transact(vec![keys::demand(right, Cause::KeyEnded), delete, ASSETS.lower(org)]).await;
        written.map_err(|error| match error {
            WriteError::Refused(all) if all.first().is_some_and(|first| first.cause == Cause::KeyEnded) => Refusal::KeyEnded,
            WriteError::Refused(all) if all.first().is_some_and(|first| first.found.is_none()) => Refusal::Gone,
            WriteError::Refused(_) => Refusal::Held,
            WriteError::Failed(error) => Refusal::Failed(error.into()),
        })
    }

    async fn live_markers(&self, org: &Org, id: &str, now: Timestamp) -> Result<Vec<Marker>, TableError> {
        self.table.query(markers(org, id)).only(live(now)).all().await
    }
}

enum Refusal {
    KeyEnded,
    Gone,
    Held,
    Failed(ToolError),
}

/// The same for an id that never was, one of another organisation, and one deleted before.
pub fn asset_not_found() -> ToolError {
    ToolError::not_found("asset_not_found", "Asset not found. list_assets shows the assets of your organisation.")
}

/// Raises or lowers an asset's counter of active runs, if the asset is there.
pub(super) fn count_active<C>(org: &Org, asset_id: &str, by: i64, gone: C) -> Action<C> {
    Action::update(asset_key(org, asset_id), Update::new().add("active", by)).only_if(Condition::Exists, gone)
}

/// Marks a run as holding its asset.
pub(super) fn mark<C>(org: &Org, asset_id: &str, marker: &Marker) -> Action<C> {
    Action::put(marker_key(org, asset_id, &marker.run_id), marker)
}

/// Lets a run hold its asset no longer.
pub(super) fn unmark<C>(org: &Org, asset_id: &str, run_id: &str) -> Action<C> {
    Action::delete(marker_key(org, asset_id, run_id))
}

fn is_live(marker: &Marker, now: Timestamp) -> bool {
    marker.expires_ms.is_none_or(|expires| expires > now.as_millisecond())
}

fn text_of(fields: &Fields) -> String {
    serde_json::to_string(fields).expect("fields are plain JSON")
}

fn shelf(org: &Org) -> Partition {
    Partition::of(org, "A")
}

fn asset_key(org: &Org, id: &str) -> Key {
    shelf(org).key(id)
}

fn markers(org: &Org, asset_id: &str) -> Partition {
    Partition::of(org, &format!("AR#{asset_id}"))
}

fn marker_key(org: &Org, asset_id: &str, run_id: &str) -> Key {
    markers(org, asset_id).key(run_id)
}
