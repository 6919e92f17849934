#!/usr/bin/env python3
"""The second level of the cache: two daemons share what one of them compiled, by a Redis server; entries that were not
written with their key are not used; a server that is killed, stopped or away is no error for anybody.
Usage: test_cache_server.py REDIS_SERVER FUSION_INSPECT; $FUSIOND is the daemon."""
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

redis, inspect = sys.argv[1:3]
work = tempfile.mkdtemp(prefix="fusiond-test-")
server_socket = work + "/redis"
number = 0
graphs = 0
started = []

KERNEL = "kernel @scale(%a: ptr.global i32 write, %k: i32) {\n  %i = global_id x\n  %t = trunc i32 %i\n" \
         "  %x = mul i32 %t, %k\n  store i32 %a[%i], %x\n}\n"
GRAPH = """
modules: {{k: k.fk}}
buffers: {{a: {{type: i32, count: {count}}}}}
graph:
  - {{kernel: k.scale, global: [{count}], args: [{{write: a}}, 3]}}
"""


def check(name, ok, why=""):
    global number
    number += 1
    print(f"{'ok' if ok else 'not ok'} {number} - {name}")
    if not ok:
        print("# " + str(why).replace("\n", "\n# "))


def write(name, text, mode=0o600):
    path = f"{work}/{name}"
    with open(path, "w") as f:
        f.write(text)
    os.chmod(path, mode)
    return path


def start_redis():
    process = subprocess.Popen([redis, "--port", "0", "--unixsocket", server_socket, "--save", "", "--dir", work],
                               stdout=subprocess.DEVNULL)
    started.append(process)
    while not os.path.exists(server_socket):
        time.sleep(0.01)
    return process


def redis_say(*words):
    """One command, and the answer as it comes; entries are small."""
    s = socket.socket(socket.AF_UNIX)
    s.connect(server_socket)
    words = [w if isinstance(w, bytes) else w.encode() for w in words]
    s.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
    answer = s.recv(1 << 20)
    if answer.startswith(b"$") and not answer.startswith(b"$-1"):
        head, rest = answer.split(b"\r\n", 1)
        while len(rest) < int(head[1:]) + 2:
            rest += s.recv(1 << 20)
        answer = rest[:-2]
    s.close()
    return answer


def names():
    return [line for line in redis_say("KEYS", "fusiond:*").split(b"\r\n") if line.startswith(b"fusiond:")]


class Daemon:
    def __init__(self, name, key):
        self.socket, self.name = f"{work}/{name}.socket", name
        self.log = open(f"{work}/{name}.log", "w+")
        self.process = subprocess.Popen([os.environ["FUSIOND"], "--socket", self.socket, "--cache", f"{work}/{name}",
                                         "--cache-server", server_socket, "--cache-key", key, "--foreground"],
                                        stderr=self.log)
        started.append(self.process)
        while not os.path.exists(self.socket) and self.process.poll() is None:
            time.sleep(0.01)

    def counter(self, name):
        out = subprocess.check_output([inspect, "--socket", self.socket, "status", "--json"])
        return json.loads(out)["cache_server_" + name]

    def said(self, text, times=1):
        """Waits until the log has it so often."""
        for _ in range(3000):
            self.log.seek(0)
            if self.log.read().count(text) >= times:
                return True
            time.sleep(0.01)
        return False

    def run(self, graph):
        done = subprocess.run([inspect, "--socket", self.socket, "run", "--tier", "compiled", "--out",
                               f"a={work}/{self.name}.npy", graph], capture_output=True, text=True)
        check(f"daemon {self.name} runs {os.path.basename(graph)}", done.returncode == 0, done.stdout + done.stderr)
        with open(f"{work}/{self.name}.npy", "rb") as f:
            return f.read()

    def resident_mb(self):
        with open(f"/proc/{self.process.pid}/status") as f:
            return int(re.search(r"VmHWM:\s*(\d+)", f.read()).group(1)) >> 10

    def writes(self, n):
        """Waits until the server has confirmed so many."""
        for _ in range(1000):
            if self.counter("writes") >= n:
                return True
            time.sleep(0.01)
        return False

    def end(self):
        self.process.terminate()
        code = self.process.wait()
        check(f"daemon {self.name} ends well", code == 0, code)
        self.log.close()


class Rogue:
    """In the server's place: says something to whoever connects, and something else, without end, to whoever asks."""
    def __init__(self, greeting, answers):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(server_socket)
        self.listener.listen(8)
        self.greeting, self.answers = greeting, answers
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        try:
            while True:
                threading.Thread(target=self.serve, args=(self.listener.accept()[0],), daemon=True).start()
        except OSError:
            pass

    def serve(self, connection):
        try:
            connection.sendall(self.greeting)
            while connection.recv(1 << 16):
                for part in self.answers():
                    connection.sendall(part)
        except OSError:
            pass

    def end(self):
        self.listener.close()
        os.unlink(server_socket)


