#!/usr/bin/env python3
"""Spoils the kernels of the operators (tools/mutants_sources.py says which files), one place at a time, and asks whether the operator's tests notice.

    tools/mutants.py BUILD [--quick | --lines] [--third N,...] [--jobs N] [--file NAME ...] [--function NAME ...] [--list]

BUILD is a build folder in which everything is built (make test does it); nothing in it or in the sources is changed. A
mutant is one line of a kernel with one thing wrong: a sign, a comparison, a constant, a factor on one branch, a statement
left out. It is compiled (those that do not compile are left out), linked into the program of the operators' tests
in place of what it was made from, under AddressSanitizer, and the cases of the operators that the line belongs to are run:
first those that noticed the mutants before it in the same function and file, then all, the shortest programs first.
One of them must fail, or crash, or not end, or be skipped where it was not. What compiles, as the build compiles it, to the code of the source as it
stands, is counted and not run: it is not spoiled. All mutants of a file are compiled and linked at once, each in a copy of its function that the
program takes when it is told to; those in macros one by one. What survives is listed and is a failure, unless tools/mutants_allowed.txt says why it
cannot be noticed; then it is not tried where no other line of its file reads the same. --quick: one in fifty, of each file one at least, --lines: one of every line that has any; which ones hangs on file, function and text
alone, so that a change elsewhere chooses no other.
--third: only every third file, from the Nth on (0 to 2; 0,2: those two), beside those that --file names.
--list: says what would be spoiled, and ends.
"""
import argparse
import collections
import concurrent.futures
import ctypes
import filecmp
import fnmatch
import hashlib
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time

import thirds
from mutants_sources import (BACKEND, CASES, ELSEWHERE, HIDDEN, LEVELS, LOSSES, OBJECTS, OPERATORS, PROGRAMS, QUANT, REF, ROWS, SOURCES,
                             place_of)

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CPU_LIMIT_S = 240  # until it is known what a program takes: the longest took 31 s on a slow machine; then CPU_FACTOR times that and so
CPU_FACTOR, CPU_MORE_S = 3, 3  # much more: many a mutant runs for ever
TIME_LIMIT_S = 300  # of one that waits for ever; on a machine that does other things too, a mutant takes long
QUICK_SHARE = 1 / 50
KEPT_CASES = 6  # of those that noticed mutants of a function or file, so many are asked first
NOTICED, SURVIVED, NOT_COMPILED, SAME_CODE, EXCUSED = "noticed", "survived", "not compiled", "same code", "excused"

# What a mutant reads or writes beside a buffer of a guarded engine, of the heap, of the stack or of an array within a struct ends it, and what it does
# not free.
# A variable that it leaves unset is not what the call before left there.
CHECKS = ["-fsanitize=address,bounds", "-fsanitize-undefined-trap-on-error"]

COMPARISONS = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",)}
SWAPS = {" + ": " - ", " - ": " + ", " * ": " / ", " / ": " * ", " += ": " -= ", " -= ": " += ", " && ": " || ", " || ": " && "}


def mutations(line):
    """Every spoiled form of a line of code."""
    code, comment = re.match(r"(.*?)(\s*\\|/\*.*|)$", line).groups()  # or, of a macro's lines, what makes them one
    found = []

    def put(begin, end, text):
        found.append(code[:begin] + text + code[end:] + comment)

    for match in re.finditer(r"(?<= )(<=|>=|==|!=|<|>)(?= )", code):
        for other in COMPARISONS[match.group()]:
            put(*match.span(), other)
    for old, new in SWAPS.items():
        for match in re.finditer(re.escape(old), code):
            put(*match.span(), new)
            if old == " += ":
                put(*match.span(), " = ")
    # Not what is cleared, and not how work is cut for threads: the sanitized build sees the one, nothing the other.
    for match in re.finditer(r"(?<![\w.\[])(\d+)(?![\w.\]])", "" if "memset(" in code or "ys_parallel_for(" in code else code):
        put(*match.span(), str(int(match.group()) + 1))
    for match in re.finditer(r"(?<=[(,?:=] )-(?=[\w(])|(?<=\()-(?=[\w(])|(?<=, )-(?=[\w(])|(?<=return )-(?=[\w(])", code):
        put(*match.span(), "")
    for match in re.finditer(r"!(?=[\w(])", code):
        put(*match.span(), "")
    for match in re.finditer(r"(?<=[?:] )(?!ys_)(?=[a-z(])", code):  # one branch, by a factor; what ys_ begins is a status, 0
        put(*match.span(), "3 * ")
    statement = code.strip()
    if re.match(r"[\w\[\]*().>-]+(\[.*?\])* [-+*/]?= .*;$|\w+\(.*\);$|memset\(.*\);$|memcpy\(.*\);$|\+\+.*;$|.*\+\+;$|continue;$", statement) \
            and not re.match(r"(return|const|int64_t|REAL|double|struct|size_t|bool|static) ", statement):
        found.append(code[:len(code) - len(code.lstrip())] + ";" + comment)
    return list(dict.fromkeys(found))


