//! Members: list, invite, remove.

use futures_util::try_join;
use jiff::Timestamp;
use onepost_core::catalog::{Call, Hints, Reply, Tool, ToolSpec};
use onepost_core::error::ToolError;
use ring::digest::{SHA256, digest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::id_pattern;
use crate::mail::{Mail, Undelivered};
use crate::members::{INVITATION_LIFETIME, Invitation, MANAGERS, Member, Role, email_address, removal};
use crate::store::Organisation;
use crate::{Caller, Checklists};

/// `list_members`
pub struct ListMembers;

/// A member.
#[derive(Serialize, JsonSchema)]
pub struct MemberOutput {
    /// Their id: u- and a UUID.
    user_id: String,
    /// Their name.
    name: String,
    /// Their address.
    email: String,
    /// owner, admin or member.
    role: Role,
    /// Since when, in UTC.
    #[schemars(with = "String")]
    joined_at: Timestamp,
}

/// An open invitation.
#[derive(Serialize, JsonSchema)]
pub struct InvitationOutput {
    /// Its id: inv- and a UUID.
    invitation_id: String,
    /// The address it was sent to.
    email: String,
    /// What they will be: admin or member.
    role: Role,
    /// Until when it can be accepted, in UTC.
    #[schemars(with = "String")]
    expires_at: Timestamp,
}

/// Result of `list_members`.
#[derive(Serialize, JsonSchema)]
pub struct Members {
    /// The members, those who joined first at the top.
    data: Vec<MemberOutput>,
    /// The invitations that can still be accepted.
    invitations: Vec<InvitationOutput>,
}

impl Tool for ListMembers {
    type Product = Checklists;
    type Args = super::NoArguments;
    type Output = Members;
    const SPEC: ToolSpec = ToolSpec {
        name: "list_members",
        title: "List members",
        description: "Answers the members of your organisation with their roles (owner, admin, member), and the invitations that are still \
                      open. A user_id lives until remove_member.",
        hints: Hints::READ,
        ..ToolSpec::STRICT
    };

    async fn call(product: &Checklists, call: Call<'_, Caller>, _: super::NoArguments) -> Result<Reply<Members>, ToolError> {
        let org = call.caller.org();
        let (members, invitations) = try_join!(product.store.members(org), product.store.open_invitations(org, call.now))?;
        let shown = |Member { user_id, name, email, role, joined_at }| MemberOutput { user_id, name, email, role, joined_at };
        let open = |Invitation { id, email, role, expires_at, .. }| InvitationOutput { invitation_id: id, email, role, expires_at };
        Ok(Members { data: members.into_iter().map(shown).collect(), invitations: invitations.into_iter().map(open).collect() }.into())
    }
}

/// `invite_member`
pub struct InviteMember;

/// What an invited person can be.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InvitedRole {
    /// Manages members too.
    Admin,
    /// Does the daily work.
    Member,
}

/// Arguments of `invite_member`.
#[derive(Deserialize, JsonSchema)]
pub struct InviteMemberArgs {
    /// The address to send the invitation to.
    #[schemars(length(min = 3, max = 254))]
    email: String,
    /// What they will be. member when left out.
    role: Option<InvitedRole>,
}

/// Result of `invite_member`.
#[derive(Serialize, JsonSchema)]
pub struct InvitationSent {
    /// Its id: inv- and a UUID.
    invitation_id: String,
    /// The address it was sent to.
    email: String,
    /// What they will be.
    role: Role,
    /// Always pending.
    status: &'static str,
    /// Until when it can be accepted, in UTC.
    #[schemars(with = "String")]
    expires_at: Timestamp,
}

impl Tool for InviteMember {
    type Product = Checklists;
    type Args = InviteMemberArgs;
    type Output = InvitationSent;
    const SPEC: ToolSpec = ToolSpec {
        name: "invite_member",
        title: "Invite a member",
        description: "Sends an e-mail with a link that makes its reader a member; the link works once and for 7 days. Answers the invitation, \
                      which counts against the plan's members. Needs the person who made this API key to be an owner or admin at this \
                      moment. An address that is a member or has an open invitation is refused.",
        hints: Hints { open_world: true, ..Hints::CREATE },
        ..ToolSpec::STRICT
    };

