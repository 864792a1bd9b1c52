"""The files in zip and tar archives, as sources of their own."""

from __future__ import annotations

import os
import struct
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from commscope.errors import CorruptTrace, FormatError, UsageError
from commscope.parsers.opening import Extent, Source, is_packed, unpacked

_ZIP_METHODS = {0: None, 8: "deflate", 12: "bz2", 93: "zstd"}
#: The folder of baselines, which are runs of their own.
BASELINES = "commscope-baselines"
_NO_PARTS = ("__pycache__", BASELINES)
_ZIP_LOCAL = struct.Struct("<4s22xHH")

#: What zipfile and tarfile raise on archives that are damaged.
_ARCHIVE_ERRORS = (
    *(zipfile.BadZipFile, tarfile.TarError, NotImplementedError),
    *(OSError, ValueError, OverflowError, EOFError, struct.error),
)


def archive_kind(head: bytes) -> str | None:
    """Whether the first bytes are those of a zip or tar archive; null for others."""
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    return "tar" if head[257:262] == b"ustar" else None


def list_members(archive: Source, kind: str, remarks: list[str]) -> list[Source]:
    """The files in an archive; where two have one name the later one, as unpacking would leave.

    Adds a sentence to the remarks where members are missing. Raises FormatError where the archive
    is damaged or encrypted.
    """
    if archive.path is None or archive.size is None:
        raise UsageError(f"{archive.label}: an archive cannot come from a pipe; save it to a file")
    packed = is_packed(archive.path)
    file = _unpacked(archive, archive.path, remarks) if packed else archive.path
    with open(file, "rb") as plain:
        plain.seek(0)
        extents = _zip_extents if kind == "zip" else _tar_extents
        members = dict(extents(archive, plain, remarks))
    return [
        replace(
            archive,
            member=name,
            label=f"{archive.label}/{valid_name(name)}",
            size=extent.size,
            named=False,
            extent=replace(extent, unpacked=packed),
        )
        for name, extent in members.items()
    ]


def _unpacked(archive: Source, path: Path, remarks: list[str]) -> int:
    whole = unpacked(path, archive.modified)
    if whole.cut:
        remarks.append(f"{archive.label}: {whole.cut}; members may be missing")
    return os.dup(whole.file)


def _zip_extents(archive: Source, file: BinaryIO, _: list[str]) -> Iterator[tuple[str, Extent]]:
    try:
        for info in zipfile.ZipFile(file).infolist():
            name = _tidy(info.filename)
            if name and not info.is_dir():
                _refuse_unreadable(archive, info)
                yield name, _zip_extent(info, file)
    except _ARCHIVE_ERRORS as error:
        raise CorruptTrace(
            f"{archive.label}: damaged zip archive ({error}); copy it again or unpack it first"
        ) from error


def _refuse_unreadable(archive: Source, info: zipfile.ZipInfo) -> None:
    advice = "unpack it first and give the files"
    if info.flag_bits & 1:
        raise FormatError(f"{archive.label}: member {info.filename} is encrypted; {advice}")
    if info.compress_type not in _ZIP_METHODS:
        method = f"is packed by method {info.compress_type}, which is not supported"
        raise FormatError(f"{archive.label}: member {info.filename} {method}; {advice}")


def _zip_extent(info: zipfile.ZipInfo, file: BinaryIO) -> Extent:
    file.seek(info.header_offset)
    magic, name_bytes, extra_bytes = _ZIP_LOCAL.unpack(file.read(_ZIP_LOCAL.size))
    if magic != b"PK\x03\x04":
        raise zipfile.BadZipFile(f"no member at byte {info.header_offset}")
    offset = info.header_offset + _ZIP_LOCAL.size + name_bytes + extra_bytes
    return Extent(offset, info.compress_size, _ZIP_METHODS[info.compress_type], info.CRC)


def _tar_extents(
    archive: Source, file: BinaryIO, remarks: list[str]
) -> Iterator[tuple[str, Extent]]:
    try:
        with tarfile.open(fileobj=file, mode="r:") as members:
            for info in members:
                name = _tidy(info.name)
                if name and info.isreg() and not info.issparse() and info.size >= 0:
                    yield name, Extent(info.offset_data, info.size)
            file.seek(members.offset)
            is_whole = not file.read(tarfile.BLOCKSIZE).strip(b"\0")
    except _ARCHIVE_ERRORS:
        is_whole = False
    if not is_whole:
        remarks.append(f"{archive.label}: the tar is cut or damaged; members may be missing")


def _tidy(name: str) -> str:
    """The member's name without empty parts; empty for one that is hidden."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    return "" if any(map(is_hidden, parts)) else "/".join(parts)


def is_hidden(name: str) -> bool:
    """Whether what has this name is no part of a run: nobody sees it, or it keeps other runs."""
    return name in _NO_PARTS or (name.startswith(".") and name != "..")


def valid_name(name: str) -> str:
    """The name as valid Unicode: a label goes into tables, which take nothing else."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