FUNCTION = re.compile(r"^(?:static |TILE_TARGET static |struct \w+ |const |inline |__attribute__\(\(always_inline\)\) )*"
                      r"[\w *]*?\b(\w+|TILE\(\w+\))\(.*(?:\)|,)$")
DEFINED = re.compile(r"^#define (\w+)\(.*\\$")
MACRO = re.compile(r"^(EACH_OF_\d|FUNCTION|PAIR|LINEAR)\((\w+),")


class Source:
    """A file as lines, and which function each line of code belongs to."""

    def __init__(self, name, folder=None):
        self.name = name
        folder = folder or (QUANT if os.path.exists(os.path.join(QUANT, name)) else None)
        self.path = os.path.join(folder or BACKEND, name if folder else place_of(name))
        with open(self.path, encoding="utf-8") as file:
            self.lines = file.read().split("\n")
        self.function = {}  # line -> name
        current, inside, comment, depth = None, False, False, 0  # depth: of brackets of a macro that is being used
        for number, line in enumerate(self.lines):
            stripped = line.strip()
            if comment or stripped.startswith("/*"):
                comment = "*/" not in stripped
            elif depth > 0 or MACRO.match(line):
                current = MACRO.match(line).group(2) if depth == 0 else current
                depth += line.count("(") - line.count(")")
                self.function[number] = current
            elif number > 0 and self.lines[number - 1].endswith("\\"):
                self.function[number] = current
            elif DEFINED.match(line):
                current = DEFINED.match(line).group(1)
            elif stripped.startswith("#"):
                continue
            elif line.startswith("{"):
                inside = True
            elif line.startswith("}"):
                current, inside = None, False
            elif inside and current:
                self.function[number] = current
            elif FUNCTION.match(line):
                current = re.sub(r"TILE\((\w+)\)", r"\1", FUNCTION.match(line).group(1))

    def text(self):
        return "\n".join(self.lines)

    def extent(self, number):
        """Where the function of a line begins, has its first brace and ends; None of a line of a macro."""
        brace = end = number
        while brace > 0 and not self.lines[brace].startswith(("{", "}")):
            brace -= 1
        if self.lines[brace] != "{":
            return None
        head = brace
        while head > 0 and self.lines[head - 1].strip() and not re.search(r"(\*/|[};])$|^#", self.lines[head - 1]):
            head -= 1
        while not self.lines[end].startswith("}"):
            end += 1
        return head, brace, end


# Ahead of a source with many mutants: which of them is in force.
CHOICE = ["#ifndef YS_MUTANT", "#define YS_MUTANT", "extern char *getenv(const char *name);", "extern int atoi(const char *text);", "static int ys_mutant;",
          "__attribute__((constructor)) static void ys_mutant_choose(void)", "{",
          '    ys_mutant = getenv("YS_MUTANT") ? atoi(getenv("YS_MUTANT")) : 0;', "}", "#endif"]


def names_of(arguments):
    """The names of a function's arguments; None where one is more than a type and a name."""
    if arguments == "void":
        return []
    found = [re.search(r"\w[\s*]+(\w+)(?:\[[^\]]*\])*$", argument) for argument in arguments.split(",")]
    return [match.group(1) for match in found] if all(found) and "(" not in arguments else None


