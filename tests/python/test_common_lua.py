"""adapters/common.lua: what test_common.py asks of common.py, asked of an adapter in Lua."""

import os
import shutil
import unittest

import driver
import test_common

LUAJIT = shutil.which("luajit")
TOY = os.path.join(test_common.HERE, "toy_adapter.lua")


@unittest.skipUnless(LUAJIT, "LuaJIT is not installed")
class LuaToy(test_common.Toy):
    def setUp(self):
        self.work = driver.Work()
        self.addCleanup(self.work.remove)
        self.adapter = driver.Driver(TOY, LUAJIT)
        self.ended = False
        self.addCleanup(self.end)

    def test_hello_says_who_it_is(self):
        reply = self.adapter.need("hello", "hello", protocol=1)
        self.assertEqual((reply["adapter"], reply["version"], reply["protocol"]), ("toy", "1.0", 1))
        self.assertIn("LuaJIT", reply["runtime"])
        self.assertEqual(reply["features"], ["forward", "backward", "step", "train", "infer", "save", "answers"])
        self.assertIs(reply["no_work"], False)
        self.refused("unsupported", "hello", protocol=2)

    def test_failures_have_the_code_of_their_kind(self):
        self.refused("build_failed", "open", plan=self.work.plan(options={"fail": "build"}))
        self.refused("oom_host", "open", plan=self.work.plan(options={"fail": "memory"}))
        self.open(options={"fail": "step"})
        blocks, last = self.adapter.train(0, 6, 2)
        self.assertEqual(len(blocks), 1)
        self.assertEqual((last["type"], last["code"], last["stage"]), ("error", "crashed", "train"))
        self.assertIn("the kernel failed", last["message"])
        self.assertIn("stack traceback", self.adapter.log_text())
        self.refused("protocol_error", "step", n=1)
        self.adapter.need("done", "reset")
        self.adapter.need("tensors", "step", n=1)

    def test_texts_keep_their_characters(self):
        self.open()
        reply = self.refused("unsupported", 'a "quoted" \\ \t \u00e9 \U0001d11e type')
        self.assertIn('"a "quoted" \\ \t \u00e9 \U0001d11e type"', reply["message"])


@unittest.skipUnless(LUAJIT, "LuaJIT is not installed")
class Importing(unittest.TestCase):
    def test_a_framework_that_cannot_be_imported_is_reported(self):
        adapter = driver.Driver(TOY, LUAJIT, {"TOY_IMPORT": "fail"})
        reply = adapter.need("error", "hello", protocol=1)
        self.assertEqual((reply["code"], reply["stage"]), ("load_failed", "hello"))
        self.assertIn("libtoy.so.1", reply["message"])
        self.assertEqual(adapter.end(), 1)


# Loaded by name, the tests of the base class would run here too.
def load_tests(loader, _tests, _pattern):
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in (LuaToy, Importing))
