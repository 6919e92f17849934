#!/usr/bin/python3
"""The Python package but for traced functions: arrays, modules, launches, graphs, errors; and all examples in its
documentation. Prints TAP."""
import asyncio
import doctest
import gc
import importlib
import os
import sys
import signal
import subprocess
import tempfile
import threading
import time
import traceback

import numpy

import fusiond

ROOT = sys.argv[1]
SOURCE = """
kernel void scale(global const float *a, global float *o, float k, int add) {
    int i = get_global_id(0);
    o[i] = a[i] * k + add;
}
kernel void where_am_i(global int *o) {
    int x = get_global_id(0), y = get_global_id(1);
    o[y * get_global_size(0) + x] = 100 * y + x + 10000 * get_local_size(0);
}
kernel void sums(global const int *a, global int *o, local int *t) {
    int l = get_local_id(0);
    t[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) { int s = 0; for (int i = 0; i < get_local_size(0); i++) s += t[i]; o[get_group_id(0)] = s; }
}
kernel void spin(global int *o, int n) { /* o[0] is there when it has begun */
    volatile global int *p = o;
    for (int i = 0; i < n; i++) *p = i;
}
kernel void vectors(global float4 *o, float4 v, uchar b) { o[get_global_id(0)] = v * b; }
"""

session = fusiond.connect(private=True)
module = session.load_source(SOURCE)


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def expect_error(kind, text, function, *arguments):
    try:
        function(*arguments)
    except kind as error:
        expect(text in str(error), f"{error!r} does not say {text!r}")
        return error
    raise AssertionError(f"no {kind.__name__} that says {text!r}")


def test_arrays():
    data = numpy.arange(12, dtype="i2").reshape(3, 4)
    x = session.array(data)
    view = numpy.asarray(x)
    expect((view == data).all() and view.dtype == data.dtype and view.shape == (3, 4), "a copy of the data")
    view[1, 2] = 77
    expect(x[1, 2] == 77 and numpy.asarray(x).ctypes.data == view.ctypes.data, "views share the memory")
    expect(data[1, 2] == 6, "and not that of the data")
    expect(numpy.from_dlpack(x).ctypes.data == view.ctypes.data, "DLPack does, too")
    expect(len(x) == 3 and x.ndim == 2 and x.nbytes == 24 and x.size == 12, "sizes")
    expect((session.zeros((2, 3), "u1").numpy() == 0).all(), "new arrays are zeros")
    expect(session.empty((0, 3)).numpy().shape == (0, 3) and session.empty(()).numpy().shape == (), "nothing and one")
    expect((session.array(numpy.arange(6)[::2]).numpy() == [0, 2, 4]).all(), "with gaps")
    expect(session.array([True, False]).dtype == bool and session.array([1.5], "f2").dtype == "f2", "dtypes")
    expect_error(TypeError, "complex128", session.array, [1j])
    expect_error(TypeError, ">f4", session.array, numpy.zeros(3, ">f4"))
    expect_error(ValueError, "negative", session.empty, -1)
    expect("fusiond.Array([1, 2]" in repr(session.array(numpy.array([1, 2]))), "repr")


def test_views_keep_arrays():
    view = session.array(numpy.arange(1000)).numpy()
    gc.collect()
    others = [session.array(numpy.full(1000, 7)) for _ in range(20)]
    expect((view == numpy.arange(1000)).all() and others, "a view's memory was given away")


def test_memory_comes_back():
    """An array's memory is that of one that has gone, but of none that has a view."""
    first = session.array(numpy.full(100000, 3))
    address = first.numpy().ctypes.data
    del first
    again = session.zeros(100000, int)
    expect(again.numpy().ctypes.data == address and not again.numpy().any(), "the memory came back, with zeros")
    small = session.empty(7, "f4")
    address = small.numpy().ctypes.data
    del small
    expect(session.empty(7, "f4").numpy().ctypes.data == address, "that of a small array, too")
    view = again.numpy()
    del again
    other = session.empty(100000, int)
    expect(other.numpy().ctypes.data != view.ctypes.data, "a view's memory was given away")


def test_launch():
    a, o = session.array(numpy.arange(10, dtype="f4")), session.empty(10, "f4")
    module.scale[10](a, o, 2.5, -1)
    expect((o.numpy() == numpy.arange(10) * 2.5 - 1).all(), f"{o}")
    module["scale"][(5,)](a, o, numpy.float64(0), True)
    expect((o.numpy()[:5] == 1).all() and o[5] == 11.5, "over a part")


