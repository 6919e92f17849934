"""Functions of array expressions as graphs of the service."""
from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, Callable, Dict, Hashable, List, Mapping, Optional, Sequence, Set, Tuple

import numpy

from fusiond._binding import ffi, lib
from fusiond.array import Array, create_buffer
from fusiond.expr import Decides, Scalar, Trace, Traced, View
from fusiond.graph import Graph, Handle, finalize_options
from fusiond.kernels import Ranges, kernels_of
from fusiond.module import Module
from fusiond.outcome import Done, Event, Outcome

if TYPE_CHECKING:
    from fusiond.report import Report
    from fusiond.session import Session


class Function:
    """A Python function of arrays that the service computes.

    The first call with arguments of certain shapes and dtypes runs the function once with traced arrays, whose operators
    and NumPy functions record what is to be done; it becomes one graph, in which only what the function returns is in
    memory. Further calls submit it again. Arguments: arrays of the session (used where they are), NumPy arrays (copied),
    Python numbers (may differ from call to call without another graph, unless they decide an axis, a shape, a count of
    rounds, an ``if``), anything else that can be hashed (another value is another graph). Results are new arrays of the session. What NumPy would compute otherwise than elementwise, by
    reductions, or by matmul raises TypeError.

    ``report``: of the graph that was called last. ``source``: its kernels.
    """

    session: Session
    function: Callable[..., Any]

    def __init__(self, session: Session, function: Callable[..., Any], **options: Any) -> None:
        functools.update_wrapper(self, function)
        self.session, self.function = session, function
        finalize_options(**options)  # raises for those that there are not
        self.options = options
        self.made: Dict[Any, Compiled] = {}
        self.deciding: Set[Any] = set()  # numbers among the arguments that do, by place or name
        self.last: Optional[Compiled] = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Computes it and waits."""
        event, value = self.begin(args, kwargs)
        if event:
            event.run()
        return value

    def submit(self, *args: Any, **kwargs: Any) -> Outcome:
        """The call without waiting for it: an :class:`Event`, whose ``result()`` is what the function returns. One that
        computes nothing, as it gives back what it was given, is complete at once."""
        event, value = self.begin(args, kwargs)
        return event or Done(self.session, value)

    def begin(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Tuple[Optional[Event], Any]:
        """The event, None where there is nothing to compute, and what the call returns."""
        call = Call(self.session, args, kwargs, self.deciding)
        compiled = self.made.get(call.key)
        if compiled is None:
            try:
                compiled = self.made[call.key] = Compiled(self.session, self.function, call, self.options)
            except Decides as number:
                self.deciding.add(call.of_numbers[number.index])
                return self.begin(args, kwargs)
        self.last = compiled
        return compiled.begin(call)

    @property
    def report(self) -> Report:
        """Of the graph that was called last."""
        if self.last is None:
            raise RuntimeError("it has not been called yet: its graph depends on the shapes of its arguments")
        if self.last.handle is None:
            raise RuntimeError("it computes nothing, as it gives back what it was given: there is no graph")
        return self.last.handle.report

    @property
    def source(self) -> str:
        """The kernels of the graph that was called last."""
        if self.last is None:
            raise RuntimeError("it has not been called yet: its graph depends on the shapes of its arguments")
        return self.last.source


class Call:
    """Arguments: arrays, numbers, and the key of all calls that have the same graph."""

    def __init__(self, session: Session, args: Sequence[Any], kwargs: Mapping[str, Any], deciding: Set[Any]) -> None:
        self.arrays: List[Array] = []
        self.numbers: List[Any] = []
        self.of_numbers: List[Any] = []  # their places or names
        self.names = sorted(kwargs)
        self.values = [*args, *(kwargs[n] for n in self.names)]
        self.n_positional = len(args)
        named = [*range(len(args)), *self.names]
        self.places = [("value", v) if n in deciding else self.see(session, v, n) for v, n in zip(self.values, named)]
        self.key = (len(args), tuple(self.names), tuple(self.places))

    def see(self, session: Session, value: Any, name: Any) -> Tuple[Any, ...]:
        """What of it decides which graph it is."""
        if isinstance(value, numpy.ndarray) or hasattr(value, "__dlpack__") and not isinstance(value, Array):
            value = session.array(value)
        if isinstance(value, Array):
            if value.session is not session:
                raise ValueError("an array of another session")
            for i, array in enumerate(self.arrays):
                if array is value:
                    return ("same", i)
            self.arrays.append(value)
            return ("array", value.shape, value.dtype.str)
        if isinstance(value, (bool, int, float, numpy.generic)):
            self.numbers.append(value)
            self.of_numbers.append(name)
            return ("number", type(value))
        if not isinstance(value, Hashable):
            raise TypeError(f"an argument is an array, a number, or what can be hashed, not a {type(value).__name__}: "
                            "numpy.array() makes an array of a list, tuple() a constant")
        return ("value", value)


def names_of(function: Callable[..., Any], call: Call) -> List[str]:
    """What the function calls the arrays that it is called with."""
    named: List[str] = []
    try:
        for p in inspect.signature(function).parameters.values():
            many = call.n_positional - len(named) if p.kind is p.VAR_POSITIONAL else 1
            named += [f"{p.name}[{i}]" for i in range(many)] if p.kind is p.VAR_POSITIONAL else [p.name]
    except (TypeError, ValueError):  # it has none that Python could tell
        pass
    named = [*named, *(f"x{i}" for i in range(len(named), call.n_positional))][:call.n_positional] + call.names
    return [name for name, place in zip(named, call.places) if place[0] == "array"]


class Compiled:
    """The graph for one kind of call."""

    def __init__(self, session: Session, function: Callable[..., Any], call: Call, options: Mapping[str, Any]) -> None:
        self.session = session
        self.captured: List[Any] = []  # (node, array) that the function has of its own
        trace = Trace(self.capture, checked=options.get("bounds", False))
        self.trace = trace
        result = self.call_function(function, call)
        self.results: List[Any] = []  # nodes, in the order of what is returned
        self.structure = self.take(result)
        self.build(options)

    # -- tracing --

    def capture(self, array: Any) -> Traced:
        """An array that the function has of its own is an input."""
        array = self.session.array(array)
        traced = self.trace.input(array.shape, array.dtype)
        self.captured.append((traced.value.node, array))
        return traced

    def call_function(self, function: Callable[..., Any], call: Call) -> Any:
        """What it returns for traced arrays."""
        arrays: List[Traced] = []
        values: List[Any] = []
        n_numbers = 0
        for place, value in zip(call.places, call.values):
            if place[0] == "array":
                arrays.append(self.trace.input(place[1], place[2]))
                values.append(arrays[-1])
            elif place[0] == "same":
                values.append(arrays[place[1]])
            elif place[0] == "number":
                dtype = numpy.asarray(value).dtype
                values.append(Traced(self.trace, Scalar(n_numbers, dtype), dtype, weak=not isinstance(value, numpy.generic)))
                n_numbers += 1
            else:
                values.append(value)
        self.inputs = [a.value.node for a in arrays]
        self.names = names_of(function, call)
        return function(*values[:call.n_positional], **dict(zip(call.names, values[call.n_positional:])))

    def take(self, result: Any) -> Any:
        """What is returned, with numbers of results in place of arrays."""
        if isinstance(result, (tuple, list)):
            return type(result)(map(self.take, result)) if type(result) in (tuple, list) else \
                type(result)(*map(self.take, result))
        if isinstance(result, dict):
            return {k: self.take(v) for k, v in result.items()}
        if not isinstance(result, Traced):
            return _Value(result)
        view = result.value
        fresh = isinstance(view, View) and view.is_whole and view.node.kind != "input"
        node = view.node if fresh and view.node not in [n for n, _ in self.results] else \
            self.trace.apply("positive", [result], result.dtype).value.node
        self.results.append((node, result.shape))
        return _Result(len(self.results) - 1)

    # -- the graph --

    def needed(self) -> List[Any]:
        """Nodes from which a result comes, in the order of tracing."""
        wanted, todo = set(), [n for n, _ in self.results]
        while todo:
            node = todo.pop()
            if id(node) not in wanted:
                wanted.add(id(node))
                todo += [o.node for o in node.operands if isinstance(o, View)]
        return [n for n in self.trace.nodes if id(n) in wanted]

    def build(self, options: Mapping[str, Any]) -> None:
        """Kernels, their module, and the graph of them."""
        nodes = self.needed()
        ranges = Ranges(nodes)
        kernels = [k for i, n in enumerate(nodes) for k in kernels_of(n, ranges, i)]
        self.buffers: Dict[int, Any] = {}
        self.called: Set[str] = set()  # names of buffers
        self.handle: Optional[Handle] = None
        self.numbers: List[List[Any]] = []  # (node of the graph, argument, number of the scalar, dtype)
        self.source = "\n".join(k.text() for k in kernels)
        self.graph = Graph(self.session)
        if not kernels:
            return
        self.module = Module.load_bytes(self.session, self.source, "expression.fk", None, None)
        for k in kernels:
            self.add(k)
        self.graph.set_outputs([self.buffers[id(n)] for n, _ in self.results])
        self.handle = self.graph.finalize(**options)

    def buffer_of(self, node: Any, name: str) -> Any:
        """Where a node's elements are."""
        if id(node) not in self.buffers:
            inner = node.kind != "input" and all(node is not n for n, _ in self.results)
            properties = lib.FUSION_INTERNAL_MEMORY | lib.FUSION_NO_INIT if inner else 0
            while name in self.called:
                name += "'"
            self.called.add(name)
            self.buffers[id(node)] = create_buffer(self.session, node.dtype, node.size, properties, name)
        return self.buffers[id(node)]

    def name_of(self, node: Any, kernel: Any, written: bool) -> str:
        """As errors and reports call it: by the argument, by the array of the function's own, by what computes it."""
        if node in self.inputs:
            return self.names[self.inputs.index(node)]
        captured = [n for n, _ in self.captured]
        return f"constant {captured.index(node)}" if node in captured else kernel.name if written else f"{kernel.name}.in"

    def add(self, kernel: Any) -> None:
        """A kernel as a node of the graph."""
        args = []
        for place, (argument, _) in enumerate(kernel.arguments):
            if isinstance(argument, tuple):
                scalar, dtype = argument
                stored = numpy.dtype("i1") if dtype.kind == "b" else dtype
                self.numbers.append([None, place, scalar.index, stored])
                args.append(lib.fusion_arg_value(ffi.from_buffer(bytes(stored.itemsize)), stored.itemsize))
            else:
                last = place == len(kernel.arguments) - 1
                written = lib.FUSION_ACCESS_READ_WRITE if kernel.reads_output else lib.FUSION_ACCESS_WRITE
                access = written if last else lib.FUSION_ACCESS_READ
                args.append(lib.fusion_arg_buffer(self.buffer_of(argument, self.name_of(argument, kernel, last)), access))
        node = self.graph.add_node(self.module.handle, kernel.name, kernel.shape, kernel.local, args)
        for number in self.numbers:
            number[0] = node if number[0] is None else number[0]

    # -- running --

    def begin(self, call: Call) -> Tuple[Optional[Event], Any]:
        """The event (None where there is nothing to compute) and the result, whose arrays are being computed."""
        outputs = [Array(self.session, shape, node.dtype) for node, shape in self.results]
        value = self.give(self.structure, outputs)
        if not self.handle:
            return None, value
        pairs = [(n, a) for n, a in zip(self.inputs, call.arrays)] + self.captured + \
            [(n, o) for (n, _), o in zip(self.results, outputs)]
        return self.submit(self.handle, [(n, a) for n, a in pairs if id(n) in self.buffers], call.numbers, value), value

    def submit(self, handle: Handle, pairs: Sequence[Tuple[Any, Array]], numbers: Sequence[Any], value: Any) -> Event:
        """With the arrays and numbers of a call."""
        values = [numpy.asarray(numbers[index]).astype(dtype).tobytes() for _, _, index, dtype in self.numbers]
        rebind = ffi.new("fusion_rebind[]", len(pairs) + len(values))
        for r, (node, array) in zip(rebind, pairs):
            r.__setattr__("from", self.buffers[id(node)])
            r.to = array.handle
        for i, ((node, place, _, _), value) in enumerate(zip(self.numbers, values)):
            r = rebind[len(pairs) + i]
            r.node, r.arg, r.value, r.value_bytes = node, place, ffi.from_buffer(value), len(value)
        return handle.submit_with(rebind, len(rebind), [array for _, array in pairs], value)

    def give(self, structure: Any, outputs: Sequence[Array]) -> Any:
        """What is returned, with arrays in place of numbers of results."""
        if isinstance(structure, _Result):
            return outputs[structure.index]
        if isinstance(structure, _Value):
            return structure.value
        if isinstance(structure, dict):
            return {k: self.give(v, outputs) for k, v in structure.items()}
        items = [self.give(v, outputs) for v in structure]
        return type(structure)(items) if type(structure) in (tuple, list) else type(structure)(*items)

    def __del__(self) -> None:
        if not self.session.closed:
            for buffer in getattr(self, "buffers", {}).values():
                lib.fusion_buffer_destroy(buffer)


class _Result:
    def __init__(self, index: int) -> None:
        self.index = index


class _Value:
    def __init__(self, value: Any) -> None:
        self.value = value


