//! What an operator does: organisations, members, keys. No endpoint reaches this; it is for the command line and for the
//! first start of the local stack.

use jiff::Timestamp;
use onepost_core::auth::{KeyRecord, MintedKey, Operator, Org, Peppers, PlainKey};
use onepost_core::clock::Clock;
use onepost_core::error::ToolError;
use onepost_core::id::Ids;

use crate::KEYS;
use crate::members::{Member, Role, email_address, member_not_found};
use crate::plan::{MOST_TEMPLATES, Plan};
use crate::store::{Organisation, Store};

/// The operator's desk.
pub struct Desk {
    store: Store,
    peppers: Peppers,
    ids: Ids,
    clock: Box<dyn Clock>,
    operator: Operator,
}

/// What to change of a plan.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PlanChange {
    /// Runs per month.
    pub runs_per_month: Option<u32>,
    /// Members.
    pub members: Option<u32>,
    /// Templates, at most 500.
    pub templates: Option<u32>,
    /// Assets.
    pub assets: Option<u32>,
    /// Hours until links expire where the caller says nothing; `Some(None)` for never.
    pub default_expiry_hours: Option<Option<f64>>,
}

/// A key that was just made: the one moment it is shown.
#[derive(Debug)]
pub struct NewKey {
    /// The key.
    pub plain: PlainKey,
    /// What is kept of it.
    pub record: KeyRecord,
}

