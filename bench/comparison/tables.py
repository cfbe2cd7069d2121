"""Figures as Markdown tables, the ratio first."""
from . import asked
from .figures import Ratio
from .systems import MEANING

TITLES = {"process": "Process", "bulk": "Bulk enqueue", "single": "Single durable enqueue", "latency": "Latency"}


def render(figures, about):
    """All tables of a run."""
    parts = [_about(about)]
    for measure in ("process", "bulk", "single"):
        parts.append(_rates(figures, measure))
    parts += [_latency(figures), _wal(figures), _own(figures), _asked(figures)]
    return "\n\n".join(part for part in parts if part) + "\n"


def table(head, rows):
    """Columns that begin with > are set to the right."""
    line = lambda cells: "| " + " | ".join(cells) + " |"
    rule = ["--:" if name.startswith(">") else "---" for name in head]
    return "\n".join([line([name.lstrip(">") for name in head]), "|" + "|".join(rule) + "|", *map(line, rows)])


def _about(about):
    return "\n".join(f"* {key}: {value}" for key, value in about.items())


def _rates(figures, measure):
    found = figures.series(measure)
    rows = []
    for series in _in_order(found.values()):
        own = found.get(f"bpc-{'sqlite' if series.system['store'] == 'sqlite' else 'pg'}")
        rows.append([_name(series.system), _ratio(own, series), f"{series.median:,.0f}", _range(series, "{:,.0f}"),
                     f"{series.system['n']:,}", _mark(series) + series.system["config"]])
    return _section(figures, measure, rows, ["system", ">BPC is", ">jobs/s", ">range", ">jobs", "settings"])


def _latency(figures):
    found, tail = figures.series("latency", "p50"), figures.series("latency", "p99")
    rows = []
    for series in _in_order(found.values(), least=True):
        name, own = series.system["name"], f"bpc-{'sqlite' if series.system['store'] == 'sqlite' else 'pg'}"
        late = tail[name]
        rows.append([_name(series.system), _ratio(found.get(own), series), _ratio(tail.get(own), late),
                     f"{series.median:.1f}", _range(series, "{:.1f}"), f"{late.median:.1f}", _range(late, "{:.1f}"),
                     _mark(series) + series.system["config"]])
    head = ["system", ">BPC takes, p50", ">p99", ">p50 ms", ">range", ">p99 ms", ">range", "settings"]
    return _section(figures, "latency", rows, head)


def _wal(figures):
    found = figures.wal_per_job()
    own = found.get("bpc-pg")
    rows = []
    for system, enqueue, process in sorted(found.values(), key=lambda it: (it[0]["peer"] != "BPC", it[1] + it[2])):
        ratio = "" if own is None or system["name"] == "bpc-pg" else f"{(own[1] + own[2]) / (enqueue + process):.2f} x"
        rows.append([_name(system), ratio, f"{enqueue + process:,.0f}", f"{enqueue:,.0f}", f"{process:,.0f}"])
    if not rows:
        return ""
    return "### WAL bytes per job\n\n" + table(["system", ">BPC writes", ">in all", ">enqueue", ">process"], rows)


def _own(figures):
    rows = []
    for record in figures.good("long-log", "ratio"):
        rows.append([f"{record['events']:,} events in the log", f"{record['ratio']:.2f} x",
                     _told(record) + f"{record['rate']:,.0f} against {record['base']:,.0f} jobs/s on an empty log"])
    for record in figures.good("crowd", "ratio"):
        unfinished = "" if record["done"] >= record["jobs"] else f"; only {record['done']:,} of {record['jobs']:,} jobs in three minutes"
        rows.append([f"{record['many']} workers, {record['connections']:,} connections", f"{record['ratio']:.2f} x",
                     _told(record) + f"{record['rate']:,.0f} against {record['base']:,.0f} jobs/s by {record['few']} with "
                     f"{record['base_connections']:,}; {record['whole_ratio']:.2f} x with the time to connect{unfinished}"])
    record = figures.last("pinned")
    if record:
        rows.append([f"transaction open for {record['seconds']:.0f} s", f"{record['ratio']:.2f} x",
                     _told(record) + f"{record['rate']:,.0f} against {record['base']:,.0f} jobs/s; {record['pinned_jobs']:,} jobs, "
                     f"{record['dead_tuples']:,} dead rows in the queue at the end"])
    for record in figures.good("verify", "pg_rate"):
        rows.append([f"verify of {record['events']:,} events", f"{record['sha_times']:.2f} x SHA-256",
                     f"{record['pg_rate']:,.0f} events/s from PostgreSQL, {record['archive_rate']:,.0f} from an archive; "
                     f"SHA-256 of its {record['bytes'] / 1e6:,.0f} MB on one core {record['sha_mb_s']:,.0f} MB/s"])
    wrong = "".join(f"\n\nNot measured: {measure}: {problem}." for measure in ("long-log", "crowd", "pinned", "verify")
                    for problem in figures.failures(measure).values())
    body = table(["BPC beside itself", ">ratio", "figures"], rows) if rows else ""
    return f"### BPC beside itself\n\n{body}{wrong}" if rows or wrong else ""


def _told(record):
    return "(disturbed) " if record.get("disturbed") else ""


def _asked(figures):
    words = {True: "yes", False: "**no**", None: "-"}
    rows = [[row.measure, row.asked, row.seen, words[row.met]] for row in asked.rows(figures)]
    return "### Asked and seen\n\n" + table(["measure", "asked, at least", "seen", "met"], rows)


def _section(figures, measure, rows, head):
    wrong = "".join(f"\n\nWent wrong: {name}: {what}." for name, what in figures.failures(measure).items())
    if not rows and not wrong:
        return ""
    return f"### {TITLES[measure]}\n\n{MEANING[measure][0].upper()}{MEANING[measure][1:]}.\n\n{table(head, rows)}{wrong}"


def _in_order(series, least=False):
    """BPC, then the others from the best on."""
    return sorted(series, key=lambda s: (s.system["peer"] != "BPC", s.median if least else -s.median))


def _name(system):
    version = f" {system['version']}" if system.get("version") else ""
    return f"{system['peer']}{version} ({system['name']})"


def _ratio(own, series):
    if own is None or own is series or series.system["peer"] == "BPC":
        return ""
    ratio = Ratio(own, series)
    return f"{ratio.median:.2f} x"


def _range(series, form):
    return f"{form.format(series.low)} to {form.format(series.high)}" if len(series.by_round) > 1 else ""


def _mark(series):
    return f"({series.disturbed} of {len(series.by_round)} rounds disturbed) " if series.disturbed else ""
