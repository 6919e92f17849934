"""NumPy's functions on traced arrays."""
import inspect
import math

import numpy

from fusiond import composed, einsum, indices, joined, neighbours  # noqa: F401: these implement functions, too
from fusiond import operations, ordered, refused
from fusiond.expr import Traced, axes_of
from fusiond.known import FUNCTIONS, implements

_REDUCTIONS = {"add": "add", "multiply": "multiply", "maximum": "maximum", "minimum": "minimum",
               "logical_and": "logical_and", "logical_or": "logical_or"}


def sample(value):
    """Something with its dtype, and with its part in NumPy's choice of a dtype, but without elements."""
    if isinstance(value, Traced):
        if value.weak:
            return value.dtype.type(1).item()
        return numpy.zeros((0,) * value.ndim, value.dtype)
    return numpy.zeros((0,), value.dtype) if getattr(value, "ndim", 0) else value


def dtypes_of(ufunc, values):
    """The dtype of NumPy's result, and the one in which it computes."""
    samples = [sample(v) for v in values]
    samples = [s.reshape(-1)[:0] if getattr(s, "ndim", 0) else s for s in samples]
    with numpy.errstate(all="ignore"):
        result = numpy.asarray(ufunc(*samples)).dtype
    if result.kind == "b" and ufunc.__name__ not in ("logical_not",):
        compute = numpy.result_type(*samples)
        ordered = ufunc.__name__ in ("greater", "greater_equal", "less", "less_equal")
        return result, numpy.dtype("u1") if ordered and compute.kind == "b" else compute
    return result, result


def call_ufunc(trace, ufunc, method, inputs, options):
    out = options.pop("out", None)
    dtype = options.pop("dtype", None)
    if method == "reduce":
        return reduce_by(trace, ufunc, inputs[0], options, dtype)
    if out is not None:
        raise TypeError(f"{ufunc.__name__}: a traced array cannot be changed: write x = x + y for x += y")
    if method == "accumulate":
        return ordered.accumulate(ufunc, *inputs, dtype=dtype, **options)
    if method == "outer" and not options and dtype is None:
        a, b = inputs
        return ufunc(numpy.reshape(a, numpy.shape(a) + (1,) * numpy.ndim(b)), b)
    if method != "__call__":
        raise TypeError(f"numpy.{ufunc.__name__}.{method} cannot be traced: calls, reduce, accumulate and outer can")
    if options:
        raise TypeError(f"numpy.{ufunc.__name__} with {', '.join(options)} cannot be traced; numpy.where chooses by element")
    if ufunc is numpy.matmul:
        return matmul(trace, *inputs)
    if ufunc is numpy.power and isinstance(inputs[0], Traced) and type(inputs[1]) in (int, float):
        simple = {2: numpy.square, 1: numpy.positive, 0.5: numpy.sqrt, -1: numpy.reciprocal}.get(inputs[1])
        if simple and inputs[0].dtype.kind == "f":
            return simple(inputs[0])
        if isinstance(inputs[1], int) and inputs[1] >= 0 and inputs[0].dtype.kind in "iu":
            return integer_power(inputs[0], inputs[1])
    if ufunc is numpy.power and as_dtype(inputs[0]).kind in "iu" and isinstance(inputs[1], Traced) and inputs[1].weak:
        bool(inputs[1])  # it decides how often is multiplied
    own = UFUNCS.get(ufunc)
    if own:
        return own(*inputs)
    if not operations.has(ufunc.__name__):
        raise TypeError(f"numpy.{ufunc.__name__} cannot be traced")
    result, compute = dtypes_of(ufunc, inputs)
    if ufunc is numpy.power and compute.kind == "i" and as_dtype(inputs[1]).kind == "i":
        raise TypeError("powers of integers by signed integers cannot be traced, as negative ones are errors of NumPy's: "
                        "astype(\"u4\") says that there are none; or use floats")
    if dtype is not None:
        result = compute = numpy.dtype(dtype)
    if ufunc in (numpy.logaddexp, numpy.logaddexp2) and compute.itemsize < 8:
        compute = numpy.dtype("f4" if compute.itemsize < 4 else "f8")  # the last product would cost half a unit more
    return trace.apply(ufunc.__name__, inputs, result, compute)


def integer_power(base, exponent):
    """By squaring. What wraps wraps as NumPy's."""
    result = numpy.ones_like(base)
    while exponent:
        if exponent & 1:
            result = result * base
        exponent >>= 1
        base = base * base if exponent else base
    return result


# -- ufuncs that are made of others --

def ldexp(x, exponent):
    """Exponents of 64 bits are cut where the result is 0 or infinite anyway."""
    x, exponent = (v if isinstance(v, Traced) else numpy.asarray(v) for v in (x, exponent))
    result, compute = dtypes_of(numpy.ldexp, (x, exponent))
    if exponent.dtype.itemsize == 8:
        exponent = numpy.clip(exponent, -10000, 10000)
    return trace_of(x, exponent).apply("ldexp", [x, exponent], result, compute)


