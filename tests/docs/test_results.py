"""The tables of docs/results.md hold just the members that the tables of the result's fields have (result.schema.json,
which the build prints of them): none is missing there, and none is made up."""
import json
import os
import re
import unittest

ROOT = os.environ["YS_SOURCE_ROOT"]
SCHEMA = json.load(open(os.path.join(os.environ["YS_BUILD_ROOT"], "src", "result.schema.json"), encoding="utf-8"))
TRIAL_PARTS = "perf proof agreement robustness stored ranks runs_detail".split()
WORD = re.compile(r"`(\w+)`")


def followed(rule):
    """Behind references, lists and what may be null."""
    while True:
        if "$ref" in rule:
            rule = SCHEMA["$defs"][rule["$ref"].split("/")[-1]]
        elif "oneOf" in rule:
            rule = next(choice for choice in rule["oneOf"] if choice.get("type") != "null")
        elif "items" in rule:
            rule = rule["items"]
        else:
            return rule


def members(*path):
    rule = SCHEMA
    for name in path:
        rule = followed(rule)["properties"][name]
    return followed(rule).get("properties", {})


def tables():
    """Heading -> its table's rows, each the words of its first cell and the second cell."""
    found, heading = {}, None
    with open(os.path.join(ROOT, "docs", "results.md"), encoding="utf-8") as page:
        for line in page:
            if line.startswith("#"):
                heading = line.strip("# \n")
            elif line.startswith("| `"):
                names, text = line.strip("|\n").split(" | ", 1)
                found.setdefault(heading, []).append((WORD.findall(names), text))
    del found["For analysis"]
    return found


def members_of(heading):
    if heading == "The result document":
        return members()
    if heading == "Metric objects":
        return followed(SCHEMA["$defs"]["metric"])["properties"]
    return members("trials", heading) if heading in TRIAL_PARTS else members(heading)


class Results(unittest.TestCase):
    def test_every_table_names_the_members_of_its_object_and_no_other(self):
        for heading, rows in tables().items():
            named = [name for names, _ in rows for name in names]
            self.assertEqual(sorted(named), sorted(members_of(heading)), heading)

    def test_a_row_names_the_members_of_the_objects_in_it(self):
        headings = tables()
        for heading, rows in headings.items():
            for names, text in rows:
                for name in names:
                    inside = followed(members_of(heading)[name]).get("properties", {})
                    if name in headings or "below" in text or "metric object" in text or "job-file.md" in text:
                        continue  # another table has them
                    lacking = [member for member in inside if member not in WORD.findall(text)]
                    self.assertEqual(lacking, [], f"{name} of {heading}")


if __name__ == "__main__":
    unittest.main()
