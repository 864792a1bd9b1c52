"""Find the files that a user means: files, folders, patterns, archives and standard input."""

from __future__ import annotations

import difflib
import glob
import itertools
import os
import re
import stat
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from commscope.errors import FormatError, UsageError
from commscope.parsers.archives import archive_kind, is_hidden, list_members, valid_name
from commscope.parsers.opening import Source, read_head, unreadable
from commscope.parsers.own_files import is_own

_HEAD_BYTES = 512
_MOST_EXAMPLES = 3
_DIGITS = "0123456789"


@dataclass(frozen=True, slots=True)
class Found:
    """The sources in natural order of their labels, and what was passed over."""

    sources: tuple[Source, ...]
    notes: tuple[str, ...]  #: one sentence each


@dataclass(frozen=True, slots=True)
class _Entry:
    """A source with its label still open: the root's last parts may have to go before it."""

    root: tuple[str, ...]
    source: Source


def find_sources(paths: Sequence[str | os.PathLike[str]]) -> Found:
    """The files, folders, patterns, archives and ``-`` given, as sources; every real file once.

    Raises UsageError where something given is missing, empty or unreadable, FormatError where an
    archive given is damaged or encrypted.
    """
    return _searched(_Search(), paths)


def find_files(paths: Sequence[str | os.PathLike[str]]) -> Found:
    """The same with archives as the files they are; nothing but names and sizes is looked at."""
    return _searched(_SearchUnopened(), paths)


def _searched(search: _Search, paths: Sequence[str | os.PathLike[str]]) -> Found:
    if not paths:
        raise UsageError("no input was given; name a trace file, a folder or - for standard input")
    for path in paths:
        search.add(os.fspath(path))
    if not search.entries():
        raise search.nothing(f"{' '.join(map(str, paths))}: what was given")
    return Found(_labelled(search.entries()), search.notes())