def trace_of(*values):
    return next(v.trace for v in values if isinstance(v, Traced))


def frexp(x):
    dtype = numpy.frexp(sample(x))[0].dtype
    return (x.trace.apply("frexp_mant", [x], dtype), x.trace.apply("frexp_exp", [x], numpy.dtype("i4"), dtype))


def modf(x):
    dtype = numpy.modf(sample(x))[0].dtype
    return x.trace.apply("modf_fract", [x], dtype), x.trace.apply("trunc", [x], dtype)


def spacing(x):
    """To the next number away from zero; of f16 NumPy's is to the next one above."""
    x = x.astype(numpy.spacing(sample(x)).dtype)
    return numpy.nextafter(x, numpy.inf if x.dtype == numpy.float16 else numpy.copysign(numpy.inf, x)) - x + (x - x)


def divmod_(x, y):
    return numpy.floor_divide(x, y), numpy.remainder(x, y)


UFUNCS = {numpy.ldexp: ldexp, numpy.frexp: frexp, numpy.modf: modf, numpy.spacing: spacing, numpy.divmod: divmod_}


# -- reductions --

def reduce_by(trace, ufunc, value, options, dtype=None):
    axis = options.pop("axis", 0)
    keepdims = options.pop("keepdims", False)
    if ufunc.__name__ not in _REDUCTIONS or any(v is not numpy._NoValue and v is not None for v in options.values()):
        given = ", ".join(k for k, v in options.items() if v is not numpy._NoValue and v is not None)
        raise TypeError(f"numpy.{ufunc.__name__}.reduce{' with ' + given if given else ''} cannot be traced: those of "
                        f"{', '.join(_REDUCTIONS)} can, with axis, dtype and keepdims")
    return reduction(value, ufunc, axis, dtype, keepdims)


def reduction(value, ufunc, axis, dtype, keepdims):
    with numpy.errstate(all="ignore"):
        result = ufunc.reduce(numpy.zeros((1,), value.dtype), dtype=dtype).dtype
    compute = numpy.float32 if result == numpy.float16 and ufunc in (numpy.add, numpy.multiply) else result
    if 0 in value.shape and ufunc.identity is None:
        raise ValueError(f"zero-size array to reduction operation {ufunc.__name__} which has no identity")
    return value.trace.reduce(ufunc.__name__, value, axis, bool(keepdims), result, compute)


def count_of(value, axis):
    return math.prod(value.shape[d] for d in axes_of(axis, value.ndim))


def matmul(trace, a, b):
    a, b = (trace.traced(v) for v in (a, b))
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("matmul of a number")
    left, right = a if a.ndim > 1 else a[None, :], b if b.ndim > 1 else b[:, None]
    if left.shape[-1] != right.shape[-2]:
        raise ValueError(f"matmul of shapes {a.shape} and {b.shape}: {left.shape[-1]} and {right.shape[-2]} differ")
    batch = numpy.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    dtype = numpy.result_type(a.dtype, b.dtype)
    if dtype.kind == "b":
        raise TypeError("matmul of bools cannot be traced")
    operands = [v._view().broadcast((*batch, *v.shape[-2:])) for v in (left, right)]
    out = trace.add("matmul", (*batch, left.shape[-2], right.shape[-1]), dtype, operands=operands)
    if b.ndim == 1:
        out = out[..., 0]
    return out[..., 0, :] if a.ndim == 1 and b.ndim > 1 else out[..., 0] if a.ndim == 1 else out


# -- functions that are no ufuncs --

def call_function(function, args, kwargs):
    own = FUNCTIONS.get(function)
    if own is None:
        raise TypeError(refused.message(function))
    kwargs = {k: v for k, v in kwargs.items() if v is not numpy._NoValue}
    known = inspect.signature(own).parameters
    strange = [k for k in kwargs if k not in known]
    if strange and all(p.kind is not p.VAR_KEYWORD for p in known.values()):
        raise TypeError(f"numpy.{function.__name__} with {', '.join(strange)} cannot be traced: with {', '.join(known)} it can")
    return own(*args, **kwargs)


@implements(numpy.sum)
def sum_(a, axis=None, dtype=None, keepdims=False):
    return reduction(a, numpy.add, axis, dtype, keepdims)


@implements(numpy.prod)
def prod(a, axis=None, dtype=None, keepdims=False):
    return reduction(a, numpy.multiply, axis, dtype, keepdims)


@implements(numpy.max, numpy.amax)
def max_(a, axis=None, keepdims=False):
    return reduction(a, numpy.maximum, axis, None, keepdims)


@implements(numpy.min, numpy.amin)
def min_(a, axis=None, keepdims=False):
    return reduction(a, numpy.minimum, axis, None, keepdims)


