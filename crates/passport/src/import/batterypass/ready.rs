//! BatteryPass-Ready: one object, seven groups, every attribute of the longlist under its title.

use super::super::detect::READY_ROOTS;
use super::super::draft::{Draft, Findings};
use super::super::shape::Shape;
use super::super::words::{CATEGORIES, CHEMISTRIES, STATIONARY, STATUSES, ours};
use super::super::{DocumentKind, Subject};
use super::{Row, document, facility, last_part, needed, substances, take_rows};
use crate::facts::{FactType, Problem, Value};
use crate::json::Node;
use crate::value::{Quantity, is_gtin};

const PERCENT: Shape = Shape::Measure("percentageValue", "percent");
const VOLT: Shape = Shape::Measure("voltValue", "volt");
const CELSIUS: Shape = Shape::Measure("celsiusValue", "degreeCelsius");
const CHARGE: Shape = Shape::Measure("amperehourMiliamperehourValue", "ampereHourMiliamperehour");
const CARBON: Shape =
    Shape::Measure("kgCO2-equivalentPerKilowattHourValue", "kgCO2-equivalentPerKilowattHour");

const PRODUCT: &[Row] = &[
    ("unique_id", "/UniqueBatteryPassportIdentifierUniqueDPPIdentifier", Shape::Plain),
    ("serial", "/BatterySerialNumber", Shape::Plain),
    ("operator_id", "/UniqueEconomicOperatorIdentifier", Shape::Plain),
    ("manufacturer_id", "/UniqueManufacturerIdentifier", Shape::Plain),
    ("facility_id", "/UniqueFacilityIdentifier", Shape::Plain),
    ("manufactured", "/ManufacturingDate", Shape::MonthOf),
    ("in_service", "/DateOfPuttingTheBatteryIntoService", Shape::Day),
    ("warranty_until", "/WarrantyPeriodOfTheBattery", Shape::Day),
    ("category", "/BatteryCategory/batteryCategoryValue", Shape::Words(CATEGORIES)),
    ("status", "/BatteryStatus/batteryStatusValues", Shape::Words(STATUSES)),
    ("mass", "/BatteryMass", Shape::Measure("gramKgValue", "gramKg")),
];

const PERFORMANCE: &[Row] = &[
    ("rated_capacity", "/RatedCapacity", CHARGE),
    ("v_min", "/MinimumVoltage", VOLT),
    ("v_nom", "/NominalVoltage", VOLT),
    ("v_max", "/MaximumVoltage", VOLT),
    ("capacity_exhaustion", "/CapacityThresholdForExhaustion", PERCENT),
    ("rte_initial", "/InitialRoundTripEnergyEfficiency", PERCENT),
    ("rte_50", "/RoundTripEnergyEfficiencyAt50OfCycleLife", PERCENT),
    ("expected_years", "/ExpectedLifetimeInCalendarYears", Shape::Plain),
    ("cycle_test_ref", "/Cycle-lifeReferenceTest", Shape::Plain),
    (
        "c_rate",
        "/C-rateOfRelevantCycle-lifeTest",
        Shape::Measure("amperePerAmpereHourValue", "amperePerAmpereHour"),
    ),
    ("temp_idle_min", "/TemperatureRangeIdleStateLowerBoundary", CELSIUS),
    ("temp_idle_max", "/TemperatureRangeIdleStateUpperBoundary", CELSIUS),
    ("power_80soc", "/OriginalPowerCapability", Shape::Measure("wattValueAt80SoC", "watt")),
    ("power_20soc", "/OriginalPowerCapability", Shape::Measure("wattValueAt20SoC", "watt")),
    ("power_limit", "/MaximumPermittedBatteryPower", Shape::Measure("wattValue", "watt")),
    (
        "resistance_pack",
        "/InitialInternalResistanceOfBatteryCellAndPackModuleRecommended",
        Shape::Measure("ohmValue", "ohm"),
    ),
];

