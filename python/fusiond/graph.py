"""Graphs of launches, and what becomes of them."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Optional, Sequence, Tuple, Union

from fusiond._binding import ffi, lib
from fusiond.array import Array
from fusiond.errors import check, text
from fusiond.outcome import Event, Future
from fusiond.report import Report
from fusiond.structs import sized

if TYPE_CHECKING:
    from fusiond.module import Launch, Path
    from fusiond.session import Session

Fusion = Literal["none", "enable", "require"]
Tier = Literal["automatic", "quick", "compiled"]

_MODES = {"none": lib.FUSION_NONE, "enable": lib.FUSION_ENABLE, "require": lib.FUSION_REQUIRE}
_TIERS = {"automatic": lib.FUSION_TIER_AUTOMATIC, "quick": lib.FUSION_TIER_QUICK, "compiled": lib.FUSION_TIER_COMPILED}


def finalize_options(fusion: Fusion = "enable", device: Optional[str] = None, tier: Tier = "automatic", ir: bool = False,
                     debug: bool = False, bounds: bool = False, time_limit_ms: int = 0) -> Tuple[Any, Any]:
    """The library's, and what has to live as long."""
    for what, value, among in (("fusion", fusion, _MODES), ("tier", tier, _TIERS)):
        if value not in among:
            raise ValueError(f"{what} is one of {', '.join(among)}, not {value!r}")
    name = ffi.new("char[]", device.encode()) if device else ffi.NULL
    options = sized("fusion_finalize_options", {"mode": _MODES[fusion], "keep_ir": ir, "debug": debug, "bounds": bounds,
                                                "tier": _TIERS[tier], "time_limit_ms": time_limit_ms})
    options.device = name
    return options, name


def handles_of(outputs: Sequence[Array]) -> List[Any]:
    """The library's; TypeError for what is no array of a session."""
    for o in outputs:
        if not isinstance(o, Array):
            raise TypeError(f"an output is an array of the session, not {type(o).__name__}")
    return [o.handle for o in outputs]


class Graph:
    """Launches that are recorded in ``with``, then finalized into a handle.

    >>> import fusiond, numpy
    >>> s = fusiond.connect()
    >>> m = s.load_source("kernel void twice(global const float *a, global float *o) "
    ...                   "{ int i = get_global_id(0); o[i] = 2 * a[i]; }")
    >>> a, t, o = s.array(numpy.arange(4, dtype="f4")), s.empty(4, "f4"), s.empty(4, "f4")
    >>> with s.graph() as g:
    ...     m.twice[4](a, t)
    ...     m.twice[4](t, o)
    >>> run = g.finalize(outputs=[o])
    >>> run()
    >>> o
    fusiond.Array([ 0.,  4.,  8., 12.], dtype=float32)
    >>> run.report.launches
    1
    """

    session: Session
    handle: Any

    def __init__(self, session: Session) -> None:
        self.session = session
        self.used: List[Any] = []  # arrays and modules, which must not go before
        self.handle = None
        out = ffi.new("fusion_graph **")
        check(lib.fusion_graph_create(session.handle, out))
        self.handle = out[0]

    def __enter__(self) -> Graph:
        if self.session.recording is not None:
            raise RuntimeError("another graph of the session records")
        self.session.recording = self
        return self

    def __exit__(self, *_: Any) -> None:
        self.session.recording = None

    def add(self, launch: Launch, arguments: Sequence[Any]) -> None:
        """A node."""
        kernel = launch.kernel
        args = [launch.argument(p, a) for p, a in zip(kernel.parameters, arguments)]
        self.used += [kernel.module, *arguments]
        self.add_node(kernel.module.handle, kernel.name, launch.shape, launch.local, args)

    def add_node(self, module: Any, kernel: str, shape: Sequence[int], local: Optional[Sequence[int]],
                 args: List[Any]) -> int:
        """A node below what users see: sizes with x first, arguments of the library. Its number."""
        self.session.check_open()
        array = ffi.new("fusion_arg[]", args)
        name = ffi.new("char[]", kernel.encode())
        padding = [1] * (3 - len(shape))
        node = sized("fusion_kernel_node", {"dims": len(shape), "n_args": len(args)})
        node.module, node.kernel, node.args = module, name, array
        setattr(node, "global", [*shape, *padding])
        node.local = [*local, *padding] if local else [0, 0, 0]
        number = ffi.new("fusion_node *")
        check(lib.fusion_graph_add_kernel(self.handle, node, number))
        return number[0]

    def set_outputs(self, buffers: Sequence[Any]) -> None:
        """What is read afterwards, as the library has it: see :meth:`finalize`."""
        self.session.check_open()
        outputs = ffi.new("fusion_arg[]", [lib.fusion_arg_buffer(b, lib.FUSION_ACCESS_READ_WRITE) for b in buffers])
        check(lib.fusion_graph_set_outputs(self.handle, outputs, len(buffers)))

    def finalize(self, *, outputs: Optional[Sequence[Array]] = None, fusion: Fusion = "enable",
                 device: Optional[str] = None, tier: Tier = "automatic", ir: bool = False, debug: bool = False,
                 bounds: bool = False, time_limit_ms: int = 0) -> Handle:
        """Checks, fuses and compiles. ``outputs``: the arrays that are read afterwards; all others that the graph writes
        are its own then, and may never be in memory. ``fusion``: "none", "enable" or "require". ``bounds``: accesses
        that are not proved to be inside of their array are checked, and the first one outside is an error.
        ``time_limit_ms``: of each submission, where it is shorter than the session's."""
        if outputs is not None:
            self.set_outputs(handles_of(outputs))
        self.session.check_open()
        options, _name = finalize_options(fusion, device, tier, ir, debug, bounds, time_limit_ms)
        out = ffi.new("fusion_exec **")
        check(lib.fusion_graph_finalize(self.handle, options, out))
        return Handle(self.session, out[0], self)

    def finalize_async(self, *, outputs: Optional[Sequence[Array]] = None, priority: int = 0, **options: Any) -> Future:
        """As :meth:`finalize`, with its options, in a thread of the session, while the program goes on: a
        :class:`Future` of the handle. The graph may be changed at once; its arrays are kept. Of those that wait for a thread the one with the highest ``priority``
        begins first."""
        if outputs is not None:
            self.set_outputs(handles_of(outputs))
        self.session.check_open()
        settings, _name = finalize_options(**options)

        def begin(done: Any, data: Any, out: Any) -> int:
            about = sized("fusion_async_options", {"done": done, "data": data, "priority": priority})
            return lib.fusion_graph_finalize_async(self.handle, settings, about, out)

        return Future(self, lambda made: Handle(self.session, made, self), begin)

    def __del__(self) -> None:
        if getattr(self, "handle", None) and not self.session.closed:
            lib.fusion_graph_destroy(self.handle)


