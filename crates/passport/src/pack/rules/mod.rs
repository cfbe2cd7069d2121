//! Rule package versions: added as text, tested, published.
//!
//! DRAFT becomes VALIDATED by a run of its tests that passes the gate, and PUBLISHED by a person. A published
//! version never changes; its id follows from its text.

mod add;
pub(super) mod events;
mod explain;
mod library;
mod publish;
mod run_tests;
mod state;

pub use add::{AddedRules, add_rules, test_rules};
pub use events::TestsRun;
pub use explain::{RuleText, explain_rule};
pub(in crate::pack) use library::Library;
pub use library::load_rules;
pub use publish::publish_rules;
pub use run_tests::RunRuleTests;
pub use state::{RuleStatus, RuleVersion, rule_version};
