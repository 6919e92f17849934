#!/usr/bin/python3
"""Modules compiled ahead of time: bundles made for targets, loaded by a service, and spoilt. Prints TAP.

Usage: bundles.py FUSION-INSPECT FUSIOND [level_zero]    with the latter on that device alone, of the test driver"""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time

INSPECT, FUSIOND = map(os.path.abspath, sys.argv[1:3])
MAGIC = b"fusiond bundle 1"


class Skip(Exception):
    pass


def check(what, got, expected):
    if got != expected:
        raise AssertionError(f"{what}:\n  got      {got!r}\n  expected {expected!r}")


def check_in(what, got, part):
    if part not in got:
        raise AssertionError(f"{what}:\n  got      {got!r}\n  lacks    {part!r}")


def write(name, text):
    open(name, "wb" if isinstance(text, bytes) else "w").write(text)


def tool(*args, status=0, env=None):
    done = subprocess.run(args, capture_output=True, text=True, env={**os.environ, **(env or {})})
    if done.returncode != status:
        raise AssertionError(f"{args}: status {done.returncode}\n{done.stderr}")
    return done


def compile_for(targets, *files, out="b", options=(), status=0, env=None):
    targets = [f"--targets={targets}"] if targets else []
    return tool(INSPECT, "compile", *targets, *options, *files, "-o", out, status=status, env=env).stderr


def images(bundle="b"):
    return tool(INSPECT, "bundle", bundle).stdout.splitlines()


# ---- bundles as bytes, by their description ----

def members(data):
    check("magic", data[:16], MAGIC)
    at, found = 16, {}
    while at < len(data):
        length, size = struct.unpack_from("<IQ", data, at)
        name = data[at + 12:at + 12 + length].decode()
        found[name] = data[at + 12 + length:at + 12 + length + size]
        at += 12 + length + size
    check("end", at, len(data))
    return found


def pack(files):
    return MAGIC + b"".join(struct.pack("<IQ", len(n.encode()), len(b)) + n.encode() + b for n, b in files.items())


def table(files, name):
    lines = files[name].decode().splitlines()
    columns = lines[0][1:-1].split("|")
    return [dict(zip(columns, line.split("|"))) for line in lines[1:]]


# ---- services ----

class Service:
    def __init__(self, **env):
        self.folder = tempfile.mkdtemp()
        self.env = {"FUSION_SOCKET": self.folder + "/s"}
        self.process = subprocess.Popen([FUSIOND, "--socket", self.folder + "/s", "--cache", self.folder + "/c"],
                                        env={**os.environ, "FUSIOND_TIER": "compiled", **env}, stderr=subprocess.DEVNULL)
        for _ in range(200):
            if os.path.exists(self.folder + "/s"):
                break
            time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder)

    def counts(self):
        status = json.loads(tool(INSPECT, "status", "--json", env=self.env).stdout)
        return status["object_hits_bundle"], status["compiles"]

    def run(self, module, kernel="scale", device="cpu", status=0):
        """The values that the kernel gives, or what was said where it fails."""
        write("g.yaml", f"modules: {{ m: {module} }}\nbuffers:\n  a: {{ type: f32, shape: [1000], fill: 3 }}\n"
                        "  o: { type: f32, shape: [1000] }\n"
                        f"graph:\n  - {{ kernel: m.{kernel}, global: [1000], args: [ {{read: a}}, {{write: o}}, 2.5 ] }}\n")
        done = tool(INSPECT, "run", "g.yaml", "--device", device, "--out", "o=o.raw", status=status, env=self.env)
        return done.stderr if status else set(struct.unpack("1000f", open("o.raw", "rb").read()))


ARGS = "(%a: ptr.global f32 read, %o: ptr.global f32 write, %k: f32)"
BODY = "{{\n  %i = global_id x\n  %x = load f32 %a[%i]\n  %y = {} f32 %x, %k\n  store f32 %o[%i], %y\n}}\n"
SCALE = f"kernel @scale{ARGS} " + BODY.format("fmul")
SHIFT = f"kernel @shift{ARGS} " + BODY.format("fadd")
DOUBLES = f"kernel @doubles{ARGS} aspects(fp64) " + BODY.format("fsub")


