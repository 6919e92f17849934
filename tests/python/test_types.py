#!/usr/bin/python3
"""What users see of the Python package has a docstring and types, and the types are right: mypy checks the package and
programs of users. Prints TAP."""
import importlib
import inspect
import os
import shutil
import subprocess
import sys
import tempfile

import fusiond

ROOT = sys.argv[1]
MODULES = ["array", "errors", "expr", "graph", "jit", "module", "outcome", "report", "session", "structs"]
NO_ANNOTATION = {"self", "cls"}

RIGHT = """
import numpy
import fusiond

with fusiond.connect(private=True, name="types") as s:
    m: fusiond.Module = s.load("edges.cl", options="-O2")
    x, y = s.array(numpy.arange(12.0)), s.zeros((3, 4), "f4", name="y")
    m.sobel[3, 4](x, y, 1.5)
    m["sobel"][(8, 8), (4, 4)](x, y, fusiond.Local(64))
    with s.graph() as g:
        m.sobel[12](x, y)
    run: fusiond.Handle = g.finalize(outputs=[y], fusion="require", bounds=True)
    run({x: y})
    event: fusiond.Event = run.submit(priority=3)
    event.add_done_callback(lambda e: print(e.done()))
    began: float = event.times.started
    later: fusiond.Handle = g.finalize_async(priority=1).result(timeout=2.5)
    n: int = run.report.launches + y.nbytes + len(x)
    text: str = run.report.dot() + s.metrics()

    @s.jit
    def norm(a, b):
        return numpy.sqrt(a * a + b * b)

    other = s.jit(lambda a: a + 1, bounds=True)
    print(norm(x, x).numpy().sum(), other.report.bytes_fused, norm.source)
    try:
        norm.submit(x, x).result()
    except fusiond.Error as error:
        print(error.code.upper(), error.object, error.reason.upper())
"""
WRONG = {
    'g.finalize(fusion="maybe")': "incompatible type",
    "s.array([1.0]).shape.x": "no attribute",
    's.load_source("", sub_group=3)': "sub_group",
    "fusiond.connect(private=True, nmae=1)": "nmae",
    "run: fusiond.Handle = s.graph()": "Incompatible types in assignment",
    "s.time_limit": "no attribute",
}


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def public():
    """(name, object) of what is to be seen: functions, classes, and of these methods and properties."""
    for module in [importlib.import_module(f"fusiond.{name}") for name in MODULES]:
        yield module.__name__, module
        for name, found in vars(module).items():
            if name.startswith("_") or getattr(found, "__module__", None) != module.__name__:
                continue
            if module.__name__ == "fusiond.expr" and name != "Traced":  # the rest is inside of jit
                continue
            if inspect.isfunction(found):
                yield f"{module.__name__}.{name}", found
            elif inspect.isclass(found):
                yield f"{module.__name__}.{name}", found
                yield from members(f"{module.__name__}.{name}", found)


def members(where, a_class):
    for name, found in vars(a_class).items():
        if name.startswith("_") and name not in ("__init__", "__call__", "__getitem__", "__len__"):
            continue
        if isinstance(found, (classmethod, staticmethod)):
            found = found.__func__
        if isinstance(found, property):
            yield f"{where}.{name}", found
        elif inspect.isfunction(found):
            yield f"{where}.{name}", found


def test_every_name_has_a_docstring():
    found = list(public())
    without = [name for name, o in found if not getattr(o, "__doc__", None) and "__" not in name.rsplit(".", 1)[1]]
    expect(not without, f"no docstring: {without}")
    names = {name for name, _ in found}
    for name in fusiond.__all__:
        o = getattr(fusiond, name)
        expect(o.__doc__ and f"{o.__module__}.{name}" in names, f"fusiond.{name}")
    expect({"fusiond.array.Array.nbytes", "fusiond.session.Session.load", "fusiond.session.connect"} <= names, "names are missing")


def test_every_name_has_types():
    without = []
    for name, o in public():
        for function in [o.fget, o.fset] if isinstance(o, property) else [o]:
            if not inspect.isfunction(function):
                continue
            signature = inspect.signature(function)
            without += [f"{name}({p.name})" for i, p in enumerate(signature.parameters.values())
                        if p.annotation is p.empty and not (i == 0 and p.name in NO_ANNOTATION)]
            if signature.return_annotation is signature.empty:
                without.append(f"{name} -> ?")
    expect(not without, f"no annotation: {without}")


def mypy(folder, *arguments):
    return subprocess.run(["mypy", "--cache-dir", folder + "/cache", *arguments], cwd=folder, text=True, capture_output=True,
                          env={**os.environ, "MYPYPATH": f"{ROOT}/python"}, check=False)


def test_the_types_are_right():
    """Of the package itself, and of programs that use it."""
    if not shutil.which("mypy"):
        return "there is no mypy"
    with tempfile.TemporaryDirectory(prefix="fusiond-types-") as folder:
        config = ["--config-file", f"{ROOT}/python/pyproject.toml"]
        done = mypy(folder, *config)
        expect(done.returncode == 0 and "no issues found" in done.stdout, done.stdout + done.stderr)
        program = folder + "/program.py"
        with open(program, "w") as out:
            out.write(RIGHT)
        done = mypy(folder, "--strict", "--allow-untyped-defs", "--allow-untyped-calls", "--follow-imports", "silent",
                    "--ignore-missing-imports", program)
        expect(done.returncode == 0, done.stdout + done.stderr)
        head = "import fusiond\ns = fusiond.connect()\ng = s.graph()\n"
        with open(program, "w") as out:
            out.write(head + "".join(line + "\n" for line in WRONG))
        done = mypy(folder, "--follow-imports", "silent", "--ignore-missing-imports", program)
        for number, (line, says) in enumerate(WRONG.items(), 1 + head.count("\n")):
            told = [t for t in done.stdout.splitlines() if t.startswith(f"program.py:{number}: error")]
            expect(told and says in told[0], f"{line}: {told}\n{done.stdout}")
    return None


def test_the_marker_is_there():
    """Without it nobody's checker looks at the types."""
    expect(os.path.exists(os.path.join(os.path.dirname(fusiond.__file__), "py.typed")), "no py.typed beside the package")


def main():
    tests = [v for k, v in globals().items() if k.startswith("test_")]
    print(f"1..{len(tests)}")
    failed = 0
    for number, test in enumerate(tests, 1):
        try:
            skipped = test()
            print(f"ok {number} {test.__name__}" + (f" # SKIP {skipped}" if skipped else ""))
        except AssertionError as error:
            failed += 1
            print(f"not ok {number} {test.__name__}\n# " + str(error).replace("\n", "\n# "))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
