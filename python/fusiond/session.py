"""The connection to the service."""
from __future__ import annotations

import json
import os
from typing import Any, Callable, Dict, List, Optional, Union, overload

import numpy
import numpy.typing

from fusiond._binding import ffi, lib
from fusiond.array import Array, DType, Pool, Shape
from fusiond.errors import Error, check, text
from fusiond.graph import Fusion, Graph, Handle, Tier, finalize_options
from fusiond.jit import Function
from fusiond.module import Module, Path
from fusiond.structs import sized


def connect(address: Optional[Path] = None, *, name: Optional[str] = None, time_limit_ms: int = 0, private: bool = False,
            threads: int = 0, cgroup: Optional[Path] = None) -> Session:
    """Connects to the service: at the socket's path, or where the system has it; without one a private daemon is
    started, which ends with this process. ``time_limit_ms``: of each submission; 0: the service's. ``threads``: how many
    of this process finalize for :meth:`Graph.finalize_async`; 0: 4. ``cgroup``: the folder of a control group that is
    delegated to this user, in which its kernels run. Raises :class:`Error` ("connection")."""
    return Session(address, name=name, time_limit_ms=time_limit_ms, private=private, threads=threads, cgroup=cgroup)


class Session:
    """A connection. Everything made with it ends with it. Can be used by several threads, and in ``with``."""

    closed: bool
    recording: Optional[Graph]  # the graph that records; None: none does

    def __init__(self, address: Optional[Path] = None, *, name: Optional[str] = None, time_limit_ms: int = 0,
                 private: bool = False, threads: int = 0, cgroup: Optional[Path] = None) -> None:
        self.closed = True
        self.recording = None
        self._profiling = False
        self.pool = Pool()
        own_name = ffi.new("char[]", (name or "python").encode())
        options = sized("fusion_connect_options", {"time_limit_ms": time_limit_ms, "private_daemon": private,
                                                    "threads": threads})
        own_cgroup = ffi.new("char[]", os.fsencode(cgroup)) if cgroup else ffi.NULL
        options.name, options.cgroup = own_name, own_cgroup
        out = ffi.new("fusion_session **")
        check(lib.fusion_connect(os.fsencode(address) if address else ffi.NULL, options, out))
        self._handle = out[0]
        self.closed = False

    def check_open(self) -> None:
        """Raises :class:`Error` ("connection") where it was closed, and with it all that was made with it."""
        if self.closed:
            raise Error("connection", "session", "it was closed")

    @property
    def handle(self) -> Any:
        """The library's."""
        self.check_open()
        return self._handle

    def close(self) -> None:
        """Ends the session; views of its arrays must not be used any more. Waits for nothing."""
        if not self.closed:
            self.closed = True
            lib.fusion_disconnect(self._handle)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    # -- memory --

    def empty(self, shape: Shape, dtype: DType = float, *, name: Optional[str] = None) -> Array:
        """A new array with any contents. ``name``: what reports and errors call it, and saved handles know it by."""
        return Array(self, shape, dtype, name)

    def zeros(self, shape: Shape, dtype: DType = float, *, name: Optional[str] = None) -> Array:
        """A new array of zeros."""
        array = Array(self, shape, dtype, name)
        if not array.fresh:
            array.numpy()[...] = 0
        return array

    def array(self, data: Any, dtype: Optional[DType] = None, *, name: Optional[str] = None) -> Array:
        """A new array with a copy of the data (anything NumPy takes, DLPack included)."""
        if not hasattr(data, "__array_interface__") and hasattr(data, "__dlpack__"):
            data = numpy.from_dlpack(data)
        source = numpy.asarray(data, dtype)
        array = Array(self, source.shape, source.dtype, name)
        array.numpy()[...] = source
        return array

    # -- kernels --

    def load(self, path: Path, *, options: Optional[str] = None,
             sub_group_size: Union[int, str, None] = None) -> Module:
        """The module in a file: OpenCL C (``.cl``, compiled by the user's clang with these options), SPIR-V, or IR as
        text or msgpack. Raises :class:`Error` ("invalid") with the compiler's findings."""
        return Module.load_file(self, path, options, sub_group_size)

    def load_source(self, source: Union[str, bytes], name: str = "source.cl", *, options: Optional[str] = None,
                    sub_group_size: Union[int, str, None] = None) -> Module:
        """The same of text or bytes; a name that ends in ``.cl`` says that it is OpenCL C."""
        return Module.load_bytes(self, source, name, options, sub_group_size)

    def graph(self) -> Graph:
        """A graph; in ``with session.graph() as g:`` launches are recorded instead of run."""
        return Graph(self)

    def load_handle(self, source: Union[Path, bytes], *, fusion: Optional[Fusion] = None, device: Optional[str] = None,
                    tier: Tier = "automatic", ir: bool = False, debug: bool = False, bounds: bool = False,
                    time_limit_ms: int = 0) -> Handle:
        """A handle that :meth:`Handle.save` made, of a file or of bytes, with arrays of its own (:attr:`Handle.arrays`).
        Nothing is compiled where its code is for this machine. With options, as :meth:`Graph.finalize` has them, it is finalized
        in that way instead of the one that it was saved with. Raises :class:`Error` ("invalid", "version") for other files."""
        options = ffi.NULL
        if fusion or device or tier != "automatic" or ir or debug or bounds or time_limit_ms:
            options, _name = finalize_options(fusion or "enable", device, tier, ir, debug, bounds, time_limit_ms)
        return Handle.load(self, source, options)

    @overload
    def jit(self, function: Callable[..., Any], **options: Any) -> Function: ...

    @overload
    def jit(self, function: None = None, **options: Any) -> Callable[[Callable[..., Any]], Function]: ...

    def jit(self, function: Optional[Callable[..., Any]] = None, **options: Any) -> Any:
        """Makes a function of array expressions one graph for the service: see :class:`fusiond.jit.Function`. Options are
        those of :meth:`Graph.finalize`."""
        if function is None:
            return lambda f: Function(self, f, **options)
        return Function(self, function, **options)

    # -- what is there --

    @property
    def profiling(self) -> bool:
        """Whether the times of submissions are kept (:attr:`Event.times`): of those that follow, when it is set."""
        return self._profiling

    @profiling.setter
    def profiling(self, on: bool) -> None:
        check(lib.fusion_session_set_profiling(self.handle, bool(on)))
        self._profiling = bool(on)

    @property
    def devices(self) -> List[Dict[str, Any]]:
        """What kernels can run on: a list of dicts with name, description, target, aspects, compute_units ..."""
        count = ffi.new("uint32_t *")
        check(lib.fusion_device_count(self.handle, count))
        info = sized("fusion_device_info")
        found = []
        for index in range(count[0]):
            check(lib.fusion_device_get(self.handle, index, info))
            found.append({"name": text(info.name), "description": text(info.description), "target": text(info.target),
                          "aspects": text(info.aspects).split(), "compute_units": info.compute_units,
                          "max_work_group_size": info.max_work_group_size,
                          "local_memory_bytes": info.local_memory_bytes})
        return found

    def metrics(self) -> str:
        """The service's counters as OpenMetrics text, for monitoring."""
        out = ffi.new("char **")
        check(lib.fusion_session_metrics(self.handle, out))
        try:
            return text(out[0])
        finally:
            lib.free(out[0])

    def status(self) -> Dict[str, Any]:
        """The service's counters and limits as a dict."""
        out = ffi.new("char **")
        check(lib.fusion_session_status(self.handle, out))
        try:
            return json.loads(ffi.string(out[0]))
        finally:
            lib.free(out[0])
