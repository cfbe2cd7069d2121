import pathlib
import tempfile
import unittest

from comparison import crowd, document, systems, tables
from comparison.figures import Figures
from tests.records import rates, record


class Tables(unittest.TestCase):
    def test_bpc_comes_first_then_the_best_and_the_ratio_before_the_figures(self):
        text = tables.render(Figures([*rates("slow", "process", [10, 30]), *rates("quick", "process", [50, 70]),
                                      *rates("bpc-pg", "process", [100, 210])]), {"machine": "this one"})
        lines = [line for line in text.splitlines() if line.startswith("| ") and "(" in line and "settings" in line]
        self.assertEqual(lines[0], "| BPC (bpc-pg) |  | 155 | 100 to 210 | 1,000 | settings |")
        self.assertEqual(lines[1], "| quick (quick) | 2.50 x | 60 | 50 to 70 | 1,000 | settings |")
        self.assertTrue(lines[2].startswith("| slow (slow) | 8.50 x | 20 |"))
        self.assertTrue(text.startswith("* machine: this one\n"))

    def test_what_went_wrong_is_told_beside_the_table(self):
        text = tables.render(Figures([record("awa", "process", 1, error="RuntimeError: no"), *rates("bpc-pg", "process", [1])]), {})
        self.assertIn("Went wrong: awa: RuntimeError: no.", text)

    def test_every_measure_has_its_table(self):
        records = [*rates("bpc-pg", "single", [5]), *rates("bpc-pg", "bulk", [5], wal_bytes_per_job=10),
                   *rates("bpc-pg", "process", [5], wal_bytes_per_job=11), record("bpc-pg", "latency", 1, p50=1.0, p99=2.0),
                   record("bpc-pg", "long-log", 1, rate=9, base=10, ratio=0.9, events=30),
                   record("bpc-pg", "crowd", 1, rate=9, base=10, ratio=0.9, many=256, few=4, connections=1500, base_connections=22, whole_ratio=0.5,
                          jobs=100, done=99),
                   record("bpc-pg", "pinned", 1, rate=8, base=10, ratio=0.8, seconds=600.0, pinned_jobs=9, queue_bytes=[1, 2],
                          queue_bytes_after=1, dead_tuples=3),
                   record("bpc-pg", "verify", 1, events=9, pg_rate=1.0, archive_rate=2.0, sha_times=2.5, sha_mb_s=900.0, bytes=5)]
        text = tables.render(Figures(records), {})
        for title in ("Process", "Bulk enqueue", "Single durable enqueue", "Latency", "WAL bytes per job", "BPC beside itself",
                      "Asked and seen"):
            self.assertIn(f"### {title}\n", text)
        self.assertNotIn("not measured in this run |", text.split("Asked and seen")[1].split("WAL")[1])

    def test_disturbed_rounds_are_marked(self):
        text = tables.render(Figures(rates("bpc-pg", "process", [1, 2], disturbed=True)), {})
        self.assertIn("(2 of 2 rounds disturbed) settings", text)


class Crowd(unittest.TestCase):
    def test_the_pace_is_that_of_the_second_half(self):
        counts = [(0.0, 0), (5.0, 10), (6.0, 25), (7.0, 60), (8.0, 100), (9.0, 100)]
        self.assertEqual(crowd.pace(counts, 100), 40)
        self.assertIsNone(crowd.pace([(1.0, 0), (2.0, 100)], 100))
        self.assertIsNone(crowd.pace([], 100))


class Document(unittest.TestCase):
    TEXT = f"before\n{document.BEGIN}\nold\n{document.END}\nafter\n"

    def test_tables_replace_what_is_between_the_markers_and_nothing_else(self):
        once = document.between(self.TEXT, "new\n")
        self.assertEqual(once, f"before\n{document.BEGIN}\n\nnew\n\n{document.END}\nafter\n")
        self.assertEqual(document.between(once, "new\n"), once)

    def test_a_document_without_both_markers_is_refused(self):
        for text in ("nothing", document.BEGIN, f"{document.END}\n{document.BEGIN}", self.TEXT + self.TEXT):
            with self.assertRaises(document.NoPlace):
                document.between(text, "new")

    def test_writing_leaves_no_draft_behind(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "page.md"
            path.write_text(self.TEXT)
            document.write(path, "new")
            self.assertEqual([it.name for it in path.parent.iterdir()], ["page.md"])
            self.assertIn("new", path.read_text())

    def test_the_page_of_this_repository_has_its_place(self):
        document.check(pathlib.Path(__file__).resolve().parents[2] / "docs/BENCHMARKS.md")


class Systems(unittest.TestCase):
    PEERS = [dict(name="graphile-rs", peer="graphile_worker (Rust)", n=15_000, measures=["process", "latency"]),
             dict(name="fang", peer="fang", n=3_000, measures=["process", "process2"])]

    def test_a_wrong_name_is_refused_with_the_nearest(self):
        with self.assertRaisesRegex(systems.WrongName, "did you mean 'graphile-rs'"):
            systems.choose(self.PEERS, ["grafile-rs"])
        with self.assertRaises(systems.WrongName):
            systems.choose_measures(["proces"])

    def test_others_are_measured_only_if_they_are_named(self):
        self.assertEqual([s["name"] for s in systems.choose(self.PEERS, [])], ["bpc-pg", "bpc-sqlite", "graphile-rs"])
        self.assertEqual(systems.choose(self.PEERS, ["fang"])[0]["measures"], ["process"])

    def test_a_peer_gets_no_more_jobs_than_it_can_stand(self):
        self.assertEqual([systems.jobs_of(s, 100_000) for s in systems.BPC + self.PEERS], [100_000, 100_000, 15_000, 3_000])
        self.assertEqual(systems.jobs_of(self.PEERS[0], 500), 500)

    def test_versions_are_found_in_every_kind_of_manifest(self):
        for text in ('pgmq = "=0.33.7"', 'pgmq = { version = "=0.33.7", features = [] }', '    "pgmq": "0.33.7",', "pgmq==0.33.7",
                     "pgmq[binary]==0.33.7"):
            self.assertEqual(systems.version(text, "pgmq"), "0.33.7")
        self.assertIsNone(systems.version('pgmq-more = "=1.0"', "pgmq"))
