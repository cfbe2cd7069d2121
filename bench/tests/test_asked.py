import unittest

from comparison import asked
from comparison.figures import Figures
from tests.records import rates, record


def rows(*records):
    return {row.measure: row for row in asked.rows(Figures(list(records)))}


def row(begin, *records):
    return next(it for name, it in rows(*records).items() if name.startswith(begin))


class Asked(unittest.TestCase):
    def test_what_was_not_measured_says_so_and_is_not_met(self):
        found = rows().values()
        self.assertEqual({it.met for it in found}, {None})
        self.assertEqual({it.seen for it in found}, {"not measured in this run"})
        self.assertEqual(len(found), 14)

    def test_process_is_met_from_one_and_a_half_times_the_best_on(self):
        for rate, met in ((149, False), (150, True)):
            seen = row("process, PostgreSQL", *rates("bpc-pg", "process", [rate]), *rates("a", "process", [100]),
                       *rates("b", "process", [90]))
            self.assertEqual(seen.met, met)
            self.assertIn(f"{rate / 100:.2f} x", seen.seen)
            self.assertIn(" a", seen.seen)

    def test_sqlite_is_compared_with_sqlite(self):
        seen = row("process, SQLite", *rates("bpc-sqlite", "process", [590], store="sqlite"),
                   *rates("r", "process", [100], store="sqlite"), *rates("pg", "process", [1]))
        self.assertEqual((seen.met, seen.seen), (False, "5.90 x r"))

    def test_latency_needs_both_percentiles_each_against_its_best(self):
        records = [record("bpc-pg", "latency", 1, p50=3.0, p99=9.0), record("a", "latency", 1, p50=3.5, p99=20.0),
                   record("b", "latency", 1, p50=5.0, p99=8.0)]
        self.assertTrue(row("latency enqueue to handler start, idle, p50", *records).met)
        self.assertFalse(row("latency enqueue to handler start, idle, p99", *records).met)

    def test_wal_is_enqueue_and_process_together(self):
        halves = lambda process: [record("bpc-pg", "bulk", 1, wal_bytes_per_job=1500),
                                  record("bpc-pg", "process", 1, wal_bytes_per_job=process)]
        self.assertTrue(row("WAL", *halves(1571)).met)
        self.assertFalse(row("WAL", *halves(1572)).met)

    def test_a_smaller_trial_meets_nothing(self):
        small = record("bpc-pg", "long-log", 1, rate=10, base=10, ratio=1.0, events=1000)
        full = {**small, "events": 10_000_000}
        self.assertIsNone(row("process with 1,000", small).met)
        self.assertTrue(row("process with 10,000,000", full).met)

    def test_workers_and_connections_are_two_rows_each_by_its_rounds(self):
        crowd = lambda number, many, ratio: record("bpc-pg", "crowd", number, many=many, few=many // 50, ratio=ratio, rate=1, base=1,
                                                   connections=many * 5, base_connections=5)
        records = [crowd(1, 52, 0.9), crowd(1, 256, 0.1), crowd(2, 52, 0.7), crowd(2, 256, 0.9), crowd(3, 52, 0.8), crowd(3, 256, 0.2)]
        self.assertTrue(row("52 concurrent workers with 260 connections", *records).met)
        self.assertFalse(row("256 concurrent workers", *records).met)
        self.assertIsNone(row("8 concurrent workers", crowd(1, 8, 1.0)).met)

    def test_a_queue_that_grows_as_fast_at_the_end_has_no_bound(self):
        pinned = lambda sizes: record("bpc-pg", "pinned", 1, ratio=0.8, rate=8, base=10, seconds=600.0, pinned_jobs=10,
                                      queue_bytes=sizes, queue_bytes_after=0, dead_tuples=5)
        self.assertFalse(row("the queue table", pinned([0, 10, 20, 30, 40])).met)
        self.assertTrue(row("the queue table", pinned([0, 10, 20, 22, 22])).met)
        self.assertTrue(row("process while", pinned([0, 1])).met)

    def test_verify_needs_both_speeds_and_nearness_to_hashing(self):
        seen = rows(record("bpc-pg", "verify", 1, events=9, pg_rate=400_000, archive_rate=999_999, sha_times=3.1))
        self.assertTrue(seen["verify from PostgreSQL"].met)
        self.assertFalse(seen["verify from an archive"].met)
        self.assertFalse(seen["verify from an archive beside plain SHA-256 of the same bytes"].met)
