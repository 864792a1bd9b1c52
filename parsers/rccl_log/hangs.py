"""Messages of PyTorch's watchdog on operations that do not end."""

from __future__ import annotations

import re

from commscope.columns import NONE
from commscope.log_schema import HANGS
from commscope.parsers.rccl_log.rows import MOST_64, RowTable, number
from commscope.parsers.rccl_log.writers import Writer

_CAUGHT = re.compile(
    rb"\[Rank (?P<rank>\d+)\] Watchdog caught collective operation timeout: WorkNCCL\("
    rb"SeqNum=(?P<seq>\d+), OpType=(?P<op>\w+), NumelIn=(?P<elements_in>\d+), "
    rb"NumelOut=(?P<elements_out>\d+), Timeout\(ms\)=(?P<timeout_ms>\d+)\) "
    rb"ran for (?P<ran_ms>\d+) milliseconds"
)
_LAST = re.compile(
    rb"\[PG (?:ID )?(?P<group>\d+)[^\]]{0,120}? Rank (?P<rank>\d+)\].{0,200}?"
    rb"(?:work sequence id|at(?: NCCL)? work): (?P<seq>\d+).{0,30}?"
    rb"last enqueued(?: NCCL)? work: (?P<last_enqueued>-?\d+), "
    rb"last completed(?: NCCL)? work: (?P<last_completed>-?\d+)"
)
#: The program ends with the message that it has written before.
_SAID_AGAIN = b"terminated with exception"
_FIELDS = HANGS.names[HANGS.get_field_index("rank") :]


class Hangs(RowTable):
    """The rows of HANGS."""

    def __init__(self) -> None:
        super().__init__(HANGS, "rank")

    def read(self, writer: Writer, place: int, line: bytes) -> bool:
        """Reads one message of the watchdog, which is no record of the library."""
        found = _CAUGHT.search(line) or _LAST.search(line)
        if found is None or _SAID_AGAIN in line:
            return found is not None
        values = {name: number(text, MOST_64) for name, text in found.groupdict().items()}
        values["rank"] = number(found["rank"])
        if NONE in (values["rank"], values["seq"]):
            return False
        for name in {"group", "op"} & set(values):
            values[name] = self.rows.code(found[name])
        self.rows.add(place, writer.number, *(values.get(name, NONE) for name in _FIELDS))
        return True
