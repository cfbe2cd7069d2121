-- Views of the webhook pack. All of them follow from its events and can be thrown away.

-- Where to.
CREATE TABLE webhook_endpoints (
    endpoint_id     UUID PRIMARY KEY,
    tenant_id       UUID NOT NULL,
    url             TEXT NOT NULL,
    active          BIGINT NOT NULL,
    created_at      BIGINT NOT NULL
);
CREATE INDEX webhook_endpoints_by_tenant ON webhook_endpoints (tenant_id, created_at);

-- What for. An event type of '*' is every event.
CREATE TABLE webhook_subscriptions (
    subscription_id UUID PRIMARY KEY,
    tenant_id       UUID NOT NULL,
    endpoint_id     UUID NOT NULL,
    event_type      TEXT NOT NULL,
    active          BIGINT NOT NULL,
    created_at      BIGINT NOT NULL
);
CREATE INDEX webhook_subscriptions_by_event ON webhook_subscriptions (tenant_id, event_type);

-- One row for each event and subscription.
CREATE TABLE webhook_deliveries (
    delivery_id     UUID PRIMARY KEY,
    tenant_id       UUID NOT NULL,
    endpoint_id     UUID NOT NULL,
    subscription_id UUID NOT NULL,
    event_id        UUID NOT NULL,
    event_type      TEXT NOT NULL,
    status          TEXT NOT NULL,
    http_status     BIGINT,
    error_code      TEXT,
    requested_at    BIGINT NOT NULL,
    settled_at      BIGINT
);
CREATE INDEX webhook_deliveries_by_tenant ON webhook_deliveries (tenant_id, requested_at);