def test_shapes():
    """As NumPy's: rows, columns."""
    o = session.empty((4, 6), "i4")
    module.where_am_i[o.shape, (2, 3)](o)
    y, x = numpy.indices((4, 6))
    expect((o.numpy() == 100 * y + x + 30000).all(), f"{o}")
    expect_error(ValueError, "1 to 3 sizes", lambda: module.where_am_i[1, 2, 3, 4])
    expect_error(ValueError, "2 dimensions", lambda: module.where_am_i[(4, 6), (2,)])
    for wrong in (3.5, -3, "x", (4, None)):
        expect_error(TypeError, f"whole numbers from 0 on, not {wrong!r}", lambda wrong=wrong: module.where_am_i[wrong])


def test_local_memory():
    a, o = session.array(numpy.arange(32, dtype="i4")), session.empty(4, "i4")
    module.sums[(32,), (8,)](a, o, fusiond.Local(32))
    expect((o.numpy() == numpy.arange(32).reshape(4, 8).sum(axis=1)).all(), f"{o}")
    expect_error(TypeError, "fusiond.Local", module.sums[32], a, o, 32)


def test_values():
    o = session.empty((2, 4), "f4")
    module.vectors[2](o, (1, 2, 3, 4.5), 255)
    expect((o.numpy() == [255, 510, 765, 1147.5]).all(), f"{o}")
    expect_error(OverflowError, "300", module.vectors[2], o, (1, 2, 3, 4), 300)
    expect_error(TypeError, "f32x4", module.vectors[2], o, (1, 2, 3), 1)
    a = session.empty(3, "f4")
    expect_error(TypeError, "add: i32", module.scale[3], a, a, 1.0, 2.5)
    expect_error(TypeError, "an array of the session", module.scale[3], numpy.zeros(3, "f4"), a, 1.0, 2)
    expect_error(TypeError, "takes 4 arguments, not 2: a: ptr.global f32 read, o: ptr.global f32 write, k: f32", module.scale[3], a, a)
    expect_error(TypeError, "it takes no array", module.scale[3], a, a, a, 2)
    expect_error(AttributeError, "has no kernel blur; it has scale", lambda: module.blur)
    expect_error(AttributeError, "has no kernel scael (did you mean scale?); it has scale", lambda: module.scael)
    expect_error(KeyError, "has no kernel vector (did you mean vectors?)", lambda: module["vector"])


def test_errors():
    error = expect_error(fusiond.Error, "wrong.cl:1:32: error: use of undeclared identifier 'x'", session.load_source,
                         "kernel void k(global int *o) { x; }", "wrong.cl")
    expect(error.code == "invalid" and "^" in error.reason, error.reason)
    error = expect_error(fusiond.Error, "", session.load, "/nowhere/kernels.spv")
    expect(error.code == "io", error.code)
    small = session.empty(4, "f4")
    expect_error(TypeError, "not ndarray", lambda: session.graph().finalize(outputs=[numpy.zeros(3)]))
    expect_error(ValueError, "fusion is one of none, enable, require, not 'enabled'", lambda: session.graph().finalize(fusion="enabled"))
    expect_error(ValueError, "tier is one of", lambda: session.jit(abs, tier="fast"))
    error = expect_error(fusiond.Error, "", module.scale[1 << 30], small, small, 1.0, 0)
    expect(error.code in ("kernel_fault", "invalid"), error.code)
    module.scale[4](small, small, 1.0, 0)  # the session goes on


def test_files():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "k.cl")
        with open(path, "w") as f:
            f.write("#warning old\nkernel void k(global int *o) { o[get_global_id(0)] = N; }")
        m = session.load(path, options="-D N=41")
        expect("k.cl:1:2: warning" in m.warnings[0], f"{m.warnings}")
        o = session.empty(3, "i4")
        m.k[3](o)
        expect((o.numpy() == 41).all(), f"{o}")
    expect(repr(m) == "kernel k(o: ptr.global i32 write)", repr(m))


