"""`list frameworks --check` and `verify --trace`, on a framework that tests/adapters/plain.py is."""
import json
import os
import subprocess
import unittest

from harness import CACHE, RECIPES, Case, tearDownModule  # noqa: F401  (removes the cache that the cases share)

PLAIN = ["list", "frameworks", "--check=plain", "--recipes=" + RECIPES]
SMALL = ["--framework=plain", "--recipes=" + RECIPES, "--data=synthetic", "--threads=1", "--batch=8", "--steps=10"]


def needs_numpy(case):
    there = subprocess.run(["python3", "-c", "import numpy"], capture_output=True).returncode == 0
    return case if there else unittest.skip("NumPy is not installed")(case)


@needs_numpy
class Checks(Case):
    def check(self, code=0, **env):
        """The report of a check, and its lines by name."""
        out, _ = self.yardstick(*PLAIN, "--format=json", code=code, timeout=600, env=env)
        report = json.loads(out)
        return report, {line["name"]: line for line in report["cases"]}

    def failed(self, lines):
        return [name for name, line in lines.items() if line["verdict"] == "fail"]

    def test_of_a_framework_that_does_what_it_declares(self):
        report, lines = self.check()
        self.assertEqual((report["failed"], self.failed(lines)), (0, []))
        self.assertEqual(report["hello"]["framework"], "plain")
        self.assertEqual(report["passed"] + report["unsupported"], sum(line["cases"] for line in report["cases"]))
        # What is declared is proven, together where it can be; what is not is said by name.
        together = lines["Concat, 6 cases together"]
        self.assertEqual((together["verdict"], together["cases"], together["bound"]), ("pass", 6, 1e-9))
        self.assertLess(together["error"], 1e-9)
        self.assertEqual(lines["LRN"]["verdict"], "unsupported")
        self.assertIn("LRN", lines["LRN"]["message"])
        # Some cases of an operator are refused: then each is proven alone.
        self.assertEqual(lines["maxpool_overlapping"]["verdict"], "pass")
        self.assertEqual(lines["maxpool_ceil"]["verdict"], "unsupported")
        self.assertIn("ceil_mode", lines["maxpool_ceil"]["message"])
        # Training, networks, conduct, weights.
        self.assertEqual(lines["SGD"]["verdict"], "pass")
        self.assertEqual(lines["Adam"]["verdict"], "unsupported")
        self.assertEqual(lines["mlp, momentum, decay"]["verdict"], "pass")
        self.assertEqual(lines["mobilenet-v2, SGD, warm-up"]["verdict"], "unsupported")
        self.assertEqual(lines["open a second time"]["verdict"], "pass")
        self.assertEqual(lines["it ends with exit code 0 after bye"]["verdict"], "pass")
        self.assertEqual(lines["saved weights are loaded as they are"]["verdict"], "pass")
        self.assertEqual({line["part"] for line in report["cases"]},
                         {"hello", "operators", "networks", "training", "protocol", "weights"})
        self.assert_nothing_left()

    def test_quick_is_each_operator_once_and_little_else(self):
        out, _ = self.yardstick(*PLAIN, "--quick", "--format=json", timeout=600)
        report = json.loads(out)
        lines = {line["name"]: line for line in report["cases"]}
        self.assertEqual((report["failed"], self.failed(lines)), (0, []))
        # It does not declare all that reads images, so each is proven alone, in its first shape.
        self.assertEqual((lines["maxpool_2x2"]["verdict"], lines["LRN"]["verdict"]), ("pass", "unsupported"))
        self.assertFalse({"maxpool_odd_size", "SGD", "resnet20, Nesterov, decay, cosine"} & set(lines))
        self.assertTrue({"mlp, momentum, decay", "momentum, decay, inv(DECAY)", "saved weights are loaded as they are"} <= set(lines))

    def test_of_one_that_means_something_else(self):
        own = os.path.join(self.folder, "cache")  # proofs of what is wrong are kept too
        _, lines = self.check(PLAIN_WRONG="side", YARDSTICK_CACHE=own, code=5)
        self.assertEqual(self.failed(lines), ["maxpool_uneven_pad"])  # the one case whose padding is of two sizes
        self.assertEqual((lines["maxpool_uneven_pad"]["check"], lines["maxpool_uneven_pad"]["worst"]), ("logits", "logits"))
        # The command that it gives says where.
        words = lines["maxpool_uneven_pad"]["run"].split()[1:] + ["--recipes=" + RECIPES]
        out, _ = self.yardstick(*words, code=5, env={"PLAIN_WRONG": "side", "YARDSTICK_CACHE": own})
        self.assertRegex(" ".join(out.split()), r"forward first beyond its bound: node maxpool_uneven_pad_2 \(MaxPool\)")

    def test_of_one_with_bad_manners(self):
        _, lines = self.check(PLAIN_WRONG="save,option,bye", code=5)
        self.assertEqual(self.failed(lines), [
            "hello, and an end after bye", "an option that there is not", "it ends with exit code 0 after bye",
            "save writes the weights that step gave", "loaded weights give the logits of those that were saved"])
        self.assertIn("exit code 3", lines["it ends with exit code 0 after bye"]["message"])

    def test_in_a_mode(self):
        own = {"YARDSTICK_CACHE": os.path.join(self.folder, "cache")}
        wrong = "--env.PLAIN_WRONG=side+bye"
        out, _ = self.yardstick(*PLAIN, wrong, "--format=json", code=5, timeout=600, env=own)
        report = json.loads(out)
        lines = {line["name"]: line for line in report["cases"]}
        self.assertEqual(report["mode"], [wrong])
        # It reaches the proofs, the hello and the protocol's part; the command that repeats a line has it too.
        self.assertEqual(self.failed(lines), [
            "hello, and an end after bye", "maxpool_uneven_pad", "it ends with exit code 0 after bye"])
        self.assertIn(wrong, lines["maxpool_uneven_pad"]["run"])

    def test_prints_a_line_a_case_and_the_counts(self):
        out, _ = self.yardstick(*PLAIN, timeout=600)
        self.assertRegex(out.splitlines()[-1], r"^\d+ passed, 0 failed, \d+ unsupported$")
        self.assertIn("plain 1.0, CPython", out)
        self.assertRegex(out, r"(?m)^  Concat, 6 cases together +pass +\S+e-1\d +1.0e-09\n {8}\S.*: \S+$")

    def test_trace_names_the_node(self):
        out, _ = self.yardstick("verify", "--trace", *SMALL, "--model=check_dense", "--env.PLAIN_WRONG=relu_backward",
                                "--format=json", code=5)
        trace = json.loads(out)[0]["proof"]["trace"]
        self.assertEqual((trace["precision"], trace["forward"]["first"]), ("f64", None))
        backward = trace["backward"]
        # From the loss back: the last layer holds; what lies before the last Relu does not.
        self.assertEqual([place["name"] for place in backward["nodes"]],
                         ["logits.bias", "logits.weight", "fc2.bias", "fc2.weight", "fc1.bias", "fc1.weight"])
        self.assertEqual(backward["nodes"][backward["first"]]["name"], "fc2.bias")

    def test_trace_of_work_that_is_right_finds_nothing(self):
        out, _ = self.yardstick("verify", "--trace", *SMALL, "--model=check_dense")
        self.assertEqual(out.count("nothing is beyond its bound"), 2, out)


