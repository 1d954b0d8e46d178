#!/usr/bin/env python3
"""Holds the proof itself against twenty seeds: it must pass for PyTorch and fail for adapters made wrong on purpose.

    tools/prove_seeds.py [--seeds N] [--jobs N] [--program ./yardstick]

Needs PyTorch installed. Nothing is timed, so proofs run side by side. Ends with `N passed, N failed, N skipped`.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WRONG = os.path.join(ROOT, "tests", "frameworks")

# What is wrong -> (model, the first check that must fail). The cheapest model that has the thing.
MISTAKES = {
    "decay_left_out": ("mlp", "weights after 1 step"),
    "decay_decoupled": ("mlp", "weights after 10 steps"),
    "decay_sign": ("mlp", "weights after 1 step"),
    "decay_not_on_biases": ("mlp", "weights after 10 steps"),
    "momentum_rate_inside": ("mlp", "weights after 10 steps"),
    "loss_summed": ("mlp", "loss"),
    "pad_side": ("lenet", "logits"),
    "batches_swapped": ("mlp", "batches"),
    "one_weight": ("mlp", "initial weights"),
    "conv_bf16": ("lenet", "logits, loss, gradients"),
}


def verify(program, framework, model, seed, extra):
    command = [program, "verify", "--framework=" + framework, "--model=" + model, "--data=digits", "--seed=%d" % seed, "--threads=1",
               "--lr=0.02", "--momentum=0.9", "--weight-decay=0.0005", "--recipes=" + WRONG, "--format=json", "--fresh"] + extra
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    try:
        return done.returncode, json.loads(done.stdout)[0]["proof"] or {}, done.stderr
    except (ValueError, IndexError, KeyError):
        return done.returncode, {}, done.stderr


def first_failed(proof):
    return next((c["name"] for c in proof.get("checks", []) if not c["pass"]), None)


def right(program, model, layout, seed):
    code, proof, err = verify(program, "pytorch", model, seed, ["--opt.pytorch.channels_last=" + layout])
    ok = code == 0 and proof.get("verdict") == "pass"
    return ok, "%s, channels_last %s, seed %d" % (model, layout, seed), "exit %d, first failed: %s %s" % (code, first_failed(proof), err)


def wrong(program, mistake, seed):
    model, check = MISTAKES[mistake]
    code, proof, err = verify(program, "wrong-pytorch", model, seed, ["--opt.wrong-pytorch.wrong=" + mistake])
    ok = code == 5 and proof.get("verdict") == "fail" and check in [c["name"] for c in proof["checks"] if not c["pass"]]
    return ok, "%s on %s, seed %d" % (mistake, model, seed), "exit %d, first failed: %s, not %s %s" % (code, first_failed(proof), check, err)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--program", default=os.path.join(ROOT, "yardstick"))
    arguments = parser.parse_args()
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        jobs = []
        for seed in range(1, arguments.seeds + 1):
            for model in ("mlp", "lenet"):
                jobs += [pool.submit(right, arguments.program, model, layout, seed) for layout in ("off", "on")]
            jobs += [pool.submit(wrong, arguments.program, mistake, seed) for mistake in MISTAKES]
        for done, job in enumerate(concurrent.futures.as_completed(jobs), 1):
            ok, name, why = job.result()
            passed, failed = passed + ok, failed + (not ok)
            if not ok:
                print("FAIL %s: %s" % (name, why), flush=True)
            if sys.stderr.isatty():
                print("\r%d of %d" % (done, len(jobs)), end="", file=sys.stderr)
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
