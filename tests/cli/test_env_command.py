"""``commscope env``: what it shows, draws and saves, of friendly and of hostile files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import topology_samples as samples
from support import case
from topology_samples import write_all

_TAGS = ("svg", "title", "style", "rect", "g", "circle", "text")
_SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def eight(tmp_path: Path) -> Path:
    return write_all(tmp_path, topo__xml=samples.dump(8)) / "topo.xml"


def test_devices_links_and_bandwidth_are_shown(eight: Path, call) -> None:
    outcome = call("env", eight)
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[0] == "topo.xml: 8 GPUs gfx942; all joined to all by xGMI (28 links)"
    assert ["7", *["XGMI"] * 7, "-"] in [line.split() for line in lines]
    assert "all GPUs  about 315 GB/s  7 links of xGMI at 45 GB/s" in outcome.out
    assert "28 pairs   about 45 GB/s  1 link of xGMI at 45 GB/s" in outcome.out


def test_quiet_is_a_sentence_a_host(eight: Path, call) -> None:
    assert call("env", "-q", eight).out.count("\n") == 1


def test_numbers_of_tools_stand_in_columns_and_their_difference_is_said(
    tmp_path: Path, call
) -> None:
    out = call("env", write_all(tmp_path, list__txt=samples.AMD_LIST)).out
    assert "match by bus id" in out
    assert "no.  device        amd-smi  HIP  node  model" in out
    assert "  0  0000:83:00.0        0    1     9  ?" in out


def test_network_devices_rings_and_facts_are_shown(tmp_path: Path, call) -> None:
    folder = write_all(
        tmp_path,
        topo__txt=samples.NVIDIA_TOPO,
        graph__xml=samples.GRAPH_XML,
        collected__json=samples.MANIFEST,
    )
    out = call("env", folder).out
    assert "mlx5_3" in out
    assert "PIX: nvidia-smi 0" in out
    assert "numa balancing  1" in out
    assert "30 GB/s NVL" in out
    assert "(collected.json (commscope): amd-smi list: did not end within" in out
    assert "hunter2" not in out


def test_json_has_a_schema_and_all_there_is(eight: Path, call) -> None:
    document: dict[str, Any] = json.loads(call("env", eight, "--format", "json").out)
    assert document["schema"] == "commscope.env/1"
    assert [device["rank"] for device in document["devices"]] == list(range(8))
    assert len(document["links"]) == 28
    whole, pair = document["expected"]
    assert (whole["what"], whole["busbw_gbps"], whole["limit"]) == ("all GPUs", 315.0, "xgmi")
    assert (pair["groups"], pair["is_bound"]) == (28, False)


def test_json_tells_how_far_network_devices_are(tmp_path: Path, call) -> None:
    folder = write_all(tmp_path, topo__txt=samples.NVIDIA_TOPO)
    document = json.loads(call("env", folder, "--format", "json").out)
    assert document["nets"][0]["paths"] == [
        {"device": "nvidia-smi 0", "path": "PIX"},
        {"device": "nvidia-smi 1", "path": "SYS"},
    ]


def drawn(path: Path) -> ElementTree.Element:
    return ElementTree.fromstring(path.read_text(encoding="utf-8"))


def test_drawing_has_a_line_a_link_and_needs_nothing_from_outside(
    eight: Path, tmp_path: Path, call
) -> None:
    svg = tmp_path / "links.svg"
    assert call("env", eight, "--svg", svg).code == 0
    root = drawn(svg)
    assert len(root.findall(f".//{_SVG}circle")) == 8
    assert len([line for line in root.iter(f"{_SVG}line") if line.find(f"{_SVG}title") is not None
                and "0000:" in (line.find(f"{_SVG}title").text or "")]) == 28  # fmt: skip
    text = svg.read_text(encoding="utf-8")
    assert "prefers-color-scheme: dark" in text
    assert "href" not in text
    assert text.count("http") == text.count("http://www.w3.org/2000/svg")
    assert "nan" not in text


@pytest.mark.parametrize("gpus", [1, 2, 30, 100])
def test_drawings_of_few_and_many_devices_stay_inside(gpus: int, tmp_path: Path, call) -> None:
    path = write_all(tmp_path, topo__xml=samples.dump(gpus, count=0)) / "topo.xml"
    assert call("env", "-q", path, "--svg", tmp_path / "x.svg").code == 0
    root = drawn(tmp_path / "x.svg")
    width, height = (float(root.attrib[name]) for name in ("width", "height"))
    for circle in root.iter(f"{_SVG}circle"):
        x, y, r = (float(circle.attrib[name]) for name in ("cx", "cy", "r"))
        assert r <= x <= width - r
        assert r <= y <= height - r


@pytest.mark.parametrize(
    "name",
    [
        "\x1b[31mred\x1b[0m",
        "<script>alert(1)</script>",
        '" onload="alert(1)',
        "[bold]x[/bold] :smile:",
        "gemm\u202egnp.exe",
        "no\ufffexml\uffff",
        "n" * 5000,
    ],
)
def test_hostile_names_are_harmless_in_every_output(name: str, tmp_path: Path, call) -> None:
    escaped = name.replace("\x1b", "\\u001b").replace('"', '\\"').encode()
    data = b'[{"gpu": 0, "asic": {"market_name": "%s"}}, {"gpu": 1}]' % escaped
    path = write_all(tmp_path, static__json=data) / "static.json"
    svg = tmp_path / "x.svg"
    outcome = call("env", path, "--svg", svg)
    assert (outcome.code, outcome.err) == (0, "")
    for text in (outcome.out, svg.read_text(), call("env", path, "--format", "json").out):
        assert all(line.isprintable() for line in text.split("\n"))
    names = {element.tag for element in drawn(svg).iter()}
    assert names == {f"{_SVG}{tag}" for tag in _TAGS}
    assert not any(key.startswith("on") for it in drawn(svg).iter() for key in it.attrib)


def test_what_is_no_topology_is_refused_in_one_line(tmp_path: Path, refused) -> None:
    path = write_all(tmp_path, note__txt=b"hello\n") / "note.txt"
    assert "what can be read: output of rocm-smi" in refused(3, "env", path)
    assert "no input was given" in refused(2, "env")
    assert "no such file" in refused(2, "env", tmp_path / "missing")
    xml = write_all(tmp_path, topo__xml=samples.dump(2)) / "topo.xml"
    for option in ("--svg", "--output"):
        line = refused(2, "env", xml, option, xml)
        assert f"{option} {xml}: is among the files that are read and would be lost" in line
    assert "there is no folder" in refused(2, "env", xml, "--svg", tmp_path / "no" / "x.svg")


def test_saving_shows_what_was_saved(tmp_path: Path, call, monkeypatch) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "amd-smi").write_text(f"#!/bin/sh\ncat <<'END'\n{samples.AMD_LIST.decode()}END\n")
    (tools / "amd-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    outcome = call("env", "--save", tmp_path / "saved", "-q")
    assert outcome.code == 0
    assert ": 2 GPUs; links not told\n" in outcome.out
    assert "rocm-smi --showtopo: rocm-smi is not installed\n" in outcome.err
    again = call("env", "-q", tmp_path / "saved")
    assert again.out == outcome.out


@pytest.mark.parametrize("seconds", ["nan", "inf", "1e300", "86401", "0", "-1"])
def test_a_limit_of_time_is_one_that_can_be_waited_for(seconds: str, tmp_path: Path, refused):
    line = refused(2, "env", "--save", tmp_path / "saved", "--timeout", seconds)
    assert "give more than 0 and at most 86,400" in line
    assert not (tmp_path / "saved").exists()


def test_a_folder_that_cannot_be_saved_to_is_said(tmp_path: Path, refused) -> None:
    path = write_all(tmp_path, file=b"") / "file"
    assert "cannot be written" in refused(2, "env", "--save", path)


@pytest.mark.parametrize("folder", ["topology", "amd/smi", "h200/nvidia_smi_topo.txt"])
def test_all_real_files_are_shown(folder: str, call) -> None:
    outcome = call("env", case(folder))
    assert (outcome.code, outcome.err) == (0, "")
    assert max(map(len, outcome.out.split("\n"))) <= 140
