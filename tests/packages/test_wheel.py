#!/usr/bin/python3
"""The Python package as wheels and as a source distribution: built from what is installed, used in a fresh virtual
environment. Prints TAP."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

source, build = sys.argv[1:3]
work = tempfile.mkdtemp(prefix="fusiond-test-")
env = {k: v for k, v in os.environ.items() if not k.startswith(("FUSION", "LD_LIBRARY", "PKG_CONFIG", "PYTHON", "PIP_"))}
env["XDG_CACHE_HOME"] = work
number = 0

PROGRAM = """
import numpy, fusiond
with fusiond.connect() as s:
    f = s.jit(lambda x, y: numpy.sqrt(x * x + y * y))
    assert numpy.asarray(f(s.array([3.0, 5.0]), s.array([4.0, 12.0]))).tolist() == [5.0, 13.0]
    assert f.report.launches == 1
print(fusiond.__file__)
"""


def check(name, ok, why=""):
    global number
    number += 1
    print(f"{'ok' if ok else 'not ok'} {number} - {name}")
    if not ok:
        print("# " + str(why).replace("\n", "\n# "))


def tool(*command, **more):
    done = subprocess.run(command, env={**env, **more}, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def install():
    subprocess.run(["meson", "install", "--no-rebuild", "-C", build, "--destdir", work + "/staged"], check=True,
                   stdout=subprocess.DEVNULL)
    daemon = glob.glob(work + "/staged/**/bin/fusiond", recursive=True)[0]
    return os.path.dirname(os.path.dirname(daemon))


def venv(name):
    """NumPy and cffi are those of the system; nothing comes from the network."""
    folder = f"{work}/{name}"
    tool("/usr/bin/python3", "-m", "venv", "--system-site-packages", folder)
    return folder + "/bin/python3"


def wheel_of(python, what, folder, **more):
    tool(python, "-m", "pip", "wheel", "--no-index", "--no-deps", "--no-build-isolation", "-w", folder, what, **more)
    return glob.glob(folder + "/*.whl")[0]


def works(python, wheel, **more):
    tool(python, "-m", "pip", "install", "--no-index", "--no-deps", "--force-reinstall", wheel)
    done = subprocess.run([python, "-c", PROGRAM], env={**env, **more}, cwd=work, capture_output=True, text=True)
    inside = done.stdout.startswith(os.path.dirname(os.path.dirname(python)))
    return done.returncode == 0 and inside, done.stdout + done.stderr


try:
    prefix = install()
    pkg_config = os.path.dirname(glob.glob(prefix + "/**/fusiond.pc", recursive=True)[0])
    library = os.path.dirname(pkg_config)
    shutil.copytree(source + "/python", work + "/python")
    maker, user = venv("maker"), venv("user")

    wheel = wheel_of(maker, work + "/python", work + "/found", PKG_CONFIG_PATH=pkg_config)
    names = zipfile.ZipFile(wheel).namelist()
    modules = {"fusiond/" + os.path.basename(p) for p in glob.glob(source + "/python/fusiond/*.py")}
    check("a wheel has all modules and the binding", modules <= set(names) and any("_binding" in n for n in names), names)
    check("and the licence", any(n.endswith("/LICENSE") for n in names), names)
    check("and no library", not any("libfusiond" in n for n in names), names)
    check("it works with the library that the loader finds", *works(user, wheel, LD_LIBRARY_PATH=library))

    carrying = wheel_of(maker, work + "/python", work + "/carried", PKG_CONFIG_PATH=pkg_config, FUSIOND_CARRY="1")
    check("a wheel may carry the library", any(n.endswith("libfusiond.so.0") for n in zipfile.ZipFile(carrying).namelist()))
    os.rename(library, library + "-hidden")
    check("and works where there is none", *works(user, carrying, FUSIOND=prefix + "/bin/fusiond"))
    os.rename(library + "-hidden", library)

    tool(maker, "-c", f"import os, setuptools.build_meta as b; os.chdir({work + '/python'!r}); b.build_sdist({work!r})")
    again = wheel_of(maker, glob.glob(work + "/fusiond-*.tar.gz")[0], work + "/again", PKG_CONFIG_PATH=pkg_config)
    check("a source distribution makes the same wheel", sorted(zipfile.ZipFile(again).namelist()) == sorted(names),
          zipfile.ZipFile(again).namelist())
finally:
    shutil.rmtree(work)
print(f"1..{number}")