    async fn call(product: &Checklists, call: Call<'_, Caller>, args: InviteMemberArgs) -> Result<Reply<InvitationSent>, ToolError> {
        let actor = call.caller.actor();
        let (org, store, right) = (actor.org(), &product.store, actor.must_be(MANAGERS));
        let (organisation, inviter, open) =
            try_join!(store.organisation(org), store.member(org, actor.user_id()), store.open_invitations(org, call.now))?;
        let organisation = organisation.ok_or_else(|| ToolError::internal("an organisation without a row"))?;
        let inviter = inviter.filter(|inviter| MANAGERS.contains(&inviter.role)).ok_or_else(|| right.refused())?;
        let token = product.ids.base62(32);
        let invitation = Invitation {
            id: product.ids.unguessable("inv"),
            email: email_address(&args.email)?,
            role: match args.role {
                Some(InvitedRole::Admin) => Role::Admin,
                Some(InvitedRole::Member) | None => Role::Member,
            },
            invited_by: actor.user_id().to_owned(),
            created_at: call.now,
            expires_at: call.now + INVITATION_LIFETIME,
        };
        let token_digest = digest(&SHA256, token.as_bytes()).as_ref().try_into().expect("SHA-256 answers 32 bytes");
        if !open.iter().any(|other| other.email == invitation.email) {
            check_room(&organisation, open.len())?;
        }
        store.invite(&right, &invitation, token_digest, call.now).await?;
        if let Err(undelivered) = product.mailer.send(letter(product, &organisation, &inviter, &invitation, &token)).await {
            // Best effort: an invitation that was never confirmed ends by itself within a minute.
            let _ends_by_itself = store.withdraw_invitation(org, &invitation).await;
            return Err(not_mailed(undelivered));
        }
        // The mail is out: that the rest failed is no reason to say that nothing happened.
        store.confirm_invitation(org, &invitation).await.map_err(ToolError::internal)?;
        let Invitation { id, email, role, expires_at, .. } = invitation;
        Ok(InvitationSent { invitation_id: id, email, role, status: "pending", expires_at }.into())
    }
}

fn not_mailed(Undelivered { cause, is_final }: Undelivered) -> ToolError {
    if is_final {
        let message = "The invitation could not be mailed and was taken back. Check the address; if it is right, your operator has to look at \
                       the mail server.";
        return ToolError::conflict("mail_refused", message).with_cause(cause);
    }
    let message = "The invitation could not be mailed and was taken back. Try again later.";
    ToolError::try_again("mail_unavailable", message, 60).with_cause(cause)
}

/// Those invited count like those who joined, or one key could send mail without end. Invitations sent at the same
/// moment may pass the limit by some; who joins is counted exactly.
fn check_room(organisation: &Organisation, invited: usize) -> Result<(), ToolError> {
    let (limit, joined) = (organisation.plan.members, organisation.n_members);
    if u64::from(joined) + invited as u64 >= u64::from(limit) {
        let message = format!(
            "Your plan allows {limit} members; {joined} have joined and {invited} are invited. Remove a member, let an invitation run out, or \
             ask your operator for a larger plan."
        );
        return Err(ToolError::quota_exceeded(message).with_details(json!({ "limit": limit, "used": joined, "invited": invited })));
    }
    Ok(())
}

fn letter(product: &Checklists, organisation: &Organisation, inviter: &Member, invitation: &Invitation, token: &str) -> Mail {
    let link = product.site.invitation(&invitation.id, token);
    let until = invitation.expires_at.strftime("%-d %B %Y, %H:%M UTC");
    let (who, place, role) = (&inviter.name, &organisation.name, invitation.role.as_str());
    Mail {
        to: invitation.email.clone(),
        subject: format!("{who} invites you to {place} on Checklists"),
        body: format!(
            "Hello,\n\n{who} invites you to join {place} on Checklists as {role}.\n\nAccept with this link, once and until {until}:\n{link}\n\n\
             If you do not expect this, ignore it: without the link nothing happens.\n"
        ),
    }
}

/// `remove_member`
pub struct RemoveMember;

/// Arguments of `remove_member`.
#[derive(Deserialize, JsonSchema)]
pub struct RemoveMemberArgs {
    /// The member's id, as list_members gives it.
    #[schemars(regex(pattern = id_pattern!("u")))]
    user_id: String,
}

/// Result of `remove_member`.
#[derive(Serialize, JsonSchema)]
pub struct RemovedMember {
    /// Always true.
    removed: bool,
    /// The member who was removed.
    user_id: String,
}

impl Tool for RemoveMember {
    type Product = Checklists;
    type Args = RemoveMemberArgs;
    type Output = RemovedMember;
    const SPEC: ToolSpec = ToolSpec {
        name: "remove_member",
        title: "Remove a member",
        description: "Takes a member out of your organisation and answers their user_id. Needs the person who made this API key to be an \
                      owner or admin at this moment; only an owner removes an owner, the last owner stays, and nobody removes themself. \
                      Keys that the removed person made go on working, but can no longer invite or remove.",
        hints: Hints::REPLACE,
        ..ToolSpec::STRICT
    };

    async fn call(product: &Checklists, call: Call<'_, Caller>, args: RemoveMemberArgs) -> Result<Reply<RemovedMember>, ToolError> {
        let actor = call.caller.actor();
        let (standing, target) =
            try_join!(product.store.member(actor.org(), actor.user_id()), product.store.member(actor.org(), &args.user_id))?;
        let right = removal(&actor, standing.as_ref(), &args.user_id, target.as_ref())?;
        let target = target.ok_or_else(crate::members::member_not_found)?;
        product.store.remove_member(&call.caller.must_hold_the_key(call.now), &right, &target).await?;
        Ok(RemovedMember { removed: true, user_id: args.user_id }.into())
    }
}
