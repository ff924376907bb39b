//! What an organisation may have: one default plan, changed by the operator.

use jiff::Timestamp;
use jiff::civil::date;
use jiff::tz::TimeZone;
use onepost_core::error::ToolError;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// No organisation has more templates than this, whatever its plan: their list is one answer.
pub const MOST_TEMPLATES: u32 = 500;

/// The limits of one organisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Runs dispatched in one calendar month (UTC).
    #[serde(rename = "max_runs")]
    pub runs_per_month: u32,
    /// Members.
    #[serde(rename = "max_members")]
    pub members: u32,
    /// Templates, at most [`MOST_TEMPLATES`].
    #[serde(rename = "max_templates")]
    pub templates: u32,
    /// Assets.
    #[serde(rename = "max_assets")]
    pub assets: u32,
}

impl Default for Plan {
    fn default() -> Self {
        Self { runs_per_month: 1_000, members: 50, templates: 200, assets: 5_000 }
    }
}

/// What is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limited {
    /// Runs of this month.
    Runs,
    /// Members.
    Members,
    /// Templates.
    Templates,
    /// Assets.
    Assets,
}

impl Limited {
    /// The refusal of one more.
    pub fn exceeded(self, limit: u32, used: u32, now: Timestamp) -> ToolError {
        let (what, remedy) = match self {
            Self::Runs => ("runs in a month", "Wait for the next month"),
            Self::Members => ("members", "Remove a member"),
            Self::Templates => ("templates", "Delete a template"),
            Self::Assets => ("assets", "Delete an asset"),
        };
        let message = match limit {
            0 => format!("Your plan allows no {what}. Ask your operator for a larger plan."),
            _ => format!("The limit of your plan is reached: {limit} {what}. {remedy}, or ask your operator for a larger plan."),
        };
        let mut details = json!({ "limit": limit, "used": used });
        if self == Self::Runs {
            details["resets_at"] = json!(next_month(now));
        }
        ToolError::quota_exceeded(message).with_details(details)
    }
}

/// The month that `now` is in, as `2026-05`.
pub fn month_of(now: Timestamp) -> String {
    let day = now.to_zoned_datetime(TimeZone::UTC).date();
    format!("{:04}-{:02}", day.year(), day.month())
}

fn next_month(now: Timestamp) -> Timestamp {
    let day = now.to_zoned_datetime(TimeZone::UTC).date();
    let first = if day.month() == 12 { date(day.year() + 1, 1, 1) } else { date(day.year(), day.month() + 1, 1) };
    first.to_zoned_datetime(TimeZone::UTC).expect("the next month is in the range of time").timestamp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_of_runs_resets_with_the_month_in_utc() {
        let now: Timestamp = "2026-12-31T23:59:59Z".parse().unwrap();
        assert_eq!(month_of(now), "2026-12");
        let refused = Limited::Runs.exceeded(5, 5, now);
        assert_eq!(refused.details(), Some(&json!({ "limit": 5, "used": 5, "resets_at": "2027-01-01T00:00:00Z" })));
    }

    #[test]
    fn other_limits_do_not_reset() {
        let refused = Limited::Assets.exceeded(2, 2, "2026-05-01T00:00:00Z".parse().unwrap());
        assert_eq!(refused.details(), Some(&json!({ "limit": 2, "used": 2 })));
    }
}
