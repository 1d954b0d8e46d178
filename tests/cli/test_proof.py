"""What `verify` proves of the built-in engine itself, and what it keeps."""
import json
import os
import shutil
import subprocess
import unittest

from harness import CACHE, PROGRAM, RECIPES, ROOT, Case, tearDownModule  # noqa: F401  (removes the cache that the cases share)

MLP = ["--framework=builtin", "--model=mlp", "--data=digits", "--threads=1", "--batch=8", "--lr=0.01"]
WORK = ["parameters", "multiply-adds", "initial weights", "batches"]


# Stands where the built-in engine is, which it asks, and spoils what that answers in single precision, as a library would that
# computes nonsense. REAL is the engine.
SPOILED = '''#!/usr/bin/env python3
import array, json, os, random, socket, subprocess, sys, threading
if "YARDSTICK_FD" not in os.environ:
    os.execv(REAL, [REAL] + sys.argv[1:])
above = socket.socket(fileno=int(os.environ["YARDSTICK_FD"]))
below, given = socket.socketpair()
engine = subprocess.Popen([REAL], pass_fds=[given.fileno()], env=dict(os.environ, YARDSTICK_FD=str(given.fileno())))
given.close()
singles = []

def ask():
    for line in above.makefile("rb"):
        if b'"precision":"f32"' in line:
            singles.append(line)
        below.sendall(line)
    below.shutdown(socket.SHUT_WR)

def spoil(path):
    with open(path, "r+b") as file:
        size = int.from_bytes(file.read(8), "little")
        tensors = json.loads(file.read(size))
        begin, end = (8 + size + place for place in tensors["logits"]["data_offsets"])
        file.seek(begin)
        logits = array.array("f", file.read(end - begin))
        file.seek(begin)
        file.write(array.array("f", [random.uniform(-9, 9) * logit for logit in logits]).tobytes())

threading.Thread(target=ask, daemon=True).start()
for line in below.makefile("rb"):
    message = json.loads(line)
    if singles and message["type"] == "tensors":
        spoil(message["path"])
    above.sendall(line)
sys.exit(engine.wait())
'''


