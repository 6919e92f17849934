"""Kernels for the nodes of a trace.

Over which range a kernel runs decides what can be fused with it, so nodes of one shape get the same one. Where rows of a
shape are reduced along their last dimension, a work-group computes a row, in that kernel and in all others of the shape;
what there is one of for each row is computed by the first work-item of its group. All else has a work-item for each
element, with dimensions joined where all nodes of the shape allow it.
"""
import math

import numpy

from fusiond import lines, places
from fusiond.expr import Const, Node, Scalar, View, dense
from fusiond.operations import Body, emit, identity, ir_type, literal, made_dtype, memory_type, operand_dtype

GROUP = 256  # work-items for a row, at most
_BOOL = numpy.dtype(bool)
_ALONG = {"accumulate": lines.accumulate, "argsort": lines.argsort}
_IN_PLACE = {"argsort"}  # kinds that also read what they write
PART = 16384  # elements of a row that one group takes, where there are too few rows


class Kernel:
    """Text of a kernel: name; parameters; the nodes and scalars that are its arguments, the node it writes last."""

    def __init__(self, name, node):
        self.name, self.node = name, node
        self.params, self.arguments = [], []
        self.body = Body()
        self.variables = []
        self.reads_output = node.kind in _IN_PLACE
        self.shape, self.local = (1,), None  # x first

    def pointer(self, node):
        for argument, name in self.arguments:
            if argument is node:
                return name
        name = f"%p{len(self.arguments)}"
        self.params.append(f"{name}: ptr.global {memory_type(node.dtype)} read")
        self.arguments.append((node, name))
        return name

    def output(self, node):
        self.params.append(f"%out: ptr.global {memory_type(node.dtype)} {'read_write' if self.reads_output else 'write'}")
        self.arguments.append((node, "%out"))

    def scalar(self, scalar, dtype):
        name = f"%s{len(self.arguments)}"
        number = dtype if dtype.kind != "b" else None
        self.params.append(f"{name}: {ir_type(dtype) if number else 'i8'}")
        self.arguments.append(((scalar, dtype), name))
        return name if number else self.body.new(f"ine i8 {name}, 0")

    def text(self):
        body = "".join(f"    {line}\n" for line in self.body.lines)
        return f"{''.join(self.variables)}kernel @{self.name}({', '.join(self.params)}) {{\n{body}}}\n"


# -- where an element is --

def position(body, coordinates, strides, offset=0):
    """The index of an element: an i64, as a value or number."""
    terms = []
    for c, s in zip(coordinates, strides):
        if s and c != "0":
            terms.append(c if s == 1 else body.new(f"mul i64 {c}, {s}"))
    if offset or not terms:
        terms.append(str(offset))
    index = terms[0]
    for term in terms[1:]:
        index = body.new(f"add i64 {index}, {term}")
    return index


def decode(body, linear, shape):
    """Coordinates of a linear index, the last varying fastest."""
    out = []
    for d in range(len(shape) - 1, -1, -1):
        if shape[d] == 1:
            out.insert(0, "0")
        elif math.prod(shape[:d]) == 1:
            out.insert(0, linear)
        else:
            out.insert(0, body.new(f"urem i64 {linear}, {shape[d]}"))
            linear = body.new(f"udiv i64 {linear}, {shape[d]}")
    return out


def joined(shape, all_strides):
    """Lists of dimensions that can be one for each of these strides."""
    groups = []
    for d, n in enumerate(shape):
        if n == 1:
            continue
        last = groups[-1][-1] if groups else None
        if groups and all(s[last] == s[d] * n for s in all_strides):
            groups[-1].append(d)
        else:
            groups.append([d])
    return groups


def load(kernel, view, coordinates, more=()):
    """The element there, or so many after it as `more` comes to."""
    pointer = kernel.pointer(view.node)
    index = position(kernel.body, [*coordinates, *more], [*view.strides, *(1 for _ in more)], view.offset)
    return kernel.body.load(view.node.dtype, f"{pointer}[{index}]")


