#!/usr/bin/python3
"""The tutorial's programs: graph file, C and Python compute what NumPy does, and its code is theirs. Prints TAP.

    test_tutorial.py ROOT FUSION-INSPECT EXAMPLE-EDGES EXAMPLE-FILM
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback

import numpy

ROOT, INSPECT, EDGES, FILM = sys.argv[1:5]
FOLDER = os.path.join(ROOT, "examples/edges")
WIDTH, HEIGHT = 640, 480
picture = numpy.random.default_rng(1).integers(0, 256, (HEIGHT, WIDTH, 4), "u1")
film = [numpy.roll(picture, 37 * i, axis=0) for i in range(5)]


def expected(picture):
    f = numpy.float32
    c = picture.astype("f4")
    light = f(0.299) * c[..., 0] + f(0.587) * c[..., 1] + f(0.114) * c[..., 2]
    p = numpy.pad(numpy.clip((light - 128) * f(1.5) + 128, 0, 255), 1, mode="edge")

    def at(y, x):
        return p[1 + y:HEIGHT + 1 + y, 1 + x:WIDTH + 1 + x]

    h = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1)
    v = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1)
    return numpy.minimum(numpy.sqrt(h * h + v * v), 255).astype("u1")


def expect_edges(edges, picture=picture):
    """NumPy adds in the same order, but without fused multiplications: a rounding apart."""
    apart = numpy.abs(edges.astype(int) - expected(picture))
    if edges.shape != (HEIGHT, WIDTH) or apart.max() > 1 or numpy.mean(apart > 0) > 0.01:
        raise AssertionError(f"{edges.shape}: {apart.max()} apart, {numpy.mean(apart > 0)} of all")


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, timeout=120, check=False, **options)
    if done.returncode:
        raise AssertionError(f"{command}: {done.stderr.decode()}")
    return done


class Files:
    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        numpy.save(self.path("in.npy"), picture)
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)


def test_graph_file():
    with Files() as f:
        done = run(INSPECT, "--private", "run", "--in", "photo=" + f.path("in.npy"), "--out", "edges=" + f.path("out.npy"),
                   os.path.join(FOLDER, "edges.yaml"))
        expect_edges(numpy.load(f.path("out.npy")))
        with open(os.path.join(ROOT, "docs/tutorial.md")) as tutorial:
            shown = re.search(r"```\n(linear order.*?)```", tutorial.read(), re.S).group(1)
        for line in shown.splitlines():
            if line not in done.stdout.decode().splitlines():
                raise AssertionError(f"{line!r} is not in {done.stdout.decode()}")


def test_c():
    done = run(EDGES, os.path.join(FOLDER, "edges.cl"), str(WIDTH), str(HEIGHT), input=picture.tobytes())
    expect_edges(numpy.frombuffer(done.stdout, "u1").reshape(HEIGHT, WIDTH))


def test_python():
    with Files() as f:
        done = run("/usr/bin/python3", os.path.join(FOLDER, "edges.py"), f.path("in.npy"), f.path("out.npy"))
        expect_edges(numpy.load(f.path("out.npy")))
        if b"2 launches" not in done.stdout:
            raise AssertionError(done.stdout)


def test_film_in_c():
    """Finalized, then loaded; and what it says is what the tutorial shows."""
    with Files() as f:
        for how in ("finalized", "loaded"):
            done = run(FILM, os.path.join(FOLDER, "edges.cl"), f.path("saved"), str(WIDTH), str(HEIGHT),
                       input=b"".join(p.tobytes() for p in film))
            edges = numpy.frombuffer(done.stdout, "u1").reshape(len(film), HEIGHT, WIDTH)
            for one, of in zip(edges, film):
                expect_edges(one, of)
            said = f"2 of 3 windows were fused\n{how}, 5 pictures\n"
            if done.stderr.decode() != said:
                raise AssertionError(done.stderr)
    with open(os.path.join(ROOT, "docs/tutorial.md")) as tutorial:
        if said.replace("loaded", "finalized") not in tutorial.read():
            raise AssertionError(said)


def test_film_in_python():
    with Files() as f:
        numpy.save(f.path("film.npy"), numpy.stack(film))
        for how in ("finalized", "loaded"):
            done = run("/usr/bin/python3", os.path.join(FOLDER, "film.py"), f.path("saved"), f.path("film.npy"), f.path("out.npy"))
            for one, of in zip(numpy.load(f.path("out.npy")), film):
                expect_edges(one, of)
            if not done.stdout.decode().startswith(f"{how}, 5 pictures, "):
                raise AssertionError(done.stdout)


def test_commands():
    """As they are typed, in a checkout with a build folder; all of them make the same edges."""
    build = os.path.dirname(os.path.dirname(os.path.abspath(INSPECT)))
    with open(os.path.join(ROOT, "docs/tutorial.md")) as tutorial:
        blocks = re.findall(r"```sh\n(.*?)```", tutorial.read(), re.S)
    commands = [b for b in blocks if "tools/setup" not in b and "mpiexec" not in b]
    environment = dict(os.environ, PATH=os.path.join(build, "tools") + ":/usr/bin:" + os.environ["PATH"],
                       PYTHONPATH=os.path.join(build, "python"))
    with tempfile.TemporaryDirectory() as checkout:
        os.symlink(build, os.path.join(checkout, "build"))
        folder = shutil.copytree(FOLDER, os.path.join(checkout, "examples/edges"))
        run("sh", "-ec", "\n".join(commands), cwd=folder, env=environment)
        edges = numpy.load(os.path.join(folder, "edges.npy")).tobytes()
        for name, times in (("edges.raw", 1), ("film.raw", 5)):
            with open(os.path.join(folder, name), "rb") as raw:
                if raw.read() != edges * times:
                    raise AssertionError(f"{name} has other edges")
        if len(set(edges)) < 2:
            raise AssertionError("there are no edges")


def test_code_is_of_the_files():
    """Each piece of code in the tutorial stands in a file, line by line."""
    with open(os.path.join(ROOT, "docs/tutorial.md")) as tutorial:
        pieces = re.findall(r"```(c|yaml|python)\n(.*?)```", tutorial.read(), re.S)
    files = {}
    for name in ("edges.cl", "edges.c", "edges.yaml", "edges.py", "film.c", "film.py"):
        with open(os.path.join(FOLDER, name)) as f:
            files[name] = "\n".join(line.strip() for line in f)
    for _, piece in pieces:
        text = "\n".join(line.strip() for line in piece.strip().splitlines())
        if not any(text in content for content in files.values()):
            raise AssertionError(f"in no file: {piece}")
    if len(pieces) < 6:
        raise AssertionError("where is the code?")


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
