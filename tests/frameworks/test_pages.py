"""What a page in a real browser measures, by the page that does nothing; prints TAP."""
import json
import os
import subprocess
import sys
import tempfile

import tap

PROGRAM = os.path.join(os.environ["YARDSTICK_BIN"], "yardstick")
RUN = ["run", "--framework=null-web", "--model=lenet", "--data=digits", "--mode=infer", "--threads=1", "--batch=1", "--requests=9000",
       "--repeat=1", "--on-disturbance=mark", "--format=json"]


def cases():
    """(whether it holds, its name, what was found) of each."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([PROGRAM] + RUN + ["--results=" + folder], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    trial = json.loads(done.stdout)["trials"][0] if done.returncode == 0 else None
    yield trial and trial["status"] == "ok", "a page is opened and answers", done.stderr[-2000:]
    metrics = trial["metrics"] if trial else {}
    for name in ("latency_p50_s", "latency_p90_s", "latency_p99_s", "latency_max_s"):
        found = metrics.get(name, {})
        yield (found.get("value", 0) is None and "timed together" in found["reason"],
               "requests below a hundred ticks are timed together: %s is null" % name, str(found))
    for name in ("rate_per_s", "download_code_bytes", "download_model_bytes"):
        found = metrics.get(name, {})
        yield (found.get("value") or 0) > 0, "%s is known" % name, str(found)


def main():
    if not tap.ready(["null-web"]):
        print("1..0 # SKIP there is no browser: install the package chromium")
        return 0
    return tap.tell(cases())


if __name__ == "__main__":
    sys.exit(main())
