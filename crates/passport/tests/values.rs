//! Numbers, units, days and moments through their public faces.

use std::cmp::Ordering;

use bpc_passport::value::{
    ArithmeticError, Date, Decimal, DecimalError, Dimension, Month, Quantity, Unit, parse_instant,
};
use proptest::prelude::*;

fn dec(text: &str) -> Decimal {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn qty(text: &str) -> Quantity {
    let (value, unit) = text.split_once(' ').expect("a number and a unit");
    Quantity::new(dec(value), unit.parse().expect("a unit"))
}

#[test]
fn numbers_have_one_spelling() {
    for (text, canonical) in [
        ("0", "0"),
        ("-0", "0"),
        ("0.000", "0"),
        ("0e999999999999999999999", "0"),
        ("1.0", "1"),
        ("-1.50", "-1.5"),
        ("1e3", "1000"),
        ("1.5E+2", "150"),
        ("12.5e-3", "0.0125"),
        ("1000e-3", "1"),
        ("9999999999999999999999999999", "9999999999999999999999999999"),
        ("1e27", "1000000000000000000000000000"),
        ("0.000000000000000001", "0.000000000000000001"),
        ("1000000000000000000e-18", "1"),
        ("45.2", "45.2"),
        ("69.14590545404381", "69.14590545404381"),
    ] {
        assert_eq!(dec(text).to_string(), canonical, "{text}");
        assert_eq!(Decimal::parse_canonical(text).is_ok(), text == canonical, "{text}");
        assert_eq!(dec(text), dec(canonical));
    }
}

#[test]
fn what_is_no_number_of_ours_is_refused_by_name() {
    use DecimalError::{Precision, Range, Syntax};
    for (text, error) in [
        ("", Syntax),
        ("-", Syntax),
        ("+1", Syntax),
        ("01", Syntax),
        ("1.", Syntax),
        (".5", Syntax),
        ("1e", Syntax),
        ("1e+", Syntax),
        ("1 ", Syntax),
        ("0x10", Syntax),
        ("NaN", Syntax),
        ("1,5", Syntax),
        ("٣", Syntax),
        ("1e3e4", Syntax),
        ("-1.7976931348623157E308", Range),
        ("1.6111172E38", Range),
        ("1e28", Range),
        ("1e99999999999999999999999999", Range),
        ("1e-19", Precision),
        ("1e-99999999999999999999999999", Precision),
        ("12345678901.123456789012345678", Precision),
        ("12345678901234567890123456789", Range),
    ] {
        assert_eq!(text.parse::<Decimal>(), Err(error), "{text}");
    }
}

#[test]
fn a_megabyte_of_digits_is_refused_at_once() {
    let long = "9".repeat(1 << 20);
    assert_eq!(long.parse::<Decimal>(), Err(DecimalError::Range));
    assert_eq!(format!("0.{long}").parse::<Decimal>(), Err(DecimalError::Precision));
    let zeros = "0".repeat(1 << 20);
    assert_eq!(format!("1.{zeros}").parse::<Decimal>(), Ok(dec("1")));
}

#[test]
fn sums_that_floating_point_misses_are_exact() {
    let sum = ["12.8", "28.5", "1.9", "2"].map(dec).iter().try_fold(dec("0"), |a, b| a.checked_add(b));
    assert_eq!(sum, Ok(dec("45.2")));
    assert_eq!(dec("0.1").checked_add(&dec("0.2")), Ok(dec("0.3")));
}

#[test]
fn results_that_do_not_fit_are_overflow() {
    let most = dec("9999999999999999999999999999");
    let least = dec("0.000000000000000001");
    assert_eq!(most.checked_add(&dec("1")), Err(ArithmeticError::Overflow));
    assert_eq!(most.checked_add(&least), Err(ArithmeticError::Overflow));
    assert_eq!(most.checked_mul(&most), Err(ArithmeticError::Overflow));
    assert_eq!(least.checked_mul(&dec("0.1")), Err(ArithmeticError::Overflow));
    assert_eq!(most.checked_sub(&most), Ok(dec("0")));
    // 2^80 / 10^18 x 5^18 needs more than 28 digits on the way and fits in the end.
    let powers = (dec("1208925.819614629174706176"), dec("3814697265625"));
    assert_eq!(powers.0.checked_mul(&powers.1), Ok(dec("4611686018427387904")));
}

#[test]
fn division_rounds_half_to_even() {
    for (a, b, decimals, quotient) in [
        ("1", "3", 4, "0.3333"),
        ("2", "3", 4, "0.6667"),
        ("1", "8", 2, "0.12"),
        ("3", "8", 2, "0.38"),
        ("-1", "8", 2, "-0.12"),
        ("-3", "8", 2, "-0.38"),
        ("5", "2", 0, "2"),
        ("7", "2", 0, "4"),
        ("0.000000000000000001", "9999999999999999999999999999", 18, "0"),
        ("9999999999999999999999999999", "1", 0, "9999999999999999999999999999"),
    ] {
        assert_eq!(dec(a).div_half_even(&dec(b), decimals), Ok(dec(quotient)), "{a} / {b}");
    }
    assert_eq!(dec("1").div_half_even(&dec("0"), 2), Err(ArithmeticError::DivisionByZero));
    assert_eq!(dec("1").div_half_even(&dec("3"), 19), Err(ArithmeticError::Overflow));
    assert_eq!(
        dec("9999999999999999999999999999").div_half_even(&dec("0.1"), 0),
        Err(ArithmeticError::Overflow)
    );
}

#[test]
fn units_are_the_closed_list() {
    let list = "kg g kWh Wh Ah mAh V mV W kW ohm mohm pct ppm degC kgCO2e gCO2e tCO2e kgCO2e/kWh gCO2e/kWh \
                A/Ah pct/month W/Wh each cycle min h day month year EUR";
    assert_eq!(Unit::ALL.iter().map(|unit| unit.symbol()).collect::<Vec<_>>().join(" "), list);
    for unit in Unit::ALL {
        assert_eq!(unit.symbol().parse(), Ok(*unit));
    }
    assert!("KG".parse::<Unit>().is_err() && "".parse::<Unit>().is_err());
}

#[test]
fn quantities_convert_inside_their_dimension_only() {
    for (from, to, result) in [
        ("450 kg", "g", Ok("450000 g")),
        ("1 g", "kg", Ok("0.001 kg")),
        ("0.1 pct", "ppm", Ok("1000 ppm")),
        ("2 year", "month", Ok("24 month")),
        ("90 min", "h", Ok("1.5 h")),
        ("10 min", "h", Err(ArithmeticError::Overflow)),
        ("2 day", "h", Ok("48 h")),
        ("1 tCO2e", "kgCO2e", Ok("1000 kgCO2e")),
        ("31 day", "month", Err(ArithmeticError::UnitMismatch)),
        ("1 each", "cycle", Err(ArithmeticError::UnitMismatch)),
        ("1 A/Ah", "W/Wh", Err(ArithmeticError::UnitMismatch)),
    ] {
        let converted = qty(from).convert(to.parse().expect("a unit"));
        assert_eq!(converted, result.map(qty), "{from} in {to}");
    }
}

#[test]
fn products_and_quotients_have_their_units() {
    for (a, b, product) in [
        ("190 Ah", "400 V", "76000 Wh"),
        ("400 V", "190000 mAh", "76000 Wh"),
        ("2 kW", "30 min", "1000 Wh"),
        ("65 kgCO2e/kWh", "1000 Wh", "65 kgCO2e"),
        ("3 pct/month", "1 year", "36 pct"),
    ] {
        assert_eq!(qty(a).checked_mul(&qty(b)), Ok(qty(product)), "{a} x {b}");
    }
    let intensity = qty("6500 kgCO2e").div_half_even(&qty("100 kWh"), 3);
    assert_eq!(intensity, Ok(qty("65 kgCO2e/kWh")));
    assert_eq!(qty("76 kWh").div_half_even(&qty("400 V"), 3), Ok(qty("190 Ah")));
    assert_eq!(qty("1 kg").checked_mul(&qty("1 kg")), Err(ArithmeticError::UnitMismatch));
    assert_eq!(qty("1 kg").ratio(&qty("3 g"), 2), Ok(dec("333.33")));
    assert_eq!(qty("1 kg").ratio(&qty("3 V"), 2), Err(ArithmeticError::UnitMismatch));
}

#[test]
fn amounts_compare_across_units_of_a_dimension() {
    assert_eq!(qty("2 kWh").compare(&qty("2000 Wh")), Ok(Ordering::Equal));
    assert_eq!(qty("1999.9 Wh").compare(&qty("2 kWh")), Ok(Ordering::Less));
    assert_eq!(qty("2 kWh").checked_sub(&qty("1 Wh")), Ok(qty("1999 Wh")));
    assert_eq!(qty("1 kg").compare(&qty("1 V")), Err(ArithmeticError::UnitMismatch));
    assert_eq!(Unit::Kilogram.dimension(), Dimension::Mass);
}

#[test]
fn days_and_months_are_those_of_the_calendar() {
    for text in ["2027-02-18", "2024-02-29", "0001-01-01", "9999-12-31"] {
        assert_eq!(text.parse::<Date>().expect(text).to_string(), text);
    }
    for text in [
        "7172-75-08",
        "27.04.2022",
        "2023-02-29",
        "2023-2-9",
        "0000-01-01",
        "2023-01-01Z",
        " 2023-01-01",
        "",
        "2023-01-0١",
    ] {
        assert!(text.parse::<Date>().is_err(), "{text}");
    }
    let date: Date = "2028-02-28".parse().expect("a day");
    assert_eq!(date.plus_days(2).map(|d| d.to_string()).as_deref(), Some("2028-03-01"));
    assert_eq!(date.plus_days(i64::MIN), None);
    assert_eq!("0001-01-01".parse::<Date>().expect("a day").plus_days(-1), None);
    assert_eq!(date.month(), "2028-02".parse::<Month>().expect("a month"));
    assert_eq!(date.month().first_day().to_string(), "2028-02-01");
    for text in ["2024-13", "2024-00", "2024", "--06", "2024-1"] {
        assert!(text.parse::<Month>().is_err(), "{text}");
    }
}

#[test]
fn moments_are_read_in_any_offset_and_kept_in_utc() {
    for (text, kept) in [
        ("2022-12-31T23:59:59Z", Some("2022-12-31T23:59:59.000000Z")),
        ("2023-12-07T10:39:13.576+01:00", Some("2023-12-07T09:39:13.576000Z")),
        ("2022-02-03t14:48:54.709z", Some("2022-02-03T14:48:54.709000Z")),
        ("2016-12-31T23:59:60Z", None),
        ("1969-12-31T23:59:59Z", None),
        ("2022-12-31", None),
        ("", None),
    ] {
        assert_eq!(parse_instant(text).ok().map(|moment| moment.to_string()).as_deref(), kept, "{text}");
    }
    let moment = parse_instant("2023-01-01T00:30:00+01:00").expect("a moment");
    assert_eq!(Date::of(moment).to_string(), "2022-12-31");
}

/// A number of at most 12 digits as (coefficient, decimals): its sums and products fit in 128 bits,
/// which is the arithmetic that the properties compare with.
fn small() -> impl Strategy<Value = (i128, u8)> {
    (-999_999_999_999_i128..=999_999_999_999, 0_u8..=9)
}

fn number((coefficient, decimals): (i128, u8)) -> Decimal {
    Decimal::from_coefficient(coefficient, decimals).expect("fits")
}

proptest! {
    #[test]
    fn text_reads_back(a in small()) {
        let text = number(a).to_string();
        prop_assert_eq!(Decimal::parse_canonical(&text), Ok(number(a)));
        prop_assert!(!text.contains('.') || !text.ends_with('0'));
    }

    #[test]
    fn sums_and_products_agree_with_integers(a in small(), b in small()) {
        let at_nine = |(coefficient, decimals): (i128, u8)| coefficient * 10_i128.pow(9 - u32::from(decimals));
        let sum = Decimal::from_coefficient(at_nine(a) + at_nine(b), 9).expect("fits");
        prop_assert_eq!(number(a).checked_add(&number(b)), Ok(sum));
        let difference = Decimal::from_coefficient(at_nine(a) - at_nine(b), 9).expect("fits");
        prop_assert_eq!(number(a).checked_sub(&number(b)), Ok(difference));
        let product = Decimal::from_coefficient(a.0 * b.0, a.1 + b.1).expect("fits");
        prop_assert_eq!(number(a).checked_mul(&number(b)), Ok(product));
        prop_assert_eq!(number(a).cmp(&number(b)), at_nine(a).cmp(&at_nine(b)));
    }

    #[test]
    fn a_rounded_quotient_is_off_by_at_most_half_a_step(a in small(), b in small(), decimals in 0_u8..=9) {
        prop_assume!(b.0 != 0);
        let quotient = number(a).div_half_even(&number(b), decimals).expect("fits");
        let (coefficient, places) = quotient.coefficient_and_decimals();
        prop_assert!(places <= decimals);
        // |a - q b| <= |b| x step / 2, over a common denominator of 10^27.
        let ten = |power: u8| 10_i128.pow(power.into());
        let scaled = |coefficient: i128, decimals: u8| coefficient.checked_mul(ten(18 - decimals));
        let q_times_b = coefficient.checked_mul(b.0).and_then(|product| scaled(product, places + b.1));
        if let (Some(q_times_b), Some(a), Some(b)) = (q_times_b, scaled(a.0, a.1), scaled(b.0, b.1))
            && let Some(off) = (a - q_times_b).abs().checked_mul(2 * ten(decimals))
        {
            prop_assert!(off <= b.abs());
        }
    }

    #[test]
    fn any_text_is_a_number_or_an_error(text in "[-+0-9.eE]{0,40}") {
        if let Ok(number) = text.parse::<Decimal>() {
            prop_assert_eq!(Decimal::parse_canonical(&number.to_string()), Ok(number));
        }
    }
}
