//! Members: who belongs to an organisation, and what their role allows.
//!
//! A right is a pending check, not a past read. [`Actor::must_be`] yields a [`RoleCheck`] that the write's own
//! transaction carries, so that a person demoted a moment ago cannot act; the store's writes that a key may ask for take
//! nothing else. (The operator's own take an `Operator`, which no request can make.)

use jiff::{SignedDuration, Timestamp};
use onepost_core::auth::Org;
use onepost_core::error::ToolError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long an invitation can be accepted.
pub const INVITATION_LIFETIME: SignedDuration = SignedDuration::from_hours(7 * 24);

/// What a member may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Everything. An organisation always has one.
    Owner,
    /// Everything but what concerns owners.
    Admin,
    /// The daily work.
    Member,
}

impl Role {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Admin => "admin",
            Self::Member => "member",
        }
    }

    /// The role with this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Owner, Self::Admin, Self::Member].into_iter().find(|role| role.as_str() == name)
    }
}

/// A person of an organisation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// `u-` and a UUID.
    pub user_id: String,
    /// For people.
    pub name: String,
    /// In lower case.
    pub email: String,
    /// What they may do.
    pub role: Role,
    /// Since when.
    pub joined_at: Timestamp,
}

/// A person who has been asked to join.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    /// `inv-` and a UUID.
    pub id: String,
    /// In lower case.
    pub email: String,
    /// What they will be.
    pub role: Role,
    /// Who asked them.
    pub invited_by: String,
    /// When.
    pub created_at: Timestamp,
    /// Until when it can be accepted.
    pub expires_at: Timestamp,
}

impl Invitation {
    /// Whether it can still be accepted.
    pub fn is_open(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }
}

/// The person on whose behalf a key acts: the one who made it.
#[derive(Debug, Clone)]
pub struct Actor {
    org: Org,
    user_id: String,
}

/// A demand on an actor's role at the moment of writing.
#[derive(Debug, Clone)]
pub struct RoleCheck {
    actor: Actor,
    roles: &'static [Role],
}

/// Owners and admins.
pub const MANAGERS: &[Role] = &[Role::Owner, Role::Admin];

/// Owners.
pub const OWNERS: &[Role] = &[Role::Owner];

impl Actor {
    /// The maker of a key of this organisation.
    pub(crate) fn new(org: Org, user_id: &str) -> Self {
        Self { org, user_id: user_id.to_owned() }
    }

    /// Their id.
    pub fn user_id(&self) -> &str {
        &self.user_id
    }

    /// Their organisation.
    pub fn org(&self) -> &Org {
        &self.org
    }

    /// Demands one of these roles of them.
    pub fn must_be(&self, roles: &'static [Role]) -> RoleCheck {
        RoleCheck { actor: self.clone(), roles }
    }
}

impl RoleCheck {
    /// Who is checked.
    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    /// Which roles pass.
    pub fn roles(&self) -> &'static [Role] {
        self.roles
    }

    /// The refusal where the check fails.
    pub fn refused(&self) -> ToolError {
        let names: Vec<&str> = self.roles.iter().map(|role| role.as_str()).collect();
        ToolError::forbidden(format!(
            "This needs the role {}. The person who made this API key does not have it now: use a key made by someone who does.",
            names.join(" or ")
        ))
    }
}

/// Decides whether `actor` may remove `target`, as both stand now, and which roles the write must still find.
pub fn removal(actor: &Actor, standing: Option<&Member>, target_id: &str, target: Option<&Member>) -> Result<RoleCheck, ToolError> {
    let managers = actor.must_be(MANAGERS);
    let Some(standing) = standing.filter(|member| MANAGERS.contains(&member.role)) else { return Err(managers.refused()) };
    if target_id == actor.user_id() {
        let message = "A key cannot remove the person who made it. Another owner or admin can.";
        return Err(ToolError::conflict("cannot_remove_self", message));
    }
    let target = target.ok_or_else(member_not_found)?;
    match (target.role, standing.role) {
        (Role::Owner, Role::Owner) => Ok(actor.must_be(OWNERS)),
        (Role::Owner, _) => Err(ToolError::conflict("cannot_remove_owner", "Only an owner can remove an owner.")),
        _ => Ok(managers),
    }
}