def copies_of(source, extent, mutants, first):
    """A function as it is and with each of its mutants, and in its place one that calls that of the mutant in force: lines, and of each the
    mutant that it is of; None where it is not written plainly enough. Their numbers begin with `first`."""
    head, brace, end = extent
    text = " ".join(line.strip() for line in source.lines[head:brace])
    match = re.fullmatch(r"(.*?)\b(TILE\(\w+\)|{0})\((.*)\)".format(source.function[mutants[0][0]]), text)
    names = match and names_of(match.group(3))
    if names is None:
        return None
    kind, name, arguments = re.sub(r"\binline |__attribute__\(\(always_inline\)\) ?", "", match.group(1)), match.group(2), match.group(3)
    copy = re.sub(r"(\w+)(\)?)$", r"\1__%d\2", name)
    lines, of, call = [], {}, "(%s)" % ", ".join(names)
    for index, (number, spoiled) in enumerate([(None, None)] + mutants):
        lines.append("static %s%s(%s)" % (kind.replace("static ", ""), copy % (index and first + index - 1), arguments))
        for at in range(brace, end + 1):
            of[len(lines)] = (number, spoiled)
            lines.append(spoiled if at == number else source.lines[at])
    lines += ["%s%s(%s)" % (kind, name, arguments), "{", "    switch (ys_mutant) {"]
    lines += ["    case %d: return %s%s;" % (number, copy % number, call) for number in range(first, first + len(mutants))]
    return lines + ["    }", "    return %s%s;" % (copy % 0, call), "}"], of


def many_of(source, mutants):
    """The source with all of `mutants`, [(line, text)], as lines; {mutant: its number} of those that are in it; {line: mutant that it is of}."""
    functions = {}
    for mutant in mutants:
        functions.setdefault(source.extent(mutant[0]), []).append(mutant)
    lines, numbers, owners, done = list(CHOICE), {}, {}, 0
    for extent in sorted(filter(None, functions)):
        copies = copies_of(source, extent, functions[extent], len(numbers) + 1)
        if copies is None:
            continue
        lines += source.lines[done:extent[0]]
        owners.update({len(lines) + at: mutant for at, mutant in copies[1].items()})
        lines += copies[0]
        numbers.update({mutant: len(numbers) + 1 + at for at, mutant in enumerate(functions[extent])})
        done = extent[2] + 1
    return lines + source.lines[done:], numbers, owners


def closure(functions, roots):
    """{(file, function)} that are reached from the names `roots`; a name is that of the same file, or the one elsewhere."""
    places = {}
    for file, name in functions:
        places.setdefault(name, set()).add(file)
    reached, waiting = set(), [(file, name) for name in roots for file in places.get(name, ())]
    while waiting:
        at = waiting.pop()
        if at in reached:
            continue
        reached.add(at)
        for word in set(re.findall(r"\w+", functions[at])) & set(places):
            waiting += [(at[0], word)] if at[0] in places[word] else [(file, word) for file in places[word]] if len(places[word]) == 1 else []
    return reached


def functions_of(sources):
    text = {}
    for source in sources:
        for number, name in source.function.items():
            text[source.name, name] = text.get((source.name, name), "") + source.lines[number] + "\n"
    return text


def ref_roots(sources):
    """operator -> names of functions, from its entry in ref_kernels.inc."""
    macro = {name for source in sources for line in source.lines for name in re.findall(r"^(?:FUNCTION|PAIR|LINEAR)\((\w+),", line)}
    table = next(source for source in sources if source.name == "ref_kernels.inc").text()
    for op, entry in re.findall(r"struct ys_ref_op ref_(\w+) = \{(.*?)\};", table, re.DOTALL):
        yield op, {re.sub(r"(_backward)?_run$", "", word) if re.sub(r"(_backward)?_run$", "", word) in macro else word
                   for word in re.findall(r"\w+_run", entry)}


