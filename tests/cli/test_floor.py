"""What yardstick-builtin says about itself: --floor. No time is asserted, only that the parts fit together."""
import json
import os
import subprocess
import unittest

from harness import BIN, Case, other_backend, tearDownModule  # noqa: F401


class Builtin(Case):
    def builtin(self, *arguments, code=0):
        """Standard output; nothing is said on stderr that is no terminal, unless it fails."""
        process = subprocess.run([os.path.join(BIN, "yardstick-builtin")] + list(arguments), cwd=self.folder, env=self.environment(),
                                 stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
        self.assertEqual(process.returncode, code, process.stderr)
        if code == 0:
            self.assertEqual(process.stderr, "")
            return process.stdout
        self.assertEqual(process.stdout, "")
        self.assertEqual(process.stderr.count("\n"), 1, process.stderr)
        return process.stderr

    def refused(self, *arguments, words=()):
        message = self.builtin(*arguments, code=2)
        for word in words:
            self.assertIn(word, message)

    def object(self, *arguments):
        return json.loads(self.builtin(*arguments, "--format=json"))

    def assert_sum(self, parts, whole):
        """Sums of some hundred numbers in double, printed so that they read back equal: the order of adding is all that can differ."""
        self.assertAlmostEqual(sum(parts), whole, delta=1e-12 * sum(map(abs, parts)))


class Floor(Builtin):
    def floor(self, model, *arguments):
        return self.object("--floor", model, "--threads=1", "--repeat=1", *arguments)

    def check_products(self, floor, model):
        """Every convolution and product once a pass, the first without a gradient by its data; the forward ones are the model's
        multiply-adds."""
        out, _ = self.yardstick("list", "models", model, "--format=json")
        passes, flops = {}, 0
        for row in floor["products"]:
            self.assertIn(row["op"], ("Conv", "Gemm"))
            passes.setdefault(row["node"], []).append(row["pass"])
            flops += row["flops"] if row["pass"] == "forward" else 0
            self.assertGreater(row["alone_s"], 0)
            self.assertGreater(row["in_step_s"], 0)
            self.assertAlmostEqual(row["flops_per_s"] * row["alone_s"], row["flops"], delta=1e-9 * row["flops"])
        self.assertEqual(flops, 2 * floor["batch"] * json.loads(out)["models"][0]["multiply_adds"])
        first, *others = passes.values()
        self.assertEqual(first, ["forward", "weights"])
        self.assertTrue(all(other == ["forward", "data", "weights"] for other in others), passes)

    def check_sums(self, floor):
        self.assert_sum([row["alone_s"] for row in floor["products"]], floor["sum_s"])
        self.assertAlmostEqual(floor["ratio"], floor["step_s"] / floor["sum_s"], delta=1e-12 * floor["ratio"])
        self.assert_sum([floor["sum_s"], *floor["rest_s"].values()], floor["step_s"])
        for kind in ("layout", "pointwise", "pool", "loss", "update"):
            self.assert_sum([call["in_step_s"] for call in floor["calls"] if call["kind"] == kind], floor["rest_s"][kind])
        products = [call["in_step_s"] for call in floor["calls"] if call["kind"] in ("product", "weights")]
        self.assert_sum(products, sum(row["in_step_s"] for row in floor["products"]))

    def test_the_parts_of_a_step_add_up_to_it(self):
        usual = other_backend() or "ref"
        for model, batch, arguments in (("lenet", 3, ["--backend=ref"]), ("lenet", 4, ["--backend", usual]), ("resnet20", 2, [])):
            with self.subTest(model=model, arguments=arguments):
                floor = self.floor(model, "--batch", str(batch), *arguments)
                self.assertEqual((floor["model"], floor["batch"], floor["threads"], floor["precision"], floor["rounds"]),
                                 (model, batch, 1, "f32", 1))
                self.assertEqual(floor["backend"], arguments[-1].replace("--backend=", "") if arguments else usual)
                self.check_products(floor, model)
                self.check_sums(floor)
                self.assertIsNone(floor["ratio_interval"])

    def test_other_formats_and_more_rounds(self):
        floor = self.object("--floor", "mlp", "--batch=2", "--threads=1", "--precision=f64", "--repeat=6")
        self.assertEqual((floor["precision"], floor["backend"], floor["rounds"]), ("f64", "ref", 6))
        low, high = floor["ratio_interval"]
        self.assertLessEqual(low, high)
        self.check_products(floor, "mlp")
        self.check_sums(floor)

    def test_bf16(self):
        bf16 = ["lenet", "--batch=2", "--precision=bf16"]
        lacking = self.instructions()[1]
        if lacking:
            self.refused("--floor", *bf16, words=[lacking])
            return
        floor = self.floor(*bf16)
        self.check_products(floor, "lenet")
        self.check_sums(floor)

    def test_the_table_is_readable(self):
        out = self.builtin("--floor", "resnet20", "--batch=2", "--threads=1", "--repeat=1")
        self.assertLessEqual(max(map(len, out.splitlines())), 100)
        for words in ("resnet20, batch 2, f32, 1 thread\n", "forward", "weights", "where a step goes", "batch norm", "step / sum ="):
            self.assertIn(words, out)
        self.assertNotIn("nan", out)

    def test_bad_arguments_are_refused(self):
        for arguments, words in (([], ["list models"]), (["--batch=3"], ["list models"]), (["lenett"], ["lenett", "list models"]),
                                 (["lenet", "--precision=f16"], ["f16", "bf16"]), (["lenet", "--threads=100000"], ["100000"]),
                                 (["lenet", "--threads=0"], ["--threads", '"0"']), (["lenet", "--batch", "1.5"], ["--batch", "1.5"]),
                                 (["lenet", "--batch"], ["--batch"]), (["lenet", "--backend=none"], ["none"]),
                                 (["lenet", "--backend=ref", "--precision=bf16"], ["bf16"]),
                                 (["lenet", "--format=csv"], ["csv", "json"]), (["lenet", "--repeats=2"], ["--repeats"]),
                                 (["lenet", "mlp"], ["mlp"])):
            with self.subTest(arguments=arguments):
                self.refused("--floor", *arguments, words=words)


if __name__ == "__main__":
    unittest.main()
