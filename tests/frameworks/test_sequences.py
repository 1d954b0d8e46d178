"""The proof of networks of sequences in every framework that is installed and declares them, small, with gradients that are
clipped and weights that decay; prints TAP. YS_SEQUENCES=all: of all such networks, not only of one for each kind of layer;
YS_SEEDS=5: from so many seeds."""

import itertools
import json
import os
import subprocess
import sys

PROGRAM = os.path.join(os.environ["YARDSTICK_BIN"], "yardstick")
FRAMEWORKS = ("pytorch", "jax", "tensorflow", "keras")
SMALL = ["--model.width=16", "--model.layers=2", "--model.heads=2"]
CARRIED = ["--model.width=12", "--carry-state=on"]
MODELS = {  # what is proven: the network, and flags
    "gpt-nano": ("gpt-nano", SMALL),
    "padding hidden": ("check_padded", []),
    "lstm-char": ("lstm-char", ["--model.width=12"]),
    "gru-char": ("gru-char", ["--model.width=12"]),
    "lstm-char, state carried": ("lstm-char", CARRIED),
    "gru-char, state carried": ("gru-char", CARRIED),
    "gpt-nano, a prompt": ("gpt-nano", SMALL + ["--mode=infer", "--prompt=40"]),
}
MORE = {"bert-mini": ("bert-mini", SMALL), "vit-tiny": ("vit-tiny", SMALL), "lstm-classifier": ("lstm-classifier", ["--model.width=8"])}
ALL = dict(MODELS, **MORE)


def verify(frameworks, what, seed):
    """{framework: (verdict, reason, largest error of the meaning half)}"""
    model, flags = ALL[what]
    command = [PROGRAM, "verify", "--framework=" + ",".join(frameworks), "--model=" + model, "--data=synthetic", "--batch=4",
               "--threads=1", "--seed=%d" % seed, "--lr=0.02", "--momentum=0.9", "--weight-decay=0.0005", "--clip-norm=0.5", "--format=json", "--fresh"]
    done = subprocess.run(command + flags, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    found = dict.fromkeys(frameworks, (None, "exit %d %s" % (done.returncode, done.stderr[-1000:]), None))
    try:
        trials = json.loads(done.stdout)
    except ValueError:
        return found
    for framework, trial in zip(frameworks, trials):
        proof = trial["proof"] or {}
        failed = [check["name"] for check in proof.get("checks", []) if not check["pass"]]
        errors = [check["error"] for check in proof.get("checks", []) if check["half"] == "meaning" and check["error"] is not None]
        found[framework] = proof.get("verdict"), "%s %s" % (failed, proof.get("reason") or trial["reason"]), max(errors, default=None)
    return found


def main():
    listed = subprocess.run([PROGRAM, "list", "frameworks", "--format=json"], capture_output=True, text=True, check=True)
    state = {entry["spec"]: entry["state"] for entry in json.loads(listed.stdout)["frameworks"]}
    frameworks = [name for name in FRAMEWORKS if state.get(name) == "ready"]
    if not frameworks:
        print("1..0 # SKIP none of %s is installed: yardstick install pytorch" % ", ".join(FRAMEWORKS))
        return 0
    number, bad = 0, False
    for what, seed in itertools.product(ALL if os.environ.get("YS_SEQUENCES") == "all" else MODELS, range(1, 1 + int(os.environ.get("YS_SEEDS", "1")))):
        for framework, (verdict, reason, _) in verify(frameworks, what, seed).items():
            number += 1
            bad |= verdict != "pass"
            if verdict != "pass":
                print("# %s %s" % (verdict, reason.replace("\n", " ")))
            print("%s %d - %s in %s, seed %d" % ("ok" if verdict == "pass" else "not ok", number, what, framework, seed), flush=True)
    print("1..%d" % number)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