impl Desk {
    /// A desk over this store.
    pub fn new(store: Store, peppers: Peppers, clock: impl Clock + 'static) -> Self {
        Self { store, peppers, ids: Ids::default(), clock: Box::new(clock), operator: Operator::at_the_terminal() }
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The organisation with this id, which need not be there.
    pub fn org(&self, id: &str) -> Org {
        self.operator.org(id)
    }

    /// Makes an organisation and its first owner.
    pub async fn create_organisation(&self, name: &str, owner_name: &str, owner_email: &str) -> Result<(Organisation, Member), ToolError> {
        let now = self.clock.now();
        let org = self.org(&self.ids.unguessable("org"));
        let owner = self.new_member(owner_name, owner_email, Role::Owner, now)?;
        let organisation = Organisation {
            id: org.as_str().to_owned(),
            name: named(name)?,
            created_at: now,
            plan: Plan::default(),
            default_expiry_hours: None,
            n_members: 1,
            n_owners: 1,
            n_templates: 0,
            n_assets: 0,
        };
        self.store.add_organisation(&org, &organisation, &owner).await?;
        Ok((organisation, owner))
    }

    /// An organisation as it stands.
    pub async fn organisation(&self, id: &str) -> Result<Organisation, ToolError> {
        self.store.organisation(&self.org(id)).await?.ok_or_else(organisation_not_found)
    }

    /// Changes an organisation's plan and answers it as it is then.
    pub async fn change_plan(&self, id: &str, change: PlanChange) -> Result<Organisation, ToolError> {
        let mut organisation = self.organisation(id).await?;
        let plan = organisation.plan;
        organisation.plan = Plan {
            runs_per_month: change.runs_per_month.unwrap_or(plan.runs_per_month),
            members: change.members.unwrap_or(plan.members),
            templates: change.templates.unwrap_or(plan.templates),
            assets: change.assets.unwrap_or(plan.assets),
        };
        organisation.default_expiry_hours = change.default_expiry_hours.unwrap_or(organisation.default_expiry_hours);
        if organisation.plan.templates > MOST_TEMPLATES {
            let message = format!("An organisation has at most {MOST_TEMPLATES} templates, since they are listed in one answer.");
            return Err(ToolError::invalid("invalid_argument", message));
        }
        if organisation.default_expiry_hours.is_some_and(|hours| !(0.25..=8760.0).contains(&hours)) {
            return Err(ToolError::invalid("invalid_argument", "Links expire after 0.25 to 8760 hours."));
        }
        let changed = self.store.set_plan(&self.org(id), organisation.plan, organisation.default_expiry_hours).await?;
        if changed { Ok(organisation) } else { Err(organisation_not_found()) }
    }

    /// The members of an organisation.
    pub async fn members(&self, id: &str) -> Result<Vec<Member>, ToolError> {
        self.organisation(id).await?;
        Ok(self.store.members(&self.org(id), self.clock.now()).await?.0)
    }

    /// Adds a member without an invitation; an open one for the address is used up.
    pub async fn add_member(&self, id: &str, name: &str, email: &str, role: Role) -> Result<Member, ToolError> {
        self.organisation(id).await?;
        let now = self.clock.now();
        let member = self.new_member(name, email, role, now)?;
        self.store.add_member(&self.org(id), &member, now).await?;
        Ok(member)
    }

    /// Gives a member another role. The last owner stays one.
    pub async fn set_role(&self, id: &str, user_id: &str, role: Role) -> Result<Member, ToolError> {
        let org = self.org(id);
        let member = self.store.member(&org, user_id).await?.ok_or_else(member_not_found)?;
        if member.role != role {
            self.store.set_role(&org, &member, role).await?;
        }
        Ok(Member { role, ..member })
    }

    /// Removes a member. The last owner stays.
    pub async fn remove_member(&self, id: &str, user_id: &str) -> Result<Member, ToolError> {
        let org = self.org(id);
        let member = self.store.member(&org, user_id).await?.ok_or_else(member_not_found)?;
        self.store.expel(&org, &member).await?;
        Ok(member)
    }

    /// Makes a key on behalf of a member.
    pub async fn mint_key(&self, id: &str, creator: &str, name: &str, expires_at: Option<Timestamp>) -> Result<NewKey, ToolError> {
        let org = self.org(id);
        let creator = self.store.member(&org, creator).await?.ok_or_else(member_not_found)?;
        let now = self.clock.now();
        if expires_at.is_some_and(|end| end <= now) {
            return Err(ToolError::invalid("invalid_argument", "A key must end in the future."));
        }
        let mut key = MintedKey::new(KEYS, &self.ids, &self.peppers, &org, &creator.user_id, &named(name)?, now);
        key.record.expires_at = expires_at;
        self.store.add_key(&org, &key).await?;
        Ok(NewKey { plain: key.plain, record: key.record })
    }

    /// The keys of an organisation, oldest first.
    pub async fn keys(&self, id: &str) -> Result<Vec<KeyRecord>, ToolError> {
        self.organisation(id).await?;
        let mut keys = self.store.keys(&self.org(id)).await?;
        keys.sort_by_key(|key| key.created_at);
        Ok(keys)
    }

    /// Ends a key now.
    pub async fn revoke_key(&self, id: &str, key_id: &str) -> Result<(), ToolError> {
        let ended = self.store.end_key(&self.org(id), key_id, self.clock.now()).await?;
        if ended { Ok(()) } else { Err(key_not_found()) }
    }

    /// Makes a key with the name and maker of another one, which ends after `overlap`, so that its holders can change
    /// over.
    pub async fn rotate_key(&self, id: &str, key_id: &str, overlap: jiff::SignedDuration) -> Result<NewKey, ToolError> {
        let now = self.clock.now();
        let old = self.store.key(key_id).await?.map(|(record, _)| record);
        let old = old.filter(|record| record.org == id && !record.ended_by(now)).ok_or_else(key_not_found)?;
        let new = self.mint_key(id, &old.creator, &old.name, old.expires_at).await?;
        self.store.end_key(&self.org(id), key_id, now + overlap).await?;
        Ok(new)
    }

    fn new_member(&self, name: &str, email: &str, role: Role, now: Timestamp) -> Result<Member, ToolError> {
        Ok(Member { user_id: self.ids.unguessable("u"), name: named(name)?, email: email_address(email)?, role, joined_at: now })
    }
}

fn named(name: &str) -> Result<String, ToolError> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > 200 || name.chars().any(char::is_control) {
        return Err(ToolError::invalid("invalid_argument", "A name has 1 to 200 characters on one line."));
    }
    Ok(name.to_owned())
}

fn organisation_not_found() -> ToolError {
    ToolError::not_found("organisation_not_found", "There is no organisation with this id.")
}

fn key_not_found() -> ToolError {
    ToolError::not_found("key_not_found", "This organisation has no such key that could still be used.")
}
