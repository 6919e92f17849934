"""Modules of kernels, and how a kernel is launched."""
from __future__ import annotations

import difflib
import os
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple, Union

import numpy

from fusiond._binding import ffi, lib
from fusiond.array import Array, Shape
from fusiond.errors import check, text
from fusiond.structs import sized

if TYPE_CHECKING:
    from fusiond.graph import Handle
    from fusiond.outcome import Event
    from fusiond.session import Session

Path = Union[str, "os.PathLike[str]"]

_ACCESS = {"read": lib.FUSION_ACCESS_READ, "write": lib.FUSION_ACCESS_WRITE}
_NUMBERS = {"i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "f16": "f2", "f32": "f4", "f64": "f8", "bool": "u1"}


class Local:
    """Work-group memory of that many bytes, as an argument."""

    def __init__(self, nbytes: int) -> None:
        self.nbytes = int(nbytes)


class Module:
    """Kernels by their names: ``module.sobel`` or ``module["sobel"]``. ``warnings``: what was said of it."""

    session: Session
    handle: Any
    kernels: Dict[str, Kernel]
    warnings: List[str]

    def __init__(self, session: Session, handle: Any) -> None:
        self.session = session
        self.handle = handle
        infos = [lib.fusion_module_kernel(handle, i) for i in range(lib.fusion_module_kernel_count(handle))]
        self.kernels = {text(info.name): Kernel(self, info) for info in infos}
        self.warnings = []
        while lib.fusion_module_warning(handle, len(self.warnings)):
            self.warnings.append(text(lib.fusion_module_warning(handle, len(self.warnings))))

    @classmethod
    def _load(cls, session: Session, call: Callable[[Any, Any], int], options: Optional[str],
              sub_group_size: Union[int, str, None]) -> Module:
        given = [ffi.new("char[]", str(o).encode()) if o is not None else ffi.NULL for o in (options, sub_group_size)]
        settings = sized("fusion_module_options", {"build_options": given[0], "sub_group_size": given[1]})
        out = ffi.new("fusion_module **")
        check(call(settings, out))
        return cls(session, out[0])

    @classmethod
    def load_file(cls, session: Session, path: Path, options: Optional[str],
                  sub_group_size: Union[int, str, None]) -> Module:
        """See :meth:`Session.load`."""
        name = os.fsencode(path)
        return cls._load(session, lambda settings, out: lib.fusion_module_load_file_with(
            session.handle, name, settings, out), options, sub_group_size)

    @classmethod
    def load_bytes(cls, session: Session, source: Union[str, bytes], name: str, options: Optional[str],
                   sub_group_size: Union[int, str, None]) -> Module:
        """See :meth:`Session.load_source`."""
        data = source.encode() if isinstance(source, str) else bytes(source)
        return cls._load(session, lambda settings, out: lib.fusion_module_load_with(
            session.handle, name.encode(), data, len(data), settings, out), options, sub_group_size)

    def __getitem__(self, name: str) -> Kernel:
        try:
            return self.kernels[name]
        except KeyError:
            raise KeyError(self._lacks(name)) from None

    def _lacks(self, name: str) -> str:
        near = difflib.get_close_matches(name, self.kernels, 1)
        meant = f" (did you mean {near[0]}?)" if near else ""
        return f"the module has no kernel {name}{meant}; it has {', '.join(self.kernels) or 'none'}"

    def __getattr__(self, name: str) -> Kernel:
        try:
            return self.__dict__["kernels"][name]
        except KeyError:
            raise AttributeError(self._lacks(name) if "kernels" in self.__dict__ else name) from None

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self.kernels]

    def __repr__(self) -> str:
        return "\n".join(repr(k) for k in self.kernels.values())

    def __del__(self) -> None:
        if getattr(self, "handle", None) and not self.session.closed:
            lib.fusion_module_destroy(self.handle)


class Parameter:
    """name; type as in the IR text ("ptr.global f32", "i32"); access ("read", "write", "read_write", "unknown", "")."""

    name: str
    type: str
    access: str
    size: int

    def __init__(self, info: Any) -> None:
        self.name, self.type, self.access = text(info.name), text(info.type), text(info.access)
        self.size = info.size

    def __repr__(self) -> str:
        return f"{self.name}: {self.type}" + (f" {self.access}" if self.access else "")


def sizes(shape: Shape, what: str) -> Tuple[int, ...]:
    """Sizes as NumPy has them, the last varying fastest: 1 to 3 of them, x first."""
    given = tuple(shape) if isinstance(shape, Iterable) else (shape,)
    if any(not hasattr(n, "__index__") or n < 0 for n in given):
        raise TypeError(f"{what} has sizes, which are whole numbers from 0 on, not {shape!r}")
    found = tuple(n.__index__() for n in given)
    if not 1 <= len(found) <= 3:
        raise ValueError(f"{what} has 1 to 3 sizes, not {len(found)}")
    return found[::-1]


