#!/usr/bin/python3
"""fusion-split and fusion-aspect-filter on files written by hand, and on what clang makes of OpenCL C. Prints TAP.

Usage: device_images.py FUSION-SPLIT FUSION-ASPECT-FILTER FUSION-INSPECT"""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

SPLIT, FILTER, INSPECT = map(os.path.abspath, sys.argv[1:4])


class Skip(Exception):
    pass


def check(what, got, expected):
    if got != expected:
        raise AssertionError(f"{what}:\n  got      {got!r}\n  expected {expected!r}")


def write(name, text):
    open(name, "w").write(text)


def read(name):
    return open(name).read()


def tool(*args, status=0):
    done = subprocess.run(args, capture_output=True, text=True)
    if done.returncode != status:
        raise AssertionError(f"{args}: status {done.returncode}\n{done.stderr}")
    return done


def split(mode, *files, options=()):
    done = tool(SPLIT, f"--split={mode}", *options, *files, "-o", "o.table")
    lines = read("o.table").splitlines()
    check("columns", lines[0], "[Code|Properties|Symbols]")
    return [line.split("|") for line in lines[1:]], done.stderr


def symbols(rows):
    return [read(row[2]).split() for row in rows]


def filtered(target, table="o.table", config=None):
    options = [f"-device-config-file={config}"] if config else []
    tool(FILTER, f"-target={target}", *options, table, "-o", "filtered.table")
    return read("filtered.table")


# ---- files, byte for byte ----

def property_file():
    """Numbers by hand: fp16 5, fp64 6, image 9; 96 bits are gB..., 128 bits AC..."""
    write("a.fk", "kernel @k() aspects(fp64, fp16, image) sub_group_size(16) work_group_size(8, 4) {}\n")
    split("off", "a.fk")
    check("properties", read("o_0.prop"), "[SYCL/device requirements]\n"
                                          "aspect=2|gBAAAAAAAAQBAAAAGAAAAkAAAAA\n"
                                          "reqd_sub_group_size=2|gAAAAAAAAAAEAAAA\n"
                                          "reqd_work_group_size=2|ACAAAAAAAAwAAAAAIAAAAQAAAAQAAAAA\n")
    check("table", read("o.table"), "[Code|Properties|Symbols]\no_0.fk|o_0.prop|o_0.sym\n")
    check("symbols", read("o_0.sym"), "k\n")
    write("a.fk", "kernel @k() {}\n")
    split("off", "a.fk")
    check("no requirements", read("o_0.prop"), "[SYCL/device requirements]\n")


def own_numbers():
    write("a.fk", "aspects { fp16 = 1, ext_intel_amx = 9 }\nkernel @k() uses(fp16, ext_intel_amx) {}\n")
    split("off", "a.fk")
    check("properties", read("o_0.prop"), "[SYCL/device requirements]\naspect=2|ABAAAAAAAAQAAAAAJAAAAA\n")


SEED_DEVICES = """intel_gpu_12_0_0:
  aspects: [1, 2, 3]
  sub-group-sizes: [8, 16]
intel_gpu_icl:
  aspects: [2, 3]
  sub-group-sizes: [8, 16]
x86_64_avx512:
  aspects: [1, 2, 3, 9, 11]
  sub-group-sizes: [8, 32]
"""


def filter_steps():
    """The device file of the seed, and a table with one row for each thing that is looked at."""
    write("devices.yaml", SEED_DEVICES)
    head = "[SYCL/device requirements]\n"
    write("none.prop", "[SYCL/misc properties]\noptLevel=1|2\n")
    write("cpu.prop", "[SYCL/misc properties]\noptLevel=1|2\n" + head + "aspect=2|gAAAAAAAAAQAAAAA\n")
    write("later.prop", head + "aspects=2|gAAAAAAAAAQAAAAA\nunknown=1|7\n")
    write("s32.prop", head + "reqd_sub_group_size=2|gAAAAAAAAAAIAAAA\n")
    write("one.prop", head + "reqd_sub_group_size=1|16\n")
    write("empty.prop", head + "fixed_target=2|AAAAAAAAAAA\n")
    rows = ["none", "cpu", "later", "s32", "one", "empty"]
    write("t.table", "[Code|Properties]\n" + "".join(f"{r}.spv|{r}.prop\n" for r in rows))
    for target, left in [("intel_gpu_12_0_0", ["none", "cpu", "later", "one"]), ("intel_gpu_icl", ["none", "one"]),
                         ("x86_64_avx512", ["none", "cpu", "later", "s32"])]:
        check(target, filtered(target, "t.table", "devices.yaml"),
              "[Code|Properties]\n" + "".join(f"{r}.spv|{r}.prop\n" for r in left))
    write("t.table", "[Code|Other]\na|b\n")
    check("no properties", filtered("nobody", "t.table"), "[Code|Other]\na|b\n")
    write("t.table", "[Code|Properties]\n")
    check("no rows", filtered("intel_gpu_icl", "t.table", "devices.yaml"), "[Code|Properties]\n")