def onednn_roots():
    """The same of lower_graph.c, whose macros are written out."""
    with open(os.path.join(ROOT, "src/backend/onednn/lower_graph.c"), encoding="utf-8") as file:
        text = file.read()
    element = re.search(r"#define ELTWISE\(.*?\) (.*)", text).group(1)
    for op, entry in re.findall(r"onednn_operator op_(\w+) =\s*\{(.*?)\};", text, re.DOTALL):
        entry += element if "ELTWISE(" in entry else ""
        names = set(re.findall(r"\bys_onednn_\w+", entry))
        for decided, name in re.findall(r"LOWERED\((\w+), (\w+)\)", entry):
            names |= {"ys_onednn_decide_" + decided, "ys_onednn_forward_" + name, "ys_onednn_backward_" + name}
        for name in re.findall(r"DESCRIBED\((\w+)\)", entry):
            names |= {"ys_onednn_describe_" + name, "ys_onednn_describe_%s_backward" % name}
        yield op, names


def users(sources):
    """(file, function) -> operators that need it, from the tables of the back ends and who calls whom."""
    folder = os.path.join(BACKEND, "onednn")
    ref = [source for name, source in sources.items() if SOURCES[name].object == REF.object]
    onednn = [Source(name) for name in sorted(os.listdir(folder)) if fnmatch.fnmatch(name, "onednn_*.c")]
    result = {}
    for functions, roots in ((functions_of(ref), ref_roots(ref)), (functions_of(onednn), onednn_roots())):
        for op, names in roots:
            for at in closure(functions, names):
                result.setdefault(at, set()).add(op.lower())
    return result


def object_of(source, number):
    """What is made of a line's file and linked in place of its own."""
    return OBJECTS.get((source.name, source.function[number])) or SOURCES[source.name].object


