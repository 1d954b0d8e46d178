"""The proof of networks of sequences in every framework that is installed and declares them, small, with gradients that are
clipped and weights that decay; what a framework lacks it must name. Prints TAP. YS_SEQUENCES=all: of all such networks, not only
of one for each kind of layer; YS_SEEDS=5: from so many seeds; FRAMEWORKS names those to try."""

import contextlib
import itertools
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["YS_SOURCE_ROOT"], "tools"))
import prove_seeds  # noqa: E402
import tap  # noqa: E402

PROGRAM = os.path.join(os.environ["YARDSTICK_BIN"], "yardstick")
FRAMEWORKS = ("pytorch", "jax", "tensorflow", "keras", "paddle", "chainer", "mxnet", "tinygrad")
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
    "gpt-nano, a prompt of one row": ("gpt-nano", SMALL + ["--mode=infer", "--prompt=40", "--batch=1"]),
}
MORE = {
    "bert-mini": ("bert-mini", SMALL),
    "vit-tiny": ("vit-tiny", SMALL),
    "lstm-classifier": ("lstm-classifier", ["--model.width=8"]),
    "gpt-nano, targets hidden": ("gpt-nano", SMALL),
}
ALL = dict(MODELS, **MORE)
DATA = {"gpt-nano, targets hidden": "lines"}  # else synthetic
# What frameworks answer by `unsupported`, and with which words.
NO_PROMPT = dict.fromkeys(("gpt-nano, a prompt", "gpt-nano, a prompt of one row"), "no prompt that is answered before the tokens behind it")
NO_LSTM, NO_GRU, NO_ERF = "no operator LSTM", "no operator GRU", "Gelu by erf"
LACKS = {
    "mxnet": NO_PROMPT,
    "tinygrad": {**NO_PROMPT, "lstm-char": NO_LSTM, "lstm-char, state carried": NO_LSTM, "lstm-classifier": NO_LSTM, "gru-char": NO_GRU,
                 "gru-char, state carried": NO_GRU, "bert-mini": NO_ERF, "vit-tiny": NO_ERF},
}


def verify(frameworks, what, seed):
    """{framework: (verdict, reason, largest error of the meaning half)}"""
    model, flags = ALL[what]
    data = DATA.get(what, "synthetic")
    flags = flags if "--batch=1" in flags else ["--batch=4"] + flags
    command = [PROGRAM, "verify", "--framework=" + ",".join(frameworks), "--model=" + model, "--data=" + data,
               "--threads=1", "--seed=%d" % seed, "--lr=0.02", "--momentum=0.9", "--weight-decay=0.0005", "--clip-norm=0.5", "--format=json", "--fresh"]
    with prove_seeds.with_lines(PROGRAM) if data == "lines" else contextlib.nullcontext() as variables:
        done = subprocess.run(command + flags, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=variables)
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


def lacks(framework, what):
    """With which words the framework refuses it; None: it does not."""
    return LACKS.get(framework, {}).get(what)


def holds(framework, what, verdict, reason):
    words = lacks(framework, what)
    return verdict == "pass" if words is None else verdict == "none" and words in reason


def cases(frameworks):
    """(whether it holds, its name, what was found) of each."""
    for name in FRAMEWORKS:
        if name not in frameworks and name in os.environ.get("FRAMEWORKS", name).split():
            yield True, "all in %s # SKIP it is not installed: yardstick install %s" % (name, name), ""
    for what, seed in itertools.product(ALL if os.environ.get("YS_SEQUENCES") == "all" else MODELS, range(1, 1 + int(os.environ.get("YS_SEEDS", "1")))):
        for framework, (verdict, reason, _) in verify(frameworks, what, seed).items():
            yield (holds(framework, what, verdict, reason),
                   "%s in %s, seed %d%s" % (what, framework, seed, ", refused by name" if lacks(framework, what) else ""),
                   "%s %s" % (verdict, reason))


def main():
    frameworks = tap.ready([name for name in FRAMEWORKS if name in os.environ.get("FRAMEWORKS", name).split()])
    if not frameworks:
        print("1..0 # SKIP none of %s is installed: yardstick install pytorch" % ", ".join(FRAMEWORKS))
        return 0
    return tap.tell(cases(frameworks))


if __name__ == "__main__":
    sys.exit(main())
