"""Studies of requests in place of training, and trainings that diverge."""
import json
import unittest

from harness import RECIPES, Case, tearDownModule  # noqa: F401

INFER = ["--mode=infer", "--model=mlp", "--data=digits", "--threads=1"]
LATENCIES = ["latency_p50_s", "latency_p90_s", "latency_p99_s", "latency_max_s"]


class Infer(Case):
    def values(self, trial):
        return {name: metric["value"] for name, metric in trial["metrics"].items()}

    def test_requests_are_answered_by_the_engine_and_measured(self):
        result, _ = self.result("run", "--framework=builtin", *INFER, "--batch=1,8", "--requests=150", "--repeat=2")
        for trial, batch in zip(result["trials"], (1, 8)):
            self.assertEqual((trial["status"], trial["proof"]["verdict"], trial["runs"]), ("ok", "pass", 2), trial)
            values = self.values(trial)
            for r in range(2):
                p50, p90, p99, longest = (trial["metrics"][name].get("values", [None] * 2)[r] for name in LATENCIES)
                self.assertTrue(0 < p50 <= p90 <= longest, trial["metrics"])
                self.assertTrue(p99 is None or p90 <= p99 <= longest, trial["metrics"])  # a late steady part may hold too few
            for name in ("step_s", "train_s", "accuracy", "final_loss", "weights_bytes"):
                self.assertIsNone(values[name])
                self.assertIn("answers requests", trial["metrics"][name]["reason"])
        compared = {c["metric"] for c in result["comparisons"]}
        self.assertIn("latency_p50_s", compared)
        self.assertNotIn("step_s", compared)
        out, _ = self.yardstick("export")
        runs = [line for line in map(json.loads, out.splitlines()) if line["type"] == "run"]
        self.assertEqual([len(run["series"]["latency_ns"]) for run in runs], [150] * 4)
        for trial, own, batch in zip(result["trials"], (runs[:2], runs[2:]), (1, 8)):  # a trial's runs follow it
            for rate, run in zip(trial["metrics"]["rate_per_s"]["values"], own):
                shortest_s = min(run["series"]["latency_ns"]) * 1e-9
                self.assertTrue(0 < rate <= 1.001 * batch / shortest_s, (rate, shortest_s))  # time between requests counts too
        self.assertTrue(all(run["facts"]["weights"] is None for run in runs))

    def audit(self, *flags, code=0):
        result, err = self.result("run", *INFER, *flags, code=code)
        return [trial["proof"].get("audit") for trial in result["trials"]], err

    def test_answers_are_computed_again(self):
        # For long enough that answers are met after they were given, and no row comes twice.
        for precision, batch, requests in (("f32", 1, 3800), ("f64", 4, 900)):
            audits, _ = self.audit("--framework=builtin", "--batch=%d" % batch, "--requests=%d" % requests, "--repeat=2", "--precision=" + precision)
            audit = audits[0]
            self.assertEqual((audit["verdict"], audit["reason"], audit["step"]), ("pass", None, None), audit)
            self.assertGreaterEqual(audit["answers"], 2 * 8)
            self.assertLess(audit["error"], audit["bound"])
            self.assertRegex(audit["place"], "the answer to request [0-9]+")
        page, _ = self.yardstick("report")
        with open(page.strip()) as file:
            self.assertIn("answers of its runs; closest to its bound: the answer to request", file.read())

    def test_a_prompt_is_answered_before_its_tokens(self):
        gpt = ["--model=gpt-nano", "--data=synthetic", "--mode=infer", "--threads=1", "--batch=2", "--model.width=16",
               "--model.layers=2", "--model.heads=2"]
        result, _ = self.result("run", "--framework=builtin", *gpt, "--prompt=60", "--requests=60", "--repeat=1",
                                "--precision=" + ",".join(self.formats()))
        for trial in result["trials"]:
            self.assertEqual((trial["status"], trial["proof"]["verdict"]), ("ok", "pass"), trial)
            self.assertIn(trial["proof"]["audit"]["verdict"], ("pass", "weak"), trial["proof"]["audit"])
            values = self.values(trial)
            self.assertTrue(0 < values["token_p50_s"] <= values["token_p99_s"], values)
            self.assertLessEqual(values["prompt_p50_s"], values["latency_max_s"])
        out, _ = self.yardstick("export")
        for run in [line for line in map(json.loads, out.splitlines()) if line["type"] == "run"]:
            latency, prompt, token = (run["series"][name] for name in ("latency_ns", "prompt_ns", "token_ns"))
            each = len(token) // 60
            self.assertEqual((len(latency), len(prompt), len(token) % 60), (60, 60, 0))
            for i in range(60):
                self.assertLessEqual(prompt[i] + sum(token[i * each:(i + 1) * each]), latency[i])

    def test_what_has_no_prompt_is_refused(self):
        gpt, infer = ["--model=gpt-nano", "--data=synthetic"], ["--mode=infer", "--requests=2"]
        for flags, said in ((["--model=mlp", "--data=digits", "--prompt=2", *infer], "prompt = 2: rows cannot be answered position by position: mlp is no network of tokens"),
                            (["--model=lstm-char", "--data=synthetic", "--prompt=2", *infer], "(LSTM) is none that takes each position by itself"),
                            (["--model=gru-char", "--data=synthetic", "--prompt=2", *infer], "(GRU) is none that takes each position by itself"),
                            (["--model=bert-mini", "--data=synthetic", "--prompt=2", *infer], "bert-mini is no network of tokens with a class for each position, as gpt-nano is"),
                            ([*gpt, "--prompt=64", *infer], "prompt = 64: a row has 64 positions, of which 1 to 4096 must be left behind it"),
                            ([*gpt, "--prompt=100000", *infer], "prompt = 100000: a row has 64 positions"),
                            ([*gpt, "--prompt=0", *infer], "prompt = 0: out of range: write a whole number, 1 to 1048576, or none"),
                            ([*gpt, "--prompt=8", "--input=ring", *infer], "prompt = 8: rows come whole from a ring or a loader: write input = file"),
                            ([*gpt, "--prompt=8", "--steps=2"], "prompt is for mode = infer, and section [run] has mode = train: remove it, or write mode = infer"),
                            ([*gpt, "--prompt=8", "--compare=same-weights"], "prompt is for mode = infer")):
            _, err = self.yardstick("run", "--framework=builtin", "--repeat=1", *flags, code=2)
            self.assertIn(said, err)
            self.assertEqual(err.count("yardstick: "), 1, err)

    def test_who_answers_rows_whole_is_unsupported(self):
        result, _ = self.result("run", "--framework=null", "--model=gpt-nano", "--data=synthetic", "--mode=infer", "--prompt=8",
                                "--requests=2", "--repeat=1", code=6)
        trial, = result["trials"]
        self.assertEqual(trial["status"], "unsupported")
        self.assertIn("prompt = 8: this adapter answers rows whole: write prompt = none", trial["reason"])

    def test_rows_that_hide_targets_are_answered_and_proven(self):
        """Behind the longest line of a batch all targets of a position are hidden."""
        lines = self.write("lines.txt", "".join("%s\n" % ("ab" * (2 + number % 9)) for number in range(200)))
        self.yardstick("data", "fetch", "lines", "--from", lines)
        result, _ = self.result("run", "--framework=builtin", "--model=gpt-nano", "--data=lines", "--mode=infer", "--threads=1", "--batch=4",
                                "--model.width=16", "--model.layers=1", "--model.heads=2", "--prompt=6", "--requests=20", "--repeat=1")
        trial, = result["trials"]
        self.assertEqual((trial["status"], trial["proof"]["verdict"]), ("ok", "pass"), trial)

    def test_where_rows_come_again_that_is_said(self):
        audits, _ = self.audit("--framework=builtin", "--batch=64", "--requests=300", "--repeat=1")
        self.assertEqual(audits[0]["verdict"], "weak")
        self.assertRegex(audits[0]["reason"], "the data have rows for [0-9]+ of its 300 requests .* cannot be excluded")

    def test_a_run_that_is_over_at_once_shows_little(self):
        audits, _ = self.audit("--framework=builtin", "--batch=1", "--requests=1", "--repeat=1")
        self.assertEqual((audits[0]["verdict"], audits[0]["answers"]), ("weak", 1))
        self.assertIn("over so soon", audits[0]["reason"])

    def test_nothing_is_shown_where_no_audit_is_wanted_or_no_work_is_done(self):
        audits, _ = self.audit("--framework=builtin", "--batch=1", "--requests=50", "--repeat=1", "--audit=off")
        self.assertEqual(audits, [None])
        audits, _ = self.audit("--framework=null", "--batch=1", "--requests=50", "--repeat=1")
        self.assertEqual(audits, [None])

    def test_the_stated_rate_of_null_is_measured_as_its_latency(self):
        """8 rows at 8000 a second: 1 ms a request, slept, so never less on average."""
        result, _ = self.result("run", "--framework=null", *INFER, "--batch=8", "--requests=200", "--opt.null.rate=8000", "--repeat=1")
        values = self.values(result["trials"][0])
        self.assertGreaterEqual(values["infer_s"] + values["warmup_s"] + values["first_step_s"], 0.199)
        parts = ["start_s", "build_s", "first_step_s", "warmup_s", "infer_s", "stop_s", "rest_s"]
        self.assertAlmostEqual(sum(values[part] for part in parts), values["wall_s"], delta=1e-9)
        self.assertIsNone(values["train_s"])

    def test_the_table_and_the_page_show_percentiles(self):
        out, _ = self.yardstick("run", "--framework=builtin,null", *INFER, "--batch=1", "--requests=300", "--repeat=1", "--details")
        self.assertIn("Latency of a request", out)
        self.assertIn("99 %", out)
        self.assertNotIn("accuracy", out)
        self.assertLessEqual(max(map(len, out.splitlines())), 80)
        page, _ = self.yardstick("report")
        with open(page.strip()) as file:
            text = file.read()
        self.assertIn("Latency by percentile", text)
        self.yardstick("show", "--format=csv")
        self.yardstick("show", "--format=md")

    def test_training_and_requests_in_one_study(self):
        path = self.study("repeat = 1", "[global]", "framework = builtin", "model = mlp", "data = digits", "threads = 1", "batch = 16",
                          "[learn]", "steps = 12", "[serve]", "mode = infer", "requests = 120")
        out, _ = self.yardstick("run", path, "--details")
        self.assertIn("accuracy", out)
        self.assertIn("Latency of a request", out)
        result, _ = self.result("show")
        learn, serve = result["trials"]
        self.assertIsNotNone(learn["metrics"]["accuracy"]["value"])
        self.assertIsNone(learn["metrics"]["latency_p50_s"]["value"])
        self.assertIsNotNone(serve["metrics"]["latency_p50_s"]["value"])
        self.assertEqual(result["comparisons"], [])

    def test_an_adapter_that_cannot_infer_is_unsupported(self):
        result, _ = self.result("run", "--framework=misbehaving", "--recipes=" + RECIPES, *INFER, "--requests=5", "--repeat=1",
                                "--env.MISBEHAVE=none", code=6)
        self.assertEqual(result["trials"][0]["status"], "unsupported")


