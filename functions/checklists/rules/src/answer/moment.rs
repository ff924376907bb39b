//! Days, moments and times of day, as answers and bounds write them.

use std::cmp::Ordering;

use jiff::Timestamp;
use jiff::civil::{Date, Time};

use crate::template::DatetimeMode;

/// A day, a moment or a time of day that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Moment {
    Day(Date),
    Instant(Timestamp),
    Clock(Time),
}

/// Reads a text as the mode says: `2027-03-01`, `2027-03-01T14:05:00Z` (always UTC), `14:05` or `14:05:30`.
///
/// The shape is checked here because the parser accepts more spellings than the documents define.
pub(crate) fn read(mode: DatetimeMode, text: &str) -> Option<Moment> {
    match mode {
        DatetimeMode::Date => has_shape(text, "dddd-dd-dd").then(|| text.parse().ok().map(Moment::Day))?,
        DatetimeMode::Datetime => {
            let (civil, fraction) = match text.strip_suffix('Z')?.split_once('.') {
                Some((civil, fraction)) => (civil, Some(fraction)),
                None => (&text[..text.len() - 1], None),
            };
            let fraction_fits =
                fraction.is_none_or(|digits| (1..=9).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit()));
            let fits = fraction_fits && has_shape(civil, "dddd-dd-ddTdd:dd:dd");
            fits.then(|| text.parse().ok().map(Moment::Instant))?
        }
        DatetimeMode::Time => {
            let fits = has_shape(text, "dd:dd") || has_shape(text, "dd:dd:dd");
            fits.then(|| text.parse().ok().map(Moment::Clock))?
        }
    }
}

/// Compares two texts as the mode says; `None` where one of them cannot be read.
pub(crate) fn compare(mode: DatetimeMode, left: &str, right: &str) -> Option<Ordering> {
    Some(read(mode, left)?.cmp(&read(mode, right)?))
}

/// How a text has to be written, for messages.
pub(crate) const fn spelling(mode: DatetimeMode) -> &'static str {
    match mode {
        DatetimeMode::Date => "a date such as 2027-03-01",
        DatetimeMode::Datetime => "a moment in UTC such as 2027-03-01T14:05:00Z",
        DatetimeMode::Time => "a time of day such as 14:05",
    }
}

/// `d` stands for a digit, everything else for itself.
fn has_shape(text: &str, shape: &str) -> bool {
    text.len() == shape.len()
        && text.bytes().zip(shape.bytes()).all(|(byte, expected)| match expected {
            b'd' => byte.is_ascii_digit(),
            _ => byte == expected,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mode_reads_its_own_spelling_only() {
        let good = [
            (DatetimeMode::Date, "2028-02-29"),
            (DatetimeMode::Datetime, "2027-03-01T14:05:00Z"),
            (DatetimeMode::Datetime, "2027-03-01T14:05:00.250Z"),
            (DatetimeMode::Time, "00:00"),
            (DatetimeMode::Time, "23:59:59"),
        ];
        for (mode, text) in good {
            assert!(read(mode, text).is_some(), "{text} should be read as {mode}");
        }
        let bad = [
            (DatetimeMode::Date, "2027-02-29"),
            (DatetimeMode::Date, "2027-03-01T00:00:00Z"),
            (DatetimeMode::Date, "1.3.2027"),
            (DatetimeMode::Date, "20270301"),
            (DatetimeMode::Datetime, "2027-03-01"),
            (DatetimeMode::Datetime, "2027-03-01T14:05:00+01:00"),
            (DatetimeMode::Datetime, "2027-03-01 14:05:00Z"),
            (DatetimeMode::Datetime, "2027-03-01T25:05:00Z"),
            (DatetimeMode::Datetime, "2027-03-01T14:05:00.Z"),
            (DatetimeMode::Datetime, "Z"),
            (DatetimeMode::Time, "24:00"),
            (DatetimeMode::Time, "2:05 pm"),
            (DatetimeMode::Time, ""),
        ];
        for (mode, text) in bad {
            assert!(read(mode, text).is_none(), "{text} should not be read as {mode}");
        }
    }

    #[test]
    fn moments_compare_by_time_and_not_by_spelling() {
        let mode = DatetimeMode::Datetime;
        assert_eq!(compare(mode, "2027-03-01T14:05:00Z", "2027-03-01T14:05:00.0Z"), Some(Ordering::Equal));
        assert_eq!(compare(DatetimeMode::Time, "14:05", "14:05:00"), Some(Ordering::Equal));
        assert_eq!(compare(DatetimeMode::Date, "2027-03-01", "never"), None);
    }
}
