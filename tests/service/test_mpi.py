#!/usr/bin/env python3
"""examples/mpi: ranks compute what plain C does, with one launch a step, and share one service that compiles for all of
them once. Usage: test_mpi.py MPIEXEC STENCIL STENCIL.fk FUSION_INSPECT; $FUSIOND is the daemon."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

mpiexec, stencil, kernels, inspect = sys.argv[1:5]
number = 0


def check(name, ok, why=""):
    global number
    number += 1
    print(f"{'ok' if ok else 'not ok'} {number} - {name}")
    if not ok:
        print("# " + why.replace("\n", "\n# "))


class Service:
    """A daemon with nothing kept from before."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="fusiond-test-")
        self.socket = self.folder + "/socket"
        self.env = dict(os.environ, FUSION_SOCKET=self.socket)
        self.daemon = subprocess.Popen([os.environ["FUSIOND"], "--socket", self.socket, "--cache", self.folder + "/cache"])
        while not os.path.exists(self.socket) and self.daemon.poll() is None:
            time.sleep(0.01)
        return self

    def __exit__(self, *_):
        self.daemon.terminate()
        self.daemon.wait()
        shutil.rmtree(self.folder)

    def run(self, ranks):
        return subprocess.run([mpiexec, "-n", str(ranks), stencil, kernels], env=self.env, capture_output=True, text=True)

    def status(self):
        return json.loads(subprocess.check_output([inspect, "status", "--json"], env=self.env))


def jobs(ranks):
    """What compilers did for so many ranks."""
    with Service() as s:
        done = s.run(ranks)
        check(f"{ranks} ranks compute what plain C does", done.returncode == 0, done.stdout + done.stderr)
        check(f"two launches for two steps ({ranks} ranks)", "2 launches for two: as plain C" in done.stdout, done.stdout)
        status = s.status()
        check(f"one service had {ranks} sessions of them", status["sessions_ever"] >= ranks, str(status))
        return status["compiles"]


print("1..7")
alone, together = jobs(1), jobs(4)
check("one compile for all ranks", 0 < alone == together, f"{alone} jobs for one rank, {together} for four")