class _Search:
    """What was found so far: by real file, so that none counts twice."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, int], list[_Entry]] = {}
        self._skipped: defaultdict[str, list[str]] = defaultdict(list)
        self._remarks: list[str] = []

    def entries(self) -> list[_Entry]:
        return [entry for entries in self._found.values() for entry in entries]

    def notes(self) -> tuple[str, ...]:
        skipped = [_count(what, names) for what, names in self._skipped.items()]
        return (*skipped, *self._remarks)

    def nothing(self, what: str) -> UsageError:
        """The error for something given in which there is no file to read."""
        why = "; ".join(self.notes())
        return UsageError(f"{what} holds no file that can be read" + (f" ({why})" if why else ""))

    def add(self, given: str) -> None:
        """Add what one argument of the user means."""
        if not given:
            raise UsageError("an empty name was given; name a trace file or a folder")
        path = Path(given)
        if given == "-":
            stdin = Source(None, label="stdin")
            self._found[0, 0] = [_Entry((), source) for source in self._opened(stdin)]
        elif _mode(path) is None:
            self._add_pattern(given)
        elif path.is_dir():
            self._add_folder(path)
        else:
            self._add_named(path)

    def _add_pattern(self, pattern: str) -> None:
        if not glob.has_magic(pattern):
            raise _missing(pattern)
        found = sorted(glob.iglob(pattern, recursive=True), key=natural)
        if not found:
            raise UsageError(f"{pattern}: no file fits this pattern")
        for path in map(Path, found):
            if path.is_dir():
                self._add_all(self._walk(path), _fixed_part(pattern))
            elif path.is_file():
                self._add_all([path], _fixed_part(pattern))

    def _add_folder(self, folder: Path) -> None:
        if not self._add_all(self._walk(folder), folder):
            raise self.nothing(f"{folder}: the folder")

    def _add_named(self, path: Path) -> None:
        mode = _mode(path) or 0
        if not stat.S_ISREG(mode) and not stat.S_ISFIFO(mode):
            raise UsageError(f"{path}: is neither a file, a folder nor a pipe")
        self._add_file(path, path.parent, named=True)

    def _add_all(self, paths: Iterable[Path], root: Path) -> int:
        """Add files that were not named, passing over those that cannot be read."""
        count = 0
        for path in paths:
            self._try_file(path, root)
            count += 1
        return count

    def _try_file(self, path: Path, root: Path) -> None:
        try:
            self._add_file(path, root, named=False)
        except UsageError:
            self._skipped["unreadable file"].append(_relative(path, root))
        except FormatError as error:
            self._remarks.append(f"skipped: {error}")

    def _add_file(self, path: Path, root: Path, *, named: bool) -> None:
        status = _status(path)
        identity = (status.st_dev, status.st_ino)
        if identity in self._found:
            if named:
                self._found[identity] = [_named(entry) for entry in self._found[identity]]
            return
        label = _relative(path, root)
        size = None if stat.S_ISFIFO(status.st_mode) else status.st_size
        file = Source(path, None, label, size, status.st_mtime_ns, named)
        sources = self._opened(file)
        if not sources and named:
            raise self.nothing(f"{label}: the archive")
        parts = Path(os.path.abspath(root)).parts[1:]
        self._found[identity] = [_Entry(parts, source) for source in sources]

    def _opened(self, file: Source) -> list[Source]:
        """The file itself or, of an archive, the files in it, but for archives among them."""
        head = read_head(file, _HEAD_BYTES)
        kind = archive_kind(head)
        if kind is None:
            return [file] if file.named or not _is_own(file, head) else []
        members = []
        for source in list_members(file, kind, self._remarks):
            head = read_head(source, _HEAD_BYTES)
            if archive_kind(head) is not None:
                self._skipped["archive inside an archive"].append(source.label)
            elif not _is_own(source, head):
                members.append(source)
        return members

    def _walk(self, folder: Path) -> Iterator[Path]:
        """All files below the folder; links come last, so that a file keeps its own name."""
        pending, seen = deque([folder]), set[tuple[int, int]]()
        while pending:
            directory = pending.pop()
            status = _status(directory)
            if (status.st_dev, status.st_ino) in seen:
                continue
            seen.add((status.st_dev, status.st_ino))
            folders: list[Path] = []
            links: list[Path] = []
            for entry in self._listed(directory, folder):
                mode = _mode(entry) or 0
                if stat.S_ISDIR(mode):
                    (links if entry.is_symlink() else folders).append(entry)
                elif stat.S_ISREG(mode):
                    yield entry
                else:
                    kind = "socket, pipe or device file" if mode else "broken symbolic link"
                    self._skipped[kind].append(_relative(entry, folder))
            pending.extend(reversed(folders))
            pending.extendleft(links)

    def _listed(self, directory: Path, folder: Path) -> list[Path]:
        try:
            names = os.listdir(directory)
        except OSError as error:
            if directory == folder:
                raise unreadable(str(folder), error) from error
            self._skipped["unreadable folder"].append(_relative(directory, folder))
            return []
        shown = [directory / name for name in names if not is_hidden(name)]
        return sorted(shown, key=lambda path: (path.is_symlink(), natural(path.name)))


class _SearchUnopened(_Search):
    def _opened(self, file: Source) -> list[Source]:
        return [file]


def _is_own(source: Source, head: bytes) -> bool:
    """Whether a file that nobody named is one that commscope wrote for people."""
    path = source.path if source.member is None else Path(source.member)
    return path is not None and is_own(path, head)


def natural(text: str) -> list[tuple[int, str]]:
    """A key that sorts rank2 before rank10."""
    # Numbers compare by length first, as int() refuses very long ones; rank02 is not rank2.
    numbers = ((piece, piece.lstrip("0")) for piece in re.findall(r"[0-9]+|[^0-9]+", text))
    key = [(len(bare), bare) if piece[0] in _DIGITS else (-1, piece) for piece, bare in numbers]
    return [*key, (-2, text)]


def _status(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except OSError as error:
        raise unreadable(str(path), error) from error


def _mode(path: Path) -> int | None:
    """The kind of file at the path, links followed; null where there is none to be seen."""
    try:
        return path.stat().st_mode
    except (OSError, ValueError):
        return None


def _missing(given: str) -> UsageError:
    path = Path(given)
    try:
        if path.is_symlink():
            return UsageError(f"{given}: is a broken symbolic link; what it names is gone")
        names = os.listdir(path.parent)
    except PermissionError as error:
        return unreadable(given, error)
    except (OSError, ValueError):
        return UsageError(f"{given}: no such file or folder, nor is {path.parent} a folder")
    close = difflib.get_close_matches(path.name, names, _MOST_EXAMPLES)
    hint = f"did you mean {' or '.join(close)}?" if close else f"check its name in {path.parent}"
    return UsageError(f"{given}: no such file or folder; {hint}")


def _fixed_part(pattern: str) -> Path:
    """The folder that all matches of a pattern share."""
    parts = Path(pattern).parts
    fixed = itertools.takewhile(lambda part: not glob.has_magic(part), parts[:-1])
    return Path(*fixed)


def _relative(path: Path, root: Path) -> str:
    return valid_name(path.relative_to(root).as_posix())


def _named(entry: _Entry) -> _Entry:
    """The entry as one the user named; members of archives stay as they are."""
    if entry.source.member is not None:
        return entry
    return replace(entry, source=replace(entry.source, named=True))


def _count(what: str, names: list[str]) -> str:
    """One sentence on what was skipped, with examples."""
    plural = "s were" if len(names) > 1 else " was"
    more = ", ..." if len(names) > _MOST_EXAMPLES else ""
    return f"{len(names)} {what}{plural} skipped: {', '.join(names[:_MOST_EXAMPLES])}{more}"


def _labelled(entries: list[_Entry]) -> tuple[Source, ...]:
    """The sources, sorted, with as many parts of their roots in the label as tells them apart."""
    depths = dict.fromkeys((entry.root for entry in entries), 0)
    labels = [_label(entry, depths) for entry in entries]
    while clashing := _clashing_roots(entries, labels, depths):
        depths.update({root: depths[root] + 1 for root in clashing})
        labels = [_label(entry, depths) for entry in entries]
    sources = [replace(e.source, label=label) for e, label in zip(entries, labels, strict=True)]
    return tuple(sorted(sources, key=lambda source: natural(source.label)))


def _label(entry: _Entry, depths: dict[tuple[str, ...], int]) -> str:
    prefix = map(valid_name, entry.root[len(entry.root) - depths[entry.root] :])
    return "/".join((*prefix, entry.source.label))


def _clashing_roots(
    entries: list[_Entry], labels: list[str], depths: dict[tuple[str, ...], int]
) -> set[tuple[str, ...]]:
    """The roots that two equal labels come from, and that have a part to give."""
    times = Counter(labels)
    roots = {e.root for e, label in zip(entries, labels, strict=True) if times[label] > 1}
    return {root for root in roots if depths[root] < len(root)}
