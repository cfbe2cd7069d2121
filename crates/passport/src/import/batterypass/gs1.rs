//! Passports in GS1 terms, as openEPCIS keeps them before it writes BatteryPass-Ready.

use super::super::draft::{Draft, Findings};
use super::super::shape::Shape;
use super::super::words::{CATEGORIES, CHEMISTRIES, HAZARD_CLASSES, LOCATIONS, STATIONARY, STATUSES, ours};
use super::super::{DocumentKind, Subject};
use super::{Row, document, facility, needed, take_rows};
use crate::facts::{Bound, FactType, FieldType, Problem, Value, read_decimal};
use crate::json::Node;
use crate::value::{Decimal, Quantity, Unit};

/// A mass, to read one that is not a field.
const MASS: FieldType = FieldType::Qty(Unit::Kilogram, Bound::Positive);

const MEASURE: Shape = Shape::Measure("value", "unitCode");
const PERCENT: Shape = Shape::In(Unit::Percent);

const PRODUCT: &[Row] = &[
    ("unique_id", "/digitalProductPassportId", Shape::Plain),
    ("model_id", "/gtin", Shape::Plain),
    ("gtin", "/gtin", Shape::Plain),
    ("serial", "/serialNumber", Shape::Plain),
    ("operator_id", "/economicOperatorId", Shape::Plain),
    ("manufacturer_id", "/manufacturer/globalLocationNumber", Shape::Plain),
    ("facility_id", "/manufacturingPlace/gln", Shape::Plain),
    ("mass", "/netWeight", MEASURE),
    ("manufactured", "/manufacturingDate", Shape::MonthOf),
    ("warranty_until", "/warrantyExpiryDate", Shape::Day),
    ("extinguishing_agent", "/endOfLifeInfo/extinguishingAgent", Shape::Plain),
];

const TECHNICAL: &[Row] = &[
    ("rated_capacity", "/ratedCapacity", MEASURE),
    ("rated_energy", "/ratedEnergy", MEASURE),
    ("v_min", "/minimumVoltage", MEASURE),
    ("v_nom", "/nominalVoltage", MEASURE),
    ("v_max", "/maximumVoltage", MEASURE),
    ("power_limit", "/ratedMaximumPower", MEASURE),
    ("cycles_expected", "/expectedCycleLife", Shape::Plain),
    ("expected_years", "/expectedLifetimeYears", Shape::Plain),
    ("cycle_test_ref", "/lifetimeReferenceTest", Shape::Plain),
    ("c_rate", "/cRateLifeCycleTest", Shape::In(Unit::AmperePerAmpereHour)),
    ("rte_initial", "/roundTripEfficiency", PERCENT),
    ("rte_50", "/roundTripEfficiencyAt50PercentCycleLife", PERCENT),
    ("capacity_exhaustion", "/capacityThresholdForExhaustion", PERCENT),
    ("resistance_pack", "/initialInternalResistance", MEASURE),
    ("temp_idle_min", "/temperatureRangeIdleState/minimumTemperature", MEASURE),
    ("temp_idle_max", "/temperatureRangeIdleState/maximumTemperature", MEASURE),
];

const FOOTPRINT: &[(&str, &str)] = &[
    ("per_unit", "/carbonFootprintTotal"),
    ("stage_raw", "/carbonFootprintRawMaterialExtraction"),
    ("stage_production", "/carbonFootprintProduction"),
    ("stage_distribution", "/carbonFootprintDistribution"),
    ("stage_eol", "/carbonFootprintRecycling"),
];

