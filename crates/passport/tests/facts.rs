//! Schemas as data, facts as they allow them.

use bpc_passport::facts::{Access, Fact, FactType, Field, FieldType, Fields, Value, escape_segment};
use bpc_passport::value::{Quantity, Unit};

fn facility() -> Fields {
    Fields::from([
        ("country", Value::Text("DE".into())),
        ("id_scheme", Value::Tag("gln")),
        ("operator_id", Value::Text("9521234000006".into())),
        ("place", Value::Text("Stuttgart".into())),
    ])
}

fn codes(fact: Result<Fact, Vec<bpc_passport::facts::Problem>>) -> Vec<(&'static str, String)> {
    fact.expect_err("refused").into_iter().map(|problem| (problem.code, problem.pointer)).collect()
}

#[test]
fn schemas_are_sorted_named_and_closed() {
    fn check(fields: &[Field]) {
        assert!(fields.windows(2).all(|pair| pair[0].name < pair[1].name), "{fields:?}");
        for field in fields {
            let mut name = field.name.bytes();
            assert!(name.next().is_some_and(|first| first.is_ascii_lowercase()), "{}", field.name);
            assert!(name.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'));
            nested(&field.field_type);
        }
    }
    fn nested(field_type: &FieldType) {
        match field_type {
            FieldType::List(items) => nested(items),
            FieldType::Rec(fields) => check(fields),
            _ => {}
        }
    }
    for fact_type in FactType::ALL {
        let schema = fact_type.schema();
        assert_eq!(schema.fact_type, *fact_type);
        assert_eq!(FactType::from_name(fact_type.name()), Some(*fact_type));
        check(schema.fields);
        for name in schema.one_of.iter().copied().flatten() {
            assert!(schema.field(name).is_some_and(|field| !field.required), "{name}");
        }
    }
}

#[test]
fn a_fact_has_one_payload_and_one_hash() {
    let fact = Fact::new(FactType::Facility, "facility:9521234000013", facility()).expect("a fact");
    assert_eq!(
        fact.payload().as_str(),
        r#"{"country":"DE","id_scheme":"gln","operator_id":"9521234000006","place":"Stuttgart"}"#
    );
    // printf '%s' '<the payload above>' | sha256sum
    assert_eq!(
        fact.payload_hash().to_string(),
        "fe2056c3a93cb54b0b24837acdcde2979dd54407f43fe5a05fad27f5a7c70479"
    );
    assert_eq!(fact.id().key, "facility:9521234000013");
    assert_eq!(fact.sku(), None);
}

#[test]
fn every_problem_of_a_fact_is_named() {
    let mut fields = facility();
    fields.remove("place");
    fields.insert("country", Value::Text("XX".into()));
    fields.insert("colour", Value::Bool(true));
    fields.insert("operator_id", Value::Int(7));
    let key = "facility:a/b".to_owned();
    assert_eq!(
        codes(Fact::new(FactType::Facility, key, fields)),
        [
            ("COUNTRY_INVALID", "/country".to_owned()),
            ("TYPE_MISMATCH", "/operator_id".to_owned()),
            ("FIELD_MISSING", "/place".to_owned()),
            ("FIELD_UNKNOWN", "/colour".to_owned()),
            ("KEY_INVALID", String::new()),
            ("GLN_INVALID", String::new()),
        ]
    );
}

#[test]
fn units_and_bounds_are_those_of_the_schema() {
    let share = |value: &str, unit| Quantity::new(value.parse().expect("a number"), unit);
    let fact = |quantity| {
        Fact::new(
            FactType::Renewable,
            "renewable:SKU-1/PLANT-A/2024",
            Fields::from([("share", Value::Qty(quantity))]),
        )
    };
    assert!(fact(share("100", Unit::Percent)).is_ok());
    assert_eq!(codes(fact(share("100.1", Unit::Percent))), [("VALUE_RANGE", "/share".to_owned())]);
    assert_eq!(codes(fact(share("-1", Unit::Percent))), [("VALUE_RANGE", "/share".to_owned())]);
    assert_eq!(codes(fact(share("1", Unit::PartPerMillion))), [("UNIT_MISMATCH", "/share".to_owned())]);
}

#[test]
fn one_of_a_group_is_enough() {
    let role = ("role", Value::Tag("cathode"));
    let key = "material:SKU-1/cathode/7440-02-0";
    let nickel = Fields::from([role.clone(), ("cas", Value::Text("7440-02-0".into()))]);
    assert!(Fact::new(FactType::Material, key, nickel).is_ok());
    let nothing = codes(Fact::new(FactType::Material, key, Fields::from([role])));
    assert_eq!(nothing, [("FIELD_MISSING", String::new())]);
}

#[test]
fn keys_carry_any_text_and_nothing_that_separates() {
    assert_eq!(escape_segment("8703 24/10"), "8703%2024%2F10");
    assert_eq!(escape_segment("urn:uuid:1"), "urn:uuid:1");
    assert_eq!(escape_segment("ü\u{1f}"), "%C3%BC%1F");
    let schema = FactType::Pcf.schema();
    assert_eq!(schema.key(&["SKU/1", "PLANT-A"]), "pcf:SKU%2F1/PLANT-A");
    assert_eq!(schema.key_form(), "pcf:<sku>/<facility>");
    for key in ["pcf:SKU-1", "pcf:/PLANT", "pcf:a/b/c", "battery:a/b", "pcf:a b/c", "pcf:\u{1f}/c", "", "pcf"]
    {
        assert!(schema.check_key(key).is_err(), "{key}");
    }
}

#[test]
fn documents_are_as_open_as_their_kind() {
    for (kind, access) in [
        ("doc_of_conformity", Access::Public),
        ("dismantling", Access::Restricted),
        ("test_report", Access::Authority),
        ("negative_events", Access::Interest),
    ] {
        let fields = Fields::from([
            ("kind", Value::Tag(kind)),
            ("title", Value::Text("A document".into())),
            ("url", Value::Text("https://example.com/a.pdf".into())),
        ]);
        let fact = Fact::new(FactType::Document, format!("doc:SKU-1/{kind}/1"), fields).expect("a fact");
        assert_eq!(fact.access("url"), access, "{kind}");
        assert_eq!(fact.sku(), Some("SKU-1"));
    }
}

#[test]
fn a_hazard_code_is_told_from_any_other_text() {
    let form = bpc_passport::facts::TextForm::HazardCode;
    for text in ["H350", "H360FD", "EUH066"] {
        assert!(form.admits(text), "{text}");
    }
    for text in ["", "H", "H35", "Hé€", "Hé€é", "350", "H350 ", "EUH", "H350FDXX"] {
        assert!(!form.admits(text), "{text}");
    }
}