class Builder:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder  # `folder` is for what is made once
        self.skips, self.seconds, self.joints, self.plain = {}, {}, {}, {}
        self.cpu_s = {}  # object, program, patterns -> what it may take, by what it took with the source as it stands, compiled as mutants are
        self.noticed_by = {}  # file, or file and function -> [(program, case)], the latest first
        self.many = {}  # file, object -> (folder, object with many mutants, {(line, text): number})
        self.lock = threading.Lock()

    def command(self, target):
        text = subprocess.run(["ninja", "-C", self.build, "-t", "commands", "-s", target], check=True, capture_output=True,
                              text=True).stdout
        words = shlex.split(text.strip().split("\n")[-1])
        return words[1:] if os.path.basename(words[0]) == "ccache" else words

    def prepare(self):
        """How to compile each file, and to link each program, and which cases that has."""
        self.compiles = {made: self.command(made) for made in {tried.object for tried in SOURCES.values()} | set(OBJECTS.values())}
        others = [program for tried in SOURCES.values() for program in tried.programs] + list(PROGRAMS.values())
        programs = {OPERATORS, ROWS, HIDDEN, *(program[0] if isinstance(program, tuple) else program for program in others)}
        self.links = {program: self.command(program) for program in programs}
        self.cases = {program: subprocess.run([os.path.join(self.build, program), "--list"], check=True, capture_output=True, text=True).stdout.split()
                      for program in programs}

    def fitting(self, program, patterns):
        """The cases of a program that these choose, in the order in which it runs them."""
        return [case for case in self.cases[program] if not patterns or any(fnmatch.fnmatchcase(case, pattern) for pattern in patterns)]

    def skipped(self, program, patterns):
        """The cases that the program skips as it stands, and the seconds that it takes."""
        key = (program, tuple(patterns))
        with self.lock:
            if key not in self.skips:
                began = time.monotonic()
                done = subprocess.run([os.path.join(self.build, program)] + patterns, cwd=self.build, env=environment(), stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL, text=True, errors="replace")
                self.skips[key] = {skipped_case(line) for line in done.stdout.split("\n")} - {None}
                self.seconds[key] = time.monotonic() - began
            return self.skips[key], self.seconds[key]

    def compile(self, folder, made, checks=True):
        """The object with the mutant that lies in `folder`, to be run or, without checks, as the build makes it; None where it
        does not compile."""
        return self.compile_or_say(folder, made, checks)[0]

    def compile_or_say(self, folder, made, checks=True):
        """The same, and what the compiler says."""
        words = self.compiles[made]
        place, out = words.index("-c"), os.path.join(folder, "checked.o" if checks else "plain.o")
        copy = os.path.join(folder, "backend", os.path.basename(words[place + 1]))
        source = copy if os.path.exists(copy) else words[place + 1]
        skip = {words.index(flag) + i for flag in ("-o", "-MF", "-MQ", "-c") if flag in words for i in (0, 1)}
        left = ("-g", "-MD", "-Werror") + (("-O",) if checks else ())
        kept = [w for i, w in enumerate(words) if i > 0 and i not in skip and not w.startswith(left)]
        more = CHECKS + [LEVELS.get(made, "-O0"), "-ftrivial-auto-var-init=pattern"] if checks else ["-ffile-prefix-map=%s=." % folder]
        done = subprocess.run([words[0], "-I" + folder] + kept + more + ["-w", "-o", out, "-c", source], cwd=self.build, capture_output=True, text=True,
                              errors="replace")
        return None if done.returncode else out, done.stderr

    def compile_many(self, source, made, mutants):
        """Compiles mutants of a file, [(line, text)], at once; those that do not compile, and those of macros, are left out."""
        while mutants:
            lines, numbers, owners = many_of(source, mutants)
            folder = tempfile.mkdtemp(dir=self.folder)
            write_source(folder, source, lines)
            out, said = self.compile_or_say(folder, made)
            if out:
                self.many[source.name, made] = folder, out, numbers
                return
            wrong = {owners.get(int(line) - 1) for line in re.findall(re.escape(source.name) + r":(\d+):\d+: error", said)} - {None, (None, None)}
            mutants = [mutant for mutant in mutants if mutant not in wrong] if wrong else []

    def is_same_code(self, folder, source, made):
        """Whether the mutant in `folder` is, as the build compiles it, what the source is as it stands."""
        key = (source.name, made)
        with self.lock:
            if key not in self.plain:
                own = os.path.join(self.folder, "plain%d" % len(self.plain))
                write_source(own, source, source.lines)
                self.plain[key] = self.compile(own, made, checks=False)
        out = self.compile(folder, made, checks=False)
        return filecmp.cmp(out, self.plain[key], shallow=False)

    def joint(self, program, made):
        """Everything of a program but the object `made`, as one object without what debuggers read: linked once, not with every mutant."""
        with self.lock:
            if (program, made) not in self.joints:
                out = os.path.join(self.folder, "joint%d" % len(self.joints))
                link = self.links[program]
                archives = [self.without(word, made, out) if made.startswith(word + ".p/") else word for word in link if word.endswith(".a")]
                objects = [word for word in link if word.endswith(".o")]
                subprocess.run([link[0], "-r", "-nostdlib", "-o", out + ".o"] + objects + ["-Wl,-S,--start-group"] + list(filter(None, archives)) +
                               ["-Wl,--end-group"], cwd=self.build, check=True, capture_output=True)
                self.joints[program, made] = out + ".o"
            return self.joints[program, made]

    def without(self, archive, made, out):
        """The archive without that object; None where it has no other."""
        members = [word for word in self.command(archive) if word.endswith(".o") and word != made]
        if members:
            subprocess.run(["ar", "rcD", out + ".a"] + members, cwd=self.build, check=True, capture_output=True)
        return out + ".a" if members else None

    def link(self, folder, out, program, made):
        """The program with that object in place of its own, or before the libraries."""
        link, exe = list(self.links[program]), os.path.join(folder, os.path.basename(program))
        if os.path.exists(exe):
            return exe
        link[link.index("-o") + 1] = own = "%s.%d" % (exe, threading.get_ident())
        first = next(i for i, w in enumerate(link) if w.endswith(".o"))
        link[first:first + 1] = [out] if link[first] == made else [out, self.joint(program, made)]
        subprocess.run(link + CHECKS + ["-s"], cwd=self.build, check=True, capture_output=True)
        os.replace(own, exe)
        return exe

    def asked_first(self, source, function, tries):
        """[(program, cases)], of what this mutant is tried by the cases that noticed others of its function and its file."""
        known = {program for program, _ in tries}
        latest = self.noticed_by.get((source.name, function), []) + self.noticed_by.get(source.name, [])
        cases = {}
        for program, case in latest:
            if program in known and case not in cases.setdefault(program, []):
                cases[program].append(case)
        return list(cases.items())

    def remember(self, source, function, program, case):
        with self.lock:
            for key in ((source.name, function), source.name):
                others = [at for at in self.noticed_by.get(key, []) if at != (program, case)]
                self.noticed_by[key] = ([(program, case)] + others)[:KEPT_CASES]

    def limit(self, made, program, patterns=None):
        """Seconds of processor time that the program may take with its own `made` replaced; without patterns, for any of its cases."""
        known = [seconds for (out, name, those), seconds in self.cpu_s.items() if (out, name) == (made, program) and patterns in (None, list(those))]
        return max(known, default=CPU_LIMIT_S)

    def all_skipped(self, program):
        """What the program skips as it stands, of all that it was asked."""
        with self.lock:
            return set().union(*(skips for (name, _), skips in self.skips.items() if name == program))


