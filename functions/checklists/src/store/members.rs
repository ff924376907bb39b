//! Members and invitations. Whoever changes them needs a role, and the write itself checks it.

use jiff::{SignedDuration, Timestamp};
use onepost_cloud::table::{Action, Blob, Comparison, Condition, Consistency, Key, TableError, Update, WriteError};
use onepost_core::auth::{Operator, Org};
use onepost_core::error::ToolError;
use ring::hmac::{self, HMAC_SHA256};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::organisations::MEMBERS;
use super::{META, Store, TRIES, keys, office, step_aside, was_overtaken};
use crate::caller::{KeyCheck, key_ended};
use crate::members::{Invitation, Member, Role, RoleCheck, last_owner, member_not_found};

/// How long an invitation stands whose mail is not known to be out. Longer than sending a mail may take.
const UNSENT_LIFETIME: SignedDuration = SignedDuration::from_secs(60);

#[derive(Debug, Serialize, Deserialize)]
struct InvitationRow {
    #[serde(flatten)]
    invitation: Invitation,
    /// SHA-256 of the token in the mail.
    token: Blob,
    purge_at: i64,
}

/// An address that belongs to a member, or to an invitation until that ends.
#[derive(Debug, Serialize, Deserialize)]
struct EmailRow {
    /// The member or the invitation.
    holder: String,
    /// For an invitation: when it ends, in milliseconds.
    #[serde(default)]
    expires_ms: Option<i64>,
    #[serde(default)]
    purge_at: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// The caller's key ended.
    KeyEnded,
    /// The actor's role does not allow it.
    Role,
    /// The address is taken.
    Email,
    /// The plan's limit is reached.
    NoRoom,
    /// The member is gone, or has another role by now.
    Member,
    /// No owner would be left.
    LastOwner,
}

impl Store {
    /// One member.
    pub async fn member(&self, org: &Org, user_id: &str) -> Result<Option<Member>, TableError> {
        self.table.get(member_key(org, user_id), Consistency::Strong).await
    }

    /// All members, those who joined first at the top.
    pub async fn members(&self, org: &Org) -> Result<Vec<Member>, TableError> {
        let mut members: Vec<Member> = self.table.query(office(org)).beginning_with("M#").all().await?;
        members.sort_by_key(|member| member.joined_at);
        Ok(members)
    }

    /// The invitations that can still be accepted, oldest first.
    pub async fn open_invitations(&self, org: &Org, now: Timestamp) -> Result<Vec<Invitation>, TableError> {
        let rows: Vec<InvitationRow> = self.table.query(office(org)).beginning_with("I#").all().await?;
        let mut open: Vec<Invitation> = rows.into_iter().map(|row| row.invitation).filter(|invitation| invitation.is_open(now)).collect();
        open.sort_by_key(|invitation| invitation.created_at);
        Ok(open)
    }

    /// Adds an invitation, if `right` holds and the address is free. Members are limited when they join; here it is
    /// checked that there is room at all.
    ///
    /// Until [`Store::confirm_invitation`] it ends within a minute: one whose mail nobody could send, because the process
    /// died, must not stand in the way of the next.
    pub async fn invite(
        &self,
        right: &RoleCheck,
        invitation: &Invitation,
        token_digest: [u8; 32],
        now: Timestamp,
    ) -> Result<(), ToolError> {
        let org = right.actor().org();
        let held = Invitation { expires_at: now + UNSENT_LIFETIME, ..invitation.clone() };
        let ends = held.expires_at;
        let email = EmailRow { holder: held.id.clone(), expires_ms: Some(ends.as_millisecond()), purge_at: Some(ends.as_second()) };
        let row = InvitationRow { invitation: held, token: Blob(token_digest.to_vec()), purge_at: ends.as_second() };
        // An invitation that has ended frees its address, whether or not its row has been cleaned up.
        let free = Condition::Any(vec![Condition::Absent, Condition::compares("expires_ms", Comparison::AtMost, now.as_millisecond())]);
        let actions = vec![
            demand(right),
            Action::put(email_key(org, &invitation.email), &email).only_if(free, Cause::Email),
            Action::put(invitation_key(org, &invitation.id), &row),
            Action::check(office(org).key(META), MEMBERS.has_room(), Cause::NoRoom),
        ];
        self.table.transact(actions).await.map_err(|error| {
            error.told(|refused| match refused.cause {
                Cause::Email => address_taken(refused.found.and_then(|item| item.read().ok())),
                Cause::NoRoom => MEMBERS.exceeded(refused.found, now),
                _ => right.refused(),
            })
        })
    }

