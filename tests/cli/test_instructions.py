"""Processors of any level: what a limit on the instructions changes, and where it is said."""
import json
import unittest

from harness import Case, other_backend, tearDownModule  # noqa: F401

LIMIT = "ONEDNN_MAX_CPU_ISA"
MLP = ["--framework=builtin", "--model=mlp", "--data=digits", "--threads=1", "--batch=8", "--lr=0.01", "--steps=20"]


class Instructions(Case):
    def proof(self, *flags, **env):
        out, _ = self.yardstick("verify", *MLP, *flags, "--format=json", env=env)
        return json.loads(out)[0]["proof"]

    def test_a_limit_is_a_level_and_doctor_says_which(self):
        self.assertEqual(self.instructions(**{LIMIT: "SSE41"})[0], "SSE4.1")
        lines = json.loads(self.yardstick("doctor", "--format=json", env={LIMIT: "SSE41"})[0])
        line, = [line for line in lines if line["name"] == "instructions"]
        self.assertEqual((line["state"], line["found"]), ("poor", "SSE4.1"))
        self.assertIn("bf16", line["consequence"])
        found, lacking = self.instructions()
        line = self.doctor("instructions")
        self.assertEqual((line["state"], line["found"]), ("poor" if lacking else "good", found))

    def test_doctor_says_which_back_ends_there_are(self):
        line = self.doctor("back ends")
        self.assertIn("ref", line["found"])
        self.assertEqual(line["state"], "good" if other_backend() == "onednn" else "poor")
        self.assertEqual("libdnnl-dev" in (line["remedy"] or ""), other_backend() != "onednn")

    def test_a_back_end_that_is_not_built_in_is_unsupported_and_the_remedy_is_named(self):
        if other_backend() == "onednn":
            self.skipTest("all back ends are built in")
        result, _ = self.result("run", *MLP, "--opt.builtin.backend=onednn", "--repeat=1", "--audit=off", code=6)
        trial, = result["trials"]
        self.assertEqual((trial["status"], trial["proof"]["verdict"]), ("unsupported", "none"))
        self.assertIn("the back end onednn is not built in: install version 2 of the oneDNN library", trial["reason"])

    def test_a_proof_made_at_one_level_is_none_of_another(self):
        self.assertFalse(self.proof(**{LIMIT: "SSE41"})["cached"])
        self.assertTrue(self.proof(**{LIMIT: "SSE41"})["cached"])
        self.assertFalse(self.proof(**{LIMIT: "AVX"})["cached"])
        self.assertFalse(self.proof("--env.%s=AVX" % LIMIT, **{LIMIT: "SSE41"})["cached"])

    def test_a_result_says_the_level_of_each_trial(self):
        result, _ = self.result("run", *MLP, "--repeat=1", "--audit=off", "--env.%s=SSE41,ALL" % LIMIT)
        whole = self.instructions(**{LIMIT: "ALL"})[0]
        said = [[row["said"] for row in trial["said"] if row["said"].startswith("instructions: ")] for trial in result["trials"]]
        self.assertEqual(said, [["instructions: SSE4.1"], ["instructions: " + whole]])
        texts = [difference["text"] for difference in result["environment_differences"] if difference["what"] == "libraries"]
        self.assertEqual([("SSE4.1" in text, whole in text) for text in texts], [(True, True)])

    def test_bf16_without_instructions_for_it_is_unsupported_everywhere_alike(self):
        env = {LIMIT: "AVX2"}
        lacking = self.instructions(**env)[1]
        self.assertIn("bf16 needs ", lacking)
        for model, more in ("mlp", []), ("gpt-nano", ["--model.width=16", "--model.layers=1", "--model.heads=2"]):
            for backend in [], ["--opt.builtin.backend=ref"]:
                result, _ = self.result("run", "--framework=builtin", "--model=" + model, "--data=synthetic", "--threads=1", "--batch=2", "--lr=0.01",
                                        *more, *backend, "--steps=2", "--repeat=1", "--precision=bf16", env=env, code=6)
                trial, = result["trials"]
                self.assertEqual((trial["status"], trial["proof"]["verdict"], trial["proof"]["ended"]), ("unsupported", "none", "unsupported"))
                self.assertIn(lacking, trial["reason"])
                self.assertIn(lacking, trial["proof"]["reason"])

    def test_twins_have_the_instructions_that_the_job_asks_for(self):
        whole, lacking = self.instructions(**{LIMIT: "ALL"})
        if lacking:
            self.skipTest(lacking)
        self.assertEqual(self.proof("--precision=bf16", "--env.%s=ALL" % LIMIT, **{LIMIT: "AVX2"})["verdict"], "pass", whole)
        proof = self.proof("--precision=bf16", "--env.%s=AVX2" % LIMIT)
        self.assertEqual((proof["verdict"], proof["ended"], proof["checks"], proof["lasting"]), ("none", "unsupported", [], False))
        self.assertIn("twin 0 of the oracle ended as unsupported: bf16 needs a processor", proof["reason"])


if __name__ == "__main__":
    unittest.main()
