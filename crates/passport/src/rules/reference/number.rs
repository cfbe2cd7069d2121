//! Rational numbers, and which of them the language can hold.

use num_bigint::BigInt;
use num_rational::Ratio;
use num_traits::{Signed, ToPrimitive, Zero};

use crate::value::Decimal;

pub(super) type Number = Ratio<BigInt>;

/// Every number that the language can hold is a multiple of one part in so many.
const FINEST: i64 = 1_000_000_000_000_000_000;

pub(super) fn of(decimal: &Decimal) -> Number {
    let (coefficient, decimals) = decimal.coefficient_and_decimals();
    Ratio::new(BigInt::from(coefficient), BigInt::from(10).pow(decimals.into()))
}

pub(super) fn of_integer(integer: i64) -> Number {
    Ratio::from_integer(BigInt::from(integer))
}

/// The number, if the language can hold it: at most 18 decimals and 28 digits.
pub(super) fn held(number: Number) -> Option<Number> {
    let scaled = &number * of_integer(FINEST);
    if !scaled.is_integer() {
        return None;
    }
    text_digits(&number).filter(|digits| digits.len() <= 28).map(|_| number)
}

/// The quotient rounded half to even at so many decimals.
pub(super) fn rounded(quotient: &Number, decimals: u8) -> Number {
    let power = Ratio::from_integer(BigInt::from(10).pow(decimals.into()));
    let scaled = quotient * &power;
    let floor = scaled.floor();
    let rest = &scaled - &floor;
    let half = Ratio::new(BigInt::from(1), BigInt::from(2));
    let floor_is_even = (floor.to_integer() % BigInt::from(2)).is_zero();
    let up = rest > half || (rest == half && !floor_is_even);
    let whole = if up { floor + Ratio::from_integer(BigInt::from(1)) } else { floor };
    whole / power
}

/// The text of a number with at most 18 decimals.
pub(super) fn text(number: &Number) -> String {
    let scaled = (number * of_integer(FINEST)).to_integer();
    let digits = format!("{:0>19}", scaled.abs().to_string());
    let (whole, fraction) = digits.split_at(digits.len() - 18);
    let fraction = fraction.trim_end_matches('0');
    let sign = if number.is_negative() { "-" } else { "" };
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

pub(super) fn integer(number: &Number) -> Option<i64> {
    if number.is_integer() { number.to_integer().to_i64() } else { None }
}

/// The digits that are left when the decimals' trailing zeros are dropped.
fn text_digits(number: &Number) -> Option<String> {
    let text = text(number);
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    Some(digits.trim_start_matches('0').to_owned())
}