class Kernel:
    """``kernel[shape](arguments...)`` runs it over a range and waits; ``kernel[shape, local]`` with work-groups of that
    shape. Shapes are NumPy's: the last size is that of dimension x."""

    name: str
    parameters: List[Parameter]

    def __init__(self, module: Module, info: Any) -> None:
        self.module = module
        self.name = text(info.name)
        self.parameters = [Parameter(info.args[i]) for i in range(info.n_args)]

    def __getitem__(self, key: Union[Shape, Tuple[Sequence[int], Shape]]) -> Launch:
        shape: Any = key
        local: Any = None
        if isinstance(key, tuple) and key and isinstance(key[0], Iterable):
            if len(key) != 2:
                raise ValueError(f"kernel {self.name}: [shape] or [shape, local]")
            shape, local = key
        return Launch(self, sizes(shape, "a range"), sizes(local, "a work-group") if local else None)

    def __repr__(self) -> str:
        return f"kernel {self.name}({', '.join(map(repr, self.parameters))})"


def pack(parameter: Parameter, value: Any) -> bytes:
    """The bytes of a number or vector that a parameter takes."""
    element, _, lanes = parameter.type.partition("x")
    if element not in _NUMBERS:
        raise TypeError(f"{parameter}: it does not take {value!r}")
    dtype = numpy.dtype(_NUMBERS[element])
    given = numpy.asarray(value)
    if given.size != int(lanes or 1) or (given.dtype.kind == "f" and dtype.kind != "f") or given.dtype.kind not in "biuf":
        raise TypeError(f"{parameter}: it does not take {value!r}")
    if dtype.kind != "f":
        bits = 8 * dtype.itemsize
        for number in given.ravel().tolist():
            if not -(1 << bits - 1) <= number < 1 << bits:
                raise OverflowError(f"{parameter}: {number} is no number of {bits} bits")
        return b"".join((int(n) & (1 << bits) - 1).to_bytes(bits // 8, "little") for n in given.ravel().tolist())
    packed = given.astype(dtype).tobytes()
    return packed if len(packed) == parameter.size else packed.ljust(parameter.size, b"\0")


class Launch:
    """A kernel with its range."""

    def __init__(self, kernel: Kernel, shape: Tuple[int, ...], local: Optional[Tuple[int, ...]]) -> None:
        self.kernel, self.shape, self.local = kernel, shape, local
        if local and len(local) != len(shape):
            raise ValueError(f"kernel {kernel.name}: a range of {len(shape)} dimensions, work-groups of {len(local)}")

    def argument(self, parameter: Parameter, value: Any) -> Any:
        """The library's argument for a value; TypeError where the parameter takes another kind."""
        if parameter.type.startswith("ptr.local"):
            if not isinstance(value, Local):
                raise TypeError(f"kernel {self.kernel.name}: {parameter}: it takes fusiond.Local(bytes)")
            return lib.fusion_arg_local(value.nbytes)
        if isinstance(value, Array):
            if not parameter.type.startswith("ptr."):
                raise TypeError(f"kernel {self.kernel.name}: {parameter}: it takes no array")
            return lib.fusion_arg_buffer(value.handle, _ACCESS.get(parameter.access, lib.FUSION_ACCESS_READ_WRITE))
        if parameter.type.startswith("ptr."):
            raise TypeError(f"kernel {self.kernel.name}: {parameter}: it takes an array of the session, "
                            f"not {type(value).__name__} (session.array() makes one)")
        data = pack(parameter, value)
        return lib.fusion_arg_value(ffi.from_buffer(data), len(data))

    def add(self, arguments: Sequence[Any]) -> Optional[Handle]:
        """To the graph that records; without one, to a graph of its own, whose handle it is."""
        parameters = self.kernel.parameters
        if len(arguments) != len(parameters):
            raise TypeError(f"kernel {self.kernel.name} takes {len(parameters)} arguments, not {len(arguments)}: "
                            + ", ".join(map(repr, parameters)))
        session = self.kernel.module.session
        recording = session.recording
        if recording is not None:
            recording.add(self, arguments)
            return None
        graph = session.graph()
        graph.add(self, arguments)
        return graph.finalize(fusion="none")

    def __call__(self, *arguments: Any) -> None:
        """Runs it and waits; records it while a graph does."""
        made = self.add(arguments)
        if made:
            made()

    def submit(self, *arguments: Any) -> Optional[Event]:
        """Runs it without waiting: an :class:`Event`; None while a graph records."""
        made = self.add(arguments)
        return made.submit() if made else None
