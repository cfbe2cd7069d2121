//! What a bill-of-materials document says: the battery, who makes it where, what it is made of.

use super::schema::Access::{Authority, Interest, Internal, Public, Restricted};
use super::schema::Bound::{Any, NotNegative, Positive, Within};
use super::schema::FieldType::{Bool, Date, Int, List, Month, Qty, Tag, Text};
use super::schema::TextForm::{Cas, Country, Ec, Free, Gtin, HazardCode, Language, Sha256, Url};
use super::schema::{FactSchema, FactType, optional, required};
use super::tags;
use crate::value::Unit::{
    AmpereHour, AmperePerAmpereHour, DegreeCelsius, Each, Euro, Kilogram, KilowattHour, Ohm, Percent,
    PercentPerMonth, Volt, Watt,
};

pub(super) static BATTERY: FactSchema = FactSchema {
    fact_type: FactType::Battery,
    version: 1,
    key_prefix: "battery",
    key_segments: &["sku"],
    fields: &[
        optional("batch", Text(Free), Public),
        optional("bms", Bool, Public),
        optional("c_rate", Qty(AmperePerAmpereHour, Positive), Public),
        optional("capacity_exhaustion", Qty(Percent, Within(0, 100)), Public),
        required("category", Tag(&tags::CATEGORY), Public),
        required("chemistry", Tag(&tags::CHEMISTRY), Public),
        optional("crm_statement", Text(Free), Public),
        optional("cycle_test_ref", Text(Free), Public),
        optional("cycles_expected", Int(0, 10_000_000), Public),
        optional("electrode_materials", Text(Free), Restricted),
        optional("expected_years", Int(0, 200), Interest),
        optional("extinguishing_agent", Text(Free), Public),
        optional("extinguishing_class", Text(Free), Public),
        optional("facility_id", Text(Free), Public),
        optional("gtin", Text(Gtin), Public),
        optional("hazard_statement", Text(Free), Public),
        optional("in_service", Date, Public),
        required("manufactured", Month, Public),
        optional("manufacturer_id", Text(Free), Public),
        required("mass", Qty(Kilogram, Positive), Public),
        required("model_id", Text(Free), Public),
        required("operator_id", Text(Free), Public),
        optional("placed_on_market", Date, Public),
        optional("power_20soc", Qty(Watt, NotNegative), Public),
        required("power_80soc", Qty(Watt, NotNegative), Public),
        required("power_limit", Qty(Watt, NotNegative), Public),
        optional("prior_passport", Text(Free), Public),
        required("rated_capacity", Qty(AmpereHour, Positive), Public),
        optional("rated_energy", Qty(KilowattHour, Positive), Public),
        optional("resistance_cell", Qty(Ohm, NotNegative), Public),
        optional("resistance_pack", Qty(Ohm, NotNegative), Public),
        optional("rte_50", Qty(Percent, Within(0, 100)), Public),
        optional("rte_initial", Qty(Percent, Within(0, 100)), Public),
        optional("serial", Text(Free), Public),
        optional("stationary", Bool, Public),
        required("status", Tag(&tags::STATUS), Interest),
        optional("storage", Tag(&tags::STORAGE), Public),
        required("temp_idle_max", Qty(DegreeCelsius, Within(-274, 1000)), Public),
        required("temp_idle_min", Qty(DegreeCelsius, Within(-274, 1000)), Public),
        optional("unique_id", Text(Free), Public),
        required("v_max", Qty(Volt, NotNegative), Public),
        required("v_min", Qty(Volt, NotNegative), Public),
        required("v_nom", Qty(Volt, Positive), Public),
        optional("warranty_months", Int(0, 1200), Public),
        optional("warranty_until", Date, Public),
    ],
    one_of: &[&["serial", "batch"]],
};

pub(super) static OPERATOR: FactSchema = FactSchema {
    fact_type: FactType::Operator,
    version: 1,
    key_prefix: "operator",
    key_segments: &["id"],
    fields: &[
        optional("contact", Text(Free), Public),
        required("country", Text(Country), Public),
        optional("email", Text(Free), Public),
        optional("eori", Text(Free), Public),
        required("name", Text(Free), Public),
        // Decides whether due diligence is owed; never part of a passport.
        optional("net_turnover", Qty(Euro, NotNegative), Internal),
        required("postal_address", Text(Free), Public),
        required("role", Tag(&tags::OPERATOR_ROLE), Public),
        optional("trade_name", Text(Free), Public),
        optional("web", Text(Free), Public),
    ],
    one_of: &[],
};

pub(super) static FACILITY: FactSchema = FactSchema {
    fact_type: FactType::Facility,
    version: 1,
    key_prefix: "facility",
    key_segments: &["id"],
    fields: &[
        required("country", Text(Country), Public),
        required("id_scheme", Tag(&tags::ID_SCHEME), Public),
        required("operator_id", Text(Free), Public),
        required("place", Text(Free), Public),
    ],
    one_of: &[],
};

