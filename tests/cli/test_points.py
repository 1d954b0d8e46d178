"""One impossible point of the axes is a row; a study of nothing else is a mistake."""
import unittest

from harness import Case, tearDownModule  # noqa: F401

WORK = ["--framework=null", "--data=digits", "--threads=1", "--repeat=1"]


class Points(Case):
    def rows(self, *flags):
        """{id: (status, reason)} of a run that ends well."""
        result, _ = self.result("run", *WORK, *flags)
        return {trial["id"].split(":", 1)[1]: (trial["status"], trial["reason"]) for trial in result["trials"]}

    def one_of_two(self, bad, *words, flags):
        """The point `bad` is unsupported with a reason that has `words`; the other one runs."""
        rows = self.rows(*flags)
        self.assertEqual(len(rows), 2)
        status, reason = rows.pop(bad)
        self.assertEqual(status, "unsupported")
        for word in words:
            self.assertIn(word, reason)
        self.assertEqual([row[0] for row in rows.values()], ["ok"])
        out, _ = self.yardstick("check", *WORK, *flags)
        self.assertIn("unsupported: " + " ".join(reason.split()), " ".join(out.split()))

    def test_a_batch_larger_than_the_data(self):
        self.one_of_two("batch=100000", "batch = 100000", "3840", flags=["--model=mlp", "--steps=5", "--batch=16,100000"])

    def test_a_loss_that_does_not_fit_the_model(self):
        self.one_of_two("loss=nll", "LogSoftmax", flags=["--model=mlp", "--steps=5", "--batch=8", "--loss=auto,nll"])

    def test_more_rows_than_a_run_can_have(self):
        self.one_of_two("steps=100000000", "100000000 steps of 64 rows", "1073741824",
                        flags=["--model=mlp", "--batch=64", "--steps=5,100000000"])
        self.one_of_two("epochs=1000000", "epochs = 1000000", flags=["--model=mlp", "--batch=1", "--epochs=1,1000000"])

    def test_a_rate_that_grows_beyond_all_numbers(self):
        self.one_of_two("schedule=step(1,1000)", "infinite from step 104", flags=[
            "--model=mlp", "--batch=8", "--steps=200", '--schedule={"step(1, 1000)", constant}'])

    def test_points_of_same_weights(self):
        result, _ = self.result("run", *WORK, "--model=mlp", "--steps=5", "--compare=same-weights", "--batch=16,100000")
        self.assertEqual([trial["status"] for trial in result["trials"]], ["ok", "unsupported"])

    def test_nothing_but_such_points_is_a_mistake(self):
        flags = WORK + ["--model=mlp", "--steps=5", "--batch=50000,100000"]
        for verb in ("run", "check", "verify"):
            self.refusal(verb, *flags, words=["none of the 2 trials can run", "batch=50000", "batch = 50000", "3840"])
        self.refusal("show")
        self.refusal("run", *WORK, "--model=mlp", "--batch=8", "--steps=100000000", "--batch=64", words=["--batch is given several times"])
        for more in (["--steps=100000000", "--batch=64"], ["--steps=200", "--batch=8", "--schedule={\"step(1, 1000)\"}"]):
            self.refusal("run", *WORK, "--model=mlp", *more, words=["run: "])

    def test_resume_keeps_such_rows(self):
        flags = WORK + ["--model=mlp", "--steps=5", "--batch=16,100000", "--repeat=2", "--time-limit=0.2s", "--opt.null.rate=20"]
        self.yardstick("run", *[flag for flag in flags if flag != "--repeat=1"], code=124)
        result, _ = self.result("resume", code=124)
        self.assertEqual([trial["status"] for trial in result["trials"]], ["cancelled", "unsupported"])


if __name__ == "__main__":
    unittest.main()
