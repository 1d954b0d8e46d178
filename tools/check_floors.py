#!/usr/bin/env python3
"""Checks that every source file includes only what its floor allows, that files and functions stay short, that members
of JSON objects are got by name where JSON comes in or goes out, and nowhere else more often than before, that a switch
over operators forgets none in silence, that a folder can be seen at a glance (at most 20 .c files on at most 6 floors,
no circle), that a name is there once, and that adapters import in one direction.

usage: check_floors.py [ROOT]      check ROOT/src by ROOT/tools/floors.txt, getters.txt and rooms_open.txt, and
                                   ROOT/adapters; ROOT is this repository by default
       check_floors.py --getters   print the lines of getters.txt as they would be now
       check_floors.py --open      print the lines of rooms_open.txt as they would be now
       check_floors.py --self-test prove in a temporary tree that violations are caught

Prints each violation as `file:line: message`. Exit status: 0 none, 1 some, 2 the check itself could not be done.
"""
import os
import re
import sys
import tempfile

MAX_FILE_LINES = 800
MAX_FUNCTION_LINES = 60
MAX_FOLDER_FILES = 20   # .c files that lie in one folder
MAX_FOLDER_FLOORS = 6   # of its files and inner folders, by what includes what

INCLUDE = re.compile(r'\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')

# Headers of C, POSIX, Linux and the compiler. Any other one belongs to a third party and must be in floors.txt.
SYSTEM_FOLDERS = ('sys/', 'linux/', 'asm/', 'net/', 'netinet/', 'arpa/', 'gnu/')
SYSTEM = set('''assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg
    stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype
    aio cpio dirent dlfcn endian err execinfo fcntl features fmtmsg fnmatch ftw getopt glob grp iconv ifaddrs langinfo
    libgen malloc mntent mqueue net netdb poll pthread pty pwd regex sched search semaphore spawn strings syslog
    termios unistd utime utmp wordexp cpuid immintrin x86intrin arm_neon'''.split())


class Rules:
    """tools/floors.txt: lines of rooms, lowest floor first, then lines `header.h prefix...`."""

    def __init__(self, path):
        self.floor_of = {}
        self.places_of = {}
        floor = 0
        with open(path, encoding='utf-8') as lines:
            for line in lines:
                words = line.split('#')[0].split()
                if not words:
                    continue
                if words[0].endswith('.h'):
                    self.places_of.setdefault(words[0], []).extend(words[1:])
                else:
                    self.floor_of.update({room: floor for room in words})
                    floor += 1


def check_quoted(rules, place, header):
    """What is wrong with `#include "header"` in the file `place` (a path below src/), or None."""
    room = place.split('/')[0]
    target = header.split('/')[0]
    if target == 'yardstick':
        return None
    if '/' not in header or '..' in header.split('/'):
        return f'"{header}" must be named from src/, as "{room}/{header.split("/")[-1]}"'
    if target not in rules.floor_of:
        return f'"{header}": {target} is not a room of tools/floors.txt'
    if target == room or rules.floor_of[target] < rules.floor_of[room]:
        return None
    where = 'the same floor' if rules.floor_of[target] == rules.floor_of[room] else 'a higher floor'
    return f'{room} must not include "{header}": {target} is on {where}'


def check_angled(rules, place, header):
    places = rules.places_of.get(header) or rules.places_of.get(os.path.basename(header))
    if places:
        if any(place.startswith(prefix) for prefix in places):
            return None
        return f'<{header}> may be included in {" ".join(places)} only'
    if header.startswith(SYSTEM_FOLDERS) or re.sub(r'\.h$', '', header) in SYSTEM:
        return None
    return f'<{header}> is a third-party header that tools/floors.txt does not list'


GETTER = re.compile(r'\bys_json_get(?:_text|_int|_number|_bool)?\(')


def has_literal_key(text, at):
    """Whether the second argument of the call whose arguments begin at `at` is a string, or a macro's name for one."""
    depth = 0
    for token in re.finditer(r'"(?:\\.|[^"\\])*"|[(),]', text[at:at + 400]):
        mark = token.group()
        if mark == ',' and depth == 0:
            return re.match(r'\s*("|[A-Z_]+\b)', text[at + token.end():at + 400]) is not None
        depth += {'(': 1, ')': -1}.get(mark, 0)
        if depth < 0:
            return False
    return False


