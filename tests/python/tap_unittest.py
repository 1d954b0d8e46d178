"""Runs a module of unittest cases and prints TAP, so that each case counts: tap_unittest.py MODULE. The module lies in
this folder; one that cannot be used on this machine raises unittest.SkipTest when it is imported."""

import importlib
import os
import sys
import unittest


class TapResult(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.bad = False

    def startTest(self, test):
        super().startTest(test)
        self.verdict, self.note, self.details = "ok", "", []

    def _fail(self, error):
        self.verdict, self.bad = "not ok", True
        self.details.append(error)

    def addError(self, test, err):
        self._fail(self._exc_info_to_string(err, test))

    def addFailure(self, test, err):
        self._fail(self._exc_info_to_string(err, test))

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self._fail("%s\n%s" % (subtest, self._exc_info_to_string(err, test)))

    def addSkip(self, test, reason):
        self.note = " # SKIP " + reason

    def stopTest(self, test):
        super().stopTest(test)
        for line in "".join(self.details).splitlines():
            print("# " + line)
        print("%s %d - %s%s" % (self.verdict, self.testsRun, test.id().split(".")[-1], self.note), flush=True)


def main():
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    try:
        module = importlib.import_module(sys.argv[1])
    except unittest.SkipTest as skip:
        print("1..0 # SKIP %s" % skip)
        return 0
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    print("1..%d" % suite.countTestCases())
    result = TapResult()
    suite.run(result)
    return 1 if result.bad or not result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
