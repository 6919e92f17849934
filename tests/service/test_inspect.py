#!/usr/bin/python3
"""fusion-inspect as a user runs it; NumPy is the oracle for values and files. Prints TAP."""
import json
import os
import pty
import re
import subprocess
import sys
import tempfile

import numpy

TOOL, ROOT = sys.argv[1], sys.argv[2]
CACHE = tempfile.TemporaryDirectory()  # what runs before left behind does not count
ENVIRONMENT = dict(os.environ, XDG_CACHE_HOME=CACHE.name)
KERNELS = os.path.join(ROOT, "tests/service/chain.fk")

GRAPH = """
modules: {{ k: {kernels} }}
buffers:
  a: {{ type: f32, count: {n} }}
  b: {{ type: f32, shape: [{n}], fill: 2.5 }}
  t: {{ type: f32, count: {n}, properties: [access_scope_work_item, fusion_internal_memory, no_init] }}
  o: {{ type: f32, count: {n} }}
  p: {{ type: f32, count: {n} }}
graph:
  - {{ name: add, kernel: k.add, global: [{n}], args: [ {{read: a}}, {{read: b}}, {{write: t}} ] }}
  - {{ name: scale, kernel: k.scale, global: [{n}], local: [256], args: [ {{read: t}}, {{write: o}}, 5.0 ], depends_on: [add] }}
  - {{ copy: {{ from: o, to: p }} }}
"""


