#!/usr/bin/python3
"""Traced functions against NumPy: each operation on each dtype, random expressions, shapes and views. Prints TAP."""
import os
import sys
import traceback
import warnings

import numpy

import fusiond

SEED = int(os.environ.get("FUSIOND_TEST_SEED", "1"))
CASES = int(os.environ.get("FUSIOND_TEST_CASES", "60"))
DTYPES = ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
UNARY = """negative positive absolute fabs sign square reciprocal sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan
arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh deg2rad rad2deg floor ceil trunc rint logical_not invert isnan
isinf isfinite signbit spacing""".split()
BINARY = """add subtract multiply true_divide floor_divide remainder fmod power arctan2 hypot copysign nextafter maximum minimum
fmax fmin greater greater_equal less less_equal equal not_equal logical_and logical_or logical_xor bitwise_and bitwise_or
bitwise_xor left_shift right_shift heaviside gcd lcm""".split()
# Of f16 NumPy rounds twice, too, but not after the same operations.
ULPS = {"f2": 2, "f4": 4, "f8": 4}

random = numpy.random.default_rng(SEED)
session = fusiond.connect(private=True)


def numbers(dtype, shape, small=False):
    """With what is special among them."""
    dtype = numpy.dtype(dtype)
    if dtype.kind == "b":
        return random.random(shape) < 0.5
    if dtype.kind == "f":
        values = random.normal(size=shape).astype(dtype) * random.choice([1, 30]).astype(dtype)
        special = numpy.array([0, -0.0, 1, -1, numpy.inf, -numpy.inf, numpy.nan, 0.5, 2], dtype)
        chosen = random.random(shape) < (0 if small else 0.1)
        return numpy.where(chosen, random.choice(special, shape), values).astype(dtype)
    info = numpy.iinfo(dtype)
    low, high = (-5, 6) if small and dtype.kind == "i" else (0, 6) if small else (info.min, info.max)
    return random.integers(low, high, shape, dtype, endpoint=True)


def distance(a, b):
    """Units in the last place between two arrays of floats, element by element; NaNs are alike."""
    kind = {2: numpy.int16, 4: numpy.int32, 8: numpy.int64}[a.dtype.itemsize]
    lowest = numpy.iinfo(kind).min

    def order(x):
        bits = numpy.ascontiguousarray(x).view(kind).astype(object)
        return numpy.where(bits < 0, lowest - bits, bits)

    both_nan = numpy.isnan(a) & numpy.isnan(b)
    apart = numpy.abs(order(a) - order(b))
    return numpy.where(both_nan, 0, apart)


def expect_equal(ours, theirs, what, ulps=None):
    ours, theirs = numpy.asarray(ours), numpy.asarray(theirs)
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        raise AssertionError(f"{what}: {ours.dtype} {ours.shape}, NumPy has {theirs.dtype} {theirs.shape}")
    if ours.dtype.kind != "f":
        bad = ours != theirs
    else:
        key = f"f{ours.dtype.itemsize}"
        bad = distance(ours, theirs) > (ULPS[key] if ulps is None else ulps)
        bad = bad & ~((ours == 0) & (theirs == 0))
    if numpy.any(bad):
        place = tuple(numpy.argwhere(bad)[0])
        raise AssertionError(f"{what}: at {place} {ours[place]!r}, NumPy has {theirs[place]!r}; {numpy.sum(bad)} differ")


def compare(function, *arguments, what, ulps=None):
    with numpy.errstate(all="ignore"):
        theirs = function(*arguments)
    ours = session.jit(function)(*arguments)
    expect_equal(ours, theirs, what, ulps)


def possible(function, *arguments):
    """Does NumPy have it for these dtypes?"""
    try:
        with numpy.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(*arguments)
        return True
    except (TypeError, ValueError):
        return False


# -- each operation --

def untraced(name, dtypes):
    """What is refused, with a TypeError."""
    return name == "power" and numpy.result_type(*dtypes).kind == "i" and numpy.dtype(dtypes[1]).kind == "i"


