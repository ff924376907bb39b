//! Exact decimal reading of JSON numbers, so that `0.1`, `0.10` and `1e-1` are one number and large integers are not
//! rounded when an integer meets a fraction.

use std::cmp::Ordering;

use serde_json::Number;

/// A number as sign, significant digits and the power of ten of the last digit. Zero has no digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    exponent: i32,
}

impl Decimal {
    /// Reads a JSON number. Fractions are taken in their shortest decimal form, the one that the sender wrote.
    pub fn of(number: &Number) -> Self {
        Self::from_text(&number.to_string())
    }

    /// How many digits stand after the decimal point; 0 for whole numbers, `5.0` included.
    pub fn places(&self) -> u32 {
        self.exponent.min(0).unsigned_abs()
    }

    fn from_text(text: &str) -> Self {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, power) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, power)) => (mantissa, power.parse::<i32>().unwrap_or(0)),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).map(|byte| byte - b'0').collect();
        let mut exponent = power - i32::try_from(fraction.len()).unwrap_or(i32::MAX);
        while digits.last() == Some(&0) {
            digits.pop();
            exponent += 1;
        }
        let leading = digits.iter().take_while(|digit| **digit == 0).count();
        digits.drain(..leading);
        if digits.is_empty() {
            return Self { negative: false, digits, exponent: 0 };
        }
        Self { negative, digits, exponent }
    }

    /// The power of ten of the first digit: what decides between two magnitudes before any digit is looked at.
    fn magnitude(&self) -> i64 {
        self.exponent as i64 + self.digits.len() as i64
    }

    fn compare_magnitude(&self, other: &Self) -> Ordering {
        self.magnitude().cmp(&other.magnitude()).then_with(|| {
            let length = self.digits.len().max(other.digits.len());
            let padded = |digits: &[u8], index: usize| digits.get(index).copied().unwrap_or(0);
            (0..length)
                .map(|index| padded(&self.digits, index).cmp(&padded(&other.digits, index)))
                .find(|order| order.is_ne())
                .unwrap_or(Ordering::Equal)
        })
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.digits.is_empty(), other.digits.is_empty()) {
            (true, true) => return Ordering::Equal,
            (true, false) => return if other.negative { Ordering::Greater } else { Ordering::Less },
            (false, true) => return if self.negative { Ordering::Less } else { Ordering::Greater },
            (false, false) => {}
        }
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.compare_magnitude(other),
            (true, true) => other.compare_magnitude(self),
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares two JSON numbers as decimals.
pub fn compare(left: &Number, right: &Number) -> Ordering {
    Decimal::of(left).cmp(&Decimal::of(right))
}

/// The number as an integer when it has no fraction and fits; `5.0` is 5, as in JSON Schema.
pub fn whole(number: &Number) -> Option<i64> {
    if let Some(integer) = number.as_i64() {
        return Some(integer);
    }
    let float = number.as_f64()?;
    // 2^53: beyond it a float no longer names one integer.
    (float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_992.0).then_some(float as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn numbers_compare_by_value_whatever_their_spelling() {
        for (left, right, expected) in [
            ("1", "1.0", Ordering::Equal),
            ("0", "-0.0", Ordering::Equal),
            ("0.1", "1e-1", Ordering::Equal),
            ("0.1", "0.11", Ordering::Less),
            ("-2", "1", Ordering::Less),
            ("-2", "-1.5", Ordering::Less),
            ("0", "-0.001", Ordering::Greater),
            ("10", "9.99", Ordering::Greater),
            ("9007199254740993", "9007199254740992.0", Ordering::Greater),
            ("1e300", "1e299", Ordering::Greater),
            ("18446744073709551615", "-9223372036854775808", Ordering::Greater),
        ] {
            assert_eq!(compare(&number(left), &number(right)), expected, "{left} against {right}");
            assert_eq!(compare(&number(right), &number(left)), expected.reverse(), "{right} against {left}");
        }
    }

    #[test]
    fn decimal_places_are_counted_as_written_without_trailing_zeros() {
        for (text, places) in [("12", 0), ("12.0", 0), ("12.5", 1), ("12.50", 1), ("0.125", 3), ("1e-6", 6), ("1200", 0)] {
            assert_eq!(Decimal::of(&number(text)).places(), places, "{text}");
        }
    }

    #[test]
    fn a_whole_number_may_be_written_as_a_float() {
        assert_eq!(whole(&number("5.0")), Some(5));
        assert_eq!(whole(&number("1e2")), Some(100));
        assert_eq!(whole(&number("5.5")), None);
        assert_eq!(whole(&number("1e300")), None);
    }
}
