//! The proof document: what the tree is made of, and how the results were found.

use std::collections::BTreeSet;

use bpc_core::CanonicalJson;
use bpc_core::canonical::{write_integer, write_string};

use super::reads::number;
use crate::facts::Access;
use crate::json::Json;
use crate::proof::{Leaf, ProofTree, Roots};
use crate::rules::eval::{Trace, TraceValue};
use crate::rules::{EmissionState, Results};

/// Writes the document. By hand and in order, because the trace has thousands of nodes.
pub(super) fn write(
    passport_version: &str,
    tree: &ProofTree,
    reads: &[BTreeSet<Access>],
    results: &Results,
) -> CanonicalJson {
    // Room for all of it: a step takes about 40 bytes.
    let mut out = Vec::with_capacity(24 * 1024 + 40 * results.trace.len());
    out.extend_from_slice(b"{\"facts\":");
    list(&mut out, &tree.facts, |out, leaf| out.extend_from_slice(leaf.object.as_bytes()));
    out.extend_from_slice(b",\"format\":\"BPC-PROOF-1\",\"held\":");
    held(&mut out, results);
    out.extend_from_slice(b",\"passport_version_id\":");
    write_string(passport_version, &mut out);
    out.extend_from_slice(b",\"results\":");
    let with_reads: Vec<_> = tree.results.iter().zip(reads).collect();
    list(&mut out, &with_reads, |out, (leaf, reads)| {
        out.extend_from_slice(b"{\"r\":");
        out.extend_from_slice(leaf.object.as_bytes());
        out.extend_from_slice(b",\"reads\":");
        let mut numbers: Vec<_> = reads.iter().map(|access| number(*access)).collect();
        numbers.sort_unstable();
        list(out, &numbers, |out, number| write_integer(*number as i64, out));
        out.push(b'}');
    });
    out.extend_from_slice(b",\"roots\":");
    out.extend_from_slice(roots(&tree.roots).canonical().expect("texts are canonical").as_bytes());
    out.extend_from_slice(b",\"sections\":");
    list(&mut out, &tree.sections, |out, leaves| {
        list(out, leaves, |out, leaf| out.extend_from_slice(pointer(leaf)))
    });
    out.extend_from_slice(b",\"trace\":");
    trace(&mut out, &results.trace);
    out.push(b'}');
    CanonicalJson::from_trusted(out)
}

/// The roots as they stand in the document.
pub(super) fn roots(roots: &Roots) -> Json {
    Json::object([
        ("facts", Json::text(roots.facts.to_string())),
        ("proof", Json::text(roots.proof.to_string())),
        ("results", Json::text(roots.results.to_string())),
        ("sections", Json::Array(roots.sections.iter().map(|root| Json::text(root.to_string())).collect())),
    ])
}

/// Attributes that have a value and are not displayed yet, without the value.
fn held(out: &mut Vec<u8>, results: &Results) {
    let held: Vec<_> = results
        .emissions
        .iter()
        .filter_map(|emission| match &emission.state {
            EmissionState::Held { from, .. } => Some((emission, from)),
            _ => None,
        })
        .collect();
    list(out, &held, |out, (emission, from)| {
        out.extend_from_slice(b"{\"dp\":");
        write_integer(emission.dp, out);
        if let Some(from) = from {
            out.extend_from_slice(b",\"from\":");
            write_string(&from.to_string(), out);
        }
        out.extend_from_slice(b",\"p\":");
        write_string(&emission.pointer, out);
        out.push(b'}');
    });
}

fn trace(out: &mut Vec<u8>, trace: &Trace) {
    out.push(b'[');
    for (index, node) in trace.nodes().enumerate() {
        out.extend_from_slice(if index > 0 { ",[\"" } else { "[\"" }.as_bytes());
        out.extend_from_slice(node.kind.as_str().as_bytes());
        out.extend_from_slice(b"\",");
        write_string(node.name, out);
        out.push(b',');
        list(out, node.children, |out, child| write_integer(i64::from(*child), out));
        out.push(b',');
        match node.value {
            TraceValue::Unsaid => out.extend_from_slice(b"null"),
            TraceValue::Unknown => out.extend_from_slice(b"\"unknown\""),
            TraceValue::Shown(json) => {
                out.extend_from_slice(b"{\"v\":");
                out.extend_from_slice(json.as_bytes());
                out.push(b'}');
            }
            TraceValue::Hidden(hash) => {
                out.extend_from_slice(b"{\"h\":");
                write_string(&hash.to_string(), out);
                out.push(b'}');
            }
            TraceValue::Fault(code) => {
                out.extend_from_slice(b"{\"fault\":");
                write_string(code, out);
                out.push(b'}');
            }
        }
        out.push(b']');
    }
    out.push(b']');
}

/// The pointer in the object of an attribute's leaf, `{"p":pointer,"v":value}`, spelled as it is there: up
/// to the first quote that no backslash hides.
fn pointer(leaf: &Leaf) -> &[u8] {
    let text = &leaf.object.as_bytes()[b"{\"p\":".len()..];
    let mut at = 1;
    while text[at] != b'"' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    &text[..=at]
}

fn list<T>(out: &mut Vec<u8>, items: &[T], write: impl Fn(&mut Vec<u8>, &T)) {
    out.push(b'[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(out, item);
    }
    out.push(b']');
}
