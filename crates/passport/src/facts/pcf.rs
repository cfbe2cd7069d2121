//! What a carbon footprint document says.

use super::schema::Access::{Public, Restricted};
use super::schema::Bound::{Any, NotNegative, Positive, Within};
use super::schema::FieldType::{Date, Dec, List, Qty, Tag, Text};
use super::schema::TextForm::{Free, NotifiedBody, Url};
use super::schema::{FactSchema, FactType, optional, required};
use super::tags;
use crate::value::Unit::{Kilogram, KilogramCo2e, KilogramCo2ePerKilowattHour, KilowattHour, Percent};

// Public passports carry the footprint without method, period and geography, so these are not
// demanded here; rules that need them ask for them. Stages are signed: end of life may be a credit.
pub(super) static PCF: FactSchema = FactSchema {
    fact_type: FactType::Pcf,
    version: 1,
    key_prefix: "pcf",
    key_segments: &["sku", "facility"],
    fields: &[
        optional("absolute", Qty(KilogramCo2e, Any), Public),
        optional("class", Text(Free), Public),
        optional("doc_id", Text(Free), Public),
        optional("dqr_geo", Dec(Within(1, 5)), Public),
        optional("dqr_tech", Dec(Within(1, 5)), Public),
        optional("dqr_time", Dec(Within(1, 5)), Public),
        optional("exempted_pct", Qty(Percent, Within(0, 100)), Public),
        required("functional_unit", Tag(&tags::FUNCTIONAL_UNIT), Public),
        optional("geography", Text(Free), Public),
        optional("method", Tag(&tags::METHOD), Public),
        required("per_unit", Qty(KilogramCo2ePerKilowattHour, Any), Public),
        optional("primary_data_share", Qty(Percent, Within(0, 100)), Public),
        optional("ref_end", Date, Public),
        optional("ref_start", Date, Public),
        optional("service_energy", Qty(KilowattHour, Positive), Public),
        required("stage_distribution", Qty(KilogramCo2ePerKilowattHour, Any), Public),
        required("stage_eol", Qty(KilogramCo2ePerKilowattHour, Any), Public),
        required("stage_production", Qty(KilogramCo2ePerKilowattHour, Any), Public),
        required("stage_raw", Qty(KilogramCo2ePerKilowattHour, Any), Public),
        optional("status", Tag(&tags::PCF_STATUS), Public),
        optional("study_url", Text(Url), Public),
        optional("supersedes", List(&Text(Free)), Public),
        optional("verified_by", Text(NotifiedBody), Public),
    ],
    one_of: &[],
};

// A supplier's footprint is between businesses, so nothing of it is public.
pub(super) static PCF_INPUT: FactSchema = FactSchema {
    fact_type: FactType::PcfInput,
    version: 1,
    key_prefix: "pcfin",
    key_segments: &["sku", "component"],
    fields: &[
        required("amount", Dec(Positive), Restricted),
        required("boundary", Tag(&tags::BOUNDARY), Restricted),
        required("declared_unit", Tag(&tags::DECLARED_UNIT), Restricted),
        optional("dqr_geo", Dec(Within(1, 5)), Restricted),
        optional("dqr_tech", Dec(Within(1, 5)), Restricted),
        optional("dqr_time", Dec(Within(1, 5)), Restricted),
        optional("exempted_pct", Qty(Percent, Within(0, 100)), Restricted),
        optional("geography", Text(Free), Restricted),
        optional("mass_per_unit", Qty(Kilogram, NotNegative), Restricted),
        optional("method", Tag(&tags::METHOD), Restricted),
        optional("pcf_id", Text(Free), Restricted),
        optional("primary_data_share", Qty(Percent, Within(0, 100)), Restricted),
        optional("product", Text(Free), Restricted),
        optional("ref_end", Date, Restricted),
        optional("ref_start", Date, Restricted),
        optional("status", Tag(&tags::PCF_STATUS), Restricted),
        optional("supersedes", List(&Text(Free)), Restricted),
        optional("supplier_id", Text(Free), Restricted),
        optional("valid_from", Date, Restricted),
        optional("valid_to", Date, Restricted),
        required("value", Qty(KilogramCo2e, Any), Restricted),
    ],
    one_of: &[],
};
