"""Variables of the environment that the library says are set.

The environment of a job holds secrets. Only variables of libraries for communication are kept, and
of those none whose name sounds like a secret.
"""

from __future__ import annotations

import re
from functools import lru_cache

from commscope.collect.host_facts import is_allowed
from commscope.log_schema import ENVIRONMENT
from commscope.parsers.rccl_log.rows import RowTable
from commscope.parsers.rccl_log.writers import Writer
from commscope.secrets_filter import without_secrets

#: Behind a value, other programs may have written a variable into the same line: it ends there.
_SET = re.compile(
    rb"(\w{1,80}) set (?:by (?:environment|env|user) )?to (.{0,400}?)\.?"
    rb"(?: [A-Z][A-Z0-9_]{3,80}=.*| \[repeated \d+x[^\]]*\])?$"
)
_IGNORED = re.compile(rb"(\w{1,80}) set by environment (?:to (\S{0,400}) )?is ignored")


class Environment(RowTable):
    """The rows of ENVIRONMENT."""

    def __init__(self) -> None:
        super().__init__(ENVIRONMENT, "variable")

    def read(self, writer: Writer, place: int, message: bytes) -> bool:
        """Reads one variable."""
        ignored = _IGNORED.match(message)
        found = ignored or _SET.match(message.rstrip())
        if not found:
            return False
        if is_allowed(found[1].decode("ascii", "replace")):
            name, value = found.groups()
            values = (self.rows.code(name), self.rows.code(value and _safe(value)))
            self.rows.add(place, writer.number, *values, int(bool(ignored)))
        return True


@lru_cache(maxsize=1024)
def _safe(value: bytes) -> bytes:
    """A value without what may be secret in it, as in an address with a password."""
    return without_secrets(value.decode("utf-8", "replace")).encode()
