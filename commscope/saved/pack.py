"""Files of a run on disk: a folder or one archive, whole or not at all."""

from __future__ import annotations

import gzip
import io
import secrets
import shutil
import tarfile
from collections.abc import Iterable
from pathlib import Path

from commscope.errors import UsageError

Files = Iterable[tuple[str, bytes]]

#: The tables are compressed already.
_GZIP_LEVEL = 1
#: The folder in an archive, so that unpacking it litters nothing.
_FOLDER = "commscope-run"


def write_archive(files: Files, output: Path) -> None:
    """Writes a tar.gz in place of a file of that name; equal files give equal bytes.

    Raises UsageError where it cannot be written; what stood there is then as it was.
    """
    new = unfinished(output)
    try:
        # Without a name and a time the same run gives the same bytes.
        with (
            new.open("xb") as file,
            gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0) as packed,
            tarfile.open(fileobj=packed, mode="w|", format=tarfile.GNU_FORMAT) as archive,
        ):
            for name, data in files:
                archive.addfile(_member(name, len(data)), io.BytesIO(data))
        new.replace(output)
    except OSError as error:
        raise unwritable(output, error) from error
    finally:
        new.unlink(missing_ok=True)


def write_folder(files: Files, folder: Path) -> None:
    """Writes the files into a new folder; raises UsageError where it cannot be written."""
    try:
        folder.mkdir(mode=0o755)
        for name, data in files:
            (folder / name).write_bytes(data)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise unwritable(folder, error) from error


def unfinished(output: Path) -> Path:
    """Another name beside the output: hidden, so that nothing that reads folders sees it."""
    return output.with_name(f".commscope-{secrets.token_hex(8)}")


def unwritable(path: Path, error: OSError) -> UsageError:
    """The error for what the system does not let us write."""
    return UsageError(f"{path}: cannot be written ({error.strerror or error})")


def _member(name: str, size: int) -> tarfile.TarInfo:
    """A member as everybody would have written it: tarfile's defaults tell no user and no time."""
    member = tarfile.TarInfo(f"{_FOLDER}/{name}")
    member.size = size
    return member
