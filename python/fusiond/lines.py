"""Kernels that go along the lines of an array in order, a work-item for each line: sums so far, and the order of elements."""
import math

import numpy

from fusiond.expr import dense
from fusiond.operations import emit, ir_type

_INDEX = numpy.dtype("i8")


def accumulate(kernel, node, decode, load, position):
    """Each element combined with what came out before it, as NumPy does it: one after the other."""
    b, view, axis = kernel.body, node.operands[0], node.axes[0]
    ty, places = ir_type(node.dtype), dense(node.shape)
    outer = _begin(kernel, node, axis, decode)

    def element(j):
        return b.convert(load(kernel, view, _at(outer, axis, j)), view.node.dtype, node.dtype)

    def store(j, value):
        b.store(node.dtype, f"%out[{position(b, _at(outer, axis, j), places)}]", value)

    first = element("0")
    store("0", first)
    b.line(f"loop (%acc: {ty} = {first}, %j: i64 = 1) {{")
    b.line(f"%done = sge i64 %j, {node.shape[axis]}")
    b.line("if %done { break }")
    so_far = emit(b, node.op, node.dtype, ["%acc", element("%j")])
    store("%j", so_far)
    b.line("%next = add i64 %j, 1")
    b.line(f"continue {so_far}, %next\n    }}")


def argsort(kernel, node, decode, load, position):
    """Places in the order of their elements; those of what is alike stay in order. Merge sort, from one half of the node's
    own dimension of 2 to the other and back."""
    b, view, axis = kernel.body, node.operands[0], node.axes[0]
    n, strides, dtype = node.shape[1 + axis], dense(node.shape), view.node.dtype
    outer = _begin(kernel, view, axis, decode)

    def place(half, k):
        return f"%out[{position(b, [half, *_at(outer, axis, k)], strides)}]"

    def key(i):
        return load(kernel, view, _at(outer, axis, i))

    def first_of(k, last):
        """The place that is there, and its element."""
        i = b.load(_INDEX, place("%half", b.new(f"smin i64 {k}, {last}")))
        return i, key(i)

    b.line("loop (%f: i64 = 0) {")
    b.line(f"%filled = sge i64 %f, {n}\n    if %filled {{ break }}")
    b.store(_INDEX, place("0", "%f"), "%f")
    b.line("%following = add i64 %f, 1\n    continue %following\n    }")
    b.line("loop (%width: i64 = 1, %half: i64 = 0) {")
    b.line(f"%sorted = sge i64 %width, {n}\n    if %sorted {{ break }}")
    b.line("%other = sub i64 1, %half\n    %both = shl i64 %width, 1")
    b.line("loop (%begin: i64 = 0) {")
    b.line(f"%merged = sge i64 %begin, {n}\n    if %merged {{ break }}")
    b.line(f"%m = add i64 %begin, %width\n    %middle = smin i64 %m, {n}")
    b.line(f"%e = add i64 %begin, %both\n    %end = smin i64 %e, {n}")
    b.line("loop (%k: i64 = %begin, %left: i64 = %begin, %right: i64 = %middle) {")
    b.line("%done = sge i64 %k, %end\n    if %done { break }")
    (i, x), (j, y) = first_of("%left", n - 1), first_of("%right", n - 1)
    b.line("%none = sge i64 %left, %middle\n    %some = slt i64 %right, %end")
    b.line(f"%wanted = or bool %none, {less(b, dtype, y, x)}\n    %takes = and bool %some, %wanted")
    b.store(_INDEX, place("%other", "%k"), b.select(_INDEX, "%takes", j, i))
    b.line("%r = add i64 %right, 1\n    %l = add i64 %left, 1\n    %k1 = add i64 %k, 1")
    b.line("%right1 = select i64 %takes, %r, %right\n    %left1 = select i64 %takes, %left, %l")
    b.line("continue %k1, %left1, %right1\n    }\n    continue %e\n    }\n    continue %both, %other\n    }")


def less(b, dtype, x, y):
    """NaNs come last."""
    name = {"i": "slt", "u": "ult", "f": "folt"}[dtype.kind]
    smaller = b.new(f"{name} {ir_type(dtype)} {x}, {y}")
    if dtype.kind != "f":
        return smaller
    number = b.new(f"not bool {b.new(f'isnan {ir_type(dtype)} {x}')}")
    last = b.new(f"and bool {number}, {b.new(f'isnan {ir_type(dtype)} {y}')}")
    return b.new(f"or bool {smaller}, {last}")


def _begin(kernel, array, axis, decode):
    """The line of this work-item: coordinates without that of the axis."""
    others = [n for d, n in enumerate(array.shape) if d != axis]
    kernel.shape = (math.prod(others),)
    kernel.body.line("%i = global_id x")
    return decode(kernel.body, "%i", others)


def _at(outer, axis, j):
    return [*outer[:axis], j, *outer[axis:]]
