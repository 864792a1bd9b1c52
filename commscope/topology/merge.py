"""From the tables of several files to one topology."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from typing import Any

from commscope.parsers.topology.rows import TopologyFile
from commscope.topology.model import DIRECT_KINDS, Device, Fact, Link, Net, Ring, Topology
from commscope.topology.pictures import Entry, Picture, pictures_of

Row = dict[str, Any]

_ORDER = ("rank", "dump_index", "amd_smi_index", "rocm_smi_index", "nvml_index", "hip_index")
_SHORT = {"rocm_smi_index": "rocm-smi", "amd_smi_index": "amd-smi", "nvml_index": "nvidia-smi"}
_LINK_VALUES = tuple(field.name for field in fields(Link) if field.name not in ("host", "ends"))
_NET_VALUES = tuple(field.name for field in fields(Net) if field.name not in ("host", "paths"))
_DEVICE_VALUES = {field.name for field in fields(Device)} - {"host", "key", "files"}


def merge(files: Sequence[TopologyFile]) -> Topology:
    """The topology that the files show together.

    A picture whose host no file names is called after its first file.
    """
    notes = [f"{it.file} ({it.tool}): {remark}" for it in files for remark in it.remarks]
    pictures = _one_a_host(pictures_of(files), notes)
    parts = [_Part(picture, name) for picture, name in zip(pictures, _names(pictures))]
    links = [link for part in parts for link in part.links(notes)]
    return Topology(
        hosts=tuple(part.host for part in parts),
        devices=tuple(device for part in parts for device in part.devices),
        links=tuple(links),
        nets=tuple(net for part in parts for net in part.nets()),
        rings=tuple(ring for part in parts for ring in part.rings()),
        facts=tuple(fact for part in parts for fact in part.facts()),
        files=tuple(dict.fromkeys(it.file for it in files)),
        notes=tuple(notes),
        read=tuple(files),
    )


def _one_a_host(pictures: Sequence[Picture], notes: list[str]) -> list[Picture]:
    """Of pictures of one named host that could not be joined the one that shows most."""
    kept: dict[str, Picture] = {}
    for picture in sorted(pictures, key=_shows, reverse=True):
        name = picture.host or f" {len(kept)}"
        first = kept.setdefault(name, picture)
        if first is picture:
            continue
        left_out = ", ".join(dict.fromkeys(file.file for file, _ in picture.files))
        notes.append(
            f"{left_out}: its {len(picture.entries)} devices share no bus id or node with those "
            f"of {first.files[0][0].file}, so they are left out; add the output of "
            "rocm-smi --showbus --showproductname, or of amd-smi list"
        )
    return [picture for picture in pictures if any(picture is it for it in kept.values())]


def _shows(picture: Picture) -> tuple[int, int]:
    links = sum(file.tables["LINKS"].num_rows for file, _ in picture.files)
    return links, len(picture.files)


def _names(pictures: Sequence[Picture]) -> Iterator[str]:
    times: Counter[str] = Counter()
    for picture in pictures:
        name = picture.host or picture.files[0][0].file
        times[name] += 1
        yield name if times[name] == 1 else f"{name} ({times[name]})"


class _Part:
    """One picture as rows of a topology."""

    def __init__(self, picture: Picture, host: str) -> None:
        self.host, self._files = host, picture.files
        keys = _keys(picture.entries)
        order = sorted(range(len(keys)), key=lambda place: _position(picture.entries[place]))
        self._rank = {place: number for number, place in enumerate(order)}
        self._key = keys
        self.devices = [_device(host, keys[place], picture.entries[place]) for place in order]

    def links(self, notes: list[str]) -> Iterator[Link]:
        """The links, those of both directions as one."""
        pairs = self._pairs(notes)
        for begin, end in sorted(pairs, key=lambda ends: [self._rank[place] for place in ends]):
            rows = pairs[begin, end]
            yield Link(self.host, (self._key[begin], self._key[end]), **_joined(rows))

    def _pairs(self, notes: list[str]) -> dict[tuple[int, int], list[Row]]:
        pairs: dict[tuple[int, int], list[Row]] = defaultdict(list)
        for file, places in self._files:
            told: dict[tuple[int, int], Row] = {}
            for row in file.tables["LINKS"].to_pylist():
                if row["dst"] is not None:
                    told[places[row["src"]], places[row["dst"]]] = row
            for (src, dst), row in told.items():
                pairs[_sorted(src, dst, self._rank)].append(row)
            notes.extend(_asymmetric(file, told))
        return pairs

    def nets(self) -> Iterator[Net]:
        """The network devices; of several files those of one name are one."""
        values: dict[str, Row] = {}
        paths: dict[str, dict[str, str]] = defaultdict(dict)
        for file, places in self._files:
            rows = file.tables["NETS"].to_pylist()
            for row in rows:
                known = values.setdefault(row["name"], {})
                known.update({k: row[k] for k in _NET_VALUES if known.get(k) is None})
            for row in file.tables["LINKS"].to_pylist():
                if row["net"] is not None and row["path"]:
                    key = self._key[places[row["src"]]]
                    paths[rows[row["net"]]["name"]].setdefault(key, row["path"])
        for name, row in values.items():
            yield Net(host=self.host, paths=tuple(paths[name].items()), **row)

    def rings(self) -> Iterator[Ring]:
        """The channels that the library chose."""
        for file, _ in self._files:
            for row in file.tables["RINGS"].to_pylist():
                yield Ring(
                    self.host,
                    graph=row["graph"],
                    name=row["name"],
                    channel=row["channel"],
                    devices=tuple(row["devices"] or ()),
                    nets=tuple(row["nets"] or ()),
                    intra_gbps=row["intra_gbps"],
                    inter_gbps=row["inter_gbps"],
                    intra_link=row["intra_link"],
                    inter_link=row["inter_link"],
                )

    def facts(self) -> Iterator[Fact]:
        """The facts, each once."""
        seen = set()
        for file, _ in self._files:
            for row in file.tables["FACTS"].to_pylist():
                if (row["name"], row["value"]) not in seen:
                    seen.add((row["name"], row["value"]))
                    yield Fact(self.host, row["name"], row["value"], row["file"])


def _device(host: str, key: str, entry: Entry) -> Device:
    values = {name: entry.values[name] for name in _DEVICE_VALUES if name in entry.values}
    return Device(host, key, files=tuple(entry.files), **values)


def _keys(entries: Sequence[Entry]) -> list[str]:
    """A name for each device, unique in its picture."""
    times = Counter(entry.values.get("bus_id") for entry in entries)
    keys: list[str] = []
    for number, entry in enumerate(entries):
        bus_id, partition = entry.values.get("bus_id"), entry.values.get("partition")
        key = bus_id or _number(entry, number)
        if bus_id and times[bus_id] > 1:
            key = f"{bus_id}/{partition}" if partition is not None else _number(entry, number)
        keys.append(key if key not in keys else f"{key} ({number})")
    return keys


def _number(entry: Entry, number: int) -> str:
    found = (f"{name} {entry.values[index]}" for index, name in _SHORT.items()
             if index in entry.values)  # fmt: skip
    return next(found, f"device {number}")


def _position(entry: Entry) -> tuple[tuple[bool, int], ...]:
    """Devices sort by rank, else by the number of the first tool that knows them."""
    numbers = (entry.values.get(name) for name in _ORDER)
    return tuple((number is None, number or 0) for number in numbers)


def _sorted(src: int, dst: int, rank: dict[int, int]) -> tuple[int, int]:
    return (src, dst) if rank[src] < rank[dst] else (dst, src)


def _joined(rows: Iterable[Row]) -> Row:
    """One link from all that is said of it: a direct one is stronger than a way over PCIe."""
    said = sorted(rows, key=lambda row: row["kind"] not in DIRECT_KINDS)
    values = {
        name: next((row[name] for row in said if row[name] is not None), None)
        for name in _LINK_VALUES
    }
    if values["kind"] in DIRECT_KINDS:
        values.update(path=None, pcie_gts=None, pcie_width=None)
    return values


def _asymmetric(file: TopologyFile, told: dict[tuple[int, int], Row]) -> Iterator[str]:
    """What a file says differently of the two directions."""
    differ = sum(
        src < dst and any(row[n] != told[dst, src][n] for n in ("kind", "count", "path"))
        for (src, dst), row in told.items()
        if (dst, src) in told
    )
    one_way = sum((dst, src) not in told for (src, dst), row in told.items() if _is_direct(row))
    if differ:
        yield f"{file.file} ({file.tool}): {differ} links differ between their two directions"
    if one_way:
        yield f"{file.file} ({file.tool}): {one_way} links are told in one direction only"


def _is_direct(row: Row) -> bool:
    return row["kind"] in DIRECT_KINDS
