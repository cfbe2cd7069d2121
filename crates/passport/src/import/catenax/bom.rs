//! Bills of materials: single level as built or as specified, and maps of several levels.

use std::collections::{BTreeMap, BTreeSet};

use super::super::draft::{Draft, Findings};
use super::super::shape::Shape;
use super::super::{DocumentKind, Subject};
use crate::facts::{FactType, Problem, Value};
use crate::json::Node;

/// Under which names the models have put the id of an asset.
const ASSET_IDS: &[&str] = &["/globalAssetId", "/catenaXId", "/assetId"];
const CHILD_IDS: &[&str] =
    &["/globalAssetId", "/catenaXId", "/childassetId", "/childAssetId", "/childCatenaXId"];

pub(in super::super) fn import(root: &Node<'_>, subject: Subject<'_>, findings: &mut Findings) {
    if subject.kind != DocumentKind::Bom {
        return;
    }
    let single = root.at("/childItems").is_present();
    let assets = if single {
        vec![root.clone()]
    } else {
        root.members().into_iter().map(|(_, asset)| asset).collect()
    };
    let assets = by_id(assets, findings);
    let tops = tops(&assets);
    match (&tops[..], subject.sku) {
        ([], _) => findings.problem(Problem::new(
            "BOM_CYCLE",
            "",
            "an asset that is part of no other",
            "every asset is part of another",
        )),
        ([top], Some(sku)) => walk(top, sku, &assets, findings),
        (tops, None) => tops.iter().for_each(|top| walk(top, top, &assets, findings)),
        (tops, Some(sku)) => {
            let expected = format!("one asset that is part of no other, to be {sku}");
            findings.problem(Problem::new("BOM_TOP_AMBIGUOUS", "", expected, tops.join(", ")));
        }
    }
}

fn by_id<'a>(assets: Vec<Node<'a>>, findings: &mut Findings) -> BTreeMap<&'a str, Node<'a>> {
    let mut named = BTreeMap::new();
    for asset in assets {
        let id = asset.first_of(ASSET_IDS);
        match text_of(&id) {
            Some(text) => drop(named.insert(text, asset)),
            None => {
                findings.problem(Problem::new("FIELD_MISSING", id.pointer(), "the id of an asset", "nothing"))
            }
        }
    }
    named
}

/// The assets that are part of no other: what the document is about.
fn tops<'a>(assets: &BTreeMap<&'a str, Node<'a>>) -> Vec<&'a str> {
    let children: BTreeSet<&str> = assets
        .values()
        .flat_map(|asset| asset.at("/childItems").items())
        .filter_map(|child| text_of(&child.first_of(CHILD_IDS)))
        .collect();
    assets.keys().copied().filter(|id| !children.contains(id)).collect()
}

/// Every part below an asset, each asset once, however the document refers in circles.
fn walk(top: &str, sku: &str, assets: &BTreeMap<&str, Node<'_>>, findings: &mut Findings) {
    let (mut open, mut seen) = (vec![top], BTreeSet::new());
    while let Some(id) = open.pop() {
        let Some(asset) = assets.get(id).filter(|_| seen.insert(id)) else { continue };
        for child in asset.at("/childItems").items() {
            children(&child, (id != top).then_some(id), sku, findings);
            open.extend(text_of(&child.first_of(CHILD_IDS)));
        }
    }
}

fn text_of<'a>(node: &Node<'a>) -> Option<&'a str> {
    node.text().map(str::trim).filter(|text| !text.is_empty())
}

/// A child as built has its own quantity; as specified it lists items that have one each.
fn children(child: &Node<'_>, parent: Option<&str>, sku: &str, findings: &mut Findings) {
    let id = child.first_of(CHILD_IDS);
    let items = child.at("/item").items();
    if items.is_empty() {
        component(
            child,
            &id,
            &child.at("/quantity"),
            Shape::Measure("value", "unit"),
            parent,
            sku,
            None,
            findings,
        );
    }
    let several = items.len() > 1;
    for (number, item) in items.iter().enumerate() {
        let quantity = item.at("/itemQuantity");
        let shape = Shape::Measure("quantityNumber", "measurementUnit");
        component(item, &id, &quantity, shape, parent, sku, several.then_some(number), findings);
    }
}

#[expect(clippy::too_many_arguments, reason = "two models, one fact")]
fn component(
    node: &Node<'_>,
    id: &Node<'_>,
    quantity: &Node<'_>,
    shape: Shape,
    parent: Option<&str>,
    sku: &str,
    number: Option<usize>,
    findings: &mut Findings,
) {
    let mut draft = Draft::new(FactType::Component, node);
    let part = text_of(id);
    if let Some(part) = part {
        draft.set("part_number", Value::Text(part.to_owned()), id);
    } else {
        findings.problem(Problem::new("FIELD_MISSING", id.pointer(), "the id of a part", "nothing"));
    }
    draft.take("name", &node.at("/itemDescription"), Shape::Plain);
    draft.take("supplier_id", &node.at("/businessPartner"), Shape::Plain);
    draft.take("quantity", quantity, shape);
    // The models do not say what a part is for.
    draft.set("role", Value::Tag("other"), node);
    if let Some(parent) = parent {
        draft.set("parent", Value::Text(parent.to_owned()), node);
    }
    let path = part.map(|part| number.map_or_else(|| part.to_owned(), |number| format!("{part}.{number}")));
    draft.finish(&[Some(sku), path.as_deref()], findings);
}
