#!/usr/bin/python3
"""Random modules split into device images, and the images filtered, against a straightforward model. Prints TAP.

The model computes what each function uses in its unit, which entries may be together, what an image requires in the end
and the bytes of its property file, all of it its own way. Usage: random_device_images.py FUSION-SPLIT FUSION-ASPECT-FILTER"""
import os
import random
import re
import subprocess
import sys
import tempfile

SPLIT, FILTER = map(os.path.abspath, sys.argv[1:3])
CASES = int(os.environ.get("FUSIOND_TEST_CASES", "500"))
SEED = int(os.environ.get("FUSIOND_TEST_SEED", "1"))

NUMBERS = {"cpu": 1, "gpu": 2, "custom": 4, "fp16": 5, "fp64": 6, "image": 9, "atomic64": 28, "emulated": 40}
OWN = {"ext_a": 100, "ext_b": 7}
TARGETS = ["red", "green", "blue"]
# A line of a body, and what it uses.
LINES = [("%v = var f64", {"fp64"}), ("%v = var [3 x f16]", {"fp16"}), ("%v = var i64; %w = atomic_add i64 %v, 1", {"atomic64"}),
         ("%v = var struct Marked", {"image", "ext_a"}), ("%v = var i32", set())]


class Function:
    def __init__(self, unit, name, kind):
        self.unit, self.name, self.kind = unit, name, kind
        self.uses, self.declared, self.targets = set(), None, None
        self.sub_group, self.group, self.line, self.calls = None, None, LINES[-1], []
        self.declarations = {}  # by unit: what an import of it says there

    def key(self):
        return (frozenset(self.targets) if self.targets else None,
                None if self.targets else (frozenset(self.required), self.group,
                                           self.sub_group if isinstance(self.sub_group, int) else None))


def names(rng, most=2):
    return set(rng.sample(sorted(NUMBERS) + sorted(OWN), rng.randrange(most + 1)))


class Program:
    """Units of functions. A function calls those that were made before it: of its unit, or exported ones."""

    def __init__(self, rng):
        self.units = rng.choice([1, 1, 2, 3])
        self.functions = []
        for i in range(rng.randrange(1, 16)):
            f = Function(rng.randrange(self.units), f"f{i}", rng.choice(["kernel", "kernel", "export", "func"]))
            self.functions.append(f)
            self.fill(rng, f)

    def fill(self, rng, f):
        if rng.random() < 0.3:
            f.uses = names(rng)
        if rng.random() < 0.2:
            f.declared = names(rng)
        if rng.random() < 0.25:
            f.targets = sorted(rng.sample(TARGETS, rng.randrange(4)))
        if rng.random() < 0.4:
            f.line = rng.choice(LINES)
        callable_ = [g for g in self.functions if g is not f and g.kind != "kernel" and (g.unit == f.unit or g.kind == "export")]
        f.calls = rng.sample(callable_, min(len(callable_), rng.choice([0, 0, 1, 2, 3])))
        for g in f.calls:
            if g.unit != f.unit and f.unit not in g.declarations:
                g.declarations[f.unit] = (names(rng) if rng.random() < 0.5 else None, names(rng, 1))
        if f.kind == "kernel" and rng.random() < 0.3:
            f.group = rng.choice([(8, 1, 1), (4, 4, 1), (1, 2, 3)])
        # Kernels and what other units import have one size: linking asks for it.
        if rng.random() < 0.3 and f.kind != "export" and not self.crosses(f):
            f.sub_group = rng.choice([8, 16, 32, "automatic", "primary"] if f.kind == "kernel" else [8, 16, "primary"])

    def crosses(self, f):
        return any(g.unit != f.unit or self.crosses(g) for g in f.calls)

    def text(self, unit):
        out = ["source none", "aspects { ext_b = 7, ext_a = 100 }", "struct Marked uses(ext_a, image) { x: i32 }"]
        for f in self.functions:
            if unit in f.declarations:
                declared, uses = f.declarations[unit]
                out.append(f"import func @{f.name}()" + attribute("aspects", declared) + attribute("uses", uses or None))
        for f in self.functions:
            if f.unit == unit:
                out.append(self.definition(f))
        return "\n".join(out) + "\n"

    @staticmethod
    def definition(f):
        head = {"kernel": "kernel", "export": "export func", "func": "func"}[f.kind] + f" @{f.name}()"
        if f.group:
            head += " work_group_size(%d, %d, %d)" % f.group
        if f.sub_group:
            head += f" sub_group_size({f.sub_group})"
        head += attribute("aspects", f.declared) + attribute("uses", f.uses or None)
        if f.targets is not None:
            head += " targets(" + ", ".join(f'"{t}"' for t in f.targets) + ")"
        return head + " {\n" + "".join(f"    {line}\n" for line in [f.line[0]] + [f"call @{g.name}()" for g in f.calls]) + "}"