@implements(numpy.any)
def any_(a, axis=None, keepdims=False):
    return reduction(a, numpy.logical_or, axis, None, keepdims)


@implements(numpy.all)
def all_(a, axis=None, keepdims=False):
    return reduction(a, numpy.logical_and, axis, None, keepdims)


@implements(numpy.mean)
def mean(a, axis=None, dtype=None, keepdims=False):
    result = numpy.dtype(dtype or (a.dtype if a.dtype.kind == "f" else float))
    inner = numpy.dtype(numpy.float32) if result == numpy.float16 else result
    total = reduction(a, numpy.add, axis, inner, keepdims)
    return (total / inner.type(max(count_of(a, axis), 1))).astype(result)


@implements(numpy.var)
def var(a, axis=None, dtype=None, ddof=0, keepdims=False):
    result = numpy.dtype(dtype or (a.dtype if a.dtype.kind == "f" else float))
    inner = numpy.dtype(numpy.float32) if result == numpy.float16 else result
    apart = a.astype(inner) - mean(a, axis, inner, True)
    total = reduction(numpy.square(apart), numpy.add, axis, inner, keepdims)
    return (total / inner.type(max(count_of(a, axis) - ddof, 0))).astype(result)


@implements(numpy.std)
def std(a, axis=None, dtype=None, ddof=0, keepdims=False):
    return numpy.sqrt(var(a, axis, dtype, ddof, keepdims))


@implements(numpy.where)
def where(condition, x=None, y=None):
    if x is None or y is None:
        raise TypeError("numpy.where with one argument, whose shape depends on contents, cannot be traced")
    trace = next(v.trace for v in (condition, x, y) if isinstance(v, Traced))
    samples = [sample(v) for v in (x, y)]
    dtype = numpy.result_type(*[s.reshape(-1)[:0] if getattr(s, "ndim", 0) else s for s in samples])
    return trace.apply("where", [numpy.not_equal(condition, 0) if as_dtype(condition).kind != "b" else condition, x, y],
                       dtype)


def as_dtype(value):
    return value.dtype if hasattr(value, "dtype") else numpy.asarray(value).dtype


@implements(numpy.clip)
def clip(a, a_min=None, a_max=None):
    a = a if a_min is None else numpy.maximum(a, a_min)
    return a if a_max is None else numpy.minimum(a, a_max)


@implements(numpy.reshape)
def reshape(a, shape=None, newshape=None):
    return a.reshape(newshape if shape is None else shape)


@implements(numpy.ravel)
def ravel(a):
    return a.ravel()


@implements(numpy.transpose)
def transpose(a, axes=None):
    return a.transpose(axes) if axes is not None else a.transpose()


@implements(numpy.swapaxes)
def swapaxes(a, axis1, axis2):
    axes = list(range(a.ndim))
    axes[axis1], axes[axis2] = axes[axis2], axes[axis1]
    return a.transpose(axes)


@implements(numpy.moveaxis)
def moveaxis(a, source, destination):
    axes = [d for d in range(a.ndim) if d != source % a.ndim]
    axes.insert(destination % a.ndim, source % a.ndim)
    return a.transpose(axes)


@implements(numpy.expand_dims)
def expand_dims(a, axis):
    new = axis if isinstance(axis, (tuple, list)) else (axis,)
    new = axes_of(new, a.ndim + len(new))
    return a[tuple(None if d in new else slice(None) for d in range(a.ndim + len(new)))]


@implements(numpy.squeeze)
def squeeze(a, axis=None):
    return a.squeeze(axis)


@implements(numpy.broadcast_to)
def broadcast_to(array, shape):
    return Traced(array.trace, array._view().broadcast(tuple(shape)), array.dtype)


@implements(numpy.dot)
def dot(a, b):
    if numpy.ndim(a) == 0 or numpy.ndim(b) == 0:
        return numpy.multiply(a, b)
    if numpy.ndim(a) > 2 or numpy.ndim(b) > 2:
        raise TypeError("numpy.dot of more than two dimensions cannot be traced; matmul can")
    return numpy.matmul(a, b)


@implements(numpy.zeros_like, numpy.empty_like)
def zeros_like(a, dtype=None):
    return full_like(a, 0, dtype)


@implements(numpy.ones_like)
def ones_like(a, dtype=None):
    return full_like(a, 1, dtype)


@implements(numpy.full_like)
def full_like(a, fill_value, dtype=None):
    dtype = numpy.dtype(dtype or a.dtype)
    number = a.trace.apply("positive", [fill_value], dtype)
    return Traced(a.trace, number.value.broadcast(a.shape), dtype)


@implements(numpy.copy)
def copy(a):
    return a.copy()


@implements(numpy.shape)
def shape(a):
    return a.shape


@implements(numpy.ndim)
def ndim(a):
    return a.ndim


@implements(numpy.size)
def size(a, axis=None):
    return a.size if axis is None else a.shape[axis]


