"""What a database lacks, in words: an error where it holds nothing, else notes."""

from __future__ import annotations

from collections.abc import Sequence

from commscope.errors import CorruptTrace, FormatError
from commscope.parsers.rocpd import select
from commscope.parsers.rocpd.info import Info
from commscope.parsers.rocpd_layout import Run

#: Versions of the schema that are known: of 4, a draft, the views are read.
_KNOWN = ("3", "4")


def nothing_in(label: str, infos: Sequence[Info], *, is_rpd: bool) -> FormatError:
    """The error for a database without rows."""
    if is_rpd:
        reason = "is a database of rocmProfileData (.rpd), which cannot be read"
        return FormatError(f"{label}: {reason}; record with rocprofv3")
    strange = [info.schema for info in infos if info.schema and not info.schema.startswith("3")]
    if strange:
        reason = f"its tables are of schema version {strange[0]}, which cannot be read"
        return FormatError(f"{label}: {reason}; update commscope, or convert it with rocpd convert")
    if not infos:
        reason = "has no table of rocpd: it is another program's, or was never written"
        return CorruptTrace(f"{label}: {reason}; record again")
    reason = "it holds no kernel, no copy and no call: its writer did not finish"
    return CorruptTrace(f"{label}: {reason}; record again")


def notes_on(run: Run, info: Info) -> tuple[str, ...]:
    """A sentence on each thing that the tables of a run do not tell."""
    queries = {
        "kernels": select.dispatches(run),
        "copies": select.copies(run),
        "calls of the host": select.regions(run),
    }
    lacks = [what for what, query in queries.items() if query is None]
    notes = [f"the database has no table of {', '.join(lacks)}"] if lacks else []
    if run.get("region", "event_id") is not None and run.get("event", "stack_id") is None:
        notes.append("the database has no table of events: launches are not known")
    if run.get("region", "name_id") is not None and run.get("string", "id", "string") is None:
        notes.append("the database has no table of texts: calls and copies have no names")
    if info.schema and not info.schema.startswith(_KNOWN):
        notes.append(f"its schema version {info.schema} is not known: read as far as it is like 3")
    return tuple(notes)