class Failure(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Failure(what)


def run(*arguments, status=0):
    done = subprocess.run([TOOL, "--private", *arguments], capture_output=True, text=True, env=ENVIRONMENT, timeout=120)
    expect(done.returncode == status, f"status {done.returncode} of {arguments}: {done.stderr}")
    return done.stdout if status == 0 else done.stderr


class Folder:
    """A folder with a graph file and its inputs."""

    def __init__(self, n=4096, graph=GRAPH):
        self.temporary = tempfile.TemporaryDirectory()
        self.path = self.temporary.name
        self.graph = self.file("graph.yaml")
        with open(self.graph, "w") as out:
            out.write(graph.format(kernels=KERNELS, n=n))
        self.a = numpy.linspace(-3, 9, n, dtype=numpy.float32)
        numpy.save(self.file("a.npy"), self.a)

    def file(self, name):
        return os.path.join(self.path, name)


def test_run_fused():
    f = Folder()
    out = json.loads(run("run", f.graph, "--in", f"a={f.file('a.npy')}", "--out", f"p={f.file('p.npy')}", "--out",
                         f"o={f.file('o.raw')}", "--fusion", "require", "--json"))
    wanted = (f.a + numpy.float32(2.5)) * numpy.float32(5)
    expect(numpy.array_equal(numpy.load(f.file("p.npy")), wanted), "values of p")
    expect(numpy.array_equal(numpy.fromfile(f.file("o.raw"), dtype=numpy.float32), wanted), "values of o")
    expect(out["launches"] == 1, f"launches {out['launches']}")
    expect(out["groups"] == [["add", "scale"]], f"groups {out['groups']}")
    expect(out["internalized"] == ["t"], f"internalized {out['internalized']}")
    # a, b read and o written by the kernel; o read and p written by the copy
    expect(out["bytes_fused"] == 5 * 4096 * 4, f"bytes_fused {out['bytes_fused']}")
    expect(out["bytes_unfused"] == 7 * 4096 * 4, f"bytes_unfused {out['bytes_unfused']}")
    expect(out["cache"] in ("miss", "memory", "disk") and out["compile_ms"] > 0 and out["run_ms"] > 0, "times and cache")
    expect(all(r["code"] and r["text"] and "node" in r for r in out["remarks"]), "remarks")
    expect(any(r["buffer"] == "t" for r in out["remarks"]), "a remark about t")


LOOP_GRAPH = """
modules: {{ k: {kernels} }}
buffers:
  a: {{ type: f32, count: {n} }}
  b: {{ type: f32, shape: [{n}], fill: 2.5 }}
graph:
  - {{ kernel: k.add, global: [{n}], args: [ {{read: a}}, {{read: b}}, {{write: a}} ] }}
"""


def test_rounds():
    f = Folder(graph=LOOP_GRAPH)
    for rounds, repeat in ((1, 1), (19, 1), (8, 3)):
        arguments = ["run", f.graph, "--in", f"a={f.file('a.npy')}", "--out", f"a={f.file('o.npy')}", "--rounds", str(rounds),
                     "--repeat", str(repeat)]
        out = json.loads(run(*arguments, "--json"))
        wanted = f.a.copy()
        for _ in range(rounds * repeat): wanted += numpy.float32(2.5)
        expect(numpy.array_equal(numpy.load(f.file("o.npy")), wanted), f"values after {rounds} rounds, {repeat} times")
        expect(out["rounds"] == rounds and out["rounds_together"] == (8 if rounds > 1 else 1), out)
        expect(out["launches"] == 1 and (f"({rounds} rounds, 8 at a time)" in run(*arguments)) == (rounds > 1), "text")
    expect("--rounds" in run("run", f.graph, "--rounds", "0", status=2), "none")


def machine_entries():
    return [open(os.path.join(folder, name), "rb").read()
            for folder, _, names in os.walk(CACHE.name) for name in names if name.endswith(".4")]


def test_figures_of_the_machine_are_kept():
    first, second = Folder(), Folder(n=2048)
    usual = ENVIRONMENT.pop("FUSIOND_MACHINE", None)
    try:
        out = json.loads(run("explain", first.graph, "--json"))
        measured = machine_entries()
        expect(out["predicted_ms"][0] > 0 and len(measured) == 1, measured)
        run("explain", second.graph)
        expect(machine_entries() == measured, "measured again")
    finally:
        if usual: ENVIRONMENT["FUSIOND_MACHINE"] = usual


def test_profile():
    f = Folder(graph=CUT_GRAPH)
    trace = f.file("trace.json")
    out = json.loads(run("run", f.graph, "--json", "--profile", "--compare", "--repeat", "3", "--trace", trace,
                         "--tier", "compiled"))
    profile = out["profile"]
    expect(profile["runs"] == 3 and profile["bandwidth"] > 1e6, profile)
    expect([(s["name"], s["step"], s["steps"]) for s in profile["steps"]] ==
           [("launch 1: fused_scale_scale", 0, 1), ("launch 2: fused_shift_scale", 1, 1)], profile)
    expect(sum(s["bytes"] for s in profile["steps"]) == out["bytes_fused"], profile)
    expect(all(s["ms"] > 0 and s["predicted_ms"] > 0 for s in profile["steps"]), profile)
    expect([round(s["predicted_ms"], 3) for s in profile["steps"]] == out["predicted_ms"], out)
    expect(out["unfused"]["launches"] == 4 and out["unfused"]["bytes"] == out["bytes_unfused"], out["unfused"])
    expect(out["unfused"]["run_ms"] > 0 and out["unfused"]["ratio"] > 0, out["unfused"])
    with open(trace) as file:
        spans = [e for e in json.load(file)["traceEvents"] if e["ph"] == "X"]
    names = [s["name"] for s in spans]
    expect(names[:2] == ["load modules, record the graph", "finalize"] and names.count("launch 2: fused_shift_scale") == 3, names)
    finalize, runs = spans[1], [s for s in spans if s["name"].startswith("run ")]
    jobs = [s for s in spans if s["name"] == "plan" or s["name"].startswith("code of ")]
    expect({"plan", "code of fused_scale_scale", "code of fused_shift_scale"} <= {s["name"] for s in jobs}, names)
    for s in jobs:
        expect(finalize["ts"] <= s["ts"] and s["ts"] + s["dur"] <= finalize["ts"] + finalize["dur"], s)
    for s in spans[2:]:
        expect(s in jobs or s["ts"] >= finalize["ts"] + finalize["dur"], s)
        if s["name"].startswith("launch"):
            expect(any(r["ts"] <= s["ts"] and s["ts"] + s["dur"] <= r["ts"] + r["dur"] + 1e-3 for r in runs), s)
            expect(s["args"]["nodes"] == (["one", "two"] if "launch 1" in s["name"] else ["three", "four"]), s)
    new = Folder(n=8192, graph=CUT_GRAPH)
    tiers = json.loads(run("run", new.graph, "--json", "--compare"))["tiers"]
    expect(tiers == ["final", "final"], f"what is measured is the code, in a new graph, too: {tiers}")
    text = run("run", f.graph, "--profile", "--compare", "--repeat", "2")
    for part in ("profile (medians of 2 runs)", "launch 1: fused_scale_scale", "all steps", "times as fast"):
        expect(part in text, text)


def test_run_unfused():
    f = Folder()
    out = json.loads(run("run", f.graph, "--in", f"a={f.file('a.npy')}", "--out", f"p={f.file('p.npy')}", "--fusion", "none", "--json"))
    expect(out["launches"] == 2 and out["internalized"] == [], "two launches, nothing internalized")
    expect(out["groups"] == [["add"], ["scale"]], "groups")
    expect(numpy.array_equal(numpy.load(f.file("p.npy")), (f.a + numpy.float32(2.5)) * numpy.float32(5)), "values")


PROMISE = """
modules: {{ k: {kernels} }}
buffers:
  a: {{ type: f32, count: {n}, properties: [access_scope_work_item] }}
  t: {{ type: f32, count: {n} }}
  o: {{ type: f32, count: {n} }}
graph:
  - {{ name: add, kernel: k.add, global: [16], args: [ {{read: a}}, {{read: a}}, {{write: t}} ] }}
  - {{ name: scale, kernel: k.scale, global: [16], args: [ {{read: {buffer}, offset: {offset}}}, {{write: o}}, 5.0 ] }}
"""


def test_debug():
    f = Folder()
    out = json.loads(run("run", f.graph, "--in", f"a={f.file('a.npy')}", "--out", f"p={f.file('p.npy')}", "--debug", "--json"))
    expect(out["launches"] == 1 and out["internalized"] == ["t"], "the same plan")
    expect(numpy.array_equal(numpy.load(f.file("p.npy")), (f.a + numpy.float32(2.5)) * numpy.float32(5)), "values")
    # True of the element that each work-item reads, false where the second kernel begins one later.
    for offset, buffer in ((0, "a"), (1, "a"), (0, "t")):
        with open(f.graph, "w") as graph:
            graph.write(PROMISE.format(kernels=KERNELS, n=64, offset=offset, buffer=buffer))
        text = run("run", f.graph, "--fusion", "require", "--debug", status=1 if offset else 0)
        says = ("access_scope_work_item on buffer a does not hold: work-item 0 of scale (line 15) reads element 1 (byte 4), "
                "which is for work-item 1 of add (line 6), too")
        expect(not offset or says in text, text)


def test_the_interpreter_is_not_measured():
    """It takes its time: once each, and the times are said to be its own. --repeat asks for more."""
    f = Folder(n=64)
    for option in ("--debug", "--device=reference"):
        text = run("run", "--compare", "--profile", option, f.graph)
        for part in ("(1 run of each)", "profile (1 run)", "(interpreted", "times are the interpreter's"):
            expect(part in text, text)
    expect("medians of 3 runs in turn" in run("run", "--compare", "--debug", "--repeat", "3", f.graph), "more if asked")
    expect("medians of 10 runs in turn" in run("run", "--compare", f.graph), "code is")


def test_explain():
    f = Folder()
    expect("kernel @" not in run("explain", f.graph), "no IR unless it is asked for")
    text = run("explain", f.graph, "--ir", "--assembly", "--svg", f.file("g.svg"), "--dot", f.file("g.dot"))
    expect("linear order: add scale" in text, "the order")
    expect("fadd f32" in text and "fmul f32" in text, "the fused IR")
    expect("fusion_kernel" in text and "ret" in text, "the assembly")
    svg = open(f.file("g.svg")).read()
    expect("<svg" in svg and "no memory" in svg and "launch 1" in svg, "the picture")
    expect("digraph" in open(f.file("g.dot")).read(), "the DOT text")
    out = json.loads(run("explain", f.graph, "--json"))
    expect("kernel @" in out["kernels"][0]["ir"], "the IR in JSON")


CUT_GRAPH = """
modules: {{ k: {kernels} }}
buffers:
  a: {{ type: f32, count: {n} }}
  t: {{ type: f32, count: {n}, properties: [fusion_internal_memory] }}
  u: {{ type: f32, count: {n}, properties: [fusion_internal_memory] }}
  v: {{ type: f32, count: {n} }}
  o: {{ type: f32, count: {n} }}
  spare: {{ type: f32, count: 8 }}
graph:
  - {{ name: one, kernel: k.scale, global: [{n}], args: [ {{read: a}}, {{write: t}}, 2.0 ] }}
  - {{ name: two, kernel: k.scale, global: [{n}], args: [ {{read: t}}, {{write: u}}, 2.0 ] }}
  - {{ name: three, kernel: k.shift, global: [{n}], args: [ {{read: u}}, {{write: v}} ] }}
  - {{ name: four, kernel: k.scale, global: [{n}], args: [ {{read: v}}, {{write: o}}, 2.0 ] }}
"""


def test_explain_buffers_and_cuts():
    f = Folder(graph=CUT_GRAPH)
    out = json.loads(run("explain", f.graph, "--json"))
    expect(out["groups"] == [["one", "two"], ["three", "four"]], f"groups {out['groups']}")
    buffers = {b["name"]: b for b in out["buffers"]}
    expect(list(buffers) == ["a", "t", "u", "v", "o", "spare"], "each buffer, as in the file")
    for b in out["buffers"]:
        expect(list(b) == ["name", "bytes", "memory", "saved", "code", "node", "reason", "properties"], f"keys of {b}")
    wanted = {  # memory, saved, code, properties
        "a": ("global", 0, "not_internalized_init", []),
        "t": ("private", 2 * 4 * 4096, "internalized_private", []),
        "u": ("global", 0, "not_internalized_groups", []),
        "v": ("global", 0, "internalization_possible", ["fusion_internal_memory"]),
        "o": ("global", 0, "not_internalized_result", []),
        "spare": ("global", 0, "", []),
    }
    for name, row in wanted.items():
        b = buffers[name]
        expect((b["memory"], b["saved"], b["code"], b["properties"]) == row, f"{name}: {b}")
    expect(buffers["t"]["bytes"] == 4 * 4096 and buffers["spare"]["bytes"] == 32, "bytes")
    expect("two and three use it, which are not fused" in buffers["u"]["reason"], buffers["u"]["reason"])
    expect(len(out["cuts"]) == 1, f"cuts {out['cuts']}")
    cut = out["cuts"][0]
    expect(list(cut) == ["code", "node", "launch", "buffer", "reason", "properties"], f"keys of {cut}")
    expect((cut["code"], cut["node"], cut["launch"], cut["buffer"]) == ("not_fused_race", "three", 2, "u"), f"{cut}")
    for part in ("work-item 0 of two (line 17)", "buffer u", "work-item 1 of three (line 41)"):
        expect(part in cut["reason"], cut["reason"])
    text = run("explain", f.graph, "--svg", f.file("g.svg"))
    expect("  t, 16.4 kB, private memory: buffer t is kept in registers of one, two" in text, text)
    expect("  spare, 32 B, global memory: no kernels that could be fused use it" in text, text)
    expect("  before launch 2: two and three cannot run as one kernel" in text, text)
    svg = open(f.file("g.svg")).read()
    for part in ("launch 2: fused_shift_scale", "no memory", "saves 32.8 kB of traffic", "49.2 kB saved", "what is what",
                 "cut before it:", ">two and three cannot run as one kernel", "4096", "49.1 kB of traffic",
                 "xlink:title=\"buffer t is kept in registers of one, two"):
        expect(part in svg, part)


def points_of(path):
    """Points along the Bezier curves of an SVG path "Mx,yCx,y x,y x,y ..."."""
    xy = [tuple(map(float, point.split(","))) for point in re.findall(r"[-\d.]+,[-\d.]+", path)]
    for k in range(0, len(xy) - 3, 3):
        for t in (i / 50 for i in range(51)):
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t ** 3)
            yield tuple(sum(w * p[axis] for w, p in zip(weights, xy[k:k + 4])) for axis in (0, 1))


