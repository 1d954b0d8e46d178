"""Variables around yardstick that steer threads, libraries, allocators or formats: who gets them, and where it is said."""
import json
import os
import unittest

from harness import BIN, Case, tearDownModule  # noqa: F401

LENET = ["--framework=builtin", "--model=lenet", "--data=digits", "--batch=64", "--lr=0.02", "--momentum=0.9"]
WIDE = ["--framework=builtin", "--model=mlp", "--data=digits", "--batch=64", "--lr=0.01"]
MLP = ["--framework=builtin", "--model=mlp", "--data=digits", "--threads=1", "--batch=8", "--lr=0.01", "--steps=20"]
# Each of them changes what some program computes, prints or divides its work by.
HOSTILE = {"OMP_THREAD_LIMIT": "1", "OMP_DYNAMIC": "true", "OMP_STACKSIZE": "64k", "OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "master",
           "GOMP_CPU_AFFINITY": "0", "KMP_AFFINITY": "disabled", "KMP_ALL_THREADS": "1", "MKL_DYNAMIC": "TRUE",
           "DNNL_DEFAULT_FPMATH_MODE": "BF16", "ONEDNN_DEFAULT_FPMATH_MODE": "BF16", "NVIDIA_TF32_OVERRIDE": "1", "LC_ALL": "de_DE.UTF-8",
           "LC_NUMERIC": "de_DE.UTF-8", "PYTHONHASHSEED": "7", "PYTHONPATH": "/nowhere", "PYTHONSTARTUP": "/nowhere.py"}
CHATTY = {"ONEDNN_VERBOSE": "1", "DNNL_VERBOSE": "2", "OMP_DISPLAY_ENV": "TRUE", "MALLOC_PERTURB_": "165", "LD_DEBUG": "statistics"}


def threads():
    return "--threads=%d" % min(2, len(os.sched_getaffinity(0)))


class Steering(Case):
    def proof(self, *flags, **env):
        out, _ = self.yardstick("verify", *LENET, threads(), "--fresh", *flags, "--format=json", env=env)
        return json.loads(out)[0]["proof"]

    def test_neither_judge_nor_judged_are_moved_by_what_is_around(self):
        plain = self.proof()
        for env in HOSTILE, CHATTY:
            proof = self.proof(**env)
            self.assertEqual((proof["verdict"], proof["twins"], proof["checks"]), ("pass", plain["twins"], plain["checks"]), env)

    def test_what_is_not_handed_on_makes_no_other_proof(self):
        first = self.proof()
        again = self.yardstick("verify", *LENET, threads(), "--format=json", env=HOSTILE)[0]
        self.assertEqual(json.loads(again)[0]["proof"]["key"], first["key"])
        other = self.yardstick("verify", *LENET, threads(), "--format=json", env={"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "7"})[0]
        self.assertNotEqual(json.loads(other)[0]["proof"]["key"], first["key"])

    def test_threads_that_the_job_takes_away_are_counted(self):
        proof = self.proof("--env.OMP_THREAD_LIMIT=1")
        self.assertEqual(proof["verdict"], "pass")
        result, err = self.result("run", *LENET, threads(), "--steps=10", "--repeat=1", "--audit=off", "--env.OMP_THREAD_LIMIT=1")
        trial, = result["trials"]
        self.assertEqual((trial["status"], trial["proof"]["verdict"]), ("ok", "pass"))
        if threads() == "--threads=2":
            self.assertIn("says it uses 1", err)

    def test_threads_that_lie_on_one_cpu_are_no_two(self):
        if threads() != "--threads=2":
            self.skipTest("there is one CPU")
        cpu = min(os.sched_getaffinity(0))
        result, err = self.result("run", *WIDE, "--threads=1,2", "--steps=20", "--repeat=1", "--env.GOMP_CPU_AFFINITY=%d" % cpu)
        self.assertEqual([trial["threads_shared"] for trial in result["trials"]], [None, False])
        self.assertIn("told to use 2 threads, and those that did the work may run on one CPU alone", err)
        shown = self.yardstick("show")[0]
        self.assertIn("2 threads asked for", shown)
        self.assertNotIn("on 2 threads", shown)

    def test_a_folder_of_libraries_that_is_not_there_is_told(self):
        result, _ = self.result("run", "--framework=null", "--model=mlp", "--data=digits", "--threads=1", "--batch=8", "--steps=4", "--repeat=1",
                                "--env.LD_LIBRARY_PATH=/nosuch/blas:/usr/lib,/usr/lib")
        self.assertEqual([trial["status"] for trial in result["trials"]], ["unsupported", "ok"])
        self.assertEqual(result["trials"][0]["reason"], "env.LD_LIBRARY_PATH: there is no folder /nosuch/blas")

    def test_what_libraries_print_is_no_answer(self):
        result, err = self.result("run", *MLP, "--repeat=1", env=CHATTY)
        trial, = result["trials"]
        self.assertEqual(trial["status"], "ok")
        self.assertGreater(trial["metrics"]["accuracy"]["value"], 0.1)
        self.assertNotIn("could not be evaluated", err)

    def test_what_is_kept_is_a_deviation_and_a_line_of_doctor(self):
        around = {"MKL_CBWR": "AUTO", "OMP_NUM_THREADS": "1"}
        for flags, wanted in (([], ["MKL_CBWR=AUTO is set in the environment"]), (["--env.MKL_CBWR=AUTO"], [])):
            result, _ = self.result("run", *MLP, "--repeat=1", "--audit=off", *flags, env=around)
            said = result["trials"][0]["deviations"]
            self.assertEqual([text for text in said if "MKL_CBWR" in text or "OMP_NUM" in text], wanted)
        lines = json.loads(self.yardstick("doctor", "--format=json", env=around)[0])
        found, = [line for line in lines if line["name"] == "variables"]
        self.assertRegex(found["found"], r"MKL_CBWR.*: in all trials; \d+ others: in none")

    def test_by_hand_answers_go_to_stdout(self):
        out = self.yardstick("--instructions", program=os.path.join(BIN, "yardstick-builtin"))[0]
        self.assertTrue(out.strip())


if __name__ == "__main__":
    unittest.main()
