//! Changes of a run: the rules decide, one transaction stores what they decided.

use checklists_rules::{Change, Command, Run, Template};
use futures_util::try_join;
use jiff::Timestamp;
use onepost_cloud::table::{Action, Condition, Consistency};
use onepost_core::auth::Org;
use onepost_core::error::ToolError;
use serde::{Deserialize, Serialize};

use super::assets::{Marker, count_active, mark, unmark};
use super::runs::{ListEntry, RunFile, RunRow, StoredAnswer, answer_key, entry_key, operations, run_key, run_not_found};
use super::{Store, TRIES, step_aside, was_overtaken};

/// Answers that a transaction takes away by itself. A transaction has at most 100 items; more than these are named in
/// the run's row as counting no longer, and their rows go with the run.
const MOST_REMOVED: usize = 50;

/// An operation of a device, named so that sending it twice does it once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// A UUID that the device drew.
    pub id: String,
    /// Its place among the device's operations.
    pub seq: u64,
}

impl Operation {
    /// Keeps it as done on this run.
    fn done(&self, org: &Org, file: &RunFile, now: Timestamp) -> Action<Cause> {
        let row = OperationRow { seq: self.seq, rev: file.run.rev, at: now };
        Action::put(operations(org, &file.head.id).key(&self.id), &row).only_if(Condition::Absent, Cause::DoneBefore)
    }
}

/// What is kept of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct OperationRow {
    seq: u64,
    /// The run's revision after it.
    rev: u64,
    at: Timestamp,
}

/// A run after a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Settled {
    /// The run now.
    pub file: RunFile,
    /// What the command did. `None` where the operation had been done before.
    pub change: Option<Change>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    Overtaken,
    DoneBefore,
    AssetGone,
}

impl Store {
    /// Applies a command to a run and stores what it changes. If somebody else was quicker, the rules are asked again.
    pub async fn change_run(
        &self,
        org: &Org,
        run_id: &str,
        operation: Option<&Operation>,
        command: &Command,
        now: Timestamp,
    ) -> Result<Settled, ToolError> {
        let mut holds = true;
        for tries in 0..TRIES {
            let (file, done_before) = try_join!(self.run(org, run_id), self.was_done(org, run_id, operation))?;
            let file = file.ok_or_else(run_not_found)?;
            if done_before {
                return Ok(Settled { file, change: None });
            }
            // A second wave: only the run tells which version of the template it keeps.
            let template = self.template_of(org, &file).await?;
            let mut next = file.clone();
            let change = next.run.apply(&template, command, now).map_err(refused)?;
            let writes = match (change.changed, operation) {
                (true, _) => writes(org, &file, &next, &change, operation, holds, now),
                // Kept too: sent again when others have changed the run, it must not change theirs.
                (false, Some(operation)) => vec![unchanged(org, &file), operation.done(org, &file, now)],
                (false, None) => return Ok(Settled { file, change: Some(change) }),
            };
            match self.table.transact(writes).await {
                Ok(()) => return Ok(Settled { file: next, change: Some(change) }),
                // A run that was extended after its asset had been deleted holds nothing.
                Err(error) if was_overtaken(&error, |cause| *cause == Cause::AssetGone) => holds = false,
                Err(error) if was_overtaken(&error, |_| true) => step_aside(tries).await,
                Err(error) => return Err(error.told(|_| ToolError::internal("every refusal is tried again"))),
            }
        }
        Err(ToolError::try_again("busy", "This run is being worked on at this moment. Try again.", 1))
    }

    /// Stores that a run's link has run out, if it has. A run that is gone or active needs nothing.
    pub(super) async fn settle_lapsed(&self, org: &Org, run_id: &str, now: Timestamp) -> Result<(), ToolError> {
        let Some(file) = self.run(org, run_id).await? else { return Ok(()) };
        if !file.run.status.is_active() || !file.run.has_lapsed(now) {
            return Ok(());
        }
        match self.change_run(org, run_id, None, &Command::Expire, now).await {
            // Extended, handed in or deleted in this very moment: there is nothing to settle any more.
            Err(error) if matches!(error.code(), "not_expired" | "run_completed" | "run_cancelled" | "run_not_found") => Ok(()),
            settled => settled.map(|_| ()),
        }
    }

