"""Files that are cut, damaged or made to do harm: an error of ours, or what can be read."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
import topology_samples as samples
from hypothesis import example, given
from hypothesis import strategies as st
from support import case

from commscope.errors import CorruptTrace
from commscope.parsers.topology import FORMATS, formats_of, read_topology
from commscope.parsers.topology.rows import MOST_DEVICES, TopologyFile
from commscope.topology import Topology, expected_allreduce
from commscope.topology.merge import merge

_CASES = (
    "topology/topo_8p1h_3.xml",
    "amd/smi/amd_smi_topology_2gpu_new_schema_a_t.json",
    "amd/smi/rocm_smi_showtopo_4x_mi300x_vf.txt",
    "h200/nvidia_smi_topo.txt",
)


def survives(data: bytes, formats: Sequence[str] | None = None) -> list[TopologyFile]:
    """What is read of it: an error of ours is allowed, any other ends the test."""
    found = formats_of(data) if formats is None else tuple(formats)
    if not found:
        return []
    try:
        files = read_topology(data, "file", found)
    except CorruptTrace:
        return []
    topology = merge(files)
    assert isinstance(topology, Topology)
    expected_allreduce(topology, topology.devices)
    return files


@pytest.mark.parametrize("name", samples.SAMPLES)
def test_every_beginning_of_a_file(name: str) -> None:
    data = samples.SAMPLES[name]
    whole = len(survives(data)[0].tables["DEVICES"])
    for end in range(len(data)):
        for file in survives(data[:end], formats_of(data)):
            assert len(file.tables["DEVICES"]) <= whole


@pytest.mark.parametrize("path", _CASES)
def test_beginnings_of_real_files(path: str) -> None:
    data = case(path).read_bytes()
    for end in range(0, len(data), 41):
        survives(data[:end], formats_of(data))


@pytest.mark.parametrize("name", samples.SAMPLES)
def test_bytes_that_are_lost_or_changed(name: str) -> None:
    data, chance = samples.SAMPLES[name], random.Random(7)
    for _ in range(60):
        damaged = bytearray(data)
        for _ in range(chance.randrange(1, 6)):
            at = chance.randrange(len(damaged))
            damaged[at : at + chance.randrange(3)] = chance.choice(
                (b"\0", b"\xff\xfe", b"\n", b"N/A", b"-1", b"9" * 30, b"{", b"\x1b[31m", b"")
            )
        survives(bytes(damaged), formats_of(data))


@given(st.binary(max_size=300), st.sampled_from(sorted(FORMATS)))
@example(b"[[[[" * 60, "amd-smi JSON")
@example(b'[{"gpu": 1e400}]', "amd-smi JSON")
@example(b'[{"gpu": 0, "links": [3, {"gpu": {}}], "asic": [1]}]', "amd-smi JSON")
@example(b'{"card0": {"Node ID": [1]}, "system": {"x": {}}}', "rocm-smi JSON")
@example(
    b'{"schema": 1, "system": {"a": [1]}, "tools": [3], "environment": 4}', "commscope env --save"
)
def test_any_bytes_in_any_format(data: bytes, name: str) -> None:
    survives(data, [name])


@given(st.text(max_size=200))
def test_any_text_is_told_apart_without_an_error(text: str) -> None:
    survives(text.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("amd-smi JSON", b'{"gpu_data": 5}'),
        ("amd-smi JSON", b"[]"),
        ("amd-smi JSON", b'[3, {"bdf": "0000:01:00.0"}]'),
        ("rocm-smi JSON", b"[1]"),
        ("rocm-smi JSON", b'{"card0": 5}'),
        ("amd-smi CSV", b"gpu,bdf\n0," + b"x" * 200_000),
        ("rocm-smi CSV", b"device,PCI Bus\ncard0," + b"x" * 200_000),
        ("nvidia-smi text", b"index, name\n0, " + b"x" * 200_000),
        ("commscope env --save", b"[1]"),
        ("NCCL_GRAPH_DUMP_FILE", b"<graphs><x/></graphs>"),
        ("NCCL_TOPO_DUMP_FILE", b""),
    ],
)
def test_files_of_another_shape_are_corrupt(name: str, data: bytes) -> None:
    with pytest.raises(CorruptTrace, match=r"^file: .*save the tool's output again$"):
        read_topology(data, "file", (name,))


def test_entries_of_another_shape_are_remarked_on() -> None:
    data = b'[{"gpu": 0, "links": [7, {"weight": 15}]}, {"gpu": "x"}, 3]'
    file = samples.read(data)
    assert file.remarks == ("a link names no GPU", "an entry names no GPU")
    assert len(file.tables["DEVICES"]) == 1


def test_a_file_with_gaps_of_zeros_is_no_topology() -> None:
    assert formats_of(b"\0" * 4096) == ()


@pytest.mark.parametrize(
    ("inside", "says"),
    [
        (b'<!DOCTYPE s [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>', "declares 's'"),
        (b'<!DOCTYPE s SYSTEM "file:///etc/passwd">', "declares 's'"),
    ],
)
def test_documents_with_declarations_are_refused(inside: bytes, says: str) -> None:
    data = inside + samples.SWITCHED_XML
    with pytest.raises(CorruptTrace, match=says):
        read_topology(data, "file", formats_of(data))


def test_documents_that_are_too_deep_or_too_large_are_refused() -> None:
    deep = b'<system version="1"><cpu>' + b'<pci busid="0000:00:06.0">' * 5000
    large = b'<system version="1"><cpu>' + b'<pci busid="0000:00:06.0"/>' * 60_000
    wide = b'<system version="1"><cpu %s/></system>' % b" ".join(
        b'a%d="1"' % number for number in range(1000)
    )
    for data in (deep, large, wide):
        with pytest.raises(CorruptTrace, match="more than"):
            read_topology(data, "file", ("NCCL_TOPO_DUMP_FILE",))


def test_a_document_that_is_cut_is_used_as_far_as_it_goes() -> None:
    data = samples.SWITCHED_XML[: samples.SWITCHED_XML.index(b"<nic>")]
    (file,) = survives(data)
    assert samples.rows(file, "DEVICES", "bus_id") == ["0000:00:06.0"]
    assert file.remarks[0].startswith("it is cut: ")


def test_more_devices_than_any_host_has_are_left_out() -> None:
    lines = "".join(f"GPU[{n}]\t\t: PCI Bus: 0000:0C:00.0\n" for n in range(MOST_DEVICES + 9))
    file = samples.read(lines.encode())
    assert len(file.tables["DEVICES"]) == MOST_DEVICES
    assert file.remarks


def test_a_row_of_a_table_that_is_short_is_used_and_remarked_on() -> None:
    data = case("amd/smi/rocm_smi_showtopo_4x_mi300x_vf.txt").read_bytes()
    cut = data.replace(
        b"GPU1   15           0            15           15           \n", b"GPU1   15\n"
    )
    file = samples.read(cut)
    assert "the row of GPU1 has 1 of 4 cells" in file.remarks
    assert len(file.tables["LINKS"]) == 12
