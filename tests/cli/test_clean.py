"""`clean`: what killed processes left over is listed and removed, and nothing else."""
import os
import signal
import subprocess
import sys
import time
import unittest

from harness import NULL, Case, tearDownModule  # noqa: F401

HASH = "0123456789abcdef" * 4


class Clean(Case):
    def setUp(self):
        super().setUp()
        dead = subprocess.Popen(["true"])
        dead.wait()
        self.dead, self.alive = dead.pid, os.getpid()
        self.cache, self.temporary = (os.path.join(self.folder, name) for name in ("cache", "tmp"))
        os.mkdir(self.temporary)
        self.env = {"YARDSTICK_CACHE": self.cache, "TMPDIR": self.temporary}
        self.yardstick("run", *NULL, "--repeat=1", env=self.env)
        self.results = os.path.join(self.folder, "yardstick-results")

    def make(self, *parts, size=1000, age_s=3600):
        """A file of that size; a path that ends in "/" is a folder with such a file in it."""
        path = os.path.join(self.folder, *parts)
        is_folder = path.endswith("/")
        os.makedirs(path if is_folder else os.path.dirname(path), exist_ok=True)
        with open(os.path.join(path, "data.bin") if is_folder else path, "wb") as file:
            file.write(b"x" * size)
        os.utime(path, (time.time() - age_s,) * 2)
        return path.rstrip("/")

    def everything(self):
        return sorted(os.path.join(folder, name) for folder, folders, files in os.walk(self.folder) for name in folders + files)

    def clean(self, *flags, **options):
        return self.yardstick("clean", *flags, env=self.env, **options)[0]

    def check(self, left, kept):
        """`left` is listed, then removed; `kept` and all the rest is not."""
        left = [(path, what, size) if "/cache/" in path else (os.path.relpath(path, self.folder), what, size) for path, what, size in left]
        before = self.everything()
        listed = self.clean("--dry-run")
        self.assertEqual(self.everything(), before)
        removed = self.clean()
        for path, what, size in left:
            self.assertIn("left over %s: %s, %s\n" % (path, what, size), listed)
            self.assertIn("removed %s: %s, %s\n" % (path, what, size), removed)
        self.assertEqual(len(removed.splitlines()), len(left) + 1, removed)
        self.assertIn("%d in all, " % len(left), removed.splitlines()[-1])
        gone = [os.path.join(self.folder, path) for path, _, _ in left]
        self.assertEqual(self.everything(), [path for path in before if path not in gone and os.path.dirname(path) not in gone])
        for path in kept:
            self.assertTrue(os.path.exists(path), path)
        self.assertEqual(self.clean(), "nothing is left over\n")

    def test_nothing(self):
        self.assertEqual(self.clean(), "nothing is left over\n")
        self.assertEqual(self.clean("--dry-run", "--quiet"), "nothing is left over\n")

    def test_half_written_files_in_the_results(self):
        study = os.path.join("yardstick-results", "001-run")
        left = [self.make(study, "report.html.%d.tmp" % self.dead), self.make(study, "job.json.%d-0.tmp" % self.dead),
                self.make("yardstick-results", ".probe-%d" % self.dead),
                self.make(study, "runs", "r0-t0-a0", "step-5.safetensors.%d.part" % self.dead)]
        kept = [self.make(study, "report.html.%d.tmp" % self.alive), self.make(study, "job.json.%d-0.tmp" % self.alive),
                self.make(study, "notes.2019.tmp"), self.make(study, "notes.tmp"), self.make(study, "x-3.tmp")]
        self.check([(path, "a half-written file", "1 kB") for path in left], kept)

    def test_weights_of_runs_that_were_cut_off(self):
        run = os.path.join("yardstick-results", "001-run", "runs", "r0-t0-a0")
        left = [self.make(run, "weights.safetensors", size=2500000), self.make(run, "step-20.safetensors", size=2500000),
                self.make(run, "agreement", "layers.safetensors", size=2500000), self.make(run, "model.onnx", size=2500000)]
        kept = [self.make("yardstick-results", "mine.safetensors"), os.path.join(self.folder, run, "adapter.log")]
        self.check([(path, "weights of a run that was cut off", "2.5 MB") for path in left], kept)

    def test_a_study_that_runs_keeps_its_weights(self):
        process = self.start("run", *NULL, "--opt.null.rate=100", "--repeat=100", env=self.env)
        self.wait_until(lambda: os.path.isdir(os.path.join(self.results, "002-run", "runs")), process)
        path = self.make("yardstick-results", "001-run", "runs", "r0-t0-a0", "weights.safetensors")
        out, err = self.yardstick("clean", env=self.env)
        self.assertEqual(out, "nothing is left over\n")
        self.assertIn("process %d" % process.pid, err)
        self.assertTrue(os.path.exists(path))
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)

    def test_half_made_folders_in_the_cache(self):
        left = [(self.make("cache", "data", ".mnist.%d.123456/" % self.dead), "half-made data", "1 kB"),
                (self.make("cache", "data", ".mnist-download.%d.123456/" % self.dead, size=12), "half-made data", "12 B"),
                (self.make("cache", "proofs", "working-%d/" % self.dead), "a working folder", "1 kB"),
                (self.make("cache", "work", "%s.%d/" % (HASH, self.dead)), "half-made work", "1 kB"),
                (self.make("cache", "proofs", "%s.json.%d-3.tmp" % (HASH, self.dead)), "a half-written file", "1 kB")]
        kept = [self.make("cache", "data", ".mnist.%d.123456/" % self.alive), self.make("cache", "proofs", "working-%d/" % self.alive),
                self.make("cache", "work", "%s.%d/" % (HASH, self.alive)), self.make("cache", "data", "set.%d/" % self.dead),
                self.make("cache", "envs", "toy@1.%d/" % self.dead), os.path.join(self.cache, "data", "digits")]
        self.check(left, kept)

    def test_temporary_folders_that_nobody_uses(self):
        sleep = [sys.executable, "-c", "import sys, time; print(flush=True); time.sleep(600)"]
        left = [(self.make("tmp", "yardstick-AbC123/", size=5000), "a framework's temporary folder", "5 kB")]
        kept = [self.make("tmp", "yardstick-works1/"), self.make("tmp", "yardstick-opens1/"), self.make("tmp", "yardstick-young1/", age_s=5),
                self.make("tmp", "yardstick-told01/"), self.make("tmp", "yardstick-file01"), self.make("tmp", "yardstick-mine/"),
                self.make("tmp", "other-AbC123/")]
        with open(os.path.join(kept[1], "data.bin")) as file:
            users = [subprocess.Popen(sleep, cwd=kept[0], stdout=subprocess.PIPE),
                     subprocess.Popen(sleep, stdin=file, stdout=subprocess.PIPE),
                     subprocess.Popen(sleep, env=dict(os.environ, TMPDIR=kept[3] + "/below"), stdout=subprocess.PIPE)]
        try:
            for user in users:
                user.stdout.readline()
            out = self.clean()
        finally:
            for user in users:
                user.kill()
                user.communicate()
        self.assertIn("removed %s: %s, %s\n" % left[0], out)
        self.assertEqual(len(out.splitlines()), 2, out)
        self.assertEqual([path for path in kept if not os.path.exists(path)], [])
        self.assertEqual(len(self.clean().splitlines()), 4)  # their users are gone

    def test_a_folder_without_results_is_left_alone(self):
        path = self.make("elsewhere", "job.json.%d-0.tmp" % self.dead)
        self.refusal("clean", "--results=elsewhere", env=self.env, words=["elsewhere", "no results"])
        self.assertTrue(os.path.exists(path))
        os.rename(self.results, os.path.join(self.folder, "moved"))
        self.make("moved", ".probe-%d" % self.dead)
        self.assertEqual(self.clean(), "nothing is left over\n")
        self.assertIn("1 in all", self.clean("--results=moved"))

    def test_what_cannot_be_removed_is_said(self):
        if os.geteuid() == 0:
            self.skipTest("root may remove everything")
        path = self.make("cache", "proofs", "working-%d/" % self.dead)
        os.chmod(path, 0o500)
        self.addCleanup(os.chmod, path, 0o700)
        _, err = self.yardstick("clean", env=self.env, code=7)
        self.assertIn("cannot remove " + path, err)


if __name__ == "__main__":
    unittest.main()
