"""NumPy's functions of elements and what is beside them, that are made of others, of arrays that are traced."""
import numpy

from fusiond.composed import along
from fusiond.expr import Traced, View, axes_of
from fusiond.known import implements

@implements(numpy.gradient)
def gradient(f, *varargs, axis=None, edge_order=1):
    axes = axes_of(axis, f.ndim)
    steps = varargs if len(varargs) == len(axes) else varargs * len(axes) if varargs else (1.0,) * len(axes)
    if edge_order != 1 or len(steps) != len(axes) or any(numpy.ndim(h) for h in steps):
        raise TypeError("numpy.gradient with edge_order 2, or between points that are not evenly apart, cannot be traced: with "
                        "a distance for each axis it can")
    f = f if f.dtype.kind == "f" else f.astype(float)
    found = [slope(f, d, h) for d, h in zip(axes, steps)]
    return found[0] if len(found) == 1 else found


def slope(f, d, h):
    if f.shape[d] < 2:
        raise ValueError("Shape of array too small to calculate a numerical gradient, at least 2 elements are required.")
    first, last = (along(f, d, slice(i, i + 2 or None)) for i in (0, -2))
    inner = (along(f, d, slice(2, None)) - along(f, d, slice(None, -2))) / (2.0 * h)
    return numpy.concatenate([numpy.diff(first, axis=d) / h, inner, numpy.diff(last, axis=d) / h], d)


@implements(numpy.lib.stride_tricks.sliding_window_view)
def sliding_window_view(x, window_shape, axis=None):
    shape = tuple(window_shape) if hasattr(window_shape, "__iter__") else (window_shape,)
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if len(axes) != len(shape):
        raise ValueError(f"windows of shape {shape} along {len(axes)} axes")
    view = x._view()
    sizes, steps = list(view.shape), []
    for d, n in zip((axes_of(a, x.ndim)[0] for a in axes), shape):
        sizes[d] -= n.__index__() - 1
        steps.append(view.strides[d])
    if min(sizes) < 1:
        raise ValueError("window shape cannot be larger than input array shape")
    return Traced(x.trace, View(view.node, [*sizes, *shape], [*view.strides, *steps], view.offset), x.dtype)


@implements(numpy.convolve)
def convolve(a, v, mode="full"):
    trace = next(x.trace for x in (a, v) if isinstance(x, Traced))
    a, v = (numpy.atleast_1d(trace.traced(x)) for x in (a, v))
    if a.ndim > 1 or v.ndim > 1 or not a.size or not v.size:
        raise ValueError(f"numpy.convolve of shapes {a.shape} and {v.shape}")
    if a.size < v.size:
        a, v = v, a
    more = {"full": (v.size - 1, v.size - 1), "same": (v.size // 2, (v.size - 1) // 2), "valid": (0, 0)}.get(mode)
    if more is None:
        raise ValueError(f"numpy.convolve with mode {mode!r}: it is \"full\", \"same\" or \"valid\"")
    return numpy.matmul(sliding_window_view(numpy.pad(a, more), v.size), v[::-1])


@implements(numpy.cross)
def cross(a, b, axis=-1):
    a, b = (numpy.moveaxis(x, axis, -1) for x in (a, b))
    if numpy.shape(a)[-1] != 3 or numpy.shape(b)[-1] != 3:
        raise TypeError("numpy.cross of vectors of 2 cannot be traced: of vectors of 3 it can")
    parts = [a[..., i] * b[..., j] - a[..., j] * b[..., i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return numpy.stack(parts, axis)


@implements(numpy.kron)
def kron(a, b):
    ndim = max(numpy.ndim(a), numpy.ndim(b))
    a, b = (numpy.reshape(x, (1,) * (ndim - numpy.ndim(x)) + numpy.shape(x)) for x in (a, b))
    of_a = numpy.reshape(a, [m for n in numpy.shape(a) for m in (n, 1)])
    of_b = numpy.reshape(b, [m for n in numpy.shape(b) for m in (1, n)])
    return numpy.multiply(of_a, of_b).reshape([n * m for n, m in zip(numpy.shape(a), numpy.shape(b))])


@implements(numpy.linspace)
def linspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """Between numbers that are traced; between others it is NumPy's."""
    n, steps = num.__index__(), num.__index__() - bool(endpoint)
    begin, end = start * 1.0, stop * 1.0
    if axis != 0 or n < 2:
        raise TypeError("numpy.linspace of traced numbers along another axis than 0, or of fewer than 2, cannot be traced")
    count = numpy.arange(n, dtype=begin.dtype if hasattr(begin, "dtype") else end.dtype)
    count = count.reshape((-1,) + (1,) * max(numpy.ndim(start), numpy.ndim(stop)))
    value = count * ((end - begin) / steps) + begin
    value = numpy.where(count == n - 1, end, value) if endpoint else value
    return value if dtype is None else value.astype(dtype)
