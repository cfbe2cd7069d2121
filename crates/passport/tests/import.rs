//! Documents to facts, on the public samples.

mod common;

use bpc_passport::facts::{FactType, Value};
use bpc_passport::import::{DocumentKind, Format, ImportError, Imported, Request, import};
use common::data;

fn read(file: &str, kind: DocumentKind) -> Result<Imported, ImportError> {
    import(Request { bytes: &data(file), kind, format: Format::Auto, sku: None })
}

fn native(text: &str, kind: DocumentKind) -> Result<Imported, ImportError> {
    import(Request { bytes: text.as_bytes(), kind, format: Format::Native, sku: None })
}

fn problems(result: Result<Imported, ImportError>) -> Vec<(&'static str, String)> {
    let error = result.expect_err("refused");
    error.problems().iter().map(|problem| (problem.code, problem.pointer.clone())).collect()
}

fn counts(imported: &Imported) -> Vec<(&'static str, usize)> {
    let count = |fact_type: &FactType| {
        let found = imported.facts.iter().filter(|found| found.fact.fact_type() == *fact_type).count();
        (fact_type.name(), found)
    };
    FactType::ALL.iter().map(count).filter(|(_, found)| *found > 0).collect()
}

fn field<'a>(imported: &'a Imported, key: &str, name: &str) -> &'a Value {
    let found = imported.facts.iter().find(|found| found.fact.key() == key);
    found.and_then(|found| found.fact.field(name)).unwrap_or_else(|| panic!("no {key} {name}"))
}

#[test]
fn a_batterypass_ready_passport_gives_its_facts() {
    for (file, sku) in [
        ("batterypass-ready/ev.gefeg.json", "09521234010012"),
        ("batterypass-ready/other-industrial.gefeg.json", "09521002005004"),
    ] {
        let bom = read(file, DocumentKind::Bom).expect(file);
        assert_eq!(bom.format, Format::BatteryPass);
        assert_eq!(
            counts(&bom),
            [
                ("Battery", 1),
                ("Operator", 2),
                ("Facility", 1),
                ("Material", 5),
                ("RecycledShare", 4),
                ("Renewable", 1),
                ("Document", 18),
                ("State", 1)
            ]
        );
        assert!(bom.facts.iter().all(|found| found.fact.sku().is_none_or(|found| found == sku)));
        let pcf = read(file, DocumentKind::Pcf).expect(file);
        assert_eq!(counts(&pcf), [("PCF", 1)]);
        assert_eq!(pcf.facts[0].fact.key(), format!("pcf:{sku}/9521234000013"));
        let report = read(file, DocumentKind::DueDiligence).expect(file);
        assert_eq!(counts(&report), [("Document", 2)]);
    }
}

#[test]
fn numbers_are_those_of_the_text() {
    let pcf = read("batterypass-ready/other-industrial.gefeg.json", DocumentKind::Pcf).expect("a footprint");
    let fact = &pcf.facts[0].fact;
    let stages = ["stage_raw", "stage_production", "stage_distribution", "stage_eol"].map(|stage| match fact
        .field(stage)
    {
        Some(Value::Qty(quantity)) => quantity.clone(),
        other => panic!("{stage}: {other:?}"),
    });
    let sum = stages
        .iter()
        .skip(1)
        .try_fold(stages[0].clone(), |sum, stage| sum.checked_add(stage))
        .expect("a sum");
    assert_eq!(Some(&Value::Qty(sum)), fact.field("per_unit"), "45.2 exactly, which floating point misses");
    assert_ne!(18.5_f64 + 15.3 + 2.8 + 8.6, 45.2);
}

#[test]
fn every_field_says_where_it_was_read() {
    let bom = read("batterypass-ready/ev.gefeg.json", DocumentKind::Bom).expect("facts");
    let battery =
        bom.facts.iter().find(|found| found.fact.fact_type() == FactType::Battery).expect("a battery");
    assert_eq!(battery.sources["mass"], "/Battery_Passport/IdentifiersAndProductData/BatteryMass");
    assert_eq!(battery.sources.keys().collect::<Vec<_>>(), battery.fact.fields().keys().collect::<Vec<_>>());
    let hash = "a127dba8f913af306a82d0775cf0a959000b4dddf062df1fbc788eac6d3f05e8";
    assert_eq!(bom.document_hash.to_string(), hash, "sha256sum of the file");
}

