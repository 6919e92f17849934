#!/usr/bin/python3
"""The README's examples run as they stand there: the C one prints what its last comment says, the shell ones measure, draw
and explain, the Python one prints what its comment says. Prints TAP.

    test_readme.py ROOT CLIENT BUILD [PYTHON], where PYTHON is there if the package was built
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT, CLIENT, BUILD = sys.argv[1:4]
TEXT = open(os.path.join(ROOT, "README.md")).read()
# A reader has set nothing: what is built finds its parts.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k not in ("FUSIOND", "FUSIOND_CLC", "LD_LIBRARY_PATH")}


def blocks(language):
    """That there is none is a mistake, too: of the test, or of who took them away."""
    found = re.findall(rf"```{language}\n(.*?)```", TEXT, re.S)
    if not found:
        raise ValueError(f"the README has no block of {language}")
    return found


def expect_in(part, text):
    if part not in text:
        raise ValueError(f"{part!r} is not in {text!r}")


def run_c():
    source = blocks("c")[0]
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


def run_shell():
    """In a folder that has what the sources' folder has after a build."""
    for script in blocks("sh"):
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(BUILD, os.path.join(folder, "build"))
            os.symlink(os.path.join(ROOT, "examples"), os.path.join(folder, "examples"))
            done = subprocess.run(["sh", "-eu", "-c", script], cwd=folder, capture_output=True, text=True, timeout=120,
                                  env=ENVIRONMENT)
            if done.returncode or done.stderr:
                raise ValueError(f"{script}: {done.returncode}: {done.stderr}")
            for part in ("launches: 2", "profile", "times as fast", "not_fused_race"):
                expect_in(part, done.stdout)
            with open(os.path.join(folder, "edges.svg")) as picture:
                expect_in("</svg>", picture.read())


def run_python():
    for source in blocks("python"):
        done = subprocess.run(["/usr/bin/python3", "-c", source], capture_output=True, text=True, timeout=120,
                              env={**ENVIRONMENT, "PYTHONPATH": f"{BUILD}/python"})
        for printed in re.findall(r"^print\(.*# (.*)$", source, re.M):
            expect_in(printed, done.stdout + done.stderr)


tests = [run_c, run_shell] + ([run_python] if sys.argv[4:] else [])
print(f"1..{len(tests)}")
for number, test in enumerate(tests, 1):
    try:
        test()
        print(f"ok {number} {test.__name__}")
    except Exception as failure:  # reported, whatever went wrong
        print(f"not ok {number} {test.__name__}")
        print("#", str(failure).replace("\n", "\n# "))
