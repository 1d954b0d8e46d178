#!/usr/bin/env python3
"""Builds by meson and ninja, and says meanwhile on stderr how far it is; what the compiler said is printed, whole, where it fails.

    tools/build.py BUILD [--setup OPTION] ... [TARGET ...]

BUILD is set up first where it is none yet, with the OPTIONs of `meson setup`, which a build that stands takes too; and anew
where it was set up for another folder than this one: a checkout that was copied or moved. Without TARGETs everything is built.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STATUS = re.compile(r"^\[(\d+)/(\d+)\] ")
MESSAGE = re.compile(r"^Message: (.*)", re.MULTILINE)  # what meson.build says itself
SAID_EVERY_S = 5  # where stderr is no terminal


def say(text):
    print("build: " + text, file=sys.stderr, flush=True)


def set_up_for(build):
    """The folders of sources and of the build that it was set up for; None: for none."""
    if not os.path.exists(os.path.join(build, "build.ninja")):
        return None
    try:
        with open(os.path.join(build, "meson-info", "meson-info.json"), encoding="utf-8") as file:
            folders = json.load(file)["directories"]
        return folders["source"], folders["build"]
    except (OSError, ValueError, KeyError):
        return "what is not known", build


def set_up(build, options):
    known, here = set_up_for(build), (os.path.realpath(ROOT), os.path.realpath(build))
    is_here = known and tuple(map(os.path.realpath, known)) == here
    if is_here and not options:
        return 0
    if is_here:
        options = ["--reconfigure"] + options  # a build that stands takes options in no other way
    elif known:
        say("%s was set up for %s: all of it is built anew" % (build, known[0]))
        options = ["--wipe"]  # with the options that it had
    else:
        say("setting up " + build)
    done = subprocess.run(["meson", "setup", build, ROOT] + options, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode:
        print(done.stdout, end="", file=sys.stderr)
    for told in MESSAGE.findall(done.stdout):
        say(told)
    return done.returncode


def mend_times():
    """What describes the build and bears a time to come would be newer than what was made from it, however often that is made."""
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if not name.startswith((".", "build"))]
        path = os.path.join(folder, "meson.build")
        if "meson.build" in names and os.path.getmtime(path) > time.time():
            say("%s has a time to come: it gets that of now" % os.path.relpath(path, ROOT))
            os.utime(path)


class Progress:
    def __init__(self):
        self.begun = self.said = time.monotonic()
        self.shown = False

    def show(self, step, steps):
        now = time.monotonic()
        left_s = (now - self.begun) * (steps - step) / step if step else None
        text = "%d of %d steps" % (step, steps)
        if left_s is not None and now - self.begun > SAID_EVERY_S:
            text += ", about %s left" % ("%d min" % round(left_s / 60) if left_s >= 90 else "%d s" % left_s)
        if sys.stderr.isatty():
            print("\r\033[Kbuild: " + text, end="", file=sys.stderr, flush=True)
            self.shown = True
        elif now - self.said >= SAID_EVERY_S:
            self.said = now
            say(text)

    def end(self):
        if self.shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def build(folder, targets):
    said, progress = [], Progress()
    ninja = subprocess.Popen(["ninja", "-C", folder, *targets], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                             env=dict(os.environ, NINJA_STATUS="[%f/%t] "))
    for line in ninja.stdout:
        status = STATUS.match(line)
        if status:
            progress.show(*map(int, status.groups()))
        else:
            said.append(line)
    code = ninja.wait()
    progress.end()
    if code:
        print("".join(said), end="", file=sys.stderr)
    return code


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--setup", action="append", default=[], metavar="OPTION")
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    arguments = parser.parse_intermixed_args()
    mend_times()
    try:
        return set_up(arguments.build, arguments.setup) or build(arguments.build, arguments.targets)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