def test_picture_is_legible():
    """No line runs through a text, as wide as its letters are at least."""
    f = Folder(graph=CUT_GRAPH)
    run("explain", f.graph, "--svg", f.file("g.svg"))
    svg = open(f.file("g.svg")).read()
    edges = re.findall(r'class="edge">.*?<path[^>]* d="([^"]*)"', svg, re.S)
    texts = re.findall(r'<text text-anchor="(\w+)" x="([-\d.]+)" y="([-\d.]+)"[^>]*font-size="([\d.]+)"[^>]*>([^<]+)</text>', svg)
    expect(len(edges) >= 8 and any("launch 1" in text[4] for text in texts), svg)
    for anchor, x, y, size, text in texts:
        width, x, y, size = len(text.strip("\xa0 ")) * float(size) * 0.4, float(x), float(y), float(size)
        left = x if anchor == "start" else x - width / 2
        for edge in edges:
            for px, py in points_of(edge):
                expect(not (left < px < left + width and y - size * 0.7 < py < y), f"a line runs through {text!r} at {px}, {py}")


def test_explain_pictures_fail():
    """One error, that of what is wrong: the file's, or the program's."""
    f = Folder()
    for option in "--svg", "--dot":
        lines = run("explain", f.graph, option, f.file("missing/g.svg"), status=1).strip().split("\n")
        expect(len(lines) == 1 and lines[0].endswith("missing/g.svg: No such file or directory"), f"{option}: {lines}")
    where = {**ENVIRONMENT, "PATH": f.path}
    done = subprocess.run([TOOL, "--private", "explain", f.graph, "--svg", f.file("g.svg")], capture_output=True, text=True, env=where)
    expect(done.returncode == 1 and "package graphviz): No such file" in done.stderr, done.stderr)


