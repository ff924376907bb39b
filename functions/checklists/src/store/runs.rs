//! Runs: dispatched in one transaction, read in one query, listed from small entries, deleted in two steps.

use checklists_rules::{Answer, Run, RunStatus};
use futures_util::try_join;
use jiff::Timestamp;
use onepost_cloud::table::{Action, Comparison, Condition, Consistency, Direction, Item, Key, Partition, Query, TableError, Update};
use onepost_core::auth::Org;
use onepost_core::error::ToolError;
use serde::{Deserialize, Serialize};

use super::assets::{Marker, asset_not_found, count_active, mark};
use super::deletions::Tombstone;
use super::{BY_STATUS, Store, office};
use crate::assets::AssetCopy;
use crate::plan::{Limited, month_of};

/// What a run was dispatched for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunHead {
    /// `r-` and a UUID of version 4: it is the link.
    pub id: String,
    /// Its template.
    pub template_id: String,
    /// The version that it keeps, whatever becomes of the template.
    pub template_v: u32,
    /// The template's name in that version.
    pub template_name: String,
    /// Its asset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asset_id: Option<String>,
    /// The caller's own name for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executor_ref: Option<String>,
    /// The person on whose behalf it was dispatched.
    pub created_by: String,
}

/// A run with everything that belongs to it but its template.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFile {
    /// What it was dispatched for.
    pub head: RunHead,
    /// Its state.
    pub run: Run,
    /// The asset as it was then.
    pub asset: Option<AssetCopy>,
}

/// The run's own row.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RunRow {
    #[serde(flatten)]
    pub(super) head: RunHead,
    /// The state without the answers, which are rows of their own.
    pub(super) run: Run,
    /// As in `run`, for conditions.
    pub(super) rev: u64,
    /// Answers that count no longer, though their rows may still be there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) dropped: Vec<String>,
}

/// The row `USE#` of a month.
#[derive(Debug, Deserialize)]
struct UsageRow {
    runs: u32,
}

/// Finds a run's organisation before it is known.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct LinkRow {
    pub(super) run_id: String,
    pub(super) org: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) withdrawn: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) purge_at: Option<i64>,
}

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListEntry {
    /// What it was dispatched for.
    #[serde(flatten)]
    pub head: RunHead,
    /// The status that is stored. [`ListEntry::status_at`] tells the true one.
    pub status: RunStatus,
    /// When it was dispatched.
    pub created_at: Timestamp,
    /// When its link runs out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// The same in milliseconds, for filters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_ms: Option<i64>,
    /// The partition of the index.
    st: String,
}

impl ListEntry {
    pub(super) fn new(org: &Org, head: &RunHead, run: &Run) -> Self {
        Self {
            head: head.clone(),
            status: run.status,
            created_at: run.created_at,
            expires_at: run.expires_at,
            expires_ms: run.expires_at.map(Timestamp::as_millisecond),
            st: status_partition(org, run.status).index_value(),
        }
    }

    /// The status at this moment.
    pub fn status_at(&self, now: Timestamp) -> RunStatus {
        let lapsed = self.expires_at.is_some_and(|expires| now >= expires);
        if self.status.is_active() && lapsed { RunStatus::Expired } else { self.status }
    }
}

/// A run about to be dispatched.
#[derive(Debug)]
pub struct Dispatch {
    /// The run.
    pub file: RunFile,
    /// The plan's runs per month.
    pub runs_per_month: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    NoRoom,
    AssetGone,
    Taken,
}