# ---- compiling ----

def contents():
    write("a.fk", SCALE + SHIFT + DOUBLES)
    compile_for("x86_64_avx2,spir64", "a.fk")
    check("images", images(), ["x86_64_avx2: scale shift (2 objects)", "x86_64_avx2: doubles (1 object)",
                               "spir64: scale shift (2 objects)", "spir64: doubles (1 object)"])
    files = members(open("b", "rb").read())
    rows = table(files, "images.table")
    check("targets", [row["Target"] for row in rows], ["x86_64_avx2"] * 2 + ["spir64"] * 2)
    check("properties", files[rows[1]["Properties"]], b"[SYCL/device requirements]\naspect=2|gAAAAAAAAAgBAAAA\n")
    check("symbols", files[rows[0]["Symbols"]], b"scale\nshift\n")
    code = table(files, rows[0]["Code"])
    check("kernels", [row["Kernel"] for row in code], ["scale", "shift"])
    check("an object", files[code[0]["Object"]][:4], b"\x7fELF")
    check("effort", code[0]["Effort"], "full")
    check("SPIR-V", files[table(files, rows[2]["Code"])[0]["Object"]][:4], struct.pack("<I", 0x07230203))
    check("written as described", pack(files), open("b", "rb").read())
    os.mkdir("files")
    tool(INSPECT, "bundle", "--extract", "files", "b")
    check("extracted", {n: open("files/" + n, "rb").read() for n in os.listdir("files")}, files)


def refused_orders():
    write("a.fk", SCALE)
    check_in("unknown", compile_for("x86_65", "a.fk", status=1), "x86_65: there is no such target")
    write("d.yaml", "toaster: { aspects: [], sub-group-sizes: [1] }\n")
    check_in("no compiler", compile_for("toaster", "a.fk", options=["--device-config-file=d.yaml"], status=1),
             "toaster: there is nothing that compiles for this target")
    compile_for("", "a.fk", options=["--fixed-targets="], status=0)
    check_in("no targets", compile_for("", "a.fk", options=["--targets=,"], status=2), "usage:")
    check_in("no file", compile_for("spir64", "b.fk", status=1), "b.fk: No such file")
    check_in("no bundle", tool(INSPECT, "bundle", "a.fk", status=1).stderr, "no bundle of this version")


def no_intel_compiler():
    write("a.fk", SCALE)
    check_in("named", compile_for("intel_gpu_skl", "a.fk", status=1, env={"OCLOC": "/nonexistent/ocloc"}),
             "/nonexistent/ocloc: Intel's compiler for GPUs is not there")


def filtered_before_compiling():
    """What a target lacks never reaches its compiler."""
    write("ocloc", "#!/bin/sh\necho \"$@\" >> calls\necho \"$@\" >> $CALLS\necho binary > k\n")
    os.chmod("ocloc", 0o755)
    write("a.fk", SCALE + DOUBLES)
    env = {"OCLOC": os.path.abspath("ocloc"), "CALLS": os.path.abspath("calls")}
    compile_for("intel_gpu_dg2_g10,intel_gpu_12_0_0,intel_gpu_pvc", "a.fk", env=env)
    check("devices", [line.split("-device ")[1].split()[0] for line in open("calls")], ["dg2-g10", "12.0.0", "pvc", "pvc"])
    check("images", images(), ["intel_gpu_dg2_g10: scale (1 object)", "intel_gpu_12_0_0: scale (1 object)",
                               "intel_gpu_pvc: scale (1 object)", "intel_gpu_pvc: doubles (1 object)"])
    files = members(open("b", "rb").read())
    check("binary", files["0.intel_gpu_pvc.0.bin"], b"binary\n")
    write("ocloc", "#!/bin/sh\necho no such thing\nexit 3\n")
    check_in("a compiler that fails", compile_for("intel_gpu_pvc", "a.fk", status=1, env=env),
             "it ended with status 3: no such thing")