def attribute(word, aspects):
    return "" if aspects is None else f" {word}({', '.join(sorted(aspects))})"


# ---- the model ----

def used(f):
    """In its unit: itself, and what it calls there; of imports, what is said of them there."""
    result = set(f.uses) | f.line[1]
    for g in f.calls:
        if g.unit == f.unit:
            result |= used(g) | (g.declared or set())
        else:
            declared, uses = g.declarations[f.unit]
            result |= uses | (declared or set())
    return result


def reached(entries):
    found, todo = [], list(entries)
    while todo:
        f = todo.pop()
        if f not in found:
            found.append(f)
            todo += f.calls
    return found


def together(a, b, mode):
    return mode != "per_kernel" and (mode == "off" or a.unit == b.unit) and a.key() == b.key()


def images(program, mode):
    result = []
    for f in sorted((f for f in program.functions if f.kind != "func"), key=lambda f: f.unit):
        f.required = used(f) | (f.declared or set())
        home = next((image for image in result if together(image[0], f, mode)), None)
        if home is None:
            result.append([f])
        else:
            home.append(f)
    return result


def number(name):
    return {**NUMBERS, **OWN}[name]


def target_number(name):
    value = 2166136261
    for byte in name.encode():
        value = (value ^ byte) * 16777619 % 2**32
    return value | 2**31


def encode(words):
    """All bits in a row from the lowest of the first byte on, six a character."""
    bits = [len(words) * 32 >> i & 1 for i in range(64)] + [w >> i & 1 for w in words for i in range(32)]
    bits += [0] * (-len(bits) % 6)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return "".join(letters[sum(b << k for k, b in enumerate(bits[i:i + 6]))] for i in range(0, len(bits), 6))


def final(entries):
    """What the image requires in the end, and the warnings."""
    first, functions, warnings = entries[0], reached(entries), []
    if first.targets:
        left = set(first.targets)
        for f in functions:
            if f.targets is not None and set(f.targets) != set(first.targets):
                warnings.append(f"warning: function '{f.name}' compiled with a different `-fsycl-fixed-targets` switch than "
                                "its calling kernel.")
                left &= set(f.targets) or left
        return {"fixed_target": sorted(map(target_number, left))}, warnings
    aspects, sizes = set(first.required), set()
    if isinstance(first.sub_group, int):
        sizes.add(first.sub_group)
    for f in functions:
        if f.kind != "func":
            for name in f.required - first.required:
                warnings.append(f"warning: function '{f.name}' uses aspect '{name}' not expected by its calling kernel. "
                                "Missing [[sycl::device_has()]] on SYCL_EXTERNAL function?")
            aspects |= f.required
        if isinstance(f.sub_group, int) and f.sub_group != (first.sub_group if isinstance(first.sub_group, int) else None):
            warnings.append(f"warning: function '{f.name}' has required sub-group size '{f.sub_group}' that does not match "
                            "its calling kernel. Missing [[sycl::reqd_sub_group()]] attribute on SYCL_EXTERNAL function?")
            sizes.add(f.sub_group)
    properties = {"aspect": sorted(map(number, aspects)), "reqd_sub_group_size": sorted(sizes),
                  "reqd_work_group_size": [3, *first.group] if first.group else []}
    return {k: v for k, v in properties.items() if v}, warnings


def undeclared(program):
    return [(f.name, name) for f in program.functions if f.declared is not None for name in used(f) - f.declared]


