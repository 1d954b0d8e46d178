"""Runs attack_libraries.py in the environment of the tool attack-libraries (frameworks/attack-libraries.recipe), which it installs
where it is not there. Skipped, with the reason, where it cannot be had."""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "python")]
import tap
import with_packages

TOOL = "attack-libraries"


def version():
    """The newest of the recipe."""
    with open(os.path.join(HERE, "..", "..", "frameworks", TOOL + ".recipe")) as recipe:
        return next(line.split("=")[1].split(",")[0].strip() for line in recipe if line.startswith("versions"))


def main():
    if "pytorch" not in os.environ.get("FRAMEWORKS", "pytorch").split():
        print("1..0 # SKIP pytorch, whose gradients are taken, was not asked for")
        return 0
    done = subprocess.run([tap.PROGRAM, "install", TOOL], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        print("1..0 # SKIP %s cannot be installed: %s" % (TOOL, (done.stderr.strip().splitlines() or ["no reason"])[-1]))
        return 0
    python = os.path.join(with_packages.cache(), "envs", "%s@%s" % (TOOL, version()), "env", "bin", "python")
    os.environ.pop("PYTHONPATH", None)
    os.execv(python, [python, "-B", os.path.join(HERE, "attack_libraries.py"), *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
