"""Versions of the library and of what it runs on; in its banner or in records."""

from __future__ import annotations

import re

from commscope.columns import NONE
from commscope.log_schema import VERSIONS
from commscope.parsers.rccl_log.rows import RowTable
from commscope.parsers.rccl_log.writers import Writer

_LIBRARY = re.compile(
    rb"\b(?P<name>RCCL|NCCL) version ?:? ?(?P<version>\d+\.\d+(?:\.\d+)*)"
    rb"(?:[+-]| compiled with )?(?P<build>[\w.+:]*(?: (?:HEAD:)[\w+]+| [\d.]+)?)"
)
_OTHERS = (
    (b"hip", re.compile(rb"\bHIP version *: *(\S{1,80})")),
    (b"rocm", re.compile(rb"\bROCm version *: *(\S{1,80})")),
    (b"library", re.compile(rb"\bLibrccl path *: *(\S{1,300})")),
    (b"hostname", re.compile(rb"\bHostname     *: *(\S{1,255})")),
    (b"rocr", re.compile(rb"ROCr version (\S{1,80})")),
    (b"kernel", re.compile(rb"Kernel version: (\S{1,120})")),
    (b"hip_runtime", re.compile(rb"Hipruntime version: (\d+)")),
    (b"cuda_driver", re.compile(rb"cudaDriverVersion (\d+)")),
    (b"cuda_runtime", re.compile(rb"CUDA runtime version (\d+)")),
    (b"rocm_smi", re.compile(rb"rocm_smi_lib: version (\S{1,80})")),
)
_FIRMWARE = re.compile(rb"firmware version: (\d+)")
#: What lines without a head may say that is of a banner. Each begins with a letter of its own, for
#: which ``re`` looks first.
BANNER = re.compile(
    rb"RCCL version ?:? ?\d|NCCL version ?:? ?\d|HIP version *:|ROCm version *:"
    rb"|Librccl path *:|Hostname     *:|CUDA runtime version \d"
)


class Versions(RowTable):
    """The rows of VERSIONS."""

    def __init__(self) -> None:
        super().__init__(VERSIONS, "component")

    def read(self, writer: Writer, place: int, message: bytes) -> bool:
        """Reads a record or a line of the banner."""
        found = _LIBRARY.search(message)
        if found:
            name, version, build = found.groups()
            self._add(writer, place, name.lower(), version, build or None)
            return True
        for component, pattern in _OTHERS:
            found = pattern.search(message)
            if found:
                self._add(writer, place, component, found[1], None)
                firmware = _FIRMWARE.search(message)
                if firmware:
                    self._add(writer, place, b"firmware", firmware[1], None)
                return True
        return False

    def _add(
        self, writer: Writer, place: int, component: bytes, version: bytes, build: bytes | None
    ) -> None:
        code = self.rows.code
        named = NONE if build is None else code(build)
        self.rows.add(place, writer.number, code(component), code(version), named)
