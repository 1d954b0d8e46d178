"""Runs attack_libraries.py by the Python of PyTorch's environment, with libraries of attacks that are installed beside it, once,
into a folder of their own below yardstick's cache. Skipped, with the reason, where either cannot be had."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "python")]
import tap
import with_packages

PACKAGES = ["foolbox==3.3.4", "eagerpy==0.30.0", "torchattacks==3.5.1", "scipy==1.17.1", "GitPython==3.2.1", "gitdb==4.0.12",
            "smmap==5.0.3", "requests==2.34.2", "tqdm==4.70.1", "urllib3==2.8.0", "certifi==2026.10.19.post1", "idna==3.20",
            "charset_normalizer==3.5.3"]


def install(python, folder):
    """Why the packages cannot be had; None."""
    part = folder + ".part"
    shutil.rmtree(part, ignore_errors=True)
    done = subprocess.run([python, *with_packages.PIP, "--no-deps", "--target", part, *PACKAGES], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)
    if done.returncode:
        shutil.rmtree(part, ignore_errors=True)
        return ((done.stderr or done.stdout).strip().splitlines() or ["no reason"])[-1]
    os.rename(part, folder)
    return None


def main():
    if "pytorch" not in tap.ready(os.environ.get("FRAMEWORKS", "pytorch").split()):
        print("1..0 # SKIP pytorch is not installed, or was not asked for")
        return 0
    environment = next(entry for entry in tap.listed() if entry["spec"] == "pytorch")
    python = os.path.join(with_packages.cache(), "envs", "pytorch@" + environment["version"], "env", "bin", "python")
    folder = os.path.join(with_packages.cache(), "test-environments", hashlib.sha256("\n".join(PACKAGES).encode()).hexdigest()[:16])
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    with open(folder + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        reason = None if os.path.exists(folder) else install(sys.executable, folder)
    if reason:
        print("1..0 # SKIP libraries of attacks cannot be installed: " + reason)
        return 0
    os.environ["PYTHONPATH"] = folder
    os.execv(python, [python, "-B", os.path.join(HERE, "attack_libraries.py"), sys.argv[1]])


if __name__ == "__main__":
    sys.exit(main())