#[test]
fn a_gs1_passport_gives_materials_with_their_masses() {
    let bom = read("batterypass-ready/ev.source.json", DocumentKind::Bom).expect("facts");
    assert_eq!(
        counts(&bom),
        [
            ("Battery", 1),
            ("Operator", 1),
            ("Facility", 1),
            ("Material", 6),
            ("RecycledShare", 4),
            ("Renewable", 1),
            ("Document", 13)
        ]
    );
    // 4.2 % of 450 kg.
    let mass = field(&bom, "material:09521234010012/cathode/7439-93-2", "mass");
    assert_eq!(format!("{mass:?}"), "Qty(18.9 kg)");
    // 7.2 kW, kept in W.
    assert_eq!(format!("{:?}", field(&bom, "battery:09521234010012", "power_80soc")), "Qty(7200 W)");
    assert_eq!(
        counts(&read("batterypass-ready/ev.source.json", DocumentKind::Pcf).expect("facts")),
        [("PCF", 1)]
    );
}

#[test]
fn impossible_values_of_generator_samples_are_named() {
    let found = problems(read(
        "batterypass-samm/CarbonFootprintForBatteries-1.2.0-payload.utf16le.json",
        DocumentKind::Pcf,
    ));
    for expected in [
        ("SKU_MISSING", ""),
        ("DEC_RANGE", "/absoluteCarbonFootprint"),
        ("DEC_RANGE", "/batteryCarbonFootprint"),
        ("DEC_RANGE", "/carbonFootprintPerLifecycleStage/0/carbonFootprint"),
        ("URL_INVALID", "/carbonFootprintStudy"),
        ("FIELD_MISSING", "/carbonFootprintPerLifecycleStage"),
    ] {
        assert!(
            found.iter().any(|(code, pointer)| (*code, pointer.as_str()) == expected),
            "{expected:?} in {found:?}"
        );
    }
    assert_eq!(
        problems(read("batterypass-samm/MaterialComposition-1.2.0-payload.utf16le.json", DocumentKind::Bom)),
        [
            ("SKU_MISSING", ""),
            ("CAS_INVALID", "/batteryMaterials/0/batteryMaterialIdentifier"),
            ("DEC_RANGE", "/batteryMaterials/0/batteryMaterialMass"),
            ("DEC_RANGE", "/hazardousSubstances/0/hazardousSubstanceConcentration"),
            ("CAS_INVALID", "/hazardousSubstances/0/hazardousSubstanceIdentifier"),
        ]
        .map(|(code, pointer)| (code, pointer.to_owned()))
    );
    assert_eq!(
        problems(read("catenax/BatteryPass-6.1.0.json", DocumentKind::Bom)),
        [
            ("CAS_INVALID", "/materials/composition/0/id/0/id"),
            ("CAS_INVALID", "/materials/hazardous/other/0/materialIdentification/0/id"),
            ("DATE_INVALID", "/operation/intoServiceDate"),
        ]
        .map(|(code, pointer)| (code, pointer.to_owned()))
    );
    let general =
        problems(read("batterypass-samm/GeneralProductInformation-1.2.0-payload.json", DocumentKind::Bom));
    assert!(
        general
            .contains(&("COUNTRY_INVALID", "/operatorInformation/postalAddress/addressCountry".to_owned()))
    );
}

#[test]
fn utf16_of_either_order_reads_like_utf8() {
    let text = std::str::from_utf8(&data("batterypass-ready/ev.gefeg.json")).expect("UTF-8").to_owned();
    let of = |bytes: &[u8]| {
        import(Request { bytes, kind: DocumentKind::Bom, format: Format::Auto, sku: None })
            .expect("facts")
            .facts
    };
    let plain = of(text.as_bytes());
    let little: Vec<u8> =
        [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect();
    assert!(of(&little) == plain && of(&big) == plain && of(format!("\u{feff}{text}").as_bytes()) == plain);
    let odd = import(Request {
        bytes: &little[..little.len() - 1],
        kind: DocumentKind::Bom,
        format: Format::Auto,
        sku: None,
    });
    assert_eq!(problems(odd), [("ENCODING_INVALID", String::new())]);
}

#[test]
fn catenax_samples_that_map_are_imported() {
    let built = read("catenax/SingleLevelBomAsBuilt-4.0.0.json", DocumentKind::Bom).expect("parts");
    assert_eq!(counts(&built), [("Component", 1)]);
    let several =
        read("catenax/tractusx-dpp-bomAsBuiltRelationships.json", DocumentKind::Bom).expect("parts");
    assert_eq!(several.format, Format::CatenaX);
    assert!(several.facts.iter().all(|found| found.fact.fact_type() == FactType::Component));
    let footprint = import(Request {
        bytes: &data("catenax/Pcf-9.0.0.json"),
        kind: DocumentKind::Pcf,
        format: Format::CatenaX,
        sku: Some("SKU-1"),
    })
    .expect("a footprint");
    assert_eq!(footprint.facts[0].fact.key(), "pcfin:SKU-1/urn:mycompany.com:product-id:401765");
    assert_eq!(
        problems(read("catenax/SingleLevelBomAsSpecified-2.0.1.json", DocumentKind::Bom)),
        [("UNIT_UNKNOWN", "/childItems/0/item/0/itemQuantity/measurementUnit".to_owned())]
    );
}

#[test]
fn a_flat_footprint_of_pact_is_read_too() {
    let text = r#"{"id":"3893bb5d-da16-4dc1-9185-11d97476c254","specVersion":"3.0.0","status":"Active",
        "companyIds":["urn:pact:company:1"],"companyName":"My Corp","productIds":["urn:pact:product:7"],
        "productNameCompany":"Cathode powder","pcf":{"declaredUnitOfMeasurement":"kilogram","declaredUnitAmount":"1.0",
        "pcfExcludingBiogenicUptake":"12.25","crossSectoralStandards":["ISO14067"],"primaryDataShare":"56.12",
        "referencePeriodStart":"2025-01-01T00:00:00Z","referencePeriodEnd":"2026-01-01T00:00:00Z","geographyCountry":"FI"}}"#;
    let imported = import(Request {
        bytes: text.as_bytes(),
        kind: DocumentKind::Pcf,
        format: Format::Auto,
        sku: Some("SKU-1"),
    });
    let imported = imported.expect("a footprint");
    let key = "pcfin:SKU-1/urn:pact:product:7";
    assert_eq!(format!("{:?}", field(&imported, key, "value")), "Qty(12.25 kgCO2e)");
    assert_eq!(field(&imported, key, "boundary"), &Value::Tag("cradle_to_gate"));
    assert_eq!(field(&imported, key, "method"), &Value::Tag("ISO14067"));
}

