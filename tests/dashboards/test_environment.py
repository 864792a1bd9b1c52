from __future__ import annotations

import base64
import xml.etree.ElementTree as ET
from dataclasses import replace

from paged import HOSTILE, alike, at, loaded, of_kind, one_run, row_of, words

from commscope.dashboards.app_data import LoadedRun
from commscope.dashboards.pages import environment, link_picture
from commscope.logs.link_use import Connection, LinkUse
from commscope.topology.model import Device, Fact, Link, Topology

STATE = at("/environment")
LOGS = "nccl.vm.682.log,nccl.vm.683.log"


def with_log() -> LoadedRun:
    return loaded("ddp_default", LOGS)


def two_gpus(name: str = "node1") -> Topology:
    devices = tuple(Device(name, f"0000:{it}0:00.0", rank=it, gfx="gfx942") for it in (1, 2))
    keys = (devices[0].key, devices[1].key)
    return Topology(
        hosts=(name,),
        devices=devices,
        links=(Link(name, keys, kind="xgmi", count=4),),
        facts=(Fact(name, "kernel", "6.8", "uname"),),
    )


def images(page) -> list[ET.Element]:  # type: ignore[no-untyped-def]
    found = of_kind(page, "Img")
    assert all(img.src.startswith("data:image/svg+xml;base64,") and img.alt for img in found)
    return [ET.fromstring(base64.b64decode(img.src.partition(",")[2])) for img in found]


def test_page_has_versions_settings_and_connections():
    page = environment.layout(one_run(with_log()), STATE)
    told = words(page)
    assert "NVIDIA H200" in told
    assert row_of(page, "variables") == [["NCCL_NVLS_ENABLE", "0", "2", ""]]
    assert row_of(page, "connections")[0][:5] == ["P2P/CUMEM", "0", "collectives", "2", "24"]
    assert row_of(page, "transports")[0][0] == "P2P/CUMEM, NVLink"
    assert "The library wrote no warning." in told
    assert not alike(page)


def test_connections_are_drawn_for_both_themes():
    page = environment.layout(one_run(with_log()), STATE)
    light, dark = images(page)
    titles = [title.text for title in light.iter("{http://www.w3.org/2000/svg}title")]
    assert "ranks 0 and 1: P2P/CUMEM, 24 channels" in titles
    assert ET.tostring(light) != ET.tostring(dark)


def test_link_use_counts_channels_of_each_direction():
    use = with_log().beside.link_use
    assert use is not None
    assert use.ranks == (0, 1)
    assert [(it.sender, it.receiver, it.channels) for it in use.connections] == [
        (0, 1, 24),
        (1, 0, 24),
    ]
    (edge,) = link_picture.edges(use)
    assert (edge.kind, edge.channels) == ("p2p", 24)
    assert link_picture.says(use) == "2 ranks on 1 host: 1 pair GPU to GPU."


def test_no_log_and_no_topology_are_said_once():
    page = environment.layout(one_run(loaded("ddp_straggler")), STATE)
    told = words(page)
    assert told.count("No log of RCCL or NCCL belongs to this run.") == 1
    assert told.count("No topology of the hosts is at hand.") == 1
    assert not of_kind(page, "Img")


def test_topology_is_drawn_and_listed():
    run = loaded("ddp_straggler")
    beside = replace(run.beside, topology=two_gpus())
    page = environment.layout(one_run(replace(run, beside=beside)), STATE)
    (drawing,) = images(page)
    assert "0000:10:00.0 to 0000:20:00.0: XGMI*4" in ET.tostring(drawing, encoding="unicode")
    assert row_of(page, "links-0") == [["0", "", "XGMI*4"], ["1", "XGMI*4", ""]]
    assert row_of(page, "facts-0") == [["kernel", "6.8"]]


def test_many_ranks_are_drawn_in_part_and_kinds_told_apart():
    connections = tuple(
        Connection(it, (it + 1) % 80, "NET/IB" if it % 8 == 7 else "SHM", 2, None)
        for it in range(80)
    )
    hosts = {rank: f"node{rank // 8}" for rank in range(80)}
    use = LinkUse("world", tuple(range(80)), hosts, connections)
    drawn = ET.fromstring(link_picture.picture(use, "light"))
    circles = list(drawn.iter("{http://www.w3.org/2000/svg}circle"))
    assert len(circles) == 64
    assert "16 more ranks are not drawn" in ET.tostring(drawing_text(drawn), encoding="unicode")
    assert "over the network" in link_picture.says(use)
    assert "80 ranks on 10 hosts" in link_picture.says(use)


def drawing_text(drawn: ET.Element) -> ET.Element:
    return drawn


def test_hostile_names_are_text():
    use = LinkUse(HOSTILE, (0, 1), {0: HOSTILE, 1: HOSTILE}, (Connection(0, 1, HOSTILE, 1, None),))
    run = with_log()
    beside = replace(run.beside, topology=two_gpus(HOSTILE), link_use=use)
    page = environment.layout(one_run(replace(run, beside=beside)), STATE)
    assert not of_kind(page, "Markdown")
    assert not {"\u202e", "\x1b"} & set(words(page))
    assert not {"\u202e", "\x1b"} & {mark for img in of_kind(page, "Img") for mark in img.alt}
    for drawn in images(page):
        assert not [it for it in drawn.iter() if it.tag.endswith(("img", "script"))]