const CYCLES: &[&str] = &[
    "/ExpectedLifetime-NumberOfCharge-dischargeCycles",
    "/ExpectedLifetime-NumberOfChargeOrDischargeCycles",
];

const MATERIALS: &[Row] = &[
    ("electrode_materials", "/MaterialsUsedInCathodeAnodeAndElectrolyte", Shape::Plain),
    ("hazard_statement", "/HazardousSubstances", Shape::Plain),
    ("crm_statement", "/CriticalRawMaterials", Shape::Plain),
];

const STATE: &[Row] = &[
    ("capacity_fade", "/CapacityFade", PERCENT),
    ("soc", "/StateOfChargeSoC", PERCENT),
    ("power_80soc", "/RemainingPowerCapability", Shape::Measure("wattValueAt80SoC", "watt")),
    ("power_20soc", "/RemainingPowerCapability", Shape::Measure("wattValueAt20SoC", "watt")),
    ("power_fade", "/PowerFade", PERCENT),
    ("rte", "/RemainingRoundTripEnergyEfficiency", PERCENT),
    ("rte_fade", "/EnergyRoundTripEfficiencyFade", PERCENT),
    ("resistance_increase", "/InternalResistanceIncreaseOfPackCellAndModuleRecommended", PERCENT),
    ("full_cycles", "/NumberOfFullChargingAndDischargingCycles", Shape::Plain),
    ("deep_discharges", "/NumberOfDeepDischargeEvents", Shape::Plain),
    ("temperature", "/TemperatureInformation", CELSIUS),
    ("soce", "/StateOfCertifiedEnergySOCE", PERCENT),
    ("remaining_capacity", "/RemainingCapacity", CHARGE),
    ("self_discharge_evolution", "/EvolutionOfSelf-dischargeRates", PERCENT),
    ("energy_throughput", "/EnergyThroughput", Shape::Measure("kilowattHourValue", "kilowattHour")),
    (
        "capacity_throughput",
        "/CapacityThroughput",
        Shape::Measure("amperehourMiliamperehourValue", "amperehourMiliamperehour"),
    ),
];

const FOOTPRINT: &[Row] = &[
    ("per_unit", "/BatteryCarbonFootprintPerFunctionalUnit", CARBON),
    ("stage_raw", "/ContributionOfRawMaterialAcquisitionAndPre-processingLifecycleStage", CARBON),
    ("stage_production", "/ContributionOfMainProductProductionLifecycleStage", CARBON),
    ("stage_distribution", "/ContributionOfDistributionLifecycleStage", CARBON),
    ("stage_eol", "/ContributionOfEndOfLifeAndRecyclingLifecycleStage", CARBON),
    ("class", "/CarbonFootprintPerformanceClass", Shape::Plain),
    ("study_url", "/WebLinkToPublicCarbonFootprintStudy", Shape::Plain),
];

