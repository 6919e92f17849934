#!/usr/bin/env python3
"""Runs tests/gpu's benchmark and the same works by PyTorch's inductor and by CuPy, in one run on one GPU.

Usage: peers.py FOLDER [WORK ...]. FOLDER has `bench`, `bare` and their kernels. Prints a line for each work: milliseconds by
the GPU's own clock of each (inductor's where runs follow each other, and by themselves as ours are), what share of the
memory's speed (of a copy here) ours reaches, and ours over inductor's.
"""
import json
import math
import os
import subprocess
import sys

import torch

PERIOD = 1 << 20
EWISE, CHAIN, OPTIONS, SIDE, PICTURE, ROWS = 1 << 28, 1 << 26, 1 << 24, 8192, 4096, 1 << 26


def made(n, seed, low, high):
    i = torch.arange(min(n, PERIOD), dtype=torch.int64, device="cuda")
    x = ((i * 2654435761 + seed * 40503) & 0xFFFFFFFF) >> 12
    x = (low + (high - low) * x.to(torch.float32) / PERIOD).to(torch.float32)
    return x.repeat(max(1, n // PERIOD))


def milliseconds(function, args):
    """The median of runs that follow each other, by events."""
    for _ in range(5):
        function(*args)
    n = 40
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(n + 1)]
    marks[0].record()
    for i in range(n):
        function(*args)
        marks[i + 1].record()
    torch.cuda.synchronize()
    times = sorted(marks[i].elapsed_time(marks[i + 1]) for i in range(n))
    return times[n // 2]


def milliseconds_alone(function, args):
    """The median of runs by themselves, as ours are: the GPU is kept busy with nothing until all of one is queued, and
    waited for behind it."""
    times = []
    for _ in range(25):
        before, behind = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(1_000_000)
        before.record()
        function(*args)
        behind.record()
        torch.cuda.synchronize()
        times.append(before.elapsed_time(behind))
    return sorted(times)[len(times) // 2]


# ---- the works: a function, its arguments; the same for CuPy ----

def ewise(a, b, c):
    return (a + b) * c + (a + b) * 5


def chain(x):
    for i in range(16):
        x = x + 0.5 if i & 1 else x * 1.01
    return x


def options(spot, strike, years):
    spread = 0.3 * torch.sqrt(years)
    d1 = (torch.log(spot / strike) + (0.02 + 0.045) * years) / spread
    d2 = d1 - spread
    n1, n2 = 0.5 + 0.5 * torch.erf(d1 * 0.70710678), 0.5 + 0.5 * torch.erf(d2 * 0.70710678)
    present = strike * torch.exp(-0.02 * years)
    call = spot * n1 - present * n2
    return call, call - spot + present


ROUNDS_AT_ONCE = 32


def some_rounds(x, y, cx, cy, rounds):
    for _ in range(ROUNDS_AT_ONCE):
        inside = x * x + y * y <= 4
        x, y = torch.where(inside, x * x - y * y + cx, x), torch.where(inside, 2 * x * y + cy, y)
        rounds = rounds + inside.to(torch.int32)
    return x, y, rounds


def picture(step):
    at = torch.arange(PICTURE, device="cuda", dtype=torch.float32) * (3.0 / PICTURE)
    cx, cy = (at - 2.2).repeat(PICTURE, 1), (at - 1.5).repeat(PICTURE, 1).t().contiguous()
    zero = torch.zeros_like(cx)
    x, y, rounds = zero, zero, zero.to(torch.int32)
    for _ in range(256 // ROUNDS_AT_ONCE):
        x, y, rounds = step(x, y, cx, cy, rounds)
    return rounds


def diffusion(a, source):
    inner = a[1:-1, 1:-1]
    spread = inner + 0.2 * (a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1] - 4 * inner)
    spread = torch.nn.functional.pad(spread, (1, 1, 1, 1))
    h, w = a.shape
    y, x = torch.arange(h, device=a.device)[:, None], torch.arange(w, device=a.device)[None, :]
    spread = torch.where((x > 0) & (y > 0) & (x < w - 1) & (y < h - 1), spread, a)
    return torch.clamp((spread + 0.1 * source) * (1 - 0.05), 0.1, 0.9)


def softmax(x):
    return torch.softmax(x, 1)


def layernorm(x, scale, shift):
    return torch.nn.functional.layer_norm(x, (x.shape[1],), scale, shift, 1e-5)


def compiled(function):
    torch._dynamo.reset()
    return torch.compile(function, dynamic=False)


def work_of(name):
    """What inductor runs: a function and its arguments."""
    if name in ("ewise4", "by_hand"):
        return compiled(ewise), [made(EWISE, s, 0, 1) for s in (1, 2, 3)]
    if name == "chain16":
        return compiled(chain), [made(CHAIN, 1, 0, 1)]
    if name == "black_scholes":
        return compiled(options), [made(OPTIONS, 1, 10, 100), made(OPTIONS, 2, 10, 100), made(OPTIONS, 3, 0.25, 4)]
    if name == "mandelbrot":
        step = compiled(some_rounds)
        return lambda: picture(step), []
    if name == "stencil":
        return compiled(diffusion), [made(SIDE * SIDE, s, 0, 1).reshape(SIDE, SIDE) for s in (1, 2)]
    if name == "copy":
        to = torch.empty(EWISE, device="cuda")
        return to.copy_, [made(EWISE, 1, 0, 1)]
    kind, columns = name.split("_")
    columns = int(columns[:-1]) * 1024
    x = made(ROWS, 1, -2, 2).reshape(-1, columns)
    if kind == "softmax":
        return compiled(softmax), [x]
    return compiled(layernorm), [x, made(columns, 2, 0, 1), made(columns, 3, 0, 1)]


def cupy_of(name, args):
    """The same by CuPy: None where it has nothing of the kind."""
    import cupy
    arrays = [cupy.from_dlpack(a) for a in args]
    if name == "ewise4":
        return cupy.ElementwiseKernel("float32 a, float32 b, float32 c", "float32 o", "o = (a + b) * c + (a + b) * 5",
                                      "ewise4"), arrays
    if name == "chain16":
        def steps(x):
            for i in range(16):
                x = x + cupy.float32(0.5) if i & 1 else x * cupy.float32(1.01)
            return x
        return cupy.fuse(steps), arrays
    if name == "black_scholes":
        kernel = cupy.ElementwiseKernel(
            "float32 s, float32 k, float32 t", "float32 c, float32 p",
            "float v = 0.3f * sqrtf(t), d = (logf(s / k) + 0.065f * t) / v, e = d - v;"
            "float n = 0.5f + 0.5f * erff(d * 0.70710678f), m = 0.5f + 0.5f * erff(e * 0.70710678f);"
            "float now = k * expf(-0.02f * t); c = s * n - now * m; p = c - s + now;", "prices")
        return kernel, arrays
    if name == "mandelbrot":
        kernel = cupy.ElementwiseKernel(
            "int32 w", "int32 o",
            "float cx = -2.2f + (i % w) * (3.0f / w), cy = -1.5f + (i / w) * (3.0f / w), x = 0, y = 0; int n = 0;"
            "while (n < 256 && x * x + y * y <= 4) { float t = x * x - y * y + cx; y = 2 * x * y + cy; x = t; n++; } o = n;",
            "rounds")
        return lambda: kernel(PICTURE, size=PICTURE * PICTURE), []
    if name.startswith("softmax"):
        def rows(x):
            e = cupy.exp(x - x.max(1, keepdims=True))
            return e / e.sum(1, keepdims=True)
        return rows, arrays
    return None


def cupy_milliseconds(name, args):
    try:
        import cupy
        work = cupy_of(name, args)
        if not work:
            return math.nan
        with cupy.cuda.Stream.from_external(torch.cuda.current_stream()):
            return milliseconds(*work)
    except Exception as error:  # the peer is told as absent, not the run as failed
        print(f"# cupy, {name}: {error}".splitlines()[0])
        return math.nan


def output(program, *args, **environment):
    """Of one of our programs, which has libraries of its own."""
    libraries = {"LD_LIBRARY_PATH": os.environ.get("BENCH_LIBRARIES", "")}
    run = subprocess.run([program, *args], stdout=subprocess.PIPE, text=True, check=False,
                         env={**os.environ, **libraries, **environment})
    return run.stdout


def ours(folder, names, **environment):
    text = output(os.path.join(folder, "bench"), folder, *names, **environment)
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def measured(name):
    """Inductor's milliseconds, run after run and by itself, CuPy's, and the sum of the first results."""
    function, args = work_of(name)
    inductor, alone = milliseconds(function, args), milliseconds_alone(function, args)
    return inductor, alone, cupy_milliseconds(name, args), first_sum(function(*args))


def first_sum(result):
    result = result[0] if isinstance(result, tuple) else result
    return result.reshape(-1)[:PERIOD].double().sum().item()


def main():
    folder, names = sys.argv[1], sys.argv[2:]
    for line in ours(folder, ["launch"]):
        print(f"launch through our handle: first {line['first_ms'] * 1e3:.1f} us, replayed {line['wall_ms'] * 1e3:.1f} us, "
              f"of which the executor of the GPU has {line['ms'] * 1e3:.1f}")
    print(output(os.path.join(folder, "bare"), folder).strip())
    lines = [line for line in ours(folder, names, FUSIOND_VULKAN_TIMES="1") if line["work"] != "launch"]
    speed, before = math.nan, None
    print(f"{'work':14} {'ours ms':>9} {'waited':>9} {'inductor':>9} {'alone':>9} {'cupy':>9} {'of copy':>8} {'/inductor':>9} {'/alone':>7}  "
          "launches moved")
    for line in lines:
        name = line["work"].partition(":")[0]
        if name != before:
            before = name
            inductor, alone, cupy, total = measured(name)
            torch.cuda.empty_cache()
        if name == "copy":
            speed = EWISE * 8 / inductor / 1e6
            print(f"copy by PyTorch: {speed:.0f} GB/s")
        same = math.isclose(total, line["sum"], rel_tol=1e-3)
        print(f"{line['work']:14} {line['ms']:9.4f} {line['wall_ms']:9.4f} {inductor:9.4f} {alone:9.4f} {cupy:9.4f} "
              f"{line['gb_per_s'] / speed:8.3f} {line['ms'] / inductor:9.3f} {line['ms'] / alone:7.3f}  {line['launches']} {line['moved']}{'' if same else ' OTHER VALUES'}", flush=True)


main()
