"""What an operation on elements is in the service's language."""
import numpy

_IR = {"b1": "bool", "i1": "i8", "i2": "i16", "i4": "i32", "i8": "i64", "u1": "i8", "u2": "i16", "u4": "i32", "u8": "i64",
       "f2": "f16", "f4": "f32", "f8": "f64"}


def ir_type(dtype):
    name = _IR.get(f"{dtype.kind}{dtype.itemsize}")
    if name is None:
        raise TypeError(f"arrays of {dtype} cannot be traced: booleans, integers and floats of 16 to 64 bits can")
    return name


def memory_type(dtype):
    """How it lies in buffers, which have no bools."""
    return "i8" if dtype.kind == "b" else ir_type(dtype)


def literal(value, dtype):
    """A number as a constant of the language; floats by their bits."""
    if dtype.kind == "b":
        return "true" if value else "false"
    if dtype.kind in "iu":
        return str(int(numpy.asarray(value).astype(dtype)))
    bits = numpy.asarray(value).astype(dtype).tobytes()
    return "0x" + bits[::-1].hex()


class Body:
    """Instructions of a kernel, one a line."""

    def __init__(self, prefix="v"):
        self.lines = []
        self.prefix, self.count = prefix, 0

    def line(self, text):
        self.lines.append(text)

    def new(self, text):
        name = f"%{self.prefix}{self.count}"
        self.count += 1
        self.lines.append(f"{name} = {text}")
        return name

    def name(self):
        """For what is no instruction's result."""
        self.count += 1
        return f"%{self.prefix}{self.count - 1}"

    def begin_loop(self, ty, parameters):
        """A loop that gives a value of a type; parameters: (name, type, first value). Its own lines break."""
        result = self.name()
        first = ", ".join(f"{name}: {kind} = {value}" for name, kind, value in parameters)
        self.line(f"{result} = loop ({first}) -> {ty} {{")
        return result

    def end_loop(self, *following):
        self.line(f"continue {', '.join(following)}")
        self.line("}")

    def load(self, dtype, place):
        value = self.new(f"load {memory_type(dtype)} {place}")
        return self.new(f"ine i8 {value}, 0") if dtype.kind == "b" else value

    def store(self, dtype, place, value):
        if dtype.kind == "b":
            value = self.new(f"zext i8 {value}") if value.startswith("%") else str(int(value == "true"))
        self.line(f"store {memory_type(dtype)} {place}, {value}")

    def select(self, dtype, condition, a, b):
        return self.new(f"select {ir_type(dtype)} {condition}, {a}, {b}")

    def convert(self, value, source, target):
        """As NumPy's astype does."""
        if source == target:
            return value
        to = ir_type(target)
        if target.kind == "b":
            return self.new(f"{'fune' if source.kind == 'f' else 'ine'} {ir_type(source)} {value}, {literal(0, source)}")
        if source.kind == "b":
            if target.kind != "f":
                return self.new(f"zext {to} {value}")
            return self.select(target, value, literal(1, target), literal(0, target))
        if source.kind == "f":
            if target.kind == "f":
                return self.new(f"fpconv {to} {value}")
            return self.new(f"{'ftos' if target.kind == 'i' else 'ftou'} {to} {value}")
        if target.kind == "f":
            return self.new(f"{'stof' if source.kind == 'i' else 'utof'} {to} {value}")
        if target.itemsize == source.itemsize:
            return value
        if target.itemsize < source.itemsize:
            return self.new(f"trunc {to} {value}")
        return self.new(f"{'sext' if source.kind == 'i' else 'zext'} {to} {value}")


# Each operation: (body, dtype that it computes in, operands) -> value.

def _by_kind(**names):
    """The instruction for each kind of dtype: b, i, u, f."""
    def emit(b, t, args):
        name = names.get(t.kind)
        if name is None:
            raise TypeError(f"no such operation on {t}")
        return b.new(f"{name} {ir_type(t)} {', '.join(args)}")
    return emit


def _integer(name):
    return {"i": name, "u": name}


def _float(name):
    return _by_kind(f=name)


def _compare(integer, real, boolean=None):
    return _by_kind(i="s" + integer if integer in ("lt", "le", "gt", "ge") else "i" + integer,
                    u="u" + integer if integer in ("lt", "le", "gt", "ge") else "i" + integer, f=real, b=boolean)


def _positive(b, t, args):
    return args[0]


def _truth(b, t, value):
    return b.convert(value, t, numpy.dtype(bool))


def _logical(name):
    def emit(b, t, args):
        return b.new(f"{name} bool {_truth(b, t, args[0])}, {_truth(b, t, args[1])}")
    return emit