def check_operation(name, dtypes):
    ufunc = getattr(numpy, name)
    arguments = [numbers(d, 200) for d in dtypes]
    if name.endswith("shift"):
        arguments[1] = numpy.clip(arguments[1], 0, 70).astype(dtypes[1])
    if name == "reciprocal" and arguments[0].dtype.kind in "iu":
        arguments[0][arguments[0] == 0] = 1  # undefined
    if name == "power" and numpy.dtype(dtypes[1]).kind in "iu":
        signed = numpy.dtype(dtypes[1]).kind == "i" and numpy.result_type(*dtypes).kind != "i"
        arguments[1] = numpy.clip(arguments[1], -9 if signed else 0, 9).astype(dtypes[1])
    if not possible(ufunc, *arguments):
        return
    if untraced(name, dtypes):
        try:
            session.jit(lambda *a: ufunc(*a))(*arguments)
        except TypeError:
            return
        raise AssertionError(f"{name} of {dtypes} was not refused")
    compare(lambda *a: ufunc(*a), *arguments, what=f"{name} of {', '.join(dtypes)}")


def test_unary():
    for name in UNARY:
        for dtype in DTYPES:
            check_operation(name, [dtype])


def test_binary():
    for name in BINARY:
        for dtype in DTYPES:
            check_operation(name, [dtype, dtype])
            check_operation(name, [dtype, str(random.choice(DTYPES))])


def test_parts():
    """Those with two results, or with an exponent."""
    for dtype in ("f2", "f4", "f8", "i4"):
        values = numbers(dtype, 200)
        finite = values[numpy.isfinite(values)]
        for i in range(2):
            compare(lambda a, i=i: numpy.modf(a)[i], values, what=f"modf of {dtype}", ulps=0)
            compare(lambda a, i=i: numpy.frexp(a)[i], finite, what=f"frexp of {dtype}", ulps=0)
            compare(lambda a, i=i: divmod(a, 3)[i], finite, what=f"divmod of {dtype}", ulps=0)
        for exponent in ("i1", "i4", "i8"):
            by = random.integers(-100, 100, 200).astype(exponent)
            compare(lambda a, n: numpy.ldexp(a, n), values, by, what=f"ldexp of {dtype} by {exponent}", ulps=0)
        compare(lambda a: numpy.ldexp(a, 3), values, what=f"ldexp of {dtype} by 3", ulps=0)
    far = numpy.array([2**40, -2**40, 2**63 - 1, 0])
    compare(lambda a, n: numpy.ldexp(a, n), numpy.ones(4), far, what="ldexp by far", ulps=0)
    power = session.jit(lambda a, n: a ** n)
    for n in (3, 5):
        expect_equal(power(numpy.arange(9), n), numpy.arange(9) ** n, "a power by a number among the arguments")


