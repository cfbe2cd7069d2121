//! Which model a document follows.

use super::Format;
use crate::facts::Problem;
use crate::json::Node;

/// A model that an importer reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Model {
    Native,
    BatteryPassReady,
    Samm,
    Gs1,
    CatenaXBatteryPass,
    CatenaXPcf,
    CatenaXBom,
}

impl Model {
    pub(super) fn format(self) -> Format {
        match self {
            Model::Native => Format::Native,
            Model::BatteryPassReady | Model::Samm | Model::Gs1 => Format::BatteryPass,
            Model::CatenaXBatteryPass | Model::CatenaXPcf | Model::CatenaXBom => Format::CatenaX,
        }
    }
}

/// The roots under which BatteryPass-Ready has put its seven groups, by version of its schemas.
pub(super) const READY_ROOTS: &[&str] =
    &["/Battery_Passport", "/EV", "/LMT", "/OtherIndustrial2kWh", "/Industrial2kWh", "/IndustrialWithoutBMS"];

/// What each model is known by: any of these places holds something.
const MARKS: &[(Model, &[&str])] = &[
    (Model::Native, &["/facts"]),
    (Model::BatteryPassReady, READY_ROOTS),
    (Model::Gs1, &["/technicalSpecifications"]),
    (Model::CatenaXBatteryPass, &["/performance/rated", "/identification/identification"]),
    (Model::CatenaXPcf, &["/productLifeCycleStagesAndEmissions", "/companyAndProductInformation", "/pcf"]),
    (Model::CatenaXBom, &["/childItems"]),
    (
        Model::Samm,
        &[
            "/generalProductInformation",
            "/batteryPassportIdentifier",
            "/carbonFootprintPerLifecycleStage",
            "/batteryCarbonFootprint",
            "/batteryMaterials",
            "/batteryChemistry",
            "/hazardousSubstances",
        ],
    ),
];

/// The model of the document, if it is one of that format.
pub(super) fn model(root: &Node<'_>, format: Format) -> Result<Model, Problem> {
    let marked = MARKS.iter().find(|(_, marks)| marks.iter().any(|mark| root.at(mark).is_present()));
    let found = marked.map(|(model, _)| *model).or_else(|| relations(root).then_some(Model::CatenaXBom));
    match found {
        Some(model) if format == Format::Auto || model.format() == format => Ok(model),
        Some(model) => {
            let (expected, found) =
                (format!("a document of format {format}"), format!("one of format {}", model.format()));
            Err(Problem::new("FORMAT_MISMATCH", "", expected, found))
        }
        None => Err(Problem::new(
            "FORMAT_UNKNOWN",
            "",
            "a native, Catena-X or BatteryPass document",
            root.value().map_or("nothing", |value| value.kind()),
        )),
    }
}

/// A map of assets, each with its children.
fn relations(root: &Node<'_>) -> bool {
    let members = root.members();
    !members.is_empty() && members.iter().all(|(_, asset)| asset.at("/childItems").is_present())
}