def ptx():
    write("a.fk", SCALE)
    check_in("no compiler", compile_for("ptx64", "a.fk", status=1, env={"PATH": "/nonexistent"}), "ptx64: llvm-spirv is not there: PTX")
    version = next((v for v in range(15, 31) if shutil.which(f"llvm-link-{v}") and shutil.which(f"llvm-spirv-{v}")), None)
    if not version:
        raise Skip("no llvm-link with llvm-spirv")
    if subprocess.run([INSPECT, "compile", "--targets=ptx64", "a.fk", "-o", "b"], capture_output=True).returncode:
        raise Skip("no libclc of that version")
    write("a.fk", SCALE + DOUBLES + "kernel @offset(%o: ptr.global i64) {\n  %n = global_offset x\n  store i64 %o[0], %n\n}\n")
    check_in("what libclc lacks", compile_for("ptx64", "a.fk"), "kernel 'offset' is not compiled ahead of time for 'ptx64': "
             "libclc lacks _Z17get_global_offsetj")
    code = members(open("b", "rb").read())["0.ptx64.0.ptx"].decode()
    check_in("an entry", code, ".visible .entry scale(")
    check_in("work-item functions are libclc's", code, "%tid.x")
    write("a.fk", MEMORIES)
    check("all memories", compile_for("ptx64", "a.fk"), "")
    code = members(open("b", "rb").read())["0.ptx64.0.ptx"].decode()
    for line in (".global .align 4 .b8", "ld.shared", "ld.global", "ld.u32"):
        check_in("all memories", code, line)


MEMORIES = """
constant @table: [4 x i32] = { 1, 2, 3, 4 }
kernel @memories(%a: ptr.global i32, %c: ptr.constant i32, %l: ptr.local i32, %n: i32) {
  %i = global_id x
  %v = var [4 x i32]
  %t = global @table
  %x = load i32 %t[%i]
  %y = load i32 %c[%i]
  %s = add i32 %x, %y
  store i32 %l[%i], %s
  barrier work_group
  store i32 %v[%i], %n
  %z = load i32 %l[3]
  store i32 %v[1], %z
  %p = spacecast %v, generic
  %g = spacecast %a, generic
  %which = slt i32 %n, 3
  %q = select ptr.generic %which, %p, %g
  %w = load i32 %q[%i]
  store i32 %a[%i], %w
}
"""
HALF = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\nkernel void halves(global half *p) { p[get_global_id(0)] *= 2; }\n"
REAL = """
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
extern float far(float);
kernel void scale(global float *a, global float *o, float k) { size_t i = get_global_id(0); o[i] = a[i] * k; }
kernel void doubles(global float *a, global float *o, float k) { size_t i = get_global_id(0); o[i] = (float)((double)a[i] * k + 1.0 - 1.0); }
kernel void counts(global float *a, global float *o, float k) {
    size_t i = get_global_id(0); local long n; n = 0; barrier(CLK_LOCAL_MEM_FENCE); atom_inc(&n); o[i] = a[i] * k; }
kernel __attribute__((reqd_work_group_size(50, 1, 1))) void sized(global float *a, global float *o, float k) {
    size_t i = get_global_id(0); o[i] = a[i] * k; }
kernel void calls(global float *a, global float *o, float k) { size_t i = get_global_id(0); o[i] = far(a[i]) * k; }
"""
FAR = "float far(float x) { double y = x; return y + 1.0 - 1.0 + y; }\n"


def compiled(name, source):
    clang, translator = shutil.which("clang-15"), shutil.which("llvm-spirv-15")
    if not clang or not translator:
        raise Skip("no clang-15 with llvm-spirv-15")
    write(name + ".cl", source)
    tool(clang, "-cc1", "-triple", "spir64", "-no-opaque-pointers", "-finclude-default-header", "-fdeclare-opencl-builtins",
         "-cl-std=CL2.0", "-O2", "-emit-llvm-bc", name + ".cl", "-o", name + ".bc")
    tool(translator, "--spirv-max-version=1.2", name + ".bc", "-o", name + ".spv")
    return name + ".spv"


