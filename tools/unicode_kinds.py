#!/usr/bin/env python3
"""Writes src/data/sets/unicode.inc: which characters are letters and which numbers, by the Unicode of this Python.

    tools/unicode_kinds.py > src/data/sets/unicode.inc
"""
import sys
import unicodedata


def ranges(kind):
    """(first, last) of each stretch of characters whose category begins with `kind`."""
    first = None
    for code in range(sys.maxunicode + 2):
        belongs = code <= sys.maxunicode and unicodedata.category(chr(code))[0] == kind
        if belongs and first is None:
            first = code
        if not belongs and first is not None:
            yield first, code - 1
            first = None


def main():
    print("/* Made by tools/unicode_kinds.py: Unicode %s. First and last character of each stretch. */" % unicodedata.unidata_version)
    for name, kind in (("letters", "L"), ("numbers", "N")):
        print("static const uint32_t %s[][2] = {" % name)
        line = "   "
        for first, last in ranges(kind):
            entry = " {0x%x, 0x%x}," % (first, last)
            if len(line) + len(entry) > 120:
                print(line)
                line = "   "
            line += entry
        print(line + "\n};")


if __name__ == "__main__":
    main()