def _logical_not(b, t, args):
    return b.new(f"not bool {_truth(b, t, args[0])}")


def _maximum(integer_signed, integer_unsigned, compare, boolean):
    def emit(b, t, args):
        x, y = args
        if t.kind == "b":
            return b.new(f"{boolean} bool {x}, {y}")
        if t.kind != "f":
            return b.new(f"{integer_signed if t.kind == 'i' else integer_unsigned} {ir_type(t)} {x}, {y}")
        first = b.new(f"{compare} {ir_type(t)} {x}, {y}")
        nan = b.new(f"isnan {ir_type(t)} {x}")
        return b.select(t, b.new(f"or bool {first}, {nan}"), x, y)
    return emit


def _extreme(signed, unsigned, real, boolean):
    return _by_kind(i=signed, u=unsigned, f=real, b=boolean)


def _floor_remainder(b, t, args):
    x, y = args
    ty = ir_type(t)
    if t.kind == "u":
        return b.new(f"urem {ty} {x}, {y}")
    if t.kind == "i":
        return b.new(f"smod {ty} {x}, {y}")
    zero = literal(0, t)
    m = b.new(f"frem {ty} {x}, {y}")
    other = b.new(f"ine bool {b.new(f'folt {ty} {m}, {zero}')}, {b.new(f'folt {ty} {y}, {zero}')}")
    wrong = b.new(f"and bool {other}, {b.new(f'fone {ty} {m}, {zero}')}")
    moved = b.select(t, wrong, b.new(f"fadd {ty} {m}, {y}"), m)
    nothing = b.new(f"foeq {ty} {moved}, {zero}")
    return b.select(t, nothing, b.new(f"copysign {ty} {zero}, {y}"), moved)


def _floor_divide(b, t, args):
    x, y = args
    ty = ir_type(t)
    if t.kind == "u":
        return b.new(f"udiv {ty} {x}, {y}")
    if t.kind == "i":
        q, r = b.new(f"sdiv {ty} {x}, {y}"), b.new(f"srem {ty} {x}, {y}")
        apart = b.new(f"slt {ty} {b.new(f'xor {ty} {x}, {y}')}, 0")
        down = b.new(f"and bool {apart}, {b.new(f'ine {ty} {r}, 0')}")
        return b.select(t, down, b.new(f"sub {ty} {q}, 1"), q)
    zero, one = literal(0, t), literal(1, t)
    m = b.new(f"frem {ty} {x}, {y}")
    q = b.new(f"fdiv {ty} {b.new(f'fsub {ty} {x}, {m}')}, {y}")
    other = b.new(f"ine bool {b.new(f'folt {ty} {m}, {zero}')}, {b.new(f'folt {ty} {y}, {zero}')}")
    wrong = b.new(f"and bool {other}, {b.new(f'fone {ty} {m}, {zero}')}")
    q = b.select(t, wrong, b.new(f"fsub {ty} {q}, {one}"), q)
    low = b.new(f"floor {ty} {q}")
    above = b.new(f"fogt {ty} {b.new(f'fsub {ty} {q}, {low}')}, {literal(0.5, t)}")
    low = b.select(t, above, b.new(f"fadd {ty} {low}, {one}"), low)
    exact = b.new(f"fdiv {ty} {x}, {y}")
    some = b.new(f"fune {ty} {q}, {zero}")
    whole = b.select(t, some, low, b.new(f"copysign {ty} {zero}, {exact}"))
    return b.select(t, b.new(f"foeq {ty} {y}, {zero}"), exact, whole)


def _sign(b, t, args):
    x, ty, zero = args[0], ir_type(t), literal(0, t)
    if t.kind == "f":
        return b.select(t, b.new(f"isnan {ty} {x}"), x, b.new(f"sign {ty} {x}"))
    some = b.select(t, b.new(f"ine {ty} {x}, 0"), "1", "0")
    return some if t.kind == "u" else b.select(t, b.new(f"slt {ty} {x}, 0"), "-1", some)


def _reciprocal(b, t, args):
    divide = {"f": "fdiv", "i": "sdiv", "u": "udiv"}[t.kind]
    return b.new(f"{divide} {ir_type(t)} {literal(1, t)}, {args[0]}")


def _square(b, t, args):
    return b.new(f"{'fmul' if t.kind == 'f' else 'mul'} {ir_type(t)} {args[0]}, {args[0]}")


