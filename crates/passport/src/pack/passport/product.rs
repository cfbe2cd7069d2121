//! Battery products.

use bpc_core::{StreamId, TenantId, Version};
use bpc_worker::{Effects, Engine, Store};
use uuid::Uuid;

use super::events::{PRODUCT, PRODUCT_ADDED, ProductAdded};
use crate::pack::PackError;
use crate::pack::event::{draft, payload, stream};

/// The most bytes of a sku or name.
const TEXT_MAX: usize = 255;

/// A product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    /// Its id, which follows from the sku.
    pub id: Uuid,
    /// The name under which facts have it.
    pub sku: String,
    /// The name for people.
    pub name: String,
}

/// Add a product, and whether it is new: the same sku again is the same product.
pub async fn add_product(
    engine: &Engine,
    tenant: TenantId,
    actor: &str,
    sku: &str,
    name: &str,
) -> Result<(Product, bool), PackError> {
    for text in [sku, name] {
        if text.is_empty() || text.len() > TEXT_MAX || text.contains(char::is_control) {
            let message = format!("sku and name must have 1 to {TEXT_MAX} bytes and no control characters");
            return Err(PackError::refused("VALIDATION_ERROR", message));
        }
    }
    let id = id_of(tenant, sku);
    if let Some(product) = find(&engine.store, tenant, id.0).await? {
        return Ok((product, false));
    }
    let added = ProductAdded { sku: sku.to_owned(), name: name.to_owned() };
    let drafts = vec![draft(PRODUCT_ADDED, &added)?];
    let effects = Effects::none().emit(tenant, PRODUCT, id, Version::NONE, drafts);
    match engine.perform(tenant, actor, &effects).await {
        Ok(_) => Ok((Product { id: id.0, sku: added.sku, name: added.name }, true)),
        Err(error) if error.is_conflict() => Ok((product(&engine.store, tenant, id.0).await?, false)),
        Err(error) => Err(error.into()),
    }
}

/// A product by id.
pub async fn product(store: &Store, tenant: TenantId, id: Uuid) -> Result<Product, PackError> {
    find(store, tenant, id).await?.ok_or_else(|| not_found(&id.to_string()))
}

/// A product by sku.
pub async fn product_by_sku(store: &Store, tenant: TenantId, sku: &str) -> Result<Product, PackError> {
    find(store, tenant, id_of(tenant, sku).0).await?.ok_or_else(|| not_found(sku))
}

async fn find(store: &Store, tenant: TenantId, id: Uuid) -> Result<Option<Product>, PackError> {
    let (events, _) = stream(store, tenant, StreamId(id)).await?;
    let Some(event) = events.first().filter(|event| event.event_type == PRODUCT_ADDED) else {
        return Ok(None);
    };
    let ProductAdded { sku, name } = payload(&event.envelope().map_err(bpc_worker::StoreError::from)?)?;
    Ok(Some(Product { id, sku, name }))
}

fn id_of(tenant: TenantId, sku: &str) -> StreamId {
    StreamId::derived("battery-product", &format!("{tenant}/{sku}"))
}

fn not_found(what: &str) -> PackError {
    PackError::refused("PRODUCT_NOT_FOUND", format!("there is no product {what}: run `bpc product add SKU`"))
}
