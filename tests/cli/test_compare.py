"""The ways to compare beside the controlled one: same weights, own defaults. With the built-in engine alone."""
import importlib.util
import math
import os
import unittest

from harness import RECIPES, ROOT, Case, other_backend, recipe_word, tearDownModule  # noqa: F401

SAME = ["--compare=same-weights", "--model=mlp", "--data=digits", "--threads=1", "--batch=32", "--lr=0.1", "--repeat=1"]

# Three products of at most 784 terms in float32, in any order: 3 * 784 * 2^-24 of the largest value is more than they can part by.
FLOAT = 3 * 784 * 2.0**-24


class SameWeights(Case):
    def agreement(self, *arguments, code=0):
        result, err = self.result("run", *arguments, code=code)
        return result, [trial["agreement"] for trial in result["trials"]], err

    def test_engines_predict_from_weights_that_were_trained_once(self):
        self.need_other_backend()
        arguments = ["--framework=builtin", "--opt.builtin.backend=%s,ref" % other_backend(), *SAME, "--steps=60", "--rows=100"]
        result, found, _ = self.agreement(*arguments)
        for trial, one in zip(result["trials"], found):
            self.assertEqual((trial["status"], trial["runs"]), ("ok", 1), trial)
            self.assertIn(trial["proof"]["verdict"], ("pass", "weak"))  # a back end that was asked for by name has no double
            self.assertEqual((trial["keys"]["mode"], trial["keys"]["requests"], trial["keys"]["steps"]), ("infer", 4, 60))
            self.assertEqual((one["reference"], one["weights_steps"], one["rows"], one["predictions"]), ("builtin", 60, 100, 100))
            self.assertLessEqual(one["logits_error"], FLOAT)
            self.assertGreater(one["reference_accuracy"], 0.3)  # chance is 0.1: the weights have been trained
            self.assertLessEqual(abs(one["accuracy"] - one["reference_accuracy"]) * 100, one["disagreements"] + 1e-9)
            self.assertEqual([layer["op"] for layer in one["layers"]],
                             ["normalize", "Flatten", "Gemm", "Relu", "Gemm", "Relu", "Gemm"])
            self.assertTrue(all(0 <= layer["error"] <= FLOAT for layer in one["layers"]), one["layers"])
            self.assertEqual((one["layers_rows"], one["layers_reason"]), (8, None))
            self.assertGreater(trial["metrics"]["rate_per_s"]["value"], 0)
            self.assertIn("answers requests", trial["metrics"]["accuracy"]["reason"])
        self.assertGreater(found[1]["layers"][-1]["error"], 0)  # float against double
        again = self.agreement(*arguments)[1]
        self.assertEqual(again[1]["reference_accuracy"], found[1]["reference_accuracy"])
        self.assertEqual(again[1]["layers"], found[1]["layers"])

    def test_the_numeric_format_changes_the_answers_and_not_the_weights(self):
        lacking = self.instructions()[1]
        if lacking:
            self.skipTest(lacking)
        _, found, _ = self.agreement("--framework=builtin", *SAME, "--steps=60", "--precision=f64,bf16", "--rows=50")
        exact, coarse = found
        self.assertEqual(exact["reference_accuracy"], coarse["reference_accuracy"])
        self.assertLess(max(layer["error"] for layer in exact["layers"]), 1e-12)  # double against double
        self.assertGreater(coarse["logits_error"], 2.0**-12)  # bfloat16 has 8 bits
        self.assertLess(exact["logits_error"], FLOAT)

    def test_requests_of_any_size_have_the_same_weights(self):
        arguments = ["--framework=builtin", *(word for word in SAME if not word.startswith("--batch")), "--steps=60", "--rows=100"]
        _, found, _ = self.agreement(*arguments, "--batch=1,50")
        self.assertEqual(found[0]["reference_accuracy"], found[1]["reference_accuracy"])
        self.assertGreater(found[0]["reference_accuracy"], 0.3)  # 60 batches of one row would hardly have moved them
        _, other, _ = self.agreement(*arguments, "--batch=50", "--taught.batch=1")
        self.assertNotEqual(other[0]["reference_accuracy"], found[1]["reference_accuracy"])

    def test_zero_steps_are_the_initial_weights(self):
        _, found, _ = self.agreement("--framework=builtin", *SAME, "--steps=0", "--rows=10")
        self.assertEqual((found[0]["weights_steps"], found[0]["predictions"]), (0, 10))

    def test_more_rows_than_there_are_are_all_of_them(self):
        result, found, _ = self.agreement("--framework=builtin", *SAME, "--steps=0", "--rows=1000000")
        self.assertEqual(found[0]["rows"], result["trials"][0]["keys"]["rows"])
        self.assertEqual(math.ceil(found[0]["rows"] / 32), result["trials"][0]["keys"]["requests"])

    def test_the_table_and_the_page_show_it(self):
        out, _ = self.yardstick("run", "--framework=builtin,null", *SAME, "--steps=0", "--rows=40", "--details")
        self.assertIn("Predictions with the same weights", out)
        self.assertIn(" of 40 ", out)
        self.assertLessEqual(max(map(len, out.splitlines())), 80)
        page, _ = self.yardstick("report")
        with open(page.strip()) as file:
            self.assertIn("Error layer by layer", file.read())
        out, _ = self.yardstick("show", "--format=md")
        self.assertIn("| Same weights |", out)

    def test_what_does_no_work_predicts_nothing(self):
        result, found, _ = self.agreement("--framework=null", *SAME, "--steps=5", "--rows=10")
        self.assertEqual((result["trials"][0]["status"], found), ("ok", [None]))

    def test_a_framework_that_fails_is_a_row(self):
        result, found, _ = self.agreement("--framework=builtin,misbehaving", "--recipes=" + RECIPES, *SAME, "--steps=5", "--rows=10",
                                          "--env.MISBEHAVE=segv", code=1)
        self.assertEqual([trial["status"] for trial in result["trials"]], ["ok", "crashed"])
        self.assertIsNone(found[1])
        self.assertIsNotNone(found[0])

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "the toy adapter needs NumPy")
    def test_predictions_and_layers_that_cannot_be_had_say_why(self):
        """The toy answers with logits of two classes, and knows no Concat."""
        self.write("toy.recipe", "name = toy\nprogram = python3 %s\n" % recipe_word(os.path.join(ROOT, "tests", "python", "toy_adapter.py")))
        result, found, err = self.agreement("--framework=toy", "--recipes=" + self.folder, *SAME, "--steps=0", "--rows=40", code=5)
        trial, one = result["trials"][0], found[0]
        self.assertEqual((trial["status"], trial["proof"]["verdict"]), ("ok", "fail"), err)
        self.assertEqual([one[key] for key in ("disagreements", "accuracy", "logits_error", "layers", "predictions")], [None] * 4 + [0])
        self.assertIn("another shape", one["rounds"][0]["reason"])
        self.assertIn("Concat", one["layers_reason"])
        self.assertIn("its predictions could not be had", err)
        out, _ = self.yardstick("show", "--details")
        self.assertIn("another shape", " ".join(out.split()))

    def test_weights_that_cannot_be_trained_end_the_runs_and_not_the_study(self):
        """A rate of 1000 overflows float within some steps."""
        arguments = [a for a in SAME if not a.startswith("--lr")]
        result, found, _ = self.agreement("--framework=builtin", *arguments, "--lr=0.1,1000", "--steps=60", "--rows=10", code=1)
        rows = {trial["factors"]["lr"]: trial for trial in result["trials"]}
        self.assertEqual(rows[0.1]["status"], "ok")
        self.assertEqual(rows[1000]["status"], "diverged")
        self.assertIn("the built-in engine could not train the weights: the loss of step", rows[1000]["reason"])
        self.assertIn(None, found)

    def test_a_resumed_study_goes_on_with_them(self):
        process = self.start("run", "--framework=builtin", *SAME[:-1], "--repeat=4", "--steps=0", "--rows=10", "--env.A=1,2")
        runs = os.path.join(self.folder, "yardstick-results")
        self.wait_until(lambda: sum("adapter.log" in files for _, _, files in os.walk(runs)) >= 2, process)
        process.terminate()
        process.communicate()
        if process.returncode == 0:
            self.skipTest("the study was over before it could be interrupted")
        self.yardstick("resume", "last")
        result, _ = self.result("show")
        for trial in result["trials"]:
            self.assertEqual((trial["runs"], len(trial["agreement"]["rounds"])), (4, 4))


