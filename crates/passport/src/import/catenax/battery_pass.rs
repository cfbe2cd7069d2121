//! `io.catenax.battery.battery_pass` 6.

use super::super::batterypass::{Row, document, needed, take_rows};
use super::super::draft::{Draft, Findings};
use super::super::shape::Shape;
use super::super::words::{CATEGORIES, CHEMISTRIES, LOCATIONS, STATUSES, ours};
use super::super::{DocumentKind, Subject};
use crate::facts::{FactType, Problem, Value};
use crate::json::Node;
use crate::value::{Quantity, Unit};

const MEASURE: Shape = Shape::Measure("value", "unit");
const PERCENT: Shape = Shape::In(Unit::Percent);

const BATTERY: &[Row] = &[
    ("unique_id", "/metadata/passportIdentifier", Shape::Plain),
    ("operator_id", "/metadata/economicOperatorId", Shape::Plain),
    ("manufacturer_id", "/operation/manufacturer/manufacturer", Shape::Plain),
    ("facility_id", "/operation/manufacturer/facility/0/facility", Shape::Plain),
    ("manufactured", "/operation/manufacturer/manufacturingDate", Shape::MonthOf),
    ("in_service", "/operation/intoServiceDate", Shape::Day),
    ("placed_on_market", "/commercial/placedOnMarket", Shape::Day),
    ("category", "/identification/category", Shape::Words(CATEGORIES)),
    ("chemistry", "/identification/chemistry", Shape::Words(CHEMISTRIES)),
    ("model_id", "/identification/identification/type/manufacturerPartId", Shape::Plain),
    ("serial", "/identification/identification/serial/0/value", Shape::Plain),
    ("batch", "/identification/identification/batch/0/value", Shape::Plain),
    ("status", "/sustainability/status", Shape::Words(STATUSES)),
    ("mass", "/characteristics/physicalDimension/weight", MEASURE),
    ("rated_capacity", "/performance/rated/capacity/value", Shape::In(Unit::AmpereHour)),
    ("capacity_exhaustion", "/performance/rated/capacity/thresholdExhaustion", PERCENT),
    ("rated_energy", "/performance/rated/energy/value", Shape::In(Unit::KilowattHour)),
    ("v_min", "/performance/rated/voltage/min", Shape::In(Unit::Volt)),
    ("v_nom", "/performance/rated/voltage/nominal", Shape::In(Unit::Volt)),
    ("v_max", "/performance/rated/voltage/max", Shape::In(Unit::Volt)),
    ("power_limit", "/performance/rated/power/value", Shape::In(Unit::Watt)),
    ("power_80soc", "/performance/rated/power/at80SoC", Shape::In(Unit::Watt)),
    ("power_20soc", "/performance/rated/power/at20SoC", Shape::In(Unit::Watt)),
    ("resistance_cell", "/performance/rated/resistance/cell", Shape::In(Unit::Ohm)),
    ("resistance_pack", "/performance/rated/resistance/pack", Shape::In(Unit::Ohm)),
    ("temp_idle_min", "/performance/rated/temperature/lower", Shape::In(Unit::DegreeCelsius)),
    ("temp_idle_max", "/performance/rated/temperature/upper", Shape::In(Unit::DegreeCelsius)),
    ("rte_initial", "/performance/rated/roundTripEfficiency/initial", PERCENT),
    ("rte_50", "/performance/rated/roundTripEfficiency/50PercentLife", PERCENT),
    ("cycles_expected", "/performance/rated/lifetime/cycleLifeTesting/cycles", Shape::Plain),
    (
        "c_rate",
        "/performance/rated/lifetime/cycleLifeTesting/appliedDischargeRate",
        Shape::In(Unit::AmperePerAmpereHour),
    ),
    ("cycle_test_ref", "/performance/rated/lifetime/report/0/content", Shape::Plain),
    ("expected_years", "/performance/rated/lifetime/expectedYears", Shape::Plain),
    ("extinguishing_agent", "/safety/usableExtinguishAgent/0/media", Shape::Plain),
    ("extinguishing_class", "/safety/usableExtinguishAgent/0/fireClass", Shape::Plain),
];

