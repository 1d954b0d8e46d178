"""As tap_unittest.py, in the environment that yardstick made for a framework, so that modules find it there:
tap_framework.py MODULE FRAMEWORK[@VERSION]. Where it is not installed this interpreter runs them, and they skip what it lacks."""

import glob
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def find_python(framework):
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    cache = os.environ.get("YARDSTICK_CACHE") or os.path.join(home, "yardstick")
    folder = framework if "@" in framework else framework + "@*"
    for mark in sorted(glob.glob(os.path.join(cache, "envs", folder, "installed.json")), reverse=True):
        with open(mark, encoding="utf-8") as file:
            python = json.load(file).get("interpreter")  # of one that the user built
        python = python or os.path.join(os.path.dirname(mark), "env", "bin", "python")
        if os.access(python, os.X_OK):
            return python
    return sys.executable


if __name__ == "__main__":
    interpreter = find_python(sys.argv[2])
    os.environ["YARDSTICK_TEST_FRAMEWORK"] = sys.argv[2]
    if sys.argv[2] == "torch7":  # whose language is another: it is started by who tests it
        if interpreter == sys.executable:
            print("1..0 # SKIP Torch7 is not installed: docs/frameworks/torch7.md says how to build it")
            sys.exit(0)
        os.environ["YARDSTICK_TEST_INTERPRETER"], interpreter = interpreter, sys.executable
    os.execv(interpreter, [interpreter, "-B", os.path.join(HERE, "tap_unittest.py"), sys.argv[1]])
