"""NumPy's functions that are made of others, of arrays that are traced."""
import numpy

from fusiond.expr import Traced, View, axes_of
from fusiond.known import implements

def along(a, axis, key):
    """a[..., key, ...] with the key at an axis."""
    axis, = axes_of(axis, a.ndim)
    return a[(slice(None),) * axis + (key,)]


# -- differences and sums --

@implements(numpy.diff)
def diff(a, n=1, axis=-1):
    for _ in range(n):
        ahead, behind = along(a, axis, slice(1, None)), along(a, axis, slice(None, -1))
        a = numpy.not_equal(ahead, behind) if a.dtype.kind == "b" else ahead - behind
    return a


@implements(getattr(numpy, "trapz", None), getattr(numpy, "trapezoid", None))
def trapz(y, x=None, dx=1.0, axis=-1):
    if x is not None:
        dx = numpy.diff(x, axis=axis if numpy.ndim(x) > 1 else -1)
        if dx.ndim == 1:
            place, = axes_of(axis, y.ndim)
            dx = dx.reshape([-1 if d == place else 1 for d in range(y.ndim)])
    return numpy.sum(dx * (along(y, axis, slice(1, None)) + along(y, axis, slice(None, -1))) / 2.0, axis=axis)


@implements(numpy.average)
def average(a, axis=None, weights=None, keepdims=False):
    if weights is None:
        return numpy.mean(a, axis=axis, keepdims=keepdims)
    if numpy.shape(weights) != numpy.shape(a):
        weights = numpy.reshape(weights, [-1 if d in axes_of(axis, a.ndim) else 1 for d in range(a.ndim)])
    total = numpy.sum(numpy.broadcast_to(weights, a.shape), axis=axis, keepdims=keepdims)
    return numpy.sum(a * weights, axis=axis, keepdims=keepdims) / total


@implements(numpy.ptp)
def ptp(a, axis=None, keepdims=False):
    return numpy.max(a, axis=axis, keepdims=keepdims) - numpy.min(a, axis=axis, keepdims=keepdims)


@implements(numpy.count_nonzero)
def count_nonzero(a, axis=None, keepdims=False):
    return numpy.sum(numpy.not_equal(a, 0), axis=axis, dtype=numpy.intp, keepdims=keepdims)


@implements(numpy.nansum)
def nansum(a, axis=None, dtype=None, keepdims=False):
    return numpy.sum(numpy.where(numpy.isnan(a), a.dtype.type(0), a), axis=axis, dtype=dtype, keepdims=keepdims)


@implements(numpy.nanprod)
def nanprod(a, axis=None, dtype=None, keepdims=False):
    return numpy.prod(numpy.where(numpy.isnan(a), a.dtype.type(1), a), axis=axis, dtype=dtype, keepdims=keepdims)


@implements(numpy.nanvar)
def nanvar(a, axis=None, ddof=0, keepdims=False):
    if a.dtype.kind != "f":
        return numpy.var(a, axis=axis, ddof=ddof, keepdims=keepdims)
    there = numpy.logical_not(numpy.isnan(a))
    apart = numpy.where(there, a - nanmean(a, axis, True), a.dtype.type(0))
    left = numpy.sum(there, axis=axis, keepdims=keepdims) - ddof
    return numpy.where(left > 0, numpy.sum(apart * apart, axis=axis, keepdims=keepdims) / left, numpy.nan).astype(a.dtype)


@implements(numpy.nanstd)
def nanstd(a, axis=None, ddof=0, keepdims=False):
    return numpy.sqrt(nanvar(a, axis, ddof, keepdims))


@implements(numpy.nanmean)
def nanmean(a, axis=None, keepdims=False):
    count = numpy.sum(numpy.logical_not(numpy.isnan(a)), axis=axis, keepdims=keepdims)
    return (nansum(a, axis, None, keepdims) / count).astype(a.dtype if a.dtype.kind == "f" else float)


def nan_extreme(function, beyond):
    """NaN only where there is nothing else."""
    def extreme(a, axis=None, keepdims=False):
        if a.dtype.kind != "f":
            return function(a, axis=axis, keepdims=keepdims)
        missing = numpy.isnan(a)
        found = function(numpy.where(missing, a.dtype.type(beyond), a), axis=axis, keepdims=keepdims)
        return numpy.where(numpy.all(missing, axis=axis, keepdims=keepdims), a.dtype.type(numpy.nan), found)
    return extreme


