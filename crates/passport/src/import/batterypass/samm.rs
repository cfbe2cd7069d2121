//! The SAMM aspects of the Battery Pass consortium, one per document or several under their names.

use super::super::draft::{Draft, Findings};
use super::super::shape::Shape;
use super::super::words::{CATEGORIES, CHEMISTRIES, HAZARD_CLASSES, LOCATIONS, STATUSES, ours};
use super::super::{DocumentKind, Subject};
use super::{Row, needed, take_rows};
use crate::facts::{FactType, Problem, Value};
use crate::json::Node;
use crate::value::Unit;

const GENERAL: &[Row] = &[
    ("unique_id", "/batteryPassportIdentifier", Shape::Plain),
    ("model_id", "/productIdentifier", Shape::Plain),
    ("serial", "/productIdentifier", Shape::Plain),
    ("operator_id", "/operatorInformation/identifier", Shape::Plain),
    ("manufacturer_id", "/manufacturerInformation/identifier", Shape::Plain),
    ("category", "/batteryCategory", Shape::Words(CATEGORIES)),
    ("status", "/batteryStatus", Shape::Words(STATUSES)),
    ("mass", "/batteryMass", Shape::In(Unit::Kilogram)),
    ("manufactured", "/manufacturingDate", Shape::MonthOf),
    ("in_service", "/puttingIntoService", Shape::Day),
];

const TECHNICAL: &[Row] = &[
    ("rated_capacity", "/ratedCapacity", Shape::In(Unit::AmpereHour)),
    ("rated_energy", "/ratedEnergy", Shape::In(Unit::KilowattHour)),
    ("v_min", "/minimumVoltage", Shape::In(Unit::Volt)),
    ("v_nom", "/nominalVoltage", Shape::In(Unit::Volt)),
    ("v_max", "/maximumVoltage", Shape::In(Unit::Volt)),
    ("power_limit", "/ratedMaximumPower", Shape::In(Unit::Kilowatt)),
    ("cycles_expected", "/expectedNumberOfCycles", Shape::Plain),
    ("expected_years", "/expectedLifetime", Shape::Plain),
    ("cycle_test_ref", "/lifetimeReferenceTest", Shape::Plain),
    ("c_rate", "/cRateLifeCycleTest", Shape::In(Unit::AmperePerAmpereHour)),
    ("rte_initial", "/roundtripEfficiency", Shape::In(Unit::Percent)),
    ("rte_50", "/roundTripEfficiencyat50PerCentCycleLife", Shape::In(Unit::Percent)),
    ("capacity_exhaustion", "/capacityThresholdForExhaustion", Shape::In(Unit::Percent)),
    ("temp_idle_min", "/temperatureRangeIdleState/minimum", Shape::In(Unit::DegreeCelsius)),
    ("temp_idle_max", "/temperatureRangeIdleState/maximum", Shape::In(Unit::DegreeCelsius)),
];

const FOOTPRINT: &[Row] = &[
    ("per_unit", "/batteryCarbonFootprint", Shape::In(Unit::KilogramCo2ePerKilowattHour)),
    ("absolute", "/absoluteCarbonFootprint", Shape::In(Unit::KilogramCo2e)),
    ("class", "/carbonFootprintPerformanceClass", Shape::Plain),
    ("study_url", "/carbonFootprintStudy", Shape::Plain),
];

const STAGES: [(&str, &str); 4] = [
    ("RawMaterialExtraction", "stage_raw"),
    ("MainProduction", "stage_production"),
    ("Distribution", "stage_distribution"),
    ("Recycling", "stage_eol"),
];

pub(in super::super) fn import(root: &Node<'_>, subject: Subject<'_>, findings: &mut Findings) {
    let general = root.first_of(&["/generalProductInformation", ""]);
    let sku = general.at("/productIdentifier").text().or(subject.sku);
    if sku.is_none() && subject.kind != DocumentKind::DueDiligence {
        findings.problem(Problem::new(
            "SKU_MISSING",
            "",
            "the SKU of the battery, given with the document",
            "none",
        ));
    }
    match subject.kind {
        DocumentKind::Bom => {
            if general.at("/batteryPassportIdentifier").is_present() {
                battery(root, &general, sku, findings);
                operator("manufacturer", &general.at("/manufacturerInformation"), findings);
                operator("responsible", &general.at("/operatorInformation"), findings);
            }
            materials(&root.first_of(&["/materialComposition", ""]), sku, findings);
        }
        DocumentKind::Pcf => {
            let names = ["/carbonFootprintForBatteries", "/carbonFootprint", ""];
            footprint(&root.first_of(&names), sku, findings);
        }
        DocumentKind::DueDiligence | DocumentKind::Other => {}
    }
}

fn battery(root: &Node<'_>, general: &Node<'_>, sku: Option<&str>, findings: &mut Findings) {
    let performance = root.first_of(&["/performanceAndDurability", "/performance"]);
    let technical = performance.first_of(&["/batteryTechicalProperties", "/batteryTechnicalProperties"]);
    let composition = root.at("/materialComposition");
    let mut draft = Draft::new(FactType::Battery, general);
    take_rows(&mut draft, general, GENERAL);
    take_rows(&mut draft, &technical, TECHNICAL);
    draft.take("chemistry", &composition.at("/batteryChemistry/shortName"), Shape::Words(CHEMISTRIES));
    draft.take("power_80soc", &at_charge(&technical, "80"), Shape::In(Unit::Watt));
    draft.take("power_20soc", &at_charge(&technical, "20"), Shape::In(Unit::Watt));
    draft.take("resistance_pack", &resistance(&technical, "pack"), Shape::In(Unit::Ohm));
    draft.take("resistance_cell", &resistance(&technical, "cell"), Shape::In(Unit::Ohm));
    draft.finish(&[sku], findings);
}

