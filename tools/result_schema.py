#!/usr/bin/env python3
"""Prints the JSON Schema of what yardstick says as JSON: of the tables of fields (yardstick-records prints them) and of what
tools/result_schema.txt says beside them.

    tools/result_schema.py TABLES RULES > result.schema.json
"""
import json
import sys


class Rules:
    """Lines of tools/result_schema.txt in turn, on a growing schema."""

    def __init__(self, tables, words):
        self.tables, self.words, self.schema = tables, words, {"$defs": {}}

    def at(self, path):
        """The rule that a path names: `result`, or one of $defs; then members, [] for what an array holds, * for any other member."""
        first, *rest = path.split("/")
        rule = self.schema if first == "result" else self.schema["$defs"][first]
        for name in rest:
            rule = rule["items"] if name == "[]" else rule["additionalProperties"] if name == "*" else rule["properties"][name]
        return rule

    def put(self, path, rule):
        parent, _, name = path.rpartition("/")
        if path == "result":
            self.schema.update(rule)
        elif not parent:
            self.schema["$defs"][path] = rule
        elif name in ("[]", "*"):
            self.at(parent)["items" if name == "[]" else "additionalProperties"] = rule
        else:
            self.at(parent).setdefault("properties", {})[name] = rule

    def run(self, word, words):
        if word == "table":
            *name, path = words
            self.put(path, json.loads(json.dumps(self.tables[" ".join(name)])))
        elif word == "is":
            kind, *paths = words
            for path in paths:
                self.put(path, self.spelled(kind))
        elif word == "no":
            for path in words:
                parent, _, name = path.rpartition("/")
                del self.at(parent)["properties"][name]
                self.at(parent)["required"] = [one for one in self.at(parent)["required"] if one != name]
        elif word in ("null", "never-null"):
            for path in words:
                set_null(self.at(path), word == "null")
        elif word == "required":
            path, *names = words
            rule = self.at(path)
            if names[:1] == ["all"]:  # but those behind `but`
                names = [name for name in rule["properties"] if name not in names[2:]]
            rule["required"] = names
            if not names:
                del rule["required"]
        else:
            value, *paths = words
            for path in paths:
                self.at(path)[word] = json.loads(value)

    def spelled(self, kind):
        """A rule by a word; the head of tools/result_schema.txt lists them."""
        may_be_null, kind = kind.endswith("?"), kind.rstrip("?")
        if kind == "any":
            return {}
        if kind == "ends":
            return {"oneOf": [{"type": "null"}, {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}]}
        if kind[0] == "{":
            return json.loads(kind)
        if kind[0] == "&":
            return {"$ref": "#/$defs/" + kind[1:]}
        if kind[0] == "[":
            rule = {"type": "array", "items": self.spelled(kind[1:-1])}
        elif kind[0] == "=" or "|" in kind:
            rule = {"enum": list(self.words[kind[1:]]) if kind[0] == "=" else kind.split("|")}
        else:
            rule = {"type": kind}
        if may_be_null:
            set_null(rule, True)
        return rule


def set_null(rule, may_be):
    key, null = ("enum", None) if "enum" in rule else ("type", "null")
    values = rule[key] if isinstance(rule[key], list) else [rule[key]]
    values = [value for value in values if value != null] + [null] * may_be
    rule[key] = values if key == "enum" or len(values) > 1 else values[0]


def without_empty(rule):
    """Lists of members that must be there, where there are none, say nothing."""
    if isinstance(rule, dict):
        return {key: without_empty(value) for key, value in rule.items() if key != "required" or value}
    return [without_empty(value) for value in rule] if isinstance(rule, list) else rule


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        rules = Rules(**json.load(file))
    with open(sys.argv[2], encoding="utf-8") as file:
        lines = [line for line in file.read().replace("\n ", " ").splitlines() if line and not line.startswith("#")]
    for line in lines:
        word, *words = line.split()
        rules.run(word, words)
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "yardstick/result/1",
              "description": "What `yardstick show --format=json` prints: one study. Readers accept fields that are not listed here. "
                             "docs/results.md explains each.", **without_empty(rules.schema)}
    json.dump(schema, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
