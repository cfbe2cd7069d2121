//! Tenants.

use bpc_core::TenantId;
use bpc_core::log_events::{TENANT, TENANT_ADDED};
use bpc_eventstore::{add_tenant, read_stream, tenant_by_slug_or_id, tenants};
use bpc_testkit::on_both_databases;

use crate::common::{NOW, empty_log, event_count};

on_both_databases! {
    async fn a_tenant_is_an_event_and_a_row(db) {
        let store = empty_log(&db).await;
        let tenant = add_tenant(&store, "acme", "Acme Cells", "user:ops").await.unwrap();
        assert_eq!((tenant.tenant_id, tenant.created_at), (TenantId::from_slug("acme"), NOW));
        assert_eq!(tenants(&store).await.unwrap(), std::slice::from_ref(&tenant));
        let mut tx = store.begin_read().await.unwrap();
        let id = tenant.tenant_id;
        let events = read_stream(&mut tx.conn(), id, id.into()).await.unwrap();
        let [event] = &events[..] else { panic!("{} events", events.len()) };
        assert_eq!((&*event.stream_type, &*event.event_type), (TENANT, TENANT_ADDED));
        let envelope = event.envelope().unwrap();
        assert_eq!(envelope.payload, br#"{"name":"Acme Cells","slug":"acme"}"#);
        assert_eq!(envelope.actor, "user:ops");
    }

    async fn a_slug_is_added_once(db) {
        let store = empty_log(&db).await;
        add_tenant(&store, "acme", "Acme", "system").await.unwrap();
        let error = add_tenant(&store, "acme", "Acme again", "system").await.unwrap_err();
        assert_eq!(error.code(), "TENANT_EXISTS");
        assert_eq!(event_count(&store).await, 1);
        assert_eq!(tenants(&store).await.unwrap()[0].name, "Acme");
    }

    async fn of_many_who_add_one_slug_exactly_one_does(db) {
        let store = empty_log(&db).await;
        let race = (0..6).map(|_| {
            let store = store.clone();
            tokio::spawn(async move { add_tenant(&store, "acme", "Acme", "system").await })
        });
        let mut added = 0;
        for racer in race.collect::<Vec<_>>() {
            match racer.await.unwrap() {
                Ok(_) => added += 1,
                Err(error) => assert_eq!(error.code(), "TENANT_EXISTS"),
            }
        }
        assert_eq!((added, event_count(&store).await), (1, 1));
    }

    async fn a_tenant_is_found_by_slug_and_by_id(db) {
        let store = empty_log(&db).await;
        let acme = add_tenant(&store, "acme", "Acme", "system").await.unwrap();
        add_tenant(&store, "zeta", "Zeta", "system").await.unwrap();
        assert_eq!(tenant_by_slug_or_id(&store, "acme").await.unwrap(), acme);
        assert_eq!(tenant_by_slug_or_id(&store, &acme.tenant_id.to_string()).await.unwrap(), acme);
        let error = tenant_by_slug_or_id(&store, "nobody").await.unwrap_err();
        assert_eq!(error.code(), "TENANT_NOT_FOUND");
    }

    async fn a_slug_outside_the_rules_is_refused(db) {
        let store = empty_log(&db).await;
        let long = "a".repeat(64);
        for slug in ["", "Acme", "1st", "-a", "a b", "a_b", "ä", &long] {
            let error = add_tenant(&store, slug, "No", "system").await.unwrap_err();
            assert_eq!(error.code(), "VALIDATION_ERROR", "{slug:?}");
        }
        assert_eq!(event_count(&store).await, 0);
        add_tenant(&store, &"a".repeat(63), "Yes", "system").await.unwrap();
    }
}