def test_composed():
    """NumPy's functions that are made of others."""
    a, b = numbers("f4", (5, 6), small=True), numbers("f4", (6,), small=True)
    bad = numpy.where(numpy.abs(a) > 1, numpy.float32(numpy.nan), a)
    bad[2] = numpy.nan
    functions = """numpy.diff(a)|numpy.diff(a, 2, axis=0)|numpy.diff(a > 0)|numpy.trapz(a)|numpy.trapz(a, b)|numpy.trapz(a, dx=2.0, axis=0)
numpy.average(a)|numpy.average(a, axis=1, weights=b)|numpy.average(a, weights=a * a)|numpy.ptp(a, axis=0)|numpy.count_nonzero(a > 0)
numpy.count_nonzero(a, axis=1)|numpy.nansum(c, axis=1)|numpy.nanmean(c)|numpy.nanmax(c, axis=1)|numpy.nanmin(c, axis=0)
numpy.argmax(a)|numpy.argmin(a, axis=0)|a.argmax(axis=1)|numpy.argmax(c, axis=1)|numpy.argmax(a, axis=1, keepdims=True)
numpy.argmax(a > 0, axis=0)|numpy.outer(b, a)|numpy.inner(b, b)|numpy.inner(a, a)|numpy.vdot(a, a)|numpy.linalg.norm(a)
numpy.linalg.norm(b)|numpy.linalg.norm(a, axis=1)|numpy.linalg.norm(a, 1, axis=0)|numpy.linalg.norm(b, numpy.inf)
numpy.linalg.norm(a, 3, axis=1, keepdims=True)|numpy.linalg.norm(a, 0, axis=1)|numpy.linalg.norm(a, "fro")
numpy.polyval([1.5, -2, 3], a)|numpy.round(a)|numpy.round(a, 1)|a.round(2)|numpy.around(a * 100, -1)|numpy.fix(a)
numpy.select([a > 1, a < 0], [a, -a], 7)|numpy.isclose(a, a + 1e-6)|numpy.isclose(c, c, equal_nan=True)|numpy.allclose(a, a)
numpy.nan_to_num(c)|numpy.nan_to_num(c / 0, posinf=3)|numpy.sinc(a)|numpy.real(a) + a.real + a.conj()|numpy.imag(a)|numpy.flip(a)
numpy.flip(a, 1)|numpy.flipud(a)|numpy.fliplr(a)|numpy.rot90(a)|numpy.rot90(a, 2)|numpy.rot90(a, 3)|numpy.diagonal(a)
numpy.diagonal(a, 1)|numpy.diagonal(a, -2)|numpy.trace(a)|numpy.diagonal(a[None], 0, 1, 2)|numpy.diagonal(a[None], 1, 2, 1)
numpy.tril(a)|numpy.triu(a, 1)|numpy.meshgrid(b, a[:, 0])[0]|numpy.meshgrid(b, a[:, 0])[1]|numpy.meshgrid(b, b, indexing="ij")[1]
numpy.broadcast_arrays(a, b)[1]|numpy.atleast_2d(b)|numpy.split(a, 3, axis=1)[1]|numpy.array_split(a, 3)[0]|numpy.split(a, [1, 3])[2]
numpy.expand_dims(a, (0, 2))|a.ptp()|a.swapaxes(0, 1)|a.clip(min=0)|numpy.empty_like(a) * 0""".replace("\n", "|")
    for text in functions.split("|"):
        function = eval(f"lambda a, b, c: {text}", {"numpy": numpy})
        theirs, ours = (numpy.asarray(f(a, b, bad)) for f in (function, session.jit(function)))
        if ours.dtype != theirs.dtype or ours.shape != theirs.shape or \
                not numpy.allclose(ours, theirs, rtol=2e-6, atol=2e-6, equal_nan=True):
            raise AssertionError(f"{text}: {ours!r}, NumPy has {theirs!r}")


