//! What is printed: text for people, or one JSON value for programs.

use checklists::members::Member;
use checklists::operator::NewKey;
use checklists::store::Organisation;
use jiff::Timestamp;
use onepost_core::auth::{KNOWN_FOR, KeyRecord};
use onepost_core::error::ToolError;
use serde_json::{Value, json};

use crate::connect::Unreachable;

/// What came of it.
#[derive(Debug)]
pub enum Answer {
    /// A new organisation and its owner.
    Founded(Organisation, Member),
    /// An organisation, and its runs of this month.
    Organisation(Organisation, u32),
    /// Members.
    Members(Vec<Member>),
    /// A member who was added or changed.
    Member(Member),
    /// A member who was removed.
    Removed {
        /// Their id.
        user_id: String,
    },
    /// A key that was made.
    NewKey(NewKey),
    /// Keys.
    Keys(Vec<KeyRecord>),
    /// A key that was ended.
    Revoked {
        /// Its id.
        key_id: String,
    },
}

/// Why nothing came of it.
#[derive(Debug)]
pub enum Failure {
    /// The data cannot be reached.
    Unreachable(Unreachable),
    /// It was refused.
    Refused(ToolError),
}

impl From<Unreachable> for Failure {
    fn from(error: Unreachable) -> Self {
        Self::Unreachable(error)
    }
}

impl From<ToolError> for Failure {
    fn from(error: ToolError) -> Self {
        Self::Refused(error)
    }
}

impl Failure {
    /// One line, or one JSON value.
    pub fn printed(&self, as_json: bool) -> String {
        match (self, as_json) {
            (Self::Unreachable(error), false) => error.to_string(),
            (Self::Unreachable(error), true) => json!({ "error": "unreachable", "message": error.to_string() }).to_string(),
            // The operator is the one who reads causes.
            (Self::Refused(error), false) => {
                error.cause().map_or_else(|| error.message().to_owned(), |cause| format!("{} ({cause})", error.message()))
            }
            (Self::Refused(error), true) => {
                let mut told = json!({ "error": error.code(), "message": error.message() });
                for (member, value) in [("details", error.details().cloned()), ("cause", error.cause().map(Value::from))] {
                    if let Some(value) = value {
                        told[member] = value;
                    }
                }
                told.to_string()
            }
        }
    }
}

impl Answer {
    /// Text, or one JSON value.
    pub fn printed(&self, as_json: bool) -> String {
        if as_json { format!("{:#}", self.to_json()) } else { self.to_text() }
    }

    /// What to do about an answer that nobody has seen.
    pub fn what_to_do_unseen(&self) -> String {
        match self {
            Self::NewKey(key) => format!("The key {} was made and nobody has seen it: revoke it.", key.record.id),
            Self::Founded(organisation, owner) => format!("The organisation is {}, its owner {}.", organisation.id, owner.user_id),
            _ => "Ask for it again.".to_owned(),
        }
    }

    fn to_json(&self) -> Value {
        match self {
            Self::Founded(organisation, owner) => json!({ "organisation": organisation, "owner": owner }),
            Self::Organisation(organisation, runs) => {
                let mut value = json!(organisation);
                value["runs_this_month"] = json!(runs);
                value
            }
            Self::Members(members) => json!({ "data": members }),
            Self::Member(member) => json!(member),
            Self::Removed { user_id } => json!({ "removed": true, "user_id": user_id }),
            Self::NewKey(NewKey { plain, record }) => {
                let mut value = json!(record);
                value["key"] = json!(plain.reveal());
                value
            }
            Self::Keys(keys) => json!({ "data": keys }),
            Self::Revoked { key_id } => json!({ "revoked": true, "key_id": key_id }),
        }
    }

    fn to_text(&self) -> String {
        match self {
            Self::Founded(organisation, owner) => {
                format!("{}\n\nowner         {}  {} <{}>", plan(organisation, 0), owner.user_id, owner.name, owner.email)
            }
            Self::Organisation(organisation, runs) => plan(organisation, *runs),
            Self::Members(members) => table(["USER", "ROLE", "NAME", "EMAIL"], members.iter().map(member)),
            Self::Member(one) => table(["USER", "ROLE", "NAME", "EMAIL"], [member(one)].into_iter()),
            Self::Removed { user_id } => format!("Removed {user_id}."),
            Self::NewKey(NewKey { plain, record }) => {
                let end =
                    record.expires_at.map_or_else(|| "it does not end by itself".to_owned(), |end| format!("it ends {}", minute(end)));
                format!("{}\n\nThis is the key {:?}, shown this once; {end}. Keep it where secrets are kept.", plain.reveal(), record.name)
            }
            Self::Keys(keys) => table(["KEY", "LAST 4", "NAME", "MADE BY", "MADE", "LAST USED", "STATE"], keys.iter().map(key)),
            Self::Revoked { key_id } => {
                let seconds = KNOWN_FOR.as_secs();
                format!("Revoked {key_id}: calls that write are refused from now on, calls that read within {seconds} seconds.")
            }
        }
    }
}

fn plan(organisation: &Organisation, runs: u32) -> String {
    let Organisation { id, name, plan, default_expiry_hours, n_members, n_owners, n_templates, n_assets, .. } = organisation;
    let expiry = default_expiry_hours.map_or_else(|| "never".to_owned(), |hours| format!("after {hours} hours"));
    format!(
        "organisation  {id}  {name}\nruns          {runs} of {} this month\nmembers       {n_members} of {} ({n_owners} owner{})\ntemplates     {n_templates} of \
         {}\nassets        {n_assets} of {}\nlinks expire  {expiry}, where the caller says nothing",
        plan.runs_per_month,
        plan.members,
        if *n_owners == 1 { "" } else { "s" },
        plan.templates,
        plan.assets
    )
}

fn member(member: &Member) -> [String; 4] {
    [member.user_id.clone(), member.role.as_str().to_owned(), member.name.clone(), member.email.clone()]
}

fn key(key: &KeyRecord) -> [String; 7] {
    let now = Timestamp::now();
    let state = match (key.revoked_at, key.end()) {
        (Some(_), _) => "revoked".to_owned(),
        (None, Some(at)) if at <= now => "expired".to_owned(),
        (None, Some(at)) => format!("ends {}", minute(at)),
        (None, None) => "works".to_owned(),
    };
    let used = key.last_used_at.map_or_else(|| "never".to_owned(), minute);
    [key.id.clone(), key.last_four.clone(), key.name.clone(), key.creator.clone(), minute(key.created_at), used, state]
}

fn minute(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// Columns as wide as their widest cell.
fn table<const N: usize>(head: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let rows: Vec<[String; N]> = std::iter::once(head.map(str::to_owned)).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |row: &[String; N]| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["é".to_owned(), "x".to_owned()], ["long one".to_owned(), String::new()]];
        assert_eq!(table(["A", "B"], rows.into_iter()), "A         B\né         x\nlong one");
    }
}
