"""Failures of the service as exceptions."""
from __future__ import annotations

from typing import Any, Optional

from fusiond._binding import ffi, lib


class Error(Exception):
    """A call of the service failed.

    ``code`` is the status by its name ("invalid", "kernel_fault" ...), ``object`` what it is about ("kernel k.add,
    argument 2 `t`"), ``reason`` why, with the numbers, and with file, line and caret where it is about a text.
    """

    def __init__(self, code: str, about: Optional[str], reason: str) -> None:
        super().__init__(f"{code}: {about}: {reason}" if about else f"{code}: {reason}")
        self.code = code
        self.object = about
        self.reason = reason


def text(pointer: Any) -> Any:
    """A C string, None for NULL."""
    return ffi.string(pointer).decode("utf-8", "replace") if pointer else None


def check(status: int) -> None:
    """Raises the library's last error unless status is success."""
    if status == lib.FUSION_SUCCESS:
        return
    error = lib.fusion_last_error()
    raise Error(text(lib.fusion_status_name(status)), text(error.object), text(error.reason))