def _power(b, t, args):
    """Of integers by squaring; what wraps wraps as NumPy's. The exponent is not negative."""
    ty = ir_type(t)
    if t.kind == "f":
        return b.new(f"pow {ty} {args[0]}, {args[1]}")
    result, x, n = b.name(), b.name(), b.name()
    total = b.begin_loop(ty, [(result, ty, "1"), (x, ty, args[0]), (n, ty, args[1])])
    b.line(f"if {b.new(f'ieq {ty} {n}, 0')} {{ break {result} }}")
    odd = b.new(f"ine {ty} {b.new(f'and {ty} {n}, 1')}, 0")
    more = b.select(t, odd, b.new(f"mul {ty} {result}, {x}"), result)
    b.end_loop(more, b.new(f"mul {ty} {x}, {x}"), b.new(f"lshr {ty} {n}, 1"))
    return total


def _magnitude(b, t, value):
    return b.new(f"sabs {ir_type(t)} {value}") if t.kind == "i" else value


def _gcd(b, t, args):
    """Euclid's algorithm, of magnitudes as unsigned numbers."""
    ty, x, y = ir_type(t), b.name(), b.name()
    result = b.begin_loop(ty, [(x, ty, _magnitude(b, t, args[0])), (y, ty, _magnitude(b, t, args[1]))])
    b.line(f"if {b.new(f'ieq {ty} {y}, 0')} {{ break {x} }}")
    b.end_loop(y, b.new(f"urem {ty} {x}, {y}"))
    return result


def _lcm(b, t, args):
    ty, divisor = ir_type(t), _gcd(b, t, args)
    part = b.new(f"udiv {ty} {_magnitude(b, t, args[0])}, {divisor}")
    return b.select(t, b.new(f"ieq {ty} {divisor}, 0"), "0", b.new(f"mul {ty} {part}, {_magnitude(b, t, args[1])}"))


def _log_add(exp, log, of_two):
    """The larger one and the logarithm of 1 + the other one's power by its, as NumPy does."""
    def emit(b, t, args):
        x, y = args
        ty = ir_type(t)
        apart = b.new(f"fsub {ty} {x}, {y}")
        larger = b.select(t, b.new(f"fogt {ty} {apart}, {literal(0, t)}"), x, y)
        size = b.new(f"fabs {ty} {apart}")
        power = b.new(f"{exp} {ty} {b.new(f'fneg {ty} {size}')}")
        sum_ = b.new(f"fadd {ty} {larger}, {log(b, t, power)}")
        alike = b.new(f"fadd {ty} {x}, {literal(of_two, t)}")
        return b.select(t, b.new(f"foeq {ty} {x}, {y}"), alike, sum_)
    return emit


def _log1p(b, t, x):
    return b.new(f"log1p {ir_type(t)} {x}")


def _log2_1p(b, t, x):
    return b.new(f"fmul {ir_type(t)} {_log1p(b, t, x)}, {literal(1 / numpy.log(2), t)}")


def _shift(name, beyond):
    def emit(b, t, args):
        x, n = args
        ty, bits = ir_type(t), 8 * t.itemsize
        op = name if name == "shl" else "ashr" if t.kind == "i" else "lshr"
        far = b.new(f"uge {ty} {n}, {bits}")
        nothing = b.new(f"{op} {ty} {x}, {bits - 1}") if beyond and t.kind == "i" else "0"
        return b.select(t, far, nothing, b.new(f"{op} {ty} {x}, {n}"))
    return emit


def _heaviside(b, t, args):
    x, y = args
    ty, zero = ir_type(t), literal(0, t)
    step = b.select(t, b.new(f"folt {ty} {x}, {zero}"), zero, literal(1, t))
    value = b.select(t, b.new(f"foeq {ty} {x}, {zero}"), y, step)
    return b.select(t, b.new(f"isnan {ty} {x}"), x, value)


def _where(b, t, args):
    return b.select(t, *args)


def _class(name, of_integers):
    def emit(b, t, args):
        return b.new(f"{name} {ir_type(t)} {args[0]}") if t.kind == "f" else of_integers
    return emit


def _signbit(b, t, args):
    if t.kind == "f":
        return b.new(f"signbit {ir_type(t)} {args[0]}")
    return b.new(f"slt {ir_type(t)} {args[0]}, 0") if t.kind == "i" else "false"


def _rounded(name):
    return lambda b, t, args: b.new(f"{name} {ir_type(t)} {args[0]}") if t.kind == "f" else args[0]


