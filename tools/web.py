#!/usr/bin/env python3
"""Makes the built-in engine as a WebAssembly module, adapters/web/builtin-engine.{js,wasm}, by Debian's emscripten.

    tools/web.py BUILD

It is built below BUILD, where the row `wasm` of tools/matrix.py builds the engine's tests. Prints what the two files take, compressed as
a server would send them. What is as it was is not written again.
"""
import contextlib
import filecmp
import gzip
import os
import shutil
import sys

import matrix

MODULE = "builtin-engine"
FOLDER = os.path.join(matrix.ROOT, "adapters", "web")
LIMIT_BYTES = 300_000  # of both, compressed: what a page would fetch


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    os.environ.setdefault("NODE_PATH", "/usr/share/nodejs")  # where the compiler's own scripts lie, whichever node there is
    try:
        with contextlib.ExitStack() as made:
            place = matrix.on_wasm(os.path.realpath(sys.argv[1]), made, "src/" + MODULE + ".js")
    except (matrix.Skip, matrix.Broken) as why:
        sys.exit("web: %s" % why)
    compressed = 0
    for ending in (".js", ".wasm"):
        built, kept = os.path.join(place.build, "src", MODULE + ending), os.path.join(FOLDER, MODULE + ending)
        with open(built, "rb") as file:
            compressed += len(gzip.compress(file.read()))
        if not os.path.exists(kept) or not filecmp.cmp(built, kept, shallow=False):
            shutil.copyfile(built, kept)
    print("web: %s.js and .wasm take %d kB compressed" % (os.path.relpath(os.path.join(FOLDER, MODULE)), compressed // 1000))
    if compressed > LIMIT_BYTES:
        sys.exit("web: that is more than %d kB" % (LIMIT_BYTES // 1000))


if __name__ == "__main__":
    main()