class Attacked(Case):
    """mode = attack: frameworks give gradients of the same weights."""

    def attacked(self, *arguments, code=0):
        words = [word for word in SAME if not word.startswith("--batch")]
        return self.result("run", *words, "--mode=attack", "--batch=50", "--steps=60", "--rows=50", "--attack.rows=200", *arguments, code=code)

    def test_engines_that_are_attacked_alike_say_how_fast_they_are(self):
        self.need_other_backend()
        result, err = self.attacked("--framework=builtin", "--opt.builtin.backend=%s,ref" % other_backend(), "--attack=fgsm(0.05) deepfool(5)")
        broken = []
        for trial in result["trials"]:
            self.assertEqual((trial["status"], trial["keys"]["mode"]), ("ok", "attack"), err)
            self.assertEqual({due["check"]: due["state"] for due in trial["proof"]["due"]}, {"outcomes": "pass"}, trial["proof"])
            for name in ("rate_per_s", "latency_p50_s", "gradients_s", "first_step_s"):
                self.assertGreater(trial["metrics"][name]["value"], 0, name)
            found = trial["robustness"]
            self.assertTrue(0 < found["computed_s"] < found["question_s"], found)
            for name in ("infer_s", "train_s", "step_s", "accuracy"):
                self.assertIn("gives gradients to an attack", trial["metrics"][name]["reason"])
            broken.append(trial["agreement"]["predictions"])
        self.assertEqual(broken, [50, 50])
        out, _ = self.yardstick("show", "--details")
        self.assertEqual(" ".join(out.split()).count(": files and messages take "), 2, out)

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "the adapter needs NumPy")
    def test_gradients_that_are_wrong_in_the_run_alone_fail_by_their_outcomes(self):
        """fgsm goes by signs alone, deepfool by lengths too."""
        wrong = {"nothing": True, "zero": False, "noise": False, "length": False, "logits": False}
        result, err = self.attacked("--framework=slopes", "--recipes=" + RECIPES, "--attack=fgsm(0.05) deepfool(5)",
                                    "--env.SLOPES_RUN=" + ",".join(wrong), code=5)
        for trial in result["trials"]:
            mistake = trial["env"]["SLOPES_RUN"] if "env" in trial else trial["id"].rpartition("=")[2]
            states = {due["check"]: due["state"] for due in trial["proof"]["due"]}
            self.assertEqual(states, {"outcomes": "pass" if wrong[mistake] else "fail"}, (mistake, err))
            self.assertEqual(trial["proof"]["verdict"] == "fail", not wrong[mistake], mistake)
        self.assertIn("does not give the gradients that were asked for", err)

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "the adapter needs NumPy")
    def test_corruptions_are_judged_by_the_logits_of_the_framework(self):
        result, err = self.attacked("--framework=builtin,slopes", "--recipes=" + RECIPES, "--attack=corruptions(2)", "--env.SLOPES_RUN=nothing,logits", code=5)
        for trial in result["trials"]:
            wrong = "slopes" in trial["id"] and "logits" in trial["id"]
            self.assertEqual({due["check"]: due["state"] for due in trial["proof"]["due"]}, {"outcomes": "fail" if wrong else "pass"}, (trial["id"], err))
            kinds = [one["accuracy"] for one in trial["robustness"]["corruptions"]]
            self.assertAlmostEqual(trial["metrics"]["corrupted_accuracy"]["value"], sum(kinds) / 15, places=12)
        self.assertIn("rows are right, and with the built-in engine's logits", err)

    def test_what_cannot_answer_is_unsupported(self):
        result, _ = self.attacked("--framework=null,builtin", "--attack=fgsm(0.05)")
        self.assertEqual([trial["status"] for trial in result["trials"]], ["unsupported", "ok"])


