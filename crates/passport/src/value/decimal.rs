//! Exact decimal numbers with one spelling each.

use std::fmt;
use std::str::FromStr;

use bigdecimal::BigDecimal;
use bigdecimal::num_bigint::{BigInt, Sign};
use serde::{Serialize, Serializer};

use super::arithmetic::ArithmeticError;

/// How many digits a number may have, leading zeros not counted.
pub const MAX_DIGITS: usize = 28;

/// How many of them may stand behind the point.
pub const MAX_DECIMALS: usize = 18;

/// An exact decimal number of at most [`MAX_DIGITS`] digits and [`MAX_DECIMALS`] decimals.
///
/// Equal numbers have equal text: `-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?`, never `-0`. No operation
/// rounds unless its name says so; what does not fit exactly is an error.
// The number inside has no trailing zeros behind the point and no negative scale, so derived
// comparisons of text, hash and scale agree with the value.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decimal(BigDecimal);

/// A text that is no number of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum DecimalError {
    /// Not a number.
    #[error("not a decimal number such as -12.5")]
    Syntax,
    /// So large that it needs more than 28 digits before the point.
    #[error("the number is beyond 28 digits")]
    Range,
    /// More digits than can be kept: over 28 in all, or over 18 behind the point.
    #[error("the number has more than 28 digits or more than 18 decimals")]
    Precision,
    /// A number, but not spelled in its one canonical way.
    #[error("the number is not in its canonical spelling")]
    NotCanonical,
}

impl DecimalError {
    /// The stable name, for machines.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Syntax => "DEC_SYNTAX",
            Self::Range => "DEC_RANGE",
            Self::Precision => "DEC_PRECISION",
            Self::NotCanonical => "DEC_NOT_CANONICAL",
        }
    }
}

impl Decimal {
    /// The number 0.
    #[must_use]
    pub fn zero() -> Self {
        Self(BigDecimal::new(BigInt::ZERO, 0))
    }

    /// Reads only the canonical spelling, as it stands in stored bytes.
    ///
    /// # Errors
    ///
    /// Refuses every other text.
    pub fn parse_canonical(text: &str) -> Result<Self, DecimalError> {
        let number: Self = text.parse()?;
        if number.to_string() == text { Ok(number) } else { Err(DecimalError::NotCanonical) }
    }

    /// The exact sum.
    ///
    /// # Errors
    ///
    /// [`ArithmeticError::Overflow`] if it does not fit.
    pub fn checked_add(&self, other: &Self) -> Result<Self, ArithmeticError> {
        Self::settle(&self.0 + &other.0)
    }

    /// The exact difference.
    ///
    /// # Errors
    ///
    /// [`ArithmeticError::Overflow`] if it does not fit.
    pub fn checked_sub(&self, other: &Self) -> Result<Self, ArithmeticError> {
        Self::settle(&self.0 - &other.0)
    }

    /// The exact product.
    ///
    /// # Errors
    ///
    /// [`ArithmeticError::Overflow`] if it does not fit.
    pub fn checked_mul(&self, other: &Self) -> Result<Self, ArithmeticError> {
        Self::settle(&self.0 * &other.0)
    }

    /// The quotient rounded half to even at `decimals` behind the point.
    ///
    /// # Errors
    ///
    /// [`ArithmeticError::DivisionByZero`], or [`ArithmeticError::Overflow`] if the rounded
    /// quotient does not fit or more than [`MAX_DECIMALS`] were asked for.
    pub fn div_half_even(&self, by: &Self, decimals: u8) -> Result<Self, ArithmeticError> {
        if by.is_zero() {
            return Err(ArithmeticError::DivisionByZero);
        }
        if usize::from(decimals) > MAX_DECIMALS {
            return Err(ArithmeticError::Overflow);
        }
        let (numerator, numerator_scale) = self.0.as_bigint_and_scale();
        let (denominator, denominator_scale) = by.0.as_bigint_and_scale();
        // Both scales are at most 18, so the power stays below 10^36.
        let shift = i64::from(decimals) + denominator_scale - numerator_scale;
        let power = BigInt::from(10).pow(shift.unsigned_abs() as u32);
        let (above, below) = if shift < 0 {
            (numerator.into_owned(), denominator.into_owned() * power)
        } else {
            (numerator.into_owned() * power, denominator.into_owned())
        };
        Self::settle(BigDecimal::new(quotient_half_even(&above, &below), decimals.into()))
    }

    /// The quotient, if it is exact.
    ///
    /// # Errors
    ///
    /// [`ArithmeticError::DivisionByZero`], or [`ArithmeticError::Overflow`] if the quotient has
    /// no end or does not fit.
    pub fn div_exact(&self, by: &Self) -> Result<Self, ArithmeticError> {
        let rounded = self.div_half_even(by, MAX_DECIMALS as u8)?;
        if &rounded.0 * &by.0 == self.0 { Ok(rounded) } else { Err(ArithmeticError::Overflow) }
    }

    /// The same number without its sign.
    #[must_use]
    pub fn abs(&self) -> Self {
        Self(self.0.abs())
    }

