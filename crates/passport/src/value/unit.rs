//! The closed list of units, their dimensions, and what multiplies to what.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

macro_rules! units {
    ($($unit:ident $symbol:literal $dimension:ident $finest:literal;)*) => {
        /// A unit of measure. The list is closed: a unit outside it is refused, not guessed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Unit {
            $(#[doc = concat!("`", $symbol, "`")] $unit,)*
        }

        impl Unit {
            /// All of them.
            pub const ALL: &[Unit] = &[$(Unit::$unit,)*];

            /// How it is written.
            #[must_use]
            pub const fn symbol(self) -> &'static str {
                match self { $(Unit::$unit => $symbol,)* }
            }

            /// What it measures.
            #[must_use]
            pub const fn dimension(self) -> Dimension {
                match self { $(Unit::$unit => Dimension::$dimension,)* }
            }

            /// How many of the finest unit of its dimension it holds.
            #[must_use]
            pub const fn in_finest(self) -> i64 {
                match self { $(Unit::$unit => $finest,)* }
            }
        }
    };
}

units! {
    Kilogram "kg" Mass 1000;
    Gram "g" Mass 1;
    KilowattHour "kWh" Energy 1000;
    WattHour "Wh" Energy 1;
    AmpereHour "Ah" Charge 1000;
    MilliampereHour "mAh" Charge 1;
    Volt "V" Voltage 1000;
    Millivolt "mV" Voltage 1;
    Watt "W" Power 1;
    Kilowatt "kW" Power 1000;
    Ohm "ohm" Resistance 1000;
    Milliohm "mohm" Resistance 1;
    Percent "pct" Share 10_000;
    PartPerMillion "ppm" Share 1;
    DegreeCelsius "degC" Temperature 1;
    KilogramCo2e "kgCO2e" Carbon 1000;
    GramCo2e "gCO2e" Carbon 1;
    TonneCo2e "tCO2e" Carbon 1_000_000;
    KilogramCo2ePerKilowattHour "kgCO2e/kWh" CarbonIntensity 1000;
    GramCo2ePerKilowattHour "gCO2e/kWh" CarbonIntensity 1;
    AmperePerAmpereHour "A/Ah" ChargeRate 1;
    PercentPerMonth "pct/month" SelfDischarge 1;
    WattPerWattHour "W/Wh" PowerRatio 1;
    Each "each" Count 1;
    Cycle "cycle" Cycles 1;
    Minute "min" Duration 1;
    Hour "h" Duration 60;
    Day "day" Duration 1440;
    Month "month" CalendarSpan 1;
    Year "year" CalendarSpan 12;
    Euro "EUR" Money 1;
}

/// What a unit measures. Units convert inside one dimension only. Days do not convert to months.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it; the table of units says the rest")]
pub enum Dimension {
    Mass,
    Energy,
    Charge,
    Voltage,
    Power,
    Resistance,
    Share,
    Temperature,
    Carbon,
    CarbonIntensity,
    ChargeRate,
    SelfDischarge,
    PowerRatio,
    Count,
    Cycles,
    Duration,
    CalendarSpan,
    Money,
}

/// Left x right = result, each row in units whose numbers simply multiply.
const PRODUCTS: &[(Unit, Unit, Unit)] = &[
    (Unit::AmpereHour, Unit::Volt, Unit::WattHour),
    (Unit::Watt, Unit::Hour, Unit::WattHour),
    (Unit::KilogramCo2ePerKilowattHour, Unit::KilowattHour, Unit::KilogramCo2e),
    (Unit::WattPerWattHour, Unit::WattHour, Unit::Watt),
    (Unit::PercentPerMonth, Unit::Month, Unit::Percent),
];

/// Three units whose numbers multiply (or divide) without a factor: what to convert two operands
/// to, and what the result is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coherent {
    /// The unit for the left operand.
    pub left: Unit,
    /// The unit for the right operand.
    pub right: Unit,
    /// The unit of the result.
    pub result: Unit,
}

impl Unit {
    /// The finer of two units of one dimension: converting to it is always exact. `None` if they
    /// measure different things.
    #[must_use]
    pub fn finer(self, other: Unit) -> Option<Unit> {
        let same = self.dimension() == other.dimension();
        same.then_some(if self.in_finest() <= other.in_finest() { self } else { other })
    }

    /// How to multiply by `other`, if there is a unit for it: `Ah x V` gives `Wh`.
    #[must_use]
    pub fn product(self, other: Unit) -> Option<Coherent> {
        let is = |unit: Unit, row: Unit| unit.dimension() == row.dimension();
        PRODUCTS.iter().find_map(|&(a, b, result)| {
            if is(self, a) && is(other, b) {
                Some(Coherent { left: a, right: b, result })
            } else if is(self, b) && is(other, a) {
                Some(Coherent { left: b, right: a, result })
            } else {
                None
            }
        })
    }

    /// How to divide by `other`, if there is a unit for it: `kgCO2e / kWh` gives `kgCO2e/kWh`.
    /// Two units of one dimension divide to a bare number, which is not asked here.
    #[must_use]
    pub fn quotient(self, other: Unit) -> Option<Coherent> {
        let is = |unit: Unit, row: Unit| unit.dimension() == row.dimension();
        PRODUCTS.iter().find_map(|&(a, b, whole)| {
            if !is(self, whole) {
                None
            } else if is(other, a) {
                Some(Coherent { left: whole, right: a, result: b })
            } else if is(other, b) {
                Some(Coherent { left: whole, right: b, result: a })
            } else {
                None
            }
        })
    }
}

/// The text names no unit of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a unit of the list, such as kg, kWh, Ah, V, pct or kgCO2e/kWh")]
pub struct UnknownUnit;

impl FromStr for Unit {
    type Err = UnknownUnit;
    fn from_str(text: &str) -> Result<Self, UnknownUnit> {
        Self::ALL.iter().copied().find(|unit| unit.symbol() == text).ok_or(UnknownUnit)
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.symbol())
    }
}

impl Serialize for Unit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.symbol())
    }
}