def filter_errors():
    write("ok.yaml", SEED_DEVICES)
    write("t.table", "[Code|Properties]\na|p.prop\n")
    write("p.prop", "[SYCL/device requirements]\naspect=2|gAAA\n")

    def error(expected, target="intel_gpu_icl", config="ok.yaml", table="t.table"):
        done = tool(FILTER, f"-target={target}", f"-device-config-file={config}", table, "-o", "out.table", status=1)
        check("error", done.stderr, f"fusion-aspect-filter: {expected}\n")

    error("ok.yaml: there is no device nobody", target="nobody")
    error("p.prop: line 2: a value is too short for its length")
    for text, expected in [("a: [", "line 2: did not find expected node content"),
                           ("- a\n", "line 1: the file is no map of devices"),
                           ("a:\n  aspects: [fp65]\n", "line 2: there is no aspect `fp65`"),
                           ("a:\n  aspects: 5\n", "line 2: aspects are no list"),
                           ("a:\n  sub-group-sizes: [8, 12]\n", "line 2: a sub-group size is a power of two, not `12`"),
                           ("a:\n  sizes: [8]\n", "line 2: a device has aspects, sub-group-sizes and max-work-group-size, "
                                                  "and no `sizes`"),
                           ("a: {}\na: {}\n", "line 2: there are two devices `a`")]:
        write("bad.yaml", text)
        error(f"bad.yaml: {expected}", config="bad.yaml")
    write("bad.table", "Code|Properties\n")
    error("bad.table: line 1: a table begins with its columns, [Code|...]", table="bad.table")
    write("bad.table", "[Code|Properties]\na\n")
    error("bad.table: line 2: a row has not one cell for each of the 2 columns", table="bad.table")
    error("no.table: No such file or directory", table="no.table")


def default_devices():
    """Names and numbers are the same thing; every architecture of the table is there."""
    write("a.fk", "kernel @double() uses(fp64) {}\nkernel @half() uses(fp16) {}\nkernel @large() work_group_size(1024) {}\n"
                  "kernel @wide() sub_group_size(64) {}\n")
    rows, _ = split("per_kernel", "a.fk")
    names = {row[0]: s[0] for row, s in zip(rows, symbols(rows))}
    for target, left in [("spir64", "double half large wide"), ("x86_64", "double half large wide"),
                         ("x86_64_avx512", "double half large wide"), ("ptx64", "double half large"),
                         ("intel_gpu_skl", "double half"), ("intel_gpu_9_0_9", "double half"), ("intel_gpu_icllp", "half"),
                         ("intel_gpu_acm_g10", "half large"), ("intel_gpu_pvc", "double half large")]:
        table = filtered(target).splitlines()[1:]
        check(target, [names[line.split("|")[0]] for line in table], left.split())


# ---- splitting ----

FIRST = """source none
import func @shared() uses(fp16)
kernel @a1() { call @shared() }
kernel @a2() { %v = var f16 }
kernel @a3() sub_group_size(automatic) {}
kernel @a4() sub_group_size(primary) {}
kernel @a5() {}
kernel @a6() work_group_size(8) {}
kernel @a7() aspects(fp16) {}
"""
SECOND = """source none
export func @shared() { %v = var f16; call @helper() }
func @helper() {}
kernel @b1() { %v = var f16 }
kernel @b2() work_group_size(8) { call @helper() }
"""


def modes():
    write("a.fk", FIRST)
    write("b.fk", SECOND)
    rows, told = split("off", "a.fk", "b.fk")
    check("off", symbols(rows), [["a1", "a2", "a7", "shared", "b1"], ["a3", "a4", "a5"], ["a6", "b2"]])
    check("nothing to be warned of", told, "")
    rows, _ = split("per_source", "a.fk", "b.fk")
    check("per_source", symbols(rows), [["a1", "a2", "a7"], ["a3", "a4", "a5"], ["a6"], ["shared", "b1"], ["b2"]])
    check("what is reached goes along", sorted(re.findall(r"^(?:export |)(?:func|kernel) @(\w+)", read(rows[0][0]), re.M)),
          ["a1", "a2", "a7", "helper", "shared"])
    rows, _ = split("per_kernel", "a.fk", "b.fk")
    check("per_kernel", symbols(rows), [["a1"], ["a2"], ["a3"], ["a4"], ["a5"], ["a6"], ["a7"], ["shared"], ["b1"], ["b2"]])
    rows, _ = split("auto", "a.fk", "b.fk")
    check("auto", len(rows), 5)