class Diverged(Case):
    TRAIN = ["--model=mlp", "--data=digits", "--threads=1", "--batch=64", "--steps=60", "--block=5"]

    def test_a_loss_that_is_no_number_ends_the_run_and_not_the_study(self):
        """A rate of 1000 overflows float within some steps; the other trials go on, and what was measured stays."""
        result, err = self.result("run", "--framework=builtin", *self.TRAIN, "--lr=0.01,1000", "--repeat=1", code=1)
        rows = {trial["factors"]["lr"]: trial for trial in result["trials"]}
        self.assertEqual(rows[0.01]["status"], "ok", err)
        wrong = rows[1000]
        self.assertEqual((wrong["status"], wrong["stage"], wrong["failed"]), ("diverged", "train", 1), err)
        self.assertRegex(wrong["reason"], r"the loss of step \d+ is (nan|inf|-inf)")
        self.assertIn("diverged in train", err)
        self.assertIn("diverged", wrong["metrics"]["rate_per_s"]["reason"])
        out, _ = self.yardstick("export")
        run = [line for line in map(json.loads, out.splitlines()) if line["type"] == "run" and line["status"] == "diverged"][0]
        losses, step = run["series"]["step_loss"], int(wrong["reason"].split("step ")[1].split()[0])
        self.assertLess(step, len(losses))
        self.assertLess(len(losses), 60)
        self.assertTrue(all(isinstance(loss, float) for loss in losses[:step]), losses)
        self.assertGreater(len(run["series"]["block_end_ns"]), 0)
        self.assert_nothing_left()


if __name__ == "__main__":
    unittest.main()
