"""What `verify --trace` says of PyTorch made wrong on purpose; prints TAP."""
import json
import os
import subprocess
import sys

import tap

ROOT = os.environ["YS_SOURCE_ROOT"]
PROGRAM = os.path.join(os.environ["YARDSTICK_BIN"], "yardstick")
RECIPES = os.path.join(ROOT, "tests", "frameworks")

# mistake, model, data -> the first node forward and backward that must be named: (op, name of the value or parameter). Where
# the values differ the gradients do so from the loss on, and tell nothing.
CASES = [
    ("pad_side", "lenet", "digits", ("Conv", "conv2"), None),
    ("conv_bf16", "lenet", "digits", ("Conv", "conv1"), None),
    ("batchnorm_epsilon", "resnet20", "synthetic", ("BatchNormalization", None), None),
    ("loss_summed", "mlp", "digits", None, ("Gemm", "fc3.bias")),
    ("decay_sign", "mlp", "digits", None, None),
]


def trace(mistake, model, data):
    command = [PROGRAM, "verify", "--trace", "--framework=wrong-pytorch", "--opt.wrong-pytorch.wrong=" + mistake, "--model=" + model,
               "--data=" + data, "--threads=1", "--lr=0.02", "--momentum=0.9", "--weight-decay=0.0005", "--recipes=" + RECIPES,
               "--format=json"]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    try:
        return json.loads(done.stdout)[0]["proof"]["trace"], ""
    except (ValueError, LookupError, TypeError):
        return None, "exit %s: %s" % (done.returncode, done.stderr[-500:])


def first(half):
    return None if half["first"] is None else (half["nodes"][half["first"]]["op"], half["nodes"][half["first"]]["name"])


def judge(found, forward, backward):
    """Why it is not what is wanted, or None."""
    said = first(found["forward"])
    if (said is None) != (forward is None) or (forward and (said[0] != forward[0] or forward[1] not in (None, said[1]))):
        return "forward: %s" % (said,)
    said = first(found["backward"])
    return "backward: %s" % (said,) if not forward and said != backward else None


def cases():
    """(whether it holds, its name, what was found) of each."""
    for mistake, model, data, forward, backward in CASES:
        found, why = trace(mistake, model, data)
        why = why if found is None else judge(found, forward, backward)
        yield not why, "%s on %s" % (mistake, model), why


def main():
    if not tap.ready(["pytorch"]):
        print("1..0 # SKIP PyTorch is not installed: yardstick install pytorch")
        return 0
    return tap.tell(cases())


if __name__ == "__main__":
    sys.exit(main())
