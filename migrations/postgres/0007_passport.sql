-- Views of the passport pack. All of them follow from its events and can be thrown away.

-- Uploaded documents; their bytes are blobs.
CREATE TABLE documents (
    document_id     UUID PRIMARY KEY,
    tenant_id       UUID NOT NULL,
    name            TEXT NOT NULL,
    kind            TEXT NOT NULL,
    format          TEXT NOT NULL,
    sku             TEXT,
    sha256          BYTEA NOT NULL,
    length          BIGINT NOT NULL,
    status          TEXT NOT NULL,
    facts           BIGINT NOT NULL,
    problems        BIGINT NOT NULL,
    uploaded_at     BIGINT NOT NULL
);
CREATE INDEX documents_by_tenant ON documents (tenant_id, uploaded_at);

-- What documents say; a fact that two documents state has two rows. `place` counts through the document's facts.
CREATE TABLE facts (
    tenant_id       UUID NOT NULL,
    fact_type       TEXT NOT NULL,
    fact_key        TEXT NOT NULL,
    schema_version  BIGINT NOT NULL,
    payload_hash    BYTEA NOT NULL,
    document_id     UUID NOT NULL,
    place           BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, fact_type, fact_key, schema_version, payload_hash, document_id)
);
CREATE INDEX facts_by_document ON facts (document_id, place);

-- Sets of facts that passports are made from.
CREATE TABLE snapshots (
    snapshot_id     UUID PRIMARY KEY,
    tenant_id       UUID NOT NULL,
    name            TEXT NOT NULL,
    status          TEXT NOT NULL,
    items           BIGINT NOT NULL,
    snapshot_hash   BYTEA,
    created_at      BIGINT NOT NULL
);
CREATE INDEX snapshots_by_tenant ON snapshots (tenant_id, created_at);

-- Versions of rule packages.
CREATE TABLE rule_versions (
    rule_version_id UUID PRIMARY KEY,
    tenant_id       UUID NOT NULL,
    package         TEXT NOT NULL,
    version         TEXT NOT NULL,
    status          TEXT NOT NULL,
    source_hash     BYTEA NOT NULL,
    rules_hash      BYTEA NOT NULL,
    created_at      BIGINT NOT NULL
);
CREATE INDEX rule_versions_by_tenant ON rule_versions (tenant_id, created_at);

-- Battery products.
CREATE TABLE products (
    product_id      UUID PRIMARY KEY,
    tenant_id       UUID NOT NULL,
    sku             TEXT NOT NULL,
    name            TEXT NOT NULL,
    created_at      BIGINT NOT NULL
);
CREATE INDEX products_by_tenant ON products (tenant_id, sku);

-- Passports and the version that is in force.
CREATE TABLE passports (
    passport_id     UUID PRIMARY KEY,
    tenant_id       UUID NOT NULL,
    product_id      UUID NOT NULL,
    active_version  UUID,
    created_at      BIGINT NOT NULL
);
CREATE INDEX passports_by_tenant ON passports (tenant_id, created_at);

-- Every version of every passport.
CREATE TABLE passport_versions (
    passport_version_id UUID PRIMARY KEY,
    tenant_id       UUID NOT NULL,
    passport_id     UUID NOT NULL,
    snapshot_id     UUID NOT NULL,
    rule_version_id UUID NOT NULL,
    status          TEXT NOT NULL,
    issued_at       BIGINT NOT NULL,
    as_of           TEXT NOT NULL,
    payload_hash    BYTEA NOT NULL,
    proof_root      BYTEA NOT NULL,
    receipt_hash    BYTEA NOT NULL,
    signing_key_id  TEXT NOT NULL,
    has_qr          BIGINT NOT NULL
);
CREATE INDEX passport_versions_by_passport ON passport_versions (tenant_id, passport_id, issued_at);

-- Public keys that have signed passports, so that old signatures stay checkable.
CREATE TABLE signing_keys (
    tenant_id       UUID NOT NULL,
    key_id          TEXT NOT NULL,
    public_key      BYTEA NOT NULL,
    since           BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, key_id)
);
