#!/usr/bin/python3
"""What the benchmarks say of options and works that they do not have: usage, before anything is measured. Prints TAP."""
import subprocess
import sys

script, bench, bench_compile, bench_python = sys.argv[1:]
number = 0


def check(name, command, status, *says):
    global number
    number += 1
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    text = done.stdout + done.stderr
    ok = done.returncode == status and all(part in text for part in says)
    print(f"{'ok' if ok else 'not ok'} {number} - {name}")
    if not ok:
        print(f"# status {done.returncode}\n# " + text.replace("\n", "\n# "))


check("tools/bench --help", [script, "--help"], 0, "tools/bench [--processor]", "tools/bench --compile")
check("bench --help", [bench, "--help"], 0, "usage: bench", "works: service", "unsharp")
check("an unknown option", [bench, "--nothing"], 2, "--nothing is no option", "usage: bench")
check("an unknown option after a work", [bench, "ids", "--nothing"], 2, "--nothing is no option", "usage: bench")
check("an unknown work", [bench, "ids", "nothing"], 2, "nothing is no work", "usage: bench")
check("an option without its value", [bench, "ids", "--json"], 2, "usage: bench")
check("of compiling", [bench_compile, "--nothing", "1"], 2, "usage: bench_compile")
check("help of compiling", [bench_compile, "--help"], 2, "usage: bench_compile")
check("of Python, an unknown work", ["/usr/bin/python3", bench_python, "nothing"], 2, "nothing is no work")
print(f"1..{number}")
