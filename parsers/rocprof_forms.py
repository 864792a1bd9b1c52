"""Which files of rocprofv3 may hold counters or list agents, by their first bytes."""

from __future__ import annotations

import re
from enum import IntEnum

from commscope.parsers.sqlite_file import MAGIC
from commscope.parsers.whole_csv import header

_DOCUMENT = re.compile(rb'\A(?:\xef\xbb\xbf)?\s*\{\s*"rocprofiler-sdk-tool"\s*:')
#: The name of one of the tables, in the first pages.
_TABLES = re.compile(rb"rocpd_(?:metadata|string|info_\w+|kernel_dispatch|pmc_event)")


class Form(IntEnum):
    """A form in which rocprofv3 writes counters; of one run the greatest tells most."""

    AGENTS = 0  #: csv with the processors of the node, no counters
    TABLE = 1
    DOCUMENT = 2
    DATABASE = 3


def form_of(head: bytes) -> Form | None:
    """The form of a file by its first bytes; null where it is none that may hold counters."""
    if head.startswith(MAGIC):
        return Form.DATABASE if _TABLES.search(head) else None
    if _DOCUMENT.match(head):
        return Form.DOCUMENT
    if b"\0" in head:
        return None
    names = {name.lower() for name in header(head)}
    if names >= {"dispatch_id", "kernel_name", "counter_name", "counter_value"}:
        return Form.TABLE
    return Form.AGENTS if names >= {"node_id", "logical_node_id", "agent_type"} else None
