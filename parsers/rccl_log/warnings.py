"""Warnings and errors, and the messages that a slower way is taken."""

from __future__ import annotations

import re
from functools import lru_cache

from commscope.columns import NONE
from commscope.log_schema import WARNINGS
from commscope.parsers.rccl_log.rows import RowTable, number, without_rank
from commscope.parsers.rccl_log.writers import Writer
from commscope.secrets_filter import MOST_LOOKED_AT, without_secrets

_REPEATED = re.compile(rb"\s*\[repeated (\d{1,9})x[^\]]*\].*$")
#: A place that an error went through, or one of the messages that matter.
_TELLING = re.compile(
    rb"(?P<source>[^\s:]{1,400}:\d{1,7}) -> (?P<code>\d{1,4})\b"
    rb"|Could not enable P2P|P2P is disabled|GDRDMA not enabled|Failed to open libibverbs"
    rb"|Call to \w+ failed|GPU Direct RDMA Disabled for GPU|Missing \"|NUMA auto balancing"
    rb"|(?:\S{1,400}:\d{1,7} )?(?:(?:HIP|Cuda|CUDA) failure|hipIpc\w+ failed)"
)
#: Longer messages are cut.
_MOST_BYTES = 500
#: So many bytes hold more characters than are looked at for secrets.
_MOST_LOOKED_AT = 4 * MOST_LOOKED_AT + 1


class Warnings(RowTable):
    """The rows of WARNINGS."""

    def __init__(self) -> None:
        super().__init__(without_rank(WARNINGS), "level")

    def read(self, writer: Writer, place: int, message: bytes) -> bool:
        """Reads a message of the level INFO that tells of a slower way, or of a failure."""
        found = _TELLING.match(message)
        if found is None:
            return False
        if found["code"]:
            self.add(writer, place, b"trace", found[0], found["source"], code=number(found["code"]))
        else:
            self.add(writer, place, b"notice", message)
        return True

    def add(  # noqa: PLR0913, PLR0917
        self,
        writer: Writer,
        place: int,
        level: bytes,
        message: bytes,
        source: bytes | None = None,
        time: bytes | None = None,
        code: int = NONE,
    ) -> None:
        """Adds a message of a level."""
        repeated = _REPEATED.search(message[-200:])
        text = message[: len(message) - len(repeated[0])] if repeated else message
        self.rows.add(
            place,
            writer.number,
            self.rows.code(level),
            self.rows.code(_safe(text.strip()[:_MOST_LOOKED_AT])[:_MOST_BYTES]),
            self.rows.code(source),
            code,
            self.rows.code(time),
            number(repeated[1]) if repeated else NONE,
        )


@lru_cache(maxsize=64)
def _safe(text: bytes) -> bytes:
    """A message without what may be secret."""
    return without_secrets(text.decode("utf-8", "replace")).encode()
