#!/usr/bin/env bash
# What docs/AUDIT.md shows: run on an empty PostgreSQL database of your own, as its superuser, with `bpc` in the path
# and the package `duckdb` for Python:
#
#   docs/audit.sh postgres://postgres@localhost/audit > docs/AUDIT.md
#
# It works in a fresh directory, and drops the tables of that database in the end.
set -euo pipefail

export BPC_DATABASE_URL=$1
SERVER=${BPC_DATABASE_URL%/*}
OLD=$SERVER/audit_backup
JOBS=${JOBS:-166700} # twice: two events a lease, one an enqueue, so a million events
cd "$(mktemp -d)"
# Bulk jobs say nothing worth reading.
export BPC_LOG_LEVEL=error

text() { printf '%s\n' "$@" ''; }
# Show a command, run it, show what it says and how it ended.
show() {
    printf '```console\n$ %s\n' "$*"
    local code=0
    bash -c "$*" 2>&1 || code=$?
    [ "$code" = 0 ] || printf '(exit code %s)\n' "$code"
    printf '```\n\n'
}
# Run a statement as a superuser who knows what they do: guard rails off.
sql() { psql -q "$BPC_DATABASE_URL" -v ON_ERROR_STOP=1 -c "SET session_replication_role = replica" -c "$1"; }
ask() { psql -qAt "$BPC_DATABASE_URL" -c "$1"; }
# One tampering: what is done, the statement, and how to take it back.
tamper() {
    text "### $1"
    printf '```sql\n%s\n```\n\n' "$2"
    sql "$2"
    show "bpc verify${4:+ --checkpoint $4} | grep -v '^ *$'"
    sql "$3"
}

text "# An audit, from beginning to end" \
    "Made by running \`docs/audit.sh\`; nothing here was typed by hand. $(ask 'SELECT split_part(version(), '"' on '"', 1)'), $(nproc) cores, database on the same machine." \
    "## A log of a million events"
show "bpc init"
show "bpc enqueue DRILL_NOOP --payload '{\"order\": 1}' --count $JOBS | tail -1"
show "bpc worker --until-idle"
text "A backup is made here; it comes back further down."
psql -q "$SERVER/postgres" -c "CREATE DATABASE audit_backup TEMPLATE ${BPC_DATABASE_URL##*/}"
show "bpc enqueue DRILL_EMIT --payload '{\"stream_id\": \"00000000-0000-4000-8000-000000000001\", \"events\": 3}'"
show "bpc worker --until-idle"
text "An auditor comes by and takes the newest checkpoint away, and the key it is signed with."
show "bpc checkpoint | tee kept.note"
show "bpc keys list"
SINCE=$(date -u +%Y-%m-%dT%H:%M:%S.%6NZ)
sleep 1
text "Work goes on."
show "bpc enqueue DRILL_NOOP --payload '{\"order\": 2}' --count $JOBS | tail -1"
show "bpc worker --until-idle"
show "bpc enqueue DRILL_FAIL --payload '{\"code\": \"NO_STOCK\", \"retryable\": false}'"
show "bpc worker --until-idle"

text "## Verified"
show "time bpc verify"
text "With the checkpoint that the auditor kept:"
show "time bpc verify --checkpoint kept.note --report report.html"

text "## A proof for one job, checked without the database"
JOB=$(bpc jobs list --status failed --json | head -1 | sed 's/.*"job_id":"\([^"]*\)".*/\1/')
VKEY=$(bpc keys list --json | head -1 | sed 's/.*"vkey":"\([^"]*\)".*/\1/')
show "bpc prove job $JOB -o job.proof"
text "On another machine: no settings, no database, no network, only the file and the key."
show "env -i PATH=\"\$PATH\" bpc check job.proof --key '$VKEY'"
sed 's/NO_STOCK/NO_STACK/' job.proof > forged.proof
text "The same file with one letter changed:"
show "env -i PATH=\"\$PATH\" bpc check forged.proof --key '$VKEY'"

text "## Ten tamperings by a database superuser" \
    "Each is taken back before the next. The superuser has the whole database, but not the log's key."
