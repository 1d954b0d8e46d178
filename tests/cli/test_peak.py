"""What yardstick-builtin says about the machine: --peak. No time is asserted, only that the parts fit together."""
import math
import unittest

from harness import other_backend, tearDownModule  # noqa: F401
from test_floor import Builtin


class Peak(Builtin):
    def test_the_peak_is_the_best_of_the_products(self):
        peak = self.object("--peak", "--repeat=3")
        formats = [] if peak["products_reason"] else ["f32", "bf16"] if peak["has_bf16"] else ["f32"]
        self.assertEqual(peak["products_reason"] is None, other_backend() == "onednn")
        threads = sorted({row["threads"] for row in peak["memory"]})
        self.assertEqual((threads[0], len(threads)), (1, len(peak["memory"])))
        self.assertEqual([(p["threads"], p["format"]) for p in peak["peaks"]], [(t, f) for t in threads for f in formats])
        for best in peak["peaks"]:
            rows = [row for row in peak["products"] if (row["threads"], row["format"]) == (best["threads"], best["format"])]
            self.assertGreater(len(rows), 5)
            self.assertEqual(best, max(rows, key=lambda row: row["flops_per_s"]))
        for row in peak["memory"]:
            self.assertGreater(row["buffer_bytes"], 0)
            self.assertTrue(all(0 < row[name] < math.inf for name in ("read_bytes_per_s", "copy_bytes_per_s", "triad_bytes_per_s")))
        instructions, lacking = self.instructions()
        self.assertEqual((peak["cpu"]["instructions"], peak["has_bf16"]), (instructions, lacking is None))
        handover = peak["handover"]
        self.assertEqual(handover is None, threads == [1])
        if handover:
            self.assertEqual(handover["samples"], 3)
            times = [handover[name] for name in ("fastest_ns", "median_ns", "slowest_ns")]
            self.assertEqual(times, sorted(times))
            self.assertGreater(times[0], 0)

    def test_one_thread_hands_nothing_over(self):
        self.assertIsNone(self.object("--peak", "--threads=1", "--repeat=1")["handover"])

    def test_the_table_is_readable(self):
        out = self.builtin("--peak", "--threads=1", "--repeat=1")
        self.assertLessEqual(max(map(len, out.splitlines())), 100)
        products = ("f32 peak", "bf16") if other_backend() == "onednn" else ("no matrix products: ", "oneDNN")
        for words in ("computes with " + self.instructions()[0], *products, "triad"):
            self.assertIn(words, out)

    def test_bad_arguments_are_refused(self):
        for arguments, words in ((["--threads=100000"], ["100000"]), (["--threads=-1"], ["-1"]), (["lenet"], ["lenet"]),
                                 (["--format=svg"], ["svg"]), (["--repeat"], ["--repeat"])):
            with self.subTest(arguments=arguments):
                self.refused("--peak", *arguments, words=words)


if __name__ == "__main__":
    unittest.main()
