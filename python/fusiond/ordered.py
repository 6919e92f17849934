"""NumPy's functions that go along an axis in order, or put elements in order, of arrays that are traced."""
import numpy

from fusiond.array import Array
from fusiond.composed import along
from fusiond.expr import Traced, View, axes_of
from fusiond.known import implements

# -- sums so far --

_ACCUMULATED = (numpy.add, numpy.multiply, numpy.maximum, numpy.minimum, numpy.logical_and, numpy.logical_or)


def accumulate(ufunc, a, axis=0, dtype=None):
    if ufunc not in _ACCUMULATED:
        raise TypeError(f"numpy.{ufunc.__name__}.accumulate cannot be traced: those of "
                        f"{', '.join(f.__name__ for f in _ACCUMULATED)} can")
    axis = axes_of(axis, a.ndim)[0]
    result = ufunc.accumulate(numpy.zeros((1,), a.dtype), dtype=dtype).dtype
    if not a.size:
        return a.astype(result)
    a = numpy.not_equal(a, 0) if result.kind == "b" and a.dtype.kind != "b" else a
    return a.trace.add("accumulate", a.shape, result, op=ufunc.__name__, operands=[a._view()], axes=(axis,))


@implements(numpy.cumsum)
def cumsum(a, axis=None, dtype=None):
    return accumulate(numpy.add, *flat(a, axis), dtype)


@implements(numpy.cumprod, getattr(numpy, "cumproduct", None))
def cumprod(a, axis=None, dtype=None):
    return accumulate(numpy.multiply, *flat(a, axis), dtype)


@implements(numpy.nancumsum)
def nancumsum(a, axis=None, dtype=None):
    return cumsum(numpy.where(numpy.isnan(a), a.dtype.type(0), a), axis, dtype)


@implements(numpy.nancumprod)
def nancumprod(a, axis=None, dtype=None):
    return cumprod(numpy.where(numpy.isnan(a), a.dtype.type(1), a), axis, dtype)


def flat(a, axis):
    """The array and axis of a function that takes all elements as a line where no axis is given."""
    return (a.reshape(-1), 0) if axis is None else (a, axes_of(axis, a.ndim)[0])


# -- in order --

@implements(numpy.argsort)
def argsort(a, axis=-1, kind=None):
    """Always stable."""
    a, axis = flat(a, axis)
    if not a.size:
        return numpy.zeros_like(a, dtype=numpy.intp)
    keys = a.astype("u1") if a.dtype.kind == "b" else a
    halves = a.trace.add("argsort", (2, *a.shape), numpy.intp, operands=[keys._view()], axes=(axis,))
    return halves[(a.shape[axis] - 1).bit_length() % 2]  # there the last of the merges was


@implements(numpy.sort)
def sort(a, axis=-1, kind=None):
    a, axis = flat(a, axis)
    return numpy.take_along_axis(a, argsort(a, axis), axis) if a.size else a.copy()


@implements(numpy.quantile)
def quantile(a, q, axis=None, method="linear", keepdims=False):
    q = float(q) if isinstance(q, Traced) and not isinstance(q.value, View) else q  # which decides
    if method != "linear" or isinstance(q, Traced):
        raise TypeError(f"numpy.quantile {'of a traced q' if isinstance(q, Traced) else f'with method {method!r}'} cannot be "
                        "traced: with numbers as q, and method \"linear\", it can")
    if axis is not None and len(axes_of(axis, a.ndim)) > 1:
        raise TypeError("numpy.quantile along several axes cannot be traced: along one, or all, it can")
    dtype = numpy.quantile(numpy.zeros(1, a.dtype), q).dtype
    line, along_it = in_order(a, axis)
    found = [kept(between(line, along_it, share, dtype), a, axis, keepdims) for share in numpy.ravel(q).tolist()]
    return numpy.stack(found) if numpy.ndim(q) else found[0]


def in_order(a, axis):
    """Elements of floats in order, and the axis along which they are."""
    if not a.size:
        raise ValueError("a quantile of no elements")
    a, axis = flat(a, axis)
    return sort(a if a.dtype.kind == "f" else a.astype(float), axis), axis


def kept(result, a, axis, keepdims):
    """With the dimension of which there is one result, where it is to be kept."""
    if not keepdims:
        return result
    gone = axes_of(axis, a.ndim)
    return result.reshape([1 if d in gone else n for d, n in enumerate(a.shape)])


def or_nan(line, axis, value):
    """NaN where one is among the elements."""
    last = along(line, axis, -1)
    return numpy.where(numpy.isnan(last), last, value)