    async fn template_of(&self, org: &Org, file: &RunFile) -> Result<Template, ToolError> {
        let version = self.template_version(org, &file.head.template_id, file.head.template_v).await?;
        version.map(|body| body.template).ok_or_else(|| ToolError::internal("a run whose template version is gone"))
    }

    async fn was_done(&self, org: &Org, run_id: &str, operation: Option<&Operation>) -> Result<bool, ToolError> {
        let Some(operation) = operation else { return Ok(false) };
        let row: Option<OperationRow> = self.table.get(operations(org, run_id).key(&operation.id), Consistency::Strong).await?;
        Ok(row.is_some())
    }
}

/// Demands that nobody has changed the run.
fn unchanged(org: &Org, file: &RunFile) -> Action<Cause> {
    Action::check(run_key(org, &file.head.id), Condition::is("rev", file.run.rev), Cause::Overtaken)
}

/// The transaction that stores a change.
fn writes(
    org: &Org,
    before: &RunFile,
    after: &RunFile,
    change: &Change,
    operation: Option<&Operation>,
    holds: bool,
    now: Timestamp,
) -> Vec<Action<Cause>> {
    let RunFile { head, run, .. } = after;
    let (removed, dropped) = change.removed.split_at(change.removed.len().min(MOST_REMOVED));
    let row = RunRow::new(head, run, dropped.to_vec());
    let still = Condition::is("rev", before.run.rev);
    let mut actions = vec![Action::put(run_key(org, &head.id), &row).only_if(still, Cause::Overtaken)];
    actions.extend(removed.iter().map(|step| Action::delete(answer_key(org, &head.id, step))));
    let written = change.written.iter().filter_map(|step| Some((step, run.answers.get(step)?)));
    actions.extend(written.map(|(step, answer)| Action::put(answer_key(org, &head.id, step), &StoredAnswer::of(answer))));
    actions.extend(operation.map(|operation| operation.done(org, after, now)));
    if before.run.status != run.status || before.run.expires_at != run.expires_at {
        actions.push(Action::put(entry_key(org, &head.id, run.created_at), &ListEntry::new(org, head, run)));
        let asset = head.asset_id.as_deref().filter(|_| holds);
        actions.extend(asset.into_iter().flat_map(|asset_id| hold(org, asset_id, &head.id, &before.run, run)));
    }
    actions
}

/// What a change of status or of the link's end means for the asset: an active run holds it.
fn hold(org: &Org, asset_id: &str, run_id: &str, before: &Run, after: &Run) -> Vec<Action<Cause>> {
    let marker = || mark(org, asset_id, &Marker { run_id: run_id.to_owned(), expires_ms: after.expires_at.map(Timestamp::as_millisecond) });
    match (before.status.is_active(), after.status.is_active()) {
        // A marker that is not there is that of a run whose asset was gone when it was extended before.
        (true, true) => vec![marker().only_if(Condition::Exists, Cause::AssetGone)],
        (false, true) => vec![count_active(org, asset_id, 1, Cause::AssetGone), marker()],
        (true, false) => vec![count_active(org, asset_id, -1, Cause::AssetGone), unmark(org, asset_id, run_id)],
        (false, false) => Vec::new(),
    }
}

/// A refusal of the rules, as a tool or a route tells it.
fn refused(refusal: checklists_rules::Refusal) -> ToolError {
    use checklists_rules::run::RefusalCode;
    let code = refusal.code.as_str();
    let error = match refusal.code {
        RefusalCode::RunExpired | RefusalCode::RunCancelled => ToolError::gone(code, refusal.message),
        RefusalCode::StepNotFound | RefusalCode::PhotoNotFound => ToolError::not_found(code, refusal.message),
        RefusalCode::InvalidArgument => ToolError::invalid(code, refusal.message),
        RefusalCode::IdentityRequired | RefusalCode::NotAssigned => ToolError::denied(code, refusal.message),
        _ => ToolError::conflict(code, refusal.message),
    };
    if refusal.details.is_empty() { error } else { error.with_details(serde_json::Value::Object(refusal.details)) }
}