class Own(Case):
    """Two recipes of the built-in engine, each with defaults of its own."""

    def setUp(self):
        super().setUp()
        tables = {"mine": "own.digits.batch = 32\nown.digits.steps = 12\nown.digits.lr = 0.1\n",
                  "yours": "own.digits.batch = 16\nown.digits.epochs = 1\nown.mnist.model = lenet\n"}
        for name, table in tables.items():
            self.write(name + ".recipe", "name = %s\nprogram = yardstick-builtin\ndouble = yes\nown.digits.model = mlp\n%s" % (name, table))
        self.own = ["--recipes=" + self.folder, "--compare=own", "--data=digits", "--threads=1", "--repeat=1"]

    def test_each_does_its_own_and_says_so(self):
        result, _ = self.result("run", "--framework=mine,yours,null", *self.own, "--epochs=1", "--batch=64")
        mine, yours, null = result["trials"]
        self.assertEqual((mine["status"], yours["status"], null["status"]), ("ok", "ok", "unsupported"))
        self.assertEqual((mine["keys"]["model"], mine["keys"]["lr"], yours["keys"]["lr"]), ("mlp", 0.1, 0.01))
        self.assertEqual((mine["keys"]["batch"], mine["keys"]["steps"], mine["keys"]["epochs"]), (64, None, 1))
        self.assertIn("not the common work but the defaults of mine for digits", mine["deviations"])
        self.assertIn("the recipe of null has no defaults for digits: own_of can be mine, yours", null["reason"])
        verdicts = {c["metric"]: c for c in result["comparisons"]}
        self.assertEqual(verdicts["rate_per_s"]["verdict"], "invalid")
        self.assertIn("different work", verdicts["rate_per_s"]["reason"])
        self.assertNotEqual(verdicts["accuracy"]["verdict"], "invalid")
        out, _ = self.yardstick("show")
        self.assertIn("defaults of mine for digits", " ".join(out.split()))

    def test_times_of_graphics_in_software_are_compared_with_none(self):
        result, _ = self.result("run", "--framework=null", "--opt.null.software=SwiftShader,llvmpipe", "--model=mlp", "--data=digits",
                                "--threads=1", "--steps=20", "--repeat=1")
        self.assertEqual([trial["status"] for trial in result["trials"]], ["ok", "ok"])
        self.assertEqual(sorted(trial["software"] for trial in result["trials"]), ["SwiftShader", "llvmpipe"])
        verdicts = {c["metric"]: c for c in result["comparisons"]}
        self.assertEqual(verdicts["rate_per_s"]["verdict"], "invalid")
        self.assertRegex(verdicts["rate_per_s"]["reason"], r"its graphics processor is drawn in software \((SwiftShader|llvmpipe)\)")
        self.assertNotIn("drawn", verdicts["rss_peak_bytes"]["reason"] or "")

    def test_the_defaults_of_one_are_the_same_work_for_two(self):
        result, _ = self.result("run", "--framework=mine,yours", *self.own, "--own_of=mine")
        for trial in result["trials"]:
            self.assertEqual((trial["keys"]["steps"], trial["keys"]["batch"], trial["keys"]["own_of"]), (12, 32, "mine"))
        rate = [c for c in result["comparisons"] if c["metric"] == "rate_per_s"][0]
        self.assertEqual(rate["verdict"], "unclear")  # one round has no interval, but it is no other work

    def test_check_shows_what_would_run(self):
        out, _ = self.yardstick("check", "--framework=builtin", *self.own, "--own_of=mine,yours,null", code=0)
        self.assertIn("own_of=mine", out)
        self.assertIn("has no defaults for digits", " ".join(out.split()))

    def test_defaults_for_another_data_set(self):
        out, _ = self.result("run", "--framework=yours", *self.own, "--own_data=mnist", "--steps=3", "--batch=8", "--block=1")
        keys = out["trials"][0]["keys"]
        self.assertEqual((keys["model"], keys["data"], keys["own_data"]), ("lenet", "digits", "mnist"))

    def test_bad_input(self):
        self.refusal("check", "--framework=mine", *self.own, "--own_of=thine", words=["own_of = thine", "no recipe"])
        self.refusal("check", "--framework=mine", "--recipes=" + self.folder, "--model=mlp", "--data=digits", "--own_of=mine",
                     words=["own_of is for compare = own"])
        self.refusal("check", "--framework=mine", *self.own, "--own_data=minst", words=["own_data = minst"])
        self.write("bad.recipe", "name = bad\nprogram = x\nown.digits.lrr = 1\n")
        self.refusal("check", "--framework=bad", *self.own, words=["bad.recipe:3", "did you mean lr?"])
        out, _ = self.yardstick("check", "--framework=null", *self.own, code=0)
        self.assertIn("unsupported", out)


if __name__ == "__main__":
    unittest.main()
