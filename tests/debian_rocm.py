"""Debian's compilers for AMD GPUs: newer ones compile for GPUs that its ROCm does not know yet.

What they make is good to check that the sources compile, not to run: the part of the device library
that says which GPU it is stands in for those of its successors.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

_BITCODE = Path("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode")
_STANDS_IN = {
    "oclc_isa_version_942.bc": "oclc_isa_version_940.bc",
    "oclc_isa_version_950.bc": "oclc_isa_version_940.bc",
    "oclc_abi_version_600.bc": "oclc_abi_version_500.bc",
}


def newer_clang() -> str:
    """Name of the newest clang that came with all it needs; the test is skipped without one."""
    for version in range(25, 21, -1):
        tools = (f"clang++-{version}", f"clang-offload-bundler-{version}", f"lld-{version}")
        if all(map(shutil.which, tools)) and _BITCODE.is_dir():
            return tools[0]
    pytest.skip("needs clang-22, lld-22, clang-tools-22 and hipcc of Debian")


def flags(folder: Path) -> list[str]:
    """What such a clang has to be told; the device library is put together in the folder."""
    for path in _BITCODE.glob("*.bc"):
        (folder / path.name).symlink_to(path)
    for name, other in _STANDS_IN.items():
        if not (folder / name).exists():
            (folder / name).symlink_to(_BITCODE / other)
    return ["--rocm-path=/usr", f"--hip-device-lib-path={folder}", "-D__AMDGCN_WAVEFRONT_SIZE=64"]