const DOCUMENTS: &[(&str, &str, &str)] = &[
    ("dismantling", "Dismantling information", "/endOfLifeInfo/dismantlingInstructions"),
    ("safety", "Safety measures", "/endOfLifeInfo/safetyInstructions"),
    ("waste_a", "Waste prevention", "/endOfLifeInfo/wastePrevention"),
    ("waste_b", "Separate collection", "/endOfLifeInfo/separateCollection"),
    ("waste_c", "Collection and treatment", "/endOfLifeInfo/informationOnCollection"),
    ("waste_d", "Safety in handling waste batteries", "/endOfLifeInfo/safetyInstructionsForDismantling"),
    ("spare_parts", "Sources of spare parts", "/sparePartSources/url"),
    ("separate_collection", "Symbol for separate collection", "/separateCollectionSymbolUrl"),
    ("cd_symbol", "Symbols for cadmium and lead", "/cadmiumLeadSymbolUrl"),
    ("pb_symbol", "Symbols for cadmium and lead", "/cadmiumLeadSymbolUrl"),
    (
        "doc_of_conformity",
        "EU declaration of conformity",
        "/euDeclarationOfConformity/declarationOfConformity",
    ),
    ("test_report", "Results of test reports", "/resultOfTestReport"),
    ("negative_events", "Accidents", "/accidentInformationUrl"),
];

const DUE_DILIGENCE: &[(&str, &str, &str)] = &[
    ("due_diligence_report", "Due diligence report", "/supplyChainDueDiligence/dueDiligenceReportUrl"),
    ("third_party_assurance", "Third-party assurances", "/supplyChainDueDiligence/thirdPartyAssurancesUrl"),
];

const METALS: &[(&str, &str, &str, &str)] = &[
    ("cobalt", "/cobaltPreConsumerShare", "/cobaltPostConsumerShare", "/cobaltRecycledShare"),
    ("lithium", "/lithiumPreConsumerShare", "/lithiumPostConsumerShare", "/lithiumRecycledShare"),
    ("nickel", "/nickelPreConsumerShare", "/nickelPostConsumerShare", "/nickelRecycledShare"),
    ("lead", "/leadPreConsumerShare", "/leadPostConsumerShare", "/leadRecycledShare"),
];

pub(in super::super) fn import(root: &Node<'_>, subject: Subject<'_>, findings: &mut Findings) {
    let sku = needed(&root.at("/gtin"), findings);
    match subject.kind {
        DocumentKind::Bom => {
            battery(root, sku, findings);
            makers(root, findings);
            materials(root, sku, findings);
            shares(root, sku, findings);
            documents(DOCUMENTS, root, sku, findings);
        }
        DocumentKind::Pcf => footprint(root, sku, findings),
        DocumentKind::DueDiligence => documents(DUE_DILIGENCE, root, sku, findings),
        DocumentKind::Other => {}
    }
}

fn battery(root: &Node<'_>, sku: Option<&str>, findings: &mut Findings) {
    let technical = root.at("/technicalSpecifications");
    let mut draft = Draft::new(FactType::Battery, root);
    take_rows(&mut draft, root, PRODUCT);
    take_rows(&mut draft, &technical, TECHNICAL);
    draft.take("power_80soc", &at_charge(&technical, "80"), MEASURE);
    draft.take("power_20soc", &at_charge(&technical, "20"), MEASURE);
    // The classification is the product's own; `category` is only the class it was exported under.
    let category =
        root.first_of(&["/additionalProductClassification/additionalProductClassificationCode", "/category"]);
    term(&mut draft, "category", &category, CATEGORIES);
    if let Some(stationary) = category.text().and_then(|text| ours(STATIONARY, last_step(text))) {
        draft.set("stationary", Value::Bool(stationary), &category);
    }
    term(&mut draft, "status", &root.at("/status"), STATUSES);
    let cathode = root.at("/batteryChemistry/cathodeActiveMaterial");
    term(&mut draft, "chemistry", &cathode, CHEMISTRIES);
    draft.finish(&[sku], findings);
}

