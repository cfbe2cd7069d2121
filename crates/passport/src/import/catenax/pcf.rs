//! Product carbon footprints of suppliers: `io.catenax.pcf` 9 with its groups, and the flat form of
//! 7 and of PACT, from which it grew.

use super::super::draft::{Draft, Findings};
use super::super::shape::Shape;
use super::super::words::{BOUNDARIES, DECLARED_UNITS, METHODS, PCF_STATUSES, ours};
use super::super::{DocumentKind, Subject};
use crate::facts::{FactType, Problem, Value};
use crate::json::Node;
use crate::value::Unit;

/// Field, its places by version of the model (the first that holds something counts), its shape.
const ROWS: &[(&str, &[&str], Shape)] = &[
    (
        "value",
        &[
            "/productLifeCycleStagesAndEmissions/0/productionStage/0/pcfExcludingBiogenicUptake",
            "/pcf/pcfExcludingBiogenicUptake",
            "/pcf/pcfExcludingBiogenic",
            "/pcf/pCfExcludingBiogenic",
        ],
        Shape::In(Unit::KilogramCo2e),
    ),
    (
        "declared_unit",
        &[
            "/companyAndProductInformation/0/productInformation/0/declaredUnitOfMeasurement",
            "/pcf/declaredUnitOfMeasurement",
            "/pcf/declaredUnit",
        ],
        Shape::Words(DECLARED_UNITS),
    ),
    (
        "amount",
        &[
            "/companyAndProductInformation/0/productInformation/0/declaredUnitAmount",
            "/pcf/declaredUnitAmount",
            "/pcf/unitaryProductAmount",
        ],
        Shape::Plain,
    ),
    (
        "mass_per_unit",
        &[
            "/companyAndProductInformation/0/productInformation/0/productMassPerDeclaredUnit",
            "/pcf/productMassPerDeclaredUnit",
        ],
        Shape::In(Unit::Kilogram),
    ),
    (
        "product",
        &[
            "/companyAndProductInformation/0/productInformation/0/productNameCompany",
            "/productName",
            "/productNameCompany",
        ],
        Shape::Plain,
    ),
    (
        "supplier_id",
        &["/companyAndProductInformation/0/companyInformation/0/companyIds/0", "/companyIds/0"],
        Shape::Plain,
    ),
    ("boundary", BOUNDARY, Shape::Words(BOUNDARIES)),
    (
        "pcf_id",
        &["/pcfAssessmentAndMethodology/0/pcfAssessmentInformation/0/idAndVersion/0/id", "/id"],
        Shape::Plain,
    ),
    (
        "status",
        &[
            "/pcfAssessmentAndMethodology/0/pcfAssessmentInformation/0/idAndVersion/0/status",
            "/status",
            "/extWBCSD_pfStatus",
        ],
        Shape::Words(PCF_STATUSES),
    ),
    (
        "ref_start",
        &[
            "/pcfAssessmentAndMethodology/0/pcfAssessmentInformation/0/time/0/referencePeriodStart",
            "/pcf/referencePeriodStart",
        ],
        Shape::Day,
    ),
    (
        "ref_end",
        &[
            "/pcfAssessmentAndMethodology/0/pcfAssessmentInformation/0/time/0/referencePeriodEnd",
            "/pcf/referencePeriodEnd",
        ],
        Shape::Day,
    ),
    (
        "valid_from",
        &[
            "/pcfAssessmentAndMethodology/0/pcfAssessmentInformation/0/time/0/validityPeriodStart",
            "/validityPeriodStart",
        ],
        Shape::Day,
    ),
    (
        "valid_to",
        &[
            "/pcfAssessmentAndMethodology/0/pcfAssessmentInformation/0/time/0/validityPeriodEnd",
            "/validityPeriodEnd",
        ],
        Shape::Day,
    ),
    (
        "geography",
        &[
            "/pcfAssessmentAndMethodology/0/pcfAssessmentInformation/0/geography/0/geographyCountry",
            "/pcf/geographyCountry",
        ],
        Shape::Plain,
    ),
    (
        "exempted_pct",
        &[
            "/pcfAssessmentAndMethodology/0/pcfAssessmentInformation/0/boundarySpecifications/0/exemptedEmissionsPercent",
            "/pcf/exemptedEmissionsPercent",
        ],
        Shape::In(Unit::Percent),
    ),
    (
        "primary_data_share",
        &["/pcfAssessmentAndMethodology/0/dataSourcesAndQuality/0/primaryDataShare", "/pcf/primaryDataShare"],
        Shape::In(Unit::Percent),
    ),
    (
        "dqr_tech",
        &[
            "/pcfAssessmentAndMethodology/0/dataSourcesAndQuality/0/technologicalDQR",
            "/pcf/dqi/technologicalDQR",
        ],
        Shape::Plain,
    ),
    (
        "dqr_geo",
        &[
            "/pcfAssessmentAndMethodology/0/dataSourcesAndQuality/0/geographicalDQR",
            "/pcf/dqi/geographicalDQR",
        ],
        Shape::Plain,
    ),
    (
        "dqr_time",
        &["/pcfAssessmentAndMethodology/0/dataSourcesAndQuality/0/temporalDQR", "/pcf/dqi/temporalDQR"],
        Shape::Plain,
    ),
];

const BOUNDARY: &[&str] = &["/scopeOfPcfForm/0/partialFullPcf", "/partialFullPcf"];

const PRODUCTS: &[&str] =
    &["/companyAndProductInformation/0/productInformation/0/productIds/0", "/productIds/0"];

const STANDARDS: &[&str] = &[
    "/pcfAssessmentAndMethodology/0/pcfMethodology/0/standards/0/crossSectoralStandards",
    "/pcf/crossSectoralStandardsUsed",
    "/pcf/crossSectoralStandards",
];

pub(in super::super) fn import(root: &Node<'_>, subject: Subject<'_>, findings: &mut Findings) {
    if subject.kind != DocumentKind::Pcf {
        return;
    }
    let product = root.first_of(PRODUCTS);
    if product.text().is_none() {
        findings.problem(Problem::new(
            "FIELD_MISSING",
            product.pointer(),
            "the id of the product",
            "nothing",
        ));
    }
    let mut draft = Draft::new(FactType::PcfInput, root);
    for (field, places, shape) in ROWS {
        draft.take(field, &root.first_of(places), *shape);
    }
    // PACT has no field for the boundary: its footprints end at the gate.
    if !root.first_of(BOUNDARY).is_present() && root.at("/pcf").is_present() {
        draft.set("boundary", Value::Tag("cradle_to_gate"), &root.at("/specVersion"));
    }
    // Several standards may be named; the first that we have a word for counts.
    for standard in root.first_of(STANDARDS).items() {
        let name = standard.text().or_else(|| standard.at("/crossSectoralStandard").text());
        if let (Some(method), None) = (name.and_then(|name| ours(METHODS, name)), draft.field("method")) {
            draft.set("method", Value::Tag(method), &standard);
        }
    }
    // A footprint that names no battery belongs to the product it names.
    let sku = subject.sku.or(product.text());
    draft.finish(&[sku, product.text()], findings);
}