def test_explain_names_properties():
    f = Folder(graph=CUT_GRAPH.replace("properties: [fusion_internal_memory]", "properties: []"))
    out = json.loads(run("explain", f.graph, "--json"))
    buffers = {b["name"]: b for b in out["buffers"]}
    expect(buffers["t"]["properties"] == ["fusion_internal_memory"], f"{buffers['t']}")
    out = json.loads(run("explain", f.graph, "--json", "--fusion", "none"))
    expect(out["cuts"] == [] and all(b["memory"] == "global" for b in out["buffers"]), "nothing is fused")


def test_compile():
    """SPIR-V for both dialects; what is read back is the kernel."""
    folder = Folder()
    for dialect, tool_environment in (("kernel", "opencl2.2"), ("vulkan", "vulkan1.2")):
        out = folder.file(dialect + ".spv")
        text = run("compile", "--spirv", out, "--dialect", dialect, folder.graph)
        expect("fused_add_scale" in text, text)
        subprocess.run(["spirv-val", "--target-env", tool_environment, out], check=True, timeout=60)
    expect("fused_add_scale" in run("module", folder.file("kernel.spv")), "the kernel read back")
    several = run("compile", "--spirv", folder.file("one.spv"), KERNELS, status=1)
    expect("needs a folder" in several, several)
    run("compile", "--spirv", folder.path, KERNELS)
    expect(os.path.exists(folder.file("add.spv")), "a file for each kernel")


OPENCL_C = """
kernel void add(global const float *a, global const float *b, global float *o) {
    int i = get_global_id(0);
    o[i] = a[i] + b[i];
}
kernel void scale(global const float *a, global float *o, float k) {
    int i = get_global_id(0);
    o[i] = a[i] * k FINISH;
}
"""


def test_opencl_c():
    """A graph of kernels in OpenCL C, whose cuts and errors have its lines."""
    folder = Folder(graph=GRAPH.replace("{kernels}", "{{ file: chain.cl, options: \"-DFINISH='+ 1'\" }}"))
    with open(folder.file("chain.cl"), "w") as out:
        out.write(OPENCL_C)
    out = run_chain(folder)
    expect(numpy.allclose(out, (folder.a + numpy.float32(2.5)) * 5 + 1, rtol=1e-6), f"{out[:4]}")
    text = run("module", folder.file("chain.cl"), status=1)
    expect("chain.cl:8:20: error" in text and "^" in text, text)
    text = run("module", "--options", "-DFINISH=", folder.file("chain.cl"))
    expect("kernel scale" in text and "2: k" in text, text)
    with open(folder.file("one.cl"), "w") as out:
        out.write("kernel void one(global int *o) { o[get_global_id(0)] = 1; }")
    for tool in (["module"], ["passes"]):
        expect("one" in run(*tool, folder.file("one.cl")), f"{tool}")


def run_chain(folder):
    run("run", folder.graph, "--in", f"a={folder.file('a.npy')}", "--out", f"p={folder.file('p.npy')}")
    return numpy.load(folder.file("p.npy"))


def test_module():
    text = run("module", "--ir", KERNELS)
    for part in ("kernel add", "kernel scale", "ptr.global f32, read", "4 bytes", "fmul f32"):
        expect(part in text, part)


def test_module_mistakes():
    with tempfile.TemporaryDirectory() as folder:
        def load(text):
            with open(folder + "/m.fk", "w") as f:
                f.write(text)
            return run("module", folder + "/m.fk", status=1)
        expect("empty" in load(""), "a file without bytes")
        expect("neither a kernel nor" in load("// nothing\n"), "a file with a comment")
        written = "kernel @bad(%a: ptr.global i32 read) {\n  %i = global_id x\n  store i32 %a[%i], 1\n  return\n}\n"
        expect("read only, but writes it in line 3" in load(written), "a store through a `read` parameter")


LINKED = """
import func @scale(%x: f32) -> f32
kernel @k(%o: ptr.global f32 write) {
    %i = global_id x
    %f = utof f32 %i
    %y = call @scale(%f)
    store f32 %o[%i], %y
}
"""
SCALE = "export func @scale(%x: f32) -> f32 { %y = fmul f32 %x, 3; return %y }\n"
LINKED_GRAPH = """
modules:
  k: {files}
buffers:
  o: {{ type: f32, count: 8 }}
graph:
  - {{ kernel: k.k, global: [8], args: [ {{write: o}} ] }}
"""


def linked_folder(files):
    f = Folder(graph="graph: []")
    for name, text in (("a.fk", LINKED), ("b.fk", SCALE), ("graph.yaml", LINKED_GRAPH.format(files=files))):
        with open(f.file(name), "w") as out:
            out.write(text)
    return f