    /// Whether this is 0.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.0.sign() == Sign::NoSign
    }

    /// Whether this is less than 0.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        self.0.sign() == Sign::Minus
    }

    /// Whether nothing stands behind the point.
    #[must_use]
    pub fn is_integer(&self) -> bool {
        self.0.fractional_digit_count() <= 0
    }

    /// As an integer, if it is one and fits.
    #[must_use]
    pub fn to_i64(&self) -> Option<i64> {
        let (digits, scale) = self.0.as_bigint_and_scale();
        if scale == 0 { i64::try_from(digits.as_ref()).ok() } else { None }
    }

    /// The integer behind the digits, and how many of them stand behind the point. For reference
    /// calculations with other arithmetic.
    #[must_use]
    pub fn coefficient_and_decimals(&self) -> (i128, u8) {
        let (digits, scale) = self.0.as_bigint_and_scale();
        let coefficient = i128::try_from(digits.as_ref()).expect("28 digits fit in 128 bits");
        (coefficient, u8::try_from(scale).expect("at most 18 decimals"))
    }

    /// The number `coefficient / 10^decimals`.
    ///
    /// # Errors
    ///
    /// [`ArithmeticError::Overflow`] if it does not fit.
    pub fn from_coefficient(coefficient: i128, decimals: u8) -> Result<Self, ArithmeticError> {
        Self::settle(BigDecimal::new(coefficient.into(), decimals.into()))
    }

    /// Brings an exact result into its one form.
    fn settle(exact: BigDecimal) -> Result<Self, ArithmeticError> {
        let mut number = exact.normalized();
        if number.fractional_digit_count() < 0 {
            number = number.with_scale(0);
        }
        let decimals = number.fractional_digit_count();
        if decimals > MAX_DECIMALS as i64 || number.digits() > MAX_DIGITS as u64 {
            return Err(ArithmeticError::Overflow);
        }
        Ok(Self(number))
    }
}

impl From<i32> for Decimal {
    fn from(integer: i32) -> Self {
        Self(BigDecimal::new(integer.into(), 0))
    }
}

impl From<i64> for Decimal {
    fn from(integer: i64) -> Self {
        Self(BigDecimal::new(integer.into(), 0))
    }
}

impl std::ops::Neg for &Decimal {
    type Output = Decimal;
    fn neg(self) -> Decimal {
        Decimal(-&self.0)
    }
}

impl FromStr for Decimal {
    type Err = DecimalError;

    /// Reads a number as JSON spells it, exponents included, without passing through floating
    /// point. Takes time linear in the text, however large its exponent is.
    fn from_str(text: &str) -> Result<Self, DecimalError> {
        let Spelling { negative, whole, fraction, exponent } =
            Spelling::read(text).ok_or(DecimalError::Syntax)?;
        let digits = format!("{whole}{fraction}");
        let leading = digits.trim_start_matches('0');
        let significant = leading.trim_end_matches('0');
        if significant.is_empty() {
            return Ok(Self::zero());
        }
        // The value is 0.significant x 10^magnitude.
        let magnitude = (leading.len() as i64 - fraction.len() as i64).saturating_add(exponent);
        if magnitude > MAX_DIGITS as i64 {
            return Err(DecimalError::Range);
        }
        let decimals = (significant.len() as i64).saturating_sub(magnitude);
        if decimals > MAX_DECIMALS as i64 || significant.len() > MAX_DIGITS {
            return Err(DecimalError::Precision);
        }
        let coefficient: BigInt = significant.parse().map_err(|_| DecimalError::Syntax)?;
        let coefficient = if negative { -coefficient } else { coefficient };
        Self::settle(BigDecimal::new(coefficient, decimals)).map_err(|_| DecimalError::Precision)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (digits, scale) = self.0.as_bigint_and_scale();
        let decimals = usize::try_from(scale).expect("no negative scale");
        let text = format!("{:0>width$}", digits.magnitude().to_string(), width = decimals + 1);
        let (whole, fraction) = text.split_at(text.len() - decimals);
        let point = if fraction.is_empty() { "" } else { "." };
        let sign = if self.is_negative() { "-" } else { "" };
        f.pad(&format!("{sign}{whole}{point}{fraction}"))
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The parts of a JSON number.
struct Spelling<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
    /// Saturated; beyond a few dozen its exact value decides nothing.
    exponent: i64,
}

impl<'a> Spelling<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent_value(exponent)?),
            None => (rest, 0),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((whole, fraction)) if is_digits(fraction) => (whole, fraction),
            Some(_) => return None,
            None => (mantissa, ""),
        };
        let leading_zero = whole.len() > 1 && whole.starts_with('0');
        (is_digits(whole) && !leading_zero).then_some(Self { negative, whole, fraction, exponent })
    }
}

fn exponent_value(text: &str) -> Option<i64> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    let capped = |sum: i64, digit: u8| (sum * 10 + i64::from(digit - b'0')).min(1 << 40);
    is_digits(digits).then(|| sign * digits.bytes().fold(0, capped))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn quotient_half_even(numerator: &BigInt, denominator: &BigInt) -> BigInt {
    let truncated = numerator / denominator;
    let twice_the_rest: BigInt = (numerator % denominator) * 2;
    let away = BigInt::from(if numerator.sign() == denominator.sign() { 1 } else { -1 });
    match twice_the_rest.magnitude().cmp(denominator.magnitude()) {
        std::cmp::Ordering::Less => truncated,
        std::cmp::Ordering::Greater => truncated + away,
        std::cmp::Ordering::Equal if truncated.bit(0) => truncated + away,
        std::cmp::Ordering::Equal => truncated,
    }
}
