"""Every row of what was asked for: what was seen in this run, and whether that is enough. Nothing here is known
beforehand; a row that the run did not measure says so."""
from .figures import Ratio, Series, median
from .systems import is_rival

KIB = 1024


class Row:
    def __init__(self, measure, asked, seen="not measured in this run", met=None):
        self.measure, self.asked, self.seen, self.met = measure, asked, seen, met


def rows(figures):
    return [
        _against_best(figures, "process, PostgreSQL, no-op jobs, sealing on", "process", "pg", 1.5, "PostgreSQL"),
        _against_best(figures, "process, SQLite, sealing on", "process", "sqlite", 6.0, "SQLite"),
        _against_best(figures, "bulk enqueue, PostgreSQL", "bulk", "pg", 1.0, "PostgreSQL"),
        _against_best(figures, "single durable enqueue, one client, PostgreSQL", "single", "pg", 1.2, "PostgreSQL"),
        _latency(figures, "p50"),
        _latency(figures, "p99"),
        _wal(figures),
        _long_log(figures),
        _pinned(figures),
        _growth(figures),
        *_crowds(figures),
        _verify(figures, "verify from PostgreSQL", "pg_rate", 400_000),
        _verify(figures, "verify from an archive", "archive_rate", 1_000_000),
        _sha(figures),
    ]


def _span(value):
    return "" if value.low == value.high else f" ({value.low:.2f} to {value.high:.2f})"


def _against_best(figures, measure, key, store, least, where):
    row = Row(measure, f"{least} x the best {where} worker library")
    own, best = figures.series(key).get(f"bpc-{store}"), figures.best(key, store, is_rival)
    if own and best:
        ratio = Ratio(own, best)
        row.seen = f"{ratio.median:.2f} x{_span(ratio)} {best.system['name']}"
        row.met = ratio.median >= least
    return row


def _latency(figures, field):
    row = Row(f"latency enqueue to handler start, idle, {field}, PostgreSQL", "no more than the best PostgreSQL worker library")
    own = figures.series("latency", field).get("bpc-pg")
    best = figures.best("latency", "pg", is_rival, field, least=True)
    if own and best:
        row.seen = f"{own.median:.1f} ms against {best.median:.1f} ms of {best.system['name']}"
        row.met = own.median <= best.median
    return row


def _wal(figures):
    row = Row("WAL bytes per job, enqueue to done", "under 3 KiB")
    found = figures.wal_per_job().get("bpc-pg")
    if found:
        total = found[1] + found[2]
        row.seen, row.met = f"{total:,.0f}", total < 3 * KIB
    return row


def _long_log(figures):
    row = Row("process with 10,000,000 events already in the log", "0.9 x of an empty log")
    good = figures.good("long-log", "ratio")
    if good:
        events = good[-1]["events"]
        _judge(row, good, 0.9, events >= 10_000_000)
        row.measure = f"process with {events:,} events already in the log"
    return row


def _crowds(figures):
    """A row for workers and one for connections; what is asked for can be read as either."""
    pairs = {}
    for record in figures.good("crowd", "ratio"):
        pairs.setdefault((record["many"], record["few"]), []).append(record)
    found = []
    for (many, few), good in pairs.items():
        row = Row(f"{many} concurrent workers with {good[-1]['connections']:,} connections against {few} with "
                  f"{good[-1]['base_connections']:,}", "0.8 x")
        _judge(row, good, 0.8, good[-1]["connections"] >= 256)
        found.append(row)
    return found or [Row("256 concurrent workers (connections) against 4", "0.8 x")]


def _judge(row, good, least, is_full):
    """What was tried on a smaller scale meets nothing."""
    ratios = Series(None, {r["round"]: r["ratio"] for r in good})
    row.seen = f"{ratios.median:.2f} x{_span(ratios)}" + ("" if is_full else "; smaller than what is asked for")
    row.met = ratios.median >= least if is_full else None


def _pinned(figures):
    row = Row("process while another session holds a transaction open for 10 minutes", "0.7 x of undisturbed")
    record = figures.last("pinned")
    if record:
        row.seen = f"{record['ratio']:.2f} x at the end of {record['seconds']:.0f} s, {record['pinned_jobs']:,} jobs"
        row.met = record["ratio"] >= 0.7 if record["seconds"] >= 600 else None
    return row


def _growth(figures):
    row = Row("the queue table meanwhile", "no unbounded growth")
    record = figures.last("pinned")
    if record:
        sizes = record["queue_bytes"]
        half = sizes[len(sizes) // 2]
        row.seen = (f"{_mib(sizes[0])} before, {_mib(half)} after half of the jobs, {_mib(sizes[-1])} at the end, "
                    f"{_mib(record['queue_bytes_after'])} once it was over")
        # Growth that has an end slows down: the second half adds less than half of what the first did.
        row.met = sizes[-1] - half <= (half - sizes[0]) / 2 if record["seconds"] >= 600 else None
    return row


def _verify(figures, measure, field, least):
    row = Row(measure, f"{least:,} events/s")
    good = figures.good("verify", field)
    if good:
        rate = median(r[field] for r in good)
        row.seen, row.met = f"{rate:,.0f} events/s of {good[-1]['events']:,}", rate >= least
    return row


def _sha(figures):
    row = Row("verify from an archive beside plain SHA-256 of the same bytes", "within 3 x of its time")
    good = figures.good("verify", "sha_times")
    if good:
        times = median(r["sha_times"] for r in good)
        row.seen, row.met = f"{times:.2f} x the time of one core that only hashes", times <= 3
    return row


def _mib(size):
    return f"{size / KIB / KIB:,.1f} MiB"