def test_linked_modules():
    f = linked_folder("[a.fk, { file: b.fk, sub_group_size: primary }]")
    for device in ("cpu", "reference"):
        run("run", f.graph, "--device", device, "--out", f"o={f.file('o.npy')}")
        expect(numpy.array_equal(numpy.load(f.file("o.npy")), 3 * numpy.arange(8, dtype=numpy.float32)), device)
    text = run("module", "--ir", f.file("a.fk"), f.file("b.fk"))
    expect("kernel k\n" in text and "export func @scale" in text and "import" not in text, text)
    text = run("module", f.file("a.fk"), "--sub-group-size", "8", f.file("b.fk"), status=1)
    expect("function scale: is declared with sub-group size none, which means primary in module a.fk (a.fk:2) and "
           "defined with 8 in module b.fk (b.fk:1); kernel k calls it" in text, text)
    expect("is exported by module b.fk" in run("module", f.file("b.fk"), f.file("b.fk"), status=1), "two exports")
    for wrong in ([], ["--sub-group-size"], ["--sub-group-size", "8"], [f.file("a.fk"), "--constant", "3=i32 1"],
                  ["--constant", "3=7", f.file("a.fk")], ["--what", "8", f.file("a.fk")]):
        expect("usage:" in run("module", *wrong, status=2), f"usage {wrong}")


def test_linked_module_errors():
    def message(files):
        f = linked_folder(files)
        return run("run", f.graph, status=1)
    expect("graph.yaml:3: " in message("[a.fk, a.fk]"), "the module's line")
    expect("is a kernel of module a.fk" in message("[a.fk, a.fk]"), "two kernels")
    expect("kernel k needs the function scale (used in k, a.fk:6)" in message("a.fk"), "not linked")
    expect("unknown key `path`" in message("{ path: a.fk }"), "unknown key")
    expect("needs file" in message("{ sub_group_size: 8 }"), "no file")
    expect("one file at least" in message("[]"), "no files")
    expect("neither a power of two" in message("{ file: a.fk, sub_group_size: 7 }"), "sub-group size")
    expect("is no constant" in message("{ file: a.fk, constants: { 3: 4 } }"), "a constant without a type")
    expect("no SPIR-V module" in message("{ file: a.fk, constants: { 3: i32 4 } }"), "constants of text")


def test_devices_and_status():
    text = run("devices")
    expect("cpu\n" in text and "reference\n" in text and "sub-group sizes" in text, text)
    for device in text.split("reference\n"):
        expect("sub-groups, without independent forward progress)" in device, text)
        expect(" SYCL_INTEL_sub_group cl_intel_subgroups cl_intel_subgroups_char " in device, text)
    listed = json.loads(run("devices", "--json"))
    expect([d["name"] for d in listed][:2] == ["cpu", "reference"] and "fp64" in listed[0]["aspects"], listed)
    for d in listed:
        expect("absent" in d or d["max_work_group_size"] > 0, d)
    status = json.loads(run("status", "--json"))
    expect(status["sessions"] == 1 and status["rss_bytes"] > 0, "status")
    text = run("status")
    expect("sessions   1 of " in text and "fusion-inspect" in text and "compilers" in text, text)


def test_status_starts_no_service():
    environment = dict(ENVIRONMENT, FUSIOND="/bin/false")
    environment.pop("FUSION_SOCKET", None)
    for arguments in (["status"], ["--socket", "/no/such/socket", "status"]):
        done = subprocess.run([TOOL, *arguments], capture_output=True, text=True, env=environment, timeout=60)
        expect(done.returncode == 3 and "no service is running" in done.stderr, done.stderr)
    done = subprocess.run([TOOL, "status", "--json"], capture_output=True, text=True, env=environment, timeout=60)
    expect(json.loads(done.stdout)["error"]["status"] == "connection", done.stdout)


def test_top():
    text = run("top", "--interval", "0.05", "--count", "2")
    expect(text.count("submissions/s") == 2 and text.count("fusion-inspect") == 2 and "a second:" in text, text)
    expect("--interval: it takes a number from 0.01 to 3600, not `x`" in run("top", "--interval", "x", status=2), "no number")
    expect("--count: it takes a number from 1 to 1000000000, not `0`" in run("top", "--count", "0", status=2), "a count of 0")
    expect("usage" in run("top", "--count", status=2) and "usage" in run("top", "--help"), "a count that is missing")
    done = subprocess.run([TOOL, "--socket", "/no/such/socket", "top"], capture_output=True, text=True, timeout=60)
    expect(done.returncode == 3 and "no service is running" in done.stderr, done.stderr)


def test_completion():
    script = os.path.join(ROOT, "tools/inspect/fusion-inspect.bash")

    def complete(*words):
        code = f'. {script}; COMP_WORDS=({" ".join(words)}); COMP_CWORD={len(words) - 1}; ' + \
            '_fusion_inspect; echo "${COMPREPLY[@]}"'
        return subprocess.run(["bash", "-c", code], capture_output=True, text=True, timeout=60).stdout.split()

    listed = [line.split()[0] for line in run("--help").splitlines()[1:]]
    expect(sorted(w for w in complete("fusion-inspect", '""') if not w.startswith("-")) == sorted(listed), "each command")
    for command in ("run", "explain", "compile"):
        options = {w.split("=")[0].strip(",") for w in run(command, "--help").split() if w.startswith("--")}
        known = set(complete("fusion-inspect", command, "--"))
        expect(options <= known, f"{command}: {options - known} are not completed")
    expect(complete("fusion-inspect", "--socket", "x", "run", "--tier", "q") == ["quick"], "a value")
    expect(complete(TOOL, "passes", "--pass", "mem2") == ["mem2reg"], "a pass")


