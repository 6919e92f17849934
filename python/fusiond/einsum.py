"""Sums of products by the names of dimensions, of arrays that are traced: by matmul, or by broadcasting and sums."""
import string

import numpy

from fusiond.expr import Traced, View, axes_of
from fusiond.known import implements

class Term:
    """An array, and a name for each of its dimensions."""

    def __init__(self, array, names):
        self.array, self.names = array, names

    def size(self, name):
        return self.array.shape[self.names.index(name)]

    def summed(self, keep):
        """Without the dimensions whose names are not among those."""
        gone = tuple(d for d, n in enumerate(self.names) if n not in keep)
        if not gone:
            return self
        total = numpy.sum(self.array, axis=gone, dtype=self.array.dtype)
        return Term(total, "".join(n for n in self.names if n in keep))

    def ordered(self, names):
        """With dimensions in that order; those it has not are of size 1."""
        a = self.array.transpose([self.names.index(n) for n in names if n in self.names])
        return a[tuple(slice(None) if n in self.names else None for n in names)]


def with_diagonals(array, names):
    """A term in which each name is there once: what has one name is walked along together."""
    view, own = array._view(), "".join(dict.fromkeys(names))
    shape, strides = [], []
    for n in own:
        places = [d for d, m in enumerate(names) if m == n]
        sizes = {view.shape[d] for d in places}
        if len(sizes) > 1:
            raise ValueError(f"numpy.einsum: dimension {n} has sizes {', '.join(map(str, sorted(sizes)))}")
        shape.append(view.shape[places[0]])
        strides.append(sum(view.strides[d] for d in places))
    return Term(Traced(array.trace, View(view.node, shape, strides, view.offset), array.dtype), own)


def parse(subscripts, arrays):
    """Names of each operand's dimensions and of the result's; those of ... get letters that are not used."""
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    inputs = inputs.split(",")
    if len(inputs) != len(arrays):
        raise ValueError(f"numpy.einsum of {len(arrays)} arrays with names for {len(inputs)}: {subscripts!r}")
    free = [c for c in string.ascii_letters if c not in subscripts]
    more = max([a.ndim - len(names.replace("...", "")) for a, names in zip(arrays, inputs) if "..." in names], default=0)
    dots = "".join(free[:more])
    named = []
    for a, names in zip(arrays, inputs):
        own = a.ndim - len(names.replace("...", ""))
        names = names.replace("...", dots[more - own:] if own else "")
        if len(names) != a.ndim or not names.isalpha() and names:
            raise ValueError(f"numpy.einsum: {names!r} names {len(names)} dimensions of an array of {a.ndim}")
        named.append(names)
    if not arrow:
        every = "".join(named)
        output = "..." + "".join(sorted(n for n in set(every) - set(dots) if every.count(n) == 1))
    output = output.replace("...", dots)
    strange = [n for n in output if n not in "".join(named) or output.count(n) > 1]
    if strange:
        raise ValueError(f"numpy.einsum: {strange[0]!r} of the result is in no operand, or in the result twice")
    return named, output


@implements(numpy.einsum)
def einsum(*operands, dtype=None, optimize=False):
    if not isinstance(operands[0], str):
        raise TypeError("numpy.einsum with lists of numbers cannot be traced: with a text such as \"ij,jk->ik\" it can")
    trace = next(v.trace for v in operands if isinstance(v, Traced))
    arrays = [trace.traced(v) for v in operands[1:]]
    named, output = parse(operands[0], arrays)
    dtype = numpy.dtype(dtype or numpy.result_type(*(a.dtype for a in arrays)))
    terms = [with_diagonals(a.astype(dtype), names) for a, names in zip(arrays, named)]
    sizes = {}
    for t in terms:
        for n in t.names:
            if {sizes.setdefault(n, t.size(n)), t.size(n), 1} != {1, max(sizes[n], t.size(n))}:
                raise ValueError(f"numpy.einsum: dimension {n} has sizes {sizes[n]} and {t.size(n)}")
            sizes[n] = max(sizes[n], t.size(n))
    while len(terms) > 1:
        left, right, *others = terms
        terms = [product(left, right, set(output).union(*(t.names for t in others))), *others]
    only = terms[0].summed(output)
    return only.ordered(output)


def product(left, right, keep):
    """Of two terms, summed over what nobody needs any more."""
    left, right = left.summed(keep | set(right.names)), right.summed(keep | set(left.names))
    both = [n for n in left.names if n in right.names]
    gone = [n for n in both if n not in keep]
    if not gone or left.array.dtype.kind == "b" or any(left.size(n) != right.size(n) for n in both):
        names = "".join(dict.fromkeys(left.names + right.names))
        return Term(numpy.multiply(left.ordered(names), right.ordered(names)), names).summed(keep)
    batch = [n for n in both if n in keep]
    rows, columns = ([n for n in t.names if n not in both] for t in (left, right))
    a = left.ordered(batch + rows + gone)
    b = right.ordered(batch + gone + columns)
    shape = [left.size(n) for n in batch]
    a = a.reshape([*shape, -1, _count(left, gone)])
    b = b.reshape([*shape, _count(right, gone), -1])
    made = numpy.matmul(a, b)
    return Term(made.reshape([*shape, *(left.size(n) for n in rows), *(right.size(n) for n in columns)]),
                "".join(batch + rows + columns))


def _count(term, names):
    total = 1
    for n in names:
        total *= term.size(n)
    return total


@implements(numpy.tensordot)
def tensordot(a, b, axes=2):
    trace = next(v.trace for v in (a, b) if isinstance(v, Traced))
    a, b = trace.traced(a), trace.traced(b)
    if hasattr(axes, "__index__"):
        n = axes.__index__()
        axes = (range(a.ndim - n, a.ndim), range(n))
    of_a, of_b = ([x % v.ndim for x in (own if hasattr(own, "__iter__") else (own,))] for own, v in zip(axes, (a, b)))
    if [a.shape[d] for d in of_a] != [b.shape[d] for d in of_b]:
        raise ValueError(f"numpy.tensordot of shapes {a.shape} and {b.shape} along {tuple(of_a)} and {tuple(of_b)}: "
                         "they differ there")
    names_a = list(string.ascii_letters[:a.ndim])
    names_b = list(string.ascii_letters[a.ndim:a.ndim + b.ndim])
    for d, e in zip(of_a, of_b):
        names_b[e] = names_a[d]
    gone = {names_a[d] for d in of_a}
    rest = [n for n in names_a + names_b if n not in gone]
    return einsum(f"{''.join(names_a)},{''.join(names_b)}->{''.join(rest)}", a, b)
