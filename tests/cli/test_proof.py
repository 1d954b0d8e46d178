"""What `verify` proves of the built-in engine itself, and what it keeps."""
import json
import os

from harness import CACHE, Case, tearDownModule  # noqa: F401  (removes the cache that the cases share)

MLP = ["--framework=builtin", "--model=mlp", "--data=digits", "--threads=1", "--batch=8", "--lr=0.01"]
WORK = ["parameters", "multiply-adds", "initial weights", "batches"]


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
            "logits", "loss", "gradients", "weights after 1 step", "weights after 10 steps", "logits and loss", "gradients"])
        self.assertEqual((proof["rows"], proof["batches"], proof["twins"]["count"]), (8, 10, 8))

    def test_of_inference(self):
        proof, = self.verify(*MLP, "--mode=infer")
        self.assertEqual(self.names(proof), WORK + ["logits", "loss", "logits and loss"])

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

    def test_removes_what_a_killed_process_left(self):
        left = os.path.join(CACHE, "proofs", "working-abcdef")  # locked by nobody
        os.makedirs(left, exist_ok=True)
        self.verify(*MLP, "--steps=20")
        self.assertFalse(os.path.exists(left))
        self.assertFalse([name for name in os.listdir(os.path.dirname(left)) if name.startswith("working-")])
