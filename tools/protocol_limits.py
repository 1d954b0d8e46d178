#!/usr/bin/env python3
"""Writes the numbers of the adapter protocol, which stand in tools/protocol_limits.txt, for C, Python and Lua.

    tools/protocol_limits.py [--check]

Each file is written only where it would change; `make` does so before it builds. --check: writes nothing, names what would
change, and ends with 1 if there is any.
"""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE = "tools/protocol_limits.txt"
SAID = "Made by tools/protocol_limits.py from %s: change that." % SOURCE


def read(text):
    """[(name, number, what it is)]"""
    limits = []
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            name, number, what = line.split(None, 2)
            limits.append((name, int(number), what))
    return limits


def for_c(limits):
    width = max(len(name) for name, _, _ in limits)
    digits = max(len(str(number)) for _, number, _ in limits)
    lines = ["#define YS_PROTOCOL_%s %d%s /* %s */" % (name.ljust(width), number, " " * (digits - len(str(number))), what) for name, number, what in limits]
    return "/* Numbers of the adapter protocol (docs/protocol.md) that both sides, and the job file, keep to.\n * %s */\n" \
           "#ifndef YARDSTICK_PROTOCOL_H\n#define YARDSTICK_PROTOCOL_H\n\n%s\n\n#endif\n" % (SAID, "\n".join(lines))


def for_python(limits):
    return '"""Numbers of the adapter protocol. %s"""\n' % SAID + "".join("%s = %d  # %s\n" % limit for limit in limits)


def for_lua(limits):
    return "-- Numbers of the adapter protocol. %s\nreturn {\n" % SAID + "".join("   %s = %d, -- %s\n" % limit for limit in limits) + "}\n"


FILES = {"include/yardstick/protocol.h": for_c, "adapters/common_limits.py": for_python, "adapters/common_limits.lua": for_lua}


def main(arguments):
    if arguments not in ([], ["--check"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    with open(os.path.join(ROOT, SOURCE), encoding="utf-8") as file:
        limits = read(file.read())
    wrong = 0
    for name, write in FILES.items():
        path = os.path.join(ROOT, name)
        old = None
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                old = file.read()
        if write(limits) == old:
            continue
        if arguments:
            print("%s is not what %s says: run tools/protocol_limits.py" % (name, SOURCE))
            wrong = 1
            continue
        with open(path, "w", encoding="utf-8") as file:
            file.write(write(limits))
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