def real_inputs():
    """What clang makes of OpenCL C, compiled for what Intel's compiler is for, loaded and run."""
    files = [compiled("real", REAL), compiled("far", FAR), compiled("half", HALF)]
    intel = "intel_gpu_skl,intel_gpu_pvc,intel_gpu_dg2_g10,"
    if not os.environ.get("OCLOC") and not shutil.which("ocloc"):
        print("# without Intel's compiler")
        intel = ""
    told = compile_for(intel + "spir64,x86_64_sse4,x86_64_avx2", *files)
    check("calls does not say so, and scale is in its image", told, "warning: function 'far' uses aspect 'fp64' not expected by its "
          "calling kernel. Missing [[sycl::device_has()]] on SYCL_EXTERNAL function?\n")
    kernels = {}
    for line in images():
        target, names = line.split(" (")[0].split(":")
        kernels.setdefault(target, set()).update(names.split())
    everything = {"scale", "doubles", "counts", "sized", "calls", "far", "halves"}
    for target in intel.split(",")[:2] if intel else []:
        check(target, kernels[target], everything)
    if intel:
        check("no double", kernels["intel_gpu_dg2_g10"], everything - {"doubles", "calls", "scale", "far"})
        files = members(open("b", "rb").read())
        binaries = [b for n, b in files.items() if n.endswith(".bin")]
        check("binaries", len(binaries), 2 * 6 + 3)
        check("each an ELF file", {b[:4] for b in binaries}, {b"\x7fELF"})
    check("x86_64_avx2", kernels["x86_64_avx2"], everything)
    with Service(FUSIOND_ISA="avx2") as s:
        values = {name: s.run("b", name) for name in ["scale", "doubles", "sized", "calls"]}
        check("values", values, {"scale": {7.5}, "doubles": {7.5}, "sized": {7.5}, "calls": {15}})
        check("nothing is compiled", s.counts(), (4, 0))


def fixed_targets():
    write("a.fk", SCALE)
    compile_for("", "a.fk", options=["--fixed-targets=x86_64_avx2"])
    check("alone: compiled where it runs", images(), ["spir64: scale (1 object)"])
    compile_for("x86_64_avx2,x86_64_sse4", "a.fk", options=["--fixed-targets=x86_64_avx2,ptx64"])
    check("with targets: the intersection", images(), ["x86_64_avx2: scale (1 object)"])
    told = compile_for("x86_64_sse4", "a.fk", options=["--fixed-targets=ptx64"])
    check("nothing is left", images(), [])
    check("no reason to warn", told, "")
    write("a.fk", SCALE.replace(" {", " aspects(custom) {", 1))
    check_in("warned", compile_for("x86_64_avx2", "a.fk", options=["--fixed-targets=x86_64_avx2"]),
             "declares aspect 'custom' not supported by fixed target 'x86_64_avx2'")


# ---- loading ----

def runs_without_compiling():
    write("a.fk", SCALE + SHIFT)
    compile_for("x86_64,x86_64_sse4,x86_64_avx2,x86_64_avx512", "a.fk")
    for isa in ["generic", "sse4", "avx2", "avx512"]:
        with Service(FUSIOND_ISA=isa) as s:
            check("scaled", s.run("b"), {7.5})
            check("shifted", s.run("b", "shift"), {5.5})
            check("nothing is compiled " + isa, s.counts(), (2, 0))


def local_sizes():
    """Work-items that wait for each other: the code is that of a size."""
    write("a.fk", f"kernel @scale{ARGS} " + BODY.format("fmul").replace(
        "store f32 %o[%i], %y", "%z = group_reduce f32 %y, add\n  store f32 %o[%i], %z"))
    compile_for("x86_64_avx2", "a.fk", options=["--local-size=250", "--local-size=100,2"])
    check("objects", images(), ["x86_64_avx2: scale (3 objects)"])
    with Service() as s:
        write("g.yaml", "modules: { m: b }\nbuffers:\n  a: { type: f32, shape: [1000], fill: 3 }\n"
                        "  o: { type: f32, shape: [1000] }\n"
                        "graph:\n  - { kernel: m.scale, global: [1000], local: [250], args: [ {read: a}, {write: o}, 2.5 ] }\n")
        tool(INSPECT, "run", "g.yaml", "--out", "o=o.raw", env=s.env)
        check("sums", set(struct.unpack("1000f", open("o.raw", "rb").read())), {250 * 7.5})
        check("nothing is compiled", s.counts(), (1, 0))


