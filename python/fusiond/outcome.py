"""What goes on while the program does: finalizes that were begun, and submissions."""
from __future__ import annotations

import asyncio
import atexit
import sys
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, Callable, Generator, List, NamedTuple, Optional, Set

from fusiond._binding import ffi, lib
from fusiond.errors import Error, check

if TYPE_CHECKING:
    from fusiond.graph import Graph, Handle
    from fusiond.session import Session

SLICE_MS = 100  # how long a wait keeps Ctrl-C waiting
WITH_CALLBACKS: weakref.WeakSet[Any] = weakref.WeakSet()  # sessions whose threads may call into Python


class Times(NamedTuple):
    """Moments of a submission, in seconds of time.monotonic()."""

    queued: float
    submitted: float
    started: float
    ended: float


@atexit.register
def _close_sessions() -> None:
    """The interpreter ends: nobody may call it afterwards."""
    for session in list(WITH_CALLBACKS):
        session.close()


_CALLED: List[Any] = []  # in the place of functions, once they have been called


class Outcome:
    """What both have: ``result()`` waits for it, ``await`` does in asyncio, ``done()`` looks, ``cancel()`` asks it to
    end, ``add_done_callback()`` tells a function."""

    session: Session
    _value: Any = None
    _known_as: Any

    def __init__(self, session: Session) -> None:
        self.session = session
        self._lock = threading.Lock()
        self._functions: Optional[List[Callable[[Any], Any]]] = None  # those to be called; None: the library has not been told that there are some

    def _wait(self, ms: int) -> int:
        """A status; TIMEOUT and not _poll() afterwards: it is not there yet."""
        raise NotImplementedError

    def _poll(self) -> int:
        """A status, BUSY where it is not there yet."""
        raise NotImplementedError

    def _watch(self) -> None:
        """Asks the library to call _settled() once."""

    def cancel(self) -> None:
        """Asks it to end."""
        raise NotImplementedError

    def done(self) -> bool:
        """Whether :meth:`result` gives it, or raises, at once."""
        return self._poll() != lib.FUSION_BUSY

    def _take(self, status: int) -> Any:
        check(status)
        return self._value

    def result(self, timeout: Optional[float] = None) -> Any:
        """Waits for it, at most ``timeout`` seconds (then TimeoutError), and gives it; raises :class:`Error` where it
        failed, or was cancelled (code "cancelled")."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = SLICE_MS if end is None else min(SLICE_MS, max(0, round(1000 * (end - time.monotonic()))))
            status = self._wait(left)
            if status == lib.FUSION_TIMEOUT:  # of this wait, or of what was waited for
                status = self._poll()
            if status != lib.FUSION_BUSY:
                return self._take(status)
            if end is not None and time.monotonic() >= end:
                raise TimeoutError(f"it was not complete after {timeout} s")

    def exception(self, timeout: Optional[float] = None) -> Optional[Error]:
        """Waits, and gives what :meth:`result` would raise; None where it did not fail."""
        try:
            self.result(timeout)
        except Error as error:
            return error
        return None

    def add_done_callback(self, function: Callable[[Any], Any]) -> None:
        """``function(self)`` is called when it is there, once, in a thread of the session; at once where it is there
        already. What it raises is printed."""
        with self._lock:
            first = self._functions is None
            if first:
                self._functions = []
            at_once = self._functions is _CALLED
            if self._functions is not None and not at_once:
                self._functions.append(function)
        if at_once:
            self._call(function)
        if first:
            WITH_CALLBACKS.add(self.session)
            self._watch()

    def _call(self, function: Callable[[Any], Any]) -> None:
        try:
            function(self)
        except Exception:  # as threads do
            sys.excepthook(*sys.exc_info())

    def _settled(self) -> None:
        with self._lock:
            functions, self._functions = self._functions, _CALLED
        for function in functions or []:
            self._call(function)

    def __await__(self) -> Generator[Any, None, Any]:
        """In asyncio; a task that is cancelled while it waits cancels this."""
        loop = asyncio.get_running_loop()
        there = loop.create_future()

        def settle() -> None:
            if not there.done():
                there.set_result(None)

        def tell(_: Any) -> None:
            try:
                loop.call_soon_threadsafe(settle)
            except RuntimeError:  # the loop has ended
                pass

        self.add_done_callback(tell)
        try:
            yield from there.__await__()
        except asyncio.CancelledError:
            self.cancel()
            raise
        return self.result()


class Event(Outcome):
    """A submission.

    >>> import fusiond, numpy
    >>> s = fusiond.connect()
    >>> m = s.load_source("kernel void twice(global const float *a, global float *o) "
    ...                   "{ int i = get_global_id(0); o[i] = 2 * a[i]; }")
    >>> a, o = s.array(numpy.arange(4, dtype="f4")), s.empty(4, "f4")
    >>> event = m.twice[4].submit(a, o)       # goes on at once
    >>> event.result()                        # waits
    >>> o, event.done()
    (fusiond.Array([0., 2., 4., 6.], dtype=float32), True)
    """

    def __init__(self, session: Session, number: int, keeps: Any = None, value: Any = None) -> None:
        super().__init__(session)
        self.number = number
        self._keeps, self._value = keeps, value

    def _wait(self, ms: int) -> int:
        return lib.fusion_event_wait(self.session.handle, self.number, ms, ffi.NULL)

    def _poll(self) -> int:
        return lib.fusion_event_poll(self.session.handle, self.number)

    def cancel(self) -> None:
        """It is to end, with :class:`Error` "cancelled": where it has not begun it does nothing, on the processor it ends
        between two chunks of work-groups. Waits for nothing; one that is complete stays as it is."""
        check(lib.fusion_event_cancel(self.session.handle, self.number))

    def run(self) -> Any:
        """Waits, as who called for it does: when he is interrupted, by Ctrl-C, it is cancelled."""
        try:
            return self.result()
        except KeyboardInterrupt:
            self.cancel()
            raise

    @property
    def times(self) -> Times:
        """:class:`Times`, of a complete one that was submitted while :attr:`Session.profiling` was on."""
        got = ffi.new("fusion_event_times *", {"size": ffi.sizeof("fusion_event_times")})
        check(lib.fusion_event_times_get(self.session.handle, self.number, got))
        return Times(*(t * 1e-9 for t in (got.queued_ns, got.submitted_ns, got.started_ns, got.ended_ns)))

    def _watch(self) -> None:
        status = lib.fusion_event_on_complete(self.session.handle, self.number, lib.fusiond_python_completed, _hold(self))
        if status != lib.FUSION_SUCCESS:
            _held.discard(self)
        check(status)


class Done(Outcome):
    """What was there at once."""

    def __init__(self, session: Session, value: Any) -> None:
        super().__init__(session)
        self._value = value
        self._functions = _CALLED

    def _wait(self, _ms: int) -> int:
        return lib.FUSION_SUCCESS

    def _poll(self) -> int:
        return lib.FUSION_SUCCESS

    def cancel(self) -> None:
        """It stays as it is."""


class Future(Outcome):
    """A finalize that was begun; its result is a :class:`Handle`.

    >>> import fusiond, numpy
    >>> s = fusiond.connect()
    >>> m = s.load_source("kernel void twice(global const float *a, global float *o) "
    ...                   "{ int i = get_global_id(0); o[i] = 2 * a[i]; }")
    >>> a, o = s.array(numpy.arange(4, dtype="f4")), s.empty(4, "f4")
    >>> with s.graph() as g:
    ...     m.twice[4](a, o)
    >>> future = g.finalize_async()
    >>> future.result()()
    >>> o
    fusiond.Array([0., 2., 4., 6.], dtype=float32)
    """

    def __init__(self, graph: Graph, make: Callable[[Any], Handle], begin: Callable[[Any, Any, Any], int]) -> None:
        """begin(function, data, out) gives a status; make(executable) the result."""
        super().__init__(graph.session)
        self._graph, self._make = graph, make
        self._functions = []  # the library calls in any case
        WITH_CALLBACKS.add(self.session)
        self.handle = None
        out = ffi.new("fusion_future **")
        status = begin(lib.fusiond_python_finalized, _hold(self), out)
        if status != lib.FUSION_SUCCESS:
            _held.discard(self)
        check(status)
        self.handle = out[0]

    def _wait(self, ms: int) -> int:
        self.session.check_open()
        return lib.fusion_future_wait(self.handle, ms, ffi.NULL)

    def _poll(self) -> int:
        self.session.check_open()
        return lib.fusion_future_poll(self.handle)

    def result(self, timeout: Optional[float] = None) -> Handle:
        with self._lock:
            if self._value is not None:
                return self._value
        return super().result(timeout)

    result.__doc__ = Outcome.result.__doc__

    def _take(self, status: int) -> Any:
        check(status)
        with self._lock:
            if self._value is None:
                out = ffi.new("fusion_exec **")
                check(lib.fusion_future_wait(self.handle, -1, out))
                self._value = self._make(out[0])
        return self._value

    def cancel(self) -> None:
        """One that has not begun ends at once, one that has where compilers notice: with :class:`Error` "cancelled", or
        with the handle all the same."""
        self.session.check_open()
        check(lib.fusion_future_cancel(self.handle))

    def __del__(self) -> None:
        if getattr(self, "handle", None) and not self.session.closed:
            lib.fusion_future_destroy(self.handle)


# ---- called by the library, once for each that was given to it ----

_held: Set[Outcome] = set()  # those that the library knows


def _hold(outcome: Outcome) -> Any:
    outcome._known_as = ffi.new_handle(outcome)
    _held.add(outcome)
    return outcome._known_as


@ffi.def_extern()
def fusiond_python_completed(data: Any, _session: Any, _event: int, _status: int) -> None:
    """A submission is complete."""
    outcome = ffi.from_handle(data)
    _held.discard(outcome)
    outcome._settled()


@ffi.def_extern()
def fusiond_python_finalized(data: Any, future: Any) -> None:
    """A finalize has ended."""
    outcome = ffi.from_handle(data)
    _held.discard(outcome)
    if outcome.handle is None:  # sooner than the call that began it has returned
        outcome.handle = future
    outcome._settled()
