//! What can be asked.

use std::path::PathBuf;

use checklists::members::Role;
use checklists::operator::{Desk, PlanChange};
use clap::{Args, Parser, Subcommand, ValueEnum};
use jiff::{SignedDuration, Timestamp};

use crate::answer::{Answer, Failure};
use crate::connect::Place;

/// Organisations, members and keys of checklists: on the local stack, or with AWS credentials on a real table.
#[derive(Debug, Parser)]
#[command(name = "onepost-admin", version)]
pub struct Cli {
    /// The data folder of the running local stack
    #[arg(long, global = true, value_name = "DIR", default_value = ".onepost")]
    data: PathBuf,

    /// A real table instead, by the AWS credentials and region of the environment
    #[arg(long, global = true, value_name = "NAME", requires = "pepper_secret")]
    table: Option<String>,

    /// Name or ARN of the secret with the real table's pepper
    #[arg(long, global = true, value_name = "NAME", requires = "table")]
    pepper_secret: Option<String>,

    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Organisations and their plans
    #[command(subcommand)]
    Org(OrgCommand),
    /// The members of an organisation
    #[command(subcommand)]
    Members(MembersCommand),
    /// The API keys of an organisation
    #[command(subcommand)]
    Keys(KeysCommand),
}

#[derive(Debug, Subcommand)]
enum OrgCommand {
    /// Make an organisation with its first owner
    Create {
        /// What it is called
        name: String,
        /// What the owner is called
        #[arg(long, value_name = "NAME")]
        owner_name: String,
        /// The owner's address
        #[arg(long, value_name = "ADDRESS")]
        owner_email: String,
    },
    /// Show an organisation: plan and what is used of it
    Show {
        /// Its id: org-...
        org: String,
    },
    /// Change an organisation's plan; what is not named stays
    SetPlan(PlanArguments),
}

#[derive(Debug, Args)]
struct PlanArguments {
    /// Its id: org-...
    org: String,
    /// Runs per calendar month
    #[arg(long, value_name = "N")]
    runs: Option<u32>,
    /// Members
    #[arg(long, value_name = "N")]
    members: Option<u32>,
    /// Templates, at most 500
    #[arg(long, value_name = "N")]
    templates: Option<u32>,
    /// Assets
    #[arg(long, value_name = "N")]
    assets: Option<u32>,
    /// Hours until a run's link expires where the caller says nothing
    #[arg(long, value_name = "HOURS", conflicts_with = "no_expiry")]
    expiry_hours: Option<f64>,
    /// Links do not expire where the caller says nothing
    #[arg(long)]
    no_expiry: bool,
}

#[derive(Debug, Subcommand)]
enum MembersCommand {
    /// List the members
    List {
        /// The organisation's id: org-...
        org: String,
    },
    /// Add a member without an invitation
    Add {
        /// The organisation's id: org-...
        org: String,
        /// What they are called
        #[arg(long)]
        name: String,
        /// Their address
        #[arg(long, value_name = "ADDRESS")]
        email: String,
        /// What they may do
        #[arg(long, default_value = "member")]
        role: RoleName,
    },
    /// Give a member another role
    SetRole {
        /// The organisation's id: org-...
        org: String,
        /// The member's id: u-...
        user: String,
        /// The new role
        role: RoleName,
    },
    /// Remove a member
    Remove {
        /// The organisation's id: org-...
        org: String,
        /// The member's id: u-...
        user: String,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum RoleName {
    Owner,
    Admin,
    Member,
}

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::Owner => Self::Owner,
            RoleName::Admin => Self::Admin,
            RoleName::Member => Self::Member,
        }
    }
}

