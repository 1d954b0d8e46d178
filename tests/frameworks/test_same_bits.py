"""`ref` in single precision as WebAssembly, under Node: the logits of engine/same_bits bit for bit, in a build below that of the tests.
Skipped, with the reason, where there is no emcc; prints TAP."""

import contextlib
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["YS_SOURCE_ROOT"], "tools"))
import matrix  # noqa: E402

PROGRAM = "tests/test_engine_same_bits.js"


def main():
    if not shutil.which("emcc"):
        print("1..0 # SKIP there is no compiler for WebAssembly: apt-get install emscripten")
        return 0
    try:
        with contextlib.ExitStack() as made:
            place = matrix.on_wasm(os.environ["YS_BUILD_ROOT"], made, PROGRAM)
            return subprocess.run([*matrix.NODE, os.path.join(place.build, PROGRAM)], stdin=subprocess.DEVNULL, check=False).returncode
    except matrix.Skip as why:
        print("1..0 # SKIP %s" % why)
        return 0


if __name__ == "__main__":
    sys.exit(main())