/// A word that may stand at the end of a web address.
fn term(
    draft: &mut Draft,
    field: &'static str,
    node: &Node<'_>,
    words: &'static [(&'static str, &'static str)],
) {
    let Some(text) = node.text() else {
        draft.take(field, node, Shape::Words(words));
        return;
    };
    match ours(words, last_step(text)) {
        Some(tag) => drop(draft.set(field, Value::Tag(tag), node)),
        None => {
            let listed: Vec<_> = words.iter().map(|(theirs, _)| *theirs).collect();
            let problem =
                Problem::new("TAG_UNKNOWN", node.pointer(), format!("one of {}", listed.join(", ")), text);
            draft.fail(field, problem);
        }
    }
}

fn last_step(text: &str) -> &str {
    text.rsplit(['/', '#']).next().unwrap_or(text)
}

fn at_charge<'a>(technical: &Node<'a>, percent: &str) -> Node<'a> {
    let list = technical.at("/originalPowerCapability");
    let wanted: Option<Decimal> = percent.parse().ok();
    let found =
        list.items().into_iter().find(|entry| read_decimal(&entry.at("/stateOfChargeLevel")).ok() == wanted);
    found.unwrap_or_else(|| list.member(percent)).at("/powerCapability")
}

fn makers(root: &Node<'_>, findings: &mut Findings) {
    let information = root.at("/operatorInformation");
    let address = information.at("/address");
    let lines: Vec<_> = ["/streetAddress", "/postalCode", "/addressLocality", "/countryCode"]
        .iter()
        .filter_map(|line| address.at(line).text())
        .collect();
    let mut draft = Draft::new(FactType::Operator, &information);
    draft.set("role", Value::Tag("responsible"), &information.at("/operatorRole"));
    draft.take("name", &information.at("/organizationName"), Shape::Plain);
    draft.take("country", &address.at("/countryCode"), Shape::Plain);
    if !lines.is_empty() {
        draft.set("postal_address", Value::Text(lines.join(", ")), &address);
    }
    draft.finish(&[needed(&root.at("/economicOperatorId"), findings)], findings);
    let place = root.at("/manufacturingPlace/address");
    let country = place.at("/countryCode");
    facility(
        needed(&root.at("/manufacturingPlace/gln"), findings),
        root.at("/manufacturer/globalLocationNumber").text(),
        &place.at("/addressLocality"),
        (country.text(), &country),
        findings,
    );
}

/// Substances with what share of the battery they are; their mass follows from its mass.
fn materials(root: &Node<'_>, sku: Option<&str>, findings: &mut Findings) {
    let weight = root.at("/netWeight");
    let mass = match MEASURE.read(&weight, &MASS) {
        Ok(Value::Qty(mass)) => Some(mass),
        _ => None,
    };
    let mut take = |node: &Node<'_>, share: &str, place: &str, keys: [&str; 2], class: Option<Node<'_>>| {
        let location = node.at(place);
        let role = location.text().and_then(|text| ours(LOCATIONS, last_step(text))).unwrap_or("other");
        let mut draft = Draft::new(FactType::Material, node);
        draft.take("cas", &node.at(keys[0]), Shape::Plain).take("ec", &node.at(keys[1]), Shape::Plain);
        draft.take("name", &node.at("/name"), Shape::Plain);
        draft.take("crm", &node.at("/isCriticalRawMaterial"), Shape::Plain);
        draft.set("role", Value::Tag(role), &location);
        if let Some(class) = class {
            term(&mut draft, "hazard_class", &class, HAZARD_CLASSES);
        }
        let share = node.at(share);
        if share.is_present() {
            match share_of(mass.as_ref(), &share) {
                Ok(Some(part)) => drop(draft.set("mass", Value::Qty(part), &share)),
                Ok(None) => {}
                Err(problem) => draft.fail("mass", problem),
            }
        }
        let number = node.first_of(&[keys[0], keys[1]]);
        draft.finish(&[sku, Some(role), needed(&number, findings)], findings);
    };
    for material in root.at("/materialComposition").items() {
        take(&material, "/weightPercentage", "/componentLocation", ["/casNumber", "/ecNumber"], None);
    }
    for hazard in root.at("/hazardousSubstances").items() {
        let class = hazard.at("/hazardClass");
        let keys = ["/substanceCasNumber", "/substanceEcNumber"];
        take(&hazard, "/concentration", "/substanceLocation", keys, Some(class));
    }
}