def write_source(folder, source, lines):
    os.makedirs(os.path.join(folder, "backend"))
    with open(os.path.join(folder, "backend", source.name), "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


def judged(builder, source, number, text, tries):
    """What becomes of a mutant that `tries`, [(program, patterns of cases)], are there to notice."""
    made, function = object_of(source, number), source.function[number]
    is_mutant = text != source.lines[number]
    with tempfile.TemporaryDirectory() as own:
        write_source(own, source, source.lines[:number] + [text] + source.lines[number + 1:])
        folder, out, numbers = builder.many.get((source.name, made), (None, None, {}))
        mutant = numbers.get((number, text)) if is_mutant else 0
        if not (folder and mutant is not None):
            folder, out, mutant = own, builder.compile(own, made), 0
        if not out:
            return NOT_COMPILED
        for program, cases in builder.asked_first(source, function, tries):
            command = [builder.link(folder, out, program, made)] + cases
            if not passes(command, builder.build, builder.all_skipped(program), builder.limit(made, program), mutant):
                return NOTICED
        if is_mutant and builder.is_same_code(own, source, made):
            return SAME_CODE
        for program, patterns in sorted(tries, key=lambda at: builder.skipped(*at)[1]):
            command, skips = [builder.link(folder, out, program, made)] + patterns, builder.skipped(program, patterns)[0]
            began = time.monotonic()
            done = cases_before_failure(command, builder.build, skips, builder.limit(made, program, patterns) if is_mutant else CPU_LIMIT_S, mutant)
            if done is None and not is_mutant:
                took = CPU_MORE_S + CPU_FACTOR * (time.monotonic() - began)
                builder.cpu_s[made, program, tuple(patterns)] = min(CPU_LIMIT_S, max(took, builder.cpu_s.get((made, program, tuple(patterns)), 0)))
            if done is not None:
                fitting = builder.fitting(program, patterns)
                if done < len(fitting):  # otherwise it is what was left at the end
                    builder.remember(source, function, program, fitting[done])
                return NOTICED
    return SURVIVED


LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1


def die_with(parent, cpu_s):
    """In a child, before its program: it ends with the thread that started it, however that ends, and within the time of a
    mutant that nobody waits for. A mutant may run for ever: nobody else would end it."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_s) + 1, int(cpu_s) + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if os.getppid() != parent:
        os._exit(1)
    signal.alarm(2 * TIME_LIMIT_S)


def environment(mutant=0):
    return dict(os.environ, YS_SOURCE_ROOT=ROOT, YARDSTICK_HOME=ROOT, OMP_WAIT_POLICY="passive", ASAN_OPTIONS="detect_leaks=1", YS_MUTANT=str(mutant))


def skipped_case(line):
    """The case of which a line says that it was skipped; None of another line."""
    match = re.match(r"ok \d+ - (\S+) # SKIP", line)
    return match and match.group(1)


def cases_before_failure(command, folder, skipped=(), cpu_s=CPU_LIMIT_S, mutant=0):
    """How many cases pass before one that does not, or not in time, or is skipped and not one of `skipped`, which ends it; None
    where there is no such case. `mutant`: its number, in a program of many."""
    parent, done, failed = os.getpid(), 0, False
    with subprocess.Popen(command, cwd=folder, env=environment(mutant), preexec_fn=lambda: die_with(parent, cpu_s), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          errors="replace") as program:
        timer = threading.Timer(TIME_LIMIT_S, program.kill)
        timer.start()
        for line in program.stdout:
            if line.startswith("not ok") or skipped_case(line) not in (None, *skipped):
                failed = True
                break
            done += line.startswith("ok ")
        program.kill() if failed else program.wait()
        timer.cancel()
    return done if failed or program.returncode != 0 else None


def passes(command, folder, skipped=(), cpu_s=CPU_LIMIT_S, mutant=0):
    """Whether every case passes, in time, and none is skipped but those of `skipped`."""
    return cases_before_failure(command, folder, skipped, cpu_s, mutant) is None


def key_of(source, number, text):
    """What a mutant is known by in tools/mutants_allowed.txt: file, line, spoiled line."""
    return source.name, source.lines[number].rstrip("\\ ").strip(), text.rstrip("\\ ").strip()


def stands_once(source, number):
    """Whether no other line of the file reads the same, for which tools/mutants_allowed.txt would speak too."""
    return [line.rstrip("\\ ").strip() for line in source.lines].count(key_of(source, number, "")[1]) == 1


def read_allowed():
    allowed = {}
    with open(os.path.join(ROOT, "tools/mutants_allowed.txt"), encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, old, new, reason = (part.strip() for part in line.split(" @@ "))
                allowed[name, old, new] = reason
    return allowed


def call_of(lines, number):
    """The macro that is used in a line, from its first line to the end of its brackets, as its arguments; None without."""
    first = number
    while first > 0 and not MACRO.match(lines[first]) and lines[first].strip():
        first -= 1
    if not lines[first].startswith("FUNCTION("):
        return None
    arguments, depth, text = [], 0, "\n".join(lines[first:first + 12])[len("FUNCTION"):]
    for char in text:
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return arguments
        if char == "(" and depth == 1 or char == "," and depth == 1:
            arguments.append("")
        else:
            arguments[-1] += char
    return None


def is_same_at_bound(source, number, text):
    """A function of one element is continuous: which of two formulas is taken at their bound changes its gradient alone."""
    lines = list(source.lines)
    old = call_of(lines, number)
    lines[number] = text
    new = call_of(lines, number)
    loose = lambda expression: re.sub(r"(?<= )([<>])=(?= )", r"\1", expression)  # noqa: E731
    return old and new and len(old) == len(new) == 3 and old[2] == new[2] and loose(old[1]) == loose(new[1])


def tries_of(source, function, used):
    """What tries a function: [(program, patterns)], in this order."""
    _, endings, programs = SOURCES[source.name]
    if (source.name, function) in PROGRAMS:
        return [PROGRAMS[source.name, function]]
    operators = CASES.get(function) or [op + "_*" for op in sorted(used.get((source.name, function), set()) - ELSEWHERE)] or ["*"]
    tries = [(OPERATORS, [(op + ending).replace("**", "*") for op in operators] + ["kinks" + ending] * (ending != "_onednn_bf16"))
             for ending in endings]
    tries[1:1] = [(ROWS, [])] * bool(endings)
    tries += [program if isinstance(program, tuple) else (program, []) for program in programs]
    return [(program, list(patterns)) for program, patterns in tries] + [(HIDDEN, [])] * (function in LOSSES)


def plan(names, functions):
    sources = {name: Source(name) for name in SOURCES}
    used = users(sources)
    for name, source in sources.items():
        if names and name not in names:
            continue
        for number, function in sorted(source.function.items()):
            if functions and function not in functions:
                continue
            tries = tries_of(source, function, used)
            for text in mutations(source.lines[number]):
                if is_same_at_bound(source, number, text):
                    continue
                yield source, number, text, function, tries


def rank(mutant):
    """A number from 0 to 1 that hangs on the names of file and function and on the text alone."""
    source, number, text, function, _ = mutant
    words = "\n".join((source.name, function, source.lines[number].strip(), text.strip()))
    return int(hashlib.sha256(words.encode()).hexdigest()[:12], 16) / 16 ** 12


def quick(mutants):
    """A share of them, and of each file one at least."""
    first = {}
    for mutant in sorted(mutants, key=rank):
        first.setdefault(mutant[0].name, mutant)
    return [mutant for mutant in mutants if rank(mutant) < QUICK_SHARE or first[mutant[0].name] is mutant]


def unfit_patterns(builder, mutants):
    """Patterns that fit no case of their program: it would end at once, as if the mutant had been noticed."""
    asked = {(program, pattern) for *_, tries in mutants for program, patterns in tries for pattern in patterns}
    return sorted((program, pattern) for program, pattern in asked if not builder.fitting(program, [pattern]))


def broken_objects(builder, mutants):
    """Objects that pass no more once they are compiled as mutants are: each of theirs would count as noticed."""
    first = {(object_of(source, number), source.name): (source, number, tries) for source, number, _, _, tries in reversed(mutants)}
    return [at for at, (source, number, tries) in sorted(first.items(), key=lambda item: item[0])
            if judged(builder, source, number, source.lines[number], tries) != SURVIVED]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    some = parser.add_mutually_exclusive_group()
    some.add_argument("--quick", action="store_true")
    some.add_argument("--lines", action="store_true")
    parser.add_argument("--third", type=thirds.parse)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--file", action="append")
    parser.add_argument("--function", action="append")
    options = parser.parse_args()
    if options.third is not None:
        options.file = thirds.of(sorted(SOURCES), options.third) + (options.file or [])
    mutants = list(plan(options.file, options.function))
    allowed = read_allowed()
    if options.quick:
        mutants = quick(mutants)
    elif options.lines:
        chosen = {}
        for mutant in sorted(mutants, key=rank):
            chosen.setdefault((mutant[0].name, mutant[1]), mutant)
        mutants = [chosen[place] for place in sorted(chosen)]
    if options.list:
        for source, number, text, function, tries in mutants:
            print("%s:%d %s: %s\n    %s" % (source.name, number + 1, function, text.strip(),
                                          "; ".join(" ".join([os.path.basename(program)] + patterns) for program, patterns in tries)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        return sweep(Builder(os.path.abspath(options.build), folder), mutants, allowed, options)


def sweep(builder, mutants, allowed, options):
    """Judges every mutant, says what survives, and returns the exit code."""
    builder.prepare()
    unused = set(allowed) - {key_of(source, number, text) for source, number, text, _, _ in mutants}
    tried = [mutant for mutant in mutants if key_of(*mutant[:3]) not in allowed or not stands_once(*mutant[:2])]
    unfit = unfit_patterns(builder, tried)
    for program, pattern in unfit:
        print("FAIL: %s has no case %s" % (program, pattern))
    together = {}
    for source, number, text, _, _ in tried:
        together.setdefault((source.name, object_of(source, number)), (source, []))[1].append((number, text))
    for (_, made), (source, those) in together.items():
        builder.compile_many(source, made, those)
    broken = [] if unfit else broken_objects(builder, tried)
    for made, name in broken:
        print("FAIL: tests fail with %s as it stands, made as mutants of %s are" % (made, name))
    if unfit or broken:
        return 1
    counts = collections.Counter()

    def judge(mutant):
        source, number, text, _, tries = mutant
        return mutant, judged(builder, source, number, text, tries)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for (source, number, text, _, _), verdict in pool.map(judge, tried):
            key = key_of(source, number, text)
            counts[EXCUSED if verdict == SURVIVED and key in allowed else verdict] += 1
            if verdict == SURVIVED and key not in allowed:
                print("FAIL: survived: %s:%d\n  - %s\n  + %s" % (source.name, number + 1, key[1], key[2]), flush=True)
    print("%d mutants noticed, %d allowed, %d the same code, %d did not compile" %
          (counts[NOTICED], len(mutants) - len(tried) + counts[EXCUSED], counts[SAME_CODE], counts[NOT_COMPILED]))
    if not options.quick and not options.lines and not options.file and not options.function:
        for key in sorted(unused):
            print("FAIL: tools/mutants_allowed.txt allows what nobody makes: %s" % " @@ ".join(key))
            counts[SURVIVED] += 1
    if not counts[NOTICED] and tried:
        print("FAIL: no mutant was noticed: were they compiled?")
        counts[SURVIVED] += 1
    print("%d passed, %d failed, 0 skipped" % (counts[NOTICED], counts[SURVIVED]))
    return 1 if counts[SURVIVED] else 0


if __name__ == "__main__":
    sys.exit(main())
