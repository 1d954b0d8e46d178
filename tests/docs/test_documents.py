"""What the documents say of the tree is so: rooms, counts, links and files that they name."""
import glob
import json
import os
import re
import shlex
import subprocess
import tempfile
import unittest

ROOT, BIN = os.environ["YS_SOURCE_ROOT"], os.environ["YARDSTICK_BIN"]
PAGES = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/models.md"]


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def pages():
    return PAGES + sorted({os.path.relpath(page, ROOT) for page in glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True)} - set(PAGES))


def listed(what):
    done = subprocess.run([os.path.join(BIN, "yardstick"), "list", what, "--format=json"], check=True, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)
    return json.loads(done.stdout)[what]


class Documents(unittest.TestCase):
    def test_the_rooms_of_the_architecture_are_those_of_the_source_on_their_floors(self):
        rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", read("ARCHITECTURE.md"), flags=re.M)
        floors = [line.split("#")[0].split() for line in read("tools/floors.txt").splitlines()]
        floors = [rooms for rooms in floors if rooms and not rooms[0].endswith(".h")]
        self.assertEqual([(int(floor), room) for floor, room in rows],
                         [(floor, room) for floor, rooms in enumerate(floors) for room in rooms])
        folders = {os.path.basename(folder.rstrip("/")) for folder in glob.glob(os.path.join(ROOT, "src", "*/"))}
        self.assertEqual({room for _, room in rows}, folders)

    def test_the_readme_counts_networks_and_frameworks_as_the_program_lists_them(self):
        text = " ".join(read("README.md").split())
        networks, frameworks, twice = re.search(r"There are (\d+) networks, and recipes for (\d+) frameworks \((\w+) of them", text).groups()
        self.assertEqual(int(networks), len(listed("models")), "networks: what README says, and list models")
        names = [entry["name"] for entry in listed("frameworks")]
        others = set(names) - {"builtin", "null", "null-web"}
        self.assertEqual(int(frameworks), len(others), "frameworks: what README says, and list frameworks has beside builtin and those that do no work")
        self.assertEqual({"two": 2, "three": 3, "four": 4}[twice], sum(names.count(name) == 2 for name in others),
                         "frameworks in two versions: what README says, and list frameworks")

    def test_models_of_publications_have_the_counts_that_their_page_gives(self):
        rows = re.findall(r"^\| `([\w-]+)` \| (\d+) \| (\d+) \| (\d+)x(\d+)x(\d+) \|$", read("docs/models.md"), flags=re.M)
        models = {model["name"]: model for model in listed("models")}
        self.assertGreaterEqual(len(rows), 11)
        for name, parameters, multiply_adds, *extents in rows:
            with self.subTest(name):
                found = models[name]
                self.assertEqual([int(parameters), int(multiply_adds), [int(extent) for extent in extents]],
                                 [found["parameters"], found["multiply_adds"], found["input"]])

    def test_the_program_says_what_the_pages_show(self):
        """Behind each command that follows a $; ... is what the page leaves out."""
        shown = [(page, *found) for page in pages() for found in
                 re.findall(r"^    \$ (\./yardstick .*)\n((?:    (?!\$ ).*\n|\n(?=    (?!\$ )))+)", read(page), flags=re.M)]
        self.assertGreaterEqual(len(shown), 6)
        cache = tempfile.TemporaryDirectory()
        self.addCleanup(cache.cleanup)
        env = dict(os.environ, YARDSTICK_CACHE=cache.name)
        for page, command, text in shown:
            with self.subTest(page=page, command=command):
                words = shlex.split(command)
                done = subprocess.run([os.path.join(BIN, "yardstick")] + words[1:], cwd=ROOT, env=env, capture_output=True, text=True,
                                      stdin=subprocess.DEVNULL)
                said = done.stdout + done.stderr
                at = 0
                for part in re.sub(r"^    ", "", text, flags=re.M).split("...\n"):
                    found = said.find(part.strip("\n"), at)
                    self.assertGreaterEqual(found, 0, "%s\nis not in\n%s" % (part, said))
                    at = found + len(part.strip("\n"))
                self.assertEqual(done.returncode, 2 if "error:" in text else 0)

    def test_flags_of_the_commands_that_the_pages_show_are_those_of_their_verbs(self):
        """A key of a study may have - in the place of _."""
        def said(*words):
            return subprocess.run([os.path.join(BIN, "yardstick"), *words], check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout
        verbs = re.findall(r"^  yardstick (\w+)", said("--help"), flags=re.M)
        flags = {verb: {own or every for own, every in re.findall(r"^  --([\w.-]+)|--(\w+) \(-", said(verb, "--help"), flags=re.M)} for verb in verbs}
        keys = {key["name"] for key in json.loads(said("list", "keys", "--format=json")) if key["flag"]}
        with_keys = [verb for verb in verbs if "Every key of a study" in said(verb, "--help")]
        self.assertEqual(with_keys, ["run", "size", "check", "verify", "bisect", "tune", "doctor"])
        for verb in with_keys:
            flags[verb] |= keys
        patterns = {verb: ("opt.", "env.") if verb in with_keys or verb == "list" else () for verb in verbs}
        shown = 0
        for page in pages():
            for verb, rest in re.findall(r"(?<![\w-])(?<!\w/)yardstick (\w+)([^`\n]*)", read(page)):
                for flag in re.findall(r"(?<!\S)\[?--([\w.-]+)", rest) if verb in flags else ():
                    shown += 1
                    with self.subTest(page=page, verb=verb, flag=flag):
                        self.assertTrue({flag, flag.replace("-", "_")} & flags[verb] or flag.startswith(patterns[verb]))
        self.assertGreater(shown, 400)

    def test_links_lead_somewhere(self):
        for page in pages():
            for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", read(page)):
                if not re.match(r"\w+:", target):
                    with self.subTest(page=page, target=target):
                        self.assertTrue(os.path.exists(os.path.join(ROOT, os.path.dirname(page), target)))

    def test_links_into_a_page_lead_to_a_heading(self):
        for page in pages():
            for target, heading in re.findall(r"\]\(((?:[^)#\s]+\.md)?)#([^)\s]+)\)", read(page)):
                with self.subTest(page=page, heading=heading):
                    headings = re.findall(r"^#+ (.*)$", read(os.path.join(os.path.dirname(page), target) if target else page), flags=re.M)
                    self.assertIn(heading, [re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings])

    def test_lines_are_no_longer_than_120_characters(self):
        for page in pages():
            fenced = False
            for number, line in enumerate(read(page).split("\n"), 1):
                fenced ^= bool(re.match(r"\s*```", line))
                whole = re.fullmatch(r"\W*(`[^`]+`|\[[^]]*\]\([^)]*\))\W*", line)  # a command or a link, which cannot be broken
                if not (fenced or whole or line.startswith(("|", "    ", "#"))):
                    self.assertLessEqual(len(line), 120, "%s:%d" % (page, number))

    def test_each_adversary_has_its_row_in_the_table_of_what_they_gain(self):
        rows = set(re.findall(r"^\| (\w+\.py) (\w+) \|", read("docs/proof.md"), flags=re.M))
        for program in ("answerer.py", "cheat.py", "intruder.py"):
            text = read(os.path.join("tests", "adversaries", program)).split('"""')[1]
            names = {name for line in re.findall(r"^  (\w+(?:, \w+)*)  ", text, flags=re.M) for name in line.split(", ")}
            self.assertGreater(len(names), 10)
            self.assertEqual({name for row_of, name in rows if row_of == program} - {"nothing"}, names)

    def test_files_that_the_pages_name_exist(self):
        folders = ("src", "tests", "tools", "docs", "adapters", "examples", "include", "metrics", "studies", "frameworks")
        for page in pages():
            for name in re.findall(r"`((?:%s)/[\w./*@-]+)`" % "|".join(folders), read(page)):
                if not re.search(r"NAME|VERSION", name):
                    with self.subTest(page=page, file=name):
                        self.assertTrue(glob.glob(os.path.join(ROOT, name + "*" if name.endswith("/") else name)))


