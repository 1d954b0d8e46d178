"""The checks of a trial's runs that are due: known before, made again where they broke off, and never silently left out."""
import json
import os
import signal
import unittest

from harness import Case, tearDownModule  # noqa: F401  (removes the cache that the cases share)

MANY = ["--framework=builtin", "--model=mlp", "--data=digits", "--threads=1", "--batch=16", "--lr=0.01"]
MLP = MANY + ["--repeat=1"]


def children(parent):
    """{process: its program} of those whose parent that is."""
    found = {}
    for name in os.listdir("/proc"):
        try:
            with open("/proc/%d/stat" % int(name)) as file:
                after = file.read().rsplit(")", 1)[1].split()
            if int(after[1]) == parent:
                found[int(name)] = os.path.basename(os.readlink("/proc/%s/exe" % name))
        except (ValueError, OSError):
            continue
    return found


def undone(trial):
    """Its doubts but for those of its speed, which hang on what else the machine does."""
    return [text for text in trial["doubts"] if not text.startswith(("its speed may be", "some steps"))]


class Due(Case):
    def due(self, trial):
        return {check["check"]: check for check in trial["proof"]["due"]}

    def test_they_are_known_before_the_run(self):
        checked, _ = self.yardstick("check", *MLP, "--steps=40", "--format=json")
        trial, = json.loads(checked)["trials"]
        self.assertEqual([(check["check"], check["state"]) for check in trial["due"]],
                         [("first loss", "not yet"), ("weights", "not yet"), ("audit", "not yet")])
        out, _ = self.yardstick("check", *MLP, "--steps=20")
        self.assertIn("no check of its runs: audit (its runs have fewer than 30 steps)", out)
        checked, _ = self.yardstick("check", *MLP[:-2], "--mode=infer", "--requests=40", "--format=json")
        self.assertEqual([check["check"] for check in json.loads(checked)["trials"][0]["due"]], ["answers"])

    def test_they_are_in_the_result(self):
        document, _ = self.result("run", *MLP, "--steps=40")
        trial, = document["trials"]
        self.assertEqual([check["state"] for check in trial["proof"]["due"]], ["pass"] * 3)
        self.assertEqual(undone(trial), [])

    def kill_the_audit(self, program):
        """The first process of that program below the copy of yardstick that audits, or that copy itself. A copy has begun a
        process and is a copy still: what has none, or is none by then, is a launcher of the run itself that becomes its own program."""
        process = self.start("run", *MLP, "--steps=4000", "--format=json")
        victims = []

        def is_there():
            copies = [pid for pid, name in children(process.pid).items() if name == "yardstick"]
            below = {pid: copy for copy in copies for pid, name in children(copy).items() if name == "yardstick-launch"}
            still = children(process.pid)
            below = {pid: copy for pid, copy in below.items() if still.get(copy) == "yardstick"}
            victims[:] = below.values() if program == "yardstick" else below
            return victims
        self.wait_until(is_there, process)
        os.kill(victims[0], signal.SIGKILL)
        out, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, err)
        return json.loads(out)["trials"][0]

    def test_an_audit_whose_program_is_killed_is_made_again(self):
        for program in ("yardstick", "yardstick-launch"):
            with self.subTest(program):
                trial = self.kill_the_audit(program)
                self.assertEqual(self.due(trial)["audit"]["state"], "pass", trial["proof"])

    def test_a_study_out_of_time_says_so_and_resume_makes_them(self):
        document, _ = self.result("run", *MANY, "--steps=400", "--repeat=1000", "--time-limit=3s", code=124)
        trial, = document["trials"]
        self.assertEqual((self.due(trial)["audit"]["state"], undone(trial)), ("not yet", ["not audited yet"]))
        document, _ = self.result("resume", "last", code=124)
        trial, = document["trials"]
        self.assertEqual((self.due(trial)["audit"]["state"], undone(trial)), ("pass", []))


if __name__ == "__main__":
    unittest.main()