def no_image_fits():
    write("a.fk", SCALE + "kernel @two() sub_group_size(2) {}\n" + DOUBLES)
    write("d.yaml", "small: { aspects: [cpu], sub-group-sizes: [1] }\n")

    def reason(kernel, device, **env):
        with Service(**env) as s:
            args = "" if kernel == "two" else "{read: a}, {write: o}, 2.5"
            write("g.yaml", "modules: { m: b }\nbuffers: { a: { type: f32, shape: [8] }, o: { type: f32, shape: [8] } }\n"
                            f"graph:\n  - {{ kernel: m.{kernel}, global: [8], args: [{args}] }}\n")
            return tool(INSPECT, "run", "g.yaml", "--device", device, status=1, env=s.env).stderr
    compile_for("x86_64_avx2", "a.fk")
    check_in("another instruction set", reason("scale", "cpu", FUSIOND_ISA="sse4"), "kernel_not_supported: node scale: Kernel was "
             "compiled with '-fsycl-targets=x86_64_avx2' but was submitted to a different device.")
    check_in("another device", reason("scale", "reference"), "'-fsycl-targets=x86_64_avx2' but was submitted to a different")
    compile_for("spir64", "a.fk")
    check_in("an image's own sub-group size", reason("two", "cpu"), "kernel_not_supported: node two: Kernel has a required "
             "sub-group size of '2' but device does not support this sub-group size.")
    check_in("an aspect", reason("doubles", "small", FUSIOND_DEVICES=os.path.abspath("d.yaml")), "kernel_not_supported: node "
             "doubles: Kernel uses optional feature corresponding to 'aspect::fp64' but device does not support this aspect.")
    compile_for("", "a.fk", options=["--fixed-targets=ptx64,intel_gpu_skl"])
    check_in("fixed targets", reason("scale", "cpu"), "'-fsycl-fixed-targets=ptx64,intel_gpu_skl' but was submitted")


def for_other_devices():
    """SPIR-V for what is there; code of other processors and of GPUs is passed over."""
    write("a.fk", SCALE)
    compile_for("spir64,x86_64_avx512", "a.fk")
    with Service(FUSIOND_ISA="avx2") as s:
        check("cpu", s.run("b"), {7.5})
        check("compiled", s.counts(), (0, 1))
        check("reference", s.run("b", device="reference"), {7.5})


def several_units():
    write("a.fk", f"import func @f(%x: f32, %y: f32) -> f32\nkernel @scale{ARGS} " + BODY.format("fmul").replace(
        "fmul f32 %x, %k", "call @f(%x, %k)"))
    write("b.fk", "export func @f(%x: f32, %y: f32) -> f32 { %z = fmul f32 %x, %y  return %z }\n")
    compile_for("x86_64_avx2", "a.fk", "b.fk")
    with Service() as s:
        check("linked", s.run("b"), {7.5})
        check("nothing is compiled", s.counts(), (1, 0))


# ---- binaries of GPUs ----

def native(spirv):
    """As the test driver has it (tests/level_zero/driver/native.c)."""
    total = 0xcbf29ce484222325
    for byte in spirv:
        total = (total ^ byte) * 0x100000001b3 & (1 << 64) - 1
    return struct.pack("<8sQQQ", b"zetest", 1, len(spirv), total) + spirv


