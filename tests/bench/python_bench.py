#!/usr/bin/python3
"""Array expressions through the Python package against NumPy, numexpr, numba and JAX, as far as they are installed: the
same ten lines for each, in turns in one run; medians, and ratios to the fastest of the others. On a machine that does
other things, too, --processor compares the processor time of this process and of the service's that it started.

    python_bench.py [--rounds N] [--processor] [WORK ...]
"""
import argparse
import glob
import os
import statistics
import time

import numpy

import fusiond

try:
    import numexpr
except ImportError:
    numexpr = None
try:
    import numba
except ImportError:
    numba = None
try:
    import jax
except ImportError:
    jax = None


# -- the works: as functions of a module of array functions, and what peers need of their own --

def chain(np, a, b, c):
    x = a
    for _ in range(4):
        x = x + b
        x = x * c
        x = x - a
        x = np.maximum(x, b)
    return x


def chain_numexpr(a, b, c):
    x = a
    for _ in range(4):
        x = numexpr.evaluate("(x + b) * c - a")
        x = numexpr.evaluate("where(x > b, x, b)")
    return x


def chain_loop(a, b, c, out):
    for i in numba.prange(a.size):
        x = a[i]
        for _ in range(4):
            x = max((x + b[i]) * c[i] - a[i], b[i])
        out[i] = x


def black_scholes(np, s, k, t):
    r, v = s.dtype.type(0.02), s.dtype.type(0.3)
    root = v * np.sqrt(t)
    d1 = (np.log(s / k) + (r + v * v / 2) * t) / root
    d2 = d1 - root

    def normal(x):
        n = 1 / (1 + 0.2316419 * np.abs(x))
        poly = n * (0.319381530 + n * (-0.356563782 + n * (1.781477937 + n * (-1.821255978 + n * 1.330274429))))
        y = 1 - 0.39894228 * np.exp(-0.5 * x * x) * poly
        return np.where(x < 0, 1 - y, y)

    return s * normal(d1) - k * np.exp(-r * t) * normal(d2)


def black_scholes_numexpr(s, k, t):
    root = numexpr.evaluate("0.3 * sqrt(t)")
    d1 = numexpr.evaluate("(log(s / k) + (0.02 + 0.045) * t) / root")
    d2 = numexpr.evaluate("d1 - root")

    def normal(x):
        n = numexpr.evaluate("1 / (1 + 0.2316419 * abs(x))")
        return numexpr.evaluate("where(x < 0, 0.39894228 * exp(-0.5 * x * x) * p, 1 - 0.39894228 * exp(-0.5 * x * x) * p)", {
            "x": x, "p": numexpr.evaluate("n * (0.319381530 + n * (-0.356563782 + n * (1.781477937 + n * (-1.821255978 "
                                          "+ n * 1.330274429))))")})
    n1, n2 = normal(d1), normal(d2)
    return numexpr.evaluate("s * n1 - k * exp(-0.02 * t) * n2")


def black_scholes_loop(s, k, t, out):
    for i in numba.prange(s.size):
        root = numpy.float32(0.3) * numpy.sqrt(t[i])
        d1 = (numpy.log(s[i] / k[i]) + numpy.float32(0.065) * t[i]) / root
        d2 = d1 - root
        n = 1 / (1 + numpy.float32(0.2316419) * abs(d1))
        p = n * (numpy.float32(0.319381530) + n * (numpy.float32(-0.356563782) + n * (numpy.float32(1.781477937) + n * (
            numpy.float32(-1.821255978) + n * numpy.float32(1.330274429)))))
        y1 = numpy.float32(0.39894228) * numpy.exp(numpy.float32(-0.5) * d1 * d1) * p
        n = 1 / (1 + numpy.float32(0.2316419) * abs(d2))
        p = n * (numpy.float32(0.319381530) + n * (numpy.float32(-0.356563782) + n * (numpy.float32(1.781477937) + n * (
            numpy.float32(-1.821255978) + n * numpy.float32(1.330274429)))))
        y2 = numpy.float32(0.39894228) * numpy.exp(numpy.float32(-0.5) * d2 * d2) * p
        n1, n2 = y1 if d1 < 0 else 1 - y1, y2 if d2 < 0 else 1 - y2
        out[i] = s[i] * n1 - k[i] * numpy.exp(numpy.float32(-0.02) * t[i]) * n2