/// Kind, title and place of what the passport links to.
const DOCUMENTS: &[(&str, &str, &str)] = &[
    (
        "dismantling",
        "Dismantling information",
        "/CircularityAndResourceEfficiency/DismantlingInformation-ManualsForTheRemovalAndTheDisassemblyOfTheBatteryPack",
    ),
    (
        "part_numbers",
        "Part numbers for components",
        "/CircularityAndResourceEfficiency/PartNumbersForComponents",
    ),
    (
        "spare_parts",
        "Sources of spare parts",
        "/CircularityAndResourceEfficiency/InformationOnSourcesOfSpareParts",
    ),
    ("safety", "Safety measures", "/CircularityAndResourceEfficiency/SafetyMeasures"),
    (
        "waste_a",
        "The role of end-users in waste prevention",
        "/CircularityAndResourceEfficiency/InformationOnTheRoleOfEnd-usersInContributingToWastePrevention",
    ),
    (
        "waste_b",
        "The role of end-users in separate collection",
        "/CircularityAndResourceEfficiency/InformationOnTheRoleOfEnd-usersInContributingToTheSeparateCollectionOfWasteBatteries",
    ),
    (
        "waste_c",
        "Collection, second life and treatment",
        "/CircularityAndResourceEfficiency/InformationOnBatteryCollectionPreparationForSecondLifeAndOnTreatmentAtEndOfLife",
    ),
    ("waste_d", "Safety in handling waste batteries", "/CircularityAndResourceEfficiency/SafetyMeasures"),
    (
        "waste_e",
        "Meaning of labels and symbols",
        "/SymbolsLabelsAndDocumentationOfConformity/MeaningOfLabelsAndSymbols",
    ),
    (
        "waste_f",
        "Impact of substances",
        "/BatteryMaterialsAndComposition/ImpactOfSubstancesOnEnvironmentHumanHealthSafetyPersons",
    ),
    (
        "separate_collection",
        "Symbol for separate collection",
        "/SymbolsLabelsAndDocumentationOfConformity/SeparateCollectionSymbol",
    ),
    (
        "cd_symbol",
        "Symbols for cadmium and lead",
        "/SymbolsLabelsAndDocumentationOfConformity/SymbolsForCadmiumAndLead",
    ),
    (
        "pb_symbol",
        "Symbols for cadmium and lead",
        "/SymbolsLabelsAndDocumentationOfConformity/SymbolsForCadmiumAndLead",
    ),
    (
        "label_meaning",
        "Meaning of labels and symbols",
        "/SymbolsLabelsAndDocumentationOfConformity/MeaningOfLabelsAndSymbols",
    ),
    (
        "doc_of_conformity",
        "EU declaration of conformity",
        "/SymbolsLabelsAndDocumentationOfConformity/EUDeclarationOfConformity",
    ),
    (
        "test_report",
        "Results of test reports",
        "/SymbolsLabelsAndDocumentationOfConformity/ResultsOfTestReportsProvingCompliance",
    ),
    ("cf_label", "Carbon footprint label", "/SymbolsLabelsAndDocumentationOfConformity/CarbonFootprintLabel"),
    ("negative_events", "Accidents", "/PerformanceAndDurability/InformationOnAccidents"),
];

const DUE_DILIGENCE: &[(&str, &str, &str)] = &[
    (
        "due_diligence_report",
        "Due diligence report",
        "/SupplyChainDueDiligence/InformationOfDueDiligenceReport",
    ),
    (
        "third_party_assurance",
        "Third-party assurances",
        "/SupplyChainDueDiligence/ThirdPartyAssurancesOfRecognisedSchemes",
    ),
];

/// Metal, share before consumers, share after them. Lead has one share only.
const RECYCLED: &[(&str, &str, &str)] = &[
    ("lithium", "/Pre-consumerRecycledLithiumShare", "/Post-consumerRecycledLithiumShare"),
    ("nickel", "/Pre-consumerRecycledNickelShare", "/Post-consumerRecycledNickelShare"),
    ("cobalt", "/Pre-consumerRecycledCobaltShare", "/Post-consumerRecycledCobaltShare"),
];

pub(in super::super) fn import(root: &Node<'_>, subject: Subject<'_>, findings: &mut Findings) {
    let passport = root.first_of(READY_ROOTS);
    let product = passport.at("/IdentifiersAndProductData");
    let sku = needed(&product.at("/BatteryModelIdentifier"), findings);
    match subject.kind {
        DocumentKind::Bom => {
            battery(&passport, sku, findings);
            operators(&product, findings);
            state(&passport, sku, findings);
            substances::declared(
                sku,
                &passport.at("/BatteryMaterialsAndComposition/HazardousSubstances"),
                &passport.at("/BatteryMaterialsAndComposition/CriticalRawMaterials"),
                findings,
            );
            shares(&passport, sku, findings);
            documents(DOCUMENTS, &passport, sku, findings);
        }
        DocumentKind::Pcf => footprint(&passport, sku, findings),
        DocumentKind::DueDiligence => documents(DUE_DILIGENCE, &passport, sku, findings),
        DocumentKind::Other => {}
    }
}

