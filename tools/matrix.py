#!/usr/bin/env python3
"""Runs the tests in surroundings that they may not assume to be otherwise, and counts the cases of all of them.

    tools/matrix.py BUILD [--quick] [--third N,...] [--row NAME ...] [--list]

Each row of the table below is one: an instruction set, one CPU, an ordinary user, blanks in every path, a decimal comma, a umask, a HOME
that is of no use, no network, no oneDNN, another kind of processor (emulated: nothing is timed there). In each, tools/run_tests.py runs the tests of `make test`; with --quick those that are most likely to
mind, four rows side by side, as most of them wait. Prints what fails and a line for each row, then `N passed, N failed, N skipped`. What
this machine cannot make is skipped with its reason. --third: only every third of those rows, from the Nth on (0 to 2); 0,2: those two.
--list names the rows.
"""
import argparse
import concurrent.futures
import contextlib
import dataclasses
import json
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Callable, Optional

import thirds

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
COUNTS = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")
BUILT = "meson-private"  # is in every build folder
NO_ONEDNN, AARCH64, WASM = "no-onednn", "aarch64", "wasm"  # builds of rows below BUILD
NOT_COPIED = {".git", "__pycache__", NO_ONEDNN, AARCH64, WASM}
OF_MAKE = "yardstick"  # begins the names of programs beside the Makefile, and of results
OF_OBJECTS = (".p", ".a")  # what the linker has used is not needed to run
HOME_VARIABLES = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "YARDSTICK_CACHE")
LOCALE = "de_DE.UTF-8"
SIDE_BY_SIDE = 4
SAY_DECIMAL_POINT = "import locale; locale.setlocale(locale.LC_ALL, ''); print(locale.localeconv()['decimal_point'])"
# In a network of its own loopback is there, but down: SIOCSIFFLAGS with IFF_UP.
WITH_LOOPBACK = "import fcntl, os, socket, struct, sys\n" \
                "fcntl.ioctl(socket.socket(), 0x8914, struct.pack('16sH22x', b'lo', 1))\n" \
                "os.execvp(sys.argv[1], sys.argv[1:])"
# Of Debian, for meson.build; of its tests, those of the engine alone are built.
FOREIGN = ("libjansson-dev", "libjansson4", "libmd-dev", "libmd0", "libsqlite3-dev", "libsqlite3-0", "zlib1g-dev", "zlib1g",
           "libjpeg62-turbo-dev", "libjpeg62-turbo", "libpng-dev", "libpng16-16", "libzstd-dev", "libzstd1")
EMULATOR = ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu")
CROSS = """[binaries]
c = 'aarch64-linux-gnu-gcc'
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = """ + repr(list(EMULATOR)) + """
[properties]
sys_root = '%(root)s'
pkg_config_libdir = '%(libraries)s/pkgconfig'
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
"""
# No distribution has libraries for WebAssembly: these are made of Debian's sources.
WASM_LIBRARIES = {"libmd": ("md", "include", "sha2 md5"), "jansson": ("jansson", "src", "dump error hashtable hashtable_seed load memory "
                                                                 "pack_unpack strbuffer strconv utf value version")}
NODE = ["node", "--no-experimental-fetch"]  # with it the compiler's own text would ask the network for the module
WASM_CROSS = """[binaries]
c = 'emcc'
ar = 'emar'
pkgconfig = 'pkg-config'
exe_wrapper = """ + repr(NODE) + """
[properties]
pkg_config_libdir = '%s'
[built-in options]
c_std = 'none'  # meson knows no later one of this compiler than 11
c_args = ['-std=gnu17', '-msimd128', '-mnontrapping-fptoint']
c_link_args = ['-sALLOW_MEMORY_GROWTH=1', '-sINITIAL_MEMORY=256MB', '-sTOTAL_STACK=4MB', '-sEXIT_RUNTIME=1', '-sNODERAWFS=1']
[host_machine]
system = 'emscripten'
cpu_family = 'wasm32'
cpu = 'wasm32'
endian = 'little'
"""


class Skip(Exception):
    """This machine cannot make these surroundings."""


class Broken(Exception):
    """The surroundings could be made, and are not what they should be."""


