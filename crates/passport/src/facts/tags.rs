//! The closed lists of words that fields may hold.

use super::schema::TagSet;

macro_rules! tag_sets {
    ($($name:ident $title:literal [$($tag:literal)*];)*) => {
        $(pub(super) static $name: TagSet = TagSet { name: $title, tags: &[$($tag,)*] };)*
    };
}

tag_sets! {
    CATEGORY "Category" ["ev" "lmt" "industrial" "sli" "portable"];
    STORAGE "Storage" ["none" "partly_external" "exclusively_external"];
    STATUS "Status" ["original" "repurposed" "re-used" "remanufactured" "waste"];
    CHEMISTRY "Chemistry" [
        "Li-ion LCO" "Li-ion LFP" "Li-ion LMO" "Li-ion NCA" "Li-ion NMC" "Li-metal" "Na-ion" "Ni-Cd" "Ni-MH" "Pb"
    ];
    // `responsible` is for documents that name the economic operator without saying what it is.
    OPERATOR_ROLE "OperatorRole" ["manufacturer" "importer" "authorised_rep" "second_life" "pro" "responsible"];
    ID_SCHEME "IdScheme" ["gln" "other"];
    COMPONENT_ROLE "ComponentRole" [
        "pack" "module" "cell" "cathode" "anode" "electrolyte" "separator" "collector" "housing" "bms" "thermal"
        "other"
    ];
    // The classes and categories of Article 3 of Regulation (EC) 1272/2008 by hazard, as the public
    // passport models group them.
    HAZARD_CLASS "HazardClass" [
        "acute_toxicity" "skin_corrosion_or_irritation" "eye_damage_or_irritation"
        "respiratory_or_skin_sensitisation" "germ_cell_mutagenicity" "carcinogenicity" "reproductive_toxicity"
        "specific_target_organ_toxicity" "aspiration_hazard" "endocrine_disruption" "persistent_or_mobile"
        "hazardous_to_the_aquatic_environment" "hazardous_to_the_ozone_layer" "physical" "other"
    ];
    METAL "Metal" ["cobalt" "lithium" "nickel" "lead"];
    BASIS "Basis" ["active_material" "battery"];
    DOCUMENT_KIND "DocumentKind" [
        "doc_of_conformity" "test_report" "dismantling" "safety" "waste_a" "waste_b" "waste_c" "waste_d" "waste_e"
        "waste_f" "separate_collection" "cd_symbol" "pb_symbol" "label_meaning" "part_numbers" "spare_parts"
        "instructions" "cf_label" "negative_events" "environment" "due_diligence_report" "third_party_assurance"
    ];
    FUNCTIONAL_UNIT "FunctionalUnit" ["service_life_kwh"];
    METHOD "Method" ["EU_CFB" "PEFCR" "PACT_3" "CATENAX_RULEBOOK_4" "ISO14067" "GHGP"];
    PCF_STATUS "PcfStatus" ["active" "deprecated"];
    DECLARED_UNIT "DeclaredUnit" [
        "kg" "piece" "kwh" "liter" "cubic_meter" "square_meter" "megajoule" "ton_kilometer" "hour" "megabit_second"
    ];
    BOUNDARY "Boundary" ["cradle_to_gate" "cradle_to_grave"];
    DD_MATERIAL "DueDiligenceMaterial" ["cobalt" "natural_graphite" "lithium" "nickel"];
    ACTOR_ROLE "ActorRole" ["mine" "smelter" "refiner" "precursor" "cam" "cell"];
    // The risk categories of Annex X, point 2.
    RISK "Risk" [
        "air" "water" "soil" "biodiversity" "hazardous_substances" "noise_and_vibration" "plant_safety" "energy_use"
        "waste_and_residues" "health_and_safety" "child_labour" "forced_labour" "discrimination"
        "trade_union_freedoms" "human_rights" "community_life" "indigenous_peoples" "conflict" "corruption" "other"
    ];
    INCIDENT_STATUS "IncidentStatus" ["new" "open" "closed"];
}
