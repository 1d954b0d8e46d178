"""The audit of each framework that is installed, over optimizers, with weight decay, clipping and a schedule of rates, in
f32 and bf16: an honest framework passes, and where its optimizer's state is saved or can be inferred its weights are
judged. Prints TAP; FRAMEWORKS names those to try."""

import json
import os
import subprocess
import sys
import tempfile

import tap

PROGRAM = os.path.join(os.environ["YARDSTICK_BIN"], "yardstick")
FRAMEWORKS = os.environ.get("FRAMEWORKS", "pytorch deepspeed tensorflow jax mxnet keras paddle chainer tinygrad theano").split()
NO_BF16 = ("deepspeed", "mxnet", "paddle", "chainer", "tinygrad", "theano")
PLAIN = (6, "--model=mlp", "--data=digits", "--batch=32", "--weight-decay=0.01", "--clip-norm=0.5", "--schedule=cosine")
# A bias whose gradient adds up 256 values, in some frameworks in bfloat16.
LONG = (9, "--model=lstm-char", "--model.width=12", "--data=chars", "--batch=4")
# Rule, momentum, rate, format, verdicts, and the work with its number of tensors. With Adam in bf16 a gradient near 0 may go
# either way: the twins say so, and the bounds of their tensors tell little.
CASES = (
    ("sgd", 0.9, 0.05, "f32", ("pass",), PLAIN),
    ("sgd,nesterov", 0.9, 0.05, "f32", ("pass",), PLAIN),
    ("adamw", 0, 0.001, "f32", ("pass",), PLAIN),
    ("rmsprop", 0.9, 0.001, "f32", ("pass",), PLAIN),
    ("adamw", 0, 0.001, "bf16", ("pass", "weak"), PLAIN),
    ("rmsprop", 0.9, 0.001, "bf16", ("pass", "weak"), PLAIN),
    ("sgd", 0, 0.02, "bf16", ("pass",), LONG),
)


def audit(framework, case, folder):
    """(whether it is as it should be, what was found, whether nothing could be asked)"""
    rule, momentum, rate, precision, verdicts, (tensors, *work) = case
    found = subprocess.run(
        [PROGRAM, "run", "--results=" + folder, "--framework=" + framework, *work,
         "--steps=40", "--block=4", "--repeat=1", "--threads=1", "--audit=all", "--optimizer=" + rule,
         "--momentum=%g" % momentum, "--lr=%g" % rate, "--precision=" + precision, "--format=json"], capture_output=True, text=True)
    try:
        trial = json.loads(found.stdout)["trials"][0]
    except ValueError:
        return None, found.stderr, False
    proof, judged = trial["proof"], trial["proof"].get("audit", {})
    if precision == "bf16" and "has no normalize in bf16" in (proof["reason"] or ""):
        return True, proof["reason"], True  # nothing to repeat it with on this processor
    good = trial["status"] == "ok" and proof["verdict"] == "pass" and judged.get("verdict") in verdicts
    return good and judged["tensors"] == tensors, "%s %s: %s" % (trial["status"], trial["reason"], json.dumps(judged)), False


def cases(ready, folder):
    """(whether it holds, its name, what was found) of each."""
    for framework in ready:
        for case in CASES:
            if case[3] == "bf16" and framework in NO_BF16:
                continue
            good, found, skipped = audit(framework, case, folder)
            name = "%s %s %s momentum %g %s" % (framework, case[5][1], case[0], case[1], case[3])
            yield good, name + (" # SKIP " + found if skipped else ""), found


def main():
    ready = tap.ready(FRAMEWORKS)
    if not ready:
        print("1..0 # SKIP none of %s is installed: yardstick install pytorch" % ", ".join(FRAMEWORKS))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        return tap.tell(cases(ready, folder))


if __name__ == "__main__":
    sys.exit(main())
