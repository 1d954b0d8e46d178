#!/usr/bin/env python3
"""Writes what the adapter protocol's numbers (tools/protocol_limits.txt) and messages (tools/protocol_messages.txt) are for C, Python and
Lua, and the tables of docs/protocol.md.

    tools/protocol.py [--check]

Each file is written only where it would change; `make` does so before it builds. --check: writes nothing, names what would
change, and ends with 1 if there is any.
"""
import collections
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIMITS, MESSAGES = "tools/protocol_limits.txt", "tools/protocol_messages.txt"
SAID = "Made by tools/protocol.py from %s: change that."
SAID_OF_BOTH = SAID % (LIMITS + " and " + MESSAGES)

Question = collections.namedtuple("Question", "name answer part plan mode")
Member = collections.namedtuple("Member", "names type required what")

# What a member is in struct ys_message, and of which kind (session/checked_message.c).
C_TYPES = {"integer": ("int64_t ", "WHOLE"), "string": ("const char *", "TEXT"), "path": ("const char *", "PATH"), "boolean": ("bool ", "TRUTH"),
           "strings": ("const ys_json *", "TEXTS"), "integers": ("const ys_json *", "ARRAY"), "array": ("const ys_json *", "ARRAY")}


class Protocol:
    """limits: [(name, number, what it is)]; questions; asked, answers: {message: its members}."""

    def __init__(self):
        self.limits = [(name, int(number), what) for name, number, what in (line.split(None, 2) for line in lines_of(LIMITS))]
        self.questions, self.asked, self.answers, into = [], {}, {}, None
        for line in lines_of(MESSAGES):
            words = line.split()
            if line[0] == " ":
                names, type_, required, what = line.split(None, 3)
                into.append(Member(names.split(","), type_, required == "required", what))
            elif words[0] == "question":
                self.questions.append(Question(*words[1:]))
            else:
                into = []
                for name in words[1:]:
                    (self.asked if words[0] == "asked" else self.answers)[name] = into


