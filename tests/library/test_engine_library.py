"""The engine as a library: what is installed is enough for a stranger's program, and shows nothing else."""
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

ROOT, BUILD, CC = (os.environ[name] for name in ("YS_SOURCE_ROOT", "YS_BUILD_ROOT", "CC"))
HEADER = os.path.join("include", "yardstick", "engine.h")
TARGET = tempfile.mkdtemp(prefix="ys-library-", dir="/tmp")  # pkg-config prints a blank of its sysroot as it is
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
os.environ["CCACHE_DISABLE"] = "1"  # where the compiler is called through it: it wants a HOME to write into


def run(*command, **options):
    """The output of a command that must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)
    assert done.returncode == 0, "%s ended with %d\n%s\n%s" % (" ".join(command), done.returncode, done.stdout[-2000:], done.stderr[-4000:])
    return done.stdout


def find(name):
    """The installed file of that name."""
    found = [os.path.join(folder, name) for folder, _, names in os.walk(TARGET) if name in names]
    assert len(found) == 1, "%s is installed as %s" % (name, found)
    return found[0]


def setUpModule():
    run("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", TARGET, "--tags", "devel,runtime")


def tearDownModule():
    shutil.rmtree(TARGET, ignore_errors=True)


def flags(*arguments):
    """What pkg-config says of the installed library, below the scratch folder."""
    env = dict(os.environ, PKG_CONFIG_PATH=os.path.dirname(find("yardstick-engine.pc")), PKG_CONFIG_SYSROOT_DIR=TARGET)
    return shlex.split(run("pkg-config", *arguments, "yardstick-engine", env=env))


def declared():
    """The functions that the installed header declares."""
    with open(find("engine.h"), encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    names = re.findall(r"YS_ENGINE_API\s[^;(]*?\b(ys_engine\w*)\(", text)
    assert len(names) > 20, names
    return names


class EngineLibrary(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="ys-library-use-")
        self.addCleanup(shutil.rmtree, self.folder, True)

    def build(self, source, *arguments):
        program = os.path.join(self.folder, "program")
        run(*shlex.split(CC), "-std=c11", "-O2", *STRICT, source, "-o", program, *arguments)
        return program

    def train(self, program):
        out = run(program, cwd=self.folder, env=dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(find("yardstick-engine.pc")) + "/.."))
        self.assertGreater(os.path.getsize(os.path.join(self.folder, "lenet.safetensors")), 3274634 * 4)
        loss = float(re.fullmatch(r"100 steps on \w+: a loss of (\S+) on new rows\n", out).group(1))
        # An untrained network gives ln(10) = 2.3; this one separates bars almost at once.
        self.assertLess(loss, 0.5)
        return out

    def test_the_example_has_forty_lines(self):
        with open(os.path.join(ROOT, "examples", "train_lenet.c"), encoding="utf-8") as file:
            self.assertLessEqual(len(file.readlines()), 40)

    def test_the_example_trains_with_the_shared_and_the_static_library_alike(self):
        source = os.path.join(ROOT, "examples", "train_lenet.c")
        shared = self.build(source, *flags("--cflags", "--libs"))
        self.assertIn("libyardstick-engine.so.0", run("readelf", "-d", shared))
        first = self.train(shared)
        private = [flag.replace("-lyardstick-engine", "-l:libyardstick-engine.a") for flag in flags("--cflags", "--libs", "--static")]
        static = self.build(source, *private)
        self.assertNotIn("yardstick", run("readelf", "-d", static))
        self.assertEqual(self.train(static), first)

    def test_the_shared_library_shows_what_the_header_declares_and_nothing_else(self):
        library = find("libyardstick-engine.so.0")
        shown = [line.split()[-1] for line in run("nm", "--dynamic", "--defined-only", library).splitlines()]
        self.assertEqual(sorted(shown), sorted(declared()))

    def test_the_header_stands_alone_and_names_no_structure_that_it_does_not_hold(self):
        with open(find("engine.h"), encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(set(re.findall(r"#include <(\S+)>", text)), {"stdbool.h", "stddef.h", "stdint.h"})
        self.assertNotIn('#include "', text)
        held = set(re.findall(r"^struct (\w+) \{", text, flags=re.M)) | {"ys_engine"}
        self.assertEqual(set(re.findall(r"\bstruct (ys_\w+)", text)) - held, set())
        source = os.path.join(self.folder, "alone.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write("#include <yardstick/engine.h>\n")
        for language in ("c", "c++"):
            with self.subTest(language):
                if language == "c++" and not shutil.which("g++"):
                    continue
                compiler = ["g++", "-std=c++17"] if language == "c++" else shlex.split(CC) + ["-std=c99"]
                run(*compiler, *STRICT, "-fsyntax-only", "-x", language, source, *flags("--cflags"))