def test_misspelt_words():
    expect("no command `explian` (did you mean `explain`?)" in run("explian", status=2), "a command")
    f = Folder(graph="modules: {{ k: {kernels} }}\nbuffers:\n  aa: {{ type: f32, cuont: 4 }}\ngraph: []\n")
    expect("graph.yaml:3:20: unknown key `cuont` (did you mean `count`?)" in run("run", f.graph, status=1), "a key")
    f2 = Folder(graph=GRAPH.replace("  a:", "  photo:").replace("read: a", "read: photo"))
    for option in ("--in", "--out"):
        text = run("run", f2.graph, option, f"phtoo={f.file('a.npy')}", status=1)
        expect("there is no buffer `phtoo` (did you mean `photo`?)" in text, f"a buffer: {text}")
    with open(f.file("wrong.fk"), "w") as out:
        out.write("kernel @k(%a: ptr.global f32 write) {\n  %i = golbal_id x\n\tstore float %a[%i], 1.0\n}\n")
    text = run("module", f.file("wrong.fk"), status=1)
    for part in ("wrong.fk:2:8: function k: expected an instruction, found golbal_id (did you mean `global_id`?)\n"
                 "    %i = golbal_id x\n         ^\n", "found float (did you mean `f32`?)\n   store float %a[%i], 1.0\n         ^"):
        expect(part in text, text)
    with open(f.file("wrong.fk"), "w") as out:  # what is found when all has been read
        out.write("kernel @k(%a: ptr.global f32 write) {\n  %i = global_id x\n\tstore f32 %a[%i], %i\n}\n")
    text = run("module", f.file("wrong.fk"), status=1)
    expect("wrong.fk:3:2: function k, block body: store: operand 1 is i64, must be f32\n   store f32 %a[%i], %i\n   ^" in text, text)


def test_errors_as_json():
    f = Folder(graph=GRAPH.replace("k.scale", "k.scle"))
    error = json.loads(subprocess.run([TOOL, "--private", "run", f.graph, "--json"], capture_output=True, text=True,
                                      env=ENVIRONMENT, timeout=120).stdout)["error"]
    expect(error["file"] == f.graph and error["line"] == 11 and error["status"] == "not_found", error)
    f = Folder(graph=GRAPH.replace("count", "cuont"))
    error = json.loads(subprocess.run([TOOL, "--private", "explain", f.graph, "--json"], capture_output=True, text=True,
                                      env=ENVIRONMENT, timeout=120).stdout)["error"]
    expect((error["line"], error["column"]) == (4, 19) and "did you mean" in error["reason"], error)


def run_json(*arguments, status):
    """What goes wrong, which is all that is on standard output."""
    done = subprocess.run([TOOL, "--private", *arguments, "--json"], capture_output=True, text=True, env=ENVIRONMENT, timeout=120)
    expect(done.returncode == status and not done.stderr, f"{done}")
    return json.loads(done.stdout)["error"]


def test_errors_of_the_command_line():
    """With what was meant, and as JSON where that is asked for, wherever it stands."""
    f = Folder()
    for arguments, wanted in (
            (["run", "--repaet", "3", f.graph], "--repaet: there is no such option (did you mean `--repeat`?)"),
            (["run", f.graph, "--profiel"], "--profiel: there is no such option (did you mean `--profile`?)"),
            (["run", f.graph, "--fusion", "requier"], "--fusion: it takes none, enable or require, not `requier` (did you mean `require`?)"),
            (["explain", f.graph, "--tier=compield"], "--tier: it takes automatic, quick or compiled, not `compield` (did you mean `compiled`?)"),
            (["run", f.graph, "--barriers=all"], "--barriers: it takes automatic, none or needed, not `all`"),
            (["run", f.graph, "--repeat", "0"], "--repeat: it takes a number from 1 on, not `0`"),
            (["run", f.graph, "--repeat", "many"], "--repeat: it takes a number from 1 on, not `many`"),
            (["run", f.graph, "--time-limit", "-1"], "--time-limit: it takes a number from 1 on, not `-1`"),
            (["run", f.graph, "--in"], "--in: it needs a value"),
            (["run", f.graph, "--profile=yes"], "--profile: it takes no value"),
            (["run"], "run: it takes a file"),
            (["run", f.graph, f.graph], "run: it takes one file"),
            (["run", f.graph, "--in", "a"], "`a`: BUFFER=FILE is needed")):
        message = run(*arguments, status=2)
        expect(wanted in message, f"{message} instead of {wanted}")
        if arguments[-1] == "--in": continue  # --json would be its value
        error = run_json(*arguments, status=2)
        expect(error["status"] == "invalid" and wanted.partition(": ")[2] in error["object"] + ": " + error["reason"] or
               wanted in error["reason"], f"{error} instead of {wanted}")
    for arguments, wanted in (
            (["devices", "--jsno"], "there is no option `--jsno` (did you mean `--json`?); usage: fusion-inspect devices [--json]"),
            (["status", "now"], "status: usage: fusion-inspect status [--json]"),
            (["top", "--intervall", "1"], "there is no option `--intervall` (did you mean `--interval`?)"),
            (["module", "--opions", "-D N=4", KERNELS], "there is no option `--opions` (did you mean `--options`?)"),
            (["pipes", "--integartion", "x", KERNELS], "(did you mean `--integration`?)"),
            (["metrics", "--json"], "metrics"), (["--scoket", "x", "devices"], "`--scoket` (did you mean `socket`?)")):
        expect(wanted in (run_json("metrics", status=2)["object"] if arguments[0] == "metrics" else run(*arguments, status=2)),
               f"{arguments}: {wanted}")
    png, jpeg, other = f.file("short.png"), f.file("short.jpg"), f.file("other.png")
    for path, start in ((png, b"\x89PNG\r\n\x1a\n" + bytes(20)), (jpeg, b"\xff\xd8\xff\xe0" + bytes(20)), (other, b"not a picture")):
        with open(path, "wb") as out:
            out.write(start)
    with open(f.file("image.yaml"), "w") as out:
        out.write(IMAGE_GRAPH.format(module=KERNELS))
    for arguments, wanted in (
            (["frobnicate"], "fusion-inspect: there is no command `frobnicate`"), (["devces"], "`devces` (did you mean `devices`?)"),
            (["--scoket", "x", "devices"], "fusion-inspect: there is no option `--scoket`"),
            (["passes", KERNELS], "passes: there is no option `--json`"), (["passes", "--kernl", "x", KERNELS], "(did you mean `--kernel`?)"),
            (["bundle", KERNELS], "bundle: there is no option `--json`")):
        error = run_json(*arguments, status=2)
        expect(wanted in error["object"] + ": " + error["reason"], f"{error} instead of {wanted}")
    for path, wanted in ((png, ""), (jpeg, ""), (other, "neither a JPEG nor a PNG"), (f.file("none.png"), "No such file")):
        error = run_json("run", f.file("image.yaml"), "--in", f"x={path}", status=1)
        expect(error["file"] == path and error["reason"] and wanted in error["reason"], f"{error} instead of {wanted}")
    with open(f.file("wrong.fk"), "w") as out:
        out.write("kernel @a() {\n  %x = ad i32 1, 2\n}\n")
    error = run_json("compile", "--spirv", f.file("x.spv"), f.file("wrong.fk"), status=1)
    expect("line 2" in error["reason"] or ":2:" in error["reason"], f"{error}")
    expect(run("status", "--help").startswith("usage: fusion-inspect status"), "help of each")
    expect("there is no pass `ces` (did you mean `cse`?)" in run("passes", "--pass", "ces", KERNELS, status=2), "a pass")
    expect(run_json("explain", f.graph, "--dot", "/nowhere/x.dot", status=1)["file"] == "/nowhere/x.dot", "a file that cannot be")