/// The same for an id that never was, one of another organisation, and one removed before.
pub fn member_not_found() -> ToolError {
    ToolError::not_found("member_not_found", "Member not found. list_members shows who belongs to your organisation.")
}

/// The refusal to take the last owner away.
pub fn last_owner() -> ToolError {
    ToolError::conflict("cannot_remove_owner", "This is the last owner, and an organisation always has one. Make another owner first.")
}

/// An address in the form it is kept and compared in, if it is one.
pub fn email_address(text: &str) -> Result<String, ToolError> {
    let text = text.trim();
    let refused = || ToolError::invalid("invalid_argument", "email must be an e-mail address, such as ada@example.com.");
    // Quoted names and bare IP addresses are allowed by the standard, and refused by the servers that mail goes through.
    if text.len() > 254 || text.contains(['"', '[']) {
        return Err(refused());
    }
    let address: lettre::Address = text.parse().map_err(|_| refused())?;
    Ok(address.to_string().to_lowercase())
}

#[cfg(test)]
mod tests {
    use onepost_core::auth::Operator;

    use super::*;

    #[expect(clippy::disallowed_methods, reason = "tests act for any organisation")]
    fn actor() -> Actor {
        Actor::new(Operator::at_the_terminal().org("org-1"), "u-me")
    }

    fn member(user_id: &str, role: Role) -> Member {
        Member { user_id: user_id.into(), name: String::new(), email: String::new(), role, joined_at: Timestamp::UNIX_EPOCH }
    }

    fn code(standing: Option<Role>, target_id: &str, target: Option<Role>) -> &'static str {
        let standing = standing.map(|role| member("u-me", role));
        let target = target.map(|role| member(target_id, role));
        removal(&actor(), standing.as_ref(), target_id, target.as_ref()).map_or_else(
            |error| error.code(),
            |check| match check.roles() {
                MANAGERS => "managers may",
                OWNERS => "owners may",
                _ => "others may",
            },
        )
    }

    #[test]
    fn who_may_remove_whom() {
        use Role::{Admin, Member, Owner};
        let table = [
            (Some(Owner), "u-2", Some(Member), "managers may"),
            (Some(Owner), "u-2", Some(Admin), "managers may"),
            (Some(Owner), "u-2", Some(Owner), "owners may"),
            (Some(Admin), "u-2", Some(Member), "managers may"),
            (Some(Admin), "u-2", Some(Admin), "managers may"),
            (Some(Admin), "u-2", Some(Owner), "cannot_remove_owner"),
            (Some(Admin), "u-2", None, "member_not_found"),
            (Some(Owner), "u-me", Some(Owner), "cannot_remove_self"),
            (Some(Member), "u-me", Some(Member), "forbidden"),
            (Some(Member), "u-2", Some(Member), "forbidden"),
            (Some(Member), "u-2", None, "forbidden"),
            (None, "u-2", Some(Member), "forbidden"),
        ];
        for (standing, target_id, target, expected) in table {
            assert_eq!(code(standing, target_id, target), expected, "{standing:?} removes {target_id} {target:?}");
        }
    }

    #[test]
    fn addresses_are_kept_in_lower_case_and_checked() {
        assert_eq!(email_address(" Ada@Example.COM ").unwrap(), "ada@example.com");
        for text in [
            "",
            "ada",
            "ada@",
            "@example.com",
            "a b@example.com",
            "ada@example.com\nBcc: x@example.com",
            "a@[127.0.0.1]",
            "\"a b\"@c.example",
            &format!("{}@example.com", "a".repeat(250)),
        ] {
            assert_eq!(email_address(text).unwrap_err().code(), "invalid_argument", "{text}");
        }
    }
}
