"""What was done with a graph, and why: text in a terminal, a picture in a notebook."""
from __future__ import annotations

import html
import shutil
import subprocess
from typing import TYPE_CHECKING, List, Optional, Tuple

from fusiond._binding import ffi, lib
from fusiond.errors import check, text

if TYPE_CHECKING:
    from fusiond.graph import Handle


# Remarks that the lines above them have said.
SAID = ("fused", "internalized_private", "internalized_local", "inferred_internal")


class Report:
    """``launches``; ``groups``: lists of node names, a list a launch; ``internalized``: buffers without memory, with the
    kind of memory that they have instead; ``remarks``: (code, node, buffer, text); ``bytes_fused``,
    ``bytes_unfused``: traffic of a run; ``compile_ms``; ``cache``; ``ir``: of each launch, where it was kept."""

    launches: int
    groups: List[List[str]]
    internalized: "dict[str, str]"
    remarks: List[Tuple[str, Optional[str], Optional[str], str]]
    bytes_fused: int
    bytes_unfused: int
    compile_ms: float
    cache: str
    ir: List[Optional[str]]

    def __init__(self, handle: Handle) -> None:
        handle.session.check_open()
        r = lib.fusion_exec_report(handle.handle)
        self._handle = handle
        self.launches, self.compile_ms, self.cache = r.launches, r.compile_ms, text(r.cache)
        self.bytes_fused, self.bytes_unfused = r.bytes_fused, r.bytes_unfused
        groups = [r.groups[i] for i in range(r.n_groups)]
        self.groups = [[text(lib.fusion_exec_node_name(handle.handle, g.nodes[i])) for i in range(g.n_nodes)]
                       for g in groups]
        self.ir = [text(g.ir) for g in groups]
        self.internalized = {text(r.internalized[i].buffer): text(r.internalized[i].memory)
                             for i in range(r.n_internalized)}
        self.remarks = [(text(m.code), text(m.node), text(m.buffer), text(m.text))
                        for m in (r.remarks[i] for i in range(r.n_remarks))]

    def __repr__(self) -> str:
        saved = 100 * (1 - self.bytes_fused / self.bytes_unfused) if self.bytes_unfused else 0
        lines = [f"{self.launches} launch{'' if self.launches == 1 else 'es'}, {self.bytes_fused:,} bytes a run"
                 f" ({saved:.0f} % less than unfused), made in {self.compile_ms:.1f} ms (cache: {self.cache})"]
        lines += [f"  {i + 1}: {', '.join(nodes)}" for i, nodes in enumerate(self.groups)]
        kept = [f"{name} ({memory})" for name, memory in self.internalized.items()]
        if kept:
            lines.append(f"  without memory: {', '.join(kept)}")
        lines += [f"  {code}: {what}" for code, _, _, what in self.remarks if code not in SAID]
        return "\n".join(lines)

    def dot(self) -> str:
        """The graph as a drawing for graphviz."""
        self._handle.session.check_open()
        out = ffi.new("char **")
        check(lib.fusion_exec_dot(self._handle.handle, out))
        try:
            return text(out[0])
        finally:
            lib.free(out[0])

    def _repr_html_(self) -> str:
        program = shutil.which("dot")
        picture = ""
        if program:
            done = subprocess.run([program, "-Tsvg"], input=self.dot().encode(), capture_output=True, check=False)
            picture = done.stdout.decode()
        return picture + f"<pre>{html.escape(repr(self))}</pre>"