class Handle:
    """An executable graph: ``handle()`` runs it and waits. ``handle.report`` says what was fused, and why not."""

    session: Session
    handle: Any
    graph: Optional[Graph]

    def __init__(self, session: Session, handle: Any, graph: Optional[Graph] = None) -> None:
        self.session = session
        self.handle = handle
        self.graph = graph  # whose arrays it uses; None: it has its own

    @classmethod
    def load(cls, session: Session, source: Union[Path, bytes], options: Any) -> Handle:
        """See :meth:`Session.load_handle`."""
        name = "executable"
        if isinstance(source, (str, os.PathLike)):
            name = os.path.basename(os.fspath(source))
            with open(source, "rb") as file:
                data = file.read()
        else:
            data = source
        out = ffi.new("fusion_exec **")
        check(lib.fusion_exec_load(session.handle, os.fsencode(name), ffi.from_buffer(data), len(data), options, out))
        return cls(session, out[0])

    def save(self, path: Optional[Path] = None) -> Optional[bytes]:
        """The handle as bytes, or into a file, for :meth:`Session.load_handle` in any process: graph, kernels and their
        code, no contents of arrays.

        >>> import fusiond, numpy
        >>> s = fusiond.connect()
        >>> m = s.load_source("kernel void twice(global const float *a, global float *o) "
        ...                   "{ int i = get_global_id(0); o[i] = 2 * a[i]; }")
        >>> a, o = s.array(numpy.arange(4, dtype="f4"), name="a"), s.zeros(4, "f4", name="o")
        >>> with s.graph() as g:
        ...     m.twice[4](a, o)
        >>> saved = g.finalize().save()
        >>> run = fusiond.connect().load_handle(saved)
        >>> run.arrays["a"][:] = 5
        >>> run()
        >>> run.arrays["o"]
        fusiond.Array([10., 10., 10., 10.], dtype=float32)
        """
        self.session.check_open()
        data, size = ffi.new("void **"), ffi.new("size_t *")
        check(lib.fusion_exec_save(self.handle, data, size))
        saved = bytes(ffi.buffer(data[0], size[0]))
        lib.free(data[0])
        if path is None:
            return saved
        with open(path, "wb") as file:
            file.write(saved)
        return None

    @property
    def arrays(self) -> Dict[str, Array]:
        """Of a handle that was loaded: its arrays by name, flat. Those that never have memory are not among them."""
        found: Dict[str, Array] = {}
        info = sized("fusion_exec_memory_info")
        index = 0
        while self.graph is None and lib.fusion_exec_memory(self.handle, index, info) == lib.FUSION_SUCCESS:
            index += 1
            if info.buffer and not info.internalized:
                found[text(info.name)] = Array.of_handle(self, info.buffer, info.type, info.count)
        return found

    def __call__(self, rebind: Optional[Mapping[Array, Array]] = None) -> None:
        """Runs it and waits: :meth:`submit`, and its result."""
        self.submit(rebind).run()

    def submit(self, rebind: Optional[Mapping[Array, Array]] = None, *, times: int = 1, priority: int = 0,
               time_limit_ms: int = 0) -> Event:
        """Submits it, and does not wait: an :class:`Event`. ``rebind``: arrays of the graph, each with the one that takes
        its place this time, ``{x: other}``. ``times``: so many rounds, as one submission. Of the submissions that wait the one with the highest ``priority`` is next,
        but that those of one handle, and those that share memory, stay in order. ``time_limit_ms``: where it is shorter
        than the session's; 0: the handle's."""
        rebind = rebind or {}
        pairs = ffi.new("fusion_rebind[]", len(rebind))
        for r, (old, new) in zip(pairs, rebind.items()):
            r.__setattr__("from", old.handle)
            r.to = new.handle
        options = sized("fusion_submit_options", {"priority": priority, "time_limit_ms": time_limit_ms})
        return self.submit_with(pairs, len(rebind), [*rebind.values()], options=options, times=times)

    def submit_with(self, rebind: Any, n: int, keeps: Any = None, value: Any = None, options: Any = ffi.NULL,
                    times: int = 1) -> Event:
        """With other memory or values in place of the graph's; as the library has them."""
        self.session.check_open()
        event = ffi.new("fusion_event *")
        check(lib.fusion_exec_submit_times(self.handle, times, rebind, n, options, event))
        return Event(self.session, event[0], (self, keeps), value)

    @property
    def report(self) -> Report:
        """What was fused, and why not."""
        return Report(self)

    def __del__(self) -> None:
        if getattr(self, "handle", None) and not self.session.closed:
            lib.fusion_exec_destroy(self.handle)
