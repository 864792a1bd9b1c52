"""Variables of the environment that the library says are set.

The environment of a job holds secrets. Only variables of libraries for communication are kept, and
of those none whose name sounds like a secret.
"""

from __future__ import annotations

import re

from commscope.log_schema import ENVIRONMENT
from commscope.parsers.rccl_log.rows import RowTable
from commscope.parsers.rccl_log.writers import Writer

#: Names of variables that are kept.
ALLOWED = re.compile(
    r"(?:NCCL|RCCL|MSCCL|MSCCLPP|TORCH_NCCL|HSA|UCX|FI|OFI_NCCL|RDMAV|MLX5)_[A-Z0-9_]{1,60}"
    r"|(?:HIP|CUDA|ROCR)_VISIBLE_DEVICES|GPU_MAX_HW_QUEUES|HIP_FORCE_DEV_KERNARG"
    r"|CUDA_DEVICE_MAX_CONNECTIONS|(?:CUDA|HIP)_LAUNCH_BLOCKING|OMP_NUM_THREADS"
)
_SECRET = re.compile(r"SECRET|TOKEN|PASS|CREDENTIAL|AUTH|_KEY|KEY_|PRIVATE|CERT", re.IGNORECASE)

#: Behind a value, other programs may have written a variable into the same line: it ends there.
_SET = re.compile(
    rb"(\w{1,80}) set (?:by (?:environment|env|user) )?to (.{0,400}?)\.?"
    rb"(?: [A-Z][A-Z0-9_]{3,80}=.*| \[repeated \d+x[^\]]*\])?\s*$"
)
_IGNORED = re.compile(rb"(\w{1,80}) set by environment (?:to (\S{0,400}) )?is ignored")


def is_allowed(name: str) -> bool:
    """Whether a variable of the environment may be kept and shown."""
    return bool(ALLOWED.fullmatch(name)) and not _SECRET.search(name)


class Environment(RowTable):
    """The rows of ENVIRONMENT."""

    def __init__(self) -> None:
        super().__init__(ENVIRONMENT, "variable")

    def read(self, writer: Writer, place: int, message: bytes) -> bool:
        """Reads one variable."""
        ignored = _IGNORED.match(message)
        found = ignored or _SET.match(message)
        if not found:
            return False
        if is_allowed(found[1].decode("ascii", "replace")):
            values = map(self.rows.code, found.groups())
            self.rows.add(place, writer.number, *values, int(bool(ignored)))
        return True