/// The power at that state of charge.
fn at_charge<'a>(technical: &Node<'a>, percent: &str) -> Node<'a> {
    let list = technical.at("/originalPowerCapability");
    let wanted: Option<crate::value::Decimal> = percent.parse().ok();
    let found =
        list.items().into_iter().find(|entry| crate::facts::read_decimal(&entry.at("/atSoC")).ok() == wanted);
    found.unwrap_or_else(|| list.member(percent)).at("/powerCapabilityAt")
}

fn resistance<'a>(technical: &Node<'a>, component: &str) -> Node<'a> {
    let list = technical.at("/initialInternalResistance");
    let found =
        list.items().into_iter().find(|entry| entry.at("/batteryComponent").text() == Some(component));
    found.unwrap_or_else(|| list.member(component)).at("/ohmicResistance")
}

fn operator(role: &'static str, information: &Node<'_>, findings: &mut Findings) {
    let address = information.at("/postalAddress");
    let lines: Vec<_> = ["/streetAddress", "/postalCode", "/addressLocality", "/addressCountry"]
        .iter()
        .filter_map(|line| address.at(line).text())
        .collect();
    let mut draft = Draft::new(FactType::Operator, information);
    draft.set("role", Value::Tag(role), information);
    draft.take("name", &information.at("/contactName"), Shape::Plain);
    draft.take("web", &information.at("/webAddress"), Shape::Plain);
    draft.take("email", &information.at("/emailAddress"), Shape::Plain);
    draft.take("country", &address.at("/addressCountry"), Shape::Plain);
    if !lines.is_empty() {
        draft.set("postal_address", Value::Text(lines.join(", ")), &address);
    }
    draft.finish(&[needed(&information.at("/identifier"), findings)], findings);
}

fn materials(composition: &Node<'_>, sku: Option<&str>, findings: &mut Findings) {
    for material in composition.at("/batteryMaterials").items() {
        let mut draft = Draft::new(FactType::Material, &material);
        draft.take("name", &material.at("/batteryMaterialName"), Shape::Plain);
        draft.take("mass", &material.at("/batteryMaterialMass"), Shape::In(Unit::Gram));
        draft.take("crm", &material.at("/isCriticalRawMaterial"), Shape::Plain);
        substance(draft, &material, "/batteryMaterialIdentifier", "/batteryMaterialLocation", sku, findings);
    }
    for hazard in composition.at("/hazardousSubstances").items() {
        let mut draft = Draft::new(FactType::Material, &hazard);
        draft.take("name", &hazard.at("/hazardousSubstanceName"), Shape::Plain);
        draft.take("hazard_class", &hazard.at("/hazardousSubstanceClass"), Shape::Words(HAZARD_CLASSES));
        let share = hazard.at("/hazardousSubstanceConcentration");
        if share.is_present()
            && let Err(problem) = crate::facts::read_decimal(&share)
        {
            findings.problem(problem);
        }
        substance(
            draft,
            &hazard,
            "/hazardousSubstanceIdentifier",
            "/hazardousSubstanceLocation",
            sku,
            findings,
        );
    }
}

fn substance(
    mut draft: Draft,
    node: &Node<'_>,
    identifier: &str,
    location: &str,
    sku: Option<&str>,
    findings: &mut Findings,
) {
    let (identifier, location) = (node.at(identifier), node.at(location));
    let component = location.at("/componentName");
    let role = component.text().and_then(|name| ours(LOCATIONS, name)).unwrap_or("other");
    draft.take("cas", &identifier, Shape::Plain);
    draft.take("location", &component, Shape::Plain);
    draft.set("role", Value::Tag(role), &location);
    let path = location.at("/componentId").text().or(component.text()).unwrap_or("battery");
    draft.finish(&[sku, Some(path), needed(&identifier, findings)], findings);
}

fn footprint(aspect: &Node<'_>, sku: Option<&str>, findings: &mut Findings) {
    let mut draft = Draft::new(FactType::Pcf, aspect);
    take_rows(&mut draft, aspect, FOOTPRINT);
    let total = aspect.at("/batteryCarbonFootprint");
    draft.set("functional_unit", Value::Tag("service_life_kwh"), &total);
    let stages = aspect.at("/carbonFootprintPerLifecycleStage");
    draft.look(&STAGES.map(|(_, field)| field), &stages);
    for stage in stages.items() {
        let name = stage.at("/lifecycleStage");
        match name.text().and_then(|name| ours(&STAGES, name)) {
            Some(field) => {
                let unit = Shape::In(Unit::KilogramCo2ePerKilowattHour);
                draft.take(field, &stage.at("/carbonFootprint"), unit);
            }
            None => findings.problem(Problem::new(
                "TAG_UNKNOWN",
                name.pointer(),
                "one of RawMaterialExtraction, MainProduction, Distribution, Recycling",
                name.text().unwrap_or("nothing"),
            )),
        }
    }
    // The aspect names no plant.
    draft.finish(&[sku, Some("-")], findings);
}