class Rest(Case):
    def test_of_an_adapter_that_does_no_work_is_its_hello_alone(self):
        out, _ = self.yardstick("list", "frameworks", "--check=null")
        self.assertIn("does no work", out)
        self.assertEqual(out.splitlines()[-1], "1 passed, 0 failed, 0 unsupported")

    def test_of_what_is_not_installed_is_6_and_names_the_command(self):
        self.write("far.recipe", "name = far\nadapter = far.py\nversions = 1\npython = 3.11\nrequirements = far.txt\n")
        self.write("far.py", "")
        self.write("far.txt", "nothing==1\n")
        out, err = self.yardstick("list", "frameworks", "--check=far", "--recipes=.", code=6)
        self.assertFalse(out)
        self.assertIn("yardstick install far", err)

    def test_of_a_mode_that_there_is_not(self):
        self.refusal("list", "frameworks", "--check=builtin", "--opt.builtin.speed=9", words=["builtin", "speed"])
        self.refusal("list", "frameworks", "--check=builtin", "--env.A=1,2", words=["one mode at a time"])
        self.refusal("list", "frameworks", "--check=builtin", "--opt.pytorch.channels_last=on", words=["pytorch"])
        self.refusal("list", "frameworks", "--env.A=1", words=["--env.A", "--check=NAME"])
        self.refusal("list", "frameworks", "--quick", words=["--quick", "--check=NAME"])
        self.refusal("list", "models", "--check=builtin", words=["list frameworks --check=NAME"])

    def test_of_what_there_is_not(self):
        self.refusal("list", "frameworks", "--check=nonsuch", words=["nonsuch"])

    def test_of_one_that_does_not_start(self):
        self.write("broken.recipe", "name = broken\nprogram = ./broken\n")
        path = self.write("broken", "#!/bin/sh\nexit 3\n")
        os.chmod(path, 0o755)
        out, _ = self.yardstick("list", "frameworks", "--check=broken", "--recipes=.", code=1)
        self.assertIn("exit code 3", out)
        self.assertEqual(out.splitlines()[-1], "0 passed, 1 failed, 0 unsupported")

    def test_of_one_that_dies_before_its_hello_shows_what_it_printed_last(self):
        self.write("broken.recipe", "name = broken\nprogram = ./broken\ndouble = yes\n")
        os.chmod(self.write("broken", "#!/bin/sh\necho first; echo 'libnone.so is not there' >&2; exit 3\n"), 0o755)
        said = r'exit code 3; its log ends with "libnone\.so is not there"'
        out, _ = self.yardstick("list", "frameworks", "--check=broken", "--recipes=.", code=1)
        self.assertRegex(" ".join(out.split()), said)
        out, _ = self.yardstick("verify", "--framework=broken", "--recipes=.", "--model=mlp", "--data=synthetic",
                                "--format=json", code=5)
        self.assertRegex(json.loads(out)[0]["proof"]["reason"], said)

    def test_trace_of_the_built_in_engine_in_its_own_format(self):
        out, _ = self.yardstick("verify", "--trace", "--framework=builtin", "--model=check_small", "--data=synthetic",
                                "--threads=1", "--batch=8", "--steps=10", "--mode=train", "--format=json")
        trace = json.loads(out)[0]["proof"]["trace"]
        self.assertIsNone(trace["forward"]["first"])
        self.assertEqual([place["op"] for place in trace["forward"]["nodes"]],
                         ["normalize", "Conv", "Relu", "BatchNormalization", "MaxPool", "Flatten", "Gemm", "Relu", "Gemm"])
        self.assertIsNone(trace["backward"]["first"])
