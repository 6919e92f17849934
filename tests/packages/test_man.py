#!/usr/bin/python3
"""The manual pages: readers find nothing wrong with them, what they refer to is there, and the options that a program's
--help prints are those of its page. Prints TAP."""
import glob
import os
import re
import subprocess
import sys

source, build, *programs = sys.argv[1:]
COMMANDS = ("run", "explain", "compile", "passes", "bundle", "module", "pipes", "devices", "status", "top")
number = 0


def check(name, ok, why=""):
    global number
    number += 1
    print(f"{'ok' if ok else 'not ok'} {number} - {name}")
    if not ok:
        print("# " + str(why).replace("\n", "\n# "))


def read(path):
    with open(path) as f:
        return f.read()


def plain(text):
    """What is written, without the signs for how."""
    text = re.sub(r"\\f.|\\&|\\c\n?", "", text).replace(r"\-", "-").replace(r"\(em", "--")
    return re.sub(r"^\.(B|I|BR|BI|RB|RI|IR|IB|TP|PP|SS|SH)\b ?", "", text, flags=re.M)


def options(text):
    return set(re.findall(r"(?<![\w-])(--[a-z][a-z-]*|-o\b|-target|-device-config-file)", text)) - {"--"}


def lint(name, path):
    done = subprocess.run(["mandoc", "-Tlint", "-W", "warning", path], capture_output=True, text=True)
    told = done.stdout + done.stderr
    env = {**os.environ, "LC_ALL": "C.UTF-8", "MANPAGER": "cat"}
    told += subprocess.run(["man", "--warnings", "-l", path], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                           text=True).stderr
    check(f"{name} reads well", not told, told)


def references(name, text, pages):
    """Of the pages that are ours."""
    wanted = {f"{n}.{s}" for n, s in re.findall(r"^\.BR (fusion\S*) \((\d)\)", text.replace(r"\-", "-"), re.M)}
    check(f"{name} refers to what is there", wanted <= set(pages), wanted - set(pages))


def help_of(program):
    ways = [["--help"]]
    if os.path.basename(program) == "fusion-inspect":
        ways += [[command, "--help"] for command in COMMANDS]
    told = ""
    for way in ways:
        done = subprocess.run([program, *way], capture_output=True, text=True)
        told += done.stdout + done.stderr
    return told


def all_pages():
    paths = glob.glob(f"{source}/docs/man/*.[1-8]") + glob.glob(f"{build}/docs/man/*.[1-8]")
    return {os.path.basename(p): p for p in paths}


pages = all_pages()
texts = {name: read(path) for name, path in pages.items()}
links = {name: text for name, text in texts.items() if text.startswith(".so ")}
for name in sorted(texts.keys() - links.keys()):
    lint(name, pages[name])
    references(name, texts[name], pages)
broken = {name: text for name, text in links.items() if os.path.basename(text.split()[1]) not in texts}
check("each page that leads to another one leads somewhere", not broken, broken)
functions = set(re.findall(r"(fusion_\w+);", read(f"{source}/client/libfusiond.map")))
check("each function has a page", functions <= {n[:-2] for n in texts}, functions - {n[:-2] for n in texts})
for program in programs:
    name = os.path.basename(program)
    page = plain(next(text for n, text in texts.items() if re.fullmatch(re.escape(name) + r"\.[18]", n)))
    for option in ("--help", "--version"):
        done = subprocess.run([program, option], capture_output=True, text=True)
        check(f"{name} answers {option}", done.returncode == 0 and done.stdout.startswith(("usage: " + name, name + " ")),
              done.stdout + done.stderr)
    told, written = options(help_of(program)), options(page)
    check(f"{name}: the page has what --help prints", told <= written | {"--help"}, told - written)
    check(f"{name}: --help prints what the page has", written <= told | {"--help", "--version"}, written - told)
    if name != "fusion-inspect":  # test_inspect is about that one's
        script = f'. {source}/tools/completion.bash; _fusiond_options {program} -; echo "${{COMPREPLY[@]}}"'
        completed = subprocess.run(["bash", "-c", script], capture_output=True, text=True).stdout.split()
        check(f"{name}: and completion offers it", told <= set(completed) | {"-o"}, told - set(completed))
print(f"1..{number}")
