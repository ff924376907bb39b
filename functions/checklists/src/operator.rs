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
    #[expect(clippy::disallowed_methods, reason = "the desk is where an operator sits: the command line and the local stack make one")]
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
        self.store.add_organisation(&self.operator, &org, &organisation, &owner).await?;
        Ok((organisation, owner))
    }

    /// An organisation as it stands.
    pub async fn organisation(&self, id: &str) -> Result<Organisation, ToolError> {
        self.store.organisation(&self.org(id)).await?.ok_or_else(organisation_not_found)
    }

    /// How many runs an organisation has dispatched this month.
    pub async fn runs_this_month(&self, id: &str) -> Result<u32, ToolError> {
        Ok(self.store.runs_used(&self.org(id), self.clock.now()).await?)
    }

    /// Changes an organisation's plan and answers it as it is then. What is not named stays, also when two operators
    /// change it at once.
    pub async fn change_plan(&self, id: &str, change: PlanChange) -> Result<Organisation, ToolError> {
        if change == PlanChange::default() {
            let message = "Nothing to change: name the runs, members, templates, assets or the expiry of links.";
            return Err(ToolError::invalid("invalid_argument", message));
        }
        if change.templates.is_some_and(|templates| templates > MOST_TEMPLATES) {
            let message = format!("An organisation has at most {MOST_TEMPLATES} templates, since they are listed in one answer.");
            return Err(ToolError::invalid("invalid_argument", message));
        }
        if change.default_expiry_hours.flatten().is_some_and(|hours| !(0.25..=8760.0).contains(&hours)) {
            return Err(ToolError::invalid("invalid_argument", "Links expire after 0.25 to 8760 hours."));
        }
        if !self.store.change_plan(&self.operator, &self.org(id), &change).await? {
            return Err(organisation_not_found());
        }
        self.organisation(id).await
    }

    /// The members of an organisation.
    pub async fn members(&self, id: &str) -> Result<Vec<Member>, ToolError> {
        self.organisation(id).await?;
        Ok(self.store.members(&self.org(id)).await?)
    }

    /// Adds a member without an invitation; an open one for the address is used up.
    pub async fn add_member(&self, id: &str, name: &str, email: &str, role: Role) -> Result<Member, ToolError> {
        self.organisation(id).await?;
        let now = self.clock.now();
        let member = self.new_member(name, email, role, now)?;
        self.store.add_member(&self.operator, &self.org(id), &member, now).await?;
        Ok(member)
    }

    /// Gives a member another role. The last owner stays one.
    pub async fn set_role(&self, id: &str, user_id: &str, role: Role) -> Result<Member, ToolError> {
        let org = self.org(id);
        let member = self.store.member(&org, user_id).await?.ok_or_else(member_not_found)?;
        if member.role != role {
            self.store.set_role(&self.operator, &org, &member, role).await?;
        }
        Ok(Member { role, ..member })
    }

    /// Removes a member. The last owner stays.
    pub async fn remove_member(&self, id: &str, user_id: &str) -> Result<Member, ToolError> {
        let org = self.org(id);
        let member = self.store.member(&org, user_id).await?.ok_or_else(member_not_found)?;
        self.store.expel(&self.operator, &org, &member).await?;
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
        self.store.add_key(&self.operator, &org, &key).await?;
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
        let ended = self.store.revoke_key(&self.operator, &self.org(id), key_id, self.clock.now()).await?;
        if ended { Ok(()) } else { Err(key_not_found()) }
    }

    /// Makes a key with the name, the maker and the lifetime of another one, which ends after `overlap`, so that its
    /// holders can change over.
    pub async fn rotate_key(&self, id: &str, key_id: &str, overlap: jiff::SignedDuration) -> Result<NewKey, ToolError> {
        let (org, now) = (self.org(id), self.clock.now());
        let old = self.store.key_of(&org, key_id).await?.filter(|record| !record.ended_by(now)).ok_or_else(key_not_found)?;
        let expires_at = old.expires_at.map(|end| now + end.duration_since(old.created_at));
        let new = self.mint_key(id, &old.creator, &old.name, expires_at).await.map_err(|error| match error.code() {
            "member_not_found" => {
                let message = "The member who made this key has left. Make a new one on behalf of somebody else with keys mint.";
                ToolError::conflict("creator_gone", message)
            }
            _ => error,
        })?;
        let replaced = self.store.replace_key(&self.operator, &org, key_id, now + overlap).await;
        replaced
            .map_err(|error| ToolError::internal(format!("the key {} was made, and the old one does not end: {error}", new.record.id)))?;
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
