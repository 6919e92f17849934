"""Structs of the library that begin with their size."""
from fusiond._binding import ffi


def sized(name, fields=None):
    """A new one, all of it 0 but for its size and these fields."""
    return ffi.new(f"{name} *", {"size": ffi.sizeof(name), **(fields or {})})