def binaries_on_level_zero():
    """The driver takes what is its own, and what is not compiles the SPIR-V."""
    write("a.fk", SCALE)
    write("shift.fk", SHIFT.replace("@shift", "@scale"))
    write("ocloc", "#!/bin/sh\ncp k.spv k\n")
    os.chmod("ocloc", 0o755)
    env = {"OCLOC": os.path.abspath("ocloc")}
    compile_for("intel_gpu_skl", "shift.fk", out="other", env=env)
    compile_for("spir64,intel_gpu_skl,intel_gpu_pvc", "a.fk", env=env)
    shifted = native(members(open("other", "rb").read())["0.intel_gpu_skl.0.bin"])
    with Service() as s:
        check("both are refused", s.run("b", device="level_zero"), {7.5})
        exchanged("0.intel_gpu_pvc.0.bin", lambda _: shifted)
        check("the second is taken", s.run("bad", device="level_zero"), {5.5})
        exchanged("0.intel_gpu_pvc.0.bin", lambda _: shifted[:-1] + b"?")
        check("a spoilt one is not", s.run("bad", device="level_zero"), {7.5})
        check("others", s.run("a.fk", device="level_zero"), {7.5})
        exchanged("0.intel_gpu_skl.0.bin", lambda _: b"")
        check("an empty one", s.run("bad", device="level_zero"), {7.5})
    compile_for("intel_gpu_pvc", "a.fk", env=env)
    with Service() as s:
        check_in("not this GPU", s.run("b", device="level_zero", status=1), "'-fsycl-targets=intel_gpu_pvc' but was submitted to a "
                 "different device.")


# ---- bundles of strangers ----

def exchanged(what, make):
    files = members(open("b", "rb").read())
    files[what] = make(files[what])
    write("bad", pack(files))


def code_stays_in_its_session():
    """A bundle says that an object is the code of a kernel, and it is not: only who loads it has wrong values."""
    write("a.fk", SCALE)
    write("shift.fk", SHIFT)
    compile_for("x86_64_sse4", "shift.fk", out="other")
    compile_for("x86_64_sse4", "a.fk")
    exchanged("0.x86_64_sse4.0.so", lambda _: members(open("other", "rb").read())["0.x86_64_sse4.0.so"])
    with Service() as s:
        check("its own loss", s.run("bad"), {5.5})
        check("others with the bundle that is right", s.run("b"), {7.5})
        check("others with the source", s.run("a.fk"), {7.5})
        check("what the service made comes first", s.run("bad"), {7.5})
        check("once from the source", s.counts(), (2, 1))


EVIL = r"""
#include <stdint.h>
%s
static long call(long n, long a, long b, long c) {
    long r; __asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory"); return r; }
struct { uint32_t abi_version, lanes, args_size, local, scratch, sub_groups; } fusion_kernel_info = {%s, 1, 24};
void fusion_kernel(const void *launch, void *const *args, uint64_t first, uint64_t end, void *local) {
    float *o = args[1];
    o[0] = call(2, (long)"/etc/passwd", 0, 0) < 0;
    o[1] = call(2, (long)"%s", 66, 0600) < 0;
    o[2] = call(57, 0, 0, 0) < 0;
    o[3] = call(59, (long)"/bin/sh", 0, 0) < 0;
    o[4] = call(41, 1, 1, 0) < 0;
    o[5] = call(62, call(110, 0, 0, 0), 9, 0) < 0;
}
"""


def evil(extra="", options=()):
    good = members(open("b", "rb").read())["0.x86_64_sse4.0.so"]
    write("good.so", good)
    symbols = tool("readelf", "-sW", "good.so").stdout
    address = next(int(line.split()[1], 16) for line in symbols.splitlines() if line.endswith(" fusion_kernel_info"))
    segments = [line.split() for line in tool("readelf", "-lW", "good.so").stdout.splitlines() if line.startswith("  LOAD")]
    place = next(int(s[1], 16) + address - int(s[2], 16) for s in segments if int(s[2], 16) <= address < int(s[2], 16) + int(s[4], 16))
    version = struct.unpack_from("<I", good, place)[0]
    write("evil.c", EVIL % (extra, version, os.path.abspath("proof")))
    tool("gcc", "-O1", "-w", "-fPIC", "-shared", "-nostdlib", "-fno-stack-protector", "-fno-asynchronous-unwind-tables", "-fcf-protection=none",
         "-Wl,-z,now", "-Wl,-z,noexecstack", "-Wl,--hash-style=both", "-Wl,--build-id=none", *options,
         "evil.c", "-o", "evil.so")
    return open("evil.so", "rb").read()