TAKEN = """a[i]|a[:, i]|a[i, i]|a[0, i]|a[None, i, ::2]|a[i, None]|a[i[:, :1], :, None]|a[[0, 2]]|a[i, 1]|a[..., i]|a[None][0, :, i]|b[i[0, 0]]
a[numpy.array([True, False, True, True, False])]|a[0][numpy.arange(6) % 2 == 0]|a[numpy.ix_([0, 2], [5, 1])]|numpy.take(a, i)
numpy.take(a, i, axis=1)|numpy.take(a, i * 9, axis=1, mode="clip")|numpy.take(a, i * 9, mode="wrap")|a[known]|b[known]|numpy.take(b, known)
a.take(i)|numpy.take_along_axis(a, i[:, :1] % 5, axis=0)|numpy.take_along_axis(a, numpy.argsort(a, axis=1), axis=1)
numpy.repeat(a, 3)|numpy.repeat(a, 2, axis=0)|numpy.repeat(b, [1, 0, 2, 1, 1, 3])|a.repeat(2, axis=1)|numpy.tile(b, 3)|numpy.tile(a, (2, 1, 2))"""
JOINED = """numpy.concatenate([a, a * 2])|numpy.concatenate([a, a[:, :2]], axis=1)|numpy.concatenate([b, a.ravel(), b], None)
numpy.concatenate([a, a > 1, a.astype("f8")])|numpy.concatenate([known, b])|numpy.concatenate([b[:0], b])|numpy.concatenate([b] * 40)
numpy.concatenate([b, [b[0]]])|numpy.append(b, [b[1], 7, b[0]])|numpy.concatenate([a, [b, b * 2]])|numpy.vstack([a, [[b[0]] * 6]])
numpy.stack([b, b + 1, b])|numpy.stack([b, b * 2], axis=-1)|numpy.hstack([b, b])|numpy.hstack([a, a])|numpy.vstack([b, a])|numpy.column_stack([b, b])
numpy.dstack([a, a])|numpy.append(a, b)|numpy.append(a, a, axis=0)|numpy.roll(a, 2)|numpy.roll(a, -1, axis=0)|numpy.roll(a, (1, 2), (0, 1))
numpy.roll(a, 7, axis=1)|numpy.roll(a, 0)|numpy.pad(a, 1)|numpy.pad(a, ((0, 1), (2, 0)), constant_values=3)|numpy.pad(a > 1, 1)
numpy.pad(a, 2, constant_values=((1, 2), (3, 4)))|numpy.pad(a, 2, "edge")|numpy.pad(a, 2, "reflect")|numpy.pad(a, (1, 3), "symmetric")
numpy.pad(a, 7, "wrap")|numpy.pad(a, 0)"""
ORDERED = """numpy.cumsum(a)|numpy.cumsum(a, axis=1)|numpy.cumsum(a > 2, axis=0)|numpy.cumprod(a * 0.3, axis=0)|numpy.maximum.accumulate(a, axis=1)
numpy.add.accumulate(a)|numpy.nancumsum(c)|numpy.nancumprod(c, axis=1)|numpy.cumsum(a.T, axis=1)|a.cumsum()|a[:, ::-1].cumprod(axis=1)
numpy.logical_or.accumulate(a > 1, axis=1)|numpy.sort(a)|numpy.sort(a, axis=0)|numpy.sort(c, axis=None)|numpy.argsort(b)|numpy.sort(b[:1])
numpy.argsort(numpy.round(a), axis=0, kind="stable")|a.argsort(axis=None)|numpy.sort(a > 2)|numpy.sort(i)|numpy.median(a)|numpy.median(a, axis=1)
numpy.median(c, axis=0, keepdims=True)|numpy.median(i)|numpy.quantile(a, [0.1, 0.77], axis=0)|numpy.percentile(a, 30)|numpy.quantile(i, 0.3, axis=1)
numpy.searchsorted(known, a)|numpy.searchsorted(numpy.sort(b), a, side="right")|numpy.sort(b).searchsorted(a)|numpy.searchsorted(b[:0], a)
numpy.digitize(a, [-1, 0.5, 1])|numpy.digitize(a, [1, 0.5, -1], right=True)|numpy.interp(a, known, known * known)|numpy.interp(c, known, b)
numpy.interp(a, [-1, 0.5, 1], [3, 2, 5], left=-1, right=9)|numpy.interp(a, [1, 3, 2], [3, 2, 5], period=4)|numpy.interp(a, [1], [2])"""
PRODUCTS = """ij,jk->ik a c2|ij,jk a c2|ij->ji a|ij a|ji a|ii->i sq|ii sq|ij,ij->i a a|i,j->ij b b|...j,j->... a b|bij,bjk->bik a3 c3|bij,jk->bik a3 c2
ij,jk,lk->il a c2 c2|i,i,i b b b|ij-> a|i,ij->j d a|...ij,...jk->...ik a3 c3|ij,kj->ikj a a|ij,j->j a b|bij,bij->b a3 a3|ij,ij->ij a a|,i->i n b"""
BESIDE = """numpy.gradient(a)[1]|numpy.gradient(b)|numpy.gradient(b, 0.5)|numpy.gradient(a, axis=0)|numpy.convolve(b, a[0, :3])|numpy.convolve(b, known, "same")
numpy.convolve(a[0, :4], b, "same")|numpy.convolve(b, [1, 2, 0.5], "valid")|numpy.lib.stride_tricks.sliding_window_view(a, (2, 3)).sum(axis=(2, 3))
numpy.cross(a[:, :3], a[:, 3:])|numpy.cross(a[:3], a[2:5], axis=0)|numpy.kron(a, a[:2])|numpy.kron(b, a)|numpy.linspace(b[0], b[1], 7)|numpy.linspace(a[0], 3.0, 5, endpoint=False)
numpy.add.outer(a, b)|numpy.tensordot(a, a.T, 1)|numpy.tensordot(a, a)|numpy.tensordot(a[None], a, ([1, 2], [0, 1]))|numpy.nanvar(c, axis=1)|numpy.nanstd(c)|numpy.nanprod(c, axis=0)"""