#[test]
fn a_catenax_battery_pass_without_its_impossible_values_is_imported() {
    let text = String::from_utf8(data("catenax/BatteryPass-6.1.0.json")).expect("UTF-8");
    let repaired = text.replace("7172-75-08", "2000-03-01").replace("201-004-7", "77-09-8");
    let bom = import(Request {
        bytes: repaired.as_bytes(),
        kind: DocumentKind::Bom,
        format: Format::Auto,
        sku: None,
    })
    .expect("facts");
    assert_eq!(
        counts(&bom),
        [("Battery", 1), ("Material", 5), ("RecycledShare", 4), ("Document", 9), ("State", 1)]
    );
    assert_eq!(format!("{:?}", field(&bom, "battery:123-0.740-3434-A", "mass")), "Qty(0.02 kg)");
}

#[test]
fn documents_that_follow_no_model_are_refused_by_name() {
    assert_eq!(
        problems(read("bom-lci/cell-nmc811.json", DocumentKind::Bom)),
        [("FORMAT_UNKNOWN", String::new())]
    );
    let file = data("batterypass-ready/ev.gefeg.json");
    let as_catenax = Request { bytes: &file, kind: DocumentKind::Bom, format: Format::CatenaX, sku: None };
    assert_eq!(problems(import(as_catenax)), [("FORMAT_MISMATCH", String::new())]);
    let other = import(Request { kind: DocumentKind::Other, ..as_catenax }).expect_err("refused");
    assert_eq!(other.code(), "UNSUPPORTED_DOCUMENT_KIND");
    assert_eq!(problems(read("catenax/Pcf-9.0.0.json", DocumentKind::Bom)), [("NO_FACTS", String::new())]);
}

#[test]
fn a_native_document_is_read_as_its_schemas_say() {
    let text = r#"{"facts":[
        {"type":"DueDiligence","key":"dd:OP-1/2027","fields":{
            "policy_url":"https://example.com/policy","report_url":"https://example.com/report",
            "report_date":"2027-09-01","period_start":"2026-01-01","period_end":"2026-12-31",
            "materials":["cobalt","lithium"],"risk_plan":true,"grievance":true,
            "verifier":{"nb_number":"0123","name":"A body"},"schemes":[{"name":"A scheme","recognised":false}]}},
        {"type":"SupplyActor","key":"actor:A-1/cobalt","fields":{"country":"CD","tier":3,"share":{"u":"ppm","v":125000}}}
    ]}"#;
    let imported = native(text, DocumentKind::DueDiligence).expect("facts");
    assert_eq!(counts(&imported), [("DueDiligence", 1), ("SupplyActor", 1)]);
    assert_eq!(format!("{:?}", field(&imported, "actor:A-1/cobalt", "share")), "Qty(12.5 pct)");
}

