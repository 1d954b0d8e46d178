"""The picture that README shows of a report says what the report says, by itself."""
import html
import os
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as tree

ROOT, BIN = os.environ["YS_SOURCE_ROOT"], os.environ["YARDSTICK_BIN"]
TOOL = os.path.join(ROOT, "tools", "report_picture.py")


class ReportPicture(unittest.TestCase):
    def setUp(self):
        box = tempfile.TemporaryDirectory()
        self.addCleanup(box.cleanup)
        self.folder = box.name

    def report_of(self, framework):
        env = dict(os.environ, YARDSTICK_CACHE=os.path.join(self.folder, "cache"), YARDSTICK_HOME=ROOT, YARDSTICK_BIN=BIN)
        subprocess.run([os.path.join(BIN, "yardstick"), "run", "--framework=" + framework, "--model=mlp", "--data=digits", "--batch=8,16", "--steps=4",
                        "--block=1", "--threads=1", "--repeat=2", "--audit=off", "--on-disturbance=ignore", "--quiet"],
                       cwd=self.folder, env=env, check=True, capture_output=True, stdin=subprocess.DEVNULL)
        found = [os.path.join(self.folder, "yardstick-results", name) for name in os.listdir(os.path.join(self.folder, "yardstick-results"))]
        return os.path.join([folder for folder in found if os.path.isdir(folder)][0], "report.html")

    def draw(self, report, *more):
        picture = os.path.join(self.folder, "picture.svg")
        return subprocess.run([TOOL, report, picture, *more], capture_output=True, text=True), picture

    def test_it_has_title_answer_rows_picture_and_where_it_was_measured(self):
        report = self.report_of("builtin")
        done, picture = self.draw(report)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(picture, encoding="utf-8") as file:
            svg = file.read()
        with open(report, encoding="utf-8") as file:
            page = file.read()
        root = tree.fromstring(svg)
        said = " ".join(" ".join("".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")).split())
        self.assertIn("builtin trains mlp on digits", said)
        answer = html.unescape(re.search(r'<p class="answer">(.*?)</p>', page).group(1))
        self.assertIn(answer, said)
        self.assertIn("Verified accuracy", said)
        self.assertIn("images per second", said)
        host, = re.findall(r"<p>Host: ([^<(]*)", page)
        self.assertIn(re.sub(r"(Linux \d+\.\d+)[-.\w]*", r"\1", host), said)  # no more of the kernel than a reader needs
        self.assertRegex(said, r"instructions: .+; begun \d{4}-\d\d-\d\d yardstick run .*--batch=8,16")
        # It fetches nothing, and each colour and class that it names is its own.
        self.assertNotRegex(svg, r"url\(|href|@import")
        self.assertLessEqual(set(re.findall(r"var\((--\w+)\)", svg)) - {"--c"}, set(re.findall(r"(--\w+):", svg)))
        for css in set(" ".join(re.findall(r'class="([^"]*)"', svg)).split()):
            self.assertIn(".%s{" % css, svg)
        self.assertEqual(svg.count("prefers-color-scheme:dark"), 1)
        rows = len(re.findall(r">builtin, batch \d+<", svg))
        self.draw(report, "--rows=1")
        with open(picture, encoding="utf-8") as file:
            self.assertEqual(len(re.findall(r">builtin, batch \d+<", file.read())), rows - 1)

    def test_a_page_without_a_picture_of_speed_is_named(self):
        done, picture = self.draw(self.report_of("null"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("report.html: the page has no ", done.stderr)
        self.assertFalse(os.path.exists(picture))


if __name__ == "__main__":
    unittest.main()
