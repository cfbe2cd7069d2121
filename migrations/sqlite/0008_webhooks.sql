-- Views of the webhook pack. All of them follow from its events and can be thrown away.

-- Where to.
CREATE TABLE webhook_endpoints (
    endpoint_id     BLOB NOT NULL PRIMARY KEY,
    tenant_id       BLOB NOT NULL,
    url             TEXT NOT NULL,
    active          INTEGER NOT NULL,
    created_at      INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX webhook_endpoints_by_tenant ON webhook_endpoints (tenant_id, created_at);

-- What for. An event type of '*' is every event.
CREATE TABLE webhook_subscriptions (
    subscription_id BLOB NOT NULL PRIMARY KEY,
    tenant_id       BLOB NOT NULL,
    endpoint_id     BLOB NOT NULL,
    event_type      TEXT NOT NULL,
    active          INTEGER NOT NULL,
    created_at      INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX webhook_subscriptions_by_event ON webhook_subscriptions (tenant_id, event_type);

-- One row for each event and subscription.
CREATE TABLE webhook_deliveries (
    delivery_id     BLOB NOT NULL PRIMARY KEY,
    tenant_id       BLOB NOT NULL,
    endpoint_id     BLOB NOT NULL,
    subscription_id BLOB NOT NULL,
    event_id        BLOB NOT NULL,
    event_type      TEXT NOT NULL,
    status          TEXT NOT NULL,
    http_status     INTEGER,
    error_code      TEXT,
    requested_at    INTEGER NOT NULL,
    settled_at      INTEGER
) WITHOUT ROWID;
CREATE INDEX webhook_deliveries_by_tenant ON webhook_deliveries (tenant_id, requested_at);
