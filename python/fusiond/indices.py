"""Elements of traced arrays by arrays of indices, as NumPy's: a[indices], take, and those that are made of these."""
import math
import operator

import numpy

from fusiond.array import Array
from fusiond.expr import Traced, View, axes_of
from fusiond.known import implements


def get(a, key):
    """a[key]."""
    items = expanded(a, key if isinstance(key, tuple) else (key,))
    if not any(is_array(k) for k in items):
        return Traced(a.trace, a._view().index(tuple(items)), a.dtype)
    # Beside arrays, numbers are arrays too.
    own = [p for p, k in enumerate(items) if is_array(k) or k is not None and not isinstance(k, slice)]
    view = a._view().index(tuple(slice(None) if p in own else k for p, k in enumerate(items)))
    common = numpy.broadcast_shapes(*(numpy.shape(items[p]) for p in own))
    others = [d for d in range(len(items)) if d not in own]
    side_by_side = own == list(range(own[0], own[-1] + 1))
    before = others[:own[0]] if side_by_side else []
    after = others[len(before):]
    base = View(view.node, [*(view.shape[d] for d in before), *common, *(view.shape[d] for d in after)],
                [*(view.strides[d] for d in before), *(0 for _ in common), *(view.strides[d] for d in after)], view.offset)
    trailing = (1,) * len(after)
    picked = [(numpy.reshape(items[p], numpy.shape(items[p]) + trailing), view.strides[p], view.shape[p]) for p in own]
    return pick(a, base, picked)


def is_array(k):
    """Is it an array of indices, and not a number that is known?"""
    return isinstance(k, (numpy.ndarray, Array)) or isinstance(k, Traced) and isinstance(k.value, View)


def expanded(a, key):
    """One item for each dimension of the array, and None: lists are arrays, masks are the indices of what they choose."""
    items = []
    for k in key:
        k = numpy.asarray(k, None if len(k) else numpy.intp) if isinstance(k, list) else k
        k = a.trace.traced(k) if isinstance(k, Array) else k
        if is_array(k) and k.dtype.kind == "b":
            if not isinstance(k, numpy.ndarray):
                raise TypeError("an array chosen by a mask cannot be traced, as its shape depends on contents: "
                                "numpy.where(mask, a, 0) chooses by element and keeps the shape")
            items += mask_indices(k, a, sum(i is not None and i is not Ellipsis for i in items))
        else:
            items.append(k)
    given = sum(k is not None and k is not Ellipsis for k in items)
    if given > a.ndim:
        raise IndexError(f"{given} indices for {a.ndim} dimensions")
    place = next((p for p, k in enumerate(items) if k is Ellipsis), len(items))
    return [*items[:place], *(slice(None) for _ in range(a.ndim - given)), *items[place + 1:]]


def mask_indices(mask, a, first):
    """Of a mask of the function's own, whose contents are known."""
    if any(n != m for n, m in zip(mask.shape, a.shape[first:])):
        raise IndexError(f"a mask of shape {mask.shape} for an array of shape {a.shape}")
    return mask.nonzero()


def pick(a, base, picked):
    """Elements of an array: base is a view of the result's shape, picked are (indices, stride, length), which lead on."""
    axes, operands = [], [base]
    for index, stride, n in picked:
        if index.dtype.kind not in "iu":
            raise IndexError(f"arrays of indices are of integers, not of {index.dtype}")
        if n == 0 and math.prod(base.shape):
            raise IndexError("an index in a dimension of 0")
        outside = "check" if a.trace.checked else "clamp"
        if isinstance(index, numpy.ndarray):
            index, outside = inside(index, n), "none"
        operand = a.trace.operand(index)
        operands.append(operand.broadcast(base.shape) if isinstance(operand, View) else operand)
        axes.append((stride, n, outside))
    return a.trace.add("apply", base.shape, a.dtype, op="take", operands=operands, axes=axes)


def inside(index, n):
    """Indices of the function's own, from 0 on."""
    wrong = (index < -n) | (index >= n)
    if numpy.any(wrong):
        raise IndexError(f"index {index[wrong][0]} in a dimension of {n}")
    return numpy.where(index < 0, index + n, index).astype(numpy.intp)


# -- functions --

@implements(numpy.take)
def take(a, indices, axis=None, mode="raise"):
    trace = next(v.trace for v in (a, indices) if isinstance(v, Traced))
    a = trace.traced(a)
    a, axis = (a.reshape(-1), 0) if axis is None else (a, axes_of(axis, a.ndim)[0])
    indices = indices if isinstance(indices, (Traced, Array)) else numpy.asarray(indices)
    if mode == "clip":
        indices = numpy.clip(indices, 0, a.shape[axis] - 1)
    elif mode == "wrap":
        indices = numpy.remainder(indices, a.shape[axis])
    elif mode != "raise":
        raise ValueError(f"numpy.take with mode {mode!r}: it is \"raise\", \"clip\" or \"wrap\"")
    return a[(slice(None),) * axis + (indices,)]


@implements(numpy.take_along_axis)
def take_along_axis(arr, indices, axis):
    trace = next(v.trace for v in (arr, indices) if isinstance(v, Traced))
    arr = trace.traced(arr)
    arr, axis = (arr.reshape(-1), 0) if axis is None else (arr, axes_of(axis, arr.ndim)[0])
    if numpy.ndim(indices) != arr.ndim:
        raise ValueError(f"numpy.take_along_axis with indices of {numpy.ndim(indices)} dimensions for {arr.ndim}")
    view = arr._view()
    shape = numpy.broadcast_shapes([1 if d == axis else n for d, n in enumerate(view.shape)], numpy.shape(indices))
    base = View(view.node, [1 if d == axis else n for d, n in enumerate(view.shape)], view.strides, view.offset)
    return pick(arr, base.broadcast(shape), [(indices, view.strides[axis], view.shape[axis])])


@implements(numpy.repeat)
def repeat(a, repeats, axis=None):
    if isinstance(repeats, Traced) and isinstance(repeats.value, View):
        raise TypeError("numpy.repeat by counts that are traced cannot be traced, as the result's shape depends on contents")
    a, axis = (a.reshape(-1), 0) if axis is None else (a, axes_of(axis, a.ndim)[0])
    if numpy.ndim(repeats):
        return take(a, numpy.repeat(numpy.arange(a.shape[axis]), repeats), axis)
    n = operator.index(repeats)
    each = numpy.broadcast_to(numpy.expand_dims(a, axis + 1), (*a.shape[:axis + 1], n, *a.shape[axis + 1:]))
    return each.reshape(*a.shape[:axis], n * a.shape[axis], *a.shape[axis + 1:])


@implements(numpy.tile)
def tile(A, reps):
    reps = tuple(operator.index(r) for r in (reps if isinstance(reps, (tuple, list)) else (reps,)))
    ndim = max(len(reps), A.ndim)
    reps, shape = (1,) * (ndim - len(reps)) + reps, (1,) * (ndim - A.ndim) + A.shape
    apart = A.reshape([m for n in shape for m in (1, n)])
    many = numpy.broadcast_to(apart, [m for r, n in zip(reps, shape) for m in (r, n)])
    return many.reshape([r * n for r, n in zip(reps, shape)])