const STATE: &[Row] = &[
    ("recorded", "/stateOfCharge/time", Shape::Day),
    ("soc", "/stateOfCharge/value", PERCENT),
    ("full_cycles", "/fullCycles/value", Shape::Plain),
    ("self_discharge", "/selfDischargingRate", Shape::In(Unit::PercentPerMonth)),
    ("rte", "/roundTripEfficiency/remaining/value", PERCENT),
    ("rte_fade", "/roundTripEfficiency/fade/value", PERCENT),
    ("power_80soc", "/power/remaining/value", Shape::In(Unit::Watt)),
    ("power_fade", "/power/fade/value", PERCENT),
    ("resistance_cell", "/resistance/remaining/cell/value", Shape::In(Unit::Ohm)),
    ("resistance_pack", "/resistance/remaining/pack/value", Shape::In(Unit::Ohm)),
    ("resistance_increase", "/resistance/increase/pack/value", PERCENT),
    ("remaining_capacity", "/capacity/capacity/value", Shape::In(Unit::AmpereHour)),
    ("capacity_fade", "/capacity/fade/value", PERCENT),
    ("capacity_throughput", "/capacity/throughput/value", Shape::In(Unit::AmpereHour)),
    ("remaining_energy", "/energy/remaining/value", Shape::In(Unit::KilowattHour)),
    ("soce", "/energy/soce/value", PERCENT),
    ("energy_throughput", "/energy/throughput/value", Shape::In(Unit::KilowattHour)),
];

const DOCUMENTS: &[(&str, &str)] = &[
    ("doc_of_conformity", "/conformity/declarationOfConformity"),
    ("test_report", "/conformity/resultOfTestReport"),
    ("dismantling", "/safety/dismantling"),
    ("safety", "/safety/safetyMeasures"),
    ("waste_a", "/sustainability/documents/wastePrevention"),
    ("waste_b", "/sustainability/documents/separateCollection"),
    ("label_meaning", "/safety/meaningOfLabels"),
    ("negative_events", "/performance/dynamic/negativeEvents"),
    ("environment", "/performance/dynamic/operatingEnvironment"),
];

const DUE_DILIGENCE: &[(&str, &str)] = &[
    ("due_diligence_report", "/conformity/dueDiligencePolicy"),
    ("third_party_assurance", "/conformity/thirdPartyAssurance"),
];

/// Metals that the model has by name, with their CAS number, place, and what their recovered share is of.
const METALS: &[(&str, &str, &str, &str)] = &[
    ("cobalt", "7440-48-4", "/materials/active/cobalt", "active_material"),
    ("lithium", "7439-93-2", "/materials/active/lithium", "active_material"),
    ("nickel", "7440-02-0", "/materials/active/nickel", "active_material"),
    ("lead", "7439-92-1", "/materials/hazardous/lead", "battery"),
];

const LIFE_CYCLE: &[(&str, &str)] = &[
    ("raw material acquisition and pre-processing", "stage_raw"),
    ("raw material extraction", "stage_raw"),
    ("main product production", "stage_production"),
    ("distribution", "stage_distribution"),
    ("end of life and recycling", "stage_eol"),
    ("recycling", "stage_eol"),
    ("total", "per_unit"),
];

pub(in super::super) fn import(root: &Node<'_>, subject: Subject<'_>, findings: &mut Findings) {
    let sku = needed(&root.at("/identification/identification/type/manufacturerPartId"), findings);
    match subject.kind {
        DocumentKind::Bom => {
            let mass = battery(root, sku, findings);
            state(root, sku, findings);
            materials(root, sku, mass.as_ref(), findings);
            shares(root, sku, findings);
            documents(DOCUMENTS, root, sku, findings);
        }
        DocumentKind::Pcf => footprint(root, sku, findings),
        DocumentKind::DueDiligence => documents(DUE_DILIGENCE, root, sku, findings),
        DocumentKind::Other => {}
    }
}

