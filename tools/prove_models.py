#!/usr/bin/env python3
"""Proves every model: `yardstick verify` of a framework, on synthetic data if no other are named, and a table of what it found.

    tools/prove_models.py [--quick] [--third N,...] [--level LEVEL] [--framework pytorch] [--data cifar10] [--program ./yardstick]
                          [MODEL...] [-- OPTIONS OF verify...]

Models are names or files; several frameworks are separated by commas, and what the oracle says is then computed once. Without models all that
`yardstick list models` has. PyTorch is proven with its usual memory layout and with channels_last. --quick leaves out models
above 50 million multiply-adds, and the second layout but of two networks: of convolutions, and of convolutions with batch normalisation. --third: only
every third model, from the Nth on (0 to 2); 0,2: those two thirds. --level: oracle, twins and PyTorch are held to AVX2 or SSE41. What stands
behind -- goes to verify: --precision=bf16, --mode=infer, --all-steps, --opt.pytorch.compile=default. Nothing is taken from the cache. Ends with
how long it took, and `N passed, N failed, N skipped`.
"""
import argparse
import json
import os
import subprocess
import sys
import time

import thirds
from levels import LEVELS
from run_tests import workers_of_a_core

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
QUICK = 50e6  # multiply-adds
LAYOUTS = {"pytorch": ["--opt.pytorch.channels_last=off,on"]}
IN_BOTH = ("lenet", "resnet20")  # of a quick proof
ROW = "%-16s %-5s %9s %9s %9s %7s  %s"


def list_models(program):
    done = subprocess.run([program, "list", "models", "--format=json"], capture_output=True, text=True, check=True)
    return {model["name"]: model["multiply_adds"] for model in json.loads(done.stdout)["models"]}


def layouts(framework, model, quick):
    return [] if quick and model not in IN_BOTH else LAYOUTS.get(framework.partition("@")[0], [])


def verify(program, framework, model, data, options, level):
    """The trials of one `verify`, or why there are none."""
    command = [program, "verify", "--framework=" + framework, "--model=" + model, "--data=" + data, "--format=json", "--fresh"]
    command += ["--env.%s=%s" % pair for pair in LEVELS[level].items()] + options
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=dict(os.environ, **LEVELS[level]))
    try:
        return json.loads(done.stdout), None
    except ValueError:
        return [], "exit %d: %s" % (done.returncode, done.stderr.strip()[-500:])


def worst(proof, half):
    """The largest error of a half; of numerics, where each check has a bound of its own, as a share of that."""
    errors = [float("inf") if check["error"] is None else check["error"] / (check["bound"] if half == "numerics" else 1)
              for check in proof.get("checks", []) if check["half"] == half]
    return "%.1e" % max(errors) if errors else "-"


def describe(trial, model):
    proof = trial["proof"] or {}
    verdict = proof.get("verdict", "none")
    twins = proof.get("twins", {})
    seconds = "%.1f" % proof["seconds"] if "seconds" in proof else "-"
    forward = "%.1e" % twins["forward"] if "forward" in twins else "-"
    setting = trial["id"].partition(":")[2]
    print(ROW % (os.path.basename(model), verdict, worst(proof, "meaning"), worst(proof, "numerics"), forward, seconds, setting), flush=True)
    for check in proof.get("checks", []):
        if not check["pass"]:
            print("    FAIL %(half)s, %(name)s: %(error)s above %(bound)s in %(worst)s" % check)
    if verdict != "pass":
        print("    %s" % (proof.get("reason") or trial.get("reason")))
    return verdict in ("pass", "weak")  # weak: nothing differs, and no double would tell more


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--third", type=thirds.parse)
    parser.add_argument("--level", default="own", choices=sorted(LEVELS))
    parser.add_argument("--framework", default="pytorch")
    parser.add_argument("--data", default="synthetic", help="with others a network that is known by large images has fewer pixels")
    parser.add_argument("--program", default=os.path.join(ROOT, "yardstick"))
    given = sys.argv[1:]
    split = given.index("--") if "--" in given else len(given)
    arguments, options = parser.parse_args(given[:split]), given[split + 1:]
    known = list_models(arguments.program)
    models = arguments.models or [model for model in known if not arguments.quick or known[model] <= QUICK]
    models = thirds.of(models, arguments.third)
    passed = failed = 0
    began_s = time.monotonic()
    print(ROW % ("model", "proof", "meaning", "numerics", "twins", "seconds", "setting"))
    # Nothing is timed: proofs run side by side.
    with workers_of_a_core(len(os.sched_getaffinity(0))) as pool:
        proofs = pool.map(lambda model: verify(arguments.program, arguments.framework, model, arguments.data,
                                               layouts(arguments.framework, model, arguments.quick) + options,
                                               arguments.level), models)
        for model, (trials, why) in zip(models, proofs):
            if why:
                print(ROW % (os.path.basename(model), "none", "-", "-", "-", "-", why))
                failed += 1
            for trial in trials:
                ok = describe(trial, model)
                passed, failed = passed + ok, failed + (not ok)
    print("meaning: the largest error, bound 1e-9; numerics: the largest error as a share of its bound, which is 8 times that")
    print("of the twins; twins: their error in logits and loss")
    print("%d models at level %s in %d s" % (len(models), arguments.level, round(time.monotonic() - began_s)))
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
