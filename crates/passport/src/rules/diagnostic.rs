//! What is wrong with a package: a stable code, a sentence, the source it is about, and help.

use annotate_snippets::{AnnotationKind, Element, Group, Level, Patch, Renderer, Snippet};

use super::source::{Sources, Span};

/// Stable names for what can be wrong with a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// The text is not in the language.
    RuleParseError,
    /// A name is not known here.
    RuleNameUnknown,
    /// A name, rule, pointer or data point is defined twice.
    RuleDuplicate,
    /// Types do not fit.
    RuleTypeError,
    /// Units are of different dimensions.
    UnitMismatch,
    /// A `match` leaves a value out, or names one that cannot be.
    RuleMatchNotExhaustive,
    /// A table has no row for some arguments.
    RuleTableGap,
    /// A table has two rows for some arguments.
    RuleTableOverlap,
    /// Definitions need one another in a circle.
    RuleCycleDetected,
    /// A `must` rule names no law.
    RuleCiteMissing,
    /// Static cost is above what an evaluation may spend. A warning.
    RuleCostHigh,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What kind of thing.
    pub code: Code,
    /// A sentence.
    pub message: String,
    /// The text it is about.
    pub span: Span,
    /// What to write at that text.
    pub label: String,
    /// Other places that belong to it.
    pub also: Vec<(Span, String)>,
    /// What can be done.
    pub help: Vec<String>,
    /// A text that would be better, in place of what the span holds.
    pub suggestion: Option<(Span, String)>,
}

/// All that is wrong, in the order of the text. Never empty when returned as an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Code {
    /// The name that scripts rely on.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::RuleParseError => "RULE_PARSE_ERROR",
            Code::RuleNameUnknown => "RULE_NAME_UNKNOWN",
            Code::RuleDuplicate => "RULE_DUPLICATE",
            Code::RuleTypeError => "RULE_TYPE_ERROR",
            Code::UnitMismatch => "UNIT_MISMATCH",
            Code::RuleMatchNotExhaustive => "RULE_MATCH_NOT_EXHAUSTIVE",
            Code::RuleTableGap => "RULE_TABLE_GAP",
            Code::RuleTableOverlap => "RULE_TABLE_OVERLAP",
            Code::RuleCycleDetected => "RULE_CYCLE_DETECTED",
            Code::RuleCiteMissing => "RULE_CITE_MISSING",
            Code::RuleCostHigh => "RULE_COST_HIGH",
        }
    }

    /// What to do about it, where nothing more exact is said.
    fn help(self) -> &'static str {
        match self {
            Code::RuleParseError => "docs/RULES.md shows how each item is written",
            Code::RuleNameUnknown => {
                "names are those of the fact schemas and of this package; see docs/RULES.md"
            }
            Code::RuleDuplicate => "rename one of them, or take one out",
            Code::RuleTypeError => "docs/RULES.md says which types each word of the language takes",
            Code::UnitMismatch => "quantities meet within one dimension only; see the units in docs/RULES.md",
            Code::RuleMatchNotExhaustive => "name every value once, or write `_ => ..` for the rest",
            Code::RuleTableGap => "add rows, or `otherwise => ..;` for all the rest",
            Code::RuleTableOverlap => "make the rows exclude each other",
            Code::RuleCycleDetected => "nothing may need itself",
            Code::RuleCiteMissing => "write `cite \"Art. ..\"` after `must`",
            Code::RuleCostHigh => "avoid lists inside lists",
        }
    }

    /// Whether a package can be used in spite of it.
    pub fn is_warning(self) -> bool {
        self == Code::RuleCostHigh
    }
}

