"""NumPy's functions that join arrays, or put something around them, of arrays that are traced."""
import operator

import numpy

from fusiond.composed import along
from fusiond.expr import Traced, View, axes_of
from fusiond.known import implements


def _traces(value):
    """Those of what is traced, also in lists of lists."""
    if isinstance(value, Traced):
        yield value.trace
    elif isinstance(value, (list, tuple)):
        for v in value:
            yield from _traces(v)


def all_traced(arrays):
    trace = next(_traces(arrays))
    return [stack(v) if isinstance(v, (list, tuple)) and any(_traces(v)) else trace.traced(v) for v in arrays]


@implements(numpy.concatenate)
def concatenate(arrays, axis=0, dtype=None):
    parts = all_traced(arrays)
    if axis is None:
        parts, axis = [p.reshape(-1) for p in parts], 0
    if not all(p.ndim for p in parts):
        raise ValueError("numpy.concatenate of an array without dimensions")
    axis = axes_of(axis, parts[0].ndim)[0]
    others = {(*p.shape[:axis], *p.shape[axis + 1:]) for p in parts}
    if len(others) > 1 or len({p.ndim for p in parts}) > 1:
        raise ValueError(f"numpy.concatenate along {axis} of shapes {', '.join(str(p.shape) for p in parts)}: they differ "
                         "in other dimensions")
    dtype = numpy.dtype(dtype or numpy.result_type(*(p.dtype for p in parts)))
    return follow_each_other([p for p in parts if p.size] or parts[:1], axis, dtype)


def follow_each_other(parts, axis, dtype):
    """A view of each, where its first element is at the place that it gets."""
    if len(parts) == 1:
        return parts[0].trace.apply("positive", parts, dtype)
    operands, ends, total = [], [], 0
    for p in parts:
        view = p._view()
        operands.append(View(view.node, view.shape, view.strides, view.offset - total * view.strides[axis]))
        total += view.shape[axis]
        ends.append(total)
    shape = [total if d == axis else n for d, n in enumerate(parts[0].shape)]
    return parts[0].trace.add("apply", shape, dtype, op="concatenate", operands=operands, axes=(axis, ends))


@implements(numpy.stack)
def stack(arrays, axis=0):
    parts = all_traced(arrays)
    if len({p.shape for p in parts}) > 1:
        raise ValueError(f"numpy.stack of shapes {', '.join(str(p.shape) for p in parts)}: they differ")
    return concatenate([numpy.expand_dims(p, axis) for p in parts], axis)


@implements(numpy.hstack)
def hstack(tup):
    parts = [numpy.atleast_1d(p) for p in all_traced(tup)]
    return concatenate(parts, 0 if parts[0].ndim == 1 else 1)


@implements(numpy.vstack, getattr(numpy, "row_stack", None))
def vstack(tup):
    return concatenate([numpy.atleast_2d(p) for p in all_traced(tup)], 0)


@implements(numpy.column_stack)
def column_stack(tup):
    return concatenate([p if p.ndim > 1 else p.reshape(-1, 1) for p in all_traced(tup)], 1)


@implements(numpy.dstack)
def dstack(tup):
    return concatenate([numpy.atleast_2d(p)[..., None] if p.ndim < 3 else p for p in all_traced(tup)], 2)


@implements(numpy.append)
def append(arr, values, axis=None):
    return concatenate([arr, values], axis)


@implements(numpy.roll)
def roll(a, shift, axis=None):
    if axis is None:
        return roll(a.reshape(-1), shift, 0).reshape(a.shape)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,) * len(axes)
    for by, one in zip(shifts if len(shifts) == len(axes) else shifts * len(axes), axes):
        n = a.shape[axes_of(one, a.ndim)[0]]
        begin = -operator.index(by) % n if n else 0
        a = concatenate([along(a, one, slice(begin, None)), along(a, one, slice(None, begin))], one) if begin else a
    return a


# -- with something around --

@implements(numpy.pad)
def pad(array, pad_width, mode="constant", **options):
    widths = numpy.broadcast_to(numpy.asarray(pad_width), (array.ndim, 2))
    if widths.dtype.kind not in "iu" or (widths < 0).any():
        raise ValueError(f"numpy.pad with a width of {pad_width}: widths are whole numbers from 0 on")
    widths = widths.tolist()
    if mode in ("edge", "reflect", "symmetric", "wrap"):  # NumPy itself says where the elements come from
        places = [numpy.pad(numpy.arange(n), w, mode, **options) for n, w in zip(array.shape, widths)]
        return array[numpy.ix_(*places)]
    if mode not in ("constant", "empty"):
        raise TypeError(f"numpy.pad with mode {mode!r} cannot be traced: \"constant\", \"edge\", \"reflect\", \"symmetric\" "
                        "and \"wrap\" can")
    values = options.pop("constant_values", 0)
    if options:
        raise TypeError(f"numpy.pad with {', '.join(options)} cannot be traced")
    if not numpy.ndim(values):
        return surrounded(array, widths, values)
    for d, (width, value) in enumerate(zip(widths, numpy.broadcast_to(values, (array.ndim, 2)))):
        for side in range(2):
            own = [[width[s] if s == side else 0 for s in range(2)] if e == d else [0, 0] for e in range(array.ndim)]
            array = surrounded(array, own, value[side])
    return array


def surrounded(array, widths, value):
    """One value around it."""
    if not any(map(any, widths)):
        return array.copy()
    trace = array.trace
    shape = [before + n + after for n, (before, after) in zip(array.shape, widths)]
    axes = [(d, before, before + n) for d, (n, (before, after)) in enumerate(zip(array.shape, widths)) if before or after]
    view = array._view()
    offset = view.offset - sum(before * s for s, (before, _) in zip(view.strides, widths))
    fill = trace.operand(value)
    return trace.add("apply", shape, array.dtype, op="pad", axes=axes,
                     operands=[View(view.node, view.shape, view.strides, offset),
                               fill.broadcast(shape) if isinstance(fill, View) else fill])
