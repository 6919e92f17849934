#!/usr/bin/python3
"""Graph files with images and samplers through fusion-inspect; NumPy and zlib are the oracles. Prints TAP."""
import json
import os
import struct
import subprocess
import sys
import tempfile
import zlib

import numpy

TOOL, ROOT = sys.argv[1], sys.argv[2]

KERNELS = """
kernel @invert(%in: image2d.read, %out: image2d.write) {
  %gx = global_id x
  %gy = global_id y
  %x = trunc i32 %gx
  %y = trunc i32 %gy
  %at = vec i32x2 %x, %y
  %p = image_read f32x4 %in, %at
  %q = fsub f32x4 1.0, %p
  image_write f32x4 %out, %at, %q
}
kernel @shrink(%in: image2d.read, %out: image2d.write, %s: sampler) {
  %gx = global_id x
  %gy = global_id y
  %x = trunc i32 %gx
  %y = trunc i32 %gy
  %at = vec i32x2 %x, %y
  %fx = stof f32 %x
  %fy = stof f32 %y
  %cx = fma f32 %fx, 2.0, 1.0
  %cy = fma f32 %fy, 2.0, 1.0
  %c = vec f32x2 %cx, %cy
  %p = image_read f32x4 %in, %c, %s
  image_write f32x4 %out, %at, %p
}
"""

GRAPH = """
modules: { k: images.fk }
buffers:
  rows: { type: u8, shape: [4, 5, 4] }
images:
  photo: { width: 30, height: 20, order: rgba, type: unorm_int8, row_pitch: 128 }
  out: { width: 30, height: 20, order: bgra, type: unorm_int8, fill: 9 }
  grey: { width: 8, height: 6, order: r, type: float, fill: 0.5 }
  small: { width: 4, height: 3, order: r, type: float }
graph:
  - { kernel: k.invert, global: [30, 20], args: [ {read: photo}, {write: out} ] }
  - { fill: { to: out, value: [1, 2, 3, 4], at: [10, 15], size: [2, 1] } }
  - { copy: { from: out, to: rows, from_at: [9, 14], size: [5, 4] } }
  - { kernel: k.shrink, global: [4, 3], args: [ {read: grey}, {write: small}, {sampler: {addressing: clamp_to_edge, filter: linear}} ] }
"""


