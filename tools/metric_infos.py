#!/usr/bin/env python3
"""The table of metrics for the programs, made from metrics/*.metric when they are built.

    tools/metric_infos.py FOLDER OUT.c OUT.d

A file NAME.metric has lines `key: text`; a line that begins with a space goes on with the text before it. What each key
means is in CONTRIBUTING.md. A file that is not as it should be fails the build, with its name. OUT.d says what OUT.c was made from.
"""
import json
import os
import re
import sys

NEEDED = ["name", "place", "title", "ratio", "unit", "kind", "better", "method", "scope", "formula", "source", "limits"]
OPTIONAL = ["head", "part", "part_head", "compared", "column"]
WORDS = {  # keys whose text is one of some words
    "unit": ["s", "1/s", "B", "1"],
    "kind": ["span", "rate", "bytes", "share", "count", "number"],
    "better": ["lower", "higher", "neither"],
    "method": ["exact", "counter", "sampled", "estimated", "derived"],
    "mode": ["train", "infer", "attack", "size"],
    "asked": ["yes"],
    "work": ["needed"],
    "steady": ["yes"],
}
MADE_FOR = {"span": "s", "rate": "1/s", "bytes": "B"}  # kinds that go with one unit


ORDERED = {  # keys that begin with a place of their own in a list, and what may stand behind it
    "compared": r"\d+ (?:nothing|processor|(?:work|run) \d+)",
    "column": r"\d+(?: known)?",
}


class Wrong(Exception):
    pass


def read(path):
    """{key: text} of one file; Wrong says what is not as it should be."""
    found, key = {}, None
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith(" ") and key:
                found[key] += " " + line.strip()
                continue
            key, colon, text = line.partition(":")
            if not colon or key not in NEEDED + OPTIONAL + list(WORDS) or key in found:
                raise Wrong("`%s` is not `key: text`, or its key is unknown or comes twice" % line)
            found[key] = text.strip()
    for key in NEEDED:
        if not found.get(key):
            raise Wrong("it lacks `%s`" % key)
    for key, words in WORDS.items():
        if key in found and found[key] not in words:
            raise Wrong("%s is %s: it must be one of %s" % (key, found[key], ", ".join(words)))
    for key, form in ORDERED.items():
        if key in found and not re.fullmatch(form, found[key]):
            raise Wrong("%s is %s: CONTRIBUTING.md says what it must be" % (key, found[key]))
    if found["name"] + ".metric" != os.path.basename(path):
        raise Wrong("its name is %s" % found["name"])
    if not found["place"].isdigit():
        raise Wrong("place is %s: it must be a number" % found["place"])
    if found["unit"] != MADE_FOR.get(found["kind"], "1"):
        raise Wrong("what is of kind %s has not the unit %s" % (found["kind"], found["unit"]))
    return found


def text_of(text):
    """As a string of C."""
    return json.dumps(text, ensure_ascii=False) if text else "NULL"


def listed(metrics, key):
    """Those that have the key, in the order that it says."""
    found = sorted((metric for metric in metrics if key in metric), key=lambda metric: int(metric[key].split()[0]))
    for one, other in zip(found, found[1:]):
        if one[key].split()[0] == other[key].split()[0]:
            raise Wrong("%s.metric: %s is %s, as in %s.metric" % (other["name"], key, other[key], one["name"]))
    return found


def lists(metrics):
    compared, columns = listed(metrics, "compared"), listed(metrics, "column")
    parts = [metric["compared"].split()[1:] + ["0"] for metric in compared]
    return ("_Static_assert(YS_COMPARED == %d, \"metric/metric.h says how many metrics are compared\");\n" % len(compared) +
            "const char *const ys_compared[YS_COMPARED] = {%s};\n" % ", ".join(text_of(metric["name"]) for metric in compared) +
            "const struct ys_disturbed_part ys_disturbed_parts[YS_COMPARED] = {%s};\n" %
            ", ".join("{YS_PART_OF_%s, %s}" % (part[0].upper(), part[1]) for part in parts) +
            "_Static_assert(YS_METRIC_COLUMNS == %d, \"metric/metric.h says how many metrics have columns\");\n" % len(columns) +
            "const struct ys_metric_column ys_metric_columns[YS_METRIC_COLUMNS] = {%s};\n" %
            ", ".join("{%s, %s}" % (text_of(metric["name"]), "true" if "known" in metric["column"] else "false") for metric in columns))


def entry(metric):
    members = ["." + key + " = " + text_of(metric.get(key))
               for key in ("name", "title", "head", "ratio", "unit", "method", "scope", "source", "formula", "limits")]
    title = metric.get("part", metric["title"])
    members += [".part = " + text_of(title), ".part_head = " + text_of(metric.get("part_head", title).replace("|", "\n"))]
    members += [".kind = YS_KIND_" + metric["kind"].upper(), ".better = YS_BETTER_" + metric["better"].upper(), ".mode = " + ("YS_MODE_" + metric["mode"].upper() if "mode" in metric else "YS_NAME_NONE"),
                ".learning = " + ("true" if "work" in metric else "false"),
                ".of_questions = " + ("true" if "asked" in metric else "false"),
                ".of_steady = " + ("true" if "steady" in metric else "false"),
                ".whole = " + ("true" if metric["kind"] in ("count", "bytes") else "false")]
    return "    {" + ",\n     ".join(members) + "},\n"


def table(folder):
    """The C source, and the files it is made from."""
    paths = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".metric"))
    metrics = []
    for path in paths:
        try:
            metrics.append(read(path))
        except Wrong as wrong:
            raise Wrong("%s: %s" % (path, wrong)) from None
    places = {}
    for path, metric in zip(paths, metrics):
        other = places.setdefault(int(metric["place"]), path)
        if other != path:
            raise Wrong("%s: place is %s, as in %s: each metric has its own" % (path, metric["place"], os.path.basename(other)))
    metrics.sort(key=lambda metric: int(metric["place"]))
    source = ('/* Made by tools/metric_infos.py from metrics/. */\n#include "metric/metric.h"\n\n'
              "const struct ys_metric_info ys_metric_table[] = {\n" + "".join(map(entry, metrics)) + "};\n"
              "const size_t ys_metric_table_size = sizeof ys_metric_table / sizeof ys_metric_table[0];\n" + lists(metrics))
    return source, paths


def main(arguments):
    if len(arguments) != 3:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    folder, out, depends = arguments
    try:
        source, paths = table(folder)
    except Wrong as wrong:
        print(wrong, file=sys.stderr)
        return 1
    with open(out, "w", encoding="utf-8") as file:
        file.write(source)
    with open(depends, "w", encoding="utf-8") as file:
        file.write("%s: %s\n" % (out, " ".join([folder] + paths)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
