//! Which ways evaluations took, and which they have not taken.

use std::collections::{BTreeMap, BTreeSet};

use crate::rules::eval::probe::Probe;
use crate::rules::program::{NodeId, Op, Program};
use crate::rules::source::Span;
use crate::rules::verdict::Verdict;

/// Ways that were taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::rules) struct Coverage {
    /// Node and way; for tables the way is the row.
    pub(in crate::rules) ways: BTreeSet<(u32, u32)>,
    /// Rule and verdict.
    pub(in crate::rules) verdicts: BTreeSet<(usize, Verdict)>,
    /// Table and row, of lookups.
    pub(in crate::rules) rows: BTreeSet<(usize, usize)>,
}

/// A way that can be taken.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::rules) struct Way {
    /// Where it is written.
    pub(in crate::rules) span: Span,
    /// What it is, for people.
    pub(in crate::rules) what: String,
}

impl Probe for Coverage {
    fn branch(&mut self, node: NodeId, way: u32) {
        self.ways.insert((node.0, way));
    }

    fn verdict(&mut self, rule: usize, verdict: Verdict) {
        self.verdicts.insert((rule, verdict));
    }
}

impl Coverage {
    pub(in crate::rules) fn merge(&mut self, other: &Coverage) {
        self.ways.extend(&other.ways);
        self.verdicts.extend(&other.verdicts);
        self.rows.extend(&other.rows);
    }

    /// All branches of a program, and those that were not taken.
    pub(in crate::rules) fn branches(&self, program: &Program) -> (usize, Vec<Way>) {
        let mut all = 0;
        let mut missed = Vec::new();
        let mut note = |hit: bool, span: Span, what: String| {
            all += 1;
            if !hit {
                missed.push(Way { span, what });
            }
        };
        let mut rows: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (table, row) in &self.rows {
            rows.entry(*table).or_default().insert(*row);
        }
        for id in reachable(program) {
            let node = program.node(id);
            let hit = |way: u32| self.ways.contains(&(id.0, way));
            match &node.op {
                Op::Table(table, _) => {
                    let taken = self.ways.range((id.0, 0)..=(id.0, u32::MAX)).map(|(_, row)| *row as usize);
                    rows.entry(*table).or_default().extend(taken);
                }
                Op::Logic(logic, left, right) => {
                    let sides =
                        [(*left, 0, "false"), (*left, 1, "true"), (*right, 2, "false"), (*right, 3, "true")];
                    for (side, way, value) in sides {
                        let what = format!("side of `{}` that is {value}", logic.as_str());
                        note(hit(way), program.node(side).span, what);
                    }
                }
                op => {
                    for (way, what) in ways(op) {
                        note(hit(way), node.span, what);
                    }
                }
            }
        }
        for rule in &program.rules {
            for (condition, word) in [(rule.filter, "where"), (rule.unless, "unless")] {
                let Some(condition) = condition else { continue };
                for (way, value) in [(100, "false"), (101, "true")] {
                    let hit = self.ways.contains(&(condition.0, way));
                    note(
                        hit,
                        program.node(condition).span,
                        format!("`{word}` of {} that is {value}", rule.id),
                    );
                }
            }
        }
        for (index, table) in program.tables.iter().enumerate() {
            let taken = rows.get(&index);
            for (row, written) in table.rows.iter().enumerate() {
                let hit = taken.is_some_and(|taken| taken.contains(&row));
                note(hit, written.span, format!("row of table {}", table.name));
            }
            if let Some((_, span)) = &table.otherwise {
                let hit = taken.is_some_and(|taken| taken.contains(&table.rows.len()));
                note(hit, *span, format!("`otherwise` of table {}", table.name));
            }
        }
        missed.sort();
        (all, missed)
    }

    /// Verdicts that rules can come to and did not.
    pub(in crate::rules) fn missed_verdicts(&self, program: &Program) -> Vec<(String, Verdict)> {
        let rules = program.rules.iter().enumerate();
        rules
            .flat_map(|(index, rule)| rule.possible.iter().map(move |verdict| (index, rule, *verdict)))
            .filter(|(index, _, verdict)| !self.verdicts.contains(&(*index, *verdict)))
            .map(|(_, rule, verdict)| (rule.id.clone(), verdict))
            .collect()
    }
}

/// Nodes that an evaluation can come to, each once, in the order of the arena.
pub(in crate::rules) fn reachable(program: &Program) -> BTreeSet<NodeId> {
    let emits = program.emits.iter().map(|emit| emit.value);
    let roots: Vec<NodeId> = program.rules.iter().flat_map(|rule| rule.roots()).chain(emits).collect();
    let mut nodes = BTreeSet::new();
    for root in roots {
        program.walk(root, &mut |id, _| nodes.extend([id]));
    }
    nodes
}

fn ways(op: &Op) -> Vec<(u32, String)> {
    let truths = |what: &str| vec![(0, format!("{what} that is false")), (1, format!("{what} that is true"))];
    match op {
        Op::Compare(compare, ..) => truths(&format!("`{}`", compare.as_str())),
        Op::In(..) => truths("`in`"),
        Op::ContainsAll(..) => truths("`contains_all`"),
        Op::Present(..) | Op::HasValue(_) => truths("`present`"),
        Op::Emitted(_) => truths("`emitted`"),
        Op::If(..) => vec![(0, "`else`".to_owned()), (1, "`then`".to_owned())],
        Op::MatchOpt(..) => vec![(0, "arm for `none`".to_owned()), (1, "arm for `some`".to_owned())],
        Op::MatchTag(_, _, arms) => {
            (0..arms.len()).map(|arm| (arm as u32, format!("arm {}", arm + 1))).collect()
        }
        _ => Vec::new(),
    }
}