def lines_of(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return [line for line in file.read().splitlines() if line.strip() and not line.startswith("#")]


def for_c_limits(protocol, _old):
    width = max(len(name) for name, _, _ in protocol.limits)
    digits = max(len(str(number)) for _, number, _ in protocol.limits)
    lines = ["#define YS_PROTOCOL_%s %d%s /* %s */" % (name.ljust(width), number, " " * (digits - len(str(number))), what)
             for name, number, what in protocol.limits]
    return "/* Numbers of the adapter protocol (docs/protocol.md) that both sides, and the job file, keep to.\n * %s */\n" \
           "#ifndef YARDSTICK_PROTOCOL_H\n#define YARDSTICK_PROTOCOL_H\n\n%s\n\n#endif\n" % (SAID % LIMITS, "\n".join(lines))


def for_c_messages(protocol, _old):
    def quoted(word):
        return "NULL" if word == "-" else '"%s"' % word

    def list_of(questions):
        return continued("Q(%s, %s, %s, %s, %s)" % (q.name.upper(), q.name, quoted(q.answer), quoted(q.part), q.mode.upper())
                         for q in questions)
    asked = [q for q in protocol.questions if q.answer != "-"]
    members, rules = [], []
    for message, of_message in protocol.answers.items():
        members.append("    struct {")
        for member in of_message:
            kind, rule = C_TYPES[member.type]
            members += ["        %s%s;" % (kind, name) for name in member.names]
            rules += ["M(%s, %s, %s, %d)" % (message, name, rule, member.required) for name in member.names]
        members.append("    } %s;" % message)
    return C_MESSAGES % (SAID % MESSAGES, list_of(q for q in asked if q.plan == "plan"), list_of(q for q in asked if q.plan != "plan"),
                         continued(rules), "\n".join(members))


def continued(lines):
    """Of a macro."""
    return " \\\n".join("    " + line for line in lines)


C_MESSAGES = """\
/* The messages of the adapter protocol (docs/protocol.md).
 * %s */
#ifndef YS_PROTOCOL_MESSAGES_H
#define YS_PROTOCOL_MESSAGES_H

#include "base/json/json.h"
#include <stdbool.h>
#include <stdint.h>

/* clang-format off */

/** Each question that needs an open plan: in capitals, its type, the type of the answer that ends it, of what may come
 * before that or NULL, and the mode that the plan must have: ANY, TRAIN or INFER. */
#define YS_QUESTIONS_OF_PLANS(Q) \\
%s

/** All that have an answer. */
#define YS_QUESTIONS(Q) \\
%s \\
    YS_QUESTIONS_OF_PLANS(Q)

/** Each member of an answer: the message, the member, what it is, whether the work cannot go on without it. */
#define YS_MEMBERS(M) \\
%s

/** An answer, borrowed from its JSON. Of its members only those of its own type are there. What it lacks, or has of
 * another type, is NULL, -1 or false; numbers are never below 0; lists are JSON arrays. */
struct ys_message {
    const char *type; /* "" where it has none */
%s
};

/* clang-format on */

#endif
"""


def for_python(protocol, _old):
    questions = ['    "%s": (%s, %s),\n' % (q.name, q.plan == "plan", None if q.mode == "any" else '"%s"' % q.mode) for q in protocol.questions]
    return '"""Numbers and messages of the adapter protocol. %s"""\n' % SAID_OF_BOTH \
        + "".join("%s = %d  # %s\n" % limit for limit in protocol.limits) \
        + "# What can be asked: whether a plan must be open, and the mode that it must have, if any.\nQUESTIONS = {\n" + "".join(questions) + "}\n"


def for_lua(protocol, _old):
    questions = ["      {name = '%s', plan = %s%s},\n" % (q.name, str(q.plan == "plan").lower(), "" if q.mode == "any" else ", mode = '%s'" % q.mode)
                 for q in protocol.questions]
    return "-- Numbers and messages of the adapter protocol. %s\nreturn {\n" % SAID_OF_BOTH \
        + "".join("   %s = %d, -- %s\n" % limit for limit in protocol.limits) \
        + "   -- What can be asked: whether a plan must be open, and the mode that it must have, if any.\n   QUESTIONS = {\n" \
        + "".join(questions) + "   },\n}\n"


def table_of(members):
    rows = ["| %s | %s | %s |" % (", ".join("`%s`" % name for name in member.names), "string" if member.type == "path" else member.type, member.what)
            for member in members]
    return ["| member | type | meaning |", "| --- | --- | --- |", *rows]


def table_of_questions(protocol):
    rows = []
    for q in protocol.questions:
        answer = "any number of `%s`, then `%s`" % (q.part, q.answer) if q.part != "-" else "`%s`" % q.answer
        rows.append("| `%s` | %s |" % (q.name, answer if q.answer != "-" else "nothing; exits with 0"))
    return ["| yardstick says | the adapter answers |", "| --- | --- |", *rows]


def for_document(protocol, old):
    """The document with its tables made anew: each stands behind a comment that names it, up to an empty line."""
    def table(match):
        kind, name = match.group(2), match.group(3)
        lines = table_of_questions(protocol) if kind == "questions" else table_of((protocol.asked if kind == "asked" else protocol.answers)[name])
        return match.group(1) + "\n".join(lines) + "\n"
    return re.sub(r"(<!-- (questions|asked|answer) ?(\w*) -->\n)(?:\|.*\n)*", table, old)


FILES = {"include/yardstick/protocol.h": for_c_limits, "src/protocol/messages.h": for_c_messages, "adapters/common_protocol.py": for_python,
         "adapters/common_protocol.lua": for_lua, "docs/protocol.md": for_document}


def main(arguments):
    if arguments not in ([], ["--check"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    protocol, wrong = Protocol(), 0
    for name, write in FILES.items():
        path = os.path.join(ROOT, name)
        old = ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                old = file.read()
        new = write(protocol, old)
        if new == old:
            continue
        if arguments:
            print("%s is not what %s and %s say: run tools/protocol.py" % (name, LIMITS, MESSAGES))
            wrong = 1
            continue
        with open(path, "w", encoding="utf-8") as file:
            file.write(new)
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