@dataclasses.dataclass
class Place:
    """Where and how the tests of a row run."""
    root: str
    build: str
    env: dict
    prefix: tuple = ()  # a command that starts another one
    options: dict = dataclasses.field(default_factory=dict)  # of Popen

    def start(self, command, **more):
        return subprocess.Popen([*self.prefix, *command], cwd=self.root, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, errors="replace", **self.options, **more)

    def output(self, command):
        """What a command that must succeed says."""
        process = self.start(command)
        out = process.communicate()[0]
        if process.returncode:
            raise Broken("%s ended with %d: %s" % (" ".join(command), process.returncode, out.strip()[-2000:]))
        return out.strip()


def plain(build):
    return Place(ROOT, build, dict(os.environ))


def scratch(made, prefix):
    """A folder that goes when the row has ended, and that any user may enter."""
    folder = tempfile.mkdtemp(prefix=prefix)
    made.callback(shutil.rmtree, folder, ignore_errors=True)
    os.chmod(folder, 0o755)
    return folder


def copy_checkout(root, build=None):
    """Copies the checkout; of build folders `build` alone, with the programs that it has, which then knows itself to be in its new place."""
    def left_out(folder, names):
        in_build = build and os.path.commonpath([folder, build]) == build
        return [name for name in names if name in NOT_COPIED or in_build and name.endswith(OF_OBJECTS) or
                folder == ROOT and name.startswith(OF_MAKE) or
                os.path.exists(os.path.join(folder, name, BUILT)) and os.path.join(folder, name) != build]

    shutil.copytree(ROOT, root, symlinks=True, ignore=left_out)
    if not build:
        return None
    copied = os.path.join(root, os.path.relpath(build, ROOT))
    told = os.path.join(copied, "meson-info", "intro-tests.json")  # what run_tests.py reads
    with open(told, encoding="utf-8") as file:
        text = file.read().replace(ROOT, root)
    with open(told, "w", encoding="utf-8") as file:
        file.write(text)
    return copied


def is_open(path):
    """Whether every user may go to what is at this path."""
    path = os.path.realpath(path)
    return os.path.exists(path) and (path == "/" or bool(os.stat(path).st_mode & 0o001) and is_open(os.path.dirname(path)))


def change_tests(build, change):
    """What the tests of a build start is changed, in what run_tests.py reads."""
    told = os.path.join(build, "meson-info", "intro-tests.json")
    with open(told, encoding="utf-8") as file:
        tests = json.load(file)
    for test in tests:
        test["cmd"] = change(test["cmd"])
    with open(told, "w", encoding="utf-8") as file:
        json.dump(tests, file)


def use_open_programs(copied, search):
    """The interpreters of the tests are those of `search`, where every user can go, and not of the home of the one who configured the build."""
    def change(command):
        if is_open(command[0]):
            return command
        return [shutil.which(os.path.basename(command[0]), path=search) or command[0], *command[1:]]

    change_tests(copied, change)


def need_build_inside(build):
    if os.path.commonpath([ROOT, build]) != ROOT:
        raise Skip("%s is not below the checkout, and is not copied with it" % build)


def with_isa(isa):
    def make(build, made):
        place = plain(build)
        place.env["ONEDNN_MAX_CPU_ISA"] = isa
        return place
    return make


def on_one_cpu(build, made):
    first = min(os.sched_getaffinity(0))
    return dataclasses.replace(plain(build), options={"preexec_fn": lambda: os.sched_setaffinity(0, {first})})


