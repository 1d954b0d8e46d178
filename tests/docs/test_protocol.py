"""Numbers and messages of the protocol stand in a file each; what C, Python and Lua read, and the tables of its document, are made of them."""
import os
import subprocess
import sys
import unittest

TOOL = os.path.join(os.environ["YS_SOURCE_ROOT"], "tools", "protocol.py")


class Protocol(unittest.TestCase):
    def test_every_language_and_the_document_have_what_the_files_say(self):
        done = subprocess.run([sys.executable, "-B", TOOL, "--check"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


if __name__ == "__main__":
    unittest.main()
