//! Numbers with a unit.

use std::cmp::Ordering;
use std::fmt;

use serde::{Serialize, Serializer};

use super::arithmetic::ArithmeticError;
use super::decimal::Decimal;
use super::unit::Unit;

/// A number with a unit, written `{"u":"kWh","v":"76"}`.
///
/// Equality is of both parts: `1 kg` and `1000 g` are different texts and so different values;
/// [`compare`](Self::compare) says that they weigh the same.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Quantity {
    /// How many.
    pub value: Decimal,
    /// Of what.
    pub unit: Unit,
}

impl Quantity {
    /// That many of that unit.
    #[must_use]
    pub fn new(value: Decimal, unit: Unit) -> Self {
        Self { value, unit }
    }

    /// The same amount in another unit of the same dimension, exactly.
    ///
    /// # Errors
    ///
    /// [`ArithmeticError::UnitMismatch`] across dimensions; [`ArithmeticError::Overflow`] if the
    /// number has no exact form there (10 min in hours).
    pub fn convert(&self, to: Unit) -> Result<Self, ArithmeticError> {
        if self.unit == to {
            return Ok(self.clone());
        }
        if self.unit.dimension() != to.dimension() {
            return Err(ArithmeticError::UnitMismatch);
        }
        let (from, into) = (self.unit.in_finest(), to.in_finest());
        let value = if from % into == 0 {
            self.value.checked_mul(&Decimal::from(from / into))?
        } else if into % from == 0 {
            self.value.div_exact(&Decimal::from(into / from))?
        } else {
            self.value.checked_mul(&Decimal::from(from))?.div_exact(&Decimal::from(into))?
        };
        Ok(Self::new(value, to))
    }

    /// The sum, in the finer of the two units.
    ///
    /// # Errors
    ///
    /// [`ArithmeticError::UnitMismatch`] across dimensions; [`ArithmeticError::Overflow`].
    pub fn checked_add(&self, other: &Self) -> Result<Self, ArithmeticError> {
        let (left, right, unit) = self.in_common(other)?;
        Ok(Self::new(left.checked_add(&right)?, unit))
    }

    /// The difference, in the finer of the two units.
    ///
    /// # Errors
    ///
    /// [`ArithmeticError::UnitMismatch`] across dimensions; [`ArithmeticError::Overflow`].
    pub fn checked_sub(&self, other: &Self) -> Result<Self, ArithmeticError> {
        let (left, right, unit) = self.in_common(other)?;
        Ok(Self::new(left.checked_sub(&right)?, unit))
    }

    /// The product, in the unit that [`Unit::product`] names.
    ///
    /// # Errors
    ///
    /// [`ArithmeticError::UnitMismatch`] if there is no such unit; [`ArithmeticError::Overflow`].
    pub fn checked_mul(&self, other: &Self) -> Result<Self, ArithmeticError> {
        let units = self.unit.product(other.unit).ok_or(ArithmeticError::UnitMismatch)?;
        let (left, right) = (self.convert(units.left)?, other.convert(units.right)?);
        Ok(Self::new(left.value.checked_mul(&right.value)?, units.result))
    }

    /// The quotient rounded half to even at `decimals`, in the unit that [`Unit::quotient`] names.
    ///
    /// # Errors
    ///
    /// [`ArithmeticError::UnitMismatch`] if there is no such unit; otherwise as for numbers.
    pub fn div_half_even(&self, by: &Self, decimals: u8) -> Result<Self, ArithmeticError> {
        let units = self.unit.quotient(by.unit).ok_or(ArithmeticError::UnitMismatch)?;
        let (left, right) = (self.convert(units.left)?, by.convert(units.right)?);
        Ok(Self::new(left.value.div_half_even(&right.value, decimals)?, units.result))
    }

    /// How many times `other` this is, rounded half to even at `decimals`: a bare number.
    ///
    /// # Errors
    ///
    /// [`ArithmeticError::UnitMismatch`] across dimensions; otherwise as for numbers.
    pub fn ratio(&self, other: &Self, decimals: u8) -> Result<Decimal, ArithmeticError> {
        let (left, right, _) = self.in_common(other)?;
        left.div_half_even(&right, decimals)
    }

    /// That many times as much.
    ///
    /// # Errors
    ///
    /// [`ArithmeticError::Overflow`].
    pub fn scale(&self, by: &Decimal) -> Result<Self, ArithmeticError> {
        Ok(Self::new(self.value.checked_mul(by)?, self.unit))
    }

    /// Which is more.
    ///
    /// # Errors
    ///
    /// [`ArithmeticError::UnitMismatch`] across dimensions; [`ArithmeticError::Overflow`] if a
    /// number does not fit in the finer of the two units.
    pub fn compare(&self, other: &Self) -> Result<Ordering, ArithmeticError> {
        let (left, right, _) = self.in_common(other)?;
        Ok(left.cmp(&right))
    }

    /// The same amount without its sign.
    #[must_use]
    pub fn abs(&self) -> Self {
        Self::new(self.value.abs(), self.unit)
    }

    fn in_common(&self, other: &Self) -> Result<(Decimal, Decimal, Unit), ArithmeticError> {
        let unit = self.unit.finer(other.unit).ok_or(ArithmeticError::UnitMismatch)?;
        Ok((self.convert(unit)?.value, other.convert(unit)?.value, unit))
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.value, self.unit)
    }
}

impl fmt::Debug for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut fields = serializer.serialize_struct("Quantity", 2)?;
        fields.serialize_field("u", &self.unit)?;
        fields.serialize_field("v", &self.value)?;
        fields.end()
    }
}
