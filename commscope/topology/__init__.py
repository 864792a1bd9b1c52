"""Several files on the topology of hosts, merged to one picture a host.

TopologyFile, ... -> ``pictures``: which are of one host, and which devices are the same
                  -> ``merge``: Topology -> ``bandwidth``, ``placement``: what follows from it
"""

from __future__ import annotations

from commscope.topology.assign import for_hosts
from commscope.topology.bandwidth import Expectation, expected_allreduce
from commscope.topology.model import Device, Fact, Link, Net, Ring, Topology, bus_id_of_log
from commscope.topology.placement import Crossings, Order, Place, crossings, order_inside

__all__ = [
    "Crossings",
    "Device",
    "Expectation",
    "Fact",
    "Link",
    "Net",
    "Order",
    "Place",
    "Ring",
    "Topology",
    "bus_id_of_log",
    "crossings",
    "expected_allreduce",
    "for_hosts",
    "order_inside",
]
