"""Which files show the same host, and which of their devices are the same.

Devices are the same where bus id (with partition), KFD node, KFD id or unique id are. The number
that a tool gives identifies a device among files of that tool only. Files of different machines
often lie in one folder: those that share no device, or contradict each other, stay apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from commscope.parsers.topology.rows import TopologyFile

Row = dict[str, Any]
Key = tuple[str, Any]

_IDENTITIES = ("hsa_node", "kfd_id", "uuid")
_MUST_AGREE = ("bus_id", "hsa_node", "kfd_id", "device_id", "gfx", "partition")
_INDICES = {"rocm-smi": "smi_index", "amd-smi": "smi_index", "nvidia-smi": "nvml_index"}


@dataclass(slots=True)
class Entry:
    """A device as all files of its picture tell it."""

    values: Row = field(default_factory=dict)
    files: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Picture:
    """The devices of one host, and for each of its files which row is which device."""

    host: str | None = None
    entries: list[Entry] = field(default_factory=list)
    files: list[tuple[TopologyFile, list[int]]] = field(default_factory=list)
    _by_key: dict[Key, int] = field(default_factory=dict)

    def places(self, file: TopologyFile, *, by_number: bool) -> list[int | None] | None:
        """Which entry each device of the file is; null where it is not of this host.

        ``by_number``: the tool's own numbers count, as long as both know as many devices.
        """
        rows = rows_of(file)
        keys = keys_of(rows, file.tool)
        found = [self._place(it if by_number else it[:-1]) for it in keys]
        known = [place for place in found if place is not None]
        # Machines of one make share some bus ids: all devices of the shorter list must be found.
        fewest = (
            max(len(rows), len(self.entries)) if by_number else min(len(rows), len(self.entries))
        )
        if len(known) < max(fewest, 1) or len(set(known)) < len(known):
            return None
        contradicts = any(self._contradicts(row, place) for row, place in zip(rows, found))
        return None if contradicts else found

    def add(self, file: TopologyFile, places: Sequence[int | None]) -> None:
        """Takes what a file says, its devices being at these places or new."""
        rows, taken = rows_of(file), []
        for row, keys, known in zip(rows, keys_of(rows, file.tool), places):
            place = len(self.entries) if known is None else known
            if known is None:
                self.entries.append(Entry())
            self._merge(self.entries[place], row, file)
            self._by_key.update({key: place for key in keys if key not in self._by_key})
            taken.append(place)
        self.files.append((file, taken))

    def _merge(self, entry: Entry, row: Row, file: TopologyFile) -> None:
        values = {name: value for name, value in row.items() if value is not None}
        if "smi_index" in values:
            values[f"{file.tool.replace('-', '_')}_index"] = values.pop("smi_index")
        entry.values.update({k: v for k, v in values.items() if k not in entry.values})
        if file.file not in entry.files:
            entry.files.append(file.file)

    def _place(self, keys: Sequence[Key]) -> int | None:
        return next((self._by_key[key] for key in keys if key in self._by_key), None)

    def _contradicts(self, row: Row, place: int | None) -> bool:
        known = self.entries[place].values if place is not None else {}
        return any(
            row[name] is not None and known.get(name, row[name]) != row[name]
            for name in _MUST_AGREE
        )


def rows_of(file: TopologyFile) -> list[Row]:
    """The devices of a file, without what says where they were read."""
    table = file.tables["DEVICES"]
    kept = [name for name in table.column_names if name not in ("file", "tool", "host")]
    rows: list[Row] = table.select(kept).to_pylist()
    return rows


def keys_of(rows: Sequence[Row], tool: str) -> list[list[Key]]:
    """What identifies each device: the surest first, the tool's own number last."""
    times = Counter((row["bus_id"], row["partition"] or 0) for row in rows)
    return [list(_keys(row, number, tool, times)) for number, row in enumerate(rows)]


def _keys(row: Row, number: int, tool: str, times: Counter[tuple[Any, int]]) -> Iterator[Key]:
    bus = row["bus_id"], row["partition"] or 0
    if row["bus_id"] is not None and times[bus] == 1:
        yield ("bus_id", bus)
    for name in _IDENTITIES:
        if row[name] is not None:
            yield (name, row[name])
    index = row[_INDICES[tool]] if tool in _INDICES else None
    yield (tool, number if index is None else index)


def pictures_of(files: Sequence[TopologyFile]) -> list[Picture]:
    """The files put together: one picture a host, as far as they can be told to be of one."""
    hosts = _hosts(files)
    groups: dict[str, list[TopologyFile]] = {}
    for file in files:
        groups.setdefault(_group(file, hosts), []).append(file)
    return [picture for members in groups.values() for picture in _pictures(members, hosts)]


def _hosts(files: Sequence[TopologyFile]) -> dict[str, str]:
    """The host of each folder in which only one is named."""
    named: dict[str, set[str]] = {}
    for file in files:
        if file.host is not None:
            named.setdefault(_folder(file), set()).add(file.host)
    return {folder: hosts.pop() for folder, hosts in named.items() if len(hosts) == 1}


def _pictures(members: Sequence[TopologyFile], hosts: Mapping[str, str]) -> list[Picture]:
    pictures: list[Picture] = []
    pending = sorted(filter(_has_devices, members), key=_telling)
    while pending:
        file, picture, places = _next(pending, pictures)
        if picture is None:
            picture = Picture()
            pictures.append(picture)
        picture.host = picture.host or file.host or hosts.get(_folder(file))
        picture.add(file, places)
        pending = [it for it in pending if it is not file]
    for file in members:
        if not _has_devices(file):
            _attach(file, pictures, hosts)
    return pictures


def _next(
    pending: Sequence[TopologyFile], pictures: Sequence[Picture]
) -> tuple[TopologyFile, Picture | None, Sequence[int | None]]:
    """The file to add next, with the picture it belongs to, null for a new one.

    First all that share identities with a picture; of the others the most telling, whose numbers
    count where they fit one picture only.
    """
    for file in pending:
        for picture in pictures:
            places = picture.places(file, by_number=False)
            if places is not None:
                return file, picture, places
    first = pending[0]
    numbered = ((picture, picture.places(first, by_number=True)) for picture in pictures)
    fitting = [(picture, places) for picture, places in numbered if places is not None]
    if len(fitting) == 1:
        return first, *fitting[0]
    return first, None, [None] * first.tables["DEVICES"].num_rows


def _attach(file: TopologyFile, pictures: list[Picture], hosts: Mapping[str, str]) -> None:
    """Adds a file without devices, such as one of versions, to the picture of its host."""
    if not pictures:
        pictures.append(Picture(hosts.get(_folder(file))))
    min(pictures, key=lambda picture: picture.host is None).add(file, [])


def _has_devices(file: TopologyFile) -> bool:
    return bool(file.tables["DEVICES"].num_rows)


def _telling(file: TopologyFile) -> tuple[int, int]:
    """Files sort by how many ways they identify devices, then by how many devices they have."""
    table = file.tables["DEVICES"]
    known = sum(table.column(n).null_count < table.num_rows for n in ("bus_id", *_IDENTITIES))
    return -known, -table.num_rows


def _folder(file: TopologyFile) -> str:
    return file.file.rpartition("/")[0]


def _group(file: TopologyFile, hosts: Mapping[str, str]) -> str:
    """What files of one host share: its name where a file in the folder tells it, or the folder.

    Where only one host is named at all, files in other folders may be of it too.
    """
    named = set(hosts.values())
    name = file.host or hosts.get(_folder(file)) or (named.pop() if len(named) == 1 else None)
    return f"host {name}" if name else f"folder {_folder(file)}"