def count_getters(text):
    """How many members of JSON objects are got by a name that stands there."""
    text = re.sub(r'/\*.*?\*/|//[^\n]*', blank, text, flags=re.S)
    return sum(has_literal_key(text, call.end()) for call in GETTER.finditer(text))


class Getters:
    """tools/getters.txt: `edge PREFIX...`, where JSON comes in or goes out, and lines `FILE COUNT`: at most so many."""

    def __init__(self, path):
        self.edges, self.most = (), {}
        if not os.path.exists(path):
            return
        with open(path, encoding='utf-8') as lines:
            for words in (line.split('#')[0].split() for line in lines):
                if words and words[0] == 'edge':
                    self.edges += tuple(words[1:])
                elif words:
                    self.most[words[0]] = int(words[1])

    def check(self, place, text):
        """What is wrong with the file, or None."""
        count, most = count_getters(text), self.most.get(place, 0)
        if place.startswith(self.edges) or count <= most:
            return None
        return (f'{count} members of JSON are got by name, at most {most} may be: read the object into a struct by its '
                f'table (base/json/record.h)')


def print_getters(root):
    getters = Getters(os.path.join(root, 'tools', 'getters.txt'))
    for path, place in sources(os.path.join(root, 'src')):
        with open(path, encoding='utf-8') as source:
            count = count_getters(source.read())
        if count and not place.startswith(getters.edges):
            print(place, count)


def blank(match):
    """Keeps the lines of what is removed."""
    return re.sub(r'[^\n]', ' ', match.group())


def code_only(text):
    """`text` with comments, strings, character constants and preprocessor lines blanked out."""
    text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)
    return re.sub(r'^[ \t]*#(?:\\\n|[^\n])*', blank, text, flags=re.M)


def functions(code):
    """(first line, last line, name) of every function; the first line is that of its declaration."""
    depth = 0
    start = 0          # where the declaration at hand begins
    opened = None      # the declaration whose braces are open
    for at, char in enumerate(code):
        if char == '{':
            if depth == 0:
                opened = (start, code[start:at])
            depth += 1
        elif char == '}':
            depth -= 1
            if depth == 0 and opened:
                begin, declaration = opened
                name = re.search(r'(\w+)\s*\(', declaration)
                if name and declaration.rstrip().endswith(')'):
                    begin += len(declaration) - len(declaration.lstrip())
                    yield code.count('\n', 0, begin) + 1, code.count('\n', 0, at) + 1, name.group(1)
                start = at + 1
                opened = None
        elif char == ';' and depth == 0:
            start = at + 1


def silent_switches(code):
    """The lines of switches over operators that have a default: an operator that such a one forgets compiles."""
    opened = []  # of each brace: whether it is a switch's, its line, what its own cases are
    for token in re.finditer(r'\bswitch\b[^{;]*\{|[{}]|\bcase\s+YS_OP_|\bdefault\s*:', code):
        mark = token.group()
        if mark.endswith('{'):
            opened.append((mark.startswith('switch'), code.count('\n', 0, token.start()) + 1, set()))
        elif mark == '}':
            is_switch, line, cases = opened.pop() if opened else (False, 0, set())
            if is_switch and len(cases) > 1:
                yield line
        else:
            cases = next((cases for is_switch, _, cases in reversed(opened) if is_switch), set())
            cases.add(mark[0])


