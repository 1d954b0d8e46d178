"""What the tests of this folder share: which frameworks are installed, and TAP, each case as soon as it is there."""

import json
import os
import subprocess

PROGRAM = os.path.join(os.environ["YARDSTICK_BIN"], "yardstick")


def listed():
    """What `list frameworks` says of each."""
    found = subprocess.run([PROGRAM, "list", "frameworks", "--format=json"], capture_output=True, text=True, check=True)
    return json.loads(found.stdout)["frameworks"]


def ready(names):
    """Those of `names` that are installed, in their order."""
    state = {entry["spec"]: entry["state"] for entry in listed()}
    return [name for name in names if state.get(name) == "ready"]


def tell(cases, always=False):
    """Prints (holds, name, what was found) of every case, what was found where it does not hold or `always`. The exit code."""
    number, all_hold = 0, True
    for number, (holds, name, found) in enumerate(cases, 1):
        all_hold &= bool(holds)
        if found and (always or not holds):
            print("# " + found.replace("\n", "\n# "))
        print("%s %d - %s" % ("ok" if holds else "not ok", number, name), flush=True)
    print("1..%d" % number)
    return 0 if all_hold else 1
