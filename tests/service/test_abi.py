#!/usr/bin/env python3
"""What programs are linked to: symbols and their versions, the soname, and the library as it is installed and moved."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

source, build, library, version = sys.argv[1:5]
work = tempfile.mkdtemp(prefix="fusiond-test-")
env = {k: v for k, v in os.environ.items() if not k.startswith(("FUSION", "LD_LIBRARY", "PKG_CONFIG"))}
env["XDG_CACHE_HOME"] = work
number = 0


def check(name, ok, why=""):
    global number
    number += 1
    print(f"{'ok' if ok else 'not ok'} {number} - {name}")
    if not ok:
        print("# " + str(why).replace("\n", "\n# "))


def tool(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def read(path):
    with open(os.path.join(source, path)) as f:
        return f.read()


def symbols():
    text = read("client/libfusiond.map")
    listed = {}
    for node, body in re.findall(r"(FUSIOND_[\d.]+) \{\s*(.*?)\}", text, re.S):
        for name in re.findall(r"(fusion_\w+);", body):
            listed[name] = node
    lines = tool("nm", "-D", "--defined-only", library).splitlines()
    exported = dict(line.split()[-1].split("@@") for line in lines if line.split()[1] != "A")
    check("exported is what the map lists", exported == listed, set(exported.items()) ^ set(listed.items()))
    headers = "".join(map(read, glob.glob(f"{source}/client/include/fusiond/*.h"))) + read("proto/include/fusiond/status.h")
    declared = set(re.findall(r"FUSION_API\s[^;(]*?\b(fusion_\w+)\(", headers)) | {"fusion_status_name"}
    check("and what the headers declare", declared == set(listed), declared ^ set(listed))


def versions():
    header = read("client/include/fusiond/version.h")
    numbers = [re.search(rf"define FUSIOND_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH")]
    check("the header's version is the project's", ".".join(numbers) == version, numbers)
    soname = re.search(r"soname: \[(.*?)\]", tool("readelf", "-d", library))[1]
    check("the soname has the major version", soname == f"libfusiond.so.{numbers[0]}", soname)


def install():
    """The installed tree, moved to where nobody expects it."""
    subprocess.run(["meson", "install", "--no-rebuild", "-C", build, "--destdir", work + "/staged"], check=True,
                   stdout=subprocess.DEVNULL)
    for folder, folders, _ in os.walk(work + "/staged"):
        if "bin" in folders and os.path.exists(folder + "/bin/fusiond"):
            os.rename(folder, work + "/moved")
            return work + "/moved"
    raise SystemExit("no bin/fusiond was installed")


PROGRAM = """
#include <fusiond/fusiond.h>
#include <stdio.h>
int main(void)
{
    fusion_session *s;
    if (fusion_version() != FUSIOND_VERSION_NUMBER) return 2;
    if (fusion_connect(NULL, NULL, &s)) return puts(fusion_last_error()->reason), 1;
    fusion_disconnect(s);
    return 0;
}
"""


def installed():
    prefix = install()
    folder = os.path.dirname(glob.glob(prefix + "/**/fusiond.pc", recursive=True)[0])
    # No other package is there to be asked for.
    there = {**env, "PKG_CONFIG_LIBDIR": folder}
    flags = tool("pkg-config", "--define-variable=prefix=" + prefix, "--cflags", "--libs", "fusiond", env=there).split()
    check("pkg-config asks for nothing else", prefix + "/include" in [os.path.normpath(f[2:]) for f in flags], flags)
    with open(work + "/p.c", "w") as f:
        f.write(PROGRAM)
    tool("cc", "-Wall", "-Werror", work + "/p.c", "-o", work + "/p", *flags)
    done = subprocess.run([work + "/p"], env={**env, "LD_LIBRARY_PATH": os.path.dirname(folder)}, capture_output=True,
                          text=True)
    check("a program of the moved library finds its daemon", done.returncode == 0, done.stdout + done.stderr)
    return prefix, flags, os.path.dirname(folder)


def in_cpp(flags, library_path):
    if not shutil.which("c++"):
        return check("C++ # SKIP there is no C++ compiler", True)
    for standard in ("c++17", "c++20"):
        done = subprocess.run(["c++", f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror",
                               source + "/tests/service/wrapper.cpp", "-o", work + "/wrapper", *flags],
                              capture_output=True, text=True)
        check(f"the wrapper is {standard}", done.returncode == 0, done.stderr)
        if done.returncode == 0:
            done = subprocess.run([work + "/wrapper"], env={**env, "LD_LIBRARY_PATH": library_path}, capture_output=True,
                                  text=True)
            check(f"and does what it says ({standard})", done.returncode == 0, done.stdout + done.stderr)


def with_cmake(prefix):
    if not shutil.which("cmake") or not shutil.which("c++"):
        return check("CMake # SKIP there is no cmake or no C++ compiler", True)
    folder = work + "/cmake"
    configure = ["cmake", "-S", source + "/examples/cmake", "-B", folder, "-DCMAKE_PREFIX_PATH=" + prefix]
    done = subprocess.run(configure, capture_output=True, text=True)
    check("find_package() finds the moved tree", done.returncode == 0, done.stdout + done.stderr)
    done = subprocess.run(["cmake", "--build", folder], capture_output=True, text=True)
    check("and what is linked to it builds", done.returncode == 0, done.stdout + done.stderr)
    done = subprocess.run([folder + "/scale"], env=env, capture_output=True, text=True)
    check("and runs", done.stdout == "6, 1 launch\n", done.stdout + done.stderr)
    os.makedirs(work + "/newer")
    with open(work + "/newer/CMakeLists.txt", "w") as f:
        f.write("cmake_minimum_required(VERSION 3.16)\nproject(newer CXX)\nfind_package(fusiond 99 CONFIG REQUIRED)\n")
    done = subprocess.run(["cmake", "-S", work + "/newer", "-B", work + "/newer/build", "-DCMAKE_PREFIX_PATH=" + prefix],
                          capture_output=True, text=True)
    check("a newer version is not found", done.returncode != 0 and "version: 0." in done.stderr, done.stderr)


try:
    symbols()
    versions()
    moved, flags, library_path = installed()
    in_cpp(flags, library_path)
    with_cmake(moved)
finally:
    shutil.rmtree(work)
print(f"1..{number}")
