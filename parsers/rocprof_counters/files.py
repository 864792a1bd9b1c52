"""Which files of rocprofv3 may hold counters, and which of them are of one run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from pathlib import PurePosixPath

from commscope.parsers.omniperf.kinds import header
from commscope.parsers.opening import Source
from commscope.parsers.sqlite_file import MAGIC

_DOCUMENT = re.compile(rb'\A(?:\xef\xbb\xbf)?\s*\{\s*"rocprofiler-sdk-tool"\s*:')
#: The name of one of the tables, in the first pages.
_TABLES = re.compile(rb"rocpd_(?:metadata|string|info_\w+|kernel_dispatch|pmc_event)")
_PASS = re.compile(r"(?:pass|pmc)_\d{1,4}")
_ENDING = re.compile(
    r"_?(?:counter_collection|agent_info|results)?\.(?:csv|json|db)(?:\.(?:gz|bz2|xz|zst))?$"
)


class Form(IntEnum):
    """A form in which rocprofv3 writes counters; of one run the greatest tells most."""

    AGENTS = 0  #: csv with the processors of the node, no counters
    TABLE = 1
    DOCUMENT = 2
    DATABASE = 3


@dataclass(frozen=True, slots=True)
class Place:
    """Where a file belongs: files of one folder are a profile, those of one pass a run of it."""

    folder: str  #: without the folders of passes
    run: str  #: the folder of its pass; empty where there are none
    stem: str  #: what files of one process begin with


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


def place_of(source: Source) -> Place:
    """The place of a file, by its folders and its name."""
    *folders, name = PurePosixPath(source.label).parts
    if not folders and source.path is not None and source.member is None:
        folders = [source.path.absolute().parent.name]
    kept = [folder for folder in folders if not _PASS.fullmatch(folder)]
    passes = [folder for folder in folders if _PASS.fullmatch(folder)]
    return Place("/".join(kept) or ".", "/".join(passes), _ENDING.sub("", name))
