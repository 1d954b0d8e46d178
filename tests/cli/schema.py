"""Holds documents against the JSON Schema that the build has printed (result.schema.json), more strictly than readers do.

The published schema lets readers meet members that it does not list, so that fields can be added. A program that writes
such a member has to document it, so here an object whose members are listed may have no others. Of JSON Schema this
knows what that file uses; a keyword that it does not know is an error, never ignored.
"""
import json
import os

ROOT = os.environ.get("YS_SOURCE_ROOT", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
with open(os.path.join(os.environ.get("YARDSTICK_BIN", os.path.join(ROOT, "build", "src")), "result.schema.json")) as file:
    SCHEMA = json.load(file)

SAID = {"$schema", "title", "description", "$defs"}  # nothing to check
TYPES = {"null": type(None), "boolean": bool, "string": str, "array": list, "object": dict}


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def has_type(name, value):
    if name == "number":
        return is_number(value)
    if name == "integer":
        return is_number(value) and isinstance(value, int)
    return isinstance(value, TYPES[name])


def types_of(rule):
    named = rule.get("type", [])
    return [named] if isinstance(named, str) else named


def faults(rule, value, where="result"):
    """What is wrong with `value`: a list of sentences."""
    found = []
    for keyword, wanted in rule.items():
        if keyword not in SAID:
            found += KEYWORDS[keyword](rule, wanted, value, where)
    return found


def check_ref(_rule, wanted, value, where):
    return faults(SCHEMA["$defs"][wanted[len("#/$defs/"):]], value, where)


def check_type(rule, _wanted, value, where):
    return [] if any(has_type(name, value) for name in types_of(rule)) else ["%s is %r" % (where, value)]


def check_enum(_rule, wanted, value, where):
    return [] if value in wanted else ["%s is %r" % (where, value)]


def check_one_of(_rule, wanted, value, where):
    wrong = [faults(choice, value, where) for choice in wanted]
    return [] if wrong.count([]) == 1 else ["%s fits %d choices" % (where, wrong.count([]))] + max(wrong, key=len)


def check_required(_rule, wanted, value, where):
    return ["%s lacks %s" % (where, name) for name in wanted if isinstance(value, dict) and name not in value]


def check_properties(rule, wanted, value, where):
    if not isinstance(value, dict):
        return []
    found = [fault for name in value if name in wanted for fault in faults(wanted[name], value[name], where + "." + name)]
    if "object" in types_of(rule) and "additionalProperties" not in rule:
        found += ["%s.%s is not documented" % (where, name) for name in value if name not in wanted]
    return found


def check_others(rule, wanted, value, where):
    others = set(value) - set(rule.get("properties", ())) if isinstance(value, dict) and wanted is not True else ()
    return [fault for name in sorted(others) for fault in faults(wanted, value[name], where + "." + name)]


def check_items(_rule, wanted, value, where):
    items = value if isinstance(value, list) else []
    return [fault for i, item in enumerate(items) for fault in faults(wanted, item, "%s[%d]" % (where, i))]


def check_if(rule, wanted, value, where):
    branch = rule.get("else" if faults(wanted, value) else "then", {})
    return faults(branch, value, where)


def within(holds, applies):
    return lambda _rule, wanted, value, where: \
        ["%s is %r" % (where, value)] if applies(value) and not holds(value, wanted) else []


def is_list(value):
    return isinstance(value, list)


KEYWORDS = {
    "$ref": check_ref, "type": check_type, "enum": check_enum, "oneOf": check_one_of, "required": check_required,
    "const": lambda _rule, wanted, value, where: [] if value == wanted else ["%s is %r" % (where, value)],
    "properties": check_properties, "additionalProperties": check_others, "items": check_items,
    "if": check_if, "then": lambda *_: [], "else": lambda *_: [],
    "minimum": within(lambda value, least: value >= least, is_number),
    "maximum": within(lambda value, most: value <= most, is_number),
    "minItems": within(lambda value, least: len(value) >= least, is_list),
    "maxItems": within(lambda value, most: len(value) <= most, is_list),
}


def result_faults(document):
    return faults(SCHEMA, document)


def judged_faults(document):
    """Of what compares studies: `yardstick/compare/1` is $defs.compare."""
    return faults(SCHEMA["$defs"][document["schema"].split("/")[1]], document, "judgement")
