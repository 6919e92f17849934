"""Structs of the library that begin with their size."""
from __future__ import annotations

from typing import Any, Mapping, Optional

from fusiond._binding import ffi


def sized(name: str, fields: Optional[Mapping[str, Any]] = None) -> Any:
    """A new one, all of it 0 but for its size and these fields."""
    return ffi.new(f"{name} *", {"size": ffi.sizeof(name), **(fields or {})})