def check_file(rules, getters, path, place):
    """Yields (line, message) for the file at `path`, whose path below src/ is `place`."""
    with open(path, encoding='utf-8') as source:
        text = source.read()
    if place.split('/')[0] not in rules.floor_of:
        yield 1, f'{place.split("/")[0]} is not a room of tools/floors.txt'
        return
    for number, line in enumerate(text.split('\n'), 1):
        include = INCLUDE.match(line)
        if include:
            quoted, angled = include.groups()
            wrong = check_quoted(rules, place, quoted) if quoted else check_angled(rules, place, angled)
            if wrong:
                yield number, wrong
    wrong = getters.check(place, text)
    if wrong:
        yield 1, wrong
    lines = text.count('\n')
    if lines >= MAX_FILE_LINES:
        yield lines, f'{lines} lines; a file stays under {MAX_FILE_LINES}'
    code = code_only(text)
    if code.count('{') != code.count('}'):
        yield 1, 'braces do not balance, so that functions cannot be measured'
        return
    for first, last, name in functions(code):
        if last - first + 1 >= MAX_FUNCTION_LINES:
            yield first, f'{name} has {last - first + 1} lines; a function stays under {MAX_FUNCTION_LINES}'
    for line in silent_switches(code):
        yield line, 'a switch over operators has a default: name all of them, or ask the descriptor (graph/op.h)'


TAG = re.compile(r'^(?:typedef |static |const )*(?:struct|union|enum) (\w+)(?: \w+)?\s*\{', re.M)


def circles_and_floors(edges):
    """Of a graph {node: the nodes that it needs}: the nodes that lie in circles, and how many floors there are, where a
    circle is on one."""
    needs = {}
    for node in edges:
        needs[node], open_nodes = set(), [node]
        while open_nodes:
            new = edges[open_nodes.pop()] - needs[node]
            needs[node] |= new
            open_nodes += new
    floor_of = {}
    for node in sorted(edges, key=lambda node: len(needs[node] | {node})):  # what is needed comes first
        circle = {n for n in needs[node] if node in needs[n]} | {node}
        floor_of[node] = 1 + max((floor_of[n] for n in needs[node] - circle), default=0)
    return sorted(n for n in edges if n in needs[n]), max(floor_of.values(), default=0)


def folders_of(files):
    """{folder: {file or inner folder: those of the same folder that it includes}}; a header and its sources are one file,
    and so is all that lies in an inner folder. `files` is {path below src/: its text}."""
    folders = {}
    for place, text in files.items():
        included = [name for name in (match[0] for match in INCLUDE.findall(text)) if name in files]
        parts = place.split('/')
        for depth in range(1, len(parts)):
            folder = '/'.join(parts[:depth])
            node = os.path.splitext(parts[depth])[0]
            needed = {os.path.splitext(name.split('/')[depth])[0] for name in included if name.startswith(folder + '/')}
            folders.setdefault(folder, {}).setdefault(node, set()).update(needed - {node})
    return folders


def shape(files):
    """{(what, name): (how much, what is wrong)}: what of the rooms cannot be seen at a glance."""
    found = {}
    for folder, edges in folders_of(files).items():
        count = sum(place.endswith('.c') and os.path.dirname(place) == folder for place in files)
        if count > MAX_FOLDER_FILES:
            found['files', folder] = count, f'{count} .c files; a folder has at most {MAX_FOLDER_FILES}, others go into inner folders'
        circle, floors = circles_and_floors(edges)
        if circle:
            found['circle', folder] = len(circle), f'{" ".join(circle)} include each other in circles'
        if floors > MAX_FOLDER_FLOORS:
            found['floors', folder] = floors, f'{floors} floors; a folder has at most {MAX_FOLDER_FLOORS}'
    names, tags = {}, {}
    for place, text in files.items():
        names.setdefault(os.path.splitext(os.path.basename(place))[0], set()).add(os.path.dirname(place))
        for tag in TAG.findall(text):
            tags.setdefault(tag, set()).add(place)
    found.update({('name', name): (len(there), f'{name} is a file of {" ".join(sorted(there))}; a name says its act, once')
                  for name, there in names.items() if len(there) > 1})
    found.update({('tag', tag): (len(there), f'{tag} is a struct, union or enum of {" ".join(sorted(there))}; each has one name')
                  for tag, there in tags.items() if len(there) > 1})
    return found


def read_all(source):
    files = {}
    for path, place in sources(source):
        with open(path, encoding='utf-8') as file:
            files[place] = file.read()
    return files