def close(text, names, arrays):
    function = eval(f"lambda {', '.join(names)}: {text}", {"numpy": numpy, "known": numpy.arange(6.0)
                                                        if "searchsorted" in text or "interp" in text else numpy.array([1, -2, 0])})
    theirs, ours = (numpy.asarray(f(*arrays)) for f in (function, session.jit(function)))
    tolerance = 2e-5 if ours.dtype == "f4" else 1e-12
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape or \
            not numpy.allclose(ours, theirs, rtol=tolerance, atol=tolerance, equal_nan=True):
        raise AssertionError(f"{text}: {ours!r}, NumPy has {theirs!r}")


def test_places():
    """Elements by indices, joined, in order, and with what is beside them."""
    a, b = numbers("f4", (5, 6), small=True), numbers("f4", (6,), small=True)
    c = numpy.where(numpy.abs(a) > 1, numpy.float32(numpy.nan), a)
    i = numpy.array([[0, -1, 2], [3, 1, 1]])
    for text in "|".join([TAKEN, JOINED, ORDERED, BESIDE]).replace("\n", "|").split("|"):
        close(text, "abci", [a, b, c, i])


def test_einsum():
    arrays = {"a": (5, 6), "b": (6,), "c2": (6, 4), "sq": (5, 5), "a3": (3, 5, 6), "c3": (3, 6, 2), "d": (5,), "n": ()}
    for dtype in ("f4", "i8"):
        values = {name: numbers(dtype, shape, small=True) for name, shape in arrays.items()}
        for text in PRODUCTS.replace("\n", "|").split("|"):
            subscripts, *names = text.split(" ")
            own = list(dict.fromkeys(names))
            close(f"numpy.einsum({subscripts!r}, {', '.join(names)})", own, [values[n] for n in own])


def test_orders():
    """Each dtype, with what is special; sizes around those at which the number of merges changes."""
    for dtype in DTYPES:
        for n in (1, 2, 3, 31, 32, 33, 257) if dtype == "f4" else (33,):
            a = numbers(dtype, (3, n))
            compare(lambda a: numpy.sort(a, axis=1), a, what=f"sort of {n} {dtype}", ulps=0)
            compare(lambda a: numpy.argsort(a, axis=1, kind="stable"), a, what=f"argsort of {n} {dtype}")
            line = numpy.sort(a[0])
            for side in ("left", "right"):
                compare(lambda a, line: numpy.searchsorted(line, a, side=side), a, line, what=f"searchsorted {dtype} {side}")
            for name in ("add", "maximum", "minimum", "multiply", "logical_and"):
                if name != "multiply" or dtype not in ("f2", "f4", "f8"):
                    compare(lambda a: getattr(numpy, name).accumulate(a, axis=1), a, what=f"{name}.accumulate of {dtype}", ulps=0)
    compare(lambda a: numpy.argsort(a[::-1, ::2], axis=0, kind="stable"), numbers("i1", (300, 5), small=True), what="argsort of a view")
    for empty in ((0, 3), (3, 0)):
        for function in (numpy.sort, numpy.cumsum, numpy.argsort):
            compare(lambda a: function(a, axis=0), numpy.zeros(empty), what=f"{function.__name__} of {empty}")


def test_indices_outside():
    """Those that are known are errors as NumPy's; others are the nearest ones, or errors where bounds are checked."""
    a = numpy.arange(4.0)
    for key in ([4], [-5], numpy.array([0, 9])):
        try:
            session.jit(lambda a: a[key])(a)
        except IndexError as e:
            if "in a dimension of 4" not in str(e):
                raise AssertionError(str(e)) from e
        else:
            raise AssertionError(f"{key} was not refused")
    places = numpy.array([-9, -4, -1, 3, 4, 9])
    expect_equal(session.jit(lambda a, i: a[i])(a, places), a[[0, 0, 3, 3, 3, 3]], "indices outside")
    checked = session.jit(lambda a, i: a[i], bounds=True)
    expect_equal(checked(a, places[1:4]), a[places[1:4]], "checked indices")
    try:
        checked(a, places[1:5])
    except fusiond.Error as e:
        if e.code != "kernel_fault" or "element 4" not in str(e):
            raise AssertionError(str(e)) from e
    else:
        raise AssertionError("an index outside was not found")


