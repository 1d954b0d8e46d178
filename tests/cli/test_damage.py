"""Every sort of file in the cache, damaged alone: it is made again, and the accuracy stays what it was."""
import os
import unittest

import test_cache
from harness import tearDownModule  # noqa: F401


class EachFile(test_cache.Mended):
    def test_each_file_that_was_overwritten_is_made_again_and_named(self):
        right, _ = self.accuracy()
        again, err = self.accuracy()
        self.assertEqual(again, right)
        self.assertNotIn("made again", err)
        for pattern in self.FILES:
            for path in self.find(pattern):
                self.overwrite(path)
            again, err = self.accuracy()
            self.assertEqual(again, right, pattern)
            lines = [line for line in err.splitlines() if "made again" in line]
            self.assertTrue(lines, err)
            for line in lines:
                self.assertIn("the prepared " + os.path.basename(pattern), line)
                self.assertIn("SHA-256 differs", line)

    def test_each_that_is_missing_short_or_without_a_manifest_is_made_again(self):
        right, _ = self.accuracy()
        for pattern in ("work/*/weights.safetensors", "work/*/order.safetensors", "work/*/graph.json", "work/*/manifest.json",
                        "data/digits/*/train.safetensors", "data/digits/*/manifest.json", "data/digits/current"):
            for path in self.find(pattern):
                os.unlink(path)
            self.assertEqual(self.accuracy()[0], right, pattern)
        for pattern in ("work/*/weights.safetensors", "work/*/manifest.json", "data/digits/*/test.safetensors", "data/digits/*/manifest.json"):
            for path in self.find(pattern):
                os.truncate(path, 100)
            again, err = self.accuracy()
            self.assertEqual(again, right, pattern)
            self.assertIn("made again", err)


if __name__ == "__main__":
    unittest.main()