def check_shape(root):
    """Yields what shape() finds and tools/rooms_open.txt does not allow: `WHAT NAME COUNT` a line, at most so many."""
    allowed = {}
    path = os.path.join(root, 'tools', 'rooms_open.txt')
    if os.path.exists(path):
        with open(path, encoding='utf-8') as lines:
            words = [line.split('#')[0].split() for line in lines]
        allowed = {(what, name): int(count) for what, name, count in filter(None, words)}
    found = shape(read_all(os.path.join(root, 'src')))
    for (what, name), (count, wrong) in sorted(found.items()):
        if count > allowed.get((what, name), 0):
            yield f'src: {what} {name}: {wrong}'
    for what, name in sorted(allowed.keys() - found.keys()):
        yield f'tools/rooms_open.txt: {what} {name} holds now; take the line away'


def check_rules(rules, source):
    """Yields what floors.txt names and the tree does not have."""
    for room in rules.floor_of:
        if not os.path.isdir(os.path.join(source, room)):
            yield f'tools/floors.txt: there is no room {room}'
    for header, places in rules.places_of.items():
        for place in places:
            folder, start = os.path.split(os.path.join(source, place))
            if not (os.path.isdir(folder) and any(name.startswith(start) for name in os.listdir(folder))):
                yield f'tools/floors.txt: {header} may be included in {place}, which does not exist'


SHARED = re.compile(r'(common|common_\w+|\w+_network|\w+_operators)$')
IMPORT = re.compile(r'(?:from (\w+) import|import ((?:\w+(?: as \w+)?(?:, )?)+)$)')


def imported(text, here):
    """The modules of the folder `here` that a module's text imports, with their lines. A name that only a framework's
    adapter has, as in `import jax`, is the framework: common.py sees to that."""
    for number, line in enumerate(text.split('\n'), 1):
        match = IMPORT.match(line.split('#')[0].strip())
        if match:
            names = [match.group(1)] if match.group(1) else [n.split()[0] for n in match.group(2).split(',')]
            yield from ((name, number) for name in names if name in here and SHARED.match(name))


def check_adapters(folder):
    """Yields what in the folder imports against the direction: adapter, network, operators, common, plan, what those are made of."""
    def level(name):
        ends = ('_operators', 2), ('_network', 1)
        made_of = {'common': 3, 'common_plan': 4, 'common_channel': 6, 'common_tensors': 6, 'common_protocol': 7}  # the others lie between
        return made_of.get(name) or (5 if name.startswith('common_') else next((n for end, n in ends if name.endswith(end)), 0))
    names = sorted(name[:-3] for name in os.listdir(folder) if name.endswith('.py')) if os.path.isdir(folder) else []
    for name in names:
        with open(os.path.join(folder, name + '.py'), encoding='utf-8') as file:
            for other, number in imported(file.read(), names):
                if level(other) <= level(name):
                    yield f'adapters/{name}.py:{number}: must not import {other}: what is shared imports no user of it'


def sources(source):
    """(path, path below `source`) of every source file."""
    for folder, folders, names in os.walk(source):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            place = os.path.relpath(path, source)
            if name.endswith(('.c', '.h', '.inc')) and '/' in place:
                yield path, place


def check_tree(root):
    """All violations below root/src, as lines of text."""
    rules = Rules(os.path.join(root, 'tools', 'floors.txt'))
    source = os.path.join(root, 'src')
    found = list(check_rules(rules, source))
    getters = Getters(os.path.join(root, 'tools', 'getters.txt'))
    found += [f'tools/getters.txt: there is no {place}' for place in getters.most
              if not os.path.exists(os.path.join(source, place))]
    for path, place in sources(source):
        found += [f'src/{place}:{line}: {wrong}' for line, wrong in check_file(rules, getters, path, place)]
    return found + list(check_shape(root)) + list(check_adapters(os.path.join(root, 'adapters')))


