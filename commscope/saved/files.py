"""The files of a saved run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from commscope._version import __version__
from commscope.engine.run import Run
from commscope.engine.saved_options import saved_options
from commscope.findings.model import Finding
from commscope.parsers.saved.documents import (
    RUN_FILE,
    RUN_SCHEMA,
    RunDocument,
    SavedNote,
    document_bytes,
)
from commscope.parsers.saved.logs import log_files
from commscope.parsers.saved.reader import reading_files
from commscope.parsers.topology.saved import topology_bytes

NOTHING: Mapping[str, bytes] = {}


def run_files(
    run: Run, *, is_redacted: bool = False, beside: Mapping[str, bytes] = NOTHING
) -> Iterator[tuple[str, bytes]]:
    """Name and content of each file in order of names; equal runs give equal bytes.

    ``beside`` are reports on the run, for people: nothing reads them again.
    """
    for number, reading in enumerate(run.readings):
        yield from sorted(reading_files(reading, f"{number:04d}").items())
    if run.logs is not None:
        yield from sorted(log_files(run.logs).items())
    manifest = RunDocument(
        RUN_SCHEMA,
        tool=__version__,
        definitions=run.definitions,
        redacted=is_redacted,
        unprofiled_step_ns=run.unprofiled_step_ns,
        options=saved_options(run),
        notes=tuple(SavedNote(note.topic, note.says) for note in run.notes),
    )
    yield from sorted({**beside, RUN_FILE: document_bytes(manifest)}.items())
    for number, file in enumerate(() if run.topology is None else run.topology.read):
        yield f"topology.{number:04d}.json", topology_bytes(file)


def with_quotes(run: Run, findings: tuple[Finding, ...]) -> Run:
    """The run with the lines of logs that its findings quote: the logs are not saved."""
    if run.logs is None:
        return run
    quotes = {
        (quote.file, quote.line): quote.text
        for finding in findings
        for quote in finding.quotes
        if quote.text is not None
    }
    return replace(run, logs=replace(run.logs, quotes={**run.logs.quotes, **quotes}))
