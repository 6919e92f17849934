"""numexpr as a peer: does one work over memory it shares with the benchmark, and times itself on request.

numexpr_peer.py WORK COUNT INPUTS FD...   one descriptor per array, inputs first. Each line of its input is a number
of runs; it answers with the mean time of one in milliseconds.
"""
import sys
import time

import numexpr
import numpy

RATE, VOLATILITY = numpy.float32(0.03), numpy.float32(0.3)

CHAIN = "(a + b) * c + (a + b) * five"
D1 = "(log(s / k) + drift * t) / (volatility * sqrt(t))"
# There is no erf in numexpr: the normal distribution by the formula 26.2.17 of Abramowitz and Stegun.
TAIL = "exp(-half * x * x) * scale * q * (b1 + q * (b2 + q * (b3 + q * (b4 + q * b5))))"


def f32(**values):
    return {name: numpy.float32(v) for name, v in values.items()}


def normal(x):
    constants = f32(half=0.5, scale=0.3989422804014327, b1=0.319381530, b2=-0.356563782, b3=1.781477937,
                    b4=-1.821255978, b5=1.330274429)
    q = numexpr.evaluate("one / (one + p * abs(x))", {"x": x, **f32(one=1, p=0.2316419)})
    tail = numexpr.evaluate(TAIL, {"x": x, "q": q, **constants})
    return numexpr.evaluate("where(x < zero, tail, one - tail)", {"x": x, "tail": tail, **f32(zero=0, one=1)})


def chain(inputs, outputs):
    a, b, c = inputs
    numexpr.evaluate(CHAIN, {"a": a, "b": b, "c": c, **f32(five=5)}, out=outputs[0])


CHAIN_16 = ["(a + b) * k1 + k2", "where(t * a > zero, t * a, t * a * k3)", "(t - b) * k4 - k5",
            "where(t < -one, -one, where(t > one, one, t)) + a", "where(t > zero, t, t * k6) * b",
            "(t + half) * half - a", "where(t < -two, -two, where(t > two, two, t))"]


def chain_16(inputs, outputs):
    names = {"a": inputs[0], "b": inputs[1], "t": outputs[0],
             **f32(k1=0.75, k2=0.125, k3=0.1, k4=1.5, k5=0.25, k6=0.2, zero=0, one=1, two=2, half=0.5)}
    for step in CHAIN_16:
        numexpr.evaluate(step, names, out=outputs[0])


def black_scholes(inputs, outputs):
    s, k, t = inputs
    constants = f32(drift=RATE + VOLATILITY * VOLATILITY / 2, volatility=VOLATILITY, rate=RATE)
    d1 = numexpr.evaluate(D1, {"s": s, "k": k, "t": t, **constants})
    d2 = numexpr.evaluate("d1 - volatility * sqrt(t)", {"d1": d1, "t": t, **constants})
    names = {"s": s, "k": k, "t": t, "n1": normal(d1), "n2": normal(d2), **constants}
    numexpr.evaluate("s * n1 - k * exp(-rate * t) * n2", names, out=outputs[0])
    numexpr.evaluate("c - s + k * exp(-rate * t)", {**names, "c": outputs[0]}, out=outputs[1])


def main():
    works = {"chain": chain, "chain_16": chain_16, "black_scholes": black_scholes}
    work, count, n_inputs = works[sys.argv[1]], int(sys.argv[2]), int(sys.argv[3])
    arrays = [numpy.memmap(f"/proc/self/fd/{fd}", numpy.float32, "r+", shape=(count,)) for fd in sys.argv[4:]]
    numexpr.set_num_threads(2)
    print("ready", flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        for _ in range(int(line)):
            work(arrays[:n_inputs], arrays[n_inputs:])
        print((time.perf_counter() - start) * 1e3 / int(line), flush=True)


main()