def test_one_launch():
    """What takes elements from elsewhere is fused with what uses it, and with what makes it where it may be."""
    u, i = numbers("f4", (60, 70), small=True), random.integers(0, 60, 60)
    for text, n_kernels in [("u + (numpy.roll(u, 1, 0) + numpy.roll(u, -1, 0) + numpy.roll(u, 1, 1) + numpy.roll(u, -1, 1) - 4 * u) / 10", 11),
                            ("numpy.exp(numpy.concatenate([u, u[:10]])) * 2", 3), ("numpy.pad(u, 1)[1:-1, 2:] + u", 2),
                            ("numpy.concatenate([u.ravel() * 2 + 1, numpy.sqrt(u.ravel())])", 4), ("numpy.sin(u[i] * 2)", 3),
                            ("numpy.interp(u, [0, 1, 2], [3, 4, 5]) * 2", 34)]:
        function = session.jit(eval(f"lambda u, i: {text}", {"numpy": numpy}))
        function(u, i)
        kernels = function.source.count("kernel @")
        if function.report.launches != 1 or kernels < 2 or len(function.report.internalized) != kernels - 1:
            raise AssertionError(f"{text}: {kernels} kernels, {function.report.launches} launches, {function.report}")


def test_refused():
    """Each names what it is, and what can be had."""
    for text, words in [("numpy.unique(a)", "numpy.unique cannot be traced, as its shape depends on contents"),
                        ("numpy.sum(a, where=a > 1)", "numpy.sum with where"), ("numpy.bincount(a)", "contents decide where it writes"),
                        ("numpy.subtract.accumulate(a)", "numpy.subtract.accumulate"), ("a.sort()", "numpy.sort() makes another one"),
                        ("numpy.linalg.inv(a)", "numpy.linalg.inv cannot be traced, as it is no graph"),
                        ("numpy.lexsort((a, a))", "numpy.sort, numpy.argsort"), ("numpy.pad(a, 1, 'mean')", "'mean'"),
                        ("numpy.pad(a, -1)", "widths are whole numbers"), ("numpy.pad(a, 0.5)", "widths are whole numbers"),
                        ("numpy.roll(a, 0.5)", "integer"), ("numpy.tile(a, 0.5)", "integer"),
                        ("numpy.repeat(a, a)", "numpy.repeat by counts"), ("numpy.apply_along_axis(len, 0, a)", "sums along axes"),
                        ("numpy.add.at(a, [0], 1)", "numpy.add.at cannot be traced"), ("numpy.quantile(a, 0.5, method='higher')", "linear"),
                        ("numpy.add(a, a, where=a > 1)", "numpy.where"), ("a.astype('c8')", "arrays of complex64"),
                        ("numpy.subtract.reduce(a)", "those of add"), ("a + 1j", "complex"), ("a[a > 1]", "numpy.where")]:
        try:
            session.jit(eval(f"lambda a: {text}", {"numpy": numpy}))(numpy.ones(3))
        except (TypeError, AttributeError, ValueError) as e:
            if words not in str(e):
                raise AssertionError(f"{text}: {e}") from e
        else:
            raise AssertionError(f"{text} was not refused")


def test_casts():
    for source in DTYPES:
        for target in DTYPES:
            values = numbers(source, 100, small=True)
            if numpy.dtype(source).kind == "f" and numpy.dtype(target).kind == "u":
                values = numpy.abs(values)
            compare(lambda a, t=target: a.astype(t), values, what=f"{source} to {target}")


def test_python_numbers():
    """They do not decide about dtypes, and may change without another graph."""
    for dtype in DTYPES[1:]:
        values = numbers(dtype, 50, small=True)
        compare(lambda a: a * 2 + 1, values, what=f"constants with {dtype}")
        compare(lambda a: a ** 3, values, what=f"powers of {dtype}")
    function = session.jit(lambda a, k: a * k)
    values = numbers("f4", 10, small=True)
    for k in (1.5, 2.5, -3.0):
        expect_equal(function(values, k), values * k, "a number as an argument")
    if len(function.made) != 1:
        raise AssertionError("another number made another graph")


# -- shapes --

def test_broadcasting():
    for shapes in [((3, 4), (4,)), ((3, 4), (3, 1)), ((5, 1, 4), (3, 1)), ((2, 3, 4, 5), (4, 1)), ((7,), ()),
                   ((1,), (4, 1)), ((2, 1, 2, 1, 2), (3, 1, 3, 1))]:
        arguments = [numbers("f4", s, small=True) for s in shapes]
        compare(lambda a, b: a * b + a, *arguments, what=f"{shapes}")


