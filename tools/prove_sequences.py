#!/usr/bin/env python3
"""Networks of sequences on several seeds: the proof must pass in every framework that declares them, and fail for each that is made wrong on purpose.

    tools/prove_sequences.py [--seeds N] [--first SEED] [--framework A,B] [--program ./yardstick] [NETWORK or MISTAKE...]

Without names all of them. Frameworks that are not installed are left out. Prints a table of each kind as Markdown: of a network how
many seeds pass, and the largest error of the meaning half, or that the framework refuses it by name; of a mistake at how many seeds
its check fails. Then `N passed, N failed, N skipped`. Nothing is timed, so proofs run side by side, one on each CPU.
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
os.environ.setdefault("YS_SOURCE_ROOT", prove_seeds.ROOT)
import test_sequences  # noqa: E402

FRAMEWORKS = ("builtin",) + test_sequences.FRAMEWORKS
MODELS = ("check_LSTM", "check_GRU", "lstm-char", "gpt-nano", "gpt-nano, a prompt", "check_padded", "lstm-classifier", "gru-char")
MISTAKES = {mistake: model for model in MODELS for mistake in prove_seeds.MODELS[model][1]}


class Count:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

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
    held, largest = dict.fromkeys(frameworks, 0), dict.fromkeys(frameworks, 0.0)
    for seed, proof in proofs.items():
        for name, (verdict, reason, error) in proof.result().items():
            good = test_sequences.holds(name, network, verdict, reason)
            held[name] += good
            largest[name] = max(largest[name], error or 0)
            count.add(good, "%s in %s, seed %d" % (network, name, seed), "%s %s" % (verdict, reason))
    cells = ["%d of %d, %s" % (held[name], len(proofs), "unsupported" if test_sequences.lacks(name, network) else "%.0e" % largest[name])
             for name in frameworks]
    return "| %s | %s |" % (network, " | ".join(cells))


def tell_mistakes(model, frameworks, proofs, count):
    """The lines of the table for what is made wrong on one network; proofs: by framework and seed."""
    mistakes, caught = prove_seeds.MODELS[model][1], {}
    for (framework, seed), proof in proofs.items():
        for holds, name, why in prove_seeds.judge(model, seed, proof.result(), framework):
            count.add(holds, "%s in %s" % (name, framework), why)
            case = name.split(",")[0], framework
            caught[case] = caught.get(case, 0) + holds
    seeds = len({seed for _, seed in proofs})
    lines = []
    for mistake, check in mistakes.items():
        cells = ["%d of %d" % (caught[mistake, name], seeds) if (mistake, name) in caught else "" for name in frameworks]
        lines.append("| %s | %s | %s | %s |" % (mistake, model, check, " | ".join(cells)))
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="of " + ", ".join([*test_sequences.ALL, *MISTAKES]))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--framework", default=",".join(FRAMEWORKS), help="in which of them")
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
    for name in wanted:
        if name not in frameworks:
            print("skip: %s is not installed: yardstick install %s" % (name, name), file=sys.stderr)
            count.skipped += 1
    spoiled = [name for name in frameworks if name == "pytorch" or name in prove_seeds.OTHERS]
    with workers_of_a_core(len(os.sched_getaffinity(0))) as pool:
        proofs = [(network, {seed: pool.submit(test_sequences.verify, frameworks, network, seed) for seed in seeds}) for network in networks]
        mistaken = [(model, {(name, seed): pool.submit(prove_seeds.verify, arguments.program, model, seed, name)
                             for name in spoiled if model in prove_seeds.cases_of(name) for seed in seeds}) for model in models]
        if networks:
            print("| network | %s |\n| --- |%s" % (" | ".join(frameworks), " --- |" * len(frameworks)), flush=True)
        for network, of_seeds in proofs:
            print(tell_proofs(network, frameworks, of_seeds, count), flush=True)
        if models:
            print("\n| mistake | network | what fails | %s |\n| --- | --- | --- |%s" % (" | ".join(spoiled), " --- |" * len(spoiled)), flush=True)
        for model, of_seeds in mistaken:
            print("\n".join(tell_mistakes(model, spoiled, of_seeds, count)), flush=True)
    print("\n%d passed, %d failed, %d skipped" % (count.passed, count.failed, count.skipped))
    return 1 if count.failed else 0


if __name__ == "__main__":
    sys.exit(main())
