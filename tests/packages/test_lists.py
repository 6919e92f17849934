#!/usr/bin/python3
"""The packages of debian/: each file that is installed is in one of them, and in one only; versions and symbols are those
of the library; the configuration file is one. Prints TAP."""
import glob
import grp
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

source, build, daemon, version = sys.argv[1:5]
work = tempfile.mkdtemp(prefix="fusiond-test-")
number = 0


def check(name, ok, why=""):
    global number
    number += 1
    print(f"{'ok' if ok else 'not ok'} {number} - {name}")
    if not ok:
        print("# " + str(why).replace("\n", "\n# "))


def read(path):
    with open(os.path.join(source, path)) as f:
        return f.read()


def installed():
    """What lies where when the prefix is /usr."""
    subprocess.run(["meson", "install", "--no-rebuild", "-C", build, "--destdir", work], check=True, stdout=subprocess.DEVNULL)
    found = set()
    for folder, _, names in os.walk(work):
        found |= {os.path.relpath(os.path.join(folder, name), work) for name in names}
    prefix = next(path for path in found if path.endswith("/bin/fusiond"))[:-len("bin/fusiond")]
    names = {"usr/" + path[len(prefix):] if path.startswith(prefix) else path for path in found}
    # Read from /etc alone; other prefixes get an example.
    example = "usr/share/doc/fusiond/fusiond.conf"
    return names - {example} - set(read("debian/not-installed").split()) | {"etc/fusiond/fusiond.conf"}


def packages():
    """package -> patterns of what is in it."""
    lists = {os.path.basename(path)[:-len(".install")]: read(path).split()
             for path in glob.glob(os.path.join(source, "debian/*.install"))}
    lists["fusiond"].append("usr/lib/systemd/system")  # by dh_installsystemd: debian/rules
    return lists


def expression(pattern):
    return re.compile("[^/]*".join(re.escape(part) for part in pattern.split("*")) + "(/.*)?")


def check_files():
    files, lists = installed(), packages()
    matched = {path: [p for p, patterns in lists.items() if any(expression(x).fullmatch(path) for x in patterns)]
               for path in files}
    check("each installed file is in a package", all(matched.values()), sorted(p for p in files if not matched[p]))
    twice = {path: found for path, found in matched.items() if len(found) > 1}
    check("and in one only", not twice, twice)
    empty = [(p, x) for p, patterns in lists.items() for x in patterns if not any(expression(x).fullmatch(f) for f in files)]
    check("no list names what is not installed", not empty, empty)
    named = set(re.findall(r"^Package: (\S+)", read("debian/control"), re.M))
    check("each package has a list", named == set(lists), named ^ set(lists))


def check_versions():
    check("the changelog's version is the project's",
          re.match(r"fusiond \(([^)~-]+)", read("debian/changelog"))[1] == version, read("debian/changelog")[:40])
    nodes = set(re.findall(r"^(FUSIOND_[\d.]+) \{", read("client/libfusiond.map"), re.M))
    told = dict(re.findall(r"^ \(symver\)(FUSIOND_[\d.]+) ([\d.]+)$", read("debian/libfusiond0.symbols"), re.M))
    check("each version of symbols is in the package's table", nodes == set(told), nodes ^ set(told))
    late = [n for n, v in told.items() if not (v + ".0").startswith(n[len("FUSIOND_"):])]
    check("with the release that brought it", not late, late)


def ends_well(path):
    """Whether a daemon starts with the file and ends when it is asked to."""
    socket = os.path.join(work, "socket")
    process = subprocess.Popen([daemon, "--config", path, "--socket", socket, "--cache", "none", "--foreground"],
                               stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not os.path.exists(socket):
        time.sleep(0.01)
    process.terminate()
    told = process.communicate()[1]
    return process.returncode == 0, told


def check_configuration():
    text = read("daemon/fusiond.conf")
    check("the configuration file says nothing", not re.search(r"^[^#\n]", text, re.M))
    own = grp.getgrgid(os.getegid()).gr_name  # the group that is written there comes with an administrator
    every = re.sub(r"^(socket-group) = .*$", r"\1 = " + own, re.sub(r"^#(?=[a-z\[])", "", text, flags=re.M), flags=re.M)
    with open(work + "/all.conf", "w") as f:
        f.write(every)
    check("and all that it could say is understood", *ends_well(work + "/all.conf"))
    keys = set(re.findall(r"^#([a-z-]+) =", text, re.M))
    page = read("docs/man/fusiond.conf.5").replace(r"\-", "-")
    check("and is in its manual page", all(re.search(rf"^\.BR? .*\b{re.escape(k)}\b", page, re.M) for k in keys), keys)


try:
    check_files()
    check_versions()
    check_configuration()
finally:
    shutil.rmtree(work)
print(f"1..{number}")
