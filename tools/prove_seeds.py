#!/usr/bin/env python3
"""Holds the proof itself against several seeds: it must pass for PyTorch and fail for adapters made wrong on purpose.

    tools/prove_seeds.py [--seeds N] [--program ./yardstick] [MODEL...]

Needs PyTorch installed. What is made wrong in other frameworks tools/prove_sequences.py tries. Nothing is timed, so proofs run side by side. Ends with `N passed, N failed, N skipped`.
"""
import argparse
import concurrent.futures
import contextlib
import json
import os
import subprocess
import sys
import tempfile

from run_tests import workers_of_a_core

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WRONG = os.path.join(ROOT, "tests", "frameworks")

# Model (behind a comma: how it is used) -> its data, and what is made wrong on it -> a check that must fail. The cheapest model
# that has the thing.
MODELS = {
    "mlp": ("digits", {
        "decay_left_out": "weights after 1 step",
        "decay_decoupled": "weights after 10 steps",
        "decay_sign": "weights after 1 step",
        "decay_not_on_biases": "weights after 10 steps",
        "momentum_rate_inside": "weights after 10 steps",
        "loss_summed": "loss",
        "batches_swapped": "batches",
        "one_weight": "initial weights",
    }),
    "lenet": ("digits", {"pad_side": "logits", "conv_bf16": "logits and loss"}),
    "resnet20": ("synthetic", {"batchnorm_epsilon": "logits", "running_var_n": "buffers"}),
    "caffe-cifar10": ("synthetic", {"pool_counts_padding": "logits"}),
    "check_LSTM": ("synthetic", {"gate_order": "logits", "bias_second_trained": "weights after 10 steps"}),
    "check_GRU": ("synthetic", {"reset_before": "logits"}),
    "lstm-char": ("synthetic", {
        "state_not_carried": "weights after 10 steps",
        "state_not_detached": "weights after 10 steps",
    }),
    "check_padded": ("synthetic", {"padding_counted": "logits"}),
    "lstm-classifier": ("synthetic", {"last_of_all": "logits"}),
    "gru-char": ("lines", {"hidden_counted": "loss", "hidden_by_row": "loss"}),
    "gpt-nano": ("synthetic", {
        "layernorm_epsilon": "logits",
        "mask_off_by_one": "logits",
        "scale_left_out": "logits",
        "position_off_by_one": "logits",
        "tie_lost": "gradients",
        "norm_by_parameter": "weights after 1 step",
        "clip_epsilon": "weights after 1 step",
    }),
    "gpt-nano, a prompt": ("synthetic", {
        "cache_off_by_one": "logits",
        "cache_first_lost": "logits",
        "token_place_off_by_one": "logits",
    }),
}
MORE = {  # flags; of the usual kind a few are enough
    "gpt-nano": ["--batch=4", "--model.layers=1", "--model.width=24", "--clip-norm=0.1"],
    "gpt-nano, a prompt": ["--batch=4", "--model.layers=2", "--model.width=24", "--mode=infer", "--prompt=40"],
    "lstm-char": ["--batch=4", "--model.width=12", "--carry-state=on"],
    "gru-char": ["--batch=4", "--model.width=12"],
    "lstm-classifier": ["--batch=4", "--model.width=8"],
}
# All of the 64 bytes that a row reads or fewer, down to 4: the rows of every batch hide different numbers of targets.
LINES = [("%d: words of a line that ends here or there, sooner or later, as it likes" % k)[:4 + 29 * k % 61] for k in range(400)]
# Frameworks besides that are made wrong on purpose, and at what, of these: tests/adapters/wrong_sequences.py.
ANYWHERE = ("padding_counted", "layernorm_epsilon", "mask_off_by_one", "scale_left_out", "position_off_by_one", "tie_lost", "norm_by_parameter",
            "clip_epsilon")
RECURRENT = ("gate_order", "bias_second_trained", "state_not_carried", "last_of_all")
PROMPTS = ("cache_off_by_one", "cache_first_lost", "token_place_off_by_one")
OTHERS = {
    "paddle": ANYWHERE + RECURRENT + ("reset_before", "state_not_detached") + PROMPTS,
    "chainer": ANYWHERE + RECURRENT + ("reset_before", "state_not_detached") + PROMPTS,
    "mxnet": ANYWHERE + RECURRENT,
    "tinygrad": ANYWHERE,
}
ALONE = ("running_var_n",)  # nothing but that check may fail, of a few rows or of the whole batch
LAYOUTS = ("off", "on")  # channels_last of PyTorch