impl Diagnostic {
    /// A diagnostic about one stretch of text.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            span,
            label: String::new(),
            also: Vec::new(),
            help: Vec::new(),
            suggestion: None,
        }
    }

    /// Writes something at the text itself.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Shows another place.
    pub fn also(mut self, span: Span, label: impl Into<String>) -> Self {
        self.also.push((span, label.into()));
        self
    }

    /// Says what can be done.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// Offers a better text for a span.
    pub fn suggest(mut self, span: Span, text: impl Into<String>) -> Self {
        self.suggestion = Some((span, text.into()));
        self
    }

    /// Offers the known name that looks most like the unknown one, if any does.
    pub fn did_you_mean<'a>(self, span: Span, wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        match nearest(wrong, known) {
            Some(name) => self.help(format!("did you mean `{name}`?")).suggest(span, name),
            None => self,
        }
    }

    /// As text for a person, with the source around it.
    pub fn render(&self, sources: &Sources, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&self.report(sources))
    }

    fn report<'a>(&'a self, sources: &'a Sources) -> Vec<Group<'a>> {
        let level = if self.code.is_warning() { Level::WARNING } else { Level::ERROR };
        let mut group =
            level.primary_title(self.message.as_str()).id(self.code.as_str()).elements(Vec::<Element>::new());
        for (number, file) in sources.files().iter().enumerate() {
            let number = number as u32;
            let mut annotations = Vec::new();
            if self.span.file == number {
                annotations.push(
                    AnnotationKind::Primary
                        .span(range(self.span))
                        .label(Some(self.label.as_str()).filter(|l| !l.is_empty())),
                );
            }
            for (span, label) in self.also.iter().filter(|(span, _)| span.file == number) {
                annotations.push(AnnotationKind::Context.span(range(*span)).label(label.as_str()));
            }
            if !annotations.is_empty() {
                group = group.element(
                    Snippet::source(file.text.as_str()).path(file.name.as_str()).annotations(annotations),
                );
            }
        }
        let (last, rest) = match (&self.suggestion, self.help.split_last()) {
            (Some(suggestion), Some((last, rest))) => (Some((suggestion, last)), rest),
            _ => (None, self.help.as_slice()),
        };
        for help in rest {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        if self.help.is_empty() {
            group = group.element(Level::HELP.message(self.code.help()));
        }
        let mut groups = vec![group];
        if let Some(((span, text), help)) = last
            && let Some(file) = sources.files().get(span.file as usize)
        {
            let patch = Patch::new(range(*span), text.as_str());
            let snippet = Snippet::source(file.text.as_str()).path(file.name.as_str()).patch(patch);
            groups.push(Level::HELP.secondary_title(help.as_str()).element(snippet));
        }
        groups
    }
}

impl Diagnostics {
    /// As text for a person, one after the other.
    pub fn render(&self, sources: &Sources, colour: bool) -> String {
        let mut texts: Vec<String> = self.0.iter().map(|one| one.render(sources, colour)).collect();
        let errors = self.0.iter().filter(|one| !one.code.is_warning()).count();
        if errors > 0 {
            texts.push(format!("{errors} error{} in the rule package", if errors == 1 { "" } else { "s" }));
        }
        texts.join("\n\n") + "\n"
    }

    /// Whether something in here keeps the package from being used.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|one| !one.code.is_warning())
    }

    /// Sorts by place, so that two runs and two readers see the same order.
    pub(super) fn sorted(mut self) -> Self {
        self.0.sort_by(|left, right| {
            (left.span, left.code, &left.message).cmp(&(right.span, right.code, &right.message))
        });
        self.0.dedup();
        self
    }
}

/// The name most like `wrong`, if one is close: at most a third of its letters differ.
pub(super) fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (wrong.chars().count() / 3).max(1);
    known
        .into_iter()
        .filter(|name| *name != wrong)
        .map(|name| (strsim::damerau_levenshtein(&wrong.to_lowercase(), &name.to_lowercase()), name))
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, name)| name)
}

fn range(span: Span) -> std::ops::Range<usize> {
    span.start as usize..span.end as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_near() {
        assert_eq!(nearest("v_mim", ["v_max", "v_min", "mass"]), Some("v_min"));
        assert_eq!(nearest("category", ["mass"]), None);
        assert_eq!(nearest("x", ["y"]), Some("y"));
    }

    #[test]
    fn a_diagnostic_shows_source_code_and_help() {
        let sources = Sources::single("a.rules", "check b.v_mim > 1\n");
        let span = Span { file: 0, start: 8, end: 13 };
        let text = Diagnostic::new(Code::RuleNameUnknown, span, "Battery has no field `v_mim`")
            .label("not a field")
            .did_you_mean(span, "v_mim", ["v_min"])
            .render(&sources, false);
        assert!(text.contains("error[RULE_NAME_UNKNOWN]: Battery has no field `v_mim`"), "{text}");
        assert!(text.contains("a.rules:1:9"), "{text}");
        assert!(text.contains("did you mean `v_min`?"), "{text}");
        assert!(text.contains("check b.v_min > 1"), "{text}");
    }
}
