"""Values as the tools print them: ``N/A``, ``None`` and the like are nulls."""

from __future__ import annotations

import re

_NOTHING = {"", "n/a", "na", "none", "null", "unknown", "not supported", "-"}
_BUS_ID = re.compile(
    r"(?:([0-9a-f]{4}|[0-9a-f]{8}):)?([0-9a-f]{2}):([0-9a-f]{2})(?:\.([0-7]))?", re.IGNORECASE
)
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_SPEED = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,3})?)\s*GT/s", re.IGNORECASE)
_HEX = re.compile(r"0x[0-9a-f]{1,8}", re.IGNORECASE)
_LONG_HEX = re.compile(r"0x[0-9a-f]{1,15}", re.IGNORECASE)
_GFX = re.compile(r"gfx[0-9a-f]{3,5}", re.IGNORECASE)
#: Instruction sets by the number that older RCCL writes.
_NUMERIC_GFX = {"910": "gfx90a", "940": "gfx942", "941": "gfx942"}
_MOST_INT32 = 2**31 - 1
_STATUS = {
    "ENABLED": "enabled",
    "TRUE": "enabled",
    "DISABLED": "disabled",
    "FALSE": "disabled",
}


def text_of(value: object) -> str | None:
    """The text, null where it says that there is none."""
    if value is None or isinstance(value, (dict, list)):
        return None
    text = str(value).strip()
    return None if text.lower() in _NOTHING else text[:200]


def integer(value: object) -> int | None:
    """A whole number of at most 31 bits; null for anything else."""
    number = long_integer(value)
    return number if number is not None and number <= _MOST_INT32 else None


def long_integer(value: object) -> int | None:
    """A whole number that is not negative; null for anything else."""
    text = text_of(value)
    if text is None or isinstance(value, bool) or not _INTEGER.fullmatch(text):
        return None
    return int(text) if int(text) >= 0 else None


def dump_number(value: object) -> int | None:
    """The number of a device in a graph: decimal, or from NCCL 2.28 on hexadecimal but for 0."""
    text = text_of(value) or ""
    return int(text, 16) if _LONG_HEX.fullmatch(text) else long_integer(text)


def bus_id_of(value: object) -> str | None:
    """A PCI bus id as dddd:bb:dd.f in lower case; null for anything else."""
    found = _BUS_ID.fullmatch(text_of(value) or "")
    if not found:
        return None
    # NVIDIA writes domains with eight digits, of which the first four are 0.
    domain = (found[1] or "0000").removeprefix("0000") or "0000"
    return f"{domain}:{found[2]}:{found[3]}.{found[4] or '0'}".lower()


def device_id_of(value: object) -> str | None:
    """A PCI device id as 0x and four digits in lower case."""
    text = text_of(value)
    return f"0x{int(text, 16):04x}" if text and _HEX.fullmatch(text) else None


def gfx_of(value: object) -> str | None:
    """The instruction set of an AMD GPU, whether written as name or as number."""
    text = (text_of(value) or "").lower()
    if _GFX.fullmatch(text):
        return "gfx942" if text in ("gfx940", "gfx941") else text
    return _NUMERIC_GFX.get(text, f"gfx{text}") if re.fullmatch("[0-9]{3,4}", text) else None


def pcie_speed_of(value: object) -> float | None:
    """The speed of a PCIe link in GT/s."""
    found = _SPEED.search(text_of(value) or "")
    return float(found[1]) if found else None


def link_kind_of(value: object) -> str | None:
    """The kind of a link as rocm-smi and amd-smi call it."""
    return {"XGMI": "xgmi", "PCIE": "pcie"}.get((text_of(value) or "").upper())


def weight_of(value: object) -> int | None:
    """The weight of a link; 0 between two devices is one that the driver did not tell."""
    return integer(value) or None


def status_of(value: object) -> str | None:
    """Whether devices reach each other: ENABLED and True mean the same."""
    return _STATUS.get((text_of(value) or "").upper())