/// The battery; returns its mass, of which materials are shares.
fn battery(root: &Node<'_>, sku: Option<&str>, findings: &mut Findings) -> Option<Quantity> {
    let mut draft = Draft::new(FactType::Battery, root);
    take_rows(&mut draft, root, BATTERY);
    let predecessor = root.at("/metadata/predecessor");
    if predecessor.text().is_some_and(|text| text != "urn:uuid:00000000-0000-0000-0000-000000000000") {
        draft.take("prior_passport", &predecessor, Shape::Plain);
    }
    let warranty = root.at("/characteristics/warranty");
    if warranty.at("/lifeUnit").text() == Some("unit:month") {
        draft.take("warranty_months", &warranty.at("/lifeValue"), Shape::Plain);
    }
    let mass = match draft.field("mass") {
        Some(Value::Qty(mass)) => Some(mass.clone()),
        _ => None,
    };
    draft.finish(&[sku], findings);
    mass
}

fn state(root: &Node<'_>, sku: Option<&str>, findings: &mut Findings) {
    let dynamic = root.at("/performance/dynamic");
    if dynamic.is_present() {
        let serial = root.at("/identification/identification/serial/0/value");
        let mut draft = Draft::new(FactType::State, &dynamic);
        take_rows(&mut draft, &dynamic, STATE);
        draft.finish(&[sku, needed(&serial, findings)], findings);
    }
}

fn materials(root: &Node<'_>, sku: Option<&str>, mass: Option<&Quantity>, findings: &mut Findings) {
    for entry in root.at("/materials/composition").items() {
        material(&entry, &entry.at("/id/0"), &entry.at("/unit"), sku, mass, findings);
    }
    for entry in root.at("/materials/hazardous/other").items() {
        let identification = entry.at("/materialIdentification/0");
        material(&entry, &identification, &entry.at("/materialUnit"), sku, mass, findings);
    }
}

fn material(
    entry: &Node<'_>,
    identification: &Node<'_>,
    unit: &Node<'_>,
    sku: Option<&str>,
    mass: Option<&Quantity>,
    findings: &mut Findings,
) {
    let (number, location) = (identification.at("/id"), entry.at("/location"));
    let role = location.text().and_then(|text| ours(LOCATIONS, text)).unwrap_or("other");
    let scheme = identification.at("/type");
    let field = match scheme.text() {
        Some("CAS") => "cas",
        Some("EC" | "EINECS") => "ec",
        other => {
            let found = other.unwrap_or("nothing");
            findings.problem(Problem::new("TAG_UNKNOWN", scheme.pointer(), "one of CAS, EC", found));
            return;
        }
    };
    let mut draft = Draft::new(FactType::Material, entry);
    draft.take(field, &number, Shape::Plain);
    draft.take("name", &identification.at("/name"), Shape::Plain);
    draft.take("crm", &entry.at("/critical"), Shape::Plain);
    draft.take("location", &location, Shape::Plain);
    draft.set("role", Value::Tag(role), &location);
    let concentration = entry.at("/concentration");
    match share_of(mass, &concentration, unit) {
        Ok(Some(part)) => drop(draft.set("mass", Value::Qty(part), &concentration)),
        Ok(None) => {}
        Err(problem) => draft.fail("mass", problem),
    }
    draft.finish(&[sku, Some(role), needed(&number, findings)], findings);
}