SELF_TEST_FLOORS = '# floors\nbase\nleft right\ntop empty\n# headers\nspecial.h left/one.c left/none.c\n'
SELF_TEST_GETTERS = 'edge left/\ntop/few.c 2\ntop/gone.c 1\n'
SELF_TEST_OPEN = 'files left 3\nname cell 2\nname a 4\n'
SELF_TEST_SHAPE = {  # path below src/: text
    **{f'left/wing/f{k}.c': '' for k in range(20)}, **{f'left/full/n{k}.c': '' for k in range(21)},
    **{f'right/s{k}.c': f'#include "right/s{k + 1}.h"\n' for k in range(6)},
    **{f'right/s{k}.h': 'struct once { int x; };\nstruct once;\n' if k == 1 else '' for k in range(1, 7)},
    'base/one/p.h': '#include "base/two/q.h"\nstruct ys_twice {\n', 'base/two/q.h': '', 'base/two/r.c': '#include "base/one/p.h"\n',
    'base/two/cell.c': 'struct ys_twice {\n', 'right/cell.c': '', 'right/good.c': '',
}
SELF_TEST_SHAPE_FOUND = [
    'src: circle base: one two include', 'src: files left/full: 21 .c files', 'src: floors right: 7 floors',
    'src: name good: good is a file of base right', 'src: tag ys_twice: ys_twice is',
    'tools/rooms_open.txt: files left holds now', 'tools/rooms_open.txt: name a holds now']
SELF_TEST_FILES = {  # path below src/: (text, what must be found in it, in order)
    'base/good.c': ('#include "base/good.h"\n#include <stdio.h>\n#include <sys/stat.h>\n'
                    'static const char *const text = "{ \\" {";\nint f(void)\n{\n    return \'{\';\n}\n', []),
    'base/good.h': ('int f(void);\n', []),
    'base/upward.c': ('/* */\n#include "top/a.h"\n', ['2: base must not include "top/a.h": top is on a higher floor']),
    'left/one.c': ('#include <special.h>\n#include <maker/special.h>\n#include "base/good.h"\n#include "yardstick/engine.h"\n', []),
    'left/neighbour.c': ('  #  include "right/a.h"\n',
                         ['1: left must not include "right/a.h": right is on the same floor']),
    'left/one_other.c': ('#include <special.h>\n', ['1: <special.h> may be included in left/one.c left/none.c only']),
    'right/unlisted.c': ('#include <curl/curl.h>\n', ['1: <curl/curl.h> is a third-party header']),
    'right/relative.c': ('#include "../top/a.h"\n#include "a.h"\n', ['1: "../top/a.h" must', '2: "a.h" must']),
    'right/unknown.c': ('#include "attic/a.h"\n', ['1: "attic/a.h": attic is not a room']),
    'top/a.h': ('#include "left/a.h"\n#include "right/a.h"\n', []),
    'top/longest.c': ('int f(void)\n{\n' + '    g();\n' * 56 + '}\n', []),
    'top/too_long.c': ('int x;\n\nint f(int a,\n      int b)\n{\n' + '    g();\n' * 56 + '}\n', ['3: f has 60 lines']),
    'base/upward.inc': ('#include "top/a.h"\nstatic void NAME(f)(int x)\n{\n' + '    g();\n' * 57 + '}\n',
                        ['1: base must not include "top/a.h": top is on a higher floor', '2: NAME has 60 lines']),
    'top/table.c': ('static int t[] = {\n' + '    1,\n' * 100 + '};\n', []),
    'top/longest_file.c': ('int x;\n' * 799, []),
    'top/too_long_file.c': ('int x;\n' * 800, ['800: 800 lines']),
    'left/edge.c': ('int x = ys_json_get_int(a, "b", 0);\n', []),
    'top/few.c': ('/* ys_json_get(a, "b") */ int x = ys_json_get_int(ys_json_get(f(a, b), "c"), "d", 0);\n'
                  'int y = ys_json_get_text(a, name, "e");\n', []),
    'top/many.c': ('int x = ys_json_get_int(a,\n    "b", 0);\n', ['1: 1 members of JSON are got by name, at most 0']),
    'attic/a.c': ('int x;\n', ['1: attic is not a room']),
    'top/whole_switch.c': ('int f(void)\n{\n    switch (op) {\n    case YS_OP_ADD: {\n        return 1;\n    }\n    case YS_OP_SUB:\n'
                           '        switch (k) {\n        case 1:\n        default:\n            return 2;\n        }\n    }\n}\n', []),
    'top/silent_switch.c': ('int f(void)\n{\n    switch (op) {\n    case YS_OP_ADD:\n        return 1;\n    default:\n        return 0;\n'
                            '    }\n}\n', ['3: a switch over operators has a default']),
}


