//! The columns of an exported event.

use std::sync::{Arc, LazyLock};

use bpc_core::{Envelope, Hash};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::Result;
use parquet::file::writer::SerializedRowGroupWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::TypePtr;

/// Ids and hashes are text, as they are written everywhere else, so that they can be compared and joined by hand.
const SCHEMA: &str = "message event {
    required int64 position;
    required binary tenant_id (STRING);
    required binary stream_type (STRING);
    required binary stream_id (STRING);
    required int32 version;
    required binary event_type (STRING);
    required int64 occurred_at (TIMESTAMP(MICROS, true));
    required binary actor (STRING);
    required binary event_id (STRING);
    required binary event_hash (STRING);
    required int32 schema;
    required binary payload (STRING);
    optional binary correlation_id (STRING);
    optional binary causation_id (STRING);
}";

static PARSED: LazyLock<TypePtr> =
    LazyLock::new(|| Arc::new(parse_message_type(SCHEMA).expect("the schema above")));

/// The schema of every file.
pub(super) fn schema() -> TypePtr {
    PARSED.clone()
}

/// Columns with few values, which are written as a dictionary.
pub(super) const FEW_VALUES: [&str; 4] = ["tenant_id", "stream_type", "event_type", "actor"];

/// Rows of one row group.
#[derive(Default)]
pub(super) struct Columns {
    positions: Vec<i64>,
    tenants: Vec<ByteArray>,
    stream_types: Vec<ByteArray>,
    streams: Vec<ByteArray>,
    versions: Vec<i32>,
    event_types: Vec<ByteArray>,
    times: Vec<i64>,
    actors: Vec<ByteArray>,
    event_ids: Vec<ByteArray>,
    hashes: Vec<ByteArray>,
    schemas: Vec<i32>,
    payloads: Vec<ByteArray>,
    correlations: Optional,
    causations: Optional,
}

#[derive(Default)]
struct Optional {
    values: Vec<ByteArray>,
    levels: Vec<i16>,
}

impl Columns {
    pub(super) fn len(&self) -> usize {
        self.positions.len()
    }

    pub(super) fn push(&mut self, position: u64, hash: &Hash, envelope: &Envelope<'_>) {
        let text = |value: &dyn ToString| ByteArray::from(value.to_string().into_bytes());
        self.positions.push(position as i64);
        self.tenants.push(text(&envelope.tenant_id));
        self.stream_types.push(text(&envelope.stream_type));
        self.streams.push(text(&envelope.stream_id));
        self.versions.push(envelope.version.0 as i32);
        self.event_types.push(text(&envelope.event_type));
        self.times.push(envelope.occurred_at.as_micros());
        self.actors.push(text(&envelope.actor));
        self.event_ids.push(text(&envelope.event_id));
        self.hashes.push(text(hash));
        self.schemas.push(envelope.schema.into());
        self.payloads.push(ByteArray::from(envelope.payload.to_vec()));
        self.correlations.push(envelope.correlation_id.as_ref().map(|id| text(id)));
        self.causations.push(envelope.causation_id.as_ref().map(|id| text(id)));
    }

    /// Write all rows in the order of the schema.
    pub(super) fn write<W: std::io::Write + Send>(
        &self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<()> {
        numbers64(group, &self.positions)?;
        texts(group, &self.tenants, None)?;
        texts(group, &self.stream_types, None)?;
        texts(group, &self.streams, None)?;
        numbers32(group, &self.versions)?;
        texts(group, &self.event_types, None)?;
        numbers64(group, &self.times)?;
        texts(group, &self.actors, None)?;
        texts(group, &self.event_ids, None)?;
        texts(group, &self.hashes, None)?;
        numbers32(group, &self.schemas)?;
        texts(group, &self.payloads, None)?;
        texts(group, &self.correlations.values, Some(&self.correlations.levels))?;
        texts(group, &self.causations.values, Some(&self.causations.levels))
    }
}

impl Optional {
    fn push(&mut self, value: Option<ByteArray>) {
        self.levels.push(value.is_some().into());
        self.values.extend(value);
    }
}

fn numbers64<W: std::io::Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[i64],
) -> Result<()> {
    let mut column = group.next_column()?.expect("the schema has this column");
    column.typed::<Int64Type>().write_batch(values, None, None)?;
    column.close()
}

fn numbers32<W: std::io::Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[i32],
) -> Result<()> {
    let mut column = group.next_column()?.expect("the schema has this column");
    column.typed::<Int32Type>().write_batch(values, None, None)?;
    column.close()
}

fn texts<W: std::io::Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[ByteArray],
    levels: Option<&[i16]>,
) -> Result<()> {
    let mut column = group.next_column()?.expect("the schema has this column");
    debug_assert!(matches!(column.untyped(), ColumnWriter::ByteArrayColumnWriter(_)));
    column.typed::<ByteArrayType>().write_batch(values, levels, None)?;
    column.close()
}