def softmax(np, x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def softmax_loop(x, out):
    for r in numba.prange(x.shape[0]):
        top = x[r].max()
        total = numpy.float32(0)
        for i in range(x.shape[1]):
            out[r, i] = numpy.exp(x[r, i] - top)
            total += out[r, i]
        for i in range(x.shape[1]):
            out[r, i] /= total


def positive(random, n):
    return (random.random(n, dtype="f4") + numpy.float32(0.5)).astype("f4")


WORKS = {
    "chain_16": (chain, chain_numexpr, chain_loop, lambda r: [positive(r, 1 << 24) for _ in range(3)]),
    "black_scholes": (black_scholes, black_scholes_numexpr, black_scholes_loop, lambda r: [positive(r, 1 << 22) for _ in range(3)]),
    "softmax": (softmax, None, softmax_loop, lambda r: [positive(r, (8192, 1024))]),
}


# -- peers --

def peers(session, work):
    """Name to a function without arguments that computes the work once and gives its result."""
    function, text, loop, make = WORKS[work]
    data = make(numpy.random.default_rng(1))
    ours = [session.array(d) for d in data]
    traced = session.jit(lambda *a: function(numpy, *a))
    found = {"fusiond": lambda: traced(*ours), "numpy": lambda: function(numpy, *data)}
    if numexpr and text:
        found["numexpr"] = lambda: text(*data)
    if numba:
        compiled, out = numba.njit(parallel=True, fastmath=True)(loop), numpy.empty_like(data[0])

        def run():
            compiled(*data, out)
            return out
        found["numba"] = run
    if jax:
        there = [jax.numpy.asarray(d) for d in data]
        made = jax.jit(lambda *a: function(jax.numpy, *a))
        found["jax"] = lambda: made(*there).block_until_ready()
    return found, function(numpy, *data), traced


def family():
    """This process and those that come from it."""
    children = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as stat:
                parent = int(stat.read().rsplit(")", 1)[1].split()[1])
        except OSError:  # it has ended
            continue
        children.setdefault(parent, []).append(int(path.split("/")[2]))
    found = [os.getpid()]
    for process in found:
        found += children.get(process, [])
    return found


def processor_seconds(processes):
    """What their threads have used."""
    total = 0
    for path in (p for n in processes for p in glob.glob(f"/proc/{n}/task/*/schedstat")):
        try:
            with open(path) as stat:
                total += int(stat.read().split()[0])
        except OSError:
            continue
    return total / 1e9


def clock(processor):
    """Gives seconds whenever it is called."""
    if not processor:
        return time.perf_counter
    processes = family()
    return lambda: processor_seconds(processes)


def measure(work, session, rounds, processor):
    found, right, traced = peers(session, work)
    times = {name: [] for name in found}
    for name, run in found.items():
        error = numpy.max(numpy.abs(numpy.asarray(run()) - right))
        if error > 1e-3 * numpy.max(numpy.abs(right)):
            print(f"{work}: {name} is wrong by {error}")
    seconds = clock(processor)
    for _ in range(rounds):
        for name, run in found.items():
            begin = seconds()
            run()
            times[name].append(seconds() - begin)
    medians = {name: statistics.median(t) for name, t in times.items()}
    best = min((t, n) for n, t in medians.items() if n != "fusiond")
    print(f"{work:14} " + "  ".join(f"{n} {1e3 * t:.1f} ms" for n, t in medians.items())
          + f"   fusiond / {best[1]}: {medians['fusiond'] / best[0]:.2f}, {traced.report.launches} launches")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--processor", action="store_true")
    parser.add_argument("works", nargs="*", default=list(WORKS))
    given = parser.parse_args()
    for work in set(given.works) - set(WORKS):
        parser.error(f"{work} is no work; works are {', '.join(WORKS)}")
    with fusiond.connect(private=True) as session:
        for work in given.works or WORKS:
            measure(work, session, given.rounds, given.processor)


if __name__ == "__main__":
    main()