def test_views():
    a, b = numbers("f4", (6, 8), small=True), numbers("f4", (3, 5, 7), small=True)
    functions = [
        lambda x, y: x[1:5, ::2] + x[:4, 1::2], lambda x, y: x[::-1] * 2, lambda x, y: x.T + 1, lambda x, y: x[..., -1] - x[:, 0],
        lambda x, y: x[None] + x[:, None, :], lambda x, y: x.reshape(4, -1) + 1, lambda x, y: x.T.reshape(48),
        lambda x, y: y.transpose(2, 0, 1) * 2, lambda x, y: numpy.swapaxes(y, 0, 2)[1], lambda x, y: numpy.moveaxis(y, 0, -1) + 1,
        lambda x, y: y[:, 2:, 1:-1:3], lambda x, y: numpy.expand_dims(x, 1) + 1, lambda x, y: numpy.broadcast_to(x[0], (3, 8)) * 1,
        lambda x, y: y[1, 2, 3] + x, lambda x, y: numpy.squeeze(y[:1]) + 1, lambda x, y: x[2:2] + 1, lambda x, y: x,
        lambda x, y: (x, x[1], y.T), lambda x, y: numpy.where(x > 0, x, -x[0]), lambda x, y: numpy.clip(y, -0.5, 0.5),
        lambda x, y: x[1:-1, 1:-1] - (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) / 4,
    ]
    for i, function in enumerate(functions):
        theirs, ours = function(a, b), session.jit(function)(a, b)
        for t, o in zip(theirs, ours) if isinstance(theirs, tuple) else [(theirs, ours)]:
            expect_equal(o, t, f"view {i}")


# -- reductions --

def check_reduction(function, values, what):
    theirs = function(values)
    if theirs.dtype == "f2":  # NumPy adds some of them in f16
        theirs = function(values.astype("f4")).astype("f2")
    ours = session.jit(function)(values)
    if theirs.dtype.kind != "f":
        return expect_equal(ours, theirs, what)
    ours = numpy.asarray(ours)
    tolerance = {2: 4e-3, 4: 3e-6, 8: 1e-14}[theirs.dtype.itemsize]
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape or \
            not numpy.allclose(ours, theirs, rtol=tolerance, atol=tolerance * 100, equal_nan=True):
        raise AssertionError(f"{what}: {ours!r}, NumPy has {theirs!r}")


def test_reductions():
    functions = {"sum": numpy.sum, "max": numpy.max, "min": numpy.min, "mean": numpy.mean, "any": numpy.any,
                 "all": numpy.all, "prod": numpy.prod, "var": numpy.var, "std": numpy.std}
    for name, function in functions.items():
        for dtype in random.choice(DTYPES, 4, replace=False):
            if dtype in ("b1", "f2") and name in ("var", "std"):
                continue  # NumPy sums the squares of f16 in f16
            for shape, axis in [((37,), None), ((5, 300), -1), ((300, 5), 0), ((3, 4, 5), (0, 2)), ((3, 4, 5), 1),
                                ((4, 3, 50), (1, 2)), ((1, 7), 0)]:
                values = numbers(dtype, shape, small=True)
                if name == "prod" and values.dtype.kind == "f":
                    values = 1 + values / 100
                keep = bool(random.integers(2))
                check_reduction(lambda a: function(a, axis=axis, keepdims=keep), values, f"{name} {dtype} {shape} {axis}")


def test_large_reductions():
    values = random.random(1_000_003, dtype="f4")
    check_reduction(lambda a: a.sum(), values, "sum")
    check_reduction(lambda a: (a - a.mean()).max(), values, "mean and max")
    check_reduction(lambda a: (a > 0.5).any(), values, "any")
    check_reduction(lambda a: numpy.add.reduce(a[1:], axis=0), values, "reduce")


def test_matmul():
    for left, right in [((5, 7), (7, 3)), ((7,), (7, 3)), ((5, 7), (7,)), ((7,), (7,)), ((2, 5, 7), (7, 3)),
                        ((2, 1, 4, 3), (5, 3, 2))]:
        for dtype in ("f4", "f8", "i4"):
            a, b = numbers(dtype, left, small=True), numbers(dtype, right, small=True)
            check_reduction(lambda x: x @ b, a, f"{left} @ {right}")
            check_reduction(lambda x: numpy.matmul(a.T.copy().T, x), b, f"{left} @ traced {right}")