    /// Gives an invitation its whole lifetime, once its mail is out. One that was used up or taken back meanwhile stays
    /// as it is.
    pub async fn confirm_invitation(&self, org: &Org, invitation: &Invitation) -> Result<(), TableError> {
        let ends = invitation.expires_at;
        let email = Update::new().set("expires_ms", ends.as_millisecond()).set("purge_at", ends.as_second());
        let row = Update::new().set("expires_at", ends).set("purge_at", ends.as_second());
        let actions = vec![
            Action::update(email_key(org, &invitation.email), email).only_if(Condition::is("holder", &invitation.id), ()),
            Action::update(invitation_key(org, &invitation.id), row).only_if(Condition::Exists, ()),
        ];
        made_or_moot(self.table.transact(actions).await)
    }

    /// Takes back an invitation whose mail did not go out.
    pub async fn withdraw_invitation(&self, org: &Org, invitation: &Invitation) -> Result<(), TableError> {
        let mine = Condition::is("holder", &invitation.id);
        let actions =
            vec![Action::delete(email_key(org, &invitation.email)).only_if(mine, ()), Action::delete(invitation_key(org, &invitation.id))];
        made_or_moot(self.table.transact(actions).await)
    }

    /// Adds a member whose address is free or invited; an invitation is used up by it.
    pub async fn add_member(&self, _: &Operator, org: &Org, member: &Member, now: Timestamp) -> Result<(), ToolError> {
        for tries in 0..TRIES {
            let address: Option<EmailRow> = self.table.get(email_key(org, &member.email), Consistency::Strong).await?;
            let invitation = match address {
                Some(EmailRow { expires_ms: None, .. }) => return Err(already_member()),
                address => address.map(|row| row.holder),
            };
            let free = match &invitation {
                Some(holder) => Condition::Any(vec![Condition::Absent, Condition::is("holder", holder)]),
                None => Condition::Absent,
            };
            let email = EmailRow { holder: member.user_id.clone(), expires_ms: None, purge_at: None };
            let mut room = Update::new().add(MEMBERS.used, 1);
            if member.role == Role::Owner {
                room = room.add("n_owners", 1);
            }
            let mut actions = vec![
                Action::put(email_key(org, &member.email), &email).only_if(free, Cause::Email),
                Action::put(member_key(org, &member.user_id), member).only_if(Condition::Absent, Cause::Member),
                Action::update(office(org).key(META), room).only_if(MEMBERS.has_room(), Cause::NoRoom),
            ];
            actions.extend(invitation.map(|id| Action::delete(invitation_key(org, &id))));
            match self.table.transact(actions).await {
                Ok(()) => return Ok(()),
                // Invited in this very moment: reading again tells by whom the address is held.
                Err(error) if was_overtaken(&error, |cause| *cause == Cause::Email) => step_aside(tries).await,
                Err(error) => {
                    return Err(error.told(|refused| match refused.cause {
                        Cause::NoRoom => MEMBERS.exceeded(refused.found, now),
                        _ => already_member(),
                    }));
                }
            }
        }
        Err(ToolError::try_again("busy", "This address is being invited at this moment. Try again.", 1))
    }

    /// Removes a member, if `key` and `right` hold and an owner is left.
    pub async fn remove_member(&self, key: &KeyCheck, right: &RoleCheck, target: &Member) -> Result<(), ToolError> {
        let mut actions = vec![keys::demand(key, Cause::KeyEnded), demand(right)];
        actions.extend(removal(right.actor().org(), target));
        self.table.transact(actions).await.map_err(|error| told_of_removal(error, || right.refused()))
    }

    /// Removes a member for the operator, if an owner is left.
    pub async fn expel(&self, _: &Operator, org: &Org, target: &Member) -> Result<(), ToolError> {
        self.table.transact(removal(org, target)).await.map_err(|error| told_of_removal(error, member_not_found))
    }