def automatic():
    """Where most of the code would be there twice, auto is off."""
    body = "".join(f"%v{i} = var i32; " for i in range(50))
    write("a.fk", "import func @big()\nkernel @a() { call @big() }\n")
    write("b.fk", "import func @big()\nkernel @b() { call @big() }\n")
    write("c.fk", f"export func @big() {{ {body} }}\n")
    rows, _ = split("auto", "a.fk", "b.fk", "c.fk")
    check("one image", symbols(rows), [["a", "b", "big"]])


def shared_variables():
    write("a.fk", "global @sum: i32\nconstant @c: i32 = 5\nlocal @l: i32\n"
                  "kernel @a() { %p = global @sum; %c = global @c; %l = global @l }\n"
                  "kernel @b() { %v = var f64; %p = global @sum; %c = global @c; %l = global @l }\n")
    rows, _ = split("off", "a.fk")
    for row in rows:
        check("variables", re.findall(r"^.*@(?:sum|c|l): .*$", read(row[0]), re.M),
              ["export once global @sum: i32", "constant @c: i32 = 5", "local @l: i32"])


def unexpected_uses():
    """A unit calls what another exports, and does not know what it uses."""
    write("a.fk", "import func @foo()\nkernel @k() uses(fp16) { call @foo() }\n")
    write("b.fk", "export func @foo() { call @deep() }\nfunc @deep() { %v = var f64 }\n")
    rows, told = split("off", "a.fk", "b.fk")
    check("warning", told, "warning: function 'foo' uses aspect 'fp64' not expected by its calling kernel. Missing "
                           "[[sycl::device_has()]] on SYCL_EXTERNAL function?\n")
    check("final", read(rows[0][1]), "[SYCL/device requirements]\naspect=2|ABAAAAAAAAQBAAAAGAAAAA\n")
    write("a.fk", "import func @foo() aspects(fp64)\nkernel @k() uses(fp16) { call @foo() }\n")
    check("declared", split("off", "a.fk", "b.fk")[1], "")
    write("c.fk", "kernel @k() sub_group_size(16) { call @bar() }\nfunc @bar() sub_group_size(32) {}\n")
    rows, told = split("off", "c.fk")
    check("warning", told, "warning: function 'bar' has required sub-group size '32' that does not match its calling kernel. "
                           "Missing [[sycl::reqd_sub_group()]] attribute on SYCL_EXTERNAL function?\n")
    check("final", read(rows[0][1]), "[SYCL/device requirements]\nreqd_sub_group_size=2|ABAAAAAAAAAEAAAAgAAAAA\n")


def fixed_targets():
    """Of the same targets all are together, whatever they use; else they are not."""
    write("a.fk", 'kernel @a() targets("x86_64", "spir64") { %v = var f64 }\nkernel @b() targets("spir64", "x86_64") {}\n'
                  'kernel @c() targets("spir64") { call @foo() }\nkernel @d() targets() { call @bar() }\nkernel @e() {}\n'
                  'func @foo() targets("x86_64") {}\nfunc @bar() targets("x86_64") {}\n')
    rows, told = split("off", "a.fk")
    check("together", symbols(rows), [["a", "b"], ["c"], ["d", "e"]])
    check("warning", told, "warning: function 'foo' compiled with a different `-fsycl-fixed-targets` switch than its calling "
                           "kernel.\n")
    check("nothing is left", read(rows[1][1]), "[SYCL/device requirements]\nfixed_target=2|AAAAAAAAAAA\n")
    check("for x86_64", filtered("x86_64"), "[Code|Properties|Symbols]\n" + "".join("|".join(rows[i]) + "\n" for i in (0, 2)))
    check("for ptx64", filtered("ptx64"), "[Code|Properties|Symbols]\n" + "|".join(rows[2]) + "\n")
    write("b.fk", "source none\nkernel @a() { %v = var f64 }\nkernel @b() sub_group_size(64) {}\nkernel @c() aspects(cpu) {}\n"
                  "kernel @d() work_group_size(1000) {}\n")
    rows, told = split("off", "b.fk", options=["--fixed-targets=intel_gpu_icl"])
    check("one image", symbols(rows), [["a", "b", "c", "d"]])
    check("warnings", told,
          "warning: function 'a' uses aspect 'fp64' not supported by fixed target 'intel_gpu_icl'\n"
          "use is from this call chain:\n  a()\ncompile with '-g' to get source location\n"
          "warning: function 'b' has required sub-group size '64' not supported by fixed target 'intel_gpu_icl'\n"
          "warning: function 'c' declares aspect 'cpu' not supported by fixed target 'intel_gpu_icl'\n"
          "warning: function 'd' has required work-group size '1000, 1, 1' not supported by fixed target 'intel_gpu_icl'\n")
    check("only there", filtered("intel_gpu_skl"), "[Code|Properties|Symbols]\n")
    done = tool(SPLIT, "--fixed-targets=intel_gpu_nobody", "b.fk", "-o", "o.table", status=1)
    check("unknown", done.stderr, "fusion-split: --fixed-targets: there is no target intel_gpu_nobody\n")