pub(super) static COMPONENT: FactSchema = FactSchema {
    fact_type: FactType::Component,
    version: 1,
    key_prefix: "component",
    key_segments: &["sku", "path"],
    fields: &[
        optional("mass", Qty(Kilogram, NotNegative), Restricted),
        optional("name", Text(Free), Restricted),
        optional("parent", Text(Free), Restricted),
        required("part_number", Text(Free), Restricted),
        required("quantity", Qty(Each, Positive), Restricted),
        required("role", Tag(&tags::COMPONENT_ROLE), Restricted),
        optional("supplier_id", Text(Free), Restricted),
    ],
    one_of: &[],
};

// Public passports name critical and hazardous substances without their masses, so a mass is not
// demanded here; rules that need one ask for it.
pub(super) static MATERIAL: FactSchema = FactSchema {
    fact_type: FactType::Material,
    version: 1,
    key_prefix: "material",
    key_segments: &["sku", "path", "substance"],
    fields: &[
        optional("cas", Text(Cas), Public),
        optional("crm", Bool, Public),
        optional("ec", Text(Ec), Public),
        optional("hazard", List(&Text(HazardCode)), Public),
        optional("hazard_class", Tag(&tags::HAZARD_CLASS), Public),
        optional("location", Text(Free), Restricted),
        optional("mass", Qty(Kilogram, NotNegative), Restricted),
        optional("name", Text(Free), Public),
        required("role", Tag(&tags::COMPONENT_ROLE), Restricted),
        optional("svhc", Bool, Public),
    ],
    one_of: &[&["cas", "ec"]],
};

pub(super) static RECYCLED_SHARE: FactSchema = FactSchema {
    fact_type: FactType::RecycledShare,
    version: 1,
    key_prefix: "recycled",
    key_segments: &["sku", "facility", "year", "metal"],
    fields: &[
        required("basis", Tag(&tags::BASIS), Public),
        optional("evidence", Text(Free), Public),
        required("metal", Tag(&tags::METAL), Public),
        optional("post_consumer", Qty(Percent, Within(0, 100)), Public),
        optional("pre_consumer", Qty(Percent, Within(0, 100)), Public),
        required("recovered", Qty(Percent, Within(0, 100)), Public),
    ],
    one_of: &[],
};

pub(super) static RENEWABLE: FactSchema = FactSchema {
    fact_type: FactType::Renewable,
    version: 1,
    key_prefix: "renewable",
    key_segments: &["sku", "facility", "year"],
    fields: &[
        optional("materials", List(&Text(Free)), Public),
        required("share", Qty(Percent, Within(0, 100)), Public),
    ],
    one_of: &[],
};

// Who may see a document follows from its kind, see `Fact::access`.
pub(super) static DOCUMENT: FactSchema = FactSchema {
    fact_type: FactType::Document,
    version: 1,
    key_prefix: "doc",
    key_segments: &["sku", "kind", "n"],
    fields: &[
        optional("issued", Date, Authority),
        required("kind", Tag(&tags::DOCUMENT_KIND), Public),
        optional("language", Text(Language), Authority),
        optional("mime", Text(Free), Authority),
        optional("sha256", Text(Sha256), Authority),
        optional("text", Text(Free), Authority),
        required("title", Text(Free), Authority),
        optional("url", Text(Url), Authority),
    ],
    one_of: &[&["text", "url"]],
};

pub(super) static STATE: FactSchema = FactSchema {
    fact_type: FactType::State,
    version: 1,
    key_prefix: "state",
    key_segments: &["sku", "serial"],
    fields: &[
        optional("capacity_fade", Qty(Percent, Within(-100, 100)), Interest),
        optional("capacity_throughput", Qty(AmpereHour, NotNegative), Interest),
        optional("deep_discharges", Int(0, 1_000_000_000), Interest),
        optional("energy_throughput", Qty(KilowattHour, NotNegative), Interest),
        optional("full_cycles", Int(0, 10_000_000), Interest),
        optional("power_20soc", Qty(Watt, NotNegative), Interest),
        optional("power_80soc", Qty(Watt, NotNegative), Interest),
        optional("power_fade", Qty(Percent, Within(-100, 100)), Interest),
        required("recorded", Date, Interest),
        optional("remaining_capacity", Qty(AmpereHour, NotNegative), Interest),
        optional("remaining_energy", Qty(KilowattHour, NotNegative), Interest),
        optional("resistance_cell", Qty(Ohm, NotNegative), Interest),
        optional("resistance_increase", Qty(Percent, Within(-100, 100_000)), Interest),
        optional("resistance_pack", Qty(Ohm, NotNegative), Interest),
        optional("rte", Qty(Percent, Within(0, 100)), Interest),
        optional("rte_fade", Qty(Percent, Within(-100, 100)), Interest),
        optional("self_discharge", Qty(PercentPerMonth, Any), Interest),
        optional("self_discharge_evolution", Qty(Percent, Any), Interest),
        optional("soc", Qty(Percent, Within(0, 100)), Interest),
        optional("soce", Qty(Percent, NotNegative), Interest),
        optional("temperature", Qty(DegreeCelsius, Within(-274, 1000)), Interest),
    ],
    one_of: &[],
};
