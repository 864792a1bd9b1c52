"""A report beside the run: whole or not at all, and exactly one whoever else writes one.

    FOLDER/.commscope-report-DIGEST/    the report on files of this digest (see ``stamps``)
    FOLDER/report.html report.json report.md    the same files, where people look

The hidden folder is written under another name and renamed, which fails where another process was
faster. It is the state: what it was made for is in its name. The rest can be made of it any time.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from commscope.errors import UsageError
from commscope.parsers.own_files import REPORTS, is_own
from commscope.sanitize import json_text
from commscope.saved import write_folder
from commscope.saved.pack import unfinished, unwritable

_HIDDEN = ".commscope-report-"
#: In place of a report, where there can be none.
ERROR = "report.error"
_ABOUT = "about.json"
_HEAD_BYTES = 512
#: So many processes do not write reports on one run at once.
_MOST_LOOKS = 5

NOTHING: Mapping[str, object] = {}


def is_published(folder: Path, digest: str) -> bool:
    """Whether there is a report on files of the digest."""
    return (folder / f"{_HIDDEN}{digest}").is_dir()


def publish(
    folder: Path,
    digest: str,
    files: Mapping[str, bytes],
    *,
    current: Callable[[], str],
    about: Mapping[str, object] = NOTHING,
) -> bool:
    """Makes the files the report on what has the digest; false where another process did so.

    ``about`` is kept with it. ``current`` tells the digest of the files as they are now: of several
    reports the one on those is shown. Raises UsageError as ``require_room``.
    """
    require_room(folder)
    is_ours = _put(folder, digest, {**files, _ABOUT: json_text(dict(about)).encode()})
    for _ in range(_MOST_LOOKS):
        now = current()
        chosen = now if is_published(folder, now) else digest
        if is_shown(folder, chosen):
            break
        show(folder, chosen)
    _remove_others(folder, chosen)
    return is_ours


def published_about(folder: Path) -> dict[str, Any] | None:
    """What is kept with the report that is shown in a folder; null where there is none."""
    for path in folder.glob(f"{_HIDDEN}*/{_ABOUT}"):
        try:
            about = json.loads(path.read_bytes())
        except (OSError, ValueError):
            continue
        if isinstance(about, dict):
            return about
    return None


def require_room(folder: Path) -> None:
    """Makes the folder where there is none.

    Raises UsageError where it cannot be written, or a file of another kind is in the way.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"{folder}: cannot be written; name another folder with --output")
    for name in REPORTS:
        if (folder / name).exists() and not is_own(folder / name, _head(folder / name)):
            raise UsageError(
                f"{folder / name}: is no report of commscope and would be lost; rename it, or name "
                "another folder for reports with --output"
            )


def is_shown(folder: Path, digest: str) -> bool:
    """Whether the report of a digest is the one that people see."""
    hidden = folder / f"{_HIDDEN}{digest}"
    try:
        names = os.listdir(hidden)
        return all(
            _is_shown_as(folder / name, hidden / name) == (name in names) for name in REPORTS
        )
    except OSError:
        return False


def show(folder: Path, digest: str) -> None:
    """Puts the files of a report where people look; those that it lacks are removed.

    Raises UsageError as ``require_room``.
    """
    require_room(folder)
    hidden = folder / f"{_HIDDEN}{digest}"
    try:
        names = os.listdir(hidden)
        for name in REPORTS:
            if name not in names:
                (folder / name).unlink(missing_ok=True)
            elif not _is_shown_as(folder / name, hidden / name):
                _replace(folder / name, hidden / name)
    except FileNotFoundError:  # another process has a newer one
        return
    except OSError as error:
        raise unwritable(folder, error) from error


def _put(folder: Path, digest: str, files: Mapping[str, bytes]) -> bool:
    target, new = folder / f"{_HIDDEN}{digest}", unfinished(folder / "report")
    try:
        write_folder(files.items(), new)
        new.rename(target)
    except OSError as error:
        if not target.is_dir():
            raise unwritable(target, error) from error
        return False
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return True


def _is_shown_as(shown: Path, hidden: Path) -> bool:
    """Whether a file was put there for this report: what people then did to it is theirs."""
    try:
        return shown.stat().st_mtime_ns >= hidden.stat().st_mtime_ns
    except OSError:
        return False


def _replace(shown: Path, hidden: Path) -> None:
    new = unfinished(shown)
    try:
        try:
            new.hardlink_to(hidden)
        except OSError:  # not all file systems have links
            shutil.copyfile(hidden, new)
        new.replace(shown)
    finally:
        # Renaming one link of a file to another does nothing: the name is still there.
        new.unlink(missing_ok=True)


def _remove_others(folder: Path, chosen: str) -> None:
    for path in folder.glob(f"{_HIDDEN}*"):
        if path.name != f"{_HIDDEN}{chosen}":
            gone = unfinished(path)
            with suppress(OSError):  # another process removes it too
                path.rename(gone)
                shutil.rmtree(gone)


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD_BYTES)
    except OSError:
        return b""
