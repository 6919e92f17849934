#!/usr/bin/python3
"""The README's C example compiles as it stands there and prints what its last comment says. Prints TAP."""
import os
import re
import subprocess
import sys
import tempfile

ROOT, CLIENT = sys.argv[1], sys.argv[2]


def run_example():
    text = open(os.path.join(ROOT, "README.md")).read()
    source = re.search(r"```c\n(.*?)```", text, re.S).group(1)
    wanted = re.search(r"/\* (5994.*?) \*/", source).group(1)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "example")
        with open(path + ".c", "w") as out:
            out.write(source)
        subprocess.run(["cc", "-Wall", "-Werror", path + ".c", "-o", path, f"-I{ROOT}/client/include", f"-I{ROOT}/proto/include",
                        f"-L{CLIENT}", "-lfusiond", f"-Wl,-rpath,{CLIENT}"], check=True)
        printed = subprocess.run([path], capture_output=True, text=True, timeout=60)
    if printed.stdout.strip() != wanted:
        raise ValueError(f"printed {printed.stdout!r} {printed.stderr!r} instead of {wanted!r}")


print("1..1")
try:
    run_example()
    print("ok 1 readme")
except Exception as failure:  # reported, whatever went wrong
    print("not ok 1 readme")
    print("#", str(failure).replace("\n", "\n# "))
