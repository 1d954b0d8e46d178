#!/usr/bin/env python3
"""Which of the slower checks a change asks for, by tools/changed.txt.

    tools/changed.py [--under FOLDER] [BASE]

Prints the groups that what changed since the commit BASE touches, one a line, and on stderr the first file that asks for each. BASE
is otherwise where HEAD left origin/main; where that is HEAD itself, as in a clone of main, the newest commit that is four hours older
than HEAD: what landed before has been checked. All groups, where there is no such commit (a shallow clone has none). With --under it prints the files of that folder that changed.
"""
import argparse
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LANDED_S = 4 * 3600


def git(*words):
    """The lines that it prints; None where it fails."""
    done = subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True)
    return done.stdout.splitlines() if done.returncode == 0 else None


def read_table():
    """{prefix of a path: its groups}"""
    with open(os.path.join(ROOT, "tools", "changed.txt"), encoding="utf-8") as file:
        rows = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return {words[0]: [word for word in words[1:] if word != "-"] for words in rows}


def groups_of(path, table):
    """Those of the longest prefix; all of the table where none fits."""
    known = [prefix for prefix in table if path.startswith(prefix)]
    return table[max(known, key=len)] if known else sorted({group for groups in table.values() for group in groups})


def find_base():
    head = git("rev-parse", "HEAD")
    left = git("merge-base", "HEAD", "origin/main")
    if left and left != head:
        return left[0]
    at = git("log", "-1", "--format=%ct")
    before = git("rev-list", "-1", "--before=%d" % (int(at[0]) - LANDED_S), "HEAD") if at else None
    return before[0] if before else None


def all_files():
    """Of a copy without git too."""
    tracked = git("ls-files")
    if tracked is not None:
        return tracked
    return [os.path.relpath(os.path.join(folder, name), ROOT) for folder, _, names in os.walk(ROOT) for name in names]


def changed_since(base):
    """What is not committed counts too; both names of what was renamed. None: nobody knows."""
    changed = git("diff", "--name-only", "--no-renames", base, "--") if base else None
    return None if changed is None else changed + git("ls-files", "--others", "--exclude-standard")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--under", metavar="FOLDER")
    parser.add_argument("base", nargs="?", metavar="BASE")
    arguments = parser.parse_args()
    base = arguments.base or find_base()
    changed = changed_since(base)
    if arguments.under:
        print("\n".join(path for path in (all_files() if changed is None else changed) if path.startswith(arguments.under)))
        return
    table, asks = read_table(), {}
    for path in ["all that there is"] if changed is None else changed:
        for group in groups_of(path, table):
            asks.setdefault(group, path)
    print("since %s: %s" % (base[:12] if base else "no commit that is known", ", ".join("%s (%s)" % item for item in sorted(asks.items())) or "none"),
          file=sys.stderr)
    print("\n".join(sorted(asks)))


if __name__ == "__main__":
    main()