class Proof(Case):
    def verify(self, *flags, code=0):
        out, _ = self.yardstick("verify", *flags, "--format=json", code=code)
        return [trial["proof"] for trial in json.loads(out)]

    def names(self, proof):
        self.assertEqual(proof["verdict"], "pass", proof)
        return [check["name"] for check in proof["checks"]]

    def test_of_training(self):
        proof, = self.verify(*MLP, "--steps=20")
        self.assertEqual(self.names(proof), WORK + [
            "logits", "loss", "gradients", "weights after 1 step", "weights after 10 steps", "loss of training",
            "gradient by the input", "logits and loss", "gradients"])
        self.assertNotIn("whole", proof)  # its 8 rows are the batch
        self.assertEqual((proof["rows"], proof["batches"], proof["twins"]["count"]), (8, 10, 8))

    def test_of_inference(self):
        proof, = self.verify(*MLP, "--mode=infer")
        self.assertEqual(self.names(proof), WORK + ["logits", "loss", "gradient by the input", "logits and loss"])

    def test_of_twins_above_the_ceiling_is_none_and_not_the_framework_s_fault(self):
        programs = os.path.join(self.folder, "programs")
        os.makedirs(programs)
        shutil.copy(PROGRAM, programs)
        for name in ("yardstick-launch", "frameworks", "adapters"):
            os.symlink(os.path.join(ROOT if name in ("frameworks", "adapters") else os.path.dirname(PROGRAM), name), os.path.join(programs, name))
        engine = os.path.join(programs, "yardstick-builtin")
        with open(engine, "w") as file:
            file.write(SPOILED.replace("REAL", repr(os.path.join(os.path.dirname(PROGRAM), "yardstick-builtin"))))
        os.chmod(engine, 0o755)
        ended = subprocess.run([os.path.join(programs, "yardstick"), "verify", *MLP, "--mode=infer", "--seed=9", "--format=json"], cwd=self.folder,
                               env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(ended.returncode, 5, ended.stderr)
        proof = json.loads(ended.stdout)[0]["proof"]
        self.assertEqual((proof["verdict"], proof["checks"], proof["lasting"]), ("none", [], False))
        self.assertIn("the oracle or its twins failed: a twin lies ", proof["reason"])
        self.assertIn("in logits and loss, where rounding explains ", proof["reason"])

    def test_of_dropout_which_is_off_in_it(self):
        proof, = self.verify("--framework=builtin", "--model=tf-mnist", "--data=synthetic", "--threads=1", "--batch=2")
        self.assertIn("gradients", self.names(proof))

    def test_of_two_optimizers_each_by_its_own_steps(self):
        for proof in self.verify(*MLP, "--steps=20", "--momentum=0,0.9", "--fresh"):
            self.assertIn("weights after 10 steps", self.names(proof))

    def test_is_used_again_for_another_number_of_steps_and_for_nothing_else(self):
        flags = MLP + ["--seed=5"]
        self.assertFalse(self.verify(*flags, "--steps=20")[0]["cached"])
        self.assertTrue(self.verify(*flags, "--steps=30")[0]["cached"])
        self.assertFalse(self.verify(*flags, "--steps=20", "--weight-decay=0.1")[0]["cached"])
        self.assertFalse(self.verify(*flags, "--steps=20", "--fresh")[0]["cached"])

    def test_of_work_that_diverges_is_none_and_says_why(self):
        proof, = self.verify(*MLP[:-1], "--lr=1000", "--loss=mse", "--steps=20")
        self.assertEqual((proof["verdict"], proof["checks"]), ("none", []))
        self.assertIn("smaller learning rate", proof["reason"])

    def test_is_not_asked_of_a_checkpoint_where_a_state_is_carried(self):
        self.yardstick("run", "--framework=builtin", "--model=gru-char", "--model.width=12", "--data=synthetic", "--threads=1", "--batch=8",
                       "--lr=0.1", "--steps=20", "--block=2", "--eval-every=10", "--carry-state=on", "--audit=off", "--repeat=1")

    def test_of_long_rows_takes_the_first_positions_and_says_so(self):
        """gpt-nano as a file of its own, of 200 positions: its only parameter of so many rows is that of the positions."""
        path = os.path.join(self.folder, "long.json")
        self.yardstick("export", "--model=gpt-nano", "--data=chars", "--out=" + path)
        with open(path) as file:
            graph = json.load(file)
        graph["inputs"][0]["shape"][1] = graph["target"]["shape"][1] = 200
        table, = [param for param in graph["params"] if param["shape"][0] == 64 and "position" in param["name"]]
        table["shape"][0] = 200
        with open(path, "w") as file:
            json.dump(graph, file)
        work = ["--framework=builtin", "--model=" + path, "--data=synthetic", "--batch=2", "--threads=1", "--lr=0.01"]
        for more, names in (["--steps=20"], "weights after 10 steps"), (["--mode=infer", "--prompt=150"], "logits"):
            proof, = self.verify(*work, *more)
            self.assertIn(names, self.names(proof))
            self.assertEqual(proof["positions"], 128)
        out, _ = self.yardstick("verify", *work, "--steps=20")
        self.assertIn("2 rows of each of 10 batches; the first 128 positions of a row; ", " ".join(out.split()))

    def test_removes_what_a_killed_process_left(self):
        left = os.path.join(CACHE, "proofs", "working-a1b2c3")  # of a name drawn at random, and locked by nobody
        os.makedirs(left, exist_ok=True)
        self.verify(*MLP, "--steps=20")
        self.assertFalse(os.path.exists(left))
        self.assertFalse([name for name in os.listdir(os.path.dirname(left)) if name.startswith("working-")])


def needs_numpy(case):
    there = subprocess.run(["python3", "-c", "import numpy"], capture_output=True).returncode == 0
    return case if there else unittest.skip("NumPy is not installed")(case)


@needs_numpy
class WholeBatch(Case):
    """tests/adapters/plain.py, wrong in ways that eight rows, or `step`, do not show."""

    def verify(self, wrong, *flags, code=5):
        out, _ = self.yardstick("verify", "--framework=plain", "--recipes=" + RECIPES, "--model=mlp", "--data=digits",
                                "--batch=16", "--threads=1", "--lr=0.01", "--momentum=0.9", "--weight-decay=0.01",
                                "--env.PLAIN_WRONG=" + wrong, *flags, "--format=json", code=code)
        proof = json.loads(out)[0]["proof"]
        return proof, [check["name"] for check in proof["checks"] if not check["pass"]]

    def test_of_a_right_one_and_of_one_that_saves_single_precision(self):
        for wrong in ("nothing", "single"):
            proof, failed = self.verify(wrong, code=0)
            self.assertEqual((proof["verdict"], failed), ("pass", []))
            self.assertEqual(proof["whole"], {"rows": 16, "in_double": True, "twins": None})
            self.assertIn("weights after 1 step, whole batch", [check["name"] for check in proof["checks"]])

    def test_finds_gradients_that_are_divided_by_eight(self):
        proof, failed = self.verify("eighth")
        self.assertEqual(failed, ["gradients, whole batch", "weights after 1 step, whole batch"])
        self.assertIn("divided by", proof["reason"])

    def test_finds_them_in_single_precision_alone(self):
        proof, failed = self.verify("eighth+no_double")
        self.assertEqual(failed, ["gradients, whole batch"])
        self.assertEqual((proof["whole"]["in_double"], proof["whole"]["twins"]["count"]), (False, 8))
        proof, failed = self.verify("no_double", code=0)
        self.assertEqual((proof["verdict"], failed), ("weak", []))

    def test_finds_a_training_that_is_not_the_step(self):
        _, failed = self.verify("train")
        self.assertIn("weights after 1 step", failed)
        self.assertIn("weights after 1 step, whole batch", failed)

    def test_finds_losses_that_are_not_those_of_the_batch(self):
        _, failed = self.verify("train_loss")
        self.assertEqual(failed, ["loss of training", "loss of training, whole batch"])


@needs_numpy
class InputGradient(Case):
    """tests/adapters/slopes.py, which makes one mistake in each trial, in `input_gradient` alone."""

    def test_a_wrong_one_fails_the_proof_and_nothing_else_does(self):
        mistakes = ["nothing", "factor", "train", "loss", "zero", "noise", "row"]
        out, _ = self.yardstick("verify", "--framework=slopes", "--recipes=" + RECIPES, "--model=check_small", "--data=synthetic",
                                "--batch=8", "--threads=1", "--lr=0.01", "--env.SLOPES_WRONG=" + ",".join(mistakes), "--format=json", code=5)
        for mistake, trial in zip(mistakes, json.loads(out)):
            proof = trial["proof"]
            failed = [check["name"] for check in proof["checks"] if not check["pass"]]
            self.assertIn("gradient by the input", [check["name"] for check in proof["checks"]])
            self.assertEqual(failed, [] if mistake == "nothing" else ["gradient by the input"], mistake)
        self.assertIn("input_gradient means something else", proof["reason"])

    def test_where_it_is_attacked_it_is_proven_in_its_format_too_and_on_equal_values(self):
        """A dense network behind a pool, whose windows do not overlap: turned around they are the same windows."""
        both = {("meaning", "gradient of equal values"), ("numerics", "gradient of equal values")}
        mistakes = {"nothing": set(), "single": {("numerics", "gradient by the input")}, "says": set(), "last": both, "share": both}
        out, _ = self.yardstick("verify", "--framework=slopes,builtin", "--recipes=" + RECIPES, "--model=lenet", "--data=digits",
                                "--compare=same-weights", "--mode=attack", "--attack=fgsm(0.1)", "--batch=4", "--threads=1",
                                "--steps=0", "--env.SLOPES_WRONG=" + ",".join(mistakes), "--format=json", code=5)
        trials = json.loads(out)
        self.assertEqual(len(trials), 2 * len(mistakes))
        for trial in trials:
            proof, mistake = trial["proof"], trial["id"].rpartition("=")[2]
            of_own = proof["framework"] == "builtin"
            failed = {(check["half"], check["name"]) for check in proof["checks"] if not check["pass"]}
            self.assertEqual(failed, set() if of_own else mistakes[mistake], trial["id"])
            asked = {check["name"] for check in proof["checks"] if check["half"] == "numerics"}
            self.assertEqual("gradient of equal values" in asked, of_own or mistake != "says", trial["id"])
            self.assertLessEqual(8 * proof["twins"]["input_gradient"], proof["twins"]["input_gradient_ceiling"])
            if "last" in mistake and not of_own:
                self.assertIn("of equal values in a pool of maxima another than the first", proof["reason"])


class BesideEachOther(Case):
    """Proofs behind the first are made beside one another, and are told as those that are made by themselves."""

    def test_what_was_made_now_is_not_told_as_kept_nor_the_other_way_round(self):
        words = ["--framework=builtin", "--model=mlp", "--data=digits", "--threads=1", "--batch=8,12,16", "--steps=2", "--repeat=1", "--audit=off"]
        for flags, cached in ((["--fresh"], False), ([], True), (["--fresh"], False)):
            result, _ = self.result("run", *words, *flags)
            self.assertEqual([(trial["proof"]["verdict"], trial["proof"]["cached"]) for trial in result["trials"]], [("pass", cached)] * 3)