# -- random expressions --

class Generator:
    """A function out of random operations on arrays of one shape family; both sides call the same."""

    def __init__(self):
        self.steps = []
        for _ in range(int(random.integers(2, 15))):
            self.steps.append((str(random.choice(["unary", "binary", "binary", "where", "number", "view", "row", "place"])),
                               int(random.integers(1 << 30)), int(random.integers(1 << 30)), int(random.integers(1 << 30))))

    def __call__(self, *arrays):
        values = list(arrays)
        for kind, i, j, k in self.steps:
            a, b = values[i % len(values)], values[j % len(values)]
            values.append(self.step(kind, a, b, k))
        return values[-1], values[-2]

    def step(self, kind, a, b, k):
        if kind == "unary":
            return getattr(numpy, ["negative", "absolute", "square", "floor", "sign", "tanh"][k % 6])(a)
        if kind == "binary":
            return getattr(numpy, ["add", "subtract", "multiply", "maximum", "minimum"][k % 5])(a, b)
        if kind == "where":
            return numpy.where(a > b, a, b * 0.5)
        if kind == "number":
            return a * (k % 7) + 0.25
        if kind == "view":
            return [lambda: a[::-1], lambda: a + a[:1], lambda: a[:, ::-1], lambda: a - a[:, :1]][k % 4]()
        if kind == "place":
            return self.place(a, b, k // 16)[k % 16]()
        return a - a.max(axis=1, keepdims=True) if k % 2 else numpy.minimum(a, a.mean(axis=0))


    @staticmethod
    def place(a, b, k):
        """Arrays of the same shape."""
        rows, columns = a.shape
        by, axis = k % 5 - 2, k % 2
        order = numpy.random.default_rng(k).integers(-rows, rows, rows)
        n = min(k % 3, columns)
        return [lambda: numpy.roll(a, by, axis), lambda: numpy.roll(b, by), lambda: a[order], lambda: numpy.sort(a, axis=axis),
                lambda: numpy.maximum.accumulate(a, axis=axis), lambda: numpy.concatenate([a[:, n:], b[:, :n]], axis=1),
                lambda: numpy.pad(a, ((0, 0), (n, 0)))[:, :columns] + b, lambda: numpy.pad(a, 1, "edge")[2:, 1:-1] - a,
                lambda: numpy.take_along_axis(a, numpy.argsort(b, axis=axis, kind="stable"), axis),
                lambda: a + numpy.cumsum(b, axis=1)[:, -1:] / columns, lambda: numpy.einsum("ij,j->ij", a, b[0]),
                lambda: numpy.stack([a, b])[k % 2], lambda: numpy.repeat(a, 2, axis=axis)[::2 - axis, ::1 + axis],
                lambda: numpy.tile(a, (2, 1))[k % rows:k % rows + rows], lambda: numpy.interp(a, [-1, 0, 2], [0, 1, 0.5]),
                lambda: a - numpy.median(b, axis=1, keepdims=True)]


def test_random():
    for case in range(CASES):
        shape = tuple(random.integers(1, [40, 400]))
        arrays = [numbers(str(random.choice(["f4", "f8"])), shape, small=True) for _ in range(3)]
        function = Generator()
        theirs, ours = function(*arrays), session.jit(function)(*arrays)
        for t, o in zip(theirs, ours):
            o = numpy.asarray(o)
            if o.dtype != t.dtype or not numpy.allclose(o, t, rtol=1e-4, atol=1e-4, equal_nan=True):
                raise AssertionError(f"case {case} of seed {SEED}: {function.steps}: {o!r}, NumPy has {t!r}")


def main():
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    print(f"1..{len(tests)}")
    failed = False
    for number, (name, test) in enumerate(tests, 1):
        try:
            with numpy.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                test()
            print(f"ok {number} {name}", flush=True)
        except Exception:
            failed = True
            print(f"not ok {number} {name}", flush=True)
            print("".join("# " + line for line in traceback.format_exc().splitlines(keepends=True)[-12:]), flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
