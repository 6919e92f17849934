"""Operations that look for their elements in other places than their own, as code: what the element of a node is.

"take": operands are a view of the result's shape and arrays of indices that lead on from there; ``axes`` has for each of
them a stride, a length, and what is done about indices outside: "none" (there are none), "clamp", or "check" (the service). "concatenate": operands follow each other along a dimension;
``axes`` has the dimension and where each ends. "pad": an operand and what is around it; ``axes`` has the dimensions in
which there is something around, with begin and end of what is the operand's. "searchsorted": operands are the first of the
elements that are in order, and the value whose place is looked for; ``axes`` has their stride, their number, and the side.
"""
import numpy

from fusiond.lines import less
from fusiond.operations import ir_type

_INDEX = numpy.dtype("i8")


def has(name):
    return name in _FOUND


def apart(node):
    """Strides that keep a dimension apart from its neighbours, as where in it an element is decides."""
    own = {"concatenate": lambda: [node.axes[0]], "pad": lambda: [d for d, _, _ in node.axes]}.get(node.op, list)()
    return [tuple(int(d == one) for d in range(len(node.shape))) for one in own]


def found(body, node, coordinates, value, load):
    """value(operand, dtype): the element of an operand there. load(view, more): that of a view, as it is, so much further on."""
    return _FOUND[node.op](body, node, coordinates, value, load)


def _taken(b, node, _coordinates, value, load):
    more = []
    for index, (stride, n, outside) in zip(node.operands[1:], node.axes):
        i = value(index, _INDEX)
        if outside != "none":
            i = b.select(_INDEX, b.new(f"slt i64 {i}, 0"), b.new(f"add i64 {i}, {n}"), i)
        if outside == "clamp":
            i = b.new(f"sclamp i64 {i}, 0, {n - 1}")
        if stride:
            more.append(i if stride == 1 else b.new(f"mul i64 {i}, {stride}"))
    return load(node.operands[0], more)


def _either(b, node, condition, make_first, make_second):
    """One of two values, of which the other one is not computed."""
    result = b.name()
    b.line(f"{result} = if {condition} -> {ir_type(node.dtype)} {{")
    b.line(f"yield {make_first()}\n    }} else {{")
    b.line(f"yield {make_second()}\n    }}")
    return result


def _concatenated(b, node, coordinates, value, _load):
    axis, ends = node.axes

    def among(first, last):
        """Of operands first to last; each decision leaves half of them."""
        if first == last:
            return value(node.operands[first], node.dtype)
        middle = (first + last) // 2
        before = b.new(f"slt i64 {coordinates[axis]}, {ends[middle]}")
        return _either(b, node, before, lambda: among(first, middle), lambda: among(middle + 1, last))

    return among(0, len(ends) - 1)


def _padded(b, node, coordinates, value, _load):
    inside = None
    for d, begin, end in node.axes:
        within = b.new(f"ult i64 {b.new(f'sub i64 {coordinates[d]}, {begin}')}, {end - begin}")
        inside = within if inside is None else b.new(f"and bool {inside}, {within}")
    return _either(b, node, inside, lambda: value(node.operands[0], node.dtype), lambda: value(node.operands[1], node.dtype))


def _searched(b, node, _coordinates, value, load):
    """What is left is halved."""
    stride, n, side = node.axes
    wanted, begin = value(node.operands[1], node.compute), b.name()
    place = b.begin_loop("i64", [(begin, "i64", "0"), ("%count", "i64", str(n))])
    b.line(f"%none = sle i64 %count, 0\n    if %none {{ break {begin} }}")
    b.line(f"%half = lshr i64 %count, 1\n    %probe = add i64 {begin}, %half")
    there = load(node.operands[0], ["%probe" if stride == 1 else b.new(f"mul i64 %probe, {stride}")])
    before = less(b, node.compute, there, wanted) if side == "left" else \
        b.new(f"not bool {less(b, node.compute, wanted, there)}")
    b.line("%beyond = add i64 %probe, 1\n    %rest = sub i64 %count, %half\n    %others = sub i64 %rest, 1")
    b.end_loop(b.select(_INDEX, before, "%beyond", begin), b.select(_INDEX, before, "%others", "%half"))
    return place


_FOUND = {"take": _taken, "concatenate": _concatenated, "pad": _padded, "searchsorted": _searched}