@contextlib.contextmanager
def with_lines(program):
    """The variables with which `program` has a data set `lines`, in a cache folder of its own beside the frameworks that
    are installed."""
    usual = os.environ.get("YARDSTICK_CACHE") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "yardstick")
    with tempfile.TemporaryDirectory(prefix="prove-lines-") as folder:
        os.symlink(os.path.join(usual, "envs"), os.path.join(folder, "envs"))
        variables = dict(os.environ, YARDSTICK_CACHE=folder)
        text = os.path.join(folder, "lines.txt")
        with open(text, "w", encoding="utf-8") as file:
            file.write("\n".join(LINES) + "\n")
        subprocess.run([program, "data", "fetch", "lines", "--from", text], env=variables, check=True, capture_output=True)
        yield variables


def mistakes_of(model, framework):
    """What is made wrong on it in a framework -> a check that must fail."""
    return {mistake: check for mistake, check in MODELS[model][1].items() if framework == "pytorch" or mistake in OTHERS[framework]}


def verify(program, model, seed, framework="pytorch"):
    """One `verify` of everything that concerns `model`: the oracle is asked once. Gives {case: (verdict, failed checks, reason)}."""
    data, mistakes, wrong = MODELS[model][0], mistakes_of(model, framework), "wrong-" + framework
    command = [program, "verify", "--framework=%s,%s" % (framework, wrong), "--opt.%s.wrong=%s" % (wrong, ",".join(mistakes)),
               "--model=" + model.split(",")[0], "--data=" + data, "--seed=%d" % seed, "--threads=1", "--lr=0.02", "--momentum=0.9",
               "--weight-decay=0.0005", "--recipes=" + WRONG, "--format=json", "--fresh"] + MORE.get(model, [])
    if framework == "pytorch":
        command.append("--opt.pytorch.channels_last=" + ",".join(LAYOUTS))
    with with_lines(program) if data == "lines" else contextlib.nullcontext() as variables:
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=variables)
    found = {"exit": done.returncode, "stderr": done.stderr[-1000:]}
    try:
        for trial in json.loads(done.stdout):
            proof = trial["proof"] or {}
            failed = [check["name"] for check in proof.get("checks", []) if not check["pass"]]
            case = trial["id"].split("=")[-1]  # the last axis: layout or mistake
            if case == wrong:  # of one mistake alone there is no axis
                case, = mistakes
            found[case] = proof.get("verdict"), failed, proof.get("reason") or trial["reason"]
    except ValueError:
        pass
    return found


def judge(model, seed, found, framework="pytorch"):
    """(holds, name, why not) of every case."""
    nothing = None, [], "no proof: exit %s %s" % (found["exit"], found["stderr"])
    yield found["exit"] == 5, "%s, seed %d: exit code" % (model, seed), str(found["exit"])
    right = {layout: "channels_last " + layout for layout in LAYOUTS} if framework == "pytorch" else {framework: framework}
    for case, name in right.items():
        verdict, failed, reason = found.get(case, nothing)
        yield verdict == "pass", "%s, %s, seed %d" % (model, name, seed), "%s %s %s" % (verdict, failed, reason)
    for mistake, check in mistakes_of(model, framework).items():
        verdict, failed, reason = found.get(mistake, nothing)
        holds = verdict == "fail" and ({name.removesuffix(", whole batch") for name in failed} == {check} if mistake in ALONE else check in failed)
        yield holds, "%s, %sseed %d" % (mistake, "" if framework == "pytorch" else framework + ", ", seed), "%s %s %s" % (verdict, failed, reason)


def cases_of(framework):
    """The models on which something is made wrong in it."""
    return [model for model in MODELS if mistakes_of(model, framework)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", metavar="MODEL", help="of " + ", ".join(MODELS))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--program", default=os.path.join(ROOT, "yardstick"))
    arguments = parser.parse_args()
    models = arguments.models or list(MODELS)
    if not set(models) <= set(MODELS):
        parser.error("nothing is made wrong on %s; models are %s" % (", ".join(set(models) - set(MODELS)), ", ".join(MODELS)))
    passed = failed = 0
    with workers_of_a_core(len(os.sched_getaffinity(0))) as pool:
        jobs = {pool.submit(verify, arguments.program, model, seed): (model, seed)
                for seed in range(1, arguments.seeds + 1) for model in models}
        for number, job in enumerate(concurrent.futures.as_completed(jobs), 1):
            for ok, name, why in judge(*jobs[job], job.result()):
                passed, failed = passed + ok, failed + (not ok)
                if not ok:
                    print("FAIL %s: %s" % (name, why), flush=True)
            if sys.stderr.isatty():
                print("\r%d of %d" % (number, len(jobs)), end="", file=sys.stderr)
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
