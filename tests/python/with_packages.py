"""Runs a module of unittest cases, as tap_unittest.py does, with packages that the distribution may not have:

    with_packages.py MODULE PACKAGE==VERSION ...

They are installed with pip into an environment of their own below yardstick's cache folder, once; afterwards no network is
needed. Where they cannot be had the module is skipped, with the reason. An environment is as its packages are named: with
other versions it is another one."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries=1", "--timeout=30", "--only-binary=:all:")


def cache():
    below = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.environ.get("YARDSTICK_CACHE") or os.path.join(below, "yardstick")


def make(folder, packages):
    """Installs under another name first: what is there under its own is whole. Why it cannot be had; None."""
    part = folder + ".part"
    shutil.rmtree(part, ignore_errors=True)
    steps = ([sys.executable, "-m", "venv", part], [os.path.join(part, "bin", "python"), *PIP, *packages])
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode:
            shutil.rmtree(part, ignore_errors=True)
            return ((done.stderr or done.stdout).strip().splitlines() or ["no reason"])[-1]
    os.rename(part, folder)
    return None


def main():
    module, packages = sys.argv[1], sys.argv[2:]
    known = "\n".join([sys.version, *packages])
    folder = os.path.join(cache(), "test-environments", hashlib.sha256(known.encode()).hexdigest()[:16])
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    with open(folder + ".lock", "w") as lock:  # test programs run side by side
        fcntl.flock(lock, fcntl.LOCK_EX)
        reason = None if os.path.exists(folder) else make(folder, packages)
    if reason:
        print("1..0 # SKIP %s cannot be installed: %s" % (" ".join(packages), reason))
        return 0
    python = os.path.join(folder, "bin", "python")
    os.execv(python, [python, "-B", os.path.join(HERE, "tap_unittest.py"), module])


if __name__ == "__main__":
    sys.exit(main())