/// That share of the mass, if both are known.
fn share_of(mass: Option<&Quantity>, share: &Node<'_>, unit: &Node<'_>) -> Result<Option<Quantity>, Problem> {
    if !share.is_present() {
        return Ok(None);
    }
    let number = crate::facts::read_decimal(share)?;
    let text = unit.text().unwrap_or("nothing");
    let unknown =
        || Problem::new("UNIT_UNKNOWN", unit.pointer(), "unit:partPerMillion or unit:percent", text);
    let unit = super::super::units::unit_of(text).ok_or_else(unknown)?;
    let parts = crate::facts::convert(share, &Quantity::new(number, unit), Unit::PartPerMillion)?;
    let Some(mass) = mass else { return Ok(None) };
    let millionth = crate::value::Decimal::from_coefficient(1, 6).expect("one millionth");
    let part = parts.value.checked_mul(&millionth).and_then(|share| mass.scale(&share));
    part.map(Some).map_err(|error| {
        Problem::new(
            "DEC_PRECISION",
            share.pointer(),
            "a share whose mass has at most 28 digits",
            error.to_string(),
        )
    })
}

/// The metals that the model has by name, and which share of them was recovered.
fn shares(root: &Node<'_>, sku: Option<&str>, findings: &mut Findings) {
    let plant = root.at("/operation/manufacturer/facility/0/facility").text().unwrap_or("-");
    let made = root.at("/operation/manufacturer/manufacturingDate");
    let year = made.text().and_then(|text| text.get(..4));
    for (metal, cas, path, basis) in METALS {
        let metal_node = root.at(path);
        if metal_node.is_present() {
            let mut draft = Draft::new(FactType::Material, &metal_node);
            draft.set("cas", Value::Text((*cas).to_owned()), &metal_node);
            draft.set("name", Value::Text((*metal).to_owned()), &metal_node);
            draft.set("role", Value::Tag("other"), &metal_node);
            draft.take("crm", &metal_node.at("/critical"), Shape::Plain);
            draft.take("location", &metal_node.at("/location"), Shape::Plain);
            draft.finish(&[sku, Some("named"), Some(cas)], findings);
        }
        let recovered = metal_node.at("/recycled");
        if recovered.is_present() {
            let mut draft = Draft::new(FactType::RecycledShare, &recovered);
            draft.take("recovered", &recovered, PERCENT);
            draft.set("metal", Value::Tag(metal), &recovered).set("basis", Value::Tag(basis), &recovered);
            draft.finish(&[sku, Some(plant), year, Some(metal)], findings);
        }
    }
}

fn footprint(root: &Node<'_>, sku: Option<&str>, findings: &mut Findings) {
    let list = root.at("/sustainability/carbonFootprint");
    let mut draft = Draft::new(FactType::Pcf, &list);
    draft.look(&["per_unit", "stage_raw", "stage_production", "stage_distribution", "stage_eol"], &list);
    let mut plant = None;
    for entry in list.items() {
        let stage = entry.at("/lifecycle");
        match stage.text().and_then(|text| ours(LIFE_CYCLE, text)) {
            Some(field) => drop(draft.take(field, &entry, MEASURE)),
            None => {
                let known: Vec<_> = LIFE_CYCLE.iter().map(|(theirs, _)| *theirs).collect();
                let (expected, found) =
                    (format!("one of {}", known.join(", ")), stage.text().unwrap_or("nothing"));
                findings.problem(Problem::new("TAG_UNKNOWN", stage.pointer(), expected, found));
            }
        }
        draft.take("class", &entry.at("/performanceClass"), Shape::Plain);
        plant = plant.or(entry.at("/manufacturingPlant/0/facility").text());
    }
    draft.set("functional_unit", Value::Tag("service_life_kwh"), &list);
    draft.finish(&[sku, Some(plant.unwrap_or("-"))], findings);
}

fn documents(rows: &[(&'static str, &str)], root: &Node<'_>, sku: Option<&str>, findings: &mut Findings) {
    for (kind, path) in rows {
        for (number, entry) in root.at(path).items().iter().enumerate() {
            let title = entry.at("/header").text().unwrap_or(kind).to_owned();
            document(sku, kind, &title, number + 1, &entry.at("/content"), findings);
        }
    }
}