fn share_of(mass: Option<&Quantity>, share: &Node<'_>) -> Result<Option<Quantity>, Problem> {
    let percent = read_decimal(share)?;
    let outside =
        |found: String| Problem::new("VALUE_RANGE", share.pointer(), "a share from 0 to 100", found);
    if percent.is_negative() || percent > Decimal::from(100) {
        return Err(outside(percent.to_string()));
    }
    let Some(mass) = mass else { return Ok(None) };
    let hundredth = Decimal::from_coefficient(1, 2).expect("one hundredth");
    let part = percent.checked_mul(&hundredth).and_then(|share| mass.scale(&share));
    part.map(Some).map_err(|error| {
        Problem::new(
            "DEC_PRECISION",
            share.pointer(),
            "a share whose mass has at most 28 digits",
            error.to_string(),
        )
    })
}

fn shares(root: &Node<'_>, sku: Option<&str>, findings: &mut Findings) {
    let recycled = root.at("/recycledContent");
    let plant = needed(&root.at("/manufacturingPlace/gln"), findings);
    let year = root.at("/manufacturingDate").text().and_then(|text| text.get(..4));
    for (metal, before, after, all) in METALS {
        if !recycled.at(all).is_present() {
            continue;
        }
        let basis = if *metal == "lead" { "battery" } else { "active_material" };
        let mut draft = Draft::new(FactType::RecycledShare, &recycled.at(all));
        draft.take("pre_consumer", &recycled.at(before), PERCENT);
        draft.take("post_consumer", &recycled.at(after), PERCENT);
        draft.take("recovered", &recycled.at(all), PERCENT);
        draft.set("metal", Value::Tag(metal), &recycled).set("basis", Value::Tag(basis), &recycled);
        draft.finish(&[sku, plant, year, Some(metal)], findings);
    }
    let renewable = root.at("/endOfLifeInfo/renewableContent");
    if renewable.is_present() {
        let mut draft = Draft::new(FactType::Renewable, &renewable);
        draft.take("share", &renewable, PERCENT);
        draft.finish(&[sku, plant, year], findings);
    }
}

fn footprint(root: &Node<'_>, sku: Option<&str>, findings: &mut Findings) {
    let declaration = root.at("/carbonFootprintDeclaration");
    let mut draft = Draft::new(FactType::Pcf, &declaration);
    for (field, path) in FOOTPRINT {
        // The unit code says kilogram; the functional unit that it is per is a sentence beside it.
        draft.take(field, &declaration.at(path).at("/value"), Shape::In(Unit::KilogramCo2ePerKilowattHour));
    }
    draft.set("functional_unit", Value::Tag("service_life_kwh"), &declaration.at("/functionalUnit"));
    draft.take("study_url", &declaration.at("/carbonFootprintStudyUrl"), Shape::Plain);
    draft.take("doc_id", &declaration.at("/carbonFootprintDeclarationId"), Shape::Plain);
    draft.take("geography", &declaration.at("/carbonFootprintGeographicScope"), Shape::Plain);
    draft.take("method", &declaration.at("/calculationStandard"), Shape::Words(super::super::words::METHODS));
    let plant = needed(&root.at("/manufacturingPlace/gln"), findings);
    draft.finish(&[sku, plant], findings);
}

fn documents(
    rows: &[(&'static str, &str, &str)],
    root: &Node<'_>,
    sku: Option<&str>,
    findings: &mut Findings,
) {
    for (kind, title, path) in rows {
        document(sku, kind, title, 1, &root.at(path), findings);
    }
}
