"""Finding files on the topology among others."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
import topology_samples as samples
from topology_samples import write_all

from commscope import sample_traces
from commscope.engine.topology import find_topology, load_topology
from commscope.errors import CorruptTrace, FormatError, UnknownFormat, UsageError
from commscope.parsers import topology as formats


def test_a_folder_is_read_and_other_files_are_passed_over(tmp_path: Path) -> None:
    folder = write_all(
        tmp_path, list__txt=samples.AMD_LIST, readme__md=b"# Read me", sub___x__xml=samples.dump(2)
    )
    topology = load_topology([folder])
    assert topology.files == ("list.txt", "sub/x.xml")
    assert topology.notes == ("readme.md: is text, on no topology of a host",)
    found = find_topology([folder])
    assert found is not None
    assert found.notes == ()


def test_names_do_not_matter_and_packed_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "trace.json.gz").write_bytes(gzip.compress(samples.dump(3)))
    assert len(load_topology([tmp_path]).devices) == 3


def test_progress_is_told(tmp_path: Path) -> None:
    told = []
    write_all(tmp_path, a__xml=samples.dump(2))
    load_topology([tmp_path], lambda *given: told.append(given))
    assert told[-1][:3] == ("a.xml", 1, 1)


def test_traces_are_no_topology() -> None:
    trace = sample_traces.path("ddp_straggler")
    assert find_topology([trace]) is None
    with pytest.raises(UnknownFormat, match="on no topology of a host"):
        load_topology([trace])


def test_damaged_files_end_the_command_only_where_they_were_named(tmp_path: Path) -> None:
    folder = write_all(tmp_path, bad__json=b'[{"gpu": 0, ', good__xml=samples.dump(2))
    for topology in (load_topology([folder]), find_topology([folder])):
        assert topology is not None
        assert len(topology.devices) == 2
        assert topology.notes[0].startswith("bad.json: amd-smi JSON: ")
    with pytest.raises(CorruptTrace, match="save the tool's output again"):
        load_topology([folder / "bad.json"])


def test_files_that_are_too_large_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("commscope.engine.topology.MOST_BYTES", 1000)
    path = write_all(tmp_path, big__xml=samples.dump(8)) / "big.xml"
    with pytest.raises(FormatError, match="more than"):
        load_topology([path])


def test_pipes_and_standard_input_are_left_to_others(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert find_topology([pipe, "-"]) is None
    with pytest.raises(UsageError, match="no such file"):
        find_topology([tmp_path / "missing"])


def test_every_format_is_known_by_what_stands_in_it() -> None:
    for name, data in samples.SAMPLES.items():
        assert formats.formats_of(data), name
    assert formats.formats_of(b"GPU0 is fine\nno topology here\n") == ()
    assert formats.formats_of(b'{"traceEvents": [{"name": "GPU: 0"}]}') == ()


def test_a_packed_file_that_is_cut_is_said(tmp_path: Path) -> None:
    packed = gzip.compress(samples.dump(8) + b"<!-- " + os.urandom(1 << 16).hex().encode() + b"-->")
    (tmp_path / "topo.xml.gz").write_bytes(packed[:-2000])
    with pytest.raises(CorruptTrace, match="copy it again"):
        load_topology([tmp_path / "topo.xml.gz"])