def test_graph():
    a, t, o = session.array(numpy.ones(1000, "f4")), session.empty(1000, "f4"), session.empty(1000, "f4")
    with session.graph() as g:
        module.scale[1000](a, t, 2.0, 0)
        module.scale[1000](t, o, 3.0, 1)
    expect((o.numpy() == 0).all(), "it was recorded, not run")
    run = g.finalize(outputs=[o], fusion="require")
    run()
    expect((o.numpy() == 7).all(), f"{o}")
    report = run.report
    expect(report.launches == 1 and report.groups == [["scale", "scale.1"]] and len(report.internalized) == 1, f"{report}")
    expect("1 launch, 8,000 bytes" in repr(report) and any(code == "fused" for code, *_ in report.remarks), repr(report))
    expect("digraph" in report.dot() and "<pre>" in report._repr_html_(), "a picture")
    a.numpy()[:] = 2
    run()
    expect((o.numpy() == 13).all(), f"{o}")
    expect_error(RuntimeError, "another graph", lambda: [g.__enter__(), session.graph().__enter__()])
    g.__exit__()


LONG = (1 << 30,), (64,)  # a range that takes minutes, in many small parts between which it can be ended


def spinner(m, gate, **options):
    with gate.session.graph() as g:
        m.spin[LONG](gate, 1000)
    return g.finalize(fusion="none", **options)


def long_one():
    return spinner(module, session.empty(1, "i4"))


def test_events():
    a, o, other = session.array(numpy.ones(1000, "f4")), session.empty(1000, "f4"), session.zeros(1000, "f4")
    event = module.scale[1000].submit(a, o, 2.0, 1)
    expect(isinstance(event, fusiond.Event) and event.result() is None and event.done() and (o.numpy() == 3).all(), "submitted")
    with session.graph() as g:
        module.scale[1000](a, o, 5.0, 0)
        expect(module.scale[1000].submit(a, o, 5.0, 0) is None, "a graph records it")
    run = g.finalize()
    run.submit({o: other}).result()
    expect((other.numpy() == 5).all() and (o.numpy() == 3).all(), "another array in place of one")
    with session.graph() as g:
        module.scale[1000](o, o, 1.0, 1)
    g.finalize().submit(times=7).result()
    expect((o.numpy() == 10).all(), "seven rounds")
    told, there = [], threading.Event()
    event = run.submit()
    event.add_done_callback(lambda e: told.append(e))
    event.add_done_callback(lambda e: (told.append(e.exception()), there.set()))
    expect(there.wait(60) and told == [event, None], f"{told}")
    event.add_done_callback(lambda e: told.append("again"))
    expect(told[2:] == ["again"], "of a complete one at once")


def test_priorities():
    """The highest is first, of those that wait."""
    private = fusiond.connect(private=True, time_limit_ms=3600000)
    m = private.load_source(SOURCE)
    private.profiling = True
    arrays = [private.empty(10, "f4") for _ in range(3)]
    gate = private.empty(1, "i4")
    view = gate.numpy()
    handles = []
    for a in arrays:
        with private.graph() as g:
            m.scale[10](a, a, 1.0, 1)
        handles.append(g.finalize(fusion="none"))
    view[0] = -1
    first = spinner(m, gate).submit()
    while view[0] < 0:  # others wait behind it from here on
        time.sleep(0.001)
    events = [h.submit(priority=p) for h, p in zip(handles, (0, 2, 1))]
    first.cancel()
    for event in events:
        event.result()
    started = [e.times.started for e in events]
    expect(started[1] < started[2] < started[0], f"{started}")
    expect_error(fusiond.Error, "priority", lambda: handles[0].submit(priority=1 << 31))
    error = expect_error(fusiond.Error, "time limit of 100 ms", spinner(m, gate).submit(time_limit_ms=100).result)
    expect(error.code == "timeout", error.code)
    expect_error(fusiond.Error, "time limit of 50 ms", spinner(m, gate, time_limit_ms=50))
    private.close()


def test_bounds():
    """What is outside of an array is an error that names it, where that is asked for."""
    m = session.load_source("kernel void far(global float *o, global const int *at) { o[at[get_global_id(0)]] = 1; }")
    o, at = session.zeros(10, "f4"), session.array(numpy.array([3, 1000], "i4"))
    with session.graph() as g:
        m.far[2](o, at)
    error = expect_error(fusiond.Error, "element 1000", g.finalize(bounds=True))
    expect(error.code == "kernel_fault", error.code)
    expect_error(TypeError, "bound", lambda: session.jit(lambda a: a, bound=True))
    for first, count in ((10, 10), (1, 1), (333, 333), (2048, 2048)):  # the next element is nobody's
        o, at = session.zeros(count, "f4", name="o"), session.array(numpy.array([count - 1, first], "i4"))
        error = expect_error(fusiond.Error, f"beyond the end of buffer o ({4 * count} bytes)", m.far[2], o, at)
        expect(error.code == "kernel_fault", error.code)
        at[:] = 0
        m.far[2](o, at)
        expect(o[0] == 1, "it goes on")


