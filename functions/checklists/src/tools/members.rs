//! Members: list, invite, remove.

use futures_util::try_join;
use jiff::Timestamp;
use onepost_core::catalog::{Call, Hints, Nulls, Reply, Tool, ToolSpec, Unknown};
use onepost_core::error::ToolError;
use ring::digest::{SHA256, digest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::id_pattern;
use crate::mail::{Mail, Undelivered};
use crate::members::{INVITATION_LIFETIME, Invitation, MANAGERS, Member, Role, email_address, removal};
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
        description: "The members of your organisation with their roles (owner, admin, member), and the invitations that are still open.",
        hints: Hints::READ,
        unknown: Unknown::Refuse,
        nulls: Nulls::Absent,
        narrowed_by: None,
    };

    async fn call(product: &Checklists, call: Call<'_, Caller>, _: super::NoArguments) -> Result<Reply<Members>, ToolError> {
        let (members, invitations) = product.store.members(call.caller.org(), call.now).await?;
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
        description: "Sends an e-mail with a link that makes its reader a member; the link works once and for 7 days. Needs the person who made \
                      this API key to be an owner or admin at this moment. An address that is a member or has an open invitation is refused.",
        hints: Hints { open_world: true, ..Hints::CREATE },
        unknown: Unknown::Refuse,
        nulls: Nulls::Absent,
        narrowed_by: None,
    };

    async fn call(product: &Checklists, call: Call<'_, Caller>, args: InviteMemberArgs) -> Result<Reply<InvitationSent>, ToolError> {
        let actor = call.caller.actor();
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
        product.store.invite(&actor.must_be(MANAGERS), &invitation, token_digest, call.now).await?;
        if let Err(Undelivered(cause)) = product.mailer.send(letter(product, &invitation, &token)).await {
            // An invitation that nobody was told of would only stand in the way of the next one.
            product.store.withdraw_invitation(actor.org(), &invitation).await?;
            let message = "The invitation could not be mailed and was taken back. Try again later.";
            return Err(ToolError::try_again("mail_unavailable", message, 60).with_cause(cause));
        }
        let Invitation { id, email, role, expires_at, .. } = invitation;
        Ok(InvitationSent { invitation_id: id, email, role, status: "pending", expires_at }.into())
    }
}

fn letter(product: &Checklists, invitation: &Invitation, token: &str) -> Mail {
    let link = product.site.invitation(&invitation.id, token);
    let until = invitation.expires_at.strftime("%-d %B %Y, %H:%M UTC");
    Mail {
        to: invitation.email.clone(),
        subject: "You are invited to Checklists".to_owned(),
        body: format!(
            "Hello,\n\nyou are invited to join an organisation on Checklists as {}.\n\nAccept with this link, once and until {until}:\n{link}\n\n\
             If you do not expect this, ignore it: without the link nothing happens.\n",
            invitation.role.as_str()
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
        description: "Takes a member out of your organisation. Needs the person who made this API key to be an owner or admin at this moment; \
                      only an owner removes an owner, the last owner stays, and nobody removes themself. Keys that the removed person made go \
                      on working, but can no longer invite or remove.",
        hints: Hints::REPLACE,
        unknown: Unknown::Refuse,
        nulls: Nulls::Absent,
        narrowed_by: None,
    };

    async fn call(product: &Checklists, call: Call<'_, Caller>, args: RemoveMemberArgs) -> Result<Reply<RemovedMember>, ToolError> {
        let actor = call.caller.actor();
        let (standing, target) =
            try_join!(product.store.member(actor.org(), actor.user_id()), product.store.member(actor.org(), &args.user_id))?;
        let right = removal(&actor, standing.as_ref(), &args.user_id, target.as_ref())?;
        let target = target.ok_or_else(crate::members::member_not_found)?;
        product.store.remove_member(&right, &target).await?;
        Ok(RemovedMember { removed: true, user_id: args.user_id }.into())
    }
}
