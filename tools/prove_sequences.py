#!/usr/bin/env python3
"""Networks of sequences on several seeds: the proof must pass in every framework that declares them, and fail for PyTorch made wrong on purpose.

    tools/prove_sequences.py [--seeds N] [--first SEED] [--framework A,B] [--program ./yardstick] [NETWORK or MISTAKE...]

Without names all of them. Frameworks that are not installed are left out. Prints a table of each kind as Markdown: of a network how
many seeds pass, and the largest error of the meaning half; of a mistake at how many seeds its check fails. Then `N passed, N failed, N skipped`.
Nothing is timed, so proofs run side by side, one on each CPU.
"""
import argparse
import json
import os
import subprocess
import sys

import prove_seeds
from run_tests import workers_of_a_core

sys.path.insert(0, os.path.join(prove_seeds.ROOT, "tests", "frameworks"))
os.environ.setdefault("YARDSTICK_BIN", prove_seeds.ROOT)
import test_sequences  # noqa: E402

FRAMEWORKS = ("builtin",) + test_sequences.FRAMEWORKS
MISTAKES = {mistake: model for model in ("check_LSTM", "check_GRU", "lstm-char", "gpt-nano", "gpt-nano, a prompt", "check_padded", "lstm-classifier", "gru-char")
            for mistake in prove_seeds.MODELS[model][1]}


class Count:
    def __init__(self):
        self.passed = self.failed = 0

    def add(self, holds, name, why):
        self.passed, self.failed = self.passed + holds, self.failed + (not holds)
        if not holds:
            print("FAIL %s: %s" % (name, why), file=sys.stderr, flush=True)


def installed(program):
    listed = subprocess.run([program, "list", "frameworks", "--format=json"], capture_output=True, text=True, check=True)
    ready = {entry["spec"] for entry in json.loads(listed.stdout)["frameworks"] if entry["state"] == "ready"}
    return [name for name in FRAMEWORKS if name == "builtin" or name in ready]


def tell_proofs(network, frameworks, proofs, count):
    """A line of the table, of a proof for each seed."""
    passes, largest = dict.fromkeys(frameworks, 0), dict.fromkeys(frameworks, 0.0)
    for seed, proof in proofs.items():
        for name, (verdict, reason, error) in proof.result().items():
            passes[name] += verdict == "pass"
            largest[name] = max(largest[name], error or 0)
            count.add(verdict == "pass", "%s in %s, seed %d" % (network, name, seed), reason)
    cells = ["%d of %d, %.0e" % (passes[name], len(proofs), largest[name]) for name in frameworks]
    return "| %s | %s |" % (network, " | ".join(cells))


def tell_mistakes(model, proofs, count):
    """The lines of the table for what is made wrong on one network."""
    mistakes = prove_seeds.MODELS[model][1]
    caught = dict.fromkeys(mistakes, 0)
    for seed, proof in proofs.items():
        for holds, name, why in prove_seeds.judge(model, seed, proof.result()):
            count.add(holds, name, why)
            mistake = name.split(",")[0]
            caught[mistake] = caught.get(mistake, 0) + holds
    return ["| %s | %s | %s | %d of %d |" % (mistake, model, check, caught[mistake], len(proofs)) for mistake, check in mistakes.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="of " + ", ".join([*test_sequences.ALL, *MISTAKES]))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--framework", default=",".join(FRAMEWORKS), help="in which networks are proven")
    parser.add_argument("--program", default=os.path.join(prove_seeds.ROOT, "yardstick"))
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(test_sequences.ALL) - set(MISTAKES)
    if unknown:
        parser.error("there is no %s" % ", ".join(sorted(unknown)))
    wanted = arguments.framework.split(",")
    if not set(wanted) <= set(FRAMEWORKS):
        parser.error("there is no %s" % ", ".join(sorted(set(wanted) - set(FRAMEWORKS))))
    test_sequences.PROGRAM = arguments.program
    seeds, count = range(arguments.first, arguments.first + arguments.seeds), Count()
    networks = [name for name in test_sequences.ALL if name in arguments.names or not arguments.names]
    models = dict.fromkeys(model for mistake, model in MISTAKES.items() if mistake in arguments.names or not arguments.names)
    frameworks = [name for name in installed(arguments.program) if name in wanted]
    with workers_of_a_core(len(os.sched_getaffinity(0))) as pool:
        def begin(prove, *given):
            return {seed: pool.submit(prove, *given, seed) for seed in seeds}

        proofs = [(network, begin(test_sequences.verify, frameworks, network)) for network in networks]
        mistaken = [(model, begin(prove_seeds.verify, arguments.program, model)) for model in models]
        if networks:
            print("| network | %s |\n| --- |%s" % (" | ".join(frameworks), " --- |" * len(frameworks)), flush=True)
        for network, of_seeds in proofs:
            print(tell_proofs(network, frameworks, of_seeds, count), flush=True)
        if models:
            print("\n| mistake | network | what fails | seeds |\n| --- | --- | --- | --- |", flush=True)
        for model, of_seeds in mistaken:
            print("\n".join(tell_mistakes(model, of_seeds, count)), flush=True)
    print("\n%d passed, %d failed, 0 skipped" % (count.passed, count.failed))
    return 1 if count.failed else 0


if __name__ == "__main__":
    sys.exit(main())