def operand_value(kernel, operand, dtype, coordinates):
    if isinstance(operand, Const):
        return literal(operand.value, dtype)
    if isinstance(operand, Scalar):
        return kernel.scalar(operand, dtype)
    return kernel.body.convert(load(kernel, operand, coordinates), operand.node.dtype, dtype)


def applied(kernel, node, coordinates):
    """The element of an "apply" node."""
    if places.has(node.op):
        return places.found(kernel.body, node, coordinates, lambda o, dtype: operand_value(kernel, o, dtype, coordinates),
                            lambda view, more: load(kernel, view, coordinates, more))
    values = []
    for i, operand in enumerate(node.operands):
        values.append(operand_value(kernel, operand, operand_dtype(node.op, i, node.compute), coordinates))
    result = emit(kernel.body, node.op, node.compute, values)
    return kernel.body.convert(result, made_dtype(node.op, node.compute), node.dtype)


# -- kernels --

def by_element(kernel, node, groups):
    """A work-item for each element; groups: which dimensions are one."""
    b = kernel.body
    sizes = [math.prod(node.shape[d] for d in g) for g in groups]
    while len(sizes) > 3:  # the outermost become one dimension of the range
        groups, sizes = [groups[0] + groups[1], *groups[2:]], [sizes[0] * sizes[1], *sizes[2:]]
    coordinates = ["0"] * len(node.shape)
    for axis, dims in zip("xyz", reversed(groups)):
        linear = b.new(f"global_id {axis}")
        for d, c in zip(dims, decode(b, linear, [node.shape[d] for d in dims])):
            coordinates[d] = c
    kernel.shape = tuple(reversed(sizes)) or (1,)
    value = applied(kernel, node, coordinates)
    b.store(node.dtype, f"%out[{position(b, coordinates, dense(node.shape))}]", value)


def begin_rows(kernel, rows, width):
    local = group_size(width)
    kernel.shape, kernel.local = (rows * local,), (local,)
    kernel.body.line("%l = local_id x")
    kernel.body.line("%g = group_id x")
    return local


def group_size(width):
    return min(GROUP, max(16, 1 << (width - 1).bit_length()))