impl Store {
    /// Dispatches a run: one transaction of the month's counter, the run, its list entry and its link, and with an
    /// asset of that asset's counter, the marker and the copy. All or nothing, so that no run begins on an asset that
    /// is going, and none is dispatched beyond the plan.
    pub async fn dispatch(&self, org: &Org, dispatch: &Dispatch, now: Timestamp) -> Result<(), ToolError> {
        let Dispatch { file: RunFile { head, run, asset }, runs_per_month } = dispatch;
        let limit = *runs_per_month;
        let below = Condition::compares("runs", Comparison::Below, limit);
        // The month's row comes with its first run, for which there is room unless the plan has none at all.
        let room = if limit == 0 { below } else { Condition::Any(vec![Condition::Missing("runs"), below]) };
        let usage = Action::update(usage_key(org, now), Update::new().add("runs", 1));
        let link = LinkRow { run_id: head.id.clone(), org: org.as_str().to_owned(), withdrawn: false, purge_at: None };
        let mut actions = vec![
            usage.only_if(room, Cause::NoRoom),
            Action::put(run_key(org, &head.id), &RunRow::new(head, run, Vec::new())).only_if(Condition::Absent, Cause::Taken),
            Action::put(entry_key(org, &head.id, run.created_at), &ListEntry::new(org, head, run)),
            Action::put(link_key(&head.id), &link),
        ];
        if let Some(asset) = asset {
            let marker = Marker { run_id: head.id.clone(), expires_ms: run.expires_at.map(Timestamp::as_millisecond) };
            actions.push(count_active(org, &asset.id, 1, Cause::AssetGone));
            actions.push(mark(org, &asset.id, &marker));
            actions.push(Action::put(file(org, &head.id).key("ASSET"), &StoredCopy::of(asset)));
        }
        self.table.transact(actions).await.map_err(|error| {
            error.told(|refused| match refused.cause {
                Cause::NoRoom => {
                    let used = refused.found.and_then(|item| item.read::<UsageRow>().ok()).map_or(0, |usage| usage.runs);
                    Limited::Runs.exceeded(limit, used, now)
                }
                Cause::AssetGone => asset_not_found(),
                Cause::Taken => ToolError::internal("a run's id was drawn twice"),
            })
        })
    }

    /// How many runs were dispatched in the month of `now`.
    pub async fn runs_used(&self, org: &Org, now: Timestamp) -> Result<u32, TableError> {
        let usage: Option<UsageRow> = self.table.get(usage_key(org, now), Consistency::Strong).await?;
        Ok(usage.map_or(0, |usage| usage.runs))
    }

    /// A run and all that belongs to it, in one query.
    pub async fn run(&self, org: &Org, id: &str) -> Result<Option<RunFile>, ToolError> {
        let items = self.table.query(file(org, id)).items().await?;
        read_file(items)
    }

    /// Runs, newest first: `limit` of them after the first `offset`, and whether there are more. Those passed over are
    /// read and paid for. A list by status reads an index, which may be some moments behind.
    pub async fn runs(
        &self,
        org: &Org,
        status: Option<RunStatus>,
        offset: usize,
        limit: usize,
        now: Timestamp,
    ) -> Result<(Vec<ListEntry>, bool), TableError> {
        let page = match status {
            None => self.table.query(Partition::of(org, "L")).direction(Direction::Descending).skip(offset).page(limit).await?,
            Some(RunStatus::Expired) => return self.expired_runs(org, offset, limit, now).await,
            Some(status) => self.entries(org, status, status.is_active().then(|| live(now))).skip(offset).page(limit).await?,
        };
        Ok((page.items, page.next.is_some()))
    }

    /// Runs that are stored as expired, and those that are stored as active and have lapsed: three lists, each newest
    /// first. A run that is settled between two of the reads is in both and told once.
    async fn expired_runs(&self, org: &Org, offset: usize, limit: usize, now: Timestamp) -> Result<(Vec<ListEntry>, bool), TableError> {
        let end = offset.saturating_add(limit);
        let (expired, pending, in_progress) = try_join!(
            self.entries(org, RunStatus::Expired, None).page::<ListEntry>(end),
            self.entries(org, RunStatus::Pending, Some(lapsed(now))).page::<ListEntry>(end),
            self.entries(org, RunStatus::InProgress, Some(lapsed(now))).page::<ListEntry>(end),
        )?;
        let lists = [expired, pending, in_progress];
        let unread = lists.iter().any(|page| page.next.is_some());
        let mut all: Vec<ListEntry> = lists.into_iter().flat_map(|page| page.items).collect();
        all.sort_by_key(|entry| std::cmp::Reverse(entry.place()));
        all.dedup_by(|one, other| one.head.id == other.head.id);
        let more = unread || all.len() > end;
        Ok((all.into_iter().skip(offset).take(limit).collect(), more))
    }

    fn entries(&self, org: &Org, status: RunStatus, filter: Option<Condition>) -> Query<'_> {
        let query = self.table.query(status_partition(org, status)).through(BY_STATUS).direction(Direction::Descending);
        match filter {
            Some(filter) => query.only(filter),
            None => query,
        }
    }
}

/// The same for an id that never was, one of another organisation, and one deleted before.
pub fn run_not_found() -> ToolError {
    ToolError::not_found("run_not_found", "Run not found. list_runs shows the runs of your organisation.")
}

/// The run's own row. It sorts before its answers: a query that meets a change half-way then reads an old run beside new
/// answers, and what is decided on those fails its condition. The other way round, it would hold.
pub(super) const RUN: &str = "#RUN";
const ANSWER: &str = "ANS#";

