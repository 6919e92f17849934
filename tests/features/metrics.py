#!/usr/bin/python3
"""Metrics over the socket and in a file, read by another's parser of OpenMetrics. Prints TAP.

Usage: metrics.py FUSION-INSPECT FUSIOND GRAPH-FILE"""
import os
import signal
import subprocess
import sys
import tempfile
import time

try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
except ImportError:
    print("1..0 # SKIP python3-prometheus-client is not installed")
    sys.exit(0)

INSPECT, FUSIOND, GRAPH = map(os.path.abspath, sys.argv[1:4])
PATIENCE_S = 60
OTHER_UID = 65530


def check(what, good):
    if not good:
        raise AssertionError(what)


def parse(text):
    """By sample and its labels; the parser refuses what is no OpenMetrics."""
    check("the end is marked", text.endswith("# EOF\n"))
    families = list(text_string_to_metric_families(text))
    for family in families:
        check(f"{family.name} is ours", family.name.startswith("fusiond_"))
        check(f"{family.name} has a type", family.type in ("gauge", "counter", "info"))
        check(f"{family.name} is explained", family.documentation.endswith("."))
    return {(s.name, tuple(sorted(s.labels.items()))): s.value for f in families for s in f.samples}


class Service:
    def __init__(self, folder, *options):
        self.socket = os.path.join(folder, "socket")
        self.process = subprocess.Popen([FUSIOND, "--foreground", "--socket", self.socket, "--cache", "none", *options],
                                        stderr=subprocess.DEVNULL)
        self.wait(lambda: self.inspect("status", status=None).returncode == 0)

    def wait(self, done):
        end = time.monotonic() + PATIENCE_S
        while not done():
            check("it comes in time", time.monotonic() < end)
            time.sleep(0.05)

    def inspect(self, *args, status=0, uid=None):
        done = subprocess.run([INSPECT, "--socket", self.socket, *args], capture_output=True, text=True,
                              preexec_fn=uid and (lambda: (os.setgroups([]), os.setgid(uid), os.setuid(uid))))
        check(f"{args}: {done.stderr}", status is None or done.returncode == status)
        return done

    def metrics(self, uid=None):
        return parse(self.inspect("metrics", uid=uid).stdout)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE_S)


def value(samples, name, **labels):
    return samples["fusiond_" + name, tuple(sorted(labels.items()))]


def names(samples):
    """But those of users, of whom there may be none."""
    return {name for name, _ in samples if not name.startswith("fusiond_user_")}


def test_socket(folder):
    s = Service(folder)
    try:
        before = s.metrics()
        check("none yet", value(before, "finalizes_total") == 0)
        check("it is a session itself", value(before, "sessions") == 1)
        s.inspect("run", GRAPH)
        after = s.metrics()
        check("finalizes are counted", value(after, "finalizes_total") > 0)
        check("sessions are counted", value(after, "sessions_begun_total") > value(before, "sessions_begun_total"))
        check("time passes", value(after, "uptime_seconds") >= value(before, "uptime_seconds"))
        check("compiling has a user", value(after, "user_compile_seconds_total", uid=str(os.geteuid())) > 0)
        check("there is a limit", value(after, "limit", resource="sessions") == 256)
        check("the same samples", before.keys() == after.keys())
    finally:
        s.end()


def test_other_user(folder):
    if os.geteuid() != 0:
        raise Skip("needs root, who can be two users")
    os.chmod(folder, 0o755)
    s = Service(folder)
    try:
        os.chmod(s.socket, 0o777)
        s.inspect("run", GRAPH)
        users = {dict(labels)["uid"] for name, labels in s.metrics(OTHER_UID) if name.startswith("fusiond_user_")}
        check(f"{users}: of others one sees sums", users == {str(OTHER_UID)})
        check("root sees all", {"0", str(OTHER_UID)} <=
              {dict(labels)["uid"] for name, labels in s.metrics() if name.startswith("fusiond_user_")})
    finally:
        s.end()


def test_file(folder):
    path, config = os.path.join(folder, "metrics.prom"), os.path.join(folder, "conf")
    with open(config, "w") as out:
        out.write(f"metrics-file = {path}\n")
    s = Service(folder, "--config", config)
    try:
        s.wait(lambda: os.path.exists(path))
        with open(path) as written:
            check("the same samples as over the socket", names(parse(written.read())) == names(s.metrics()))
        check("everybody may read it", os.stat(path).st_mode & 0o777 == 0o644)
        with open(config, "w") as out:
            out.write(f"metrics-file = {path}.other\n")
        s.process.send_signal(signal.SIGHUP)
        s.wait(lambda: os.path.exists(path + ".other"))
        check("one that is written no more is gone", not os.path.exists(path))
    finally:
        s.end()
    check("none stays behind", not os.path.exists(path + ".other"))


class Skip(Exception):
    pass


def main():
    tests = [test_socket, test_other_user, test_file]
    failed = 0
    print(f"1..{len(tests)}")
    for number, test in enumerate(tests, 1):
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(folder)
                print(f"ok {number} - {test.__name__}")
            except Skip as why:
                print(f"ok {number} - {test.__name__} # SKIP {why}")
            except Exception as why:
                failed += 1
                print(f"not ok {number} - {test.__name__}\n# {why!r}")
    return failed > 0


sys.exit(main())
