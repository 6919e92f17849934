"""The binding is built against libfusiond as pkg-config finds it, and the loader finds the library where the binding is
used. With $FUSIOND_CARRY=1 the wheel carries it, with what it needs besides the C library: for machines that have the
service and not the library's package."""
import os
import re
import shutil
import subprocess
import sys

from setuptools import setup
from setuptools.command.build_ext import build_ext

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from build_binding import ffi  # noqa: E402

SYSTEM = re.compile(r"(linux-vdso|ld-linux[\w-]*|libc|libm|libdl|libpthread|librt)\.so")
carries = os.environ.get("FUSIOND_CARRY") == "1"


def pkg_config(what):
    return subprocess.run(["pkg-config", what, "fusiond"], check=True, capture_output=True, text=True).stdout.split()


def needed(library):
    """What the loader takes for it: name -> path."""
    lines = subprocess.run(["ldd", library], check=True, capture_output=True, text=True).stdout.splitlines()
    found = (re.match(r"\s*(\S+) => (/\S+)", line) for line in lines)
    return {m[1]: m[2] for m in found if m and not SYSTEM.match(m[1])}


class Build(build_ext):
    def build_extension(self, extension):
        extension.extra_compile_args += pkg_config("--cflags")
        extension.extra_link_args += pkg_config("--libs-only-L")
        if carries:
            # Not RUNPATH, which holds for the binding alone and not for what its libraries need.
            extension.extra_link_args += ["-Wl,--disable-new-dtags,-rpath,$ORIGIN"]
        self.force = True  # one that was made without the library, or with it, is another one
        super().build_extension(extension)
        if carries:
            self.carry(os.path.dirname(self.get_ext_fullpath(extension.name)))

    def carry(self, folder):
        places = [word[2:] for word in pkg_config("--libs-only-L")] + [pkg_config("--variable=libdir")[0]]
        library = next(p for p in (f"{place}/libfusiond.so.0" for place in places) if os.path.exists(p))
        for name, path in {"libfusiond.so.0": library, **needed(library)}.items():
            shutil.copy(path, os.path.join(folder, name))


setup(ext_modules=[ffi.distutils_extension()], cmdclass={"build_ext": Build})