def endless(head, part):
    yield head
    for _ in range(200_000_000 // len(part)):
        yield part


ROGUES = (("speaks first", b"+OK\r\n", lambda: ()),
          ("answers twice", b"", lambda: (b"$-1\r\n$-1\r\n",)),
          ("answers with a gigabyte", b"", lambda: endless(b"$1000000000\r\n", b"x" * (1 << 20))),
          ("answers with a list", b"", lambda: endless(b"*100000000\r\n", b"$-1\r\n" * 100000)),
          ("answers with a line without end", b"", lambda: endless(b"+", b"x" * (1 << 20))),
          ("answers with a number of bytes that is none", b"", lambda: (b"$18446744073709551617\r\n",)))


def graph():
    global graphs
    graphs += 1
    return write(f"g{graphs}.yaml", GRAPH.format(count=1000 + graphs))


try:
    write("k.fk", KERNEL)
    key, other_key = write("key", "a secret of both"), write("other", "another secret, longer")
    server = start_redis()
    first = graph()

    a = Daemon("a", key)
    check("it connects", a.said("connected"))
    wanted = a.run(first)
    check("what it compiled is on the server", a.writes(3), a.counter("writes"))
    check("module, plan and object were asked for", a.counter("misses") == 3 and a.counter("hits") == 0)
    b = Daemon("b", key)
    b.said("connected")
    check("another one computes the same", b.run(first) == wanted)
    check("and has compiled nothing", (b.counter("hits"), b.counter("misses")) == (3, 0), b.counter("hits"))
    b.end()

    c = Daemon("c", other_key)
    c.said("connected")
    check("one with another key, too", c.run(first) == wanted)
    check("and has taken nothing", (c.counter("hits"), c.counter("rejected")) == (0, 3), c.counter("rejected"))
    c.end()

    redis_say("FLUSHALL")
    again = Daemon("again", key)
    again.said("connected")
    again.run(first)
    again.writes(3)
    again.end()
    for name in names():
        entry = bytearray(redis_say("GET", name))
        entry[len(entry) // 2] ^= 1
        redis_say("SET", name, bytes(entry))
    d = Daemon("d", key)
    d.said("connected")
    check("nobody minds entries that somebody changed", d.run(first) == wanted)
    check("they are not used", (d.counter("hits"), d.counter("rejected")) == (0, 3), d.counter("rejected"))
    check("but written anew", d.writes(3))
    d.end()
    swapped = names()
    entries = [redis_say("GET", name) for name in swapped]
    for name, entry in zip(swapped, entries[1:] + entries[:1]):
        redis_say("SET", name, entry)
    e = Daemon("e", key)
    e.said("connected")
    check("entries in each other's places neither", e.run(first) == wanted and e.counter("hits") == 0)
    e.end()

    os.kill(server.pid, signal.SIGSTOP)
    a.run(graph())
    check("a server that does not answer is not waited for", a.counter("late") > 0)
    os.kill(server.pid, signal.SIGCONT)
    server.kill()
    server.wait()
    a.run(graph())
    os.unlink(server_socket)
    before = a.counter("writes")
    server = start_redis()
    check("one that came back is found", a.said("connected", 2))
    a.run(graph())
    check("and used again", a.writes(before + 1))
    a.end()

    server.terminate()
    server.wait()
    for name, greeting, answers in ROGUES:
        rogue = Rogue(greeting, answers)
        g = Daemon("rogue", key)
        g.said("connected")
        g.run(graph())
        check(f"a server that {name} is left", g.said("it sends what is no answer"))
        check("and not listened to", g.resident_mb() < 64, g.resident_mb())
        g.end()
        rogue.end()
    server = start_redis()

    for name, path, why in (("open", write("open", "a secret of both", 0o644), "others than its owner"),
                            ("short", write("short", "secret"), "16 to 4096"), ("none", work + "/missing", "No such file")):
        f = Daemon(name, path)
        check(f"a key that is {name} is refused", f.said(why))
        f.run(first)
        f.end()
    # Access lists: (tag, rights, id), in the form that the system has them in.
    owner, group, mask, other = (1, 4, -1), (4, 0, -1), (16, 4, -1), (32, 0, -1)
    for name, entries, used in (("us", [owner, (2, 4, os.geteuid()), group, mask, other], True),
                                ("another user", [owner, (2, 4, 54321), group, mask, other], False),
                                ("another user whom the mask denies it",
                                 [owner, (2, 4, 54321), group, (16, 0, -1), other], True),
                                ("a group", [owner, group, (8, 4, 54321), mask, other], False),
                                ("everybody", [owner, group, mask, (32, 4, -1)], False)):
        path = write("listed", "a secret of both", 0o400)
        try:
            os.setxattr(path, "system.posix_acl_access",
                        struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries))
        except OSError as e:
            number += 1
            print(f"ok {number} - a key that a list gives to {name} # SKIP no access lists here: {e}")
            continue
        f = Daemon("listed", path)
        wanted_line = "connected" if used else "others than its owner may"
        check(f"a key that a list gives to {name} is {'used' if used else 'refused'}", f.said(wanted_line))
        f.end()
        os.unlink(path)
    server.terminate()
    server.wait()
finally:
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()
    shutil.rmtree(work)
print(f"1..{number}")
