"""An adapter of each framework that is installed does all that it needs while it is kept from writing elsewhere, and what
it may not write is refused. Prints TAP; FRAMEWORKS names those to try."""

import errno
import glob
import json
import os
import subprocess
import sys
import tempfile

import tap

ROOT = os.environ["YS_SOURCE_ROOT"]
PROGRAM = os.path.join(os.environ["YARDSTICK_BIN"], "yardstick")
CACHE = os.environ.get("YARDSTICK_CACHE") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "yardstick")
# Beside its mode without options, what makes it compile, cache and start processes of its own.
MODES = {"pytorch": ((), ("--opt.pytorch.compile=default",)), "jax": ((), ("--threads=2",)), "tensorflow": ((), ("--opt.tensorflow.xla=on",))}


class Unsupported(Exception):
    """This version does not know the options, by its adapter's own word."""


def judge(framework, flags, modes, folder):
    """What is the matter; None: nothing."""
    guarded = [os.path.join(place, "guarded-probe") for place in (CACHE, os.path.join(CACHE, "work"), folder, os.path.join(ROOT, "adapters"))]
    work = ["--steps=12", "--block=4"] if "train" in modes else ["--mode=infer", "--requests=20"]
    found = subprocess.run(
        [PROGRAM, "run", "--results=" + folder, "--framework=" + framework, "--model=mlp", "--data=digits", "--batch=16", *work,
         "--repeat=1", "--audit=off", "--keep_log=yes", "--env.GUARDED=" + ":".join(guarded),
         "--env.PYTHONPATH=" + os.path.join(ROOT, "tests", "frameworks", "guarded"), *flags, "--format=json"],
        capture_output=True, text=True)
    left = [path for path in guarded if os.path.exists(path)]
    for path in left:
        os.unlink(path)
    try:
        trial = json.loads(found.stdout)["trials"][0]
    except ValueError:
        return found.stderr
    if flags and trial["status"] == "unsupported":
        raise Unsupported(trial["reason"])
    printed = ""
    for path in sorted(glob.glob(os.path.join(folder, "*", "runs", "*", "adapter.log")))[-1:]:
        with open(path, errors="replace") as file:
            printed += file.read()
    refused = [line.split()[2] for line in printed.splitlines() if line.startswith("guarded: refused")
               and int(line.split()[3]) in (errno.EACCES, errno.EPERM)]
    wrote = printed.count("guarded: wrote")
    if left or sorted(refused) != sorted(guarded) or wrote != 3:
        return "it wrote %s; refused were %s, and it could write %d of its 3 folders" % (left, refused, wrote)
    if trial["status"] != "ok" or not trial["observed"]["guarded"]:
        return "%s: %s %s" % (trial["status"], trial["reason"], trial["observed"])
    return None


def cases(ready):
    """(whether it holds, its name, what was found) of each."""
    for entry in ready:
        for flags in MODES.get(entry["name"], ((),)):
            why = lacks = None
            with tempfile.TemporaryDirectory() as folder:
                try:
                    why = judge(entry["spec"], flags, entry["modes"], folder)
                except Unsupported as unsupported:
                    lacks = str(unsupported).replace("\n", " ")
            yield why is None, " ".join((entry["spec"],) + flags) + (" # SKIP " + lacks if lacks else ""), why


def main():
    doctor = json.loads(subprocess.run([PROGRAM, "doctor", "--format=json"], capture_output=True, text=True, check=True).stdout)
    lines = doctor["lines"] if isinstance(doctor, dict) else doctor
    if not any("Landlock" in line["found"] and line["state"] == "good" for line in lines):
        print("1..0 # SKIP this kernel has no Landlock")
        return 0
    wanted = os.environ.get("FRAMEWORKS", "").split()
    ready = [entry for entry in tap.listed() if entry["state"] == "ready" and entry["kind"] in ("packages", "shared")
             and (not wanted or entry["name"] in wanted or entry["spec"] in wanted)]
    if not ready:
        print("1..0 # SKIP no Python framework is installed: yardstick install pytorch")
        return 0
    return tap.tell(cases(ready))


if __name__ == "__main__":
    sys.exit(main())
