//! How documents spell units.

use crate::value::Unit;

/// Spellings beside our own symbols: of BatteryPass-Ready, of Catena-X (`unit:` names of the SAMM
/// unit catalogue) and of UN/CEFACT Recommendation 20 (`KGM`).
const SPELLINGS: &[(&str, Unit)] = &[
    ("%", Unit::Percent),
    ("°C", Unit::DegreeCelsius),
    ("℃", Unit::DegreeCelsius),
    ("Ohm", Unit::Ohm),
    ("Ω", Unit::Ohm),
    ("Ω", Unit::Ohm),
    ("%/month", Unit::PercentPerMonth),
    ("kgCO2-eq/kWh", Unit::KilogramCo2ePerKilowattHour),
    ("kgCO₂-eq/kWh", Unit::KilogramCo2ePerKilowattHour),
    ("kg CO2 / kWh", Unit::KilogramCo2ePerKilowattHour),
    ("kg CO2e/kWh", Unit::KilogramCo2ePerKilowattHour),
    ("unit:kilogram", Unit::Kilogram),
    ("unit:gram", Unit::Gram),
    ("unit:kilowattHour", Unit::KilowattHour),
    ("unit:wattHour", Unit::WattHour),
    ("unit:ampereHour", Unit::AmpereHour),
    ("unit:milliampereHour", Unit::MilliampereHour),
    ("unit:volt", Unit::Volt),
    ("unit:millivolt", Unit::Millivolt),
    ("unit:watt", Unit::Watt),
    ("unit:kilowatt", Unit::Kilowatt),
    ("unit:ohm", Unit::Ohm),
    ("unit:milliohm", Unit::Milliohm),
    ("unit:percent", Unit::Percent),
    ("unit:partPerMillion", Unit::PartPerMillion),
    ("unit:degreeCelsius", Unit::DegreeCelsius),
    ("unit:piece", Unit::Each),
    ("unit:item", Unit::Each),
    ("unit:unitOne", Unit::Each),
    ("unit:cycle", Unit::Cycle),
    ("unit:minuteUnitOfTime", Unit::Minute),
    ("unit:hourUnitOfTime", Unit::Hour),
    ("unit:day", Unit::Day),
    ("unit:month", Unit::Month),
    ("unit:year", Unit::Year),
    ("KGM", Unit::Kilogram),
    ("GRM", Unit::Gram),
    ("KWH", Unit::KilowattHour),
    ("WHR", Unit::WattHour),
    ("AMH", Unit::AmpereHour),
    ("E09", Unit::MilliampereHour),
    ("VLT", Unit::Volt),
    ("2Z", Unit::Millivolt),
    ("WTT", Unit::Watt),
    ("KWT", Unit::Kilowatt),
    ("OHM", Unit::Ohm),
    ("E45", Unit::Milliohm),
    ("P1", Unit::Percent),
    ("59", Unit::PartPerMillion),
    ("CEL", Unit::DegreeCelsius),
    ("C62", Unit::Each),
    ("H87", Unit::Each),
    ("MIN", Unit::Minute),
    ("HUR", Unit::Hour),
    ("DAY", Unit::Day),
    ("MON", Unit::Month),
    ("ANN", Unit::Year),
    ("EUR", Unit::Euro),
];

/// The unit that a document means; spaces around it do not count.
pub(super) fn unit_of(text: &str) -> Option<Unit> {
    let text = text.trim();
    let listed = SPELLINGS.iter().find(|(spelling, _)| *spelling == text).map(|(_, unit)| *unit);
    listed.or_else(|| text.parse().ok())
}