def test_times():
    o = session.empty(4, "f4")
    event = module.scale[4].submit(o, o, 1.0, 0)
    event.result()
    expect(expect_error(fusiond.Error, "", lambda: event.times).code == "not_found", "no times were taken")
    session.profiling = True
    before = time.monotonic()
    event = module.scale[4].submit(o, o, 1.0, 0)
    event.result()
    t = event.times
    expect(before <= t.queued <= t.submitted <= t.started <= t.ended <= time.monotonic(), f"{t}")
    session.profiling = False


def test_cancel():
    run, told = long_one(), []
    first, second = run.submit(), run.submit()
    second.add_done_callback(lambda e: told.append(e.exception().code))
    expect(not first.done() and not second.done(), "they take long")
    expect_error(TimeoutError, "0.05 s", first.result, 0.05)
    second.cancel()
    first.cancel()
    expect([e.exception().code for e in (first, second)] == ["cancelled"] * 2, "cancelled")
    expect(expect_error(fusiond.Error, "cancelled", second.result).code == "cancelled" and second.done(), "told again")
    while not told:
        time.sleep(0.001)
    expect(told == ["cancelled"], f"{told}")


def test_interrupt():
    """Ctrl-C ends a call, and what it runs."""
    run = long_one()
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    expect_error(KeyboardInterrupt, "", run)
    after = session.array(numpy.ones(4, "f4"))
    module.scale[4](after, after, 2.0, 0)
    expect((after.numpy() == 2).all(), "what came next did not wait for it")


def test_futures():
    a, o = session.array(numpy.ones(10, "f4")), session.empty(10, "f4")
    with session.graph() as g:
        module.scale[10](a, o, 2.0, 0)
    futures = [g.finalize_async(outputs=[o], fusion="require", priority=p, tier="compiled") for p in range(5)]
    handles = [f.result(60) for f in futures]
    expect(len(set(handles)) == 5 and futures[0].result() is handles[0] and futures[0].done(), "a handle each, the same again")
    handles[3]()
    expect((o.numpy() == 2).all() and handles[3].report.launches == 1, f"{o}")
    there = threading.Event()
    futures[0].add_done_callback(lambda f: there.set())
    expect(there.wait(60), "told")
    with session.graph() as wrong:
        module.scale[1000](a, o, 2.0, 0)
    future = wrong.finalize_async()
    error = expect_error(fusiond.Error, "element 10", future.result)
    expect(error.code == "invalid" and future.exception().code == "invalid", "and why not")
    expect_error(fusiond.Error, "priority", lambda: g.finalize_async(priority=1 << 40))


def test_await():
    a, o = session.array(numpy.ones(1000, "f4")), session.empty(1000, "f4")

    async def steps():
        with session.graph() as g:
            module.scale[1000](a, o, 3.0, 0)
        run = await g.finalize_async()
        await run.submit()
        expect((o.numpy() == 3).all(), f"{o}")
        both = session.jit(lambda x: x + 1)
        expect(((await both.submit(o)).numpy() == 4).all(), "what a traced function returns")
        expect(await session.jit(lambda x: 5).submit(o) == 5, "and one that computes nothing")
        await asyncio.gather(*(run.submit() for _ in range(50)))
        ticks = 0
        event = long_one().submit()
        waiting = asyncio.ensure_future(wait_for(event))
        for _ in range(10):
            await asyncio.sleep(0.01)
            ticks += not waiting.done()
        expect(ticks == 10, "others go on meanwhile")
        waiting.cancel()
        try:
            await waiting
        except asyncio.CancelledError:
            pass
        expect(event.exception().code == "cancelled", "with who awaited it")

    async def wait_for(event):
        return await event

    asyncio.run(steps())


