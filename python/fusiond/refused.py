"""What cannot be traced, and what is possible instead."""

_BY_CONTENTS = "as its shape depends on contents: numpy.where(condition, x, y) chooses by element and keeps the shape"
_SCATTERED = "as contents decide where it writes: a kernel of OpenCL C can (Session.load_source), with atomic functions"
_IN_PLACE = "as it changes an array: numpy.where, numpy.concatenate and numpy.take make another one"
_SOLVED = "as it is no graph of kernels: NumPy has it for what a function is given and what it returns"
_SORTED = "numpy.sort, numpy.argsort and numpy.quantile can"

_INSTEAD = {
    **dict.fromkeys("""unique nonzero flatnonzero argwhere extract compress trim_zeros union1d intersect1d setdiff1d setxor1d
                       delete insert""".split(), _BY_CONTENTS),
    **dict.fromkeys("bincount histogram histogram2d histogramdd histogram_bin_edges".split(), _SCATTERED),
    **dict.fromkeys("put place putmask put_along_axis copyto fill_diagonal".split(), _IN_PLACE),
    **dict.fromkeys("partition argpartition lexsort nanmedian nanquantile nanpercentile".split(), _SORTED),
}


def message(function):
    """Names the function, and says why, or what can be traced."""
    module = getattr(function, "__module__", None) or "numpy"
    name = function.__name__
    solved = module.startswith(("numpy.linalg", "numpy.fft"))
    instead = _INSTEAD.get(name) if module == "numpy" else _SOLVED if solved else None
    if instead is None:
        instead = ": operators, ufuncs, reductions and sums along axes, indices, concatenate, sort, where and matmul can; " \
            "NumPy has it for what a function is given and what it returns"
    return f"{module}.{name} cannot be traced{instead if instead[0] == ':' else ', ' + instead}"
