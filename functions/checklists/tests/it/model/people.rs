//! Members and invitations of the model.

use checklists::members::Role;
use checklists::plan::Limited;
use jiff::Timestamp;
use serde_json::json;

use super::reference::{Expected, Invitation, Member, Organisation, Outcome, refused};
use super::steps::{Kind, Label};

impl Organisation {
    pub fn standing(&self, key: usize) -> Option<Role> {
        self.members.get(key).filter(|member| !member.gone).map(|member| member.role)
    }

    pub fn holder_of(&self, email: &str) -> Option<&Member> {
        self.live_members().find(|member| member.email == email)
    }

    pub fn invite(&mut self, org: usize, key: usize, email: &str, role: Option<Role>, now: Timestamp) -> Outcome {
        let email = email.trim().to_lowercase();
        if !matches!(self.standing(key), Some(Role::Owner | Role::Admin)) {
            return refused("forbidden");
        }
        if let Some(open) = self.invitations.iter().find(|invitation| invitation.email == email && invitation.is_open(now)) {
            return Err(("invitation_pending", Some(json!({ "invitation_id": open.label.to_string() }))));
        }
        // Who is invited takes a place.
        let (limit, used) = (self.plan.members, self.live_members().count());
        let invited = self.invitations.iter().filter(|invitation| invitation.is_open(now)).count();
        if used + invited >= limit as usize {
            return Err(("quota_exceeded", Some(json!({ "limit": limit, "used": used, "invited": invited }))));
        }
        if self.holder_of(&email).is_some() {
            return refused("already_member");
        }
        let label = Label { kind: Kind::Invitation, org, n: self.invitations.len() };
        let invitation = Invitation { label, email, role: role.unwrap_or(Role::Member), created_at: now, used: false };
        let mut shown = invitation.shown();
        shown["status"] = json!("pending");
        self.invitations.push(invitation);
        Ok(Expected::Made(label, shown))
    }

    pub fn remove_member(&mut self, key: usize, n: usize, label: &Label) -> Outcome {
        let Some(standing @ (Role::Owner | Role::Admin)) = self.standing(key) else { return refused("forbidden") };
        if n == key {
            return refused("cannot_remove_self");
        }
        match self.standing(n) {
            None => return refused("member_not_found"),
            Some(Role::Owner) if standing != Role::Owner => return refused("cannot_remove_owner"),
            Some(_) => self.members[n].gone = true,
        }
        Ok(Expected::Done(json!({ "removed": true, "user_id": label.to_string() })))
    }

    pub fn add_member(&mut self, org: usize, email: &str, role: Role, now: Timestamp) -> Outcome {
        if self.holder_of(email).is_some() {
            return refused("already_member");
        }
        Self::room(Limited::Members, self.plan.members, self.live_members().count(), now)?;
        self.invitations.iter_mut().filter(|invitation| invitation.email == email).for_each(|invitation| invitation.used = true);
        let label = Label { kind: Kind::Member, org, n: self.members.len() };
        let member = Member { label, name: "A colleague".into(), email: email.into(), role, joined_at: now, gone: false };
        self.members.push(member.clone());
        Ok(Expected::Made(label, member.shown()))
    }

    /// Gives a member another role, or none.
    pub fn set_role(&mut self, n: usize, role: Option<Role>) -> Outcome {
        let Some(present) = self.standing(n) else { return refused("member_not_found") };
        if present == Role::Owner && role != Some(Role::Owner) && self.owners() == 1 {
            return refused("cannot_remove_owner");
        }
        let member = &mut self.members[n];
        member.gone = role.is_none();
        let shown = member.shown();
        member.role = role.unwrap_or(present);
        Ok(Expected::Done(if role.is_none() { shown } else { member.shown() }))
    }
}