# A job whose events are the last in the rows that they share with those of others.
STREAM=$(ask "SELECT last_stream_id FROM cohort_events e JOIN cohort_events l USING (last_stream_id) JOIN cohort_events s USING (last_stream_id)
    WHERE e.version = 1 AND l.version = 2 AND s.version = 3 AND s.event_type = 'SUCCEEDED' AND s.first_stream_id < last_stream_id
    ORDER BY s.id OFFSET 20 LIMIT 1")
OF="WHERE last_stream_id = '$STREAM'"
ask "CREATE TABLE kept_events AS SELECT * FROM cohort_events $OF"
ask "CREATE TABLE kept_order AS SELECT * FROM log_order; CREATE TABLE kept_tiles AS SELECT * FROM tiles;
     CREATE TABLE kept_checkpoints AS SELECT * FROM checkpoints; CREATE TABLE kept_state AS SELECT * FROM log_state"
BACK="DELETE FROM cohort_events WHERE id IN (SELECT id FROM kept_events); INSERT INTO cohort_events SELECT * FROM kept_events"
CHANGE="UPDATE cohort_events SET event_lines = convert_to(regexp_replace(convert_from(event_lines, 'UTF8'), '\"order\":1([^\n]*)\$', '\"order\":7\1'), 'UTF8') $OF AND version = 1"
ZEROES="decode(repeat('00', 32), 'hex')"
TAKE_OUT="UPDATE cohort_events SET last_stream_id = encode(substr(stream_ids, length(stream_ids) - 31, 16), 'hex')::uuid,
    stream_ids = substr(stream_ids, 1, length(stream_ids) - 16), event_hashes = substr(event_hashes, 1, length(event_hashes) - 32),
    event_lines = convert_to(regexp_replace(convert_from(event_lines, 'UTF8'), '\n[^\n]*\$', ''), 'UTF8')"
tamper "1. What a job carried is changed" "$CHANGE" "$BACK"
tamper "2. The same, and its hash computed anew" \
    "$CHANGE;
UPDATE cohort_events SET event_hashes = overlay(event_hashes PLACING sha256($ZEROES || event_bytes) FROM length(event_hashes) - 31)
FROM log_events WHERE stream_id = '$STREAM' AND log_events.version = 1 AND last_stream_id = stream_id AND cohort_events.version = 1" "$BACK"
tamper "3. The same, and the hash of every later event of the job" \
    "$CHANGE;
WITH RECURSIVE life AS (
    SELECT version, event_bytes FROM log_events WHERE stream_id = '$STREAM'
), chain AS (
    SELECT version, sha256($ZEROES || event_bytes) AS hash FROM life WHERE version = 1
    UNION ALL
    SELECT life.version, sha256(chain.hash || life.event_bytes) FROM chain JOIN life ON life.version = chain.version + 1
) UPDATE cohort_events e SET event_hashes = overlay(event_hashes PLACING chain.hash FROM length(event_hashes) - 31) FROM chain
WHERE e.last_stream_id = '$STREAM' AND e.version = chain.version" "$BACK"
tamper "4. The middle of a job's life is deleted" "$TAKE_OUT $OF AND version = 2" "$BACK"
tamper "5. A job is deleted, all of it" "$TAKE_OUT $OF" "$BACK"
tamper "6. Only a column is changed that reports read" "UPDATE cohort_events SET event_type = 'FAILED' $OF AND version = 3" "$BACK"
tamper "7. Two events change places in the sealed order" \
    "UPDATE log_order SET event_ids = substr(event_ids, 9, 8) || substr(event_ids, 1, 8) || substr(event_ids, 17) WHERE tile_index = 7" \
    "DELETE FROM log_order; INSERT INTO log_order SELECT * FROM kept_order"
tamper "8. A tile is edited" \
    "UPDATE tiles SET hashes = set_byte(hashes, 40, get_byte(hashes, 40) # 1) WHERE level = 1 AND tile_index = 2" \
    "DELETE FROM tiles; INSERT INTO tiles SELECT * FROM kept_tiles"
tamper "9. The newest checkpoint says another size" \
    "UPDATE checkpoints SET note = regexp_replace(note, '\n[0-9]+\n', E'\n12345\n') WHERE size = (SELECT max(size) FROM checkpoints)" \
    "DELETE FROM checkpoints; INSERT INTO checkpoints SELECT * FROM kept_checkpoints"
text "### 10. An old backup is restored" \
    "A copy of the database from before the auditor came. Everything in it is genuine and signed, so without a checkpoint that somebody kept it verifies:"
show "bpc verify --database $OLD | head -4"
text "Against the checkpoint that the auditor kept:"
show "bpc verify --database $OLD --checkpoint kept.note"
text "Whoever holds the log's key has signed for more than that, so it is not gone on with silently either:"
show "bpc worker --until-idle --database $OLD"
psql -q "$SERVER/postgres" -c "DROP DATABASE audit_backup"
ask "DROP TABLE kept_events, kept_order, kept_tiles, kept_checkpoints, kept_state"
text "And with everything taken back:"
show "bpc verify --checkpoint kept.note"

text "## The log archived, the database dropped"
show "time bpc archive --to archive"
show "bpc export parquet --to parquet"
show "du -sh archive parquet"
psql -q "$BPC_DATABASE_URL" -c 'SET client_min_messages = error' -c 'DROP SCHEMA public CASCADE' -c 'CREATE SCHEMA public'
show "bpc jobs list"
show "time bpc verify --archive archive --checkpoint kept.note"
text "State as of two moments, from the archive alone: when the auditor came, and the end."
show "bpc replay --into then.sqlite --as-of $SINCE --archive archive"
show "bpc replay --into now.sqlite --archive archive"
COUNT="import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute(\"SELECT status, count(*) FROM finished_jobs GROUP BY status\").fetchall())"
show "for state in then now; do python3 -c '$COUNT' \$state.sqlite; done"

text "## An analyst's tools"
QUERY="SELECT event_type, count(*) AS events, min(occurred_at) AS first FROM 'parquet/*.parquet' GROUP BY event_type ORDER BY events DESC"
show "python3 -c \"import duckdb; print(duckdb.sql(\\\"$QUERY\\\"))\""
