"""Surroundings that a user may have: no current folder, no /proc, a cache that cannot be written, a terminal without orders."""
import os
import pty
import shutil
import subprocess
import unittest

from harness import NULL, PROGRAM, Case, tearDownModule  # noqa: F401

SMALL = ["--framework=builtin,null", "--model=mlp", "--data=digits", "--threads=1", "--batch=8", "--steps=40", "--block=1", "--repeat=1"]


class Surroundings(Case):
    def mounted(self, script, *words, **env):
        """What a shell in a space of its own mounts says, or a skip where nobody may have one; `script` gets the program as $0."""
        for prefix in (["unshare", "--mount"], ["unshare", "--user", "--map-root-user", "--mount"]):
            if shutil.which("unshare") and subprocess.run(prefix + ["mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True).returncode == 0:
                return subprocess.run(prefix + ["sh", "-c", script, PROGRAM, *words], cwd=self.folder, env=dict(self.environment(), **env),
                                      capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
        self.skipTest("no space of mounts of one's own")

    def test_a_current_folder_that_was_removed(self):
        gone = os.path.join(self.folder, "gone")
        for words in (["run", *NULL, "--repeat=1"], ["check", *NULL], ["show"], ["init"], ["export", "--model=mlp", "--out=mlp.onnx"]):
            os.mkdir(gone)
            done = subprocess.run(["sh", "-c", 'cd gone && rmdir ../gone && exec "$0" "$@"', PROGRAM, *words], cwd=self.folder,
                                  env=self.environment(), capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertEqual(done.stderr, "yardstick: error: the current folder was removed: go to another, as with cd\n")
        os.mkdir(gone)
        done = subprocess.run(["sh", "-c", 'cd gone && rmdir ../gone && exec "$0" help run', PROGRAM], cwd=self.folder,
                              env=self.environment(), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_current_folder_with_too_long_a_path(self):
        def descend():
            for _ in range(20):
                os.mkdir("d" * 250)
                os.chdir("d" * 250)
        done = subprocess.run([PROGRAM, "run", *NULL, "--repeat=1"], cwd=self.folder, env=self.environment(), capture_output=True, text=True,
                              preexec_fn=descend)
        self.assertEqual((done.returncode, done.stderr), (2, "yardstick: error: the current folder has too long a path: go to another, as with cd\n"))

    def test_paths_that_are_no_text(self):
        """Adapters are told of their files in JSON."""
        odd = os.path.join(self.folder, os.fsdecode(b"d\xfc"))
        os.mkdir(odd)
        self.refusal("run", *NULL, "--repeat=1", env={"YARDSTICK_CACHE": odd}, words=("YARDSTICK_CACHE", r"d\xfc", "is no UTF-8 text"))
        self.refusal("list", "frameworks", "--recipes=" + odd, words=("--recipes", r"d\xfc", "is no UTF-8 text"))
        self.folder = odd
        self.refusal("run", *NULL, "--repeat=1", words=("--results DIR", r"d\xfc", "is no UTF-8 text"))
        self.yardstick("run", *NULL, "--repeat=1", "--results=" + os.path.dirname(odd))
        self.yardstick("show", "--results=" + os.path.dirname(odd))

    def test_a_cache_that_can_only_be_read(self):
        cache = os.path.join(self.folder, "cache")
        script = ('mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" || exit 99; shift; "$0" run "$@" && "$0" verify "$@" && '
                  '"$0" export last >one.jsonl && "$0" compare one.jsonl last && "$0" run --fresh "$@" || exit; "$0" run "$@" --seed=77')
        self.yardstick("run", *SMALL, env={"YARDSTICK_CACHE": cache})
        before = sorted(os.walk(cache))
        done = self.mounted(script, cache, *SMALL, YARDSTICK_CACHE=cache)
        if done.returncode == 99:
            self.skipTest("nothing can be mounted again for reading")
        # The last one wants what is not prepared.
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("this cache can only be read: YARDSTICK_CACHE names another folder", done.stderr)
        self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
        self.assertEqual(sorted(os.walk(cache)), before)
        self.assertEqual(self.result("show", "3")[0]["trials"][0]["proof"]["verdict"], "pass")

    def test_without_proc(self):
        script = 'umount -l /proc 2>/dev/null; mount -t tmpfs none /proc || exit 99; "$0" "$@"'
        for words in (["run", *NULL, "--repeat=1"], ["check", *NULL], ["list", "frameworks"]):
            done = self.mounted(script, *words)
            if done.returncode == 99:
                self.skipTest("nothing can be mounted over /proc")
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertRegex(done.stderr, r"^yardstick: error: /proc is not readable.*mount -t proc proc /proc\n$")
        self.assertEqual(self.mounted(script, "help").returncode, 0)
        done = self.mounted('mount -t tmpfs none /dev && exec "$0" "$@"', "run", *NULL, "--repeat=1")
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertRegex(done.stderr, r"^yardstick: error: there is no /dev/null.*mount -t devtmpfs dev /dev\n$")

    def on_terminal(self, *words, **env):
        master, slave = pty.openpty()
        process = subprocess.Popen([PROGRAM, *words], cwd=self.folder, env=dict(self.environment(), **env), stdin=subprocess.DEVNULL, stdout=slave, stderr=slave)
        os.close(slave)
        said = b""
        try:
            while True:
                said += os.read(master, 65536)
        except OSError:
            pass
        os.close(master)
        self.assertEqual(process.wait(), 0, said)
        return said

    def test_a_terminal_that_takes_no_orders(self):
        self.assertIn(b"\x1b", self.on_terminal("run", *SMALL, TERM="xterm"))
        for kind in ("dumb", ""):
            said = self.on_terminal("run", *SMALL, TERM=kind)
            self.assertNotIn(b"\x1b", said)
            self.assertNotIn(b"\r", said.replace(b"\r\n", b"\n"))
            self.assertIn(b"builtin", said)
        self.assertNotIn(b"\x1b", self.on_terminal("show", "last", TERM="dumb"))

    def test_two_spellings_of_one_number(self):
        self.refusal("check", *NULL, "--opt.null.rate=800,8e2", words=("opt.null.rate has the value 800 twice", "8e2"))
        self.refusal("check", *NULL, "--lr=0.02,2e-2", words=("lr has the value 2e-2 twice",))
        self.refusal("check", *NULL[:-2], "--steps=40,+40", words=("steps has the value +40 twice",))
        self.yardstick("check", *NULL, "--opt.null.rate=800,900")


if __name__ == "__main__":
    unittest.main()