SELF_TEST_ADAPTERS = {
    'common': 'import json\n', 'jax': 'import common\nimport jax  # the framework\n',
    'one_network': 'import common, os\nimport jax\nfrom two_network import Net\n', 'two_network': 'import common\n',
    'common_protocol': 'import common\n',
}


def self_test_shape():
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(os.path.join(root, 'tools'))
        with open(os.path.join(root, 'tools', 'rooms_open.txt'), 'w', encoding='utf-8') as file:
            file.write(SELF_TEST_OPEN)
        for place, text in {**SELF_TEST_SHAPE, 'base/good.h': ''}.items():
            path = os.path.join(root, 'src', place)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)
        found = list(check_shape(root))
    if len(found) == len(SELF_TEST_SHAPE_FOUND) and all(map(str.startswith, found, SELF_TEST_SHAPE_FOUND)):
        return 0
    print(f'rooms: found {found}')
    return 1


def self_test():
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(os.path.join(root, 'tools'))
        with open(os.path.join(root, 'tools', 'floors.txt'), 'w', encoding='utf-8') as file:
            file.write(SELF_TEST_FLOORS)
        with open(os.path.join(root, 'tools', 'getters.txt'), 'w', encoding='utf-8') as file:
            file.write(SELF_TEST_GETTERS)
        for place, (text, _) in SELF_TEST_FILES.items():
            path = os.path.join(root, 'src', place)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)
        os.mkdir(os.path.join(root, 'adapters'))
        for name, text in SELF_TEST_ADAPTERS.items():
            with open(os.path.join(root, 'adapters', name + '.py'), 'w', encoding='utf-8') as file:
                file.write(text)
        found = check_tree(root)
    failures = self_test_shape()
    adapters = [line.split(': ')[0] for line in found if line.startswith('adapters/')]
    if adapters != ['adapters/common_protocol.py:1', 'adapters/one_network.py:3']:
        failures += 1
        print(f'adapters: found {adapters}')
    rules = [line for line in found if line.startswith('tools/')]
    if [line for line in found if line.startswith('src: ')] != [
            'src: name a: a is a file of attic top; a name says its act, once']:
        failures += 1
        print(f'rooms: found {found}')
    if rules != ['tools/floors.txt: there is no room empty',
                 'tools/floors.txt: special.h may be included in left/none.c, which does not exist',
                 'tools/getters.txt: there is no top/gone.c']:
        failures += 1
        print(f'floors.txt: found {rules}')
    for place, (_, expected) in SELF_TEST_FILES.items():
        here = [line[len('src/' + place) + 1:] for line in found if line.startswith(f'src/{place}:')]
        if len(here) != len(expected) or not all(h.startswith(e) for h, e in zip(here, expected)):
            failures += 1
            print(f'{place}: found {here}, expected {expected}')
    total = len(SELF_TEST_FILES) + 4
    print(f'self-test: {total - failures} of {total} files judged as expected')
    return 1 if failures else 0


def main(arguments):
    if arguments == ['--self-test']:
        return self_test()
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if arguments == ['--getters']:
        print_getters(here)
        return 0
    if arguments == ['--open']:
        print(*(f'{what} {name} {count}' for (what, name), (count, _) in sorted(shape(read_all(os.path.join(here, 'src'))).items())), sep='\n')
        return 0
    if len(arguments) > 1 or any(a.startswith('-') for a in arguments):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    root = arguments[0] if arguments else here
    try:
        found = check_tree(root)
    except OSError as error:
        print(f'check_floors.py: {error}', file=sys.stderr)
        return 2
    print(*found, sep='\n', end='\n' if found else '')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
