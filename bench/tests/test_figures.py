import unittest

from comparison.figures import Figures, Ratio, Series
from comparison.systems import is_rival
from tests.records import rates, record


class Medians(unittest.TestCase):
    def test_a_series_has_a_median_and_a_range(self):
        series = Figures(rates("bpc-pg", "process", [30, 10, 20])).series("process")["bpc-pg"]
        self.assertEqual((series.median, series.low, series.high), (20, 10, 30))

    def test_a_round_that_failed_or_was_not_done_does_not_count(self):
        figures = Figures([*rates("bpc-pg", "process", [10]), record("bpc-pg", "process", 2, error="broken"),
                           record("bpc-pg", "process", 3, rate=99, incomplete=True)])
        self.assertEqual(figures.series("process")["bpc-pg"].by_round, {1: 10})
        self.assertEqual(figures.failures("process"), {"bpc-pg": "broken"})

    def test_disturbed_rounds_are_counted_and_kept(self):
        series = Figures(rates("bpc-pg", "process", [10, 20], disturbed=True)).series("process")["bpc-pg"]
        self.assertEqual((series.disturbed, len(series.by_round)), (2, 2))


class Ratios(unittest.TestCase):
    def test_rounds_are_compared_with_their_own_round(self):
        # The machine was half as fast in the second round, for both.
        ratio = Ratio(Series(None, {1: 300, 2: 150, 3: 310}), Series(None, {1: 100, 2: 50, 3: 100}))
        self.assertEqual((ratio.median, ratio.low), (3.0, 3.0))

    def test_without_a_round_in_common_medians_are_compared(self):
        self.assertEqual(Ratio(Series(None, {1: 300}), Series(None, {2: 100})).median, 3.0)


class Best(unittest.TestCase):
    RECORDS = [*rates("bpc-pg", "process", [900]), *rates("slow", "process", [10]), *rates("quick", "process", [50]),
               *rates("pgmq-archive", "process", [500], peer="pgmq"), *rates("other", "process", [70], store="redis")]

    def test_the_best_is_a_worker_library_on_the_same_database(self):
        self.assertEqual(Figures(self.RECORDS).best("process", "pg", is_rival).system["name"], "quick")

    def test_without_a_rival_there_is_no_best(self):
        self.assertIsNone(Figures(self.RECORDS).best("process", "sqlite", is_rival))

    def test_the_least_latency_is_the_best(self):
        found = Figures([record("a", "latency", 1, p50=5.0), record("b", "latency", 1, p50=4.0)])
        self.assertEqual(found.best("latency", "pg", is_rival, "p50", least=True).system["name"], "b")


class Wal(unittest.TestCase):
    def test_it_is_that_of_enqueue_and_process_also_under_two_settings(self):
        figures = Figures([
            record("g-plain", "bulk", 1, peer="g", wal_bytes_per_job=700), record("g-batch", "process", 1, peer="g", wal_bytes_per_job=900),
            record("lonely", "process", 1, wal_bytes_per_job=1)])
        self.assertEqual([(name, enqueue, process) for name, (_, enqueue, process) in figures.wal_per_job().items()],
                         [("g-batch", 700, 900)])