implements(numpy.nanmax)(nan_extreme(numpy.max, -numpy.inf))
implements(numpy.nanmin)(nan_extreme(numpy.min, numpy.inf))


def place_of(function):
    """The first place of the largest or smallest element, or of a NaN."""
    def place(a, axis=None, keepdims=False):
        flat = a.reshape(-1) if axis is None else a
        where = 0 if axis is None else axes_of(axis, a.ndim)[0]
        hit = numpy.equal(flat, function(flat, axis=where, keepdims=True))
        if a.dtype.kind == "f":
            hit = numpy.logical_or(hit, numpy.isnan(flat))
        n = flat.shape[where]
        index = numpy.arange(n).reshape([-1 if d == where else 1 for d in range(flat.ndim)])
        found = numpy.min(numpy.where(hit, index, n), axis=where)
        if not keepdims:
            return found
        return found.reshape([1 if axis is None or d == where else m for d, m in enumerate(a.shape)])
    return place


implements(numpy.argmax)(place_of(numpy.max))
implements(numpy.argmin)(place_of(numpy.min))


# -- products --

@implements(numpy.outer)
def outer(a, b):
    return numpy.multiply(numpy.ravel(a)[:, None], numpy.ravel(b)[None, :])


@implements(numpy.inner)
def inner(a, b):
    if numpy.ndim(a) == 0 or numpy.ndim(b) == 0:
        return numpy.multiply(a, b)
    if numpy.ndim(a) > 2 or numpy.ndim(b) > 2:
        raise TypeError("numpy.inner of more than two dimensions cannot be traced; matmul can")
    return numpy.matmul(a, numpy.transpose(b))


@implements(numpy.vdot)
def vdot(a, b):
    return numpy.matmul(numpy.ravel(a), numpy.ravel(b))


@implements(numpy.linalg.norm)
def norm(x, ord=None, axis=None, keepdims=False):
    x = x if x.dtype.kind == "f" else x.astype(float)
    vector = axis is not None and len(axes_of(axis, x.ndim)) == 1 or axis is None and (x.ndim == 1 or ord is None)
    if not vector and ord not in (None, "fro") or isinstance(ord, str) and ord != "fro":
        raise TypeError(f"numpy.linalg.norm of matrices with ord={ord!r} cannot be traced: those of vectors and \"fro\" can")
    if ord in (None, 2, "fro"):
        return numpy.sqrt(numpy.sum(x * x, axis=axis, keepdims=keepdims))
    if ord in (numpy.inf, -numpy.inf):
        return (numpy.max if ord > 0 else numpy.min)(numpy.abs(x), axis=axis, keepdims=keepdims)
    if ord == 0:
        return numpy.sum(numpy.not_equal(x, 0), axis=axis, keepdims=keepdims, dtype=x.dtype)
    powers = numpy.abs(x) if ord == 1 else numpy.abs(x) ** ord
    total = numpy.sum(powers, axis=axis, keepdims=keepdims)
    return total if ord == 1 else total ** (1.0 / ord)


@implements(numpy.polyval)
def polyval(p, x):
    result = numpy.zeros_like(x)
    for coefficient in p:
        result = result * x + coefficient
    return result


# -- of each element --

@implements(numpy.around, numpy.round, getattr(numpy, "round_", None))
def around(a, decimals=0):
    if a.dtype.kind != "f":
        if decimals < 0:
            raise TypeError("numpy.round of integers to tens cannot be traced")
        return a.copy()
    if decimals == 0:
        return numpy.rint(a)
    tens = a.dtype.type(10.0 ** abs(decimals))
    return numpy.rint(a * tens) / tens if decimals > 0 else numpy.rint(a / tens) * tens


@implements(numpy.fix)
def fix(x):
    return numpy.trunc(x)


@implements(numpy.select)
def select(condlist, choicelist, default=0):
    result = default
    for condition, choice in zip(reversed(list(condlist)), reversed(list(choicelist))):
        result = numpy.where(condition, choice, result)
    return result


@implements(numpy.isclose)
def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    near = numpy.less_equal(numpy.abs(numpy.subtract(a, b)), atol + rtol * numpy.abs(b))
    near = numpy.logical_or(numpy.logical_and(near, numpy.isfinite(b)), numpy.equal(a, b))
    return numpy.logical_or(near, numpy.logical_and(numpy.isnan(a), numpy.isnan(b))) if equal_nan else near