fn battery(passport: &Node<'_>, sku: Option<&str>, findings: &mut Findings) {
    let product = passport.at("/IdentifiersAndProductData");
    let performance = passport.at("/PerformanceAndDurability");
    let materials = passport.at("/BatteryMaterialsAndComposition");
    let labels = passport.at("/SymbolsLabelsAndDocumentationOfConformity/ExtinguishingAgent");
    let mut draft = Draft::new(FactType::Battery, &product);
    take_rows(&mut draft, &product, PRODUCT);
    take_rows(&mut draft, &performance, PERFORMANCE);
    take_rows(&mut draft, &materials, MATERIALS);
    draft.take("cycles_expected", &performance.first_of(CYCLES), Shape::Plain);
    let chemistry =
        materials.first_of(&["/BatteryChemistry/chemicalCodeValue", "/BatteryChemistry/CustomChemicalCodes"]);
    draft.take("chemistry", &chemistry, Shape::Words(CHEMISTRIES));
    draft.take("extinguishing_agent", &labels.at("/extinguishingAgent"), Shape::Plain);
    draft.take("extinguishing_class", &labels.at("/agentFireClass"), Shape::Plain);
    let model = product.at("/BatteryModelIdentifier");
    draft.take("model_id", &model, Shape::Plain);
    if sku.is_some_and(is_gtin) {
        draft.take("gtin", &model, Shape::Plain);
    }
    let category = product.at("/BatteryCategory/batteryCategoryValue");
    if let Some(stationary) = category.text().and_then(|text| ours(STATIONARY, text)) {
        draft.set("stationary", Value::Bool(stationary), &category);
    }
    draft.finish(&[sku], findings);
}

fn operators(product: &Node<'_>, findings: &mut Findings) {
    let manufacturer = needed(&product.at("/UniqueManufacturerIdentifier"), findings);
    let responsible = needed(&product.at("/UniqueEconomicOperatorIdentifier"), findings);
    operator(manufacturer, "manufacturer", &product.at("/ManufacturerInformation"), findings);
    // One id for both is one operator; what it is called as manufacturer is the better name.
    if responsible != manufacturer {
        operator(responsible, "responsible", &product.at("/EconomicOperatorInformation"), findings);
    }
    let place = product.at("/ManufacturingPlace");
    let plant = needed(&product.at("/UniqueFacilityIdentifier"), findings);
    facility(plant, manufacturer, &place, (place.text().map(last_part), &place), findings);
}

fn operator(id: Option<&str>, role: &'static str, information: &Node<'_>, findings: &mut Findings) {
    let address = information.at("/postalAddress");
    let mut draft = Draft::new(FactType::Operator, information);
    draft.set("role", Value::Tag(role), information);
    draft.take("name", &information.at("/name"), Shape::Plain);
    draft.take("trade_name", &information.at("/registeredTradeNameOrRegisteredTrademark"), Shape::Plain);
    draft.take("web", &information.at("/webAddress"), Shape::Plain);
    draft.take("email", &information.at("/emailAddress"), Shape::Plain);
    draft.take("postal_address", &address, Shape::Plain);
    if let Some(text) = address.text() {
        draft.set("country", Value::Text(last_part(text).to_owned()), &address);
    }
    draft.finish(&[id], findings);
}

fn state(passport: &Node<'_>, sku: Option<&str>, findings: &mut Findings) {
    let product = passport.at("/IdentifiersAndProductData");
    let serial = product.at("/BatterySerialNumber");
    if !serial.is_present() {
        return;
    }
    let mut draft = Draft::new(FactType::State, &passport.at("/PerformanceAndDurability"));
    take_rows(&mut draft, &passport.at("/PerformanceAndDurability"), STATE);
    draft.take("recorded", &product.at("/Date-timeOfLatestUpdateOfDPP"), Shape::Day);
    draft.finish(&[sku, needed(&serial, findings)], findings);
}

