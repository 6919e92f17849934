"""Arrays in memory that kernels use."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional, Sequence, Tuple, Union

import numpy
import numpy.typing

from fusiond._binding import ffi, lib
from fusiond.errors import check

if TYPE_CHECKING:
    from fusiond.session import Session

Shape = Union[int, Iterable[int]]
DType = numpy.typing.DTypeLike
NDArray = numpy.ndarray  # arrays of this package have a method numpy()

_TYPES = {
    "b1": lib.FUSION_U8, "i1": lib.FUSION_I8, "i2": lib.FUSION_I16, "i4": lib.FUSION_I32, "i8": lib.FUSION_I64,
    "u1": lib.FUSION_U8, "u2": lib.FUSION_U16, "u4": lib.FUSION_U32, "u8": lib.FUSION_U64,
    "f2": lib.FUSION_F16, "f4": lib.FUSION_F32, "f8": lib.FUSION_F64,
}


_DTYPES = {value: name for name, value in _TYPES.items() if name != "b1"}


def type_of(dtype: DType) -> int:
    """The service's element type of a NumPy dtype."""
    dtype = numpy.dtype(dtype)
    name = f"{dtype.kind}{dtype.itemsize}"
    if name not in _TYPES or not dtype.isnative:
        raise TypeError(f"kernels have no elements of dtype {dtype}")
    return _TYPES[name]


def create_buffer(session: Session, dtype: DType, count: int, properties: int = 0, name: Optional[str] = None) -> Any:
    """A buffer of the library, to be destroyed by who holds it."""
    out = ffi.new("fusion_buffer **")
    text = name.encode() if name else ffi.NULL
    check(lib.fusion_buffer_create(session.handle, text, type_of(dtype), max(count, 1), properties, out))
    return out[0]


class Pool:
    """Buffers of arrays that have gone, for arrays of the same type and size to come: new memory has to be mapped and
    zeroed by the system in two processes, which takes longer than many a computation."""

    LIMIT = 512 << 20  # bytes that are kept
    LEAST = 1 << 16  # what the smallest counts as, so that there are not too many

    def __init__(self) -> None:
        self.free: Dict[Tuple[str, int], List[Any]] = {}
        self.nbytes = 0

    def counted(self, dtype: numpy.dtype, count: int) -> int:
        """What such a buffer counts as."""
        return max(count * dtype.itemsize, self.LEAST)

    def take(self, dtype: numpy.dtype, count: int) -> Any:
        """A buffer of that type and size, None where there is none."""
        kept = self.free.get((dtype.str, count))
        if not kept:
            return None
        self.nbytes -= self.counted(dtype, count)
        return kept.pop()

    def give(self, dtype: numpy.dtype, count: int, buffer: Any) -> bool:
        """False: there is no room."""
        nbytes = self.counted(dtype, count)
        if self.nbytes + nbytes > self.LIMIT:
            return False
        self.free.setdefault((dtype.str, count), []).append(buffer)
        self.nbytes += nbytes
        return True


class _Memory:
    """What NumPy takes a view of; the view keeps it, and with it the array, alive."""

    def __init__(self, array: Array, address: int) -> None:
        self.array = array
        self.__array_interface__ = {"shape": array.shape, "typestr": array.dtype.str, "data": (address, False),
                                    "version": 3}


class Array:
    """An array whose memory kernels use, too: ``numpy.asarray(x)`` shows it without a copy, and waits for what was
    submitted before. Made by :meth:`Session.array` and :meth:`Session.empty`.

    >>> import fusiond, numpy
    >>> s = fusiond.connect()
    >>> x = s.array([1.0, 2.0, 3.0])
    >>> numpy.asarray(x)[1] = 7
    >>> x
    fusiond.Array([1., 7., 3.])
    """

    session: Session
    name: Optional[str]
    shape: Tuple[int, ...]
    dtype: numpy.dtype
    size: int
    handle: Any
    fresh: bool
    owner: Any  # of one that a handle has

    def __init__(self, session: Session, shape: Shape, dtype: DType, name: Optional[str] = None) -> None:
        self.session, self.name = session, name
        self.shape = tuple(int(n) for n in (shape if isinstance(shape, Iterable) else (shape,)))
        self.dtype = numpy.dtype(dtype)
        if any(n < 0 for n in self.shape):
            raise ValueError(f"a negative size in shape {self.shape}")
        self.size = math.prod(self.shape)
        self.handle = None
        self.handle = session.pool.take(self.dtype, self.size) if name is None else None
        self.fresh = self.handle is None  # its contents are zeros
        if self.fresh:
            self.handle = create_buffer(session, self.dtype, self.size, name=name)

    @classmethod
    def of_handle(cls, owner: Any, buffer: Any, kind: int, count: int) -> Array:
        """A flat one on a buffer of an executable, which it keeps alive."""
        array = cls.__new__(cls)
        array.session, array.handle, array.fresh = owner.session, buffer, False
        array.owner = owner
        array.name = None
        array.dtype = numpy.dtype(_DTYPES.get(kind, "u1"))
        array.shape, array.size = (count,), count
        return array

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of its elements."""
        return self.size * self.dtype.itemsize

    def numpy(self) -> NDArray:
        """The memory as a NumPy array, which keeps this array alive."""
        self.session.check_open()
        out = ffi.new("void **")
        check(lib.fusion_buffer_map(self.handle, out))
        return numpy.asarray(_Memory(self, int(ffi.cast("uintptr_t", out[0]))))

    def __array__(self, dtype: Optional[DType] = None, copy: Optional[bool] = None) -> NDArray:
        view = self.numpy()
        return view if dtype is None or numpy.dtype(dtype) == self.dtype else view.astype(dtype)

    def __dlpack__(self, **options: Any) -> Any:
        return self.numpy().__dlpack__(**options)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return (1, 0)  # the processor

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without dimensions has no length")
        return self.shape[0]

    def __getitem__(self, index: Any) -> Any:
        return self.numpy()[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.numpy()[index] = value

    def __repr__(self) -> str:
        return repr(self.numpy()).replace("array(", "fusiond.Array(", 1)

    def __del__(self) -> None:
        if not getattr(self, "handle", None) or self.session.closed or hasattr(self, "owner"):
            return
        if self.name is not None or not self.session.pool.give(self.dtype, self.size, self.handle):
            lib.fusion_buffer_destroy(self.handle)
        self.handle = None
