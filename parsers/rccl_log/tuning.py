"""What the library chose for a call: algorithm, protocol, channels."""

from __future__ import annotations

import re

from commscope.columns import NONE
from commscope.log_schema import TUNING
from commscope.parsers.rccl_log.calls import op_of
from commscope.parsers.rccl_log.rows import MOST_64, RowTable, number, without_rank
from commscope.parsers.rccl_log.writers import Writer

_CHOICE = re.compile(
    rb"(?:(?P<op>\w+)(?: \[(?P<how>[\w ]{1,40})\])?: )?(?P<bytes>\d{1,18}) Bytes -> (?:"
    rb"Algo (?P<algo>\w+) proto (?P<proto>\w+)(?: time (?P<time>\d+(?:\.\d+)?))?"
    rb"(?: channel\{Lo\.\.Hi\}=\{(?P<lo>\d+)\.\.(?P<hi>\d+)\})?"
    rb"|(?:Kernel )?(?P<kernel>\S{1,200})(?: nchannels (?P<channels>\d+))?)"
)
_ALGORITHMS = (b"tree", b"ring", b"collnet_direct", b"collnet_chain", b"nvls", b"nvls_tree", b"pat")
_PROTOCOLS = (b"ll", b"ll128", b"simple")


class Tuning(RowTable):
    """The rows of TUNING."""

    def __init__(self) -> None:
        super().__init__(without_rank(TUNING), "comm")
        self._known: dict[bytes, tuple[int, ...]] = {}

    def read(self, writer: Writer, place: int, message: bytes) -> bool:
        """Reads one choice; the record names no communicator: it is that of the call before."""
        values = self._known.get(message)
        if values is None:
            found = _CHOICE.match(message)
            if not found:
                return False
            values = self._known[message] = self._values(found)
        comm = writer.speaks_of()
        self.rows.add(place, writer.number, NONE if comm is None else comm.number, *values)
        return True

    def _values(self, found: re.Match[bytes]) -> tuple[int, ...]:
        lowest, highest = number(found["lo"]), number(found["hi"])
        if found["channels"]:
            channels = number(found["channels"])
            lowest, highest = 0, NONE if channels == NONE else channels - 1
        kernel = found["kernel"] and b" ".join(filter(None, (found["how"], found["kernel"])))
        code = self.rows.code
        return (
            code(op_of(found["op"]) if found["op"] else None),
            number(found["bytes"], MOST_64),
            code(_word(found["algo"], _ALGORITHMS)),
            code(_word(found["proto"], _PROTOCOLS)),
            lowest,
            highest,
            code(found["time"]),
            code(kernel),
        )


def _word(text: bytes | None, names: tuple[bytes, ...]) -> bytes | None:
    """A name in small letters; old versions print its number."""
    if text is None:
        return None
    if text.isdigit():
        at = number(text)
        return names[at] if 0 <= at < len(names) else text
    return text.lower()
