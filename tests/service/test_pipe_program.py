#!/usr/bin/python3
"""A program that names host pipes by variables: fusion-inspect writes its integration header and footer, cc builds it in
C and C++ from two units and a library that is loaded later. Prints TAP."""
import os
import shutil
import subprocess
import sys
import tempfile

TOOL, ROOT, CLIENT = sys.argv[1:4]
SOURCES = os.path.join(ROOT, "tests/service/pipe_program")
WARNINGS = ["-Wall", "-Wextra", "-Werror"]


def inspect(*arguments, status=0):
    done = subprocess.run([TOOL, "--private", "pipes", *arguments], capture_output=True, text=True, timeout=60)
    if done.returncode != status:
        raise ValueError(f"fusion-inspect pipes ended with {done.returncode}: {done.stdout} {done.stderr}")
    return done


def compile_in(folder, compiler, source, *options):
    language = "c++" if compiler == "c++" else "c"
    return subprocess.run([compiler, *WARNINGS, f"-x{language}",  f"-I{folder}", f"-I{ROOT}/client/include", f"-I{ROOT}/proto/include",
                           os.path.join(SOURCES, source), *options], capture_output=True, text=True)


def build(folder, compiler):
    link = [f"-L{CLIENT}", "-lfusiond", f"-Wl,-rpath,{CLIENT}", "-ldl"]
    language = ["-std=c++20", "-Wno-missing-field-initializers"] if compiler == "c++" else []
    steps = [("main.c", *language, "-c", "-o", f"{folder}/main.o"), ("unit.c", "-c", "-o", f"{folder}/unit.o"),
             ("unit.c", "-DLIBRARY", "-fPIC", "-shared", "-o", f"{folder}/library.so")]
    for source, *options in steps:
        done = compile_in(folder, "cc" if source == "unit.c" else compiler, source, *options)
        if done.returncode:
            raise ValueError(done.stderr)
    subprocess.run([compiler, f"{folder}/main.o", f"{folder}/unit.o", "-o", f"{folder}/program", *link], check=True)


def program(compiler):
    with tempfile.TemporaryDirectory() as folder:
        inspect("--integration", f"{folder}/pipes", f"{SOURCES}/pipes.fk")
        build(folder, compiler)
        written = f"{folder}/pipes.spv"
        subprocess.run([TOOL, "compile", "--spirv", written, f"{SOURCES}/pipes.fk"], check=True, stdout=subprocess.DEVNULL)
        for module in (f"{SOURCES}/pipes.fk", written):
            done = subprocess.run([f"{folder}/program", module, f"{ROOT}/tests/service/chain.fk", f"{folder}/library.so"],
                                  capture_output=True, text=True, timeout=120)
            if done.stdout.strip() != "4950":
                raise ValueError(f"{module}: printed {done.stdout!r} {done.stderr!r}")


def test_program_in_c():
    program("cc")


def test_program_in_cxx():
    if shutil.which("c++"):
        program("c++")


def test_wrong_packets_do_not_compile():
    with tempfile.TemporaryDirectory() as folder:
        inspect("--integration", f"{folder}/pipes", f"{SOURCES}/pipes.fk")
        if compile_in(folder, "cc", "wrong.c", "-c", "-o", f"{folder}/wrong.o").returncode == 0:
            raise ValueError("it compiled")


def test_list():
    printed = inspect(f"{SOURCES}/pipes.fk").stdout
    for line in ("pipe numbers\n  packets: i32, 4 bytes\n  capacity: 16\n  host writes\n  id: the \"numbers\" of ?? kernels\n",
                 "pipe sums.of\n  packets: i64, 8 bytes\n  capacity: 16\n  host reads\n  id: sums\n", "unused by kernels\n"):
        if line not in printed:
            raise ValueError(f"{line!r} is not in {printed!r}")


def test_properties():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "wires.fk")
        with open(path, "w") as out:
            out.write('pipe @p: packet i32 capacity 4 host_access "p" uses_valid false bits_per_symbol 16 uses_ready false\n')
            out.write("pipe @q: packet i32 capacity 4 protocol avalon_mm first_symbol_in_high_order_bits true\n")
            out.write("kernel @k() { return }\n")
        done = inspect(path)
        for line in ("  id: p\n  properties: bits_per_symbol 16, uses_valid false, uses_ready false\n",
                     "  kernels only\n  properties: first_symbol_in_high_order_bits true, protocol avalon_mm\n"):
            if line not in done.stdout:
                raise ValueError(f"{line!r} is not in {done.stdout!r}")
        if done.stderr.splitlines() != [
                "warning: pipe 'p' has uses_valid false; who reads it still waits until there is a packet",
                "warning: pipe 'p' has uses_ready false; who writes it still waits until there is room",
                "warning: pipe 'q' has protocol avalon_mm; it is no register, but keeps packets in their order until they are read"]:
            raise ValueError(done.stderr)


def test_names_that_clash():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "clash.fk")
        with open(path, "w") as out:
            out.write('pipe @a.b: packet i32 capacity 1 host_access "1"\npipe @a_b: packet i32 capacity 1 host_access "2"\n')
            out.write("kernel @k() { return }\n")
        done = inspect("--integration", f"{folder}/p", path, status=1)
        if "pipes a.b and a_b are both called a_b in C" not in done.stderr:
            raise ValueError(done.stderr)


TESTS = [test for name, test in sorted(globals().items()) if name.startswith("test_")]
print(f"1..{len(TESTS)}")
for number, test in enumerate(TESTS, 1):
    try:
        test()
        print("ok", number, test.__name__)
    except Exception as failure:  # reported, whatever went wrong
        print("not ok", number, test.__name__)
        print("#", str(failure).replace("\n", "\n# "))
