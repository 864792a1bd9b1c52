"""What the proxy of a process says it still has to send or to receive.

RCCL dumps this when an operation hangs, line by line and without a head.
"""

from __future__ import annotations

import re

from commscope.columns import NONE
from commscope.log_schema import PROXIES
from commscope.parsers.rccl_log.rows import MOST_64, RowTable, number
from commscope.parsers.rccl_log.writers import Writer

_DUMP = re.compile(
    rb"\bcomm:(?P<address>0x[0-9a-f]{1,16}) \[(?P<direction>SEND|RECV)\] .{0,300}?"
    rb"\bmyrank:(?P<rank>\d{1,9}) +peer:(?P<peer>\d{1,9}) +chan:(?P<channel>\d{1,9}) "
    rb".{0,20}?\btail:(?P<tail>\d{1,18}) +recvtail:(?P<receive_tail>\d{1,18}) "
    rb"[^\]]{0,100}\(retries:(?P<retries>\d{1,18})\)\]"
)
_STEP = re.compile(rb"\b(ns|p|t|r|d):(\d{1,18})\b")
_STEPS = {b"ns": "steps", b"p": "posted", b"t": "transmitted", b"r": "received", b"d": "done"}
_DIRECTIONS = {b"SEND": b"send", b"RECV": b"receive"}
_FIELDS = PROXIES.names[PROXIES.get_field_index("address") :]


class Proxies(RowTable):
    """The rows of PROXIES."""

    def __init__(self) -> None:
        super().__init__(PROXIES, "address")

    def read(self, writer: Writer, place: int, line: bytes) -> bool:
        """Reads one line of a dump, if it is whole."""
        found = _DUMP.search(line)
        if found is None:
            return False
        values = {name: number(text, MOST_64) for name, text in found.groupdict().items()}
        values["address"] = self.rows.code(found["address"])
        values["direction"] = self.rows.code(_DIRECTIONS[found["direction"]])
        steps = _STEP.findall(found[0])
        values.update((_STEPS[name], number(text, MOST_64)) for name, text in steps)
        self.rows.add(place, writer.number, *(values.get(name, NONE) for name in _FIELDS))
        return True