#[test]
fn every_problem_of_a_native_document_is_located() {
    let text = r#"{"facts":[
        {"type":"Renewable","key":"renewable:SKU-1/P/2024","fields":{"share":{"u":"pct","v":"101"}}},
        {"type":"Renewable","key":"renewable:SKU-1/P/2025","fields":{"share":{"u":"kg","v":"1"}}},
        {"type":"Renewable","key":"renewable:SKU-1/P/2026","fields":{"share":{"u":"furlong","v":"1"},"colour":"red"}},
        {"type":"Renewable","key":"renewable:SKU-1","fields":{"share":3,"materials":["ok",7]}},
        {"type":"Facility","key":"facility:9521234000014","fields":{"country":"DE","id_scheme":"gln","operator_id":"A","place":"B"}},
        {"type":"Operator","key":"operator:A","fields":{"role":"king","name":"","country":"ZZ","postal_address":"x"}},
        {"type":"PCF","key":"pcf:A/B","fields":{}},
        {"type":"Renewable","fields":{}},
        7
    ],"more":1}"#;
    assert_eq!(
        problems(native(text, DocumentKind::Bom)),
        [
            ("VALUE_RANGE", "/facts/0/fields/share"),
            ("UNIT_MISMATCH", "/facts/1/fields/share"),
            ("FIELD_UNKNOWN", "/facts/2/fields/colour"),
            ("UNIT_UNKNOWN", "/facts/2/fields/share/u"),
            ("TYPE_MISMATCH", "/facts/3/fields/materials/1"),
            ("TYPE_MISMATCH", "/facts/3/fields/share"),
            ("KEY_INVALID", "/facts/3/key"),
            ("GLN_INVALID", "/facts/4/key"),
            ("COUNTRY_INVALID", "/facts/5/fields/country"),
            ("TEXT_INVALID", "/facts/5/fields/name"),
            ("TAG_UNKNOWN", "/facts/5/fields/role"),
            ("FACT_TYPE_UNKNOWN", "/facts/6/type"),
            ("FIELD_MISSING", "/facts/7/key"),
            ("FIELD_MISSING", "/facts/8/type"),
            ("FIELD_UNKNOWN", "/more"),
        ]
        .map(|(code, pointer)| (code, pointer.to_owned()))
    );
}

#[test]
fn two_facts_of_one_name_are_a_problem_and_two_equal_ones_are_one() {
    let fact = |share: u8| {
        format!(
            r#"{{"type":"Renewable","key":"renewable:S/P/2024","fields":{{"share":{{"u":"pct","v":{share}}}}}}}"#
        )
    };
    let equal =
        native(&format!(r#"{{"facts":[{},{}]}}"#, fact(3), fact(3)), DocumentKind::Bom).expect("one fact");
    assert_eq!(equal.facts.len(), 1);
    let unequal = native(&format!(r#"{{"facts":[{},{}]}}"#, fact(3), fact(4)), DocumentKind::Bom);
    assert_eq!(problems(unequal), [("DUPLICATE_FACT", "/facts/1/fields/share".to_owned())]);
}

#[test]
fn texts_that_are_no_json_are_refused_by_name() {
    let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
    for (text, code, pointer) in [
        ("", "JSON_SYNTAX", ""),
        ("{", "JSON_SYNTAX", ""),
        ("[1,]", "JSON_SYNTAX", ""),
        ("{\"a\":01}", "JSON_SYNTAX", ""),
        ("\"\\ud800\"", "JSON_SYNTAX", ""),
        ("1 2", "JSON_SYNTAX", ""),
        (r#"{"a":{"b~/":1,"b~/":2}}"#, "JSON_DUPLICATE_KEY", "/a/b~0~1"),
        (&deep, "JSON_TOO_DEEP", ""),
        ("7", "FORMAT_UNKNOWN", ""),
        ("null", "FORMAT_UNKNOWN", ""),
    ] {
        assert_eq!(problems(native(text, DocumentKind::Bom)), [(code, pointer.to_owned())], "{text}");
    }
    let large = vec![b' '; bpc_passport::import::MAX_DOCUMENT_BYTES + 1];
    let result = import(Request { bytes: &large, kind: DocumentKind::Bom, format: Format::Auto, sku: None });
    assert_eq!(problems(result), [("DOCUMENT_TOO_LARGE", String::new())]);
}

#[test]
fn facts_read_back_from_their_stored_bytes() {
    use bpc_passport::facts::Fact;
    let bom = read("batterypass-ready/ev.gefeg.json", DocumentKind::Bom).expect("facts");
    for found in &bom.facts {
        let fact = &found.fact;
        let again = Fact::from_payload(fact.fact_type(), fact.key(), fact.payload().as_bytes());
        assert_eq!(again.as_ref(), Ok(fact));
        let spaced = format!(" {}", fact.payload().as_str());
        assert!(Fact::from_payload(fact.fact_type(), fact.key(), spaced.as_bytes()).is_err());
    }
}