def hostile_code_is_confined():
    """It runs as the session's kernels do: no file, no process, no socket, no signal to others."""
    write("a.fk", SCALE)
    compile_for("x86_64_sse4", "a.fk")
    if not shutil.which("gcc"):
        raise Skip("no gcc")
    exchanged("0.x86_64_sse4.0.so", lambda _: evil())
    with Service() as s:
        write("g.yaml", "modules: { m: bad }\nbuffers:\n  a: { type: f32, shape: [8], fill: 3 }\n  o: { type: f32, shape: [8] }\n"
                        "graph:\n  - { kernel: m.scale, global: [8], args: [ {read: a}, {write: o}, 2.5 ] }\n")
        if not os.environ.get("FUSIOND_NO_SECCOMP"):
            tool(INSPECT, "run", "g.yaml", "--out", "o=o.raw", env=s.env)
            check("refused", struct.unpack("8f", open("o.raw", "rb").read())[:6], (1.0,) * 6)
        check("no file", os.path.exists("proof"), False)
        check("the service goes on", s.run("a.fk"), {7.5})


def hostile_objects():
    """What would run, or reach out, while it is loaded is not loaded."""
    write("a.fk", SCALE)
    compile_for("x86_64_sse4", "a.fk")
    if not shutil.which("gcc"):
        raise Skip("no gcc")
    told = "it tells the dynamic loader something that ours do not"
    cases = [("volatile int d; __attribute__((constructor)) static void c(void) { d = 1; }", [], told),
             ("__attribute__((destructor)) void c(void) { }", [], told),
             ("void boo(void) {}", ["-Wl,-init,boo"], told),
             ("", ["-Wl,-rpath,/tmp"], told),
             ("", ["-Wl,--no-as-needed", "-lc"], "it needs a library that kernels do not"),
             ("int x(void); static int y(void) { return 1; } void *z(void) { return y; } "
              "int x(void) __attribute__((ifunc(\"z\"))); int (*w)(void) = x;", [], "of a kind that ours"),
             ("__thread int t = 1; int *u(void) { return &t; }", [], "of a kind that ours have not"),
             ("", ["-Wl,-z,execstack"], "it asks for a stack that can be executed"),
             ("", ["-Wl,-N"], "that can be written and executed")]
    with Service() as s:
        for extra, options, reason in cases:
            exchanged("0.x86_64_sse4.0.so", lambda _: evil(extra, options))
            check_in(str([extra, options]), s.run("bad", status=1), reason)
        for size in [0, 3, 63, 64, 200, 4000, 5000, 12000]:
            exchanged("0.x86_64_sse4.0.so", lambda good: good[:size])
            check_in("cut", s.run("bad", status=1), "module bad: ")
        check("the service goes on", s.run("b"), {7.5})


def spoilt_bundles():
    write("a.fk", SCALE)
    compile_for("x86_64_sse4", "a.fk")
    good = open("b", "rb").read()
    with Service() as s:
        for size in list(range(16, 60)) + list(range(60, len(good) - 1, 997)):
            write("bad", good[:size])
            s.run("bad", status=1)
        cases = [("images.table", lambda b: b"", "columns"),
                 ("images.table", lambda b: b.replace(b"Symbols", b"Symbolz"), "it lacks a column"),
                 ("images.table", lambda b: b.replace(b"0.sym", b"1.sym"), "member 1.sym of the bundle: there is no such text"),
                 ("images.table", lambda b: b.replace(b"x86_64_sse4|", b"|"), "a target has no name"),
                 ("module.fk", lambda b: b[:-1], "module.fk"),
                 ("module.fk", lambda b: b"", "module.fk"),
                 ("0.prop", lambda b: b + b"aspect=9|x\n", "0.prop"),
                 ("0.sym", lambda b: b"\0", "there is no such text"),
                 ("0.x86_64_sse4.table", lambda b: b.replace(b"0.so|", b"9.so|"), "it names what is not there"),
                 ("0.x86_64_sse4.table", lambda b: b.replace(b"so|4|", b"so|0|").replace(b"so|8|", b"so|0|"), "1 to 64 work-items at once")]
        for what, spoil, reason in cases:
            exchanged(what, spoil)
            check_in(what, s.run("bad", status=1), reason)
        write("bad", good + struct.pack("<IQ", 5, 1) + b"0.sym!")
        check_in("twice", s.run("bad", status=1), "is there twice")
        exchanged("0.x86_64_sse4.0.fk", lambda b: b"nothing")
        check("code of another kernel", s.run("bad"), {7.5})
        check("the service goes on", s.run("b"), {7.5})


