#!/usr/bin/python3
"""The documents: what they link to and name is there, and the README leads to each of them. Prints TAP."""
import glob
import os
import re
import sys

os.chdir(sys.argv[1])
number = 0
# In paths, words that stand for names.
NAMES = re.compile(r"\b(NAME|PASS|CASE|MODULE)\b")
FOLDERS = "client|daemon|debian|docs|examples|fuser|ir|proto|python|tests|tools"


def check(name, wrong):
    global number
    number += 1
    print(f"{'not ok' if wrong else 'ok'} {number} - {name}")
    for line in wrong:
        print(f"# {line}")


def read(path):
    with open(path) as f:
        return f.read()


def prose(path):
    """Without examples, which have brackets of their own."""
    return re.sub(r"```.*?```|^    .*?$", "", read(path), flags=re.S | re.M)


documents = ["README.md", "CONTRIBUTING.md"] + sorted(glob.glob("docs/*.md"))
links = [(path, target) for path in documents for target in re.findall(r"\]\(([^)#\s]+)", prose(path))
         if ":" not in target and target != "..."]
check("links lead somewhere", [f"{p}: {t}" for p, t in links if not os.path.exists(os.path.join(os.path.dirname(p), t))])
named = [(path, name) for path in documents for name in re.findall(rf"`((?:{FOLDERS})/[\w./-]+)`", prose(path))
         if not NAMES.search(name)]
check("paths are there", [f"{p}: {n}" for p, n in named if not os.path.exists(n)])
check("the README leads to each document", [p for p in glob.glob("docs/*.md") if f"({p})" not in read("README.md")])
print(f"1..{number}")
