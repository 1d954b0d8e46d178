#!/usr/bin/env python3
"""Makes the built-in engine for another processor: the program yardstick-builtin-PROCESSOR beside the Makefile, linked statically, so
that an emulator needs no libraries of that processor, and yardstick-instructions.so, by which the emulator counts.

    tools/cross.py BUILD aarch64

It is built below BUILD/aarch64, where the row of that name of tools/matrix.py builds the engine's tests, with the libraries that it unpacks
there.
"""
import filecmp
import os
import shutil
import sys

import matrix

PROGRAM = "yardstick-builtin"
PLUGIN = "yardstick-instructions.so"
PACKAGES = ("gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross")
SETUP = ("-Donednn=disabled", "--prefer-static", "-Dc_link_args=-static")


def main():
    if len(sys.argv) != 3 or sys.argv[2] != matrix.AARCH64:
        sys.exit(__doc__)
    folder = os.path.join(os.path.realpath(sys.argv[1]), matrix.AARCH64)
    root, file_name = os.path.join(folder, "root"), os.path.join(folder, "cross.ini")
    place = matrix.plain(os.path.join(folder, "static"))
    os.makedirs(folder, exist_ok=True)
    try:
        place.output(["tools/packages.sh", *PACKAGES])
        matrix.fetch_libraries(place, root)
        with open(file_name, "w", encoding="utf-8") as file:
            file.write(matrix.CROSS % {"root": root, "libraries": matrix.foreign_libraries(root)})
        place.output(["python3", "tools/build.py", place.build, *("--setup=" + word for word in ("--cross-file=" + file_name, *SETUP)),
                      "src/" + PROGRAM])
        place.output(["cc", *"-D_GNU_SOURCE -O2 -fPIC -shared -o".split(), os.path.join(folder, PLUGIN), "tools/count_instructions.c"])
    except (matrix.Skip, matrix.Broken) as why:
        sys.exit("cross: %s" % why)
    keep(os.path.join(folder, PLUGIN), PLUGIN)
    keep(os.path.join(place.build, "src", PROGRAM), "%s-%s" % (PROGRAM, matrix.AARCH64))


def keep(built, name):
    """Puts it beside the Makefile, unless it is there."""
    kept = os.path.join(matrix.ROOT, name)
    if not os.path.exists(kept) or not filecmp.cmp(built, kept, shallow=False):
        shutil.copy(built, kept)
    print("cross: %s" % name)


if __name__ == "__main__":
    main()
