"""Networks that other programs exported (tests/python/exports_*.py), trained for ten steps and proven in builtin, PyTorch,
TensorFlow and JAX; prints TAP.

    test_exports.py torch NETWORK [WAY...]        the four ways in which PyTorch exports a network of torchvision, or those
    test_exports.py sequences NETWORK [WAY...]    the ways in which it exports a network of exports_sequences.py, or those
    test_exports.py tensorflow|paddle [NETWORK...]  two networks of each of its exporters, or those

Exporters need packages that no environment of yardstick has. They are looked for in this interpreter, and in the one that
YS_EXPORTS_PYTHON names. A part of the work: YS_EXPORTS_FRAMEWORKS="pytorch jax". Beside each result stands the largest error of the proof's meaning half, and its bound.

Ways that come to the same graph under other names are proven once: what is trained is drawn by the seed, whatever the file holds."""

import json
import os
import subprocess
import sys
import tempfile

ROOT = os.environ["YS_SOURCE_ROOT"]
PROGRAM = os.path.join(os.environ["YARDSTICK_BIN"], "yardstick")
MAKERS = os.path.join(ROOT, "tests", "python")
PYTHON = os.environ.get("YS_EXPORTS_PYTHON") or sys.executable
FRAMEWORKS = os.environ.get("YS_EXPORTS_FRAMEWORKS", "builtin pytorch tensorflow jax").split()
PACKAGES = {"torch": ("torch", "torchvision", "onnxscript"), "sequences": ("torch", "torchvision", "onnxscript"),
            "tensorflow": ("tensorflow", "keras", "tf2onnx"),
            "paddle": ("paddle", "paddle2onnx")}
OTHERS = {"tensorflow": ("tf2onnx plain", "tf2onnx separable", "keras separable", "keras MobileNetV2"),
          "paddle": ("resnet18", "mobilenet_v2")}
STEPS = 10
# Most of a proof in JAX is XLA's compiling, of programs that then run for a second: without its costly passes it is shorter. What a
# proof is of, the network's meaning, they leave alone.
COMPILE_LESS = "--env.JAX_DISABLE_MOST_OPTIMIZATIONS=1"
# Of two rows, deep networks and those whose batch normalisation was folded diverge within ten steps of 0.01, in the oracle too.
RATE = 1e-4
SKIP = "1..0 # SKIP "

sys.path.insert(0, MAKERS)
import exports_known  # noqa: E402
import graph_form  # noqa: E402
import tap  # noqa: E402


def lacking(maker):
    found = "import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, sys.argv[1:])))"
    return subprocess.run([PYTHON, "-c", found, *PACKAGES[maker]], capture_output=True).returncode != 0


def export(maker, words, path):
    """Why there is no file; None where there is."""
    done = subprocess.run([PYTHON, "-B", os.path.join(MAKERS, "exports_%s.py" % maker), *words, path], capture_output=True, text=True)
    return done.stderr.strip()[-2000:] if done.returncode else None


def yardstick(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)


def worst_meaning(proof):
    """The check of the meaning half that came nearest to its bound."""
    checks = [check for check in proof.get("checks", []) if check["half"] == "meaning" and check["error"] is not None]
    if not checks:
        return "no meaning half"
    worst = max(checks, key=lambda check: check["error"] / check["bound"])
    return "%s: %.1e, bound %.1e" % (worst["name"], worst["error"], worst["bound"])


def judge_trained(path, frameworks):
    """Of each framework what is wrong with it, None where nothing is, and how near its bound it came."""
    done = yardstick("verify", "--model=" + path, "--framework=" + ",".join(frameworks), "--data=synthetic", "--batch=2",
                     "--threads=1", "--lr=%g" % RATE, "--all-steps", COMPILE_LESS, "--format=json")
    try:
        trials = json.loads(done.stdout)
    except ValueError:
        return dict.fromkeys(frameworks, ("exit %d: %s" % (done.returncode, done.stderr.strip()), ""))
    found = dict.fromkeys(frameworks, ("there is no trial of it", ""))
    for trial in trials:
        proof = trial["proof"] or {}
        failed = ["%(name)s: %(error)s above %(bound)s in %(worst)s" % check for check in proof.get("checks", []) if not check["pass"]]
        good = proof.get("verdict") == "pass" and proof.get("batches") == STEPS
        wrong = None if good else "%s of %s steps, %s; %s" % (
            proof.get("verdict"), proof.get("batches"), proof.get("reason") or trial.get("reason"), ", ".join(failed))
        found[trial["framework"]] = (wrong, worst_meaning(proof))
    return found


def form_of(path, folder):
    """That of the graph which the file becomes; None where it is refused."""
    graph, weights = os.path.join(folder, "net.json"), os.path.join(folder, "net.safetensors")
    done = yardstick("import", path, "--out=" + graph, "--weights=" + weights)
    return graph_form.form_of(graph, weights) if done.returncode == 0 else None


def judge(maker, words, frameworks, proven):
    """(whether it holds, its name, what was found) of each case. `proven`: the forms that were, each to the case's name and the
    frameworks in which it failed."""
    name = " ".join(words)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "net.onnx")
        why = export(maker, words, path)
        if why:
            yield False, "%s is exported" % name, why
            return
        form = form_of(path, folder)
        if form in proven:
            other, failed = proven[form]
            yield not failed, "%s is the graph of %s, under other names" % (name, other), "it failed in " + failed
            return
        found = judge_trained(path, frameworks)
    for framework, (wrong, near) in found.items():
        print("# %s in %s: %s" % (name, framework, near))
        yield not wrong, "%s trains %d proven steps in %s" % (name, STEPS, framework), wrong
    if form:
        proven[form] = name, ", ".join(framework for framework, (wrong, _) in found.items() if wrong)


def main(maker, words):
    frameworks = tap.ready(FRAMEWORKS)
    if not frameworks or (frameworks == ["builtin"] != FRAMEWORKS):
        print(SKIP + "none of %s is installed: yardstick install pytorch" % ", ".join(FRAMEWORKS))
        return 0
    if lacking(maker):
        print(SKIP + "%s are not all in %s: YS_EXPORTS_PYTHON names an interpreter that has them" % (", ".join(PACKAGES[maker]), PYTHON))
        return 0
    proven = {}
    ways = {"torch": exports_known.IDIOMS.get(words[0], exports_known.WAYS) if words else None,
            "sequences": exports_known.SEQUENCE_WAYS.get(words[0]) if words else None}
    if maker in ways:
        cases = [[words[0], way] for way in words[1:] or ways[maker]]
    else:
        cases = [[network] for network in words or OTHERS[maker]]
    return tap.tell(told for case in cases for told in judge(maker, case, frameworks, proven))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
