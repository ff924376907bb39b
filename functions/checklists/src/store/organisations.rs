//! The organisation's row: its plan beside its counters, so that one condition compares both.

use jiff::Timestamp;
use onepost_cloud::table::{Action, Comparison, Condition, Consistency, Item, TableError, Update, WriteError};
use onepost_core::auth::{Operator, Org};
use onepost_core::error::ToolError;
use serde::{Deserialize, Serialize};

use super::members::founding;
use super::{META, Store, office};
use crate::members::Member;
use crate::operator::PlanChange;
use crate::plan::{Limited, Plan};

/// An organisation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Organisation {
    /// `org-` and a UUID.
    pub id: String,
    /// For people.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// Its limits.
    #[serde(flatten)]
    pub plan: Plan,
    /// Hours after which a run's link expires where the caller says nothing; without it, links do not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_expiry_hours: Option<f64>,
    /// Members now.
    pub n_members: u32,
    /// Owners among them.
    pub n_owners: u32,
    /// Templates now.
    pub n_templates: u32,
    /// Assets now.
    pub n_assets: u32,
}

/// The counters of the organisation's row that have a limit beside them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counter {
    pub(super) used: &'static str,
    pub(super) limit: &'static str,
    limited: Limited,
    /// The limit and what is used of it, of a row that was read.
    read: fn(&Organisation) -> (u32, u32),
}

pub(super) const MEMBERS: Counter = Counter {
    used: "n_members",
    limit: "max_members",
    limited: Limited::Members,
    read: |organisation| (organisation.plan.members, organisation.n_members),
};
pub(super) const TEMPLATES: Counter = Counter {
    used: "n_templates",
    limit: "max_templates",
    limited: Limited::Templates,
    read: |organisation| (organisation.plan.templates, organisation.n_templates),
};
pub(super) const ASSETS: Counter = Counter {
    used: "n_assets",
    limit: "max_assets",
    limited: Limited::Assets,
    read: |organisation| (organisation.plan.assets, organisation.n_assets),
};

impl Counter {
    /// One more, within the limit.
    pub(super) fn raise<C>(self, org: &Org, cause: C) -> Action<C> {
        Action::update(office(org).key(META), Update::new().add(self.used, 1)).only_if(self.has_room(), cause)
    }

    /// Room for one more, without taking it.
    pub(super) fn has_room(self) -> Condition {
        Condition::ComparesWith(self.used, Comparison::Below, self.limit)
    }

    /// One less.
    pub(super) fn lower<C>(self, org: &Org) -> Action<C> {
        Action::update(office(org).key(META), Update::new().add(self.used, -1))
    }

    /// The refusal where there was no room, told from the row as it was found.
    pub(super) fn exceeded(self, found: Option<Item>, now: Timestamp) -> ToolError {
        let Some(organisation) = found.and_then(|item| item.read::<Organisation>().ok()) else {
            return ToolError::internal("an organisation without a row");
        };
        let (limit, used) = (self.read)(&organisation);
        self.limited.exceeded(limit, used, now)
    }
}

impl Store {
    /// The organisation's row.
    pub async fn organisation(&self, org: &Org) -> Result<Option<Organisation>, TableError> {
        self.table.get(office(org).key(META), Consistency::Strong).await
    }

    /// Makes an organisation with its first owner, or neither.
    pub async fn add_organisation(&self, _: &Operator, org: &Org, organisation: &Organisation, owner: &Member) -> Result<(), ToolError> {
        let mut actions = vec![Action::put(office(org).key(META), organisation).only_if(Condition::Absent, ())];
        actions.extend(founding(org, owner));
        let taken = |_| ToolError::conflict("organisation_exists", "There is an organisation with this id.");
        self.table.transact(actions).await.map_err(|error| error.told(taken))
    }

    /// Changes what is named of the limits and the expiry of links. Without such an organisation: `false`.
    pub async fn change_plan(&self, _: &Operator, org: &Org, change: &PlanChange) -> Result<bool, TableError> {
        let limits = [
            ("max_runs", change.runs_per_month),
            ("max_members", change.members),
            ("max_templates", change.templates),
            ("max_assets", change.assets),
        ];
        let given = limits.into_iter().filter_map(|(attribute, limit)| Some((attribute, limit?)));
        let update = given.fold(Update::new(), |update, (attribute, limit)| update.set(attribute, limit));
        let update = match change.default_expiry_hours {
            Some(Some(hours)) => update.set("default_expiry_hours", hours),
            Some(None) => update.remove("default_expiry_hours"),
            None => update,
        };
        match self.table.write(Action::update(office(org).key(META), update).only_if(Condition::Exists, ())).await {
            Ok(()) => Ok(true),
            Err(WriteError::Refused(_)) => Ok(false),
            Err(WriteError::Failed(error)) => Err(error),
        }
    }
}