# ---- OpenCL C ----

HOST = """
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
float far(float x);
kernel void plain(global float *p) { p[get_global_id(0)] *= 2; }
kernel void halves(global float *p) { volatile half h = p[0]; p[0] = h; }
kernel void doubles(global float *p) { double unused = p[0]; p[1] = 1; }
kernel void atomics(global long *p) { atom_add(p, 1); }
__attribute__((reqd_work_group_size(8, 1, 1))) kernel void sized(global float *p) { p[0] = 1; }
__attribute__((annotate("sycl::device_has(fp16)"))) kernel void declares(global float *p) { p[0] = 1; }
kernel void calls(global float *p) { p[0] = far(p[1]); }
"""
FAR = "float far(float x) { double y = x; return y * 2; }\n"


def compiled(name, source):
    clang, translator = shutil.which("clang-15"), shutil.which("llvm-spirv-15")
    if not clang or not translator:
        raise Skip("no clang-15 with llvm-spirv-15")
    write(name + ".cl", source)
    tool(clang, "-cc1", "-triple", "spir64", "-no-opaque-pointers", "-finclude-default-header", "-fdeclare-opencl-builtins",
         "-cl-std=CL2.0", "-O2", "-disable-llvm-passes", "-emit-llvm-bc", name + ".cl", "-o", name + ".bc")
    tool(translator, "--spirv-max-version=1.4", name + ".bc", "-o", name + ".spv")
    return name + ".spv"


def opencl():
    rows, told = split("off", compiled("host", HOST), compiled("far", FAR))
    check("images", sorted(sorted(set(names)) for names in symbols(rows)),
          [["atomics"], ["calls", "plain"], ["declares", "halves"], ["doubles", "far"], ["sized"]])
    check("warning", told, "warning: function 'far' uses aspect 'fp64' not expected by its calling kernel. Missing "
                           "[[sycl::device_has()]] on SYCL_EXTERNAL function?\n")
    for target, left in [("intel_gpu_acm_g10", [["declares", "halves"], ["atomics"], ["sized"]]),
                         ("x86_64_avx2", [["plain", "calls"], ["halves", "declares"], ["doubles", "far"], ["atomics"], ["sized"]])]:
        kept = [line.split("|") for line in filtered(target).splitlines()[1:]]
        check(target, sorted(map(sorted, symbols(kept))), sorted(map(sorted, left)))
    return rows


def images_run():
    """An image is a module like any other."""
    rows = opencl()
    image = next(row[0] for row in rows if "calls" in read(row[2]).split())
    write("g.yaml", f"modules: {{ m: {image} }}\nbuffers:\n  p: {{ type: f32, shape: [4], fill: 3 }}\n"
                    "graph:\n  - { kernel: m.calls, global: [1], args: [ {read_write: p} ] }\n"
                    "  - { kernel: m.plain, global: [4], args: [ {read_write: p} ] }\n")
    tool(INSPECT, "--private", "run", "g.yaml", "--out", "p=p.raw")
    check("values", struct.unpack("4f", open("p.raw", "rb").read()), (12, 6, 6, 6))


TESTS = [property_file, own_numbers, filter_steps, filter_errors, default_devices, modes, automatic, shared_variables,
         unexpected_uses, fixed_targets, opencl, images_run]


def main():
    failed = 0
    print(f"1..{len(TESTS)}")
    for i, test in enumerate(TESTS, 1):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                test()
                print(f"ok {i} - {test.__name__}")
            except Skip as why:
                print(f"ok {i} - {test.__name__} # SKIP {why}")
            except (AssertionError, OSError) as wrong:
                failed += 1
                print("\n".join(f"# {line}" for line in str(wrong).splitlines()))
                print(f"not ok {i} - {test.__name__}")
            os.chdir("/")
    return 1 if failed else 0


sys.exit(main())
