"""A file of one host often stands for all hosts of a job."""

from __future__ import annotations

from topology_samples import MANIFEST, bus_id, dump, read

from commscope.topology import Topology, for_hosts
from commscope.topology.merge import merge

_BUSES = {bus_id(0), bus_id(3)}


def topology(**files: bytes) -> Topology:
    return merge([read(data, name.replace("__", "/")) for name, data in files.items()])


def test_hosts_that_no_file_names_are_like_the_one_that_has_their_devices() -> None:
    found = for_hosts(topology(topo=dump(4)), {"n1": _BUSES, "n2": _BUSES, "n3": {"0000:ff:00.0"}})
    assert found.hosts == ("n1", "n2")
    assert [len(found.devices_of(host)) for host in ("n1", "n2", "n3")] == [4, 4, 0]
    assert all(found.is_mesh(found.devices_of(host)) for host in found.hosts)
    assert found.notes == tuple(
        f"{host}: taken to be joined like topo, as no file names it" for host in ("n1", "n2")
    )


def test_hosts_that_are_named_are_taken_as_they_are() -> None:
    named = topology(
        a__collected=MANIFEST,
        a__topo=dump(4),
        b__collected=MANIFEST.replace(b"node7", b"node8"),
        b__topo=dump(4, count=2),
    )
    found = for_hosts(named, {"node8": set(), "node7": _BUSES})
    assert found.hosts == ("node8", "node7")
    assert {link.count for link in found.links if link.host == "node8"} == {2}
    assert {fact.host for fact in found.facts} == {"node7", "node8"}
    assert found.notes == named.notes


def test_hosts_that_differ_stand_for_no_other() -> None:
    differing = topology(a__topo=dump(4), b__topo=dump(4, count=2))
    assert for_hosts(differing, {"n1": _BUSES}).hosts == ()
    alike = topology(a__topo=dump(4), b__topo=dump(4))
    assert for_hosts(alike, {"n1": _BUSES}).hosts == ("n1",)


def test_facts_are_not_those_of_another_host() -> None:
    named = topology(a__collected=MANIFEST, a__topo=dump(4))
    assert for_hosts(named, {"n1": _BUSES}).facts == ()


def test_a_host_of_which_no_device_is_known_is_like_none() -> None:
    assert for_hosts(topology(topo=dump(4)), {"n1": set()}).hosts == ()
