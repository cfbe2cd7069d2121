//! What a due-diligence document says. No public model covers it, so this schema is our own.

use super::schema::Access::{Public, Restricted};
use super::schema::Bound::Within;
use super::schema::FieldType::{Bool, Date, Int, List, Qty, Rec, Tag, Text};
use super::schema::TextForm::{Country, Free, Language, NotifiedBody, Url};
use super::schema::{FactSchema, FactType, optional, required};
use super::tags;
use crate::value::Unit::Percent;

pub(super) static DUE_DILIGENCE: FactSchema = FactSchema {
    fact_type: FactType::DueDiligence,
    version: 1,
    key_prefix: "dd",
    key_segments: &["operator", "year"],
    fields: &[
        required("grievance", Bool, Public),
        optional("language", Text(Language), Public),
        required("materials", List(&Tag(&tags::DD_MATERIAL)), Public),
        required("period_end", Date, Public),
        required("period_start", Date, Public),
        required("policy_url", Text(Url), Public),
        required("report_date", Date, Public),
        required("report_url", Text(Url), Public),
        optional("risk_categories", List(&Tag(&tags::RISK)), Public),
        required("risk_plan", Bool, Public),
        optional(
            "schemes",
            List(&Rec(&[required("name", Text(Free), Public), required("recognised", Bool, Public)])),
            Public,
        ),
        optional(
            "verifier",
            Rec(&[
                optional("date", Date, Public),
                required("name", Text(Free), Public),
                required("nb_number", Text(NotifiedBody), Public),
                optional("summary_url", Text(Url), Public),
            ]),
            Public,
        ),
    ],
    one_of: &[],
};

pub(super) static SUPPLY_ACTOR: FactSchema = FactSchema {
    fact_type: FactType::SupplyActor,
    version: 1,
    key_prefix: "actor",
    key_segments: &["id", "material"],
    fields: &[
        optional("audit_date", Date, Restricted),
        optional("audited", Bool, Restricted),
        required("country", Text(Country), Restricted),
        optional("role", Tag(&tags::ACTOR_ROLE), Restricted),
        optional("share", Qty(Percent, Within(0, 100)), Restricted),
        optional("tier", Int(1, 100), Restricted),
    ],
    one_of: &[],
};

pub(super) static INCIDENT: FactSchema = FactSchema {
    fact_type: FactType::Incident,
    version: 1,
    key_prefix: "incident",
    key_segments: &["id"],
    fields: &[
        optional("actor", Text(Free), Restricted),
        optional("category", Tag(&tags::RISK), Restricted),
        optional("date", Date, Restricted),
        optional("material", Text(Free), Restricted),
        optional("status", Tag(&tags::INCIDENT_STATUS), Restricted),
    ],
    one_of: &[],
};
