"""precision = int8: common scales for every runtime, operators held one by one against exact integers. With the built-in engine
alone, which computes them, and with an adapter that lies about them."""
import os

from harness import BIN, ROOT, Case, recipe_word, tearDownModule  # noqa: F401

WRONG = os.path.join(ROOT, "tests", "adapters", "wrong_integers.py")

WORDS = ["--compare=same-weights", "--model=lenet", "--data=digits", "--threads=1", "--steps=30", "--rows=40", "--batch=8", "--repeat=1",
         "--quant.rows=16"]


class Int8(Case):
    def test_integers_are_proven_and_what_they_cost_is_told(self):
        result, err = self.result("run", "--framework=builtin", *WORDS, "--precision=f32,int8", "--quant=static,weights")
        self.assertEqual([trial["id"] for trial in result["trials"]],
                         ["run:precision=f32", "run:precision=int8,quant=static", "run:precision=int8,quant=weights"])
        self.assertEqual([trial["status"] for trial in result["trials"]], ["ok"] * 3, err)
        plain, whole, stored = result["trials"]
        states = [{due["check"]: due["state"] for due in trial["proof"]["due"]} for trial in result["trials"]]
        self.assertNotIn("integers", states[0])
        self.assertEqual((states[1]["integers"], states[1]["answers"], states[2]["integers"]), ("pass", "not due", "not due"))
        self.assertEqual(plain["agreement"]["disagreements"], 0)
        self.assertIsNone(plain["agreement"]["in_float"])
        self.assertEqual(whole["agreement"]["in_float"], ["normalize (normalize): it has no integer form"])
        for trial in (whole, stored):
            found = trial["agreement"]
            self.assertGreater(found["logits_error"], plain["agreement"]["logits_error"])
            self.assertLessEqual(found["change_lo"], found["change"])
            self.assertGreaterEqual(found["change_hi"], found["change"])
            self.assertEqual((found["classes"], found["layers"]), (10, None))
        self.assertIn("Number format", self.yardstick("show", "last", "--format=md")[0])

    def test_one_that_computes_other_integers_fails_as_a_proof_does(self):
        self.write("wrong.recipe", "name = wrong\nprogram = python3 %s\nmodel_format = onnx\n" % recipe_word(WRONG))
        for wrong in "unscaled", "no-zero-point", "other-channel", "half-away":
            with self.subTest(wrong):
                result, err = self.result("run", "--framework=wrong", "--recipes=" + self.folder, *WORDS, "--precision=int8",
                                          "--env.ENGINE=" + os.path.join(BIN, "yardstick-builtin"), "--env.WRONG=" + wrong, code=5)
                trial, = result["trials"]
                self.assertEqual(trial["proof"]["verdict"], "fail", err)
                self.assertIn("integers of operators are wrong", trial["proof"]["reason"])

    def test_sums_of_pairs_that_saturate_are_named_and_reduced_weights_do_not(self):
        result, err = self.result("run", "--framework=builtin", *WORDS, "--precision=int8", "--quant.range=full,reduced",
                                  "--opt.builtin.backend=onednn", "--env.ONEDNN_MAX_CPU_ISA=AVX2", code=5)
        whole, reduced = result["trials"]
        self.assertEqual((whole["proof"]["verdict"], reduced["proof"]["verdict"]), ("fail", "weak"), err)
        self.assertIn("quant.range = reduced does not", whole["proof"]["reason"])

    def test_own_scales_are_of_frameworks_whose_recipe_names_a_quantiser(self):
        result, _ = self.result("run", "--framework=builtin,pytorch,null", *WORDS, "--precision=int8", "--quant.by=own")
        self.assertEqual([trial["status"] for trial in result["trials"]], ["unsupported", "unsupported", "ok"])
        self.assertIn("quant.by = yardstick", result["trials"][0]["reason"])
        self.assertIn("names no quantiser", result["trials"][1]["reason"])

    def test_a_framework_that_reads_no_onnx_is_a_row_with_the_reason(self):
        result, _ = self.result("run", "--framework=builtin,pytorch", *WORDS, "--precision=int8")
        self.assertEqual([trial["status"] for trial in result["trials"]], ["ok", "unsupported"])
        self.assertIn("which this framework does not read", result["trials"][1]["reason"])