def by_row(kernel, node):
    """A group for each row; its work-items take elements in turns."""
    b, width = kernel.body, node.shape[-1]
    local = begin_rows(kernel, node.size // width, width)
    outer = decode(b, "%g", node.shape[:-1])
    b.line("loop (%j: i64 = %l) {")
    b.line(f"%done = sge i64 %j, {width}")
    b.line("if %done { break }")
    coordinates = [*outer, "%j"]
    value = applied(kernel, node, coordinates)
    b.store(node.dtype, f"%out[{position(b, coordinates, dense(node.shape))}]", value)
    b.line(f"%next = add i64 %j, {local}")
    b.line("continue %next\n    }")


def once_a_row(kernel, node, width):
    """The first work-item of each row's group computes what there is one of."""
    b = kernel.body
    begin_rows(kernel, node.size, width)
    b.line("%first = ieq i64 %l, 0")
    b.line("if %first {")
    value = applied(kernel, node, decode(b, "%g", node.shape))
    b.store(node.dtype, "%out[%g]", value)
    b.line("}")


def kept_and_reduced(node):
    """Of a "reduce" node's operand: dimensions that stay, and that go."""
    shape = node.operands[0].shape
    return [d for d in range(len(shape)) if d not in node.axes], list(node.axes)


def along_rows(node):
    """Does it reduce what lies side by side?"""
    view = node.operands[0]
    kept, reduced = kept_and_reduced(node)
    near = [abs(view.strides[d]) for d in reduced if view.shape[d] > 1]
    far = [abs(view.strides[d]) for d in kept if view.shape[d] > 1]
    return bool(near) and (not far or min(near) <= min(far))


def element_to_reduce(kernel, node, outer, linear):
    view = node.operands[0]
    kept, reduced = kept_and_reduced(node)
    inner = decode(kernel.body, linear, [view.shape[d] for d in reduced])
    coordinates = [None] * len(view.shape)
    for d, c in [*zip(kept, outer), *zip(reduced, inner)]:
        coordinates[d] = c
    value = load(kernel, view, coordinates)
    dtype = _BOOL if node.op.startswith("logical") else node.compute
    return kernel.body.convert(value, view.node.dtype, dtype)


def loop_over(kernel, node, outer, begin, end, step, within=None):
    """Combines the elements from begin on, step apart."""
    b, ty = kernel.body, "bool" if node.op.startswith("logical") else ir_type(node.compute)
    dtype = _BOOL if ty == "bool" else node.compute
    total = f"%total{b.count}"
    b.line(f"{total} = loop (%acc: {ty} = {identity(node.op, dtype)}, %j: i64 = {begin}) -> {ty} {{")
    b.line(f"%done = sge i64 %j, {end}")
    b.line("if %done { break %acc }")
    index = "%j"
    if within:
        index = b.new(f"add i64 {within[0]}, %j")
        over = b.new(f"sge i64 {index}, {within[1]}")
        b.line(f"if {over} {{ break %acc }}")
    value = element_to_reduce(kernel, node, outer, index)
    b.line(f"%sum = {emit_plain(b, node.op, dtype, '%acc', value)}")
    b.line(f"%next = add i64 %j, {step}")
    b.line("continue %sum, %next\n    }")
    return total


def emit_plain(body, op, dtype, x, y):
    """The last instruction of an operation, without its name."""
    emit(body, op, dtype, [x, y])
    return body.lines.pop().split(" = ", 1)[1]


def finish_group(kernel, node, local, total, target):
    """The group's sum in the order of a tree, stored by its first work-item."""
    b = kernel.body
    dtype = _BOOL if node.op.startswith("logical") else node.compute
    tile = f"@tile_{kernel.name}"
    kernel.variables.append(f"local {tile}: [{local} x {memory_type(dtype)}]\n")
    b.line(f"%tile = global {tile}")
    b.store(dtype, "%tile[%l]", total)
    b.line("barrier work_group, local")
    distance = local // 2
    while distance:
        inside = b.new(f"slt i64 %l, {distance}")
        b.line(f"if {inside} {{")
        x = b.load(dtype, "%tile[%l]")
        y = b.load(dtype, f"%tile[{b.new(f'add i64 %l, {distance}')}]")
        b.store(dtype, "%tile[%l]", emit(b, node.op, dtype, [x, y]))
        b.line("}")
        b.line("barrier work_group, local")
        distance //= 2
    b.line("%first = ieq i64 %l, 0")
    b.line("if %first {")
    value = b.convert(b.load(dtype, "%tile[0]"), dtype, target)
    b.store(target, "%out[%g]", value)
    b.line("}")


def reduce_rows(kernel, node):
    view = node.operands[0]
    kept, reduced = kept_and_reduced(node)
    width = math.prod(view.shape[d] for d in reduced)
    local = begin_rows(kernel, node.size, width)
    outer = decode(kernel.body, "%g", [view.shape[d] for d in kept])
    total = loop_over(kernel, node, outer, "%l", width, local)
    finish_group(kernel, node, local, total, node.dtype)


def reduce_part(kernel, node, width):
    """The first of two steps over one long row: a sum for each part of it."""
    parts = -(-width // PART)
    local = begin_rows(kernel, parts, PART)
    base = kernel.body.new(f"mul i64 %g, {PART}")
    total = loop_over(kernel, node, [], "%l", PART, local, within=(base, width))
    finish_group(kernel, node, local, total, node.compute)


def reduce_columns(kernel, node):
    """A work-item for each result."""
    b, view = kernel.body, node.operands[0]
    kept, reduced = kept_and_reduced(node)
    kernel.shape = (max(node.size, 1),)
    b.line("%i = global_id x")
    outer = decode(b, "%i", [view.shape[d] for d in kept])
    dtype = _BOOL if node.op.startswith("logical") else node.compute
    total = loop_over(kernel, node, outer, "0", math.prod(view.shape[d] for d in reduced), 1)
    b.store(node.dtype, "%out[%i]", b.convert(total, dtype, node.dtype))


def matmul(kernel, node):
    b = kernel.body
    left, right = node.operands
    depth = left.shape[-1]
    add, multiply = ("fadd", "fmul") if node.dtype.kind == "f" else ("add", "mul")
    ty = ir_type(node.dtype)
    kernel.shape = (node.shape[-1], node.shape[-2], *([math.prod(node.shape[:-2])] if len(node.shape) > 2 else []))
    b.line("%x = global_id x")
    b.line("%y = global_id y")
    batch = []
    if len(node.shape) > 2:
        b.line("%z = global_id z")
        batch = decode(b, "%z", node.shape[:-2])
    b.line(f"%total = loop (%acc: {ty} = {literal(0, node.dtype)}, %k: i64 = 0) -> {ty} {{")
    b.line(f"%done = sge i64 %k, {depth}")
    b.line("if %done { break %acc }")
    x = b.convert(load(kernel, left, [*batch, "%y", "%k"]), left.node.dtype, node.dtype)
    y = b.convert(load(kernel, right, [*batch, "%k", "%x"]), right.node.dtype, node.dtype)
    product = b.new(f"{multiply} {ty} {x}, {y}")
    b.line(f"%sum = {add} {ty} %acc, {product}")
    b.line("%next = add i64 %k, 1")
    b.line("continue %sum, %next\n    }")
    b.store(node.dtype, f"%out[{position(b, [*batch, '%y', '%x'], dense(node.shape))}]", "%total")


# -- which kernel for which node --

class Ranges:
    """What nodes of one shape run over."""

    def __init__(self, nodes):
        self.rows, self.heads, self.groups = set(), {}, {}
        for node in nodes:
            if node.kind == "reduce":
                self.see_reduction(node)
        for node in nodes:
            if node.kind == "apply" and node.shape not in self.groups:
                strides = [dense(node.shape)]
                for other in nodes:
                    if other.kind == "apply" and other.shape == node.shape:
                        strides += [o.strides for o in other.operands if isinstance(o, View)] + places.apart(other)
                self.groups[node.shape] = joined(node.shape, strides)

    def see_reduction(self, node):
        view = node.operands[0]
        if node.axes != (len(view.shape) - 1,) or not along_rows(node) or node.size < 2:
            return
        self.rows.add(view.shape)
        for head in (node.shape, (*node.shape, 1)):
            self.heads[head] = view.shape[-1]


def kernels_of(node, ranges, number):
    """The kernels that compute a node, with what nodes they need between them: a list."""
    kernel = Kernel(f"{node.op or node.kind}_{number}", node)
    made = [kernel]
    if node.kind == "apply":
        if node.shape in ranges.rows:
            by_row(kernel, node)
        elif node.shape in ranges.heads:
            once_a_row(kernel, node, ranges.heads[node.shape])
        else:
            by_element(kernel, node, ranges.groups[node.shape])
    elif node.kind == "matmul":
        matmul(kernel, node)
    elif node.kind in _ALONG:
        _ALONG[node.kind](kernel, node, decode, load, position)
    else:
        width = math.prod(node.operands[0].shape[d] for d in node.axes)
        if not along_rows(node):
            reduce_columns(kernel, node)
        elif node.size == 1 and width > 4 * PART:
            dtype = _BOOL if node.op.startswith("logical") else node.compute
            parts = Node("reduce", (-(-width // PART),), dtype, op=node.op, operands=node.operands, compute=node.compute)
            reduce_part(kernel, _flat(node), width)
            kernel.node = parts
            kernel.output(parts)
            rest = Node("reduce", (), node.dtype, op=node.op, operands=[View.whole(parts)], axes=(0,), compute=node.compute)
            last = Kernel(f"{node.op}_{number}_all", node)
            reduce_rows(last, rest)
            last.output(node)
            return [kernel, last]
        else:
            reduce_rows(kernel, node)
    kernel.output(node)
    return made


def _flat(node):
    """All dimensions of the operand are reduced."""
    return Node("reduce", (), node.dtype, op=node.op, operands=node.operands,
                axes=range(len(node.operands[0].shape)), compute=node.compute)