@implements(numpy.allclose)
def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return numpy.all(isclose(a, b, rtol, atol, equal_nan))


@implements(numpy.nan_to_num)
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    if x.dtype.kind != "f":
        return x.copy()
    info, of = numpy.finfo(x.dtype), x.dtype.type
    x = numpy.where(numpy.isnan(x), of(nan), x)
    x = numpy.where(numpy.equal(x, of(numpy.inf)), of(info.max if posinf is None else posinf), x)
    return numpy.where(numpy.equal(x, of(-numpy.inf)), of(info.min if neginf is None else neginf), x)


@implements(numpy.sinc)
def sinc(x):
    y = numpy.pi * numpy.where(numpy.equal(x, 0), x.dtype.type(1.0e-20) if x.dtype.kind == "f" else 1.0e-20, x)
    return numpy.sin(y) / y


@implements(numpy.real)
def real(val):
    return val


@implements(numpy.imag)
def imag(val):
    return numpy.zeros_like(val)


# -- views --

@implements(numpy.flip)
def flip(m, axis=None):
    axes = axes_of(axis, m.ndim)
    return m[tuple(slice(None, None, -1 if d in axes else 1) for d in range(m.ndim))]


@implements(numpy.flipud)
def flipud(m):
    return flip(m, 0)


@implements(numpy.fliplr)
def fliplr(m):
    return flip(m, 1)


@implements(numpy.rot90)
def rot90(m, k=1, axes=(0, 1)):
    k, (first, second) = k % 4, axes
    if k == 2:
        return flip(m, axes)
    turned = m if k == 0 else numpy.swapaxes(flip(m, second) if k == 1 else m, first, second)
    return flip(turned, second) if k == 3 else turned


@implements(numpy.diagonal)
def diagonal(a, offset=0, axis1=0, axis2=1):
    first, second = axes_of(axis1, a.ndim)[0], axes_of(axis2, a.ndim)[0]
    a = a.transpose([first, second, *(d for d in range(a.ndim) if d not in (first, second))])
    a = a[:, offset:] if offset >= 0 else a[-offset:]
    view = a._view()
    n = min(view.shape[:2])
    return Traced(a.trace, View(view.node, (*view.shape[2:], n), (*view.strides[2:], view.strides[0] + view.strides[1]),
                                view.offset), a.dtype)


@implements(numpy.trace)
def trace(a, offset=0, axis1=0, axis2=1, dtype=None):
    return numpy.sum(diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype)


@implements(numpy.tril)
def tril(m, k=0):
    return numpy.where(numpy.tri(*m.shape[-2:], k=k, dtype=bool), m, m.dtype.type(0))


@implements(numpy.triu)
def triu(m, k=0):
    return numpy.where(numpy.tri(*m.shape[-2:], k=k - 1, dtype=bool), m.dtype.type(0), m)


@implements(numpy.broadcast_arrays)
def broadcast_arrays(*args):
    shape = numpy.broadcast_shapes(*map(numpy.shape, args))
    return [numpy.broadcast_to(a, shape) for a in args]


@implements(numpy.meshgrid)
def meshgrid(*xi, indexing="xy"):
    n = len(xi)
    swapped = {0: 1, 1: 0} if indexing == "xy" and n > 1 else {}
    shaped = [numpy.reshape(x, [-1 if d == swapped.get(i, i) else 1 for d in range(n)]) for i, x in enumerate(xi)]
    return broadcast_arrays(*shaped)


@implements(numpy.atleast_1d)
def atleast_1d(ary):
    return ary if ary.ndim else ary.reshape(1)


@implements(numpy.atleast_2d)
def atleast_2d(ary):
    return ary if ary.ndim > 1 else atleast_1d(ary)[None]


@implements(numpy.array_split, numpy.split)
def split(ary, indices_or_sections, axis=0):
    n = ary.shape[axes_of(axis, ary.ndim)[0]]
    if hasattr(indices_or_sections, "__index__"):
        sections = indices_or_sections.__index__()
        ends = [n // sections * i + min(i, n % sections) for i in range(sections + 1)]
    else:
        ends = [0, *indices_or_sections, n]
    return [along(ary, axis, slice(begin, end)) for begin, end in zip(ends, ends[1:])]
