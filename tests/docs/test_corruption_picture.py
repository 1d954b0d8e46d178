"""The pictures of corruptions in the documents show every kind that the program has, and are made by their tool."""
import json
import os
import re
import struct
import subprocess
import tempfile
import unittest
import xml.dom.minidom

ROOT, BIN = os.environ["YS_SOURCE_ROOT"], os.environ["YARDSTICK_BIN"]
TOOL = os.path.join(ROOT, "tools", "corruption_picture.py")


def data(channels):
    """Two rows of 8 x 8 pixels."""
    count = 2 * channels * 64
    head = json.dumps({"x": {"dtype": "U8", "shape": [2, channels, 8, 8], "data_offsets": [0, count]}}).encode()
    return struct.pack("<Q", len(head)) + head + bytes(p % 251 for p in range(count))


class Pictures(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def draw(self, channels, row="1"):
        path, out = os.path.join(self.folder, "d.safetensors"), os.path.join(self.folder, "out.svg")
        with open(path, "wb") as file:
            file.write(data(channels))
        ended = subprocess.run([TOOL, path, row, out], capture_output=True, text=True,
                               env=dict(os.environ, YARDSTICK_BIN=BIN))
        return ended, out

    @staticmethod
    def names(path):
        """What stands beside the pictures; it is whole XML."""
        return [node.firstChild.data for node in xml.dom.minidom.parse(path).getElementsByTagName("text")]

    def test_the_documents_show_every_kind(self):
        with open(os.path.join(ROOT, "docs", "robustness.md")) as file:
            shown = re.findall(r"\]\((pictures/corruptions-\w+\.svg)\)", file.read())
        self.assertEqual(len(shown), 2)
        for channels, kinds, picture in zip((1, 3), (15, 14), shown):
            ended, out = self.draw(channels)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            self.assertEqual(len(self.names(out)), 6 + kinds)
            self.assertEqual(self.names(out), self.names(os.path.join(ROOT, "docs", picture)))

    def test_a_row_that_there_is_not_is_refused(self):
        ended, out = self.draw(1, "2")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("has the rows 0 to 1", ended.stderr)
        self.assertFalse(os.path.exists(out))

    def test_pictures_of_two_channels_are_refused(self):
        ended, _ = self.draw(2)
        self.assertEqual(ended.returncode, 2)
        self.assertIn("and these have 2: leave corruptions out", ended.stderr)


if __name__ == "__main__":
    unittest.main()
