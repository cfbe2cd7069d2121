"""Which systems are compared, and what each is asked for. Settings of the peers come from their peers.py."""
import difflib
import re

COMPARED = ["process", "bulk", "single", "latency"]
OWN = ["long-log", "crowd", "verify", "pinned"]
MEASURES = COMPARED + OWN

MEANING = {
    "process": "a backlog of jobs, one worker process, until the store holds no unfinished job",
    "bulk": "one client, 1,000 jobs a call where there is such a call",
    "single": "one client, one durable job at a time",
    "latency": "from the call of enqueue to the start of the handler, idle worker, two processes",
    "long-log": "BPC: process on a log that holds many events, against an empty one",
    "crowd": "BPC: process by many workers with connections of their own, against 4",
    "verify": "BPC: bpc verify from PostgreSQL and from an archive, against plain SHA-256",
    "pinned": "BPC: process while another session holds a transaction open",
}

# On PostgreSQL jobs that were enqueued together share rows: what these hold is counted, nothing is looked up.
QUEUE_SQLITE = "select count(*) from job_queue"
QUEUE_PG = f"select ({QUEUE_SQLITE}) + (select coalesce(sum(bit_count(members::bit(64))), 0)::int8 from queue_cohorts)"
EVENTS_SQLITE = "select count(*) from events"
EVENTS_PG = f"select ({EVENTS_SQLITE}) + (select coalesce(sum(length(stream_ids) / 16), 0)::int8 from cohort_events)"
SEALED = "select size from log_state"

BPC = [
    dict(name="bpc-pg", peer="BPC", config="the worker's defaults, sealing on", store="pg", cmd="bpc:bpc_client", work={},
         n=100_000, left=QUEUE_PG, kept={"events": EVENTS_PG, "sealed": SEALED}),
    dict(name="bpc-sqlite", peer="BPC", config="WAL, synchronous=FULL, the worker's defaults, sealing on", store="sqlite",
         cmd="bpc:bpc_client", work={}, n=100_000, left=QUEUE_SQLITE, kept={"events": EVENTS_SQLITE, "sealed": SEALED}),
]

# Peers that are measured unless others are named. Where a system appears twice, each setting is measured at what it is
# best at: batching speeds processing up and does nothing for a single job.
IN_SCOPE = {
    "graphile-rs-batch": ["process"],
    "graphile-rs": ["bulk", "single", "latency"],
    "graphile-batch": ["process", "latency"],
    "pgboss-notify": COMPARED,
    "river-pg": COMPARED,
    "awa": COMPARED,
    "apalis-pg": COMPARED,
    "apalis-pg-notify": ["latency"],
    "pgqueuer": COMPARED,
    "procrastinate": COMPARED,
    "river-sqlite-full": COMPARED,
    "apalis-sqlite-full": COMPARED,
    "bullmq-everysec": COMPARED,
    "celery-rabbit": COMPARED,
    "pgmq-archive": COMPARED,
}

# A table and statements on it, but nothing that runs jobs: measured, and never the one to beat.
YARDSTICKS = {"pgmq"}

# Where the version of a peer is written: file among the peers' clients (or ours), name of the package.
PACKAGES = {
    "graphile_worker (Rust)": ("rust/Cargo.toml", "graphile_worker"),
    "apalis-postgres": ("rust/Cargo.toml", "apalis-postgres"),
    "apalis-sqlite": ("rust/Cargo.toml", "apalis-sqlite"),
    "pgmq": ("rust/Cargo.toml", "pgmq"),
    "River for Rust": ("rust2/Cargo.toml", "riverqueue"),
    "awa": ("rust2/Cargo.toml", "awa"),
    "graphile-worker": ("node/package.json", "graphile-worker"),
    "pg-boss": ("node/package.json", "pg-boss"),
    "BullMQ": ("node/package.json", "bullmq"),
    "Celery": (None, "celery"),
    "PgQueuer": (None, "pgqueuer"),
    "procrastinate": (None, "procrastinate"),
}


class WrongName(Exception):
    """A name that nothing has."""


def choose(peers, only):
    """The systems that are meant, in the order in which they run; each with the measures it is asked for."""
    known = {system["name"]: system for system in BPC + peers}
    measures = {system["name"]: COMPARED for system in BPC} | IN_SCOPE
    names = only or [name for name in measures if name in known]
    chosen = []
    for name in names:
        if name not in known:
            raise WrongName(f"no system is called {name!r}{_near(name, known)}; --list shows them")
        fallback = [m for m in known[name].get("measures", COMPARED) if m in COMPARED]
        chosen.append({**known[name], "measures": measures.get(name, fallback)})
    return chosen


def choose_measures(names):
    for name in names:
        if name not in MEASURES:
            raise WrongName(f"no measure is called {name!r}{_near(name, MEASURES)}; there are {', '.join(MEASURES)}")
    return [m for m in MEASURES if m in names] if names else MEASURES


def is_rival(system):
    """Is it a worker library that BPC is compared with?"""
    return system["peer"] != "BPC" and system["peer"] not in YARDSTICKS


def jobs_of(system, jobs):
    """As many as were asked for, or as many as the peer can stand: n in its entry."""
    return jobs if system["peer"] == "BPC" else min(jobs, system["n"])


def version(text, package):
    """Of a package, in a Cargo.toml, package.json or requirements.txt."""
    name = re.escape(package)
    found = re.search(rf'(?m)^\s*"?{name}"?(?:\[\w+\])?\s*(?:=|:|==)\s*(?:\{{\s*version\s*=\s*)?[=^"\s]*(\d[\w.+-]*)', text)
    return found.group(1) if found else None


def _near(name, among):
    near = difflib.get_close_matches(name, among, n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""
