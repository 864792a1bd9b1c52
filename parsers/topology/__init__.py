"""What tools and libraries write on the topology of a host, one module a format.

    head of a file -> which formats it holds -> Rows -> TopologyFile: tables of topology_schema

A file is told by what stands in it, never by its name. Whatever is broken in it is remarked on.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Protocol

from commscope.errors import CorruptTrace
from commscope.parsers.topology import (
    amd_smi_blocks,
    amd_smi_csv,
    amd_smi_json,
    amd_smi_tables,
    collected,
    graph_xml,
    hipconfig,
    nvidia_smi,
    rocm_smi_csv,
    rocm_smi_json,
    rocm_smi_text,
    rocminfo,
    saved,
    topo_xml,
)
from commscope.parsers.topology.rows import Rows, TopologyFile

#: Larger files are no topology.
MOST_BYTES = 8 << 20

_JSON_HEAD_BYTES = 4 << 10
_ESCAPES = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")


class Format(Protocol):
    """A module of this package that reads one format."""

    def recognises(self, head: str) -> bool:
        """Whether the first part of a file is of the format."""
        ...

    def read(self, text: str) -> Rows:
        """The rows of the text; raises ValueError where nothing can be read."""
        ...


#: A text may hold several: what was printed by one command after the other.
FORMATS: MappingProxyType[str, Format] = MappingProxyType(
    {
        "rocm-smi text": rocm_smi_text,
        "rocm-smi JSON": rocm_smi_json,
        "rocm-smi CSV": rocm_smi_csv,
        "amd-smi tables": amd_smi_tables,
        "amd-smi blocks": amd_smi_blocks,
        "amd-smi JSON": amd_smi_json,
        "amd-smi CSV": amd_smi_csv,
        "nvidia-smi text": nvidia_smi,
        "rocminfo text": rocminfo,
        "hipconfig text": hipconfig,
        "NCCL_TOPO_DUMP_FILE": topo_xml,
        "NCCL_GRAPH_DUMP_FILE": graph_xml,
        "commscope env --save": collected,
        "a run that commscope saved": saved,
    }
)


def formats_of(head: bytes) -> tuple[str, ...]:
    """The formats that the first bytes of a file show; none where it is no topology."""
    # A document of JSON shows at once what it is: most of a run are traces.
    is_json = head.lstrip()[:1] in (b"{", b"[")
    text = _text(head[:_JSON_HEAD_BYTES] if is_json else head)
    return tuple(name for name, format_ in FORMATS.items() if format_.recognises(text))


def read_topology(data: bytes, file: str, formats: tuple[str, ...]) -> list[TopologyFile]:
    """What a file of these formats says, one result a format that says something.

    Raises CorruptTrace where nothing in it can be read.
    """
    text = _text(data)
    found, reasons = [], []
    for name in formats:
        try:
            rows = FORMATS[name].read(text)
        except ValueError as error:
            reasons.append(f"{name}: {error}")
            continue
        if rows.is_empty():
            reasons.append(f"{name}: nothing in it can be used")
        else:
            found.append(rows.finish(file))
    if not found:
        raise CorruptTrace(f"{file}: {'; '.join(reasons)}; save the tool's output again")
    return found


def _text(data: bytes) -> str:
    """The text without what colours it and without blank lines, which tell nothing."""
    text = data.decode("utf-8-sig", "replace").replace("\x00", "\ufffd")
    return "\n".join(line for line in _ESCAPES.sub("", text).splitlines() if line.strip())
