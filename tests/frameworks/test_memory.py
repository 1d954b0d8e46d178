"""Four times more rows than a run may hold, by the mapped file, the ring and the own loader of each framework that is installed:
each goes through them or ends as oom_host, and the kernel keeps the limit. Prints TAP; FRAMEWORKS names those to try."""

import json
import os
import subprocess
import sys
import tempfile

import tap

ROOT = os.environ["YS_SOURCE_ROOT"]
BIN = os.environ["YARDSTICK_BIN"]
PROGRAM = os.path.join(BIN, "yardstick")
FRAMEWORKS = os.environ.get("FRAMEWORKS", "builtin pytorch tensorflow jax mxnet paddle").split()
LIMIT_MIB, ROW_BYTES, TIMES = 576, 3 * 224 * 224, 45
KEEPS_ALL = (("tensorflow", "own"),)  # who has every row in memory
HAS_OWN = ("builtin", "pytorch", "tensorflow", "mxnet", "paddle")


def drawn(folder):
    """A list of 400 small images, each many times."""
    subprocess.run([os.path.join(BIN, "yardstick-feeder"), "draw", "--out", "small", "--size", "3x32x32", "--count", "400"],
                   cwd=folder, check=True, stdout=subprocess.DEVNULL)
    images = []
    for place, _, names in os.walk(os.path.join(folder, "small", "train")):
        images += [(os.path.relpath(os.path.join(place, name), folder), os.path.basename(place)) for name in names]
    path = os.path.join(folder, "all.csv")
    with open(path, "w") as file:
        file.writelines("%s,%s\n" % image for image in sorted(images) * TIMES)
    return path


def cases(document):
    """(whether it holds, its name, what was found) of each."""
    rows = document["work"][0]["train_count"]
    yield rows * ROW_BYTES >= 4 * LIMIT_MIB << 20, "there are four times as many bytes of rows", "%d rows" % rows
    for trial in document["trials"]:
        framework, kind = trial["keys"]["framework"], trial["keys"]["input"]
        expected = "oom_host" if (framework, kind) in KEEPS_ALL else "ok" if kind != "own" or framework in HAS_OWN else "unsupported"
        metrics = {name: value["value"] for name, value in trial["metrics"].items() if isinstance(value, dict) and "value" in value}
        held = metrics.get("memory_peak_bytes") or 0
        yield (trial["status"] == expected and held <= LIMIT_MIB << 20,
               "%s, input %s: %s, %.0f MB held, %s s waited" % (framework, kind, trial["status"], held / 1e6, metrics.get("input_s")),
               "expected %s: %s" % (expected, trial["reason"]))


def main():
    doctor = json.loads(subprocess.run([PROGRAM, "doctor", "--format=json"], capture_output=True, text=True, check=True).stdout)
    lines = doctor["lines"] if isinstance(doctor, dict) else doctor
    if not any("limits are kept by the kernel" in line["found"] for line in lines):
        print("1..0 # SKIP no control group keeps memory_limit here: yardstick doctor, memory of a run")
        return 0
    ready = tap.ready(FRAMEWORKS)
    with tempfile.TemporaryDirectory() as folder:
        found = subprocess.run(
            [PROGRAM, "run", "--results=" + folder, "--framework=" + ",".join(ready), "--input=file,ring,own", "--batch=64", "--lr=0.01",
             "--model=" + os.path.join(ROOT, "studies", "loading-flat.json"), "--data=" + drawn(folder), "--steps=40", "--block=2", "--repeat=1",
             "--audit=off", "--memory-limit=%dMiB" % LIMIT_MIB, "--format=json"], capture_output=True, text=True)
    try:
        document = json.loads(found.stdout)
    except ValueError:
        print("1..0\nBail out! " + found.stderr.replace("\n", " "))
        return 1
    return tap.tell(cases(document))


if __name__ == "__main__":
    sys.exit(main())