IMAGE_GRAPH = """
modules: {{ k: "{module}" }}
buffers: {{ a: {{ type: i32, count: 4 }} }}
images: {{ x: {{ width: 4, height: 4, order: rgba, type: unorm_int8 }} }}
graph:
  - {{ fill: {{ to: a, value: 0 }} }}
"""
FAR_GRAPH = """
modules: {{ k: far.cl }}
buffers: {{ at: {{ type: i32, count: 8, fill: 1000 }}, o: {{ type: f32, count: 10 }} }}
{more}
graph:
  - {{ kernel: k.far, global: [8], args: [ {{read: at}}, {{write: o}} ] }}
"""


def test_keys_of_all_of_the_file():
    """bounds and time_limit_ms, and that options come before them."""
    f = Folder()
    with open(f.file("far.cl"), "w") as out:
        out.write("kernel void far(global const int *at, global float *o) { o[at[get_global_id(0)]] = 1; }\n")

    def write(more):
        with open(f.graph, "w") as out:
            out.write(FAR_GRAPH.format(more=more))

    write("bounds: false")
    expect("graph.yaml:6:5: kernel_fault: kernel far: accessed address" in run("run", f.graph, status=1), "the node's line")
    expect("beyond the end of buffer o (40 bytes); the option bounds (--bounds) tells the line" in run("run", f.graph, status=1), "without it what lies there is no memory")
    expect("element 1000" in run("run", f.graph, "--bounds", status=1), "the option")
    write("bounds: true")
    expect("element 1000" in run("run", f.graph, status=1), "the key")
    write("bounds: maybe")
    expect("graph.yaml:4:9: bounds is true or false, not `maybe`\n  bounds: maybe\n          ^" in run("run", f.graph, status=1), "a wrong one")
    write("time_limit_ms: 5000000000")
    expect("graph.yaml:4:16: a time limit is at most" in run("run", f.graph, status=1), "a limit that is too long")
    saved = f.file("far.saved")
    with open(f.graph, "w") as out:
        out.write(FAR_GRAPH.replace("1000", "1").format(more=""))
    run("run", f.graph, "--save", saved)
    numpy.save(f.file("at.npy"), numpy.full(8, 1000, "i4"))  # what is saved has no contents
    expect("beyond the end of buffer o" in run("run", saved, "--in", f"at={f.file('at.npy')}", status=1), "the same of what was saved")
    expect("element 1000" in run("run", saved, "--bounds", "--in", f"at={f.file('at.npy')}", status=1), "an option of what was saved")
    with open(f.file("far.cl"), "w") as out:
        out.write("kernel void far(global const int *at, global float *o) { volatile global float *p = o; "
                  "for (int i = 0; i < 2000000000; i++) *p = at[0] + i; }\n")
    write("time_limit_ms: 70")
    expect("time limit of 70 ms" in run("run", f.graph, status=1), "the key")
    expect("time limit of 50 ms" in run("run", f.graph, "--time-limit", "50", status=1), "the option")


def test_progress():
    """On a terminal, where it takes a while; it goes before anything else is written."""
    f = Folder()
    with open(f.file("slow.cl"), "w") as out:
        out.write("kernel void slow(global float *o) { volatile global float *p = o; for (int i = 0; i < 2000000; i++) *p = i; }\n")
    with open(f.graph, "w") as out:
        out.write("modules: { k: slow.cl }\nbuffers: { o: { type: f32, count: 10 } }\n"
                  "graph: [ { kernel: k.slow, global: [1], args: [ {write: o} ] } ]\n")
    arguments = [TOOL, "--private", "run", f.graph, "--repeat", "2000", "--tier", "compiled"]
    master, slave = pty.openpty()
    running = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=slave, text=True, env=ENVIRONMENT)
    os.close(slave)
    seen = b""
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:  # nobody has the other end
            break
        if not piece: break
        seen += piece
    out = running.communicate()[0]
    expect(running.returncode == 0 and out.startswith("linear order:") and "\033" not in out, out)
    expect(re.search(rb"run \d+ of 2000, \d+\.\d s", seen) and seen.endswith(b"\r\033[K"), seen)
    done = subprocess.run(arguments, capture_output=True, text=True, env=ENVIRONMENT, timeout=120)
    expect(done.returncode == 0 and done.stderr == "", done.stderr)


