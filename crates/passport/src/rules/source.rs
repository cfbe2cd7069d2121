//! The texts a package is made of, and places in them.

/// One file of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its name as a person knows it, a path relative to the package.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// All files of a package, in the order they were given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources(Vec<Source>);

/// A stretch of text in one of the [`Sources`], in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Which source.
    pub file: u32,
    /// First byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

/// Where a span begins, as an editor counts: both from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Name of the file.
    pub file: String,
    /// Line.
    pub line: usize,
    /// Column.
    pub column: usize,
}

impl Sources {
    /// These files, in this order.
    pub fn new(files: Vec<Source>) -> Self {
        Self(files)
    }

    /// One file, as tests and small tools have it.
    pub fn single(name: &str, text: &str) -> Self {
        Self(vec![Source { name: name.to_owned(), text: text.to_owned() }])
    }

    /// The files.
    pub fn files(&self) -> &[Source] {
        &self.0
    }

    /// The text a span stands for; empty if it points nowhere.
    pub fn text(&self, span: Span) -> &str {
        self.0
            .get(span.file as usize)
            .and_then(|file| file.text.get(span.start as usize..span.end as usize))
            .unwrap_or("")
    }

    /// Where a span begins.
    pub fn place(&self, span: Span) -> Place {
        let Some(file) = self.0.get(span.file as usize) else {
            return Place { file: String::new(), line: 0, column: 0 };
        };
        let before = file.text.get(..span.start as usize).unwrap_or(&file.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Place {
            file: file.name.clone(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

impl Span {
    /// From the beginning of `self` to the end of `other`; both must be of one file.
    pub fn to(self, other: Span) -> Span {
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_counts_lines_and_characters_from_one() {
        let sources = Sources::single("a.rules", "é\nüb c");
        let span = Span { file: 0, start: 6, end: 7 };
        assert_eq!(sources.place(span).to_string(), "a.rules:2:3");
    }

    #[test]
    fn a_span_that_points_nowhere_has_no_text() {
        let sources = Sources::single("a.rules", "é");
        assert_eq!(sources.text(Span { file: 0, start: 1, end: 2 }), "");
        assert_eq!(sources.text(Span { file: 9, start: 0, end: 1 }), "");
    }
}
