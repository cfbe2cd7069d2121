//! What a fact of a type may say.

use super::{bom, due_diligence, pcf};
use crate::value::Unit;

macro_rules! fact_types {
    ($($variant:ident $name:literal $schema:path;)*) => {
        /// What a fact is about.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "the schemas say it")]
        pub enum FactType {
            $($variant,)*
        }

        impl FactType {
            /// All of them.
            pub const ALL: &[FactType] = &[$(FactType::$variant,)*];

            /// The name in stored bytes and in rules.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(FactType::$variant => $name,)* }
            }

            /// Its schema.
            #[must_use]
            pub const fn schema(self) -> &'static FactSchema {
                match self { $(FactType::$variant => &$schema,)* }
            }
        }
    };
}

fact_types! {
    Battery "Battery" bom::BATTERY;
    Operator "Operator" bom::OPERATOR;
    Facility "Facility" bom::FACILITY;
    Component "Component" bom::COMPONENT;
    Material "Material" bom::MATERIAL;
    RecycledShare "RecycledShare" bom::RECYCLED_SHARE;
    Renewable "Renewable" bom::RENEWABLE;
    Document "Document" bom::DOCUMENT;
    State "State" bom::STATE;
    Pcf "PCF" pcf::PCF;
    PcfInput "PcfInput" pcf::PCF_INPUT;
    DueDiligence "DueDiligence" due_diligence::DUE_DILIGENCE;
    SupplyActor "SupplyActor" due_diligence::SUPPLY_ACTOR;
    Incident "Incident" due_diligence::INCIDENT;
}

impl FactType {
    /// The type of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|fact_type| fact_type.name() == name)
    }
}

impl std::fmt::Display for FactType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// The fields of one fact type.
#[derive(Debug, PartialEq, Eq)]
pub struct FactSchema {
    /// Which type.
    pub fact_type: FactType,
    /// Raised when a field changes its meaning; part of a fact's identity.
    pub version: u32,
    /// What a key begins with, before the colon: `battery`.
    pub key_prefix: &'static str,
    /// What follows the colon, segments between slashes: `["sku", "facility"]`.
    pub key_segments: &'static [&'static str],
    /// The fields, sorted by name.
    pub fields: &'static [Field],
    /// Groups of optional fields of which at least one must be present.
    pub one_of: &'static [&'static [&'static str]],
}

impl FactSchema {
    /// The field of that name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.binary_search_by(|field| field.name.cmp(name)).ok().map(|at| &self.fields[at])
    }

    /// Whether keys of this type begin with the SKU of a battery.
    #[must_use]
    pub fn has_sku(&self) -> bool {
        self.key_segments.first() == Some(&"sku")
    }
}

/// One field.
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    /// `[a-z][a-z0-9_]*`.
    pub name: &'static str,
    /// What it holds.
    pub field_type: FieldType,
    /// Whether a fact without it is refused.
    pub required: bool,
    /// Who may see its value.
    pub access: Access,
}

/// What a field holds.
#[derive(Debug, PartialEq, Eq)]
pub enum FieldType {
    /// `true` or `false`.
    Bool,
    /// An integer from the first to the second, both included.
    Int(i64, i64),
    /// A bare number.
    Dec(Bound),
    /// A number kept in this unit; documents may use another of its dimension.
    Qty(Unit, Bound),
    /// A day.
    Date,
    /// A month.
    Month,
    /// Text of a form.
    Text(TextForm),
    /// One of a closed list of words.
    Tag(&'static TagSet),
    /// Any number of these, in the order of the document.
    List(&'static FieldType),
    /// A record with fields of its own, sorted by name.
    Rec(&'static [Field]),
}

/// A closed list of words.
#[derive(Debug, PartialEq, Eq)]
pub struct TagSet {
    /// What the list is called.
    pub name: &'static str,
    /// Its words.
    pub tags: &'static [&'static str],
}

impl TagSet {
    /// The word itself, if it is in the list.
    #[must_use]
    pub fn tag(&self, word: &str) -> Option<&'static str> {
        self.tags.iter().copied().find(|tag| *tag == word)
    }
}

/// Between which numbers a value makes sense at all; rules judge the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// Any number.
    Any,
    /// More than 0.
    Positive,
    /// 0 or more.
    NotNegative,
    /// From the first to the second, both included.
    Within(i64, i64),
}

/// What a text must look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextForm {
    /// 1 to 4096 bytes without control characters.
    Free,
    /// A web address: `http` or `https`, no spaces.
    Url,
    /// A CAS Registry Number with its check digit.
    Cas,
    /// An EC number with its check digit.
    Ec,
    /// A GTIN with its check digit.
    Gtin,
    /// ISO 3166-1 alpha-2.
    Country,
    /// A language tag such as `de` or `pt-BR`.
    Language,
    /// SHA-256 in lowercase hex.
    Sha256,
    /// The four digits of a notified body.
    NotifiedBody,
    /// A hazard statement code such as `H350` or `EUH066`.
    HazardCode,
}

/// Who may see a value, by the points of Annex XIII. They are sections, not levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Point 1: everybody.
    Public,
    /// Point 2: legitimate interest, authorities and the Commission.
    Restricted,
    /// Point 3: authorities and the Commission.
    Authority,
    /// Point 4: legitimate interest.
    Interest,
    /// Nobody: used by rules, never shown.
    Internal,
}

pub(super) const fn required(name: &'static str, field_type: FieldType, access: Access) -> Field {
    Field { name, field_type, required: true, access }
}

pub(super) const fn optional(name: &'static str, field_type: FieldType, access: Access) -> Field {
    Field { name, field_type, required: false, access }
}
