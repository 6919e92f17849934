"""Array expressions as they are traced: values of known shape and dtype, without contents."""
from __future__ import annotations

import math
from typing import Any, Tuple

import numpy


class Node:
    """What is computed and stored: an array in the order of its shape, without gaps. ``kind``: "input", "apply" (an
    operation on each element), "reduce" (over some dimensions of its operand), "accumulate" or "argsort" (along one), or
    "matmul"."""

    def __init__(self, kind, shape, dtype, op=None, operands=(), axes=(), compute=None):
        self.kind, self.shape, self.dtype = kind, tuple(shape), numpy.dtype(dtype)
        self.op, self.operands, self.axes = op, list(operands), tuple(axes)
        self.compute = numpy.dtype(compute) if compute is not None else self.dtype  # what operands are converted to
        self.size = math.prod(self.shape)


class Decides(Exception):
    """A number among the arguments decides what the function does, as an axis or a count of rounds: its value is a part
    of the graph then."""

    def __init__(self, index):
        super().__init__(index)
        self.index = index


class Scalar:
    """A number that the function is called with."""

    def __init__(self, index, dtype):
        self.index, self.dtype = index, numpy.dtype(dtype)


class Const:
    """A number of the function's own."""

    def __init__(self, value):
        self.value = value


class View:
    """Elements of a node: strides and offset count elements."""

    def __init__(self, node, shape, strides, offset=0):
        self.node, self.shape, self.strides, self.offset = node, tuple(shape), tuple(strides), offset

    @classmethod
    def whole(cls, node):
        return cls(node, node.shape, dense(node.shape))

    @property
    def is_whole(self):
        """All of the node in its order?"""
        return (math.prod(self.shape) == self.node.size and self.offset == 0
                and all(n == 1 or s == t for n, s, t in zip(self.shape, self.strides, dense(self.shape))))

    def broadcast(self, shape):
        missing = len(shape) - len(self.shape)
        strides = [0] * missing + [0 if n == 1 else s for n, s in zip(self.shape, self.strides)]
        return View(self.node, shape, strides, self.offset)

    def transpose(self, axes):
        return View(self.node, [self.shape[a] for a in axes], [self.strides[a] for a in axes], self.offset)

    def index(self, key):
        key = key if isinstance(key, tuple) else (key,)
        given = sum(k is not None and k is not Ellipsis for k in key)
        if given > len(self.shape):
            raise IndexError(f"{given} indices for {len(self.shape)} dimensions")
        if Ellipsis not in [k for k in key if not hasattr(k, "shape")]:
            key = (*key, Ellipsis)
        shape, strides, offset, d = [], [], self.offset, 0
        for k in key:
            if k is None:
                shape, strides = [*shape, 1], [*strides, 0]
            elif k is Ellipsis:
                rest = len(self.shape) - given
                shape, strides = [*shape, *self.shape[d:d + rest]], [*strides, *self.strides[d:d + rest]]
                d += rest
            elif isinstance(k, slice):
                start, stop, step = k.indices(self.shape[d])
                shape.append(len(range(start, stop, step)))
                strides.append(self.strides[d] * step)
                offset += start * self.strides[d]
                d += 1
            elif hasattr(k, "__index__") and not getattr(k, "shape", ()):
                i = k.__index__()
                if not -self.shape[d] <= i < self.shape[d]:
                    raise IndexError(f"index {i} in a dimension of {self.shape[d]}")
                offset += i % self.shape[d] * self.strides[d]
                d += 1
            else:
                raise TypeError("an index of a traced array is a number, slice, None, ... or an array of integers, not "
                                f"{type(k).__name__}")
        return View(self.node, shape, strides, offset)


def dense(shape):
    """Strides of an array without gaps."""
    strides = []
    for n in reversed(shape):
        strides.insert(0, 1 if not strides else strides[0] * following)
        following = n
    return tuple(strides)


def axes_of(axis, ndim):
    """Dimensions that a function was given, from 0 on, in order."""
    if axis is None:
        return tuple(range(ndim))
    given = [a.__index__() for a in (axis if hasattr(axis, "__iter__") else (axis,))]
    if any(not -ndim <= a < ndim for a in given) or len({a % ndim for a in given}) < len(given):
        raise ValueError(f"axis {axis} of an array of {ndim} dimensions")
    return tuple(sorted(a % ndim for a in given))


