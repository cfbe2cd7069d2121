//! Blobs: bytes under their hash.

use bpc_core::{BlobFields, Hash, Version};
use bpc_eventstore::verify::check_blobs;
use bpc_eventstore::{Blob, StreamAppend, put_blob, read_blob};
use bpc_testkit::on_both_databases;

use crate::common::{acme, append, draft, empty_log, number, run_sql, stream};

on_both_databases! {
    async fn a_blob_is_read_back_by_its_hash(db) {
        let store = empty_log(&db).await;
        let blobs = [Blob::new(Vec::new()), Blob::new(vec![0, 255, 10]), Blob::new(vec![7; 1_000_000])];
        let mut tx = store.begin().await.unwrap();
        for blob in &blobs {
            put_blob(&mut tx.conn(), blob).await.unwrap();
        }
        tx.commit().await.unwrap();
        let mut tx = store.begin_read().await.unwrap();
        for blob in &blobs {
            assert_eq!(read_blob(&mut tx.conn(), blob.sha256).await.unwrap().as_ref(), Some(blob));
        }
        assert_eq!(read_blob(&mut tx.conn(), Hash::ZERO).await.unwrap(), None);
    }

    async fn storing_a_blob_again_changes_nothing(db) {
        let store = empty_log(&db).await;
        for _ in 0..3 {
            let mut tx = store.begin().await.unwrap();
            put_blob(&mut tx.conn(), &Blob::new(b"once".to_vec())).await.unwrap();
            tx.commit().await.unwrap();
        }
        assert_eq!(number(&store, "SELECT count(*) FROM blobs").await, 1);
        assert_eq!(number(&store, "SELECT CAST(sum(length) AS BIGINT) FROM blobs").await, 4);
    }

    async fn a_blob_shares_the_fate_of_its_transaction(db) {
        let store = empty_log(&db).await;
        let mut tx = store.begin().await.unwrap();
        put_blob(&mut tx.conn(), &Blob::new(b"gone".to_vec())).await.unwrap();
        drop(tx);
        assert_eq!(number(&store, "SELECT count(*) FROM blobs").await, 0);
    }

    async fn a_damaged_blob_is_never_handed_out(db) {
        let store = empty_log(&db).await;
        let (one, two) = (Blob::new(b"one".to_vec()), Blob::new(b"two".to_vec()));
        let mut tx = store.begin().await.unwrap();
        put_blob(&mut tx.conn(), &one).await.unwrap();
        put_blob(&mut tx.conn(), &two).await.unwrap();
        tx.commit().await.unwrap();
        let of_first = "SELECT bytes FROM blobs ORDER BY sha256 LIMIT 1";
        run_sql(&store, &format!("UPDATE blobs SET bytes = ({of_first})")).await.unwrap();
        let mut tx = store.begin_read().await.unwrap();
        let mut codes = Vec::new();
        for blob in [&one, &two] {
            codes.push(read_blob(&mut tx.conn(), blob.sha256).await.map_err(|error| error.code()));
        }
        assert_eq!(codes.iter().filter(|read| matches!(read, Err("DATA_DAMAGED"))).count(), 1);
    }

    async fn a_blob_that_an_event_names_must_be_there(db) {
        let store = empty_log(&db).await;
        let (page, proof) = (Blob::new(b"a page".to_vec()), Blob::new(b"a proof".to_vec()));
        let events = [
            format!("{{\"pages\":[{{\"length\":6,\"sha256\":\"{}\"}}]}}", page.sha256),
            format!("{{\"proof\":\"{}\"}}", proof.sha256),
            format!("{{\"pages\":[{{\"length\":7,\"sha256\":\"{}\"}}]}}", page.sha256),
        ];
        let (stream_type, expected, events) = ("Note".into(), Version::NONE, events.iter().map(|it| draft(it)).collect());
        append(&store, &[StreamAppend { tenant_id: acme(), stream_type, stream_id: stream("a"), expected, events }])
            .await
            .unwrap();
        let mut fields = BlobFields::default();
        fields.add("NOTED", "proof");
        let found = async || {
            let report = check_blobs(&store, &fields, |_| {}).await.unwrap();
            assert_eq!((report.named, report.findings.len() as u64), (3, report.findings_total));
            let place = |it: &bpc_eventstore::verify::BlobFinding| (it.code, it.version.unwrap_or(0));
            report.findings.iter().map(place).collect::<Vec<_>>()
        };
        assert_eq!(found().await, [("BLOB_MISSING", 1), ("BLOB_MISSING", 2), ("BLOB_MISSING", 3)]);
        let mut tx = store.begin().await.unwrap();
        put_blob(&mut tx.conn(), &page).await.unwrap();
        put_blob(&mut tx.conn(), &proof).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(found().await, [("BLOB_LENGTH_MISMATCH", 3)], "it has six bytes");
        run_sql(&store, "DELETE FROM blobs WHERE length = 7").await.unwrap();
        assert_eq!(found().await, [("BLOB_MISSING", 2), ("BLOB_LENGTH_MISMATCH", 3)]);
    }
}

#[test]
fn the_hash_is_sha256_of_the_bytes() {
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(Blob::new(b"abc".to_vec()).sha256.to_string(), abc);
}