#[derive(Debug, Subcommand)]
enum KeysCommand {
    /// Make a key; it is shown this once
    Mint {
        /// The organisation's id: org-...
        org: String,
        /// The member on whose behalf it acts: u-...
        #[arg(long, value_name = "USER")]
        creator: String,
        /// What it is for
        #[arg(long)]
        name: String,
        /// Days until it ends by itself; never, when left out
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=3650))]
        expires_in_days: Option<u32>,
    },
    /// List the keys: id, last four characters, who made them, when they were used
    List {
        /// The organisation's id: org-...
        org: String,
    },
    /// End a key now
    Revoke {
        /// The organisation's id: org-...
        org: String,
        /// The key's id: its first 12 characters after rdk_live_
        key: String,
    },
    /// Make a key like another one, which ends some hours later
    Rotate {
        /// The organisation's id: org-...
        org: String,
        /// The key's id: its first 12 characters after rdk_live_
        key: String,
        /// Hours for which both work
        #[arg(long, value_name = "N", default_value_t = 24, value_parser = clap::value_parser!(u32).range(0..=8760))]
        overlap_hours: u32,
    },
}

impl Cli {
    /// Does what was asked.
    pub async fn run(self) -> Result<Answer, Failure> {
        let place = match (self.table, self.pepper_secret) {
            (Some(table), Some(pepper_secret)) => Place::Cloud { table, pepper_secret },
            _ => Place::Local(self.data),
        };
        let desk = place.desk().await?;
        match self.command {
            Command::Org(command) => command.run(&desk).await,
            Command::Members(command) => command.run(&desk).await,
            Command::Keys(command) => command.run(&desk).await,
        }
    }
}

impl OrgCommand {
    async fn run(self, desk: &Desk) -> Result<Answer, Failure> {
        match self {
            Self::Create { name, owner_name, owner_email } => {
                let (organisation, owner) = desk.create_organisation(&name, &owner_name, &owner_email).await?;
                Ok(Answer::Founded(organisation, owner))
            }
            Self::Show { org } => Ok(Answer::Organisation(desk.organisation(&org).await?, desk.runs_this_month(&org).await?)),
            Self::SetPlan(plan) => {
                let change = PlanChange {
                    runs_per_month: plan.runs,
                    members: plan.members,
                    templates: plan.templates,
                    assets: plan.assets,
                    default_expiry_hours: if plan.no_expiry { Some(None) } else { plan.expiry_hours.map(Some) },
                };
                let organisation = desk.change_plan(&plan.org, change).await?;
                Ok(Answer::Organisation(organisation, desk.runs_this_month(&plan.org).await?))
            }
        }
    }
}

impl MembersCommand {
    async fn run(self, desk: &Desk) -> Result<Answer, Failure> {
        match self {
            Self::List { org } => Ok(Answer::Members(desk.members(&org).await?)),
            Self::Add { org, name, email, role } => Ok(Answer::Member(desk.add_member(&org, &name, &email, role.into()).await?)),
            Self::SetRole { org, user, role } => Ok(Answer::Member(desk.set_role(&org, &user, role.into()).await?)),
            Self::Remove { org, user } => {
                desk.remove_member(&org, &user).await?;
                Ok(Answer::Removed { user_id: user })
            }
        }
    }
}

impl KeysCommand {
    async fn run(self, desk: &Desk) -> Result<Answer, Failure> {
        match self {
            Self::Mint { org, creator, name, expires_in_days } => {
                let end = expires_in_days.map(|days| Timestamp::now() + SignedDuration::from_hours(24 * i64::from(days)));
                Ok(Answer::NewKey(desk.mint_key(&org, &creator, &name, end).await?))
            }
            Self::List { org } => Ok(Answer::Keys(desk.keys(&org).await?)),
            Self::Revoke { org, key } => {
                desk.revoke_key(&org, &key).await?;
                Ok(Answer::Revoked { key_id: key })
            }
            Self::Rotate { org, key, overlap_hours } => {
                let overlap = SignedDuration::from_hours(i64::from(overlap_hours));
                Ok(Answer::NewKey(desk.rotate_key(&org, &key, overlap).await?))
            }
        }
    }
}
