"""``rocminfo``: a block of keys and values for each HSA agent."""

from __future__ import annotations

import re

from commscope.parsers.topology.rows import Row, Rows
from commscope.parsers.topology.values import gfx_of, integer, text_of

TOOL = "rocminfo"

_MARK = re.compile(r"^[ \t]*\*{7}[ \t]*\n[ \t]*Agent [0-9]{1,4}[ \t]*\n[ \t]*\*{7}", re.MULTILINE)
_AGENT = re.compile(r"\s*Agent ([0-9]{1,4})\s*")
_KEY = re.compile(r"\s*([A-Z][A-Za-z0-9 .:()/-]{1,40}?):\s*(.{0,120}?)\s*")
_NUMBER = re.compile(r"([0-9]{1,12})\(0x[0-9a-fA-F]+\)")
_KEPT = {
    *("Name", "Uuid", "Marketing Name", "Node", "Device Type", "Chip ID", "BDFID", "Compute Unit"),
    *("Domain ID", "Domain"),
}
_FACTS = {"Runtime Version": "rocr version", "Mwaitx": "", "DMAbuf Support": "dmabuf support"}


def recognises(head: str) -> bool:
    """Whether the first part of a file is text of rocminfo."""
    return bool(_MARK.search(head))


def read(text: str) -> Rows:
    """The rows of the text. HIP counts GPUs in the order of agents."""
    rows = Rows(TOOL)
    agents: list[dict[str, str]] = []
    for line in text.splitlines():
        found = _KEY.fullmatch(line)
        if _AGENT.fullmatch(line):
            agents.append({})
        elif found and agents and found[1] in _KEPT:
            agents[-1].setdefault(found[1], found[2])
        elif found and not agents and _FACTS.get(found[1]):
            rows.fact(_FACTS[found[1]], text_of(found[2]))
    gpus = [agent for agent in agents if agent.get("Device Type") == "GPU"]
    for number, agent in enumerate(gpus):
        rows.device(number, hip_index=number, **_values(agent))
    rows.drop_shared_bus_ids("domains are not told")
    if any("Device Type" not in agent for agent in agents):
        rows.remark("an agent is cut: it does not tell its device type")
    return rows


def _values(agent: dict[str, str]) -> Row:
    chip = _NUMBER.match(agent.get("Chip ID", ""))
    uuid = (text_of(agent.get("Uuid")) or "").lower()
    return {
        "hsa_node": integer(agent.get("Node")),
        "bus_id": _bus_id(agent),
        "uuid": uuid if re.fullmatch("gpu-[0-9a-f]{8,}", uuid) else None,
        "product": text_of(agent.get("Marketing Name")),
        "gfx": gfx_of(agent.get("Name")),
        "compute_units": integer(agent.get("Compute Unit")),
        "device_id": f"0x{int(chip[1]):04x}" if chip else None,
    }


def _bus_id(agent: dict[str, str]) -> str | None:
    """The bus id from the number in which it is packed; most versions do not tell the domain."""
    packed = integer(agent.get("BDFID"))
    if packed is None or packed > 0xFFFF:
        return None
    domain = integer(agent.get("Domain ID", agent.get("Domain"))) or 0
    return f"{domain & 0xFFFF:04x}:{packed >> 8:02x}:{packed >> 3 & 31:02x}.{packed & 7}"
