#!/usr/bin/python3
"""How far the results of traced functions are from the right ones, and from NumPy's: each function of floats, over
numbers of all magnitudes and those that programs have. The judge is NumPy in long double, which has 11 bits more than a
float64. Prints TAP, and with --table what was measured, in units in the last place.

    test_accuracy.py [--table] [NUMBERS]
"""
import sys

import numpy

import fusiond

BOUND = 2  # units in the last place
NUMBERS = {"f2": 1 << 16, "f4": 1 << 19, "f8": 1 << 18}
ONE = """sqrt cbrt square reciprocal exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh
arcsinh arccosh arctanh deg2rad rad2deg""".split()
TWO = "add subtract multiply true_divide power arctan2 hypot logaddexp logaddexp2 fmod".split()
# NumPy's sum of a number and a logarithm, whose digits cancel: units are those of the larger operand.
CANCELS = {"logaddexp", "logaddexp2"}

random = numpy.random.default_rng(7)
session = fusiond.connect(private=True)


def numbers(dtype, n):
    """Of all magnitudes, of a few, and next to whole numbers and quarters of turns."""
    kind = numpy.dtype(dtype.replace("f", "u"))
    bits = random.integers(0, numpy.iinfo(kind).max, n // 2, kind, endpoint=True).view(dtype)
    usual = (random.normal(size=n // 4) * 10.0 ** random.integers(-3, 3, n // 4)).astype(dtype)
    whole = random.integers(-200, 200, n - n // 2 - n // 4)
    edges = (whole * random.choice([1, 0.5, numpy.pi / 4, numpy.log(2)], len(whole))).astype(dtype)
    near = numpy.nextafter(edges, edges + random.choice([-1, 1], len(edges)).astype(dtype))
    return random.permutation(numpy.concatenate([bits, usual, near]))


def unit(right, dtype):
    """The distance of neighbours there."""
    info = numpy.finfo(dtype)
    _, exponent = numpy.frexp(numpy.abs(right))
    least = numpy.frexp(numpy.longdouble(info.tiny))[1]
    return numpy.ldexp(numpy.longdouble(1), numpy.maximum(exponent, least) - info.nmant - 1)


def errors(got, right, at):
    """In units in the last place of a number; infinite where one is a NaN or infinite and the other is not."""
    nearest = right.astype(got.dtype)
    plain = numpy.isfinite(nearest) & numpy.isfinite(got)
    alike = (numpy.isnan(nearest) & numpy.isnan(got)) | (nearest == got)
    far = numpy.where(plain, numpy.abs(got.astype(numpy.longdouble) - right) / unit(at, got.dtype), numpy.inf)
    # One is the largest number, and the other one what follows it.
    largest = numpy.finfo(got.dtype).max
    edge = (numpy.minimum(numpy.abs(nearest), numpy.abs(got)) == largest) & (numpy.sign(nearest) == numpy.sign(got))
    return numpy.where(alike & ~plain, 0, numpy.where(edge & ~plain, 1, far))


def steps(a, b):
    """How many floats lie between two arrays of them, and 1; of other signs infinitely many."""
    kind = numpy.dtype(a.dtype.str.replace("f", "i"))
    x, y = (numpy.where(v.view(kind) < 0, numpy.iinfo(kind).min - v.view(kind), v.view(kind)) for v in (a, b))
    apart = numpy.where(numpy.sign(x) * numpy.sign(y) < 0, numpy.inf, numpy.maximum(x, y) - numpy.minimum(x, y))
    return numpy.where(numpy.isnan(a) & numpy.isnan(b) | (a == b), 0, apart)


def measured(name, dtype, n):
    """The largest errors of ours and of NumPy's, how far both are apart, and where ours was."""
    ufunc = getattr(numpy, name)
    given = [numbers(dtype, n) for _ in range(ufunc.nin)]
    ours = numpy.asarray(session.jit(lambda *a: ufunc(*a))(*given))
    theirs, right = ufunc(*given), ufunc(*[g.astype(numpy.longdouble) for g in given])
    at = numpy.maximum(numpy.abs(right), numpy.maximum(*map(numpy.abs, given))) if name in CANCELS else right
    far = errors(ours, right, at)
    worst = int(numpy.argmax(far))
    return far[worst], numpy.max(errors(theirs, right, at)), numpy.max(steps(ours, theirs)), [g[worst] for g in given], ours[worst]


def main():
    table = "--table" in sys.argv
    given = [int(a) for a in sys.argv[1:] if a.isdigit()]
    names = [(name, dtype) for name in ONE + TWO for dtype in NUMBERS]
    failed = False
    print(f"1..{len(names)}")
    for number, (name, dtype) in enumerate(names, 1):
        with numpy.errstate(all="ignore"):
            far, theirs, apart, place, got = measured(name, dtype, given[0] if given else NUMBERS[dtype])
        good = far <= BOUND
        failed |= not good
        print(f"{'' if good else 'not '}ok {number} {name} of {dtype}", flush=True)
        if table or not good:
            print(f"# {name} {dtype}: ours {far:.2f}, NumPy's {theirs:.2f}, {apart:.0f} apart; "
                  f"of {', '.join(float(p).hex() for p in place)} ours is {float(got).hex()}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