def test_threads():
    """Functions are called in other threads, also when the session is closed, and not after the interpreter's end."""
    other = fusiond.connect(private=True, threads=2)
    m = other.load_source(SOURCE)
    o, told = other.empty(1, "i4"), []
    event = spinner(m, o).submit()
    event.add_done_callback(lambda e: told.append(expect_error(fusiond.Error, "closed", e.result).code))
    other.close()
    expect(told == ["connection"], f"{told}")
    code = """
import fusiond, numpy
s = fusiond.connect(private=True)
m = s.load_source("kernel void spin(global int *o) { volatile global int *p = o; for (int i = 0; i < 1000; i++) *p = i; }")
o = s.empty(1, "i4")
with s.graph() as g:
    m.spin[(1 << 30,), (64,)](o)
g.finalize(fusion="none").submit().add_done_callback(lambda e: print("told", flush=True))
future = g.finalize_async()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    expect(done.returncode == 0 and done.stdout == "told\n" and not done.stderr, f"{done}")


def test_closed():
    """What is used after its session is an error, not memory of somebody else."""
    other = fusiond.connect(private=True)
    m = other.load_source(SOURCE)
    a, o = other.array(numpy.ones(4, "f4")), other.empty(4, "f4")
    with other.graph() as g:
        m.scale[4](a, o, 2.0, 0)
    run, norm = g.finalize(), other.jit(lambda x: x + 1)
    event, report = run.submit(), run.report
    event.result()
    norm(a)
    other.close()
    other.close()
    for what in (a.numpy, lambda: repr(a), lambda: a[0], run, run.submit, lambda: run.report, report.dot, run.save,
                 event.result, event.done, event.cancel, g.finalize, g.finalize_async, lambda: norm(a), other.graph,
                 lambda: m.scale[4](a, o, 2.0, 0), lambda: other.empty(4), other.status, other.metrics,
                 lambda: other.devices, lambda: other.load_source(SOURCE), lambda: numpy.asarray(o)):
        expect(expect_error(fusiond.Error, "it was closed", what).code == "connection", "closed")


def test_what_has_no_name():
    """Arrays are called by the kernel's parameter, or by what a traced function calls them."""
    m = session.load_source("kernel void twice(global const float *a, global float *o)"
                            "{ size_t i = get_global_id(0); o[i] = 2 * a[i]; }")
    a, t, o = session.array(numpy.ones(4, "f4")), session.empty(4, "f4"), session.empty(4, "f4")
    expect_error(fusiond.Error, "outside of buffer twice.a:", m.twice[8], a, o)
    named = session.array(numpy.ones(4, "f4"), name="input")
    expect_error(fusiond.Error, "outside of buffer input:", m.twice[8], named, o)
    expect_error(fusiond.Error, "but the buffer given has elements of type i32", m.twice[4], a, session.empty(4, "i4"))
    with session.graph() as g:
        m.twice[4](a, t)
        m.twice[4](t, o)
    expect(list(g.finalize(outputs=[o]).report.internalized) == ["twice.o"], "in reports")
    own = numpy.arange(3.0)

    def weighed(x, *more, weight):
        return x[1:] * weight + more[1] + own[1:]

    function = session.jit(weighed)
    given = numpy.ones(3)
    function(given, given.copy(), numpy.ones(2), weight=numpy.ones(2))
    expect({"x", "more[1]", "weight", "constant 0"} <= set(function.last.called), function.last.called)


def test_traced_mistakes():
    x = session.array(numpy.arange(4.0))

    def refuse(text, function):
        expect_error(TypeError, text, session.jit(function), x)

    refuse("no contents yet", lambda a: a if a.sum() > 0 else -a)
    refuse("numpy.unique cannot be traced", lambda a: numpy.unique(a))
    refuse("numpy.linalg.inv cannot be traced", lambda a: numpy.linalg.inv(a))
    refuse("write x = x + y", lambda a: a.__iadd__(1))
    refuse("no contents yet", lambda a: float(a[0]))
    refuse("by numpy.stack", lambda a: numpy.concatenate([[a[0]], [a[1]]]))
    refuse("numpy.linalg.det cannot be traced", lambda a: numpy.linalg.det(a))
    refuse("chosen by a mask cannot be traced", lambda a: a[a > 0])
    refuse("cannot be changed", lambda a: a.__setitem__(0, 1))
    expect_error(TypeError, "not a list", session.jit(lambda a: a + 1), [1.0, 2.0])
    expect_error(RuntimeError, "not been called", lambda: session.jit(lambda a: a).report)
    expect_error(ValueError, "(4,) and (3,)", session.jit(lambda a: a @ numpy.ones(3)), x)


