"""Saved runs as files, and all that can be read in them."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from commscope import api
from commscope.engine.run import Run
from commscope.saved.files import run_files
from commscope.saved.pack import write_folder


def saved(run: Run, folder: Path) -> Path:
    """The folder of a run that was saved."""
    write_folder(run_files(run), folder)
    return folder


def read_again(run: Run, folder: Path) -> Run:
    return api.read(saved(run, folder))


def members(archive: Path) -> dict[str, bytes]:
    """The files of an archive by the last part of their names."""
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(archive.read_bytes()))) as tar:
        return {
            member.name.rpartition("/")[2]: file.read()
            for member in tar.getmembers()
            if (file := tar.extractfile(member)) is not None
        }


def legible(files: Mapping[str, bytes]) -> str:
    """All that stands in files, compressed columns too."""
    return "\n".join(
        [name + str(data) for name, data in files.items()]
        + [_words(data) for name, data in files.items() if name.endswith(".parquet")]
    )


def _words(data: bytes) -> str:
    table = pq.read_table(pa.BufferReader(data))
    words = [
        chunk.dictionary.to_pylist()
        for column in table.columns
        if pa.types.is_dictionary(column.type)
        for chunk in column.chunks
    ]
    return f"{table.schema.metadata} {words}"