_OPERATIONS = {
    "add": _by_kind(f="fadd", b="or", **_integer("add")),
    "subtract": _by_kind(f="fsub", **_integer("sub")),
    "multiply": _by_kind(f="fmul", b="and", **_integer("mul")),
    "divide": _float("fdiv"), "true_divide": _float("fdiv"),
    "floor_divide": _floor_divide, "remainder": _floor_remainder, "mod": _floor_remainder,
    "fmod": _by_kind(f="frem", i="srem", u="urem"),
    "power": _power, "float_power": _power,
    "negative": _by_kind(f="fneg", **_integer("neg")), "positive": _positive,
    "absolute": lambda b, t, a: a[0] if t.kind in "bu" else b.new(f"{'fabs' if t.kind == 'f' else 'sabs'} {ir_type(t)} {a[0]}"),
    "fabs": _float("fabs"), "sign": _sign, "square": _square, "reciprocal": _reciprocal, "sqrt": _float("sqrt"),
    "cbrt": _float("cbrt"), "heaviside": _heaviside,
    "exp": _float("exp"), "exp2": _float("exp2"), "expm1": _float("expm1"), "log": _float("log"), "log2": _float("log2"),
    "log10": _float("log10"), "log1p": _float("log1p"), "sin": _float("sin"), "cos": _float("cos"), "tan": _float("tan"),
    "arcsin": _float("asin"), "arccos": _float("acos"), "arctan": _float("atan"), "arctan2": _float("atan2"),
    "sinh": _float("sinh"), "cosh": _float("cosh"), "tanh": _float("tanh"), "arcsinh": _float("asinh"),
    "arccosh": _float("acosh"), "arctanh": _float("atanh"), "hypot": _float("hypot"),
    "deg2rad": _float("radians"), "radians": _float("radians"), "rad2deg": _float("degrees"), "degrees": _float("degrees"),
    "floor": _rounded("floor"), "ceil": _rounded("ceil"), "trunc": _rounded("ftrunc"), "rint": _rounded("rint"),
    "copysign": _float("copysign"), "nextafter": _float("nextafter"), "gcd": _gcd, "lcm": _lcm,
    "ldexp": _float("ldexp"), "frexp_mant": _float("frexp_mant"), "frexp_exp": _float("frexp_exp"),
    "modf_fract": _float("modf_fract"), "logaddexp": _log_add("exp", _log1p, numpy.log(2)),
    "logaddexp2": _log_add("exp2", _log2_1p, 1),
    "maximum": _maximum("smax", "umax", "foge", "or"), "minimum": _maximum("smin", "umin", "fole", "and"),
    "fmax": _extreme("smax", "umax", "fmax", "or"), "fmin": _extreme("smin", "umin", "fmin", "and"),
    "greater": _compare("gt", "fogt"), "greater_equal": _compare("ge", "foge"), "less": _compare("lt", "folt"),
    "less_equal": _compare("le", "fole"), "equal": _compare("eq", "foeq", "ieq"),
    "not_equal": _compare("ne", "fune", "ine"),
    "logical_and": _logical("and"), "logical_or": _logical("or"), "logical_xor": _logical("xor"),
    "logical_not": _logical_not,
    "bitwise_and": _by_kind(b="and", **_integer("and")), "bitwise_or": _by_kind(b="or", **_integer("or")),
    "bitwise_xor": _by_kind(b="xor", **_integer("xor")), "invert": _by_kind(b="not", **_integer("not")),
    "left_shift": _shift("shl", False), "right_shift": _shift("shr", True),
    "isnan": _class("isnan", "false"), "isinf": _class("isinf", "false"), "isfinite": _class("isfinite", "true"),
    "signbit": _signbit, "conjugate": _positive, "where": _where,
}


_BOOL, _INT = numpy.dtype(bool), numpy.dtype("i4")
_PREDICATES = {"greater", "greater_equal", "less", "less_equal", "equal", "not_equal", "logical_and", "logical_or",
               "logical_xor", "logical_not", "isnan", "isinf", "isfinite", "signbit"}


def operand_dtype(name, place, compute):
    """What an operand is converted to, of an operation that computes in a dtype."""
    return {("where", 0): _BOOL, ("ldexp", 1): _INT}.get((name, place), compute)


def made_dtype(name, compute):
    """What it makes."""
    return _BOOL if name in _PREDICATES else _INT if name == "frexp_exp" else compute


def has(name):
    return name in _OPERATIONS


def emit(body, name, dtype, args):
    return _OPERATIONS[name](body, dtype, args)


def identity(name, dtype):
    """What a reduction begins with."""
    if name in ("logical_and", "logical_or"):
        return "true" if name == "logical_and" else "false"
    if name in ("add", "multiply"):
        return literal(name == "multiply", dtype)
    if dtype.kind == "f":
        return literal(-numpy.inf if name == "maximum" else numpy.inf, dtype)
    if dtype.kind == "b":
        return literal(name == "minimum", dtype)
    info = numpy.iinfo(dtype)
    return literal(info.min if name == "maximum" else info.max, dtype)
