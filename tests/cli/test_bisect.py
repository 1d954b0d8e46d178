"""Which version made it slower, or wrong: recipes of one framework whose versions pause as planted."""
import json
import os

from harness import NULL, ROOT, Case, recipe_word, tearDownModule  # noqa: F401

ADAPTER = os.path.join(ROOT, "tests", "adapters", "misbehaving.py")
# A block is a sleep of so long, which no load makes shorter: 10 ms against 50 ms are told apart by far.
FAST, SLOW, WRONG = "slow 0.01", "slow 0.05", "crash_mid_train"
RUNS = "--interleave=runs"  # of those that crash at their third block: a turn of them is one
SMALL = [word for word in NULL if not word.startswith(("--framework", "--steps", "--block"))] + ["--steps=15"]


class Bisect(Case):
    def versions(self, *behaviours):
        os.makedirs(os.path.join(self.folder, "recipes"), exist_ok=True)
        for number, behaviour in enumerate(behaviours, 1):
            self.write("recipes/toy@%d.0.recipe" % number, "name = toy\nversions = %d.0\nprogram = python3 %s\nno_work = yes\n"
                       "env.MISBEHAVE = %s\n" % (number, recipe_word(ADAPTER), behaviour))
        return ["--recipes=recipes", "--good=toy@1.0", "--bad=toy@%d.0" % len(behaviours)]

    def bisect(self, *arguments, code=0):
        return json.loads(self.yardstick("bisect", *SMALL, "--block=5", *arguments, "--format=json", code=code, timeout=600)[0])

    def test_the_first_slow_version_is_found(self):
        found = self.bisect(*self.versions(FAST, FAST, SLOW, SLOW, SLOW))
        self.assertTrue(found["decided"], found)
        self.assertEqual((found["last_good"], found["first_bad"]), ("toy@2.0", "toy@3.0"))
        self.assertEqual(found["versions"], ["toy@%d.0" % n for n in range(1, 6)])
        self.assertEqual([step["version"] for step in found["steps"]], ["toy@5.0", "toy@3.0", "toy@2.0"])
        self.assertEqual([step["side"] for step in found["steps"]], ["bad", "bad", "good"])
        for step in found["steps"]:
            self.assertLessEqual(step["p"], found["level"])
            self.assertIn(step["rounds"], (10, 16, 24))
        self.assertAlmostEqual(found["level"], 0.05 / (3 * 4))
        # Each look is a study of its own.
        self.assertEqual(sum(len(step["studies"]) for step in found["steps"]),
                         len(json.loads(self.yardstick("history", "--format=json")[0])["points"]))

    def test_the_first_wrong_version_is_found(self):
        arguments = self.versions(FAST, FAST, WRONG, WRONG) + [RUNS]
        found = self.bisect(*arguments)
        self.assertEqual((found["last_good"], found["first_bad"]), ("toy@2.0", "toy@3.0"))
        self.assertIn("crash", found["steps"][0]["reason"])
        out, _ = self.yardstick("bisect", *SMALL, "--block=5", *arguments, "--versions=2.0", timeout=600)
        self.assertIn("toy@4.0 is the first that is bad", out)
        self.assertLessEqual(max(map(len, out.splitlines())), 80)

    def test_one_failed_run_makes_no_version_wrong(self):
        # Both ends are asked with the seeds 1 to 10, the middle with 11 to 13: one of its three runs fails.
        found = self.bisect(*self.versions(FAST, "crash_seed 12", WRONG), RUNS)
        self.assertEqual([step["side"] for step in found["steps"]], ["bad", "skipped"])
        self.assertIn("toy@2.0: 1 of 3 runs failed: ", found["steps"][1]["reason"])
        self.assertEqual((found["last_good"], found["first_bad"]), ("toy@1.0", "toy@3.0"))
        self.assertIn("could not be told", found["sentence"])
        # Beside others that succeed a failed run says nothing. (All of these pause alike: no run has the seed 0.)
        found = self.bisect(*self.versions("crash_seed 0", "crash_seed 0", "crash_seed 3"), RUNS, "--margin=0.9", code=4)
        self.assertEqual(([step["side"] for step in found["steps"]], found["steps"][0]["reason"]), (["unclear"], None))

    def test_a_good_end_that_fails_later_leaves_the_question_open(self):
        found = self.bisect(*self.versions("crash_seed 11", FAST, WRONG), RUNS)
        self.assertEqual([step["side"] for step in found["steps"]], ["bad", "skipped"])
        self.assertIn("toy@1.0: 1 of 3 runs failed: ", found["steps"][1]["reason"])

    def test_a_metric_without_values_is_refused_after_one_look(self):
        message = self.refusal("bisect", *SMALL, "--block=5", *self.versions(FAST, SLOW), "--metric=latency_p50_s",
                               words=("--metric=latency_p50_s", "has no value", "toy@"), timeout=600)
        self.assertIn("choose one that this study has", message)
        self.assertEqual(len(json.loads(self.yardstick("history", "--format=json")[0])["points"]), 1)

    def test_a_version_that_cannot_be_installed_is_skipped_and_an_end_is_refused(self):
        arguments = self.versions(FAST, FAST, SLOW)
        lacking = "name = toy\nversions = %s\nadapter = toy.py\npython = 9.9\nrequirements = toy-{version}-py{python}.txt\n"
        self.write("recipes/toy@2.0.recipe", lacking % "2.0")
        self.write("recipes/toy.py", "")
        self.refusal("bisect", *SMALL, "--block=5", *arguments, words=("not installed: toy@2.0", "--install", "do not say"))
        found = self.bisect(*arguments, "--install")
        self.assertEqual([step["side"] for step in found["steps"]], ["bad", "skipped"])
        self.assertIn("needs Python 9.9", found["steps"][1]["reason"])
        self.assertIn("after toy@1.0 and not after toy@3.0; what is between could not be told", found["sentence"])
        self.write("recipes/toy@3.0.recipe", lacking % "3.0")
        self.refusal("bisect", *SMALL, "--block=5", *arguments, "--install", words=("an end of the search cannot be had", "needs Python 9.9"))

    def test_no_difference_is_no_search(self):
        found = self.bisect(*self.versions(FAST, SLOW, FAST), "--margin=0.5", code=4)
        self.assertFalse(found["decided"])
        self.assertEqual(len(found["steps"]), 1)
        self.assertIn("nothing to search for", found["sentence"])

    def test_bad_input(self):
        arguments = self.versions(FAST, SLOW)
        self.refusal("bisect", *SMALL, "--block=5", "--good=toy@1.0", words=("--good=", "--bad="))
        self.refusal("bisect", *SMALL, "--block=5", "--recipes=recipes", "--good=toy@1.0", "--bad=toy@9.0", words=("no recipe for a framework", "toy@2.0"))
        self.refusal("bisect", *SMALL, "--block=5", "--recipes=recipes", "--good=toy@1.0", "--bad=toy@1.0", words=("nothing lies between",))
        self.refusal("bisect", *SMALL, *arguments, "--block={5,10}", words=("one trial",))
        self.refusal("bisect", *SMALL, "--block=5", *arguments, "--metric=nosuch", words=("--metric=nosuch",))
        self.refusal("bisect", *SMALL, "--block=5", *arguments, "--metric=rate_pers",
                     words=("--metric=rate_pers", 'did you mean "rate_per_s"'))
        self.refusal("bisect", "nosuch.ys", *arguments, words=("nosuch.ys",))
        self.refusal("bisect", *arguments, words=("study file or flags",))
        self.refusal("bisect", *self.versions(WRONG, FAST), RUNS, *SMALL, "--block=5", words=("is not good",))
