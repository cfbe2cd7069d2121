//! Documents to facts.
//!
//! A document is accepted whole or refused whole: either every fact it holds of its kind, each with
//! where it stands in the document, or every problem it has. No document panics or hangs this
//! module, and no number passes through floating point.

mod batterypass;
mod catenax;
mod detect;
mod draft;
mod native;
mod shape;
mod units;
mod words;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use bpc_core::Hash;

use crate::facts::{Fact, FactType, Problem};
use crate::hash::sha256;
use crate::json::{Json, Node};
use detect::Model;
use draft::Findings;

/// The largest document.
pub const MAX_DOCUMENT_BYTES: usize = 16 * 1024 * 1024;

/// How many problems of one document are reported.
pub const MAX_PROBLEMS: usize = 1000;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$variant_doc])* $variant,)* }

        impl $name {
            /// All of them.
            pub const ALL: &[$name] = &[$($name::$variant,)*];

            /// The word for it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $name {
            type Err = UnknownWord;
            fn from_str(text: &str) -> Result<Self, UnknownWord> {
                Self::ALL.iter().copied().find(|one| one.name() == text).ok_or(UnknownWord)
            }
        }
    };
}

/// No such kind or format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not one of the known words")]
pub struct UnknownWord;

words! {
    /// What a document is about.
    DocumentKind {
        /// The battery, its makers, parts and materials.
        Bom = "BOM",
        /// Carbon footprints.
        Pcf = "PCF",
        /// Supply-chain due diligence.
        DueDiligence = "DUE_DILIGENCE",
        /// Anything else: kept, never parsed.
        Other = "OTHER",
    }
}

words! {
    /// How a document is written.
    Format {
        /// Our own: facts as their schemas name them.
        Native = "native",
        /// The Catena-X aspect models.
        CatenaX = "catenax",
        /// The BatteryPass models: BatteryPass-Ready, the SAMM aspects, GS1 source passports.
        BatteryPass = "batterypass",
        /// Whichever of these it looks like.
        Auto = "auto",
    }
}

/// What to import.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The document as it was uploaded.
    pub bytes: &'a [u8],
    /// What it is about.
    pub kind: DocumentKind,
    /// How it is written.
    pub format: Format,
    /// The battery it belongs to, for documents that do not name one.
    pub sku: Option<&'a str>,
}

/// What a document holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// SHA-256 of the bytes as they were uploaded.
    pub document_hash: Hash,
    /// How it was written.
    pub format: Format,
    /// The facts, sorted by type and key, no two of one name.
    pub facts: Vec<SourcedFact>,
}

/// A fact and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcedFact {
    /// The fact.
    pub fact: Fact,
    /// For each field, the JSON pointer of the value it was read from.
    pub sources: BTreeMap<&'static str, String>,
}

/// Why a document was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// Documents of this kind hold no facts.
    #[error("documents of kind {0} are kept but not parsed; parsed are BOM, PCF and DUE_DILIGENCE")]
    UnsupportedKind(DocumentKind),
    /// The document has problems.
    #[error("the document has {} problems, the first: {}", .0.len(), .0[0])]
    Rejected(
        /// All of them, at least one, at most [`MAX_PROBLEMS`].
        Vec<Problem>,
    ),
}

impl ImportError {
    /// The stable name, for machines.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnsupportedKind(_) => "UNSUPPORTED_DOCUMENT_KIND",
            Self::Rejected(_) => "DOCUMENT_REJECTED",
        }
    }

    /// Everything that is wrong with the document.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::UnsupportedKind(_) => &[],
            Self::Rejected(problems) => problems,
        }
    }
}

impl DocumentKind {
    /// Whether documents of this kind hold facts of that type.
    #[must_use]
    pub fn holds(self, fact_type: FactType) -> bool {
        use FactType::{DueDiligence, Incident, Pcf, PcfInput, SupplyActor};
        match self {
            Self::Bom => !matches!(fact_type, Pcf | PcfInput | DueDiligence | SupplyActor | Incident),
            Self::Pcf => matches!(fact_type, Pcf | PcfInput | FactType::Document),
            Self::DueDiligence => {
                matches!(fact_type, DueDiligence | SupplyActor | Incident | FactType::Document)
            }
            Self::Other => false,
        }
    }
}

/// Reads a document.
///
/// # Errors
///
/// [`ImportError::UnsupportedKind`] for kind OTHER; otherwise every problem the document has, each
/// with code, place, what was expected and what was found.
pub fn import(request: Request<'_>) -> Result<Imported, ImportError> {
    if request.kind == DocumentKind::Other {
        return Err(ImportError::UnsupportedKind(request.kind));
    }
    let document_hash = sha256(&[request.bytes]);
    let rejected = |problem| ImportError::Rejected(vec![problem]);
    let json = read(request.bytes).map_err(rejected)?;
    let root = Node::root(&json);
    let model = detect::model(&root, request.format).map_err(rejected)?;
    let mut findings = Findings::default();
    let subject = Subject { kind: request.kind, sku: request.sku };
    match model {
        Model::Native => native::import(&root, subject, &mut findings),
        Model::BatteryPassReady => batterypass::ready::import(&root, subject, &mut findings),
        Model::Samm => batterypass::samm::import(&root, subject, &mut findings),
        Model::Gs1 => batterypass::gs1::import(&root, subject, &mut findings),
        Model::CatenaXBatteryPass => catenax::battery_pass::import(&root, subject, &mut findings),
        Model::CatenaXPcf => catenax::pcf::import(&root, subject, &mut findings),
        Model::CatenaXBom => catenax::bom::import(&root, subject, &mut findings),
    }
    let facts = findings.finish(request.kind).map_err(ImportError::Rejected)?;
    Ok(Imported { document_hash, format: model.format(), facts })
}

/// What an importer is asked for.
#[derive(Debug, Clone, Copy)]
struct Subject<'a> {
    kind: DocumentKind,
    sku: Option<&'a str>,
}

fn read(bytes: &[u8]) -> Result<Json, Problem> {
    if bytes.len() > MAX_DOCUMENT_BYTES {
        let expected = format!("at most {MAX_DOCUMENT_BYTES} bytes");
        return Err(Problem::new("DOCUMENT_TOO_LARGE", "", expected, bytes.len().to_string()));
    }
    Json::read(bytes).map_err(|error| {
        let pointer = match &error {
            crate::json::ReadError::DuplicateKey { pointer } => pointer.clone(),
            _ => String::new(),
        };
        Problem::new(
            error.code(),
            pointer,
            "one JSON value in UTF-8, or in UTF-16 with a byte order mark",
            error.to_string(),
        )
    })
}
