//! Words of other models beside ours. Compared without regard to case.

/// Pairs of their word and ours.
pub(super) type Words = &'static [(&'static str, &'static str)];

pub(super) const CATEGORIES: Words = &[
    ("electric vehicle battery", "ev"),
    ("EV battery", "ev"),
    ("EV", "ev"),
    ("electric-vehicle", "ev"),
    ("EVBattery", "ev"),
    ("LMT battery", "lmt"),
    ("light means of transport battery", "lmt"),
    ("LMT", "lmt"),
    ("LMTBattery", "lmt"),
    ("industrial battery", "industrial"),
    ("industrial/stationary battery", "industrial"),
    ("industrial/non-stationary battery", "industrial"),
    ("industrial battery without BMS", "industrial"),
    ("stationary battery", "industrial"),
    ("industrial", "industrial"),
    ("industrial battery energy storage system", "industrial"),
    ("IndustrialBattery", "industrial"),
    ("StationaryBattery", "industrial"),
    ("stationary", "industrial"),
    ("SLI", "sli"),
    ("SLI battery", "sli"),
    ("portable", "portable"),
    ("portable battery", "portable"),
];

/// Categories that say whether the battery stands still.
pub(super) const STATIONARY: &[(&str, bool)] = &[
    ("industrial/stationary battery", true),
    ("stationary battery", true),
    ("StationaryBattery", true),
    ("stationary", true),
    ("industrial/non-stationary battery", false),
];

pub(super) const STATUSES: Words = &[
    ("original", "original"),
    ("repurposed", "repurposed"),
    ("re-used", "re-used"),
    ("reused", "re-used"),
    ("remanufactured", "remanufactured"),
    ("waste", "waste"),
];

pub(super) const CHEMISTRIES: Words = &[
    ("Li-ion LCO", "Li-ion LCO"),
    ("Li-ion LFP", "Li-ion LFP"),
    ("Li-ion LMO", "Li-ion LMO"),
    ("Li-ion NCA", "Li-ion NCA"),
    ("Li-ion NMC", "Li-ion NMC"),
    ("Li-metal", "Li-metal"),
    ("Na-ion", "Na-ion"),
    ("Ni-Cd", "Ni-Cd"),
    ("Ni-MH", "Ni-MH"),
    ("Pb", "Pb"),
    ("LCO", "Li-ion LCO"),
    ("LFP", "Li-ion LFP"),
    ("LMO", "Li-ion LMO"),
    ("NCA", "Li-ion NCA"),
    ("NMC", "Li-ion NMC"),
    ("NCM", "Li-ion NMC"),
    ("NiCd", "Ni-Cd"),
    ("NiMH", "Ni-MH"),
    ("lead-acid", "Pb"),
    ("Lithium Cobalt Oxide (LCO)", "Li-ion LCO"),
    ("Lithium Iron Phosphate (LFP)", "Li-ion LFP"),
    ("Lithium Manganese Oxide (LMO)", "Li-ion LMO"),
    ("Nickel Cobalt Aluminium (NCA)", "Li-ion NCA"),
    ("Nickel Cobalt Manganese (NCM)", "Li-ion NMC"),
    ("LiCoO2", "Li-ion LCO"),
    ("LiFePO4", "Li-ion LFP"),
    ("LiMn2O4", "Li-ion LMO"),
    ("LiNiCoAlO2", "Li-ion NCA"),
    ("LiNiMnCoO2", "Li-ion NMC"),
    ("PbO2", "Pb"),
];

pub(super) const HAZARD_CLASSES: Words = &[
    ("AcuteToxicity", "acute_toxicity"),
    ("SkinCorrosionOrIrritation", "skin_corrosion_or_irritation"),
    ("EyeDamageOrIrritation", "eye_damage_or_irritation"),
    ("RespiratoryOrSkinSensitization", "respiratory_or_skin_sensitisation"),
    ("RespiratoryOrSkinSensitisation", "respiratory_or_skin_sensitisation"),
    ("GermCellMutagenicity", "germ_cell_mutagenicity"),
    ("Carcinogenicity", "carcinogenicity"),
    ("ReproductiveToxicity", "reproductive_toxicity"),
    ("SpecificTargetOrganToxicity", "specific_target_organ_toxicity"),
    ("AspirationHazard", "aspiration_hazard"),
    ("AspirationToxicity", "aspiration_hazard"),
    ("EndocrineDisruption", "endocrine_disruption"),
    ("AquaticHazard", "hazardous_to_the_aquatic_environment"),
    ("AquaticToxicity", "hazardous_to_the_aquatic_environment"),
    ("HazardousToTheAquaticEnvironment", "hazardous_to_the_aquatic_environment"),
    ("HazardousToTheOzoneLayer", "hazardous_to_the_ozone_layer"),
    ("Flammable", "physical"),
    ("Explosive", "physical"),
    ("Oxidising", "physical"),
];

/// Where in a battery a substance is.
pub(super) const LOCATIONS: Words = &[
    ("Cathode", "cathode"),
    ("Anode", "anode"),
    ("Electrolyte", "electrolyte"),
    ("Separator", "separator"),
    ("Collector", "collector"),
    ("CurrentCollector", "collector"),
    ("Housing", "housing"),
    ("Casing", "housing"),
    ("Module", "module"),
    ("Cell", "cell"),
    ("Pack", "pack"),
    ("BMS", "bms"),
];

pub(super) const PCF_STATUSES: Words = &[("active", "active"), ("deprecated", "deprecated")];

pub(super) const DECLARED_UNITS: Words = &[
    ("kilogram", "kg"),
    ("piece", "piece"),
    ("kilowatt hour", "kwh"),
    ("liter", "liter"),
    ("cubic meter", "cubic_meter"),
    ("square meter", "square_meter"),
    ("megajoule", "megajoule"),
    ("ton kilometer", "ton_kilometer"),
    ("hour", "hour"),
    ("megabit second", "megabit_second"),
];

pub(super) const BOUNDARIES: Words =
    &[("Cradle-to-gate", "cradle_to_gate"), ("Cradle-to-grave", "cradle_to_grave")];

/// Standards by which a footprint was calculated.
pub(super) const METHODS: Words = &[
    ("ISO 14067", "ISO14067"),
    ("ISO Standard 14067", "ISO14067"),
    ("ISO 14067:2018", "ISO14067"),
    ("ISO14067", "ISO14067"),
    ("GHGP-Product", "GHGP"),
    ("GHG Protocol", "GHGP"),
    ("GHG Protocol Product standard", "GHGP"),
    ("PEF", "PEFCR"),
    ("PACT-3.0", "PACT_3"),
    ("PACT Methodology 3.0", "PACT_3"),
];

/// Our word for theirs.
pub(super) fn ours<T: Copy>(words: &[(&str, T)], theirs: &str) -> Option<T> {
    words.iter().find(|(word, _)| word.eq_ignore_ascii_case(theirs)).map(|(_, ours)| *ours)
}