class Trace:
    """What a function does with its arguments."""

    def __init__(self, capture, checked=False):
        self.inputs, self.nodes = [], []
        self.checked = checked  # the service finds indices that are outside
        self.capture = capture  # called with an array of the function's own: makes it an input

    def input(self, shape, dtype):
        node = Node("input", shape, dtype)
        self.inputs.append(node)
        return Traced(self, View.whole(node), node.dtype)

    def add(self, *args, **options):
        node = Node(*args, **options)
        self.nodes.append(node)
        return Traced(self, View.whole(node), node.dtype)

    def traced(self, value):
        """Anything to compute with, as a traced array."""
        if isinstance(value, Traced):
            return value
        dtype = value.dtype if hasattr(value, "dtype") else numpy.asarray(value).dtype
        return Traced(self, self.operand(value), dtype)

    def operand(self, value):
        """A Traced, Const, or numbers, as an operand; its shape."""
        if isinstance(value, Traced):
            if value.trace is not self:
                raise TypeError("a traced array of another function")
            return value.value
        if isinstance(value, (bool, int, float, numpy.generic)):
            return Const(value)
        array = numpy.asarray(value)
        if array.dtype.kind not in "biuf":
            raise TypeError(f"{type(value).__name__} is nothing to compute with")
        return Const(array[()]) if array.ndim == 0 else self.capture(array).value

    def apply(self, op, values, dtype, compute=None):
        shape = numpy.broadcast_shapes(*(numpy.shape(v) for v in values))
        operands = [self.operand(v) for v in values]
        operands = [o.broadcast(shape) if isinstance(o, View) else o for o in operands]
        return self.add("apply", shape, dtype, op=op, operands=operands, compute=compute)

    def reduce(self, op, value, axis, keepdims, dtype, compute=None):
        axes = axes_of(axis, value.ndim)
        source = value if isinstance(value.value, View) else self.apply("positive", [value], value.dtype)
        kept = [n for d, n in enumerate(source.shape) if d not in axes]
        out = self.add("reduce", kept, dtype, op=op, operands=[source.value], axes=axes, compute=compute)
        return out.reshape([1 if d in axes else n for d, n in enumerate(source.shape)]) if keepdims else out