def as_user(build, made):
    if os.geteuid() != 0:
        raise Skip("the user is an ordinary one, in every row")
    need_build_inside(build)
    try:
        entry = pwd.getpwnam("nobody")
    except KeyError as lacking:
        raise Skip("there is no user nobody") from lacking
    folder = scratch(made, "ys-user-")
    home, root = os.path.join(folder, "home"), os.path.join(folder, "yardstick")
    copied = copy_checkout(root, build)
    os.mkdir(home)
    for below, folders, files in os.walk(folder):
        for name in [".", *folders, *files]:
            os.chown(os.path.join(below, name), entry.pw_uid, entry.pw_gid, follow_symlinks=False)
    search = os.pathsep.join(filter(is_open, os.environ["PATH"].split(os.pathsep)))
    use_open_programs(copied, search)
    env = {name: value for name, value in os.environ.items() if name not in HOME_VARIABLES}
    return Place(root, copied, dict(env, HOME=home, USER=entry.pw_name, LOGNAME=entry.pw_name, PATH=search),
                 options={"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []})


def with_blanks(made):
    """A folder for temporary files whose name has a blank, and one of a checkout in it."""
    folder = scratch(made, "ys blank ")
    temporary = os.path.join(folder, "t m p")
    os.mkdir(temporary)
    os.chmod(temporary, 0o1777)  # as /tmp is
    return dict(os.environ, TMPDIR=temporary), os.path.join(folder, "my yardstick")


def in_blank(build, made):
    need_build_inside(build)
    env, root = with_blanks(made)
    return Place(root, copy_checkout(root, build), env)


def built_in_blank(build, made):
    env, root = with_blanks(made)
    copy_checkout(root)
    place = Place(root, os.path.join(root, "build"), env)
    place.output(["make", "BUILD=build"])
    place.output(["ninja", "-C", "build", "--quiet"])
    return place


def with_comma(build, made):
    if not shutil.which("localedef") or not os.path.exists("/usr/share/i18n/locales/de_DE"):
        raise Skip("no localedef or no source of %s; on Debian: apt-get install locales" % LOCALE)
    folder = scratch(made, "ys-locale-")
    place = plain(build)
    place.output(["localedef", "-i", "de_DE", "-f", "UTF-8", os.path.join(folder, LOCALE)])
    place.env.update(LOCPATH=folder, LC_ALL=LOCALE)
    if (point := place.output(["python3", "-c", SAY_DECIMAL_POINT])) != ",":
        raise Broken("%s did not take: the decimal point is %s" % (LOCALE, point))
    return place


def with_umask(build, made):
    return dataclasses.replace(plain(build), options={"umask": 0o077})


def without_home(build, made):
    place = plain(build)
    for name in HOME_VARIABLES:
        place.env.pop(name, None)
    return place


def with_locked_home(build, made):
    place = without_home(build, made)
    place.env["HOME"] = "/dev/null"  # below it not even root can make anything
    return place


def with_network(start):
    """A network of its own, in which `start` is to start the command."""
    def make(build, made):
        prefix = ("unshare", "--net") if os.geteuid() == 0 else ("unshare", "--user", "--map-current-user", "--keep-caps", "--net")
        place = dataclasses.replace(plain(build), prefix=(*prefix, *start))
        try:
            place.output(["true"])
        except (OSError, Broken) as refused:
            raise Skip("no network of its own can be made: %s" % refused) from refused
        return place
    return make


def without_onednn(build, made):
    place = plain(os.path.join(build, NO_ONEDNN))
    place.output(["python3", "tools/build.py", place.build, "--setup=-Donednn=disabled", "engine-tests"])
    return place


def fetch_libraries(place, root):
    """What meson.build asks for, as Debian has it for aarch64, unpacked below `root`: nothing of it is installed on this machine."""
    if os.path.exists(root):
        return
    folder = root + ".new"
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("lists/partial", "archives/partial", "debs", "root"):
        os.makedirs(os.path.join(folder, name))
    with open(os.path.join(folder, "status"), "w", encoding="utf-8"):
        pass
    settings = {"APT::Architecture": "arm64", "APT::Architectures::": "arm64", "Dir::State": folder, "Dir::State::status": folder + "/status",
                "Dir::Cache": folder}
    apt = ["apt-get", "-qq", *("-o%s=%s" % setting for setting in settings.items())]
    try:
        place.output([*apt, "update"])
        place.output(["sh", "-c", 'cd "$0" && "$@"', folder + "/debs", *apt, "download", *FOREIGN])
    except (OSError, Broken) as lacking:
        raise Skip("the libraries for aarch64 cannot be had: %s" % lacking) from lacking
    for name in os.listdir(folder + "/debs"):
        place.output(["dpkg-deb", "-x", os.path.join(folder, "debs", name), folder + "/root"])
    os.rename(folder + "/root", root)
    shutil.rmtree(folder)


def make_libraries_for_wasm(place, root):
    """Static libraries and their pkg-config files in `root`, of the sources of what this machine's own packages are made of."""
    if os.path.exists(root):
        return
    folder = root + ".new"
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder + "/lists/partial")
    apt = ["apt-get", "-qq", "-oDir::State::lists=" + folder + "/lists", "-oDir::Etc::sourceparts=" + folder, "-oDir::Etc::sourcelist=/dev/null"]
    try:
        with open("/etc/apt/sources.list.d/debian.sources", encoding="utf-8") as file, open(folder + "/a.sources", "w", encoding="utf-8") as own:
            own.write(re.sub("^Types:.*", "Types: deb-src", file.read(), flags=re.MULTILINE))
        place.output([*apt, "update"])
        place.output(["sh", "-c", 'cd "$0" && "$@" && for archive in *.orig.tar.?z; do tar -xf "$archive"; done', folder, *apt, "source",
                      "--download-only", *WASM_LIBRARIES])
    except (OSError, Broken) as lacking:
        raise Skip("the libraries' sources cannot be had: %s" % lacking) from lacking
    for package, (name, headers, files) in WASM_LIBRARIES.items():
        source = next(os.path.join(folder, entry) for entry in os.listdir(folder) if entry.startswith(package + "-"))
        for header in ("config.h", "src/jansson_private_config.h"):
            with open(os.path.join(source, header), "w", encoding="utf-8") as file:
                file.write("#define HAVE_STDINT_H 1\n")
        shutil.copy("/usr/include/jansson_config.h", source + "/src")
        place.output(["sh", "-c", 'cd "$0" && emcc -O2 -DHAVE_CONFIG_H -D__THROW= -I. -Iinclude -Isrc -c %s && emar rcs lib%s.a *.o' % (
            " ".join("src/%s.c" % name for name in files.split()), name), source])
        kept = os.path.join(root, package)
        with open(os.path.join(folder, package + ".pc"), "w", encoding="utf-8") as file:
            file.write("Name: %s\nDescription: for WebAssembly\nVersion: 2.14\nCflags: -I%s/%s\nLibs: %s/lib%s.a\n" % (
                package, kept, headers, kept, name))
        os.rename(source, os.path.join(folder, package))
    os.rename(folder, root)


def on_another(name, packages, lacks, make_libraries, cross, start):
    """The engine's tests, built for another kind of processor with libraries in a folder of their own, `root`: the text of meson's cross
    file is cross(root), and start(root) begins the command of each test."""
    def make(build, made, target="engine-tests"):
        folder = os.path.join(build, name)
        root, file_name, place = os.path.join(folder, "root"), os.path.join(folder, "cross.ini"), plain(os.path.join(folder, "build"))
        os.makedirs(folder, exist_ok=True)
        try:
            place.output(["tools/packages.sh", *packages])
        except Broken as lacking:
            raise Skip("%s: %s" % (lacks, lacking)) from lacking
        make_libraries(place, root)
        with open(file_name, "w", encoding="utf-8") as file:
            file.write(cross(root))
        place.output(["python3", "tools/build.py", place.build, "--setup=--cross-file=" + file_name, "--setup=-Donednn=disabled", target])
        change_tests(place.build, lambda command: command if command[0] == start(root)[0] else [*start(root), *command])
        return place
    return make


def foreign_libraries(root):
    return os.path.join(root, "usr/lib/aarch64-linux-gnu")


on_aarch64 = on_another(
    AARCH64, ("gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross", "qemu-user"), "no compiler for aarch64 and no emulator of it", fetch_libraries,
    lambda root: CROSS % {"root": root, "libraries": foreign_libraries(root)},
    lambda root: [*EMULATOR, "-E", "LD_LIBRARY_PATH=" + foreign_libraries(root)])
on_wasm = on_another(WASM, ("emscripten",), "no compiler for WebAssembly", make_libraries_for_wasm, lambda root: WASM_CROSS % root, lambda root: NODE)


@dataclasses.dataclass
class Row:
    name: str
    make: Callable  # (build, ExitStack) -> Place
    quick: Optional[tuple]  # what run_tests.py is told; None: not one of the quick ones
    full: tuple = ()  # all that `make test` runs


def suites(*names):
    return tuple("--suite=" + name for name in names)


def programs(*names):
    return tuple("--test=" + name for name in names)


ENGINE = suites("backend", "engine")
KERNELS = ENGINE + suites("builtin", "verify")
# Numbers in and out, files and their modes, paths handed on.
HANDED_ON = suites("base", "job", "session", "crew", "run", "report", "store") + programs("cli/export_forms", "cli/folders", "cli/pipes", "cli/clean")
COPIED = ("--except=library",)  # which installs from where the build was configured: of build-blank
ROWS = [
    Row("no-onednn", without_onednn, ENGINE, ENGINE),
    Row("aarch64", on_aarch64, None, ENGINE),
    Row("wasm", on_wasm, None, ENGINE),
    Row("isa-sse41", with_isa("SSE41"), KERNELS),
    Row("isa-avx2", with_isa("AVX2"), KERNELS),
    Row("one-cpu", on_one_cpu, suites("base", "session", "crew", "run", "prepare", "study") + programs("cli/life")),
    Row("user", as_user, HANDED_ON, COPIED),
    Row("blank", in_blank, HANDED_ON, COPIED),
    Row("build-blank", built_in_blank, None),
    Row("locale", with_comma, HANDED_ON),
    Row("umask", with_umask, HANDED_ON),
    Row("home-unset", without_home, suites("base", "framework") + programs("cli/install", "cli/pipes")),
    Row("home-locked", with_locked_home, suites("base", "framework") + programs("cli/install", "cli/pipes")),
    Row("no-network", with_network(("python3", "-c", WITH_LOOPBACK)), suites("dist", "session", "crew", "run")),
    Row("no-loopback", with_network(()), suites("base", "framework"), suites("base", "framework", "job", "store", "report", "prepare", "study")),
]


def run_row(row, build, selection, told):
    """The counts of one row, whose failures it adds to `told`."""
    counts = None
    with contextlib.ExitStack() as made:
        place = row.make(build, made)
        process = place.start(["python3", "tools/run_tests.py", place.build, *selection])
        is_told = False
        for line in process.stdout:
            counts = COUNTS.match(line) or counts
            is_told = line.startswith(("FAIL", "run_tests:")) or is_told and line.startswith("     ")
            if is_told:
                told.append(line.rstrip("\n"))
        code = process.wait()
    if not counts:
        raise Broken("run_tests.py ended with %d and printed no counts" % code)
    passed, failed, skipped = map(int, counts.groups())
    return passed, failed or (1 if code else 0), skipped


def tell_row(row, build, is_quick):
    """The same, and what is to be printed: what was told, and the row's line."""
    told, reason = [], ""
    try:
        counts = run_row(row, build, row.quick if is_quick else row.full, told)
    except Skip as why:
        counts, reason = (0, 0, 1), ": " + str(why)
    except Broken as why:
        counts, reason = (0, 1, 0), ": " + str(why)
    told.append("row %-11s %d passed, %d failed, %d skipped%s" % (row.name, *counts, reason))
    return counts, "\n".join(told)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", nargs="?")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--third", type=thirds.parse)
    parser.add_argument("--row", action="append", default=[], choices=[row.name for row in ROWS])
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    rows = [row for row in ROWS if row.name in arguments.row or not arguments.row and (row.quick or not arguments.quick)]
    rows = thirds.of(rows, arguments.third)
    if arguments.list:
        print("\n".join(row.name for row in rows))
        return 0
    if not arguments.build:
        parser.error("which build folder? (make makes one: build)")
    build = os.path.realpath(arguments.build)
    totals = [0, 0, 0]
    with concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE if arguments.quick else 1) as pool:
        for counts, text in pool.map(lambda row: tell_row(row, build, arguments.quick and row.quick), rows):
            print(text, flush=True)
            totals = [a + b for a, b in zip(totals, counts)]
    print("%d passed, %d failed, %d skipped" % tuple(totals))
    return 1 if totals[1] else 0


if __name__ == "__main__":
    sys.exit(main())
