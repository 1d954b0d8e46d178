"""What `tune --search=tpe` and Optuna say to each other in a search over digits with the built-in engine; prints TAP.

A recipe of the same name beside whose file lies a program that notes each question and hands it to adapters/optuna_ask.py."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import tap

ROOT = os.environ["YS_SOURCE_ROOT"]
PROGRAM = os.path.join(os.environ["YARDSTICK_BIN"], "yardstick")
NOTES = """import json, os, runpy, signal, sys
with open(os.environ["ASKED"], "a+") as file:
    file.write(json.dumps(sys.argv[1:]) + chr(10))
    file.seek(0)
    asked = len(file.readlines())
if asked == int(os.environ.get("DIES_AT", 0)):
    os.kill(os.getpid(), signal.SIGKILL)
runpy.run_path(%r, run_name="__main__")
""" % os.path.join(ROOT, "adapters", "optuna_ask.py")
# Twelve points, of which those of adam with a momentum are refused.
KEYS = [("lr", ["0.01", "0.03", "0.1"]), ("momentum", ["0", "0.9"]), ("optimizer", ["sgd", "adam"])]
REFUSED = [{"lr": lr, "momentum": "0.9", "optimizer": "adam"} for lr in KEYS[0][1]]
STARTUP = 10  # points by lot before the estimator says which: n_startup_trials of adapters/optuna_ask.py
LIMIT = 40
STUDY = """version = 1
name = t
audit = off
[a]
framework = builtin
model = mlp
data = digits
batch = 16
threads = 1
block = 4
steps = %d
eval_every = 8
until = accuracy >= 40 %%
""" % LIMIT


def place_of(values):
    return ",".join(str(texts.index(values[key])) for key, texts in KEYS)


def read(settings):
    return dict(word.split("=") for word in settings.split())


class Search:
    """One search, in a folder of its own: what it printed, and what Optuna was asked."""

    def __init__(self, points, **env):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(os.path.join(ROOT, "frameworks", "optuna"), os.path.join(folder, "optuna"))
            shutil.copy(os.path.join(ROOT, "frameworks", "optuna.recipe"), folder)
            for name, text in (("optuna_ask.py", NOTES), ("t.ys", STUDY)):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
            asked = os.path.join(folder, "asked")
            done = subprocess.run(
                [PROGRAM, "tune", "t.ys", "--for=lowest steps_to_target", "--budget=%d steps" % (3 * LIMIT * points), "--search=tpe",
                 "--over=" + " ".join("%s={%s}" % (key, ", ".join(texts)) for key, texts in KEYS), "--recipes=" + folder, "--format=json"],
                cwd=folder, env=dict(os.environ, ASKED=asked, **env), stdin=subprocess.DEVNULL, capture_output=True, text=True)
            self.code, self.err = done.returncode, done.stderr
            self.document = json.loads(done.stdout) if done.stdout.startswith("{") else None
            self.asked = []
            if os.path.exists(asked):
                with open(asked, encoding="utf-8") as file:
                    self.asked = [json.loads(line) for line in file]

    def points(self):
        return self.document["trials"][0]["points"] if self.document else []

    def told(self):
        """Of each question but the first what is new in it: a word, as both lists only grow."""
        return [sorted(set(later[2:]) - set(earlier[2:])) for earlier, later in zip(self.asked, self.asked[1:])]


def word_of(point):
    worth = "refused" if point["out"] == "unsupported" else "inf" if point["value"] is None else "%g" % point["value"]
    return "%s=%s" % (place_of(read(point["settings"])), worth)


def cases():
    """(whether it holds, its name, what was found) of each."""
    search = Search(11)
    points, words = search.points(), [word_of(point) for point in search.points()]
    yield search.code == 0 and search.document["search"] == "tpe", "a search ends with an answer", "exit %s: %s" % (search.code, search.err[-800:])
    yield len(points) > STARTUP, "it goes on behind the points by lot", "%d points" % len(points)
    yield (len({point["settings"] for point in points}) == len(points) == len(search.asked),
           "Optuna is asked for each point once, and none is tried twice", "%d points, %d questions" % (len(points), len(search.asked)))
    yield search.told() == [[word] for word in words[:-1]], "each point is told once it is judged", "%s\n%s" % (search.told(), words)
    refused = [point for point in points if read(point["settings"]) in REFUSED]
    yield (refused and all(point["out"] == "unsupported" and point["steps"] == 0 for point in refused) and
           all(word.endswith("=refused") == (point in refused) for word, point in zip(words, points)),
           "those that are refused are told as such, and cost no step", json.dumps(refused))
    fewer = Search(6)
    count = len(fewer.points())
    yield (0 < count < len(points) and fewer.points() == points[:count] and fewer.asked == search.asked[:count],
           "of the same seed it tries the same points", "%s\n%s" % (fewer.asked, search.asked[:count]))
    died = Search(11, DIES_AT="5")
    yield died.code == 7 and "Optuna was asked for a point and ended with exit code 137" in died.err, \
        "where Optuna dies the message says so", "exit %s: %s" % (died.code, died.err[-800:])
    yield died.points() == points[:4] and died.document["trials"][0]["answer"] == "unconfirmed", \
        "what was judged until then is told", json.dumps(died.document)


def main():
    environments = os.path.join(os.environ.get("YARDSTICK_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "yardstick"), "envs")
    if not os.path.exists(os.path.join(environments, "optuna@5.0.0", "installed.json")):
        print("1..0 # SKIP Optuna is not installed: yardstick install optuna")
        return 0
    return tap.tell(cases())


if __name__ == "__main__":
    sys.exit(main())
