//! Aligned columns.

use super::{Output, Paint};

/// Rows of cells, printed with every column as wide as its widest cell.
pub struct Table {
    headings: Vec<&'static str>,
    right: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// With these headings; a heading that begins with `>` aligns its column to the right.
    pub fn new<const N: usize>(headings: [&'static str; N]) -> Self {
        Table {
            right: headings.iter().map(|heading| heading.starts_with('>')).collect(),
            headings: headings.iter().map(|heading| heading.trim_start_matches('>')).collect(),
            rows: Vec::new(),
        }
    }

    /// Names and values side by side, without headings.
    pub fn pairs() -> Self {
        Table::bare(2)
    }

    /// So many columns, without headings.
    pub fn bare(columns: usize) -> Self {
        Table { headings: Vec::new(), right: vec![false; columns], rows: Vec::new() }
    }

    /// Add a row.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        debug_assert_eq!(N, self.right.len());
        self.rows.push(cells.into());
    }

    /// Add a name and a value.
    pub fn pair(&mut self, name: &str, value: impl ToString) {
        self.row([name.to_owned(), value.to_string()]);
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Print it.
    pub fn print(&self, output: &Output) {
        self.lines(output.paint()).iter().for_each(|line| output.line(line));
    }

    fn lines(&self, paint: Paint) -> Vec<String> {
        let mut widths: Vec<usize> = vec![0; self.right.len()];
        let headings: Vec<String> = self.headings.iter().map(|text| (*text).to_owned()).collect();
        for row in self.rows.iter().chain([&headings]) {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(visible_width(cell));
            }
        }
        let mut lines = Vec::with_capacity(self.rows.len() + 1);
        if !headings.is_empty() {
            lines.push(paint.faint(self.aligned(&headings, &widths)));
        }
        lines.extend(self.rows.iter().map(|row| self.aligned(row, &widths)));
        lines
    }

    fn aligned(&self, cells: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for ((cell, width), right) in cells.iter().zip(widths).zip(&self.right) {
            let gap = " ".repeat(width.saturating_sub(visible_width(cell)));
            let (before, after) = if *right { (gap.as_str(), "") } else { ("", gap.as_str()) };
            line.extend([before, cell, after, "  "]);
        }
        line.truncate(line.trim_end().len());
        line
    }
}

/// Characters that take room: colour does not.
fn visible_width(text: &str) -> usize {
    let mut in_escape = false;
    let takes_room = |c: char| {
        let counts = !in_escape && c != '\u{1b}';
        in_escape = if in_escape { c != 'm' } else { c == '\u{1b}' };
        counts
    };
    text.chars().map(takes_room).filter(|counts| *counts).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_does_not_move_columns() {
        for on in [false, true] {
            let paint = Paint::new(on);
            let mut table = Table::new(["STATUS", ">JOBS"]);
            table.row([paint.good("SUCCEEDED"), "7".to_owned()]);
            table.row(["x".to_owned(), "1200".to_owned()]);
            let lines = table.lines(paint);
            let widths: Vec<usize> = lines.iter().map(|line| visible_width(line)).collect();
            assert_eq!(widths, [15, 15, 15], "{lines:?}");
        }
    }
}
