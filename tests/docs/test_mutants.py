"""tools/mutants.py: a mutant, which may run for ever, does not outlive the tool, however that ends; many at once are what each is alone; and
what is allowed is made."""
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TOOLS = os.path.join(os.environ["YS_SOURCE_ROOT"], "tools")
sys.path.insert(0, TOOLS)
import mutants  # noqa: E402

JUDGE = "import sys; sys.path.insert(0, sys.argv[1]); import mutants; mutants.passes(['sh', '-c', sys.argv[2]], '.')"

# What tools/mutants.py looks for: a macro, a function that is inlined, one without arguments, one without a result.
SMALL = """#include <stdio.h>
#define DOUBLED(v) \\
    (2 * (v))

/** The larger one. */
static inline __attribute__((always_inline)) int larger(int a, int b)
{
    return a > b ? a : DOUBLED(b);
}
static int answer(void)
{
    return 40 + 2;
}

static void put(const int *from, int to[4],
                int count)
{
    for (int i = 0; i < count; i++)
        to[i] = larger(from[i], 3);
}

int main(void)
{
    int to[4] = {answer(), 7, 7, 7};
    put((const int[4]){1, 3, 5, 9}, to, 3);
    printf("%d %d %d %d %d\\n", answer(), to[0], to[1], to[2], to[3]);
    return 0;
}
"""


def built(folder, lines):
    """A program of these lines."""
    path = os.path.join(folder, "program%d" % len(os.listdir(folder)))
    with open(path + ".c", "w") as file:
        file.write("\n".join(lines))
    subprocess.run([os.environ.get("CC", "cc"), "-w", "-o", path, path + ".c"], check=True)
    return path


def said(program, mutant=0):
    done = subprocess.run([program], env=mutants.environment(mutant), capture_output=True, text=True)
    return done.returncode, done.stdout


def is_alive(pid):
    """Whether it still runs: one that nobody has waited for yet does not."""
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Mutants(unittest.TestCase):
    def test_a_mutant_ends_with_the_tool(self):
        for number in (signal.SIGKILL, signal.SIGTERM):
            with tempfile.TemporaryDirectory() as folder:
                note = os.path.join(folder, "pid")
                tool = subprocess.Popen([sys.executable, "-B", "-c", JUDGE, TOOLS, "echo $$ > {0}.part; mv {0}.part {0}; exec sleep 60".format(shlex.quote(note))])
                try:
                    until = time.monotonic() + 30
                    while not os.path.exists(note) and time.monotonic() < until:
                        time.sleep(0.01)
                    with open(note) as file:
                        mutant = int(file.read())
                finally:
                    tool.send_signal(number)
                    tool.wait()
                while is_alive(mutant) and time.monotonic() < until:
                    time.sleep(0.01)
                alive = is_alive(mutant)
                if alive:
                    os.kill(mutant, signal.SIGKILL)
                self.assertFalse(alive, "after signal %d" % number)

    def test_many_mutants_at_once_do_what_each_does_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "small.c"), "w") as file:
                file.write(SMALL)
            source = mutants.Source("small.c", folder)
            spoiled = [(number, text) for number in sorted(source.function) for text in mutants.mutations(source.lines[number])]
            lines, numbers, owners = mutants.many_of(source, spoiled)
            alone = [at for at in spoiled if at not in numbers]
            self.assertEqual({source.function[number] for number, _ in alone}, {"DOUBLED"})
            self.assertEqual(sorted(numbers.values()), list(range(1, len(spoiled) - len(alone) + 1)))
            self.assertEqual({owner: lines[at] for at, owner in owners.items() if owner[1] == lines[at]}, {at: at[1] for at in numbers})
            together, plain = built(folder, lines), said(built(folder, source.lines))
            self.assertEqual(said(together), plain)
            different = 0
            for (number, text), mutant in numbers.items():
                expected = said(built(folder, source.lines[:number] + [text] + source.lines[number + 1:]))
                self.assertEqual(said(together, mutant), expected, text)
                different += expected != plain
            self.assertGreater(different, 10)

    def test_what_is_allowed_to_survive_is_made(self):
        made = {mutants.key_of(source, number, text) for source, number, text, _, _ in mutants.plan(None, None)}
        self.assertGreater(len(made), 1000)
        self.assertEqual([key for key in mutants.read_allowed() if key not in made], [], "lines of tools/mutants_allowed.txt that nobody makes")


if __name__ == "__main__":
    unittest.main()