impl RunRow {
    pub(super) fn new(head: &RunHead, run: &Run, dropped: Vec<String>) -> Self {
        Self { head: head.clone(), run: Run { answers: Default::default(), ..run.clone() }, rev: run.rev, dropped }
    }
}

impl ListEntry {
    /// Where it stands in the list.
    fn place(&self) -> String {
        entry_place(&self.head.id, self.created_at)
    }
}

/// An asset's copy as stored: fields as JSON text, as in the asset's own row.
#[derive(Debug, Serialize, Deserialize)]
struct StoredCopy {
    id: String,
    name: String,
    fields: String,
}

impl StoredCopy {
    fn of(copy: &AssetCopy) -> Self {
        let fields = serde_json::to_string(&copy.fields).expect("fields are plain JSON");
        Self { id: copy.id.clone(), name: copy.name.clone(), fields }
    }

    fn into_copy(self) -> Result<AssetCopy, ToolError> {
        let fields = serde_json::from_str(&self.fields).map_err(ToolError::internal)?;
        Ok(AssetCopy { id: self.id, name: self.name, fields })
    }
}

/// An answer as stored: JSON text, so that its numbers come back as they were given and a repeat is known as one.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredAnswer {
    answer: String,
}

impl StoredAnswer {
    pub(super) fn of(answer: &Answer) -> Self {
        Self { answer: serde_json::to_string(answer).expect("an answer is plain JSON") }
    }

    fn read(item: Item) -> Result<Answer, ToolError> {
        serde_json::from_str(&item.read::<Self>()?.answer).map_err(ToolError::internal)
    }
}

/// Puts a run together from its rows. A tombstone is no run.
pub(super) fn read_file(items: Vec<Item>) -> Result<Option<RunFile>, ToolError> {
    let (mut run_row, mut asset, mut answers) = (None, None, Vec::new());
    for item in items {
        match item.sk() {
            RUN if item.clone().read::<Tombstone>().is_ok() => return Ok(None),
            RUN => run_row = Some(item.read::<RunRow>()?),
            "ASSET" => asset = Some(item.read::<StoredCopy>()?.into_copy()?),
            place => {
                if let Some(step) = place.strip_prefix(ANSWER).map(str::to_owned) {
                    answers.push((step, StoredAnswer::read(item)?));
                }
            }
        }
    }
    Ok(run_row.map(|RunRow { head, mut run, dropped, .. }| {
        run.answers = answers.into_iter().filter(|(step, _)| !dropped.contains(step)).collect();
        RunFile { head, run, asset }
    }))
}

pub(super) fn photos_of(items: &[Item]) -> Result<usize, ToolError> {
    let answers = items.iter().filter(|item| item.sk().starts_with(ANSWER));
    answers.map(|item| Ok(StoredAnswer::read(item.clone())?.photos.len())).sum()
}

fn lapsed(now: Timestamp) -> Condition {
    Condition::compares("expires_ms", Comparison::AtMost, now.as_millisecond())
}

/// Whether a row's link works, told from its `expires_ms`.
pub(super) fn live(now: Timestamp) -> Condition {
    Condition::Any(vec![Condition::Missing("expires_ms"), Condition::compares("expires_ms", Comparison::Above, now.as_millisecond())])
}

pub(super) fn file(org: &Org, id: &str) -> Partition {
    Partition::of(org, &format!("R#{id}"))
}

pub(super) fn run_key(org: &Org, id: &str) -> Key {
    file(org, id).key(RUN)
}

pub(super) fn answer_key(org: &Org, id: &str, step: &str) -> Key {
    file(org, id).key(format!("{ANSWER}{step}"))
}

pub(super) fn operations(org: &Org, id: &str) -> Partition {
    Partition::of(org, &format!("RO#{id}"))
}

pub(super) fn entry_key(org: &Org, id: &str, created_at: Timestamp) -> Key {
    Partition::of(org, "L").key(entry_place(id, created_at))
}

fn entry_place(id: &str, created_at: Timestamp) -> String {
    format!("{:013}#{id}", created_at.as_millisecond())
}

fn status_partition(org: &Org, status: RunStatus) -> Partition {
    Partition::of(org, &format!("LS#{}", status.as_str()))
}

fn usage_key(org: &Org, now: Timestamp) -> Key {
    office(org).key(format!("USE#{}", month_of(now)))
}

pub(super) fn link_key(run_id: &str) -> Key {
    Key::before_the_organisation_is_known("L", run_id)
}
