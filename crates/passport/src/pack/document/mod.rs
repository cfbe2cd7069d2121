//! Documents: uploaded once, parsed once.
//!
//! A document's id follows from tenant, bytes, kind, format and battery, so the same upload again is the
//! same document. UPLOADED becomes VALIDATED with every fact it states, or REJECTED with every problem.

mod add;
mod events;
mod parse_facts;
mod read;
mod state;
mod stated;
mod view;

pub use add::{AddedDocument, NewDocument, add_document};
pub(in crate::pack) use events::FactName;
pub use parse_facts::ParseFacts;
pub(in crate::pack) use parse_facts::in_shares;
pub use read::{DocumentRow, FactFilter, FactRow, documents, facts};
pub use state::{Document, DocumentStatus, document};
pub use stated::{StatedFact, stated_facts};

use bpc_worker::Registry;

pub(super) fn register(registry: &mut Registry) {
    registry
        .job(ParseFacts)
        .event(events::STREAM, events::UPLOADED)
        .event(events::STREAM, events::PARSED)
        .event(events::STREAM, events::REJECTED)
        .blob(events::PARSED, "stated")
        .blob(events::REJECTED, "report")
        .projection(view::Documents);
}