fn shares(passport: &Node<'_>, sku: Option<&str>, findings: &mut Findings) {
    let circularity = passport.at("/CircularityAndResourceEfficiency");
    let product = passport.at("/IdentifiersAndProductData");
    let plant = needed(&product.at("/UniqueFacilityIdentifier"), findings);
    let made = product.first_of(&["/ManufacturingDate", "/Date-timeOfLatestUpdateOfDPP"]);
    let year = made.text().and_then(|text| text.get(..4));
    for (metal, before, after) in RECYCLED {
        let (before, after) = (circularity.at(before), circularity.at(after));
        if !before.is_present() && !after.is_present() {
            continue;
        }
        let mut draft = Draft::new(FactType::RecycledShare, &after);
        draft.take("pre_consumer", &before, PERCENT).take("post_consumer", &after, PERCENT);
        draft.set("metal", Value::Tag(metal), &after).set("basis", Value::Tag("active_material"), &after);
        match sum(draft.field("pre_consumer"), draft.field("post_consumer")) {
            Ok(Some(recovered)) => drop(draft.set("recovered", Value::Qty(recovered), &after)),
            Ok(None) => {}
            Err(error) => draft.fail(
                "recovered",
                Problem::new(error.code(), after.pointer(), "shares whose sum has at most 28 digits", "more"),
            ),
        }
        draft.finish(&[sku, plant, year, Some(metal)], findings);
    }
    let lead = circularity.at("/RecycledLeadShare");
    if lead.is_present() {
        let mut draft = Draft::new(FactType::RecycledShare, &lead);
        draft.take("recovered", &lead, PERCENT);
        draft.set("metal", Value::Tag("lead"), &lead).set("basis", Value::Tag("battery"), &lead);
        draft.finish(&[sku, plant, year, Some("lead")], findings);
    }
    let renewable = circularity.at("/RenewableContentShare");
    if renewable.is_present() {
        let mut draft = Draft::new(FactType::Renewable, &renewable);
        draft.take("share", &renewable, PERCENT);
        draft.finish(&[sku, plant, year], findings);
    }
}

/// The sum of those that are there; `None` if neither is.
fn sum(
    one: Option<&Value>,
    other: Option<&Value>,
) -> Result<Option<Quantity>, crate::value::ArithmeticError> {
    match (one, other) {
        (Some(Value::Qty(one)), Some(Value::Qty(other))) => one.checked_add(other).map(Some),
        (Some(Value::Qty(only)), _) | (_, Some(Value::Qty(only))) => Ok(Some(only.clone())),
        _ => Ok(None),
    }
}

fn footprint(passport: &Node<'_>, sku: Option<&str>, findings: &mut Findings) {
    let plant = needed(&passport.at("/IdentifiersAndProductData/UniqueFacilityIdentifier"), findings);
    let footprint = passport.at("/BatteryCarbonFootprint");
    let mut draft = Draft::new(FactType::Pcf, &footprint);
    take_rows(&mut draft, &footprint, FOOTPRINT);
    // The attribute is defined per kWh of the energy that the battery provides over its life.
    draft.set(
        "functional_unit",
        Value::Tag("service_life_kwh"),
        &footprint.at("/BatteryCarbonFootprintPerFunctionalUnit"),
    );
    draft.finish(&[sku, plant], findings);
}

fn documents(
    rows: &[(&'static str, &str, &str)],
    passport: &Node<'_>,
    sku: Option<&str>,
    findings: &mut Findings,
) {
    for (kind, title, path) in rows {
        document(sku, kind, title, 1, &passport.at(path), findings);
    }
}