def saved_executables():
    """What run and compile save, run takes; another service compiles nothing for it."""
    write("m.fk", SCALE + SHIFT)
    write("g.yaml", "modules: { m: m.fk }\nbuffers:\n  a: { type: f32, shape: [1000], fill: 3 }\n  t: { type: f32, count: 1000 }\n"
                    "  o: { type: f32, shape: [1000] }\noutputs: [o]\ngraph:\n"
                    "  - { kernel: m.scale, global: [1000], args: [ {read: a}, {write: t}, 2.5 ] }\n"
                    "  - { kernel: m.shift, global: [1000], args: [ {read: t}, {write: o}, 1.0 ] }\n")
    write("a.raw", struct.pack("1000f", *[4] * 1000))
    with Service() as s:
        tool(INSPECT, "run", "g.yaml", "--save", "one.saved", "--out", "o=o.raw", env=s.env)
        check("run", set(struct.unpack("1000f", open("o.raw", "rb").read())), {8.5})
        tool(INSPECT, "compile", "g.yaml", "--save", "two.saved", env=s.env)
    check("the same", open("two.saved", "rb").read(), open("one.saved", "rb").read())
    shown = tool(INSPECT, "bundle", "one.saved").stdout
    check_in("code", shown, "(1 object)")
    check_in("its graph", shown, "saved executable, version executable 1: 2 nodes, 1 modules\n"
                                 "  scale: kernel scale of module 0 over 1000\n")
    check_in("its memory", shown, "  a: buffer of 4000 bytes\n")
    with Service() as s:
        told = tool(INSPECT, "run", "one.saved", "--in", "a=a.raw", "--out", "o=o.raw", "--json", env=s.env).stdout
        check("loaded", set(struct.unpack("1000f", open("o.raw", "rb").read())), {11.0})
        check("one launch", json.loads(told)["launches"], 1)
        check("nothing compiled", s.counts(), (1, 0))
        tool(INSPECT, "run", "one.saved", "--in", "a=a.raw", "--out", "o=o.raw", "--device", "reference", "--fusion", "none", env=s.env)
        check("on another device", set(struct.unpack("1000f", open("o.raw", "rb").read())), {11.0})
        check_in("once finalized", tool(INSPECT, "run", "one.saved", "--compare", status=2, env=s.env).stderr, "finalized already")
        compile_for("x86_64", "m.fk")
        check_in("a bundle of modules", tool(INSPECT, "run", "b", status=1, env=s.env).stderr, "no saved executable")
        write("cut.saved", open("one.saved", "rb").read()[:-100])
        check_in("cut", tool(INSPECT, "run", "cut.saved", status=1, env=s.env).stderr, "cut.saved")


TESTS = [contents, refused_orders, no_intel_compiler, filtered_before_compiling, ptx, real_inputs, fixed_targets, runs_without_compiling, local_sizes,
         no_image_fits, for_other_devices, several_units, code_stays_in_its_session, hostile_code_is_confined, hostile_objects,
         spoilt_bundles, saved_executables]


if sys.argv[3:] == ["level_zero"]:
    TESTS = [binaries_on_level_zero]


def main():
    failed = 0
    print(f"1..{len(TESTS)}")
    for i, test in enumerate(TESTS, 1):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                test()
                print(f"ok {i} - {test.__name__}", flush=True)
            except Skip as why:
                print(f"ok {i} - {test.__name__} # SKIP {why}")
            except (AssertionError, OSError) as wrong:
                failed += 1
                print("\n".join(f"# {line}" for line in str(wrong).splitlines()))
                print(f"not ok {i} - {test.__name__}", flush=True)
            os.chdir("/")
    return 1 if failed else 0


sys.exit(main())