def test_two_dimensions_and_vectors():
    graph = """
modules: {{ k: {kernels} }}
buffers:
  o: {{ type: f32, shape: [30, 50, 4] }}
graph:
  - {{ kernel: k.plane, global: [50, 30], args: [ {{write: o}}, [1.0, 2.0, 3.0, 4.0] ] }}
"""
    f = Folder(graph=graph)
    run("run", f.graph, "--out", f"o={f.file('o.npy')}")
    out = numpy.load(f.file("o.npy"))
    y, x = numpy.mgrid[0:30, 0:50].astype(numpy.float32)
    wanted = (x + 100 * y)[..., None] * numpy.array([1, 2, 3, 4], dtype=numpy.float32)
    expect(out.shape == (30, 50, 4) and numpy.array_equal(out, wanted), "values")


def test_errors_name_the_line():
    def message(graph, *arguments):
        f = Folder(graph=graph)
        return run("run", f.graph, *arguments, status=1)
    expect("graph.yaml:4:49: unknown buffer `z`" in message(
        "modules: {{ k: {kernels} }}\nbuffers: {{}}\ngraph:\n - {{ kernel: k.add, global: [4], args: [ {{read: z}} ] }}\n"), "unknown buffer")
    expect("graph.yaml:2:1: unknown key `graphs` (did you mean `graph`?)\n  graphs: []\n  ^\n" in message("modules: {{ k: {kernels} }}\ngraphs: []\n"), "unknown key")
    expect("unknown property" in message("buffers:\n a: {{ type: f32, count: 4, properties: [fast] }}\ngraph: []\n"), "property")
    expect("graph.yaml:2:" in message("modules: [\n"), "broken YAML")
    expect("graph.yaml:3:2: `a` is there twice" in message(
        "buffers:\n a: {{ type: f32, count: 4 }}\n a: {{ type: i32, count: 8 }}\ngraph: []\n"), "two buffers of one name")
    expect("`name` is there twice" in message("graph:\n - {{ name: x, name: y, kernel: k.add }}\n"), "a key twice")
    expect("there is no buffer `q`" in message(GRAPH, "--in", "q=x"), "--in of no buffer")
    node = "modules: {{ k: {kernels} }}\nbuffers:\n a: {{ type: f32, count: 8 }}\ngraph:\n - {{ kernel: k.scale, global: [8], args: [ {{read: a}}, {{write: a}}, 2 ] }}\n"
    for old, new, wanted in (
            ("k.scale", "k.scael", ":5:14: not_found: kernel scael: module chain.fk has no such kernel (did you mean `scale`?); it has "),
            ("f32", "f23", ":3:13: buffer a: unknown type `f23` (did you mean `f32`?)"),
            ("2 ]", "two ]", ":5:67: `two` is no value for a parameter of type f32\n   - "),
            ("{kernels}", "kernel.fk", ":1:15: io: "), ("{kernels}", "absent.cl", ":1:15: io: "), ("graph:", "outputs: [aa]\ngraph:", ":4:11: unknown buffer `aa`\n  outputs: [aa]\n            ^"),
            ("args:", "name: scale, depends_on: [scael], args:", ":5:62: depends_on names no node: `scael` (did you mean `scale`?)"),
            (", 2 ]", " ]", ":5:4: kernel scale: 2 arguments, but kernel scale has 3 parameters"),
            ("[8]", "[9]", ":5:4: node scale: work-item 8 of scale")):
        found = message(node.replace(old, new))
        expect("graph.yaml" + wanted in found, f"{found} instead of {wanted}")
    f = Folder()
    numpy.save(f.file("wrong.npy"), f.a.astype(numpy.float64))
    expect("<f8" in run("run", f.graph, "--in", f"a={f.file('wrong.npy')}", status=1), "element type of .npy")
    numpy.save(f.file("short.npy"), f.a[:-1])
    expect("4095" in run("run", f.graph, "--in", f"a={f.file('short.npy')}", status=1), "number of elements")


def test_tune():
    f = Folder(graph=CUT_GRAPH)
    out = json.loads(run("tune", f.graph, "--json"))
    tried = {t["tuning"]: t["outcome"] for t in out["tried"]}
    expect(set(tried.values()) <= {"same", "worse", "better"} and "recompute=no" in tried, tried)
    expect(any("cut=1" in t and tried[t] != "same" for t in tried), tried)
    expect(out["kept"] in ["", *tried] and out["ratio"] >= 1, out)
    expect(all(t["ratio"] > 0 and t["ms"] > 0 for t in out["tried"] if t["outcome"] != "same"), out)
    remarks = json.loads(run("explain", f.graph, "--json"))["remarks"]
    tuned = [m["text"] for m in remarks if m["code"] == "tuned"]
    expect(tuned == [] if out["kept"] == "" else tuned[0].endswith(out["kept"]), (out["kept"], tuned))
    expect("not_fused_tuned" in run("explain", f.graph, "--json", "--tuning", "cut=1"), "--tuning")
    text = run("tune", f.graph)
    expect("tried, against the best before" in text and "kept: " in text, text)
    expect("is not understood" in run("run", f.graph, "--tuning", "what", status=1), "words that are none")
    expect("is tuned" in run("tune", f.graph, "--fusion", "none", status=1), "nothing to tune")


def test_missing_service():
    done = subprocess.run([TOOL, "--socket", "/no/such/socket", "devices"], capture_output=True, text=True, timeout=60)
    expect(done.returncode == 1 and "/no/such/socket" in done.stderr, done.stderr)


def main():
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    print(f"1..{len(tests)}")
    for number, (name, test) in enumerate(tests, 1):
        try:
            test()
            print(f"ok {number} {name}", flush=True)
        except Exception as failure:  # each case is reported, whatever went wrong
            print(f"not ok {number} {name}")
            print("#", str(failure).replace("\n", "\n# "), flush=True)


main()