def accepts(device, properties):
    size = properties.get("reqd_work_group_size")
    return (all(a in device["aspects"] for a in properties.get("aspect", []))
            and all(s in device["sizes"] for s in properties.get("reqd_sub_group_size", []))
            and ("fixed_target" not in properties or any(t in device["aspects"] for t in properties["fixed_target"]))
            and (not size or not device["most"] or size[1] * size[2] * size[3] <= device["most"]))


# ---- one case ----

def check(what, got, expected):
    if got != expected:
        raise AssertionError(f"{what}:\n  got      {got}\n  expected {expected}")


def config(rng):
    devices = {}
    for name in TARGETS:
        aspects = set(rng.sample(sorted(NUMBERS) + ["100", "7"], rng.randrange(8, 11)))
        devices[name] = {"aspects": {int(a) if a.isdigit() else NUMBERS[a] for a in aspects} | {target_number(name)},
                         "sizes": set(rng.sample([8, 16, 32], rng.randrange(1, 4))), "most": rng.choice([0, 8, 16]),
                         "text": sorted(aspects)}
    text = "".join(f"{name}:\n  aspects: [{', '.join(d['text'])}]\n  sub-group-sizes: [{', '.join(map(str, d['sizes']))}]\n"
                   + (f"  max-work-group-size: {d['most']}\n" if d["most"] else "") for name, d in devices.items())
    return devices, text


def read_table(path):
    lines = open(path).read().splitlines()
    return lines[0], [line.split("|") for line in lines[1:]]


def check_image(row, entries):
    code, properties, symbols = row
    required, warnings = final(entries)
    check("symbols", open(symbols).read().split(), [f.name for f in entries])
    lines = "".join(f"{name}=2|{encode(required[name])}\n" for name in sorted(required))
    check("properties", open(properties).read(), "[SYCL/device requirements]\n" + lines)
    heads = re.findall(r"^(kernel|export func|func|import func) @(\w+)", open(code).read(), re.M)
    check("functions", sorted(name for _, name in heads), sorted(f.name for f in reached(entries)))
    check("entries of the code", sorted(name for kind, name in heads if kind in ("kernel", "export func")),
          sorted(f.name for f in entries))
    return warnings, required


def check_filter(folder, rows, required, devices):
    for name, device in devices.items():
        out = f"{folder}/{name}.table"
        subprocess.run([FILTER, f"-target={name}", f"-device-config-file={folder}/devices.yaml", f"{folder}/o.table", "-o", out],
                       check=True)
        check(f"rows for {name}", read_table(out)[1], [row for row, r in zip(rows, required) if accepts(device, r)])


def run(seed, folder):
    rng = random.Random(seed)
    program, mode = Program(rng), rng.choice(["off", "per_source", "per_kernel"])
    devices, text = config(rng)
    open(f"{folder}/devices.yaml", "w").write(text)
    files = [f"{folder}/u{i}.fk" for i in range(program.units)]
    for i, path in enumerate(files):
        open(path, "w").write(program.text(i))
    done = subprocess.run([SPLIT, f"--split={mode}", f"--device-config-file={folder}/devices.yaml", *files, "-o",
                           f"{folder}/o.table"], capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(done.stderr)
    expected = images(program, mode)
    head, rows = read_table(f"{folder}/o.table")
    check("columns", head, "[Code|Properties|Symbols]")
    check("images", len(rows), len(expected))
    told, required = [], []
    for row, entries in zip(rows, expected):
        warnings, r = check_image(row, entries)
        told += warnings
        required.append(r)
    lines = done.stderr.splitlines()
    check("warnings", sorted(x for x in lines if "calling kernel" in x), sorted(told))
    listed = re.findall(r"^warning: function '(\w+)' uses aspect '(\w+)' not listed in 'sycl::device_has'$", done.stderr, re.M)
    check("undeclared", sorted(listed), sorted(undeclared(program)))
    if seed % 5 == 0:
        check_filter(folder, rows, required, devices)


def main():
    print("1..1")
    for seed in range(SEED, SEED + CASES):
        with tempfile.TemporaryDirectory() as folder:
            try:
                run(seed, folder)
            except AssertionError as wrong:
                print("\n".join(f"# {line}" for line in f"seed {seed}: {wrong}".splitlines()))
                print("not ok 1 - random_device_images")
                return 1
    print("ok 1 - random_device_images")
    return 0


sys.exit(main())