def between(line, axis, share, dtype):
    """Of elements in order, what is so far on from the first to the last."""
    if not 0 <= share <= 1:
        raise ValueError("Quantiles must be in the range [0, 1]")
    n = line.shape[axis]
    low = min(int(share * (n - 1)), n - 1)
    part = dtype.type(share * (n - 1) - low)
    a, b = along(line, axis, low), along(line, axis, min(low + 1, n - 1))
    step = (b - a).astype(dtype)
    return or_nan(line, axis, b - step * (1 - part) if part >= 0.5 else a + step * part)


@implements(numpy.percentile)
def percentile(a, q, axis=None, method="linear", keepdims=False):
    q = q if isinstance(q, Traced) and isinstance(q.value, View) else numpy.asarray(q) / 100
    return quantile(a, q, axis, method, keepdims)


@implements(numpy.median)
def median(a, axis=None, keepdims=False):
    if axis is not None and len(axes_of(axis, a.ndim)) > 1:
        raise TypeError("numpy.median along several axes cannot be traced: along one, or all, it can")
    line, along_it = in_order(a, axis)
    n = line.shape[along_it]
    middle = along(line, along_it, slice((n - 1) // 2, n // 2 + 1))
    return kept(or_nan(line, along_it, numpy.mean(middle, axis=along_it)), a, axis, keepdims)


# -- places in what is in order --

@implements(numpy.searchsorted)
def searchsorted(a, v, side="left"):
    trace = next(x.trace for x in (a, v) if isinstance(x, Traced))
    a, v = trace.traced(a), trace.traced(v)
    if a.ndim != 1 or side not in ("left", "right"):
        raise ValueError(f"numpy.searchsorted in {a.ndim} dimensions, of side {side!r}: it is in one, \"left\" or \"right\"")
    if not a.size or not v.size:
        return numpy.zeros_like(v, dtype=numpy.intp)
    compute = numpy.result_type(a.dtype, v.dtype)
    a, v = (x.astype(compute if compute.kind != "b" else "u1") for x in (a, v))
    line, values = a._view(), v._view()
    base = View(line.node, v.shape, [0] * v.ndim, line.offset)
    return trace.add("apply", v.shape, numpy.intp, op="searchsorted", operands=[base, values], compute=v.dtype,
                     axes=(line.strides[0], a.size, side))


@implements(numpy.digitize)
def digitize(x, bins, right=False):
    if isinstance(bins, Traced):
        raise TypeError("numpy.digitize by traced bins cannot be traced, as it depends on their order: numpy.searchsorted can")
    bins, side = numpy.asarray(bins), "left" if right else "right"
    if len(bins) > 1 and bins[0] > bins[-1]:
        return len(bins) - searchsorted(bins[::-1].copy(), x, side)
    return searchsorted(bins, x, side)


@implements(numpy.interp)
def interp(x, xp, fp, left=None, right=None, period=None):
    trace = next(v.trace for v in (x, xp, fp) if isinstance(v, Traced))
    known = (v if isinstance(v, (Traced, Array)) else numpy.asarray(v, float) for v in (x, xp, fp))
    x, xp, fp = (trace.traced(v).astype(float) for v in known)
    if xp.ndim != 1 or xp.shape != fp.shape or not xp.size:
        raise ValueError(f"numpy.interp between points of shapes {xp.shape} and {fp.shape}")
    if period is not None:
        x, xp, fp = periodic(x, xp, fp, abs(period))
    n = xp.size
    place = searchsorted(xp, x, "right")
    low = numpy.clip(place - 1, 0, max(n - 2, 0))
    high = numpy.minimum(low + 1, n - 1)
    x0, x1, y0, y1 = xp[low], xp[high], fp[low], fp[high]
    slope = (y1 - y0) / (x1 - x0)
    value = slope * (x - x0) + y0
    value = numpy.where(numpy.isnan(value), slope * (x - x1) + y1, value)
    value = numpy.where(numpy.logical_and(numpy.isnan(value), numpy.equal(y0, y1)), y0, value)
    value = numpy.where(numpy.equal(x, xp[n - 1]), fp[n - 1], value)
    value = numpy.where(x > xp[n - 1], fp[n - 1] if right is None or period is not None else right, value)
    value = numpy.where(x < xp[0], fp[0] if left is None or period is not None else left, value)
    return numpy.where(numpy.isnan(x), x, value)


def periodic(x, xp, fp, period):
    """Points of one period in order, with one more at each end."""
    xp = xp % period
    order = argsort(xp)
    xp, fp = xp[order], fp[order]
    xp = numpy.concatenate([xp[-1:] - period, xp, xp[:1] + period])
    return x % period, xp, numpy.concatenate([fp[-1:], fp, fp[:1]])
