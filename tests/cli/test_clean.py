"""`clean`: what killed processes left over is listed and removed, and nothing else."""
import fcntl
import os
import signal
import unittest

from harness import NULL, Case, tearDownModule  # noqa: F401

HASH = "0123456789abcdef" * 4


class Clean(Case):
    def setUp(self):
        super().setUp()
        self.cache, self.temporary = (os.path.join(self.folder, name) for name in ("cache", "tmp"))
        os.mkdir(self.temporary)
        self.env = {"YARDSTICK_CACHE": self.cache, "TMPDIR": self.temporary}
        self.yardstick("run", *NULL, "--repeat=1", env=self.env)
        self.results = os.path.join(self.folder, "yardstick-results")

    def make(self, *parts, size=1000):
        """A file of that size; a path that ends in "/" is a folder with such a file in it."""
        path = os.path.join(self.folder, *parts)
        is_folder = path.endswith("/")
        os.makedirs(path if is_folder else os.path.dirname(path), exist_ok=True)
        with open(os.path.join(path, "data.bin") if is_folder else path, "wb") as file:
            file.write(b"x" * size)
        return path.rstrip("/")

    def hold(self, path):
        """As a process that is at it holds it; until the end of the case."""
        fd = os.open(path, os.O_RDONLY)
        fcntl.flock(fd, fcntl.LOCK_SH)
        self.addCleanup(os.close, fd)
        return path

    def everything(self):
        return sorted(os.path.join(folder, name) for folder, folders, files in os.walk(self.folder) for name in folders + files)

    def clean(self, *flags, **options):
        return self.yardstick("clean", *flags, env=self.env, **options)[0]

    def check(self, left, kept):
        """`left`, of paths and sizes, is listed, then removed; `kept` and all the rest is not."""
        before = self.everything()
        listed = self.clean("--dry-run")
        self.assertEqual(self.everything(), before)
        removed = self.clean()
        for path, size in left:
            self.assertIn("left over %s, %s\n" % (path, size), listed)
            self.assertIn("removed %s, %s\n" % (path, size), removed)
        self.assertEqual(len(removed.splitlines()), len(left) + 1, removed)
        self.assertIn("%d in all, " % len(left), removed.splitlines()[-1])
        gone = [path for path, _ in left]
        self.assertEqual(self.everything(), [path for path in before if path not in gone and os.path.dirname(path) not in gone])
        for path in kept:
            self.assertTrue(os.path.exists(path), path)
        self.assertEqual(self.clean(), "nothing is left over\n")

    def test_nothing(self):
        self.assertEqual(self.clean(), "nothing is left over\n")
        self.assertEqual(self.clean("--dry-run", "--quiet"), "nothing is left over\n")

    def test_results(self):
        study = os.path.join("yardstick-results", "001-run")
        name, = os.listdir(os.path.join(self.results, "001-run", "runs"))
        run = os.path.join(study, "runs", name)
        left = [(self.make(study, "report.html.a1B2c3.tmp"), "1 kB"), (self.make(run, "weights.safetensors", size=2500000), "2.5 MB")]
        kept = [self.make(study, "notes.tmp"), self.make("yardstick-results", "mine.safetensors"), os.path.join(self.folder, run, "adapter.log"),
                self.hold(self.make(study, "job.json.a1b2c3.tmp"))]
        self.check(left, kept)

    def test_results_of_a_study_that_runs(self):
        process = self.start("run", *NULL, "--opt.null.rate=100", "--repeat=100", env=self.env)
        self.wait_until(lambda: os.path.isdir(os.path.join(self.results, "002-run", "runs")), process)
        path = self.make("yardstick-results", "001-run", "runs", os.listdir(os.path.join(self.results, "001-run", "runs"))[0], "weights.safetensors")
        out, err = self.yardstick("clean", env=self.env)
        self.assertEqual(out, "nothing is left over\n")
        self.assertIn("process %d" % process.pid, err)
        self.assertTrue(os.path.exists(path))
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)

    def test_the_cache_and_environments(self):
        left = [(self.make("cache", "proofs", "working-a1b2c3/"), "1 kB"), (self.make("cache", "work", "working-AbCdEf/", size=12), "12 B"),
                (self.make("cache", "proofs", HASH + ".json.a1b2c3.tmp"), "1 kB"), (self.make("cache", "envs", "toy@1.0/"), "1 kB")]
        kept = [self.make("cache", "envs", "toy@1.0.lock", size=0), self.hold(self.make("cache", "proofs", "working-d4e5f6/")), self.make("cache", "proofs", "notes/"),
                os.path.join(self.cache, "data", "digits")]
        self.check(left, kept)

    def test_a_look_makes_no_file(self):
        path = self.make("cache", "envs", "toy@1.0/")
        before = self.everything()
        self.assertIn("left over %s, " % path, self.clean("--dry-run"))
        self.assertEqual(self.everything(), before)
        self.hold(self.make("cache", "envs", "toy@1.0.lock", size=0))  # as a study that uses it
        self.assertEqual(self.clean("--dry-run"), "nothing is left over\n")

    def test_temporary_folders(self):
        left = [(self.make("tmp", "yardstick-run-AbC123/", size=5000), "5 kB")]
        kept = [self.hold(self.make("tmp", "yardstick-run-works1/")), self.make("tmp", "yardstick-mine/"), self.make("tmp", "other-AbC123/")]
        self.check(left, kept)

    def test_a_folder_without_results_is_left_alone(self):
        path = self.make("elsewhere", "job.json.a1b2c3.tmp")
        self.refusal("clean", "--results=elsewhere", env=self.env, words=["elsewhere", "no results"])
        self.assertTrue(os.path.exists(path))
        os.rename(self.results, os.path.join(self.folder, "moved"))
        self.make("moved", "001-run", "job.json.a1b2c3.tmp")
        self.assertEqual(self.clean(), "nothing is left over\n")
        self.assertIn("1 in all", self.clean("--results=moved"))


if __name__ == "__main__":
    unittest.main()