class Traced(numpy.lib.mixins.NDArrayOperatorsMixin):
    """An array in a function that is traced: it has a shape and a dtype, and no contents yet. NumPy's operators and
    functions make new ones of it."""

    shape: Tuple[int, ...]
    dtype: numpy.dtype

    def __init__(self, trace: Any, value: Any, dtype: Any, weak: bool = False) -> None:
        self.trace, self.value, self.dtype = trace, value, numpy.dtype(dtype)
        self.weak = weak  # a Python number: it does not decide about dtypes
        self.shape = value.shape if isinstance(value, View) else ()

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)

    @property
    def T(self) -> Traced:
        """Transposed: all dimensions the other way round."""
        return self.transpose()

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def real(self) -> Traced:
        """Itself: there are no complex numbers here."""
        return self

    def __getattr__(self, name: str) -> Any:
        if hasattr(numpy.ndarray, name) and not name.startswith("__"):
            made = ": it cannot be changed, numpy.sort() makes another one" if name == "sort" else \
                ": it has operators, reductions along axes, indices and views of elements"
            raise AttributeError(f"a traced array has no {name}{made}")
        raise AttributeError(f"a traced array has no {name}")

    # What NumPy asks for makes traced arrays, so those functions know this class, and this class finds them late.

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        from fusiond import functions
        return functions.call_ufunc(self.trace, ufunc, method, inputs, options)

    def __array_function__(self, function, types, args, kwargs):
        from fusiond import functions
        return functions.call_function(function, args, kwargs)

    def __bool__(self):
        if isinstance(self.value, Scalar):
            raise Decides(self.value.index)
        raise TypeError("what is traced has no contents yet: no if, while, and, or on them; numpy.where chooses by element")

    __int__ = __float__ = __index__ = __bool__

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError("a traced array cannot be changed: numpy.where makes another one")

    def __array__(self, *_):
        if isinstance(self.value, Scalar):
            raise Decides(self.value.index)
        raise TypeError("what is traced has no contents yet, and cannot become a NumPy array; a list of such values is made one "
                        "by numpy.stack")

    def __len__(self) -> int:
        if isinstance(self.value, Scalar):
            raise Decides(self.value.index)
        if not self.shape:
            raise TypeError("an array without dimensions has no length")
        return self.shape[0]

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __repr__(self):
        return f"<traced {self.dtype} {self.shape}>"

    # -- views --

    def _viewed(self, view):
        return Traced(self.trace, view, self.dtype)

    def _view(self):
        return self.value if isinstance(self.value, View) else self.copy().value

    def __getitem__(self, key: Any) -> Traced:
        from fusiond import indices
        return indices.get(self, key)

    def transpose(self, *axes: Any) -> Traced:
        """With dimensions in another order, as numpy.transpose()."""
        given = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        order = [a % self.ndim for a in given] if given else range(self.ndim)[::-1]
        return self._viewed(self._view().transpose(order))

    def reshape(self, *shape: Any) -> Traced:
        """The same elements in another shape; one size may be -1."""
        given = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        wanted = [n.__index__() for n in given]
        if -1 in wanted:
            known = -math.prod(wanted)
            wanted[wanted.index(-1)] = self.size // known if known else 0
        if math.prod(wanted) != self.size:
            raise ValueError(f"cannot reshape array of size {self.size} into shape {tuple(wanted)}")
        view = self._view()
        if not view.is_whole:
            view = self.copy().value
        return self._viewed(View(view.node, wanted, dense(wanted)))

    def ravel(self) -> Traced:
        """The elements in one dimension."""
        return self.reshape(-1)

    flatten = ravel

    def squeeze(self, axis: Any = None) -> Traced:
        """Without dimensions of size 1, as numpy.squeeze()."""
        drop = [d for d in (range(self.ndim) if axis is None else axes_of(axis, self.ndim)) if self.shape[d] == 1]
        return self[tuple(0 if d in drop else slice(None) for d in range(self.ndim))]

    def copy(self) -> Traced:
        """Computed by itself: an array without gaps."""
        return self.trace.apply("positive", [self], self.dtype)

    def astype(self, dtype: Any) -> Traced:
        """With elements of another dtype."""
        return self if numpy.dtype(dtype) == self.dtype else self.trace.apply("positive", [self], dtype)

    # -- reductions --

    def sum(self, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        """Sums, over all dimensions or some, as numpy.sum()."""
        return numpy.sum(self, axis=axis, dtype=dtype, keepdims=keepdims)

    def prod(self, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        """Products, over all dimensions or some, as numpy.prod()."""
        return numpy.prod(self, axis=axis, dtype=dtype, keepdims=keepdims)

    def mean(self, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        """Means, over all dimensions or some, as numpy.mean()."""
        return numpy.mean(self, axis=axis, dtype=dtype, keepdims=keepdims)

    def var(self, axis: Any = None, dtype: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
        """Variances, over all dimensions or some, as numpy.var()."""
        return numpy.var(self, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims)

    def std(self, axis: Any = None, dtype: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
        """Standard deviations, over all dimensions or some, as numpy.std()."""
        return numpy.std(self, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> Any:
        """The largest, over all dimensions or some, as numpy.max()."""
        return numpy.max(self, axis=axis, keepdims=keepdims)

    def min(self, axis: Any = None, keepdims: bool = False) -> Any:
        """The smallest, over all dimensions or some, as numpy.min()."""
        return numpy.min(self, axis=axis, keepdims=keepdims)

    def any(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Whether there is one that is not 0, over all dimensions or some, as numpy.any()."""
        return numpy.any(self, axis=axis, keepdims=keepdims)

    def all(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Whether none is 0, over all dimensions or some, as numpy.all()."""
        return numpy.all(self, axis=axis, keepdims=keepdims)

    def argmax(self, axis: Any = None, keepdims: bool = False) -> Any:
        """The place of the largest, as numpy.argmax()."""
        return numpy.argmax(self, axis=axis, keepdims=keepdims)

    def argmin(self, axis: Any = None, keepdims: bool = False) -> Any:
        """The place of the smallest, as numpy.argmin()."""
        return numpy.argmin(self, axis=axis, keepdims=keepdims)

    def cumsum(self, axis: Any = None, dtype: Any = None) -> Any:
        """Sums so far, as numpy.cumsum()."""
        return numpy.cumsum(self, axis=axis, dtype=dtype)

    def cumprod(self, axis: Any = None, dtype: Any = None) -> Any:
        """Products so far, as numpy.cumprod()."""
        return numpy.cumprod(self, axis=axis, dtype=dtype)

    def argsort(self, axis: Any = -1, kind: Any = None) -> Any:
        """Places in the order of their elements, as numpy.argsort() with kind "stable"."""
        return numpy.argsort(self, axis=axis, kind=kind)

    def searchsorted(self, v: Any, side: Any = "left") -> Any:
        """Where values belong among its elements, which are in order, as numpy.searchsorted()."""
        return numpy.searchsorted(self, v, side=side)

    def take(self, indices: Any, axis: Any = None, mode: Any = "raise") -> Any:
        """Elements of those places, as numpy.take()."""
        return numpy.take(self, indices, axis=axis, mode=mode)

    def repeat(self, repeats: Any, axis: Any = None) -> Any:
        """Each element several times, as numpy.repeat()."""
        return numpy.repeat(self, repeats, axis=axis)

    def ptp(self, axis: Any = None, keepdims: bool = False) -> Any:
        """The largest less the smallest, as numpy.ptp()."""
        return numpy.ptp(self, axis=axis, keepdims=keepdims)

    def round(self, decimals: int = 0) -> Any:
        """Rounded, as numpy.round()."""
        return numpy.around(self, decimals)

    def conj(self) -> Traced:
        """Itself: there are no complex numbers here."""
        return self

    conjugate = conj

    def swapaxes(self, axis1: int, axis2: int) -> Any:
        """With two dimensions exchanged, as numpy.swapaxes()."""
        return numpy.swapaxes(self, axis1, axis2)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        """As numpy.diagonal()."""
        return numpy.diagonal(self, offset, axis1, axis2)

    def clip(self, min: Any = None, max: Any = None) -> Any:
        """Elements no less and no more than that, as numpy.clip()."""
        return numpy.clip(self, min, max)

    def dot(self, other: Any) -> Any:
        """As numpy.dot()."""
        return numpy.dot(self, other)
