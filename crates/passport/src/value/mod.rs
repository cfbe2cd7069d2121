//! Values as documents, facts and rules share them: exact, typed, with one spelling each.

mod arithmetic;
mod calendar;
mod country;
mod decimal;
mod identifier;
mod quantity;
mod unit;

pub use arithmetic::ArithmeticError;
pub use calendar::{CalendarError, Date, Instant, Month, parse_instant};
pub use country::is_country;
pub use decimal::{Decimal, DecimalError, MAX_DECIMALS, MAX_DIGITS};
pub use identifier::{is_cas, is_ec, is_gln, is_gtin};
pub use quantity::Quantity;
pub use unit::{Coherent, Dimension, Unit, UnknownUnit};