    /// Gives a member another role, if an owner is left.
    pub async fn set_role(&self, _: &Operator, org: &Org, member: &Member, role: Role) -> Result<(), ToolError> {
        let change = Update::new().set("role", role);
        let still = Condition::is("role", member.role);
        let mut actions = vec![Action::update(member_key(org, &member.user_id), change).only_if(still, Cause::Member)];
        actions.extend(owners_change(org, Update::new(), i64::from(role == Role::Owner) - i64::from(member.role == Role::Owner)));
        self.table.transact(actions).await.map_err(|error| told_of_removal(error, member_not_found))
    }
}

/// A write that is not needed where its condition does not hold any more.
fn made_or_moot(written: Result<(), WriteError<()>>) -> Result<(), TableError> {
    match written {
        Ok(()) | Err(WriteError::Refused(_)) => Ok(()),
        Err(WriteError::Failed(error)) => Err(error),
    }
}

/// The pending check of the actor's role, as a part of the transaction.
fn demand(right: &RoleCheck) -> Action<Cause> {
    let actor = right.actor();
    Action::check(member_key(actor.org(), actor.user_id()), Condition::is_one_of("role", right.roles()), Cause::Role)
}

/// The rows of an organisation's first member.
pub(super) fn founding<C>(org: &Org, owner: &Member) -> [Action<C>; 2] {
    let email = EmailRow { holder: owner.user_id.clone(), expires_ms: None, purge_at: None };
    [Action::put(member_key(org, &owner.user_id), owner), Action::put(email_key(org, &owner.email), &email)]
}

fn removal(org: &Org, target: &Member) -> Vec<Action<Cause>> {
    let still = Condition::is("role", target.role);
    let fewer = Update::new().add(MEMBERS.used, -1);
    let mut actions =
        vec![Action::delete(member_key(org, &target.user_id)).only_if(still, Cause::Member), Action::delete(email_key(org, &target.email))];
    match owners_change(org, fewer.clone(), -i64::from(target.role == Role::Owner)) {
        Some(action) => actions.push(action),
        None => actions.push(Action::update(office(org).key(META), fewer)),
    }
    actions
}

/// Changes the count of owners along with `update`; the last one stays.
fn owners_change(org: &Org, update: Update, by: i64) -> Option<Action<Cause>> {
    let action = Action::update(office(org).key(META), update.add("n_owners", by));
    match by {
        0 => None,
        1 => Some(action),
        _ => Some(action.only_if(Condition::compares("n_owners", Comparison::Above, 1), Cause::LastOwner)),
    }
}

fn told_of_removal(error: WriteError<Cause>, role: impl FnOnce() -> ToolError) -> ToolError {
    error.told(|refused| match refused.cause {
        Cause::KeyEnded => key_ended(),
        Cause::Role => role(),
        Cause::LastOwner => last_owner(),
        Cause::Member if refused.found.is_some() => {
            ToolError::try_again("busy", "This member's role is being changed at this moment. Try again.", 1)
        }
        _ => member_not_found(),
    })
}

fn address_taken(by: Option<EmailRow>) -> ToolError {
    match by {
        Some(EmailRow { holder, expires_ms: Some(_), .. }) => {
            let message = "This address has an open invitation already: list_members shows until when. Its mail has the link; if none came, \
                           invite again once it has ended, or ask your operator to add the member.";
            ToolError::conflict("invitation_pending", message).with_details(json!({ "invitation_id": holder }))
        }
        _ => already_member(),
    }
}

fn already_member() -> ToolError {
    ToolError::conflict("already_member", "This address belongs to a member already. list_members shows who.")
}

fn member_key(org: &Org, user_id: &str) -> Key {
    office(org).key(format!("M#{user_id}"))
}

fn invitation_key(org: &Org, id: &str) -> Key {
    office(org).key(format!("I#{id}"))
}

/// An address of any length and spelling makes a key of one form. The organisation is the key of the digest, so that
/// one address looks different in two organisations.
fn email_key(org: &Org, email: &str) -> Key {
    let digest = hmac::sign(&hmac::Key::new(HMAC_SHA256, org.as_str().as_bytes()), email.as_bytes());
    let hex: String = digest.as_ref()[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    office(org).key(format!("E#{hex}"))
}
