"""What a run says, computed from its records and nothing else.

A record is what one measurement of one system gave: name, peer, store, measure, round, and rate (per second) or p50 and
p99 (milliseconds), or error.
"""
import statistics


def median(values):
    return statistics.median(values)


class Series:
    """The rounds of one system at one measure."""

    def __init__(self, system, by_round, disturbed=0):
        self.system, self.by_round, self.disturbed = system, by_round, disturbed

    @property
    def median(self):
        return median(self.by_round.values())

    @property
    def low(self):
        return min(self.by_round.values())

    @property
    def high(self):
        return max(self.by_round.values())


class Ratio:
    """One system over another, round by round: both ran within the same minutes, so what the machine did to one it
    mostly did to the other. Rounds that one of them lacks do not count; if there are none in common, medians do."""

    def __init__(self, over, under):
        pairs = [(over.by_round[r], under.by_round[r]) for r in over.by_round if r in under.by_round]
        self.values = [a / b for a, b in pairs] or [over.median / under.median]

    @property
    def median(self):
        return median(self.values)

    @property
    def low(self):
        return min(self.values)

    @property
    def high(self):
        return max(self.values)


class Figures:
    def __init__(self, records):
        self.records = records

    def good(self, measure, field="rate"):
        return [r for r in self.records if r["measure"] == measure and r.get(field) is not None and "error" not in r
                and not r.get("incomplete")]

    def series(self, measure, field="rate"):
        """Of every system that was measured, in the order of the records."""
        found = {}
        for record in self.good(measure, field):
            series = found.setdefault(record["name"], Series(record, {}))
            series.by_round[record["round"]] = record[field]
            series.disturbed += bool(record.get("disturbed"))
        return found

    def failures(self, measure):
        """name -> what went wrong, for systems that have no good round at all or too few."""
        wrong = {}
        for record in self.records:
            if record["measure"] == measure and ("error" in record or record.get("incomplete")):
                wrong.setdefault(record["name"], record.get("error") or "did not finish in time")
        return wrong

    def best(self, measure, store, is_rival, field="rate", least=False):
        """The best rival on that kind of store; None if none was measured."""
        rivals = [s for s in self.series(measure, field).values() if s.system["store"] == store and is_rival(s.system)]
        if not rivals:
            return None
        return min(rivals, key=lambda s: s.median) if least else max(rivals, key=lambda s: s.median)

    def wal_per_job(self):
        """name -> bytes written ahead for one job, enqueue to done: bulk enqueue and processing, medians of both."""
        enqueue, process = self.series("bulk", "wal_bytes_per_job"), self.series("process", "wal_bytes_per_job")
        by_peer = {series.system["peer"]: series for series in enqueue.values()}
        found = {}
        for name, series in process.items():
            # A peer may enqueue under one setting and process under another.
            enqueued = enqueue.get(name) or by_peer.get(series.system["peer"])
            if enqueued and enqueued.system["store"] == series.system["store"] == "pg":
                found[name] = (series.system, enqueued.median, series.median)
        return found

    def last(self, measure):
        """The last good record of a measure that is taken once."""
        good = [r for r in self.records if r["measure"] == measure and "error" not in r]
        return good[-1] if good else None