def test_traced_calls():
    x = session.array(numpy.arange(6.0))

    @session.jit
    def both(a, b, *, scale=1.0, kind="sum"):
        return {"result": a + b if kind == "sum" else a * b, "twice": (a * scale, [b])}

    out = both(x, x, scale=3.0)
    expect((out["result"].numpy() == 2 * x.numpy()).all(), f"{out}")
    expect((out["twice"][0].numpy() == 3 * x.numpy()).all() and (out["twice"][1][0].numpy() == x.numpy()).all(), f"{out}")
    y = session.array(numpy.ones(6))
    expect((both(x, y)["result"].numpy() == x.numpy() + 1).all(), "other arrays of the same shapes")
    expect((both(x, y, kind="product")["result"].numpy() == x.numpy()).all(), "another constant")
    expect((both(numpy.ones(6), x)["result"].numpy() == x.numpy() + 1).all(), "an array of NumPy")
    expect("kernel @" in both.source and both.report.launches == 1, both.source)
    first, second = both(x, y)["result"], both(x, x)["result"]
    expect((first.numpy() == x.numpy() + 1).all() and (second.numpy() == 2 * x.numpy()).all(), "each call has its result")


def test_traced_numbers_that_decide():
    x = numpy.arange(24.0).reshape(2, 3, 4)

    def same(function, *numbers):
        traced = session.jit(function)
        for n in numbers:
            expect((traced(x, n).numpy() == function(x, n)).all(), f"{function} {n}")
        return traced

    traced = same(lambda a, axis: a.sum(axis=axis), 0, 1, -1)
    expect(len(traced.made) == 3, "a graph for each axis")
    same(lambda a, n: a.reshape(n, -1), 2, 6)
    same(lambda a, i: a[i] + a[-1 - i], 0, 1)
    same(lambda a, up: a + 1 if up else a - 1, True, False)
    same(lambda a, k: sum([a * i for i in range(k)], a), 1, 3)
    same(lambda a, n: numpy.pad(a, n), 0, 2)
    same(lambda a, n: numpy.roll(a, n, 1) + numpy.take(a, n, axis=2)[..., None], 0, 1)
    same(lambda a, n: numpy.arange(n) + numpy.repeat(a, 2, axis=0)[..., :n], 1, 3)
    same(lambda a, q: numpy.quantile(a, q) + numpy.percentile(a, 100 * q), 0.25, 1.0)
    same(lambda a, n: numpy.concatenate([a.ravel(), [n, 1]]), 1, 3)
    scaled = session.jit(lambda a, k, c: a.max(axis=k) * c)
    for k in 0, 1:
        for c in 2.0, 3.0, 4.0:
            expect((scaled(x, k, c=c).numpy() == x.max(axis=k) * c).all(), f"{k} {c}")
    expect(len(scaled.made) == 2, "what does not decide may differ without another graph")


def test_session():
    names = [d["name"] for d in session.devices]
    expect("cpu" in names and "reference" in names, f"{names}")
    expect(isinstance(session.status(), dict), "status")
    expect(session.metrics().endswith("# EOF\n"), "metrics")
    with fusiond.connect(private=True) as other:
        foreign = other.array([1.0])
        expect_error(ValueError, "another session", session.jit(lambda a: a), foreign)
    expect(other.closed, "closed")
    del foreign
    error = expect_error(fusiond.Error, "/nowhere/socket", fusiond.connect, "/nowhere/socket")
    expect(error.code == "connection", error.code)


def test_documentation():
    names = ["", ".array", ".errors", ".graph", ".jit", ".module", ".outcome", ".report", ".session", ".expr", ".functions"]
    for name in names:
        result = doctest.testmod(importlib.import_module("fusiond" + name))
        expect(result.failed == 0, f"examples of fusiond{name}")
    result = doctest.testfile(os.path.join(ROOT, "docs/python.md"), module_relative=False)
    expect(result.failed == 0 and result.attempted > 5, f"{result} of docs/python.md")


def main():
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    print(f"1..{len(tests)}")
    failed = False
    for number, (name, test) in enumerate(tests, 1):
        try:
            test()
            print(f"ok {number} {name}", flush=True)
        except Exception:
            failed = True
            print(f"not ok {number} {name}", flush=True)
            print("".join("# " + line for line in traceback.format_exc().splitlines(keepends=True)[-12:]), flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
