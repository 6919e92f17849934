#!/usr/bin/env python3
"""Where fusion-inspect and libfusiond find their daemon: beside themselves, in a build tree and in a moved prefix."""
import os
import shutil
import subprocess
import sys
import tempfile

inspect, build = sys.argv[1:3]
work = tempfile.mkdtemp(prefix="fusiond-test-")
env = {k: v for k, v in os.environ.items() if not k.startswith(("FUSION", "LD_LIBRARY"))}
env["XDG_CACHE_HOME"] = work
number = 0


def check(name, ok, why=""):
    global number
    number += 1
    print(f"{'ok' if ok else 'not ok'} {number} - {name}")
    if not ok:
        print("# " + why.replace("\n", "\n# "))


def run(program, *args, folder=None):
    done = subprocess.run([program, "--private", *args], env=env, cwd=folder, capture_output=True, text=True)
    return done.returncode == 0 and "cpu" in done.stdout, done.stdout + done.stderr


def install():
    """The installed tree, moved to where nobody expects it."""
    subprocess.run(["meson", "install", "--no-rebuild", "-C", build, "--destdir", work + "/staged"], check=True,
                   stdout=subprocess.DEVNULL)
    for folder, folders, _ in os.walk(work + "/staged"):
        if "bin" in folders and os.path.exists(folder + "/bin/fusiond"):
            os.rename(folder, work + "/moved prefix")
            return work + "/moved prefix"
    raise SystemExit("no bin/fusiond was installed")


EXAMPLE = """
modules: {k: k.fk}
buffers: {a: {type: i32, count: 16}}
graph:
  - {kernel: k.fill, global: [16], args: [{write: a}]}
"""
KERNEL = "kernel @fill(%a: ptr.global i32 write) {\n  %i = global_id x\n  store i32 %a[%i], 7\n  return\n}\n"

try:
    check("in the build tree", *run(inspect, "devices"))
    test = subprocess.run([build + "/tests/service/test_ends"], env=env, capture_output=True, text=True)
    check("tests ask for it", test.returncode != 0 and "$FUSIOND is not set" in test.stdout + test.stderr, test.stderr)
    relative = os.path.relpath(inspect, work)
    check("by a relative name", *run(os.path.join(".", relative), "devices", folder=work))
    prefix = install()
    moved = prefix + "/bin/fusion-inspect"
    check("in a moved prefix", *run(moved, "devices"))
    with open(work + "/k.fk", "w") as f:
        f.write(KERNEL)
    with open(work + "/g.yaml", "w") as f:
        f.write(EXAMPLE)
    for command in ("run", "explain"):
        done = subprocess.run([moved, "--private", command, work + "/g.yaml"], env=env, capture_output=True, text=True)
        check(f"{command} in a moved prefix", done.returncode == 0, done.stdout + done.stderr)
    os.rename(prefix + "/bin/fusiond", prefix + "/bin/hidden")
    done = subprocess.run([moved, "--private", "devices"], env={**env, "FUSIOND": prefix + "/bin/hidden"},
                          capture_output=True, text=True)
    check("where $FUSIOND says", done.returncode == 0, done.stdout + done.stderr)
    done = subprocess.run([moved, "--private", "devices"], env={**env, "FUSIOND": work + "/nothing"},
                          capture_output=True, text=True)
    check("nowhere else then", done.returncode == 1 and work + "/nothing" in done.stderr, done.stdout + done.stderr)
finally:
    shutil.rmtree(work)
print(f"1..{number}")
