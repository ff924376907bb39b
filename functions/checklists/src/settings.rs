//! What a function is told by its environment.

use std::env;
use std::time::Duration;

use onepost_cloud::limits::Limits;

use crate::links::Site;
use crate::mail::{Mailer, Smtp, Unconfigured};

/// The calls that a key and an organisation may make unless the operator says otherwise: 50 and 200 in a second, counted
/// over 10. A looping agent makes 10 to 20; four keys at their limit are an organisation at its own.
pub const CALLS: Limits = Limits { window: Duration::from_secs(10), per_key: 500, per_organisation: 2_000 };

/// A setting is missing or wrong. The text names it and says what it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongSetting(pub String);

impl std::fmt::Display for WrongSetting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WrongSetting {}

/// The settings of a function of this product.
pub struct Settings {
    /// `TABLE`: the DynamoDB table.
    pub table: String,
    /// `PEPPER_SECRET`: name or ARN of the secret with the pepper.
    pub pepper_secret: String,
    /// `SITE`: where the pages are served.
    pub site: Site,
    /// `ORIGINS`: origins of pages that may call, with commas between them. Optional.
    pub origins: Vec<String>,
    /// `CALLS_PER_KEY` and `CALLS_PER_ORGANISATION`: calls in 10 seconds. Optional: 500 and 2,000.
    pub limits: Limits,
    /// `SMTP_URL` and `MAIL_FROM`. Optional: without them, invitations are refused.
    pub mailer: Box<dyn Mailer>,
}

impl Settings {
    /// Reads and checks all of them.
    pub fn from_environment() -> Result<Self, WrongSetting> {
        let optional = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let required = |name: &str| optional(name).ok_or_else(|| WrongSetting(format!("the setting {name} is missing")));
        let mailer: Box<dyn Mailer> = match (optional("SMTP_URL"), optional("MAIL_FROM")) {
            (None, None) => Box::new(Unconfigured),
            (Some(url), Some(from)) => Box::new(Smtp::new(&url, &from).map_err(WrongSetting)?),
            _ => return Err(WrongSetting("SMTP_URL and MAIL_FROM are set together or not at all".into())),
        };
        let origins = optional("ORIGINS").unwrap_or_default();
        let calls = |name: &str, default: u32| match optional(name) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| WrongSetting(format!("{name} is a number of calls in 10 seconds"))),
        };
        let limits = Limits {
            per_key: calls("CALLS_PER_KEY", CALLS.per_key)?,
            per_organisation: calls("CALLS_PER_ORGANISATION", CALLS.per_organisation)?,
            ..CALLS
        };
        Ok(Self {
            table: required("TABLE")?,
            pepper_secret: required("PEPPER_SECRET")?,
            site: Site::at(&required("SITE")?),
            origins: origins.split(',').map(str::trim).filter(|origin| !origin.is_empty()).map(str::to_owned).collect(),
            limits,
            mailer,
        })
    }
}
