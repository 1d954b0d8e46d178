#!/usr/bin/env python3
"""The table of a level of instructions in docs/performance.md: the built-in engine against PyTorch.

    tools/levels.py LEVEL [--network NAME ...] [--results DIR] [--stored]

LEVEL is AVX2 or SSE41, to which both are held, or own: whatever the processor has. Runs a study of each network (six rounds, audits off)
into DIR, and prints a line of the table for it. --stored: prints lines of the studies that lie in DIR, the latest of each network at this
level, and runs none. PyTorch has to be installed, and nothing else to run: a study takes two to eight minutes.
"""
import argparse
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# what holds the engine and PyTorch to a level
LEVELS = {"SSE41": {"ONEDNN_MAX_CPU_ISA": "SSE41", "ATEN_CPU_CAPABILITY": "default", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2"},
          "AVX2": {"ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}, "own": {}}
EAGER = ["--opt.pytorch.channels_last=on", "--opt.pytorch.compile=off"]
# model -> title, what is run, and what the engine is meant to reach: by level, as installed and with freed memory kept
NETWORKS = {
    "lenet": ("LeNet, 64", ["studies/bench/lenet-f32.ys"] + EAGER, {"AVX2": "1.6, 1.35", "own": "1.85, 1.35"}),
    "mlp": ("MLP, 128", ["studies/bench/mlp-f32.ys", "--opt.pytorch.compile=off"], {"AVX2": "1.5, 1.5", "own": "1.9, 1.5"}),
    "resnet20": ("ResNet-20, 128", ["studies/bench/resnet20-f32.ys", "--steps=16"] + EAGER, {"AVX2": "1.4, 1.15", "own": "1.85, 1.55"}),
    "resnet50": ("ResNet-50, 16", ["studies/bench/resnet50-f32.ys", "--steps=4"] + EAGER, {"AVX2": "1.3, 1.1", "own": "1.7, 1.4"}),
    "mobilenet-v2": ("MobileNet v2, 16", ["studies/bench/mobilenet-v2-f32.ys", "--steps=12"] + EAGER, {"AVX2": "2.6, 2.0", "own": "2.5, 1.7"}),
    "gpt-nano": ("gpt-nano, 16", ["studies/bench/gpt-nano-f32.ys"], {"AVX2": "1.5", "own": "1.85"}),
    "lstm-ptb": ("lstm-ptb, 20", ["studies/bench/lstm-ptb-f32.ys"], {"AVX2": "1.5", "own": "1.6"}),
}
HEAD = ("| network, batch | builtin, rows/s | PyTorch | ratio | builtin, kept | PyTorch, kept | ratio, kept | aim | peak memory | host took |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")


def yardstick(*words):
    done = subprocess.run([os.path.join(ROOT, "yardstick"), *words], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    return json.loads(done.stdout) if done.stdout.startswith("{") else None


def level_of(study):
    has = study["trials"][0]["env"].get("ONEDNN_MAX_CPU_ISA")
    return has or "own"


def number(value, ci=None):
    """Three digits, and the interval."""
    text = "%.3g" % value if value < 1000 else "%d" % float("%.3g" % value)
    return text if not ci else "%s (%s to %s)" % (text, number(ci[0]), number(ci[1]))


def speed(trial):
    rate = trial["metrics"]["rate_per_s"]
    return number(rate["value"], rate["ci"])


def ratio_of(study, builtin, other):
    """builtin's speed over the other's, and its interval, from the comparison of the two, whichever way it was made."""
    for c in study["comparisons"]:
        if c["metric"] == "rate_per_s" and {c["a"], c["b"]} == {builtin["id"], other["id"]} and c["ratio"]:
            if c["a"] == builtin["id"]:
                return c["ratio"], c["ci"]
            return 1 / c["ratio"], c["ci"] and [1 / c["ci"][1], 1 / c["ci"][0]]
    return None, None


def cells(study, section):
    """builtin, the fastest other and the ratio, of the trials of a section; dashes without them."""
    trials = [t for t in study["trials"] if t["section"] == section and t["metrics"].get("rate_per_s", {}).get("value")]
    own = next((t for t in trials if t["framework"]["name"] == "builtin"), None)
    others = [t for t in trials if t["framework"]["name"] != "builtin"]
    if not own or not others:
        return ["-", "-", "-"], None, None
    other = max(others, key=lambda t: t["metrics"]["rate_per_s"]["value"])
    ratio, ci = ratio_of(study, own, other)
    compiled = " (compiled)" if other["options"].get("compile") == "default" else ""
    return [speed(own), speed(other) + compiled, number(ratio, ci) if ratio else "none"], own, other


def megabytes(trial):
    known = trial["metrics"]["rss_peak_bytes"]["value"]
    return number(known / 1e6) + " MB" if known else "unknown"


def line(title, study, aim):
    sections = list(dict.fromkeys(t["section"] for t in study["trials"]))
    kept = [s for s in sections if s == "kept"]
    first, own, other = cells(study, next(s for s in sections if s != "kept"))
    second, _, _ = cells(study, "kept") if kept else (["-", "-", "-"], None, None)
    memory = "-"
    if own and other:
        memory = " of ".join(megabytes(t) for t in (own, other))
    return "| %s |" % " | ".join([title] + first + second + [aim, memory, "%.2f %%" % (100 * study["study"]["timing"]["disturbance"]["steal_share"])])


def stored(level, results):
    """{network: its latest study at this level}"""
    found, number_of = {}, 1
    while True:
        study = yardstick("show", str(number_of), "--format=json", "--results=" + results)
        if study is None:
            return found
        if level_of(study) == level and study["study"]["status"] == "done":
            found[study["work"][0]["model"]] = study
        number_of += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("level", choices=sorted(LEVELS))
    parser.add_argument("--network", action="append", choices=sorted(NETWORKS))
    parser.add_argument("--results", default="yardstick-results")
    parser.add_argument("--stored", action="store_true")
    options = parser.parse_args()
    results = os.path.abspath(options.results)
    known = stored(options.level, results) if options.stored else {}
    print(HEAD, flush=True)
    failed = 0
    for name, (title, words, aims) in NETWORKS.items():
        if options.network and name not in options.network:
            continue
        if not options.stored:
            env = ["--env.%s=%s" % pair for pair in LEVELS[options.level].items()]
            known[name] = yardstick("run", *words, *env, "--repeat=6", "--interleave=runs", "--audit=off", "--format=json", "--results=" + results)
        if known.get(name):
            print(line(title, known[name], aims.get(options.level, "-")), flush=True)
        else:
            print("%s: no study" % name, file=sys.stderr)
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