class Failure(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Failure(what)


def run(*arguments, status=0):
    done = subprocess.run([TOOL, "--private", *arguments], capture_output=True, text=True, timeout=120)
    expect(done.returncode == status, f"status {done.returncode} of {arguments}: {done.stderr}")
    return done.stdout if status == 0 else done.stderr


def png_bytes(pixels):
    """A PNG of RGBA pixels."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + pixels[y].tobytes() for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Folder:
    def __init__(self, graph=GRAPH):
        self.temporary = tempfile.TemporaryDirectory()
        self.graph = self.file("graph.yaml")
        self.write("graph.yaml", graph.encode())
        self.write("images.fk", KERNELS.encode())
        self.photo = numpy.random.default_rng(3).integers(0, 256, (20, 30, 4), dtype=numpy.uint8)
        self.write("photo.png", png_bytes(self.photo))

    def file(self, name):
        return os.path.join(self.temporary.name, name)

    def write(self, name, data):
        with open(self.file(name), "wb") as out:
            out.write(data)


def expect_result(f, out):
    """What the graph makes of the photo: out as BGRA."""
    wanted = (255 - f.photo)[:, :, [2, 1, 0, 3]]
    wanted[15, 10:12] = [1, 2, 3, 4]
    expect(numpy.array_equal(out, wanted), "the picture")
    expect(numpy.array_equal(numpy.load(f.file("rows.npy")), wanted[14:18, 9:14]), "the rectangle")


def run_on(device, f, source):
    return json.loads(run("run", f.graph, "--device", device, "--json", "--in", f"photo={f.file(source)}", "--out",
                          f"out={f.file('out.npy')}", "--out", f"rows={f.file('rows.npy')}", "--out",
                          f"small={f.file('small.npy')}"))


def test_picture_in():
    for device in ("cpu", "reference"):
        f = Folder()
        report = run_on(device, f, "photo.png")
        out = numpy.load(f.file("out.npy"))
        expect(out.shape == (20, 30, 4) and out.dtype == numpy.uint8, f"shape {out.shape}")
        expect_result(f, out)
        small = numpy.load(f.file("small.npy"))
        expect(small.shape == (3, 4) and numpy.all(small == numpy.float32(0.5)), f"sampled values {small}")
        expect(report["internalized"] == [], "images stay in memory")


def test_npy_and_picture_out():
    f = Folder()
    numpy.save(f.file("photo.npy"), f.photo)
    run_on("cpu", f, "photo.npy")
    expect_result(f, numpy.load(f.file("out.npy")))
    # A picture that is written is read again as the same pixels.
    run("run", f.graph, "--in", f"photo={f.file('photo.png')}", "--out", f"photo={f.file('again.png')}")
    run("run", f.graph, "--in", f"photo={f.file('again.png')}", "--out", f"photo={f.file('again.npy')}")
    expect(numpy.array_equal(numpy.load(f.file("again.npy")), f.photo), "the picture comes back")
    # Of order bgra, too: inverted twice, red and blue at their places.
    run("run", f.graph, "--in", f"photo={f.file('photo.png')}", "--out", f"out={f.file('out.png')}", "--out", f"out={f.file('o.npy')}")
    run("run", f.graph, "--in", f"photo={f.file('out.png')}", "--out", f"photo={f.file('p.npy')}")
    expect(numpy.array_equal(numpy.load(f.file("p.npy")), numpy.load(f.file("o.npy"))[:, :, [2, 1, 0, 3]]), "bgra as a picture")


def test_devices():
    text = run("devices")
    expect(text.count("images: up to 16384 x 16384 pixels, 16384 slices or layers; of a buffer 134217728 pixels") >= 2, text)
    expect(text.count("(primary 16, at most 4096 sub-groups, without independent forward progress)") == 2, text)


def test_module():
    f = Folder()
    text = run("module", f.file("images.fk"))
    for part in ("image2d.read, read", "image2d.write, write", "sampler, 8 bytes", "aspects: image"):
        expect(part in text, f"{part} in {text}")


TYPES = """
kernel @twice(%in: image3d.read, %out: image2d_array.write) {
  %gx = global_id x
  %gy = global_id y
  %gz = global_id z
  %x = trunc i32 %gx
  %y = trunc i32 %gy
  %z = trunc i32 %gz
  %at = vec i32x3 %x, %y, %z
  %p = image_read i32x4 %in, %at
  %q = add i32x4 %p, %p
  image_write i32x4 %out, %at, %q
}
kernel @line(%in: image1d_buffer.read, %out: image1d.write) {
  %gx = global_id x
  %x = trunc i32 %gx
  %p = image_read f32x4 %in, %x
  image_write f32x4 %out, %x, %p
}
"""

TYPES_GRAPH = """
modules: { k: images.fk }
buffers: { numbers: { type: f32, count: 12, fill: 3 } }
images:
  box: { kind: image3d, width: 4, height: 3, depth: 5, order: rg, type: signed_int16, row_pitch: 20, slice_pitch: 80 }
  layers: { kind: image2d_array, width: 4, height: 3, array_size: 5, order: rg, type: signed_int16, fill: 7 }
  view: { kind: image1d_buffer, width: 8, buffer: numbers, offset: 4, order: r, type: float }
  line: { kind: image1d, width: 8, order: depth, type: float }
  packed: { width: 2, height: 1, order: rgb, type: unorm_short_565 }
graph:
  - { kernel: k.twice, global: [4, 3, 5], args: [ {read: box}, {write: layers} ] }
  - { fill: { to: layers, value: [1, 2], at: [1, 1, 3], size: [2, 2, 2] } }
  - { copy: { from: layers, to: box, from_at: [0, 0, 3], to_at: [0, 0, 1], size: [4, 1, 2] } }
  - { kernel: k.line, global: [8], args: [ {read: view}, {write: line} ] }
  - { fill: { to: packed, value: [63488] } }
"""


def test_types():
    for device in ("cpu", "reference"):
        f = Folder(TYPES_GRAPH)
        f.write("images.fk", TYPES.encode())
        box = numpy.random.default_rng(4).integers(-1000, 1000, (5, 3, 4, 2), dtype=numpy.int16)
        numbers = numpy.arange(12, dtype=numpy.float32)
        numpy.save(f.file("box.npy"), box)
        numpy.save(f.file("numbers.npy"), numbers)
        run("run", f.graph, "--device", device, "--in", f"box={f.file('box.npy')}", "--in", f"numbers={f.file('numbers.npy')}",
            *(part for name in ("layers", "box", "line", "packed") for part in ("--out", f"{name}={f.file('o.' + name + '.npy')}")))
        layers = 2 * box
        layers[3:5, 1:3, 1:3] = [1, 2]
        expect(numpy.array_equal(numpy.load(f.file("o.layers.npy")), layers), "layers")
        box[1:3, 0:1, :] = layers[3:5, 0:1, :]
        expect(numpy.array_equal(numpy.load(f.file("o.box.npy")), box), "box")
        expect(numpy.array_equal(numpy.load(f.file("o.line.npy")), numbers[4:12]), "the line from a part of the buffer")
        expect(numpy.load(f.file("o.packed.npy")).tolist() == [[63488, 63488]], "packed pixels")


def message(graph, *more):
    f = Folder(graph)
    return run("run", f.graph, *more, status=1)


def test_messages():
    image = "width: 4, height: 4, order: rgba, type: unorm_int8"
    expect("graph.yaml:2:35: order is `rbg`; it is one of r, a, rg, ra, rgb, rgba, bgra" in
           message("images:\n i: { width: 4, height: 4, order: rbg, type: float }\ngraph: []\n"), "order")
    expect("an image needs height" in message("images:\n i: { width: 4, order: r, type: float }\ngraph: []\n"), "height")
    expect("graph.yaml:2:5: i: channel order BGRA needs" in
           message("images:\n i: { width: 4, height: 4, order: bgra, type: float }\ngraph: []\n"), "format")
    expect("is there twice" in
           message("buffers: { i: { type: u8, count: 1 } }\nimages: { i: { %s } }\ngraph: []\n" % image), "names")
    expect("image i is taken as a whole" in
           message("modules: { k: images.fk }\nimages: { i: { %s } }\ngraph:\n"
                   " - { kernel: k.invert, global: [4, 4], args: [ {read: i, offset: 1}, {write: i} ] }\n" % image), "offset")
    expect("unknown key `count`" in
           message("images: { i: { %s } }\ngraph:\n - { copy: { from: i, to: i, count: 3 } }\n" % image), "count")
    expect("a value for each channel of image i" in
           message("images: { i: { %s } }\ngraph:\n - { fill: { to: i, value: [1, 2, 3] } }\n" % image), "channels")
    expect("`300` is no value of type u8" in
           message("images: { i: { %s } }\ngraph:\n - { fill: { to: i, value: [1, 2, 3, 300] } }\n" % image), "value")
    expect("an image needs depth" in
           message("images: { i: { kind: image3d, width: 4, height: 4, order: r, type: float } }\ngraph: []\n"), "depth")
    expect("image1d_buffer needs a buffer" in
           message("images: { i: { kind: image1d_buffer, width: 4, order: r, type: float } }\ngraph: []\n"), "a buffer")
    expect("i, of which image v would be, is no buffer" in
           message("images: { i: { %s }, v: { kind: image1d_buffer, buffer: i, width: 4, order: r, type: float } }\n"
                   "graph: []\n" % image), "an image of an image")
    expect("to_at is a list of two or three numbers" in
           message("images: { i: { %s } }\ngraph:\n - { copy: { from: i, to: i, to_at: [3] } }\n" % image), "a place")
    expect("addressing is `wrap`; it is one of none, clamp_to_edge" in
           message("modules: { k: images.fk }\ngraph:\n - { kernel: k.shrink, global: [1, 1], "
                   "args: [ {sampler: {addressing: wrap}} ] }\n"), "addressing")
    f = Folder()
    expect("30 x 20 pixels, image out has 30 x 21" in
           message(GRAPH.replace("out: { width: 30, height: 20", "out: { width: 30, height: 21"),
                   "--in", f"out={f.file('photo.png')}"), "size of a picture")
    expect("image grey is no picture" in run("run", f.graph, "--in", f"grey={f.file('photo.png')}", status=1), "floats")
    expect("written as .png" in run("run", f.graph, "--out", f"out={f.file('o.jpg')}", status=1), "jpg out")
    f.write("broken.png", png_bytes(f.photo)[:300])
    run("run", f.graph, "--in", f"photo={f.file('broken.png')}", status=1)


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
