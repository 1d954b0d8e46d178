"""The numbers of the protocol stand in one file; what C, Python and Lua read is made from it."""
import os
import subprocess
import sys
import unittest

TOOL = os.path.join(os.environ["YS_SOURCE_ROOT"], "tools", "protocol_limits.py")


class Limits(unittest.TestCase):
    def test_every_language_has_what_the_file_says(self):
        done = subprocess.run([sys.executable, "-B", TOOL, "--check"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


if __name__ == "__main__":
    unittest.main()
