"""Python runs this as an adapter begins, where the variable PYTHONPATH names its folder: it tries to write the files that
GUARDED names, separated by colons, and its own folders, and prints how that went."""

import os


def attempt(path):
    try:
        with open(path, "w") as file:
            file.write("x")
        os.unlink(path)
        print("guarded: wrote", path, flush=True)
    except OSError as error:
        print("guarded: refused", path, error.errno, flush=True)


if "YARDSTICK_FD" in os.environ and os.environ.get("GUARDED"):
    for path in os.environ["GUARDED"].split(":"):
        attempt(path)
    for folder in (os.environ["TMPDIR"], os.environ["XDG_CACHE_HOME"], os.getcwd()):
        attempt(os.path.join(folder, "guarded-probe"))
    os.environ["GUARDED"] = ""  # what it starts has been tried by this
