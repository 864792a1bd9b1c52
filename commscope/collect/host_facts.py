"""What tells of a host's topology, saved on the machine where a job runs.

    python -m commscope.collect.host_facts FOLDER
    python host_facts.py FOLDER

Needs Python 3.9 and its standard library only, and nothing else of commscope, so that this file
can be copied into any image. Each tool is optional, has a limit of time and of output, and writes
one file; ``collected.json`` lists them. Of the environment only variables of libraries for
communication are kept, and none whose name sounds like a secret.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import resource
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

SCHEMA = "commscope.collected/1"
MANIFEST = "collected.json"
TIMEOUT_S = 20.0
MOST_TIMEOUT_S = 86_400.0
MOST_BYTES = 8 << 20

_EXTRA_PATH = ("/opt/rocm/bin", "/usr/local/cuda/bin", "/usr/sbin", "/sbin")
#: Seconds that a tool has to end once it has closed its output.
_PATIENCE_S = 2.0
_READ_BYTES = 64 << 10
_MOST_VALUE = 400

#: Names of variables that are kept.
_ALLOWED = re.compile(
    r"(?:NCCL|RCCL|MSCCL|MSCCLPP|TORCH_NCCL|TORCH_FR|HSA|HIP|ROCR|GPU|UCX|FI|OFI_NCCL|RDMAV|MLX5)"
    r"_[A-Z0-9_]{1,60}|CUDA_DEVICE_MAX_CONNECTIONS|CUDA_VISIBLE_DEVICES|CUDA_LAUNCH_BLOCKING"
    r"|OMP_NUM_THREADS"
)
_SECRET = re.compile(
    r"SECRET|TOKEN|PASS|PWD|_PW(?:_|$)|CREDENTIAL|AUTH|_KEY|KEY_|PRIVATE|CERT", re.IGNORECASE
)
#: Of the kernel's command line only what concerns access between devices.
_KERNEL_FLAG = re.compile(
    r"(?:(?:amd_|intel_)?iommu(?:\.[a-z_]+)?|numa_balancing|pci|pcie_acs_override)"
    r"(?:=[A-Za-z0-9_.,:@-]{0,80})?"
)


@dataclass(frozen=True)
class Tool:
    """A command whose output is saved, and the file it goes to."""

    name: str
    command: tuple[str, ...]
    file: str


def _tool(file: str, *command: str) -> Tool:
    return Tool(command[0], command, file)


TOOLS = (
    _tool("rocm_smi_showtopo.txt", "rocm-smi", "--showtopo"),
    _tool("rocm_smi_showtopoaccess.txt", "rocm-smi", "--showtopoaccess"),
    _tool("rocm_smi_showbus.txt", "rocm-smi", "--showbus"),
    _tool("rocm_smi_showproductname.txt", "rocm-smi", "--showproductname"),
    _tool("rocm_smi_showhw.txt", "rocm-smi", "--showhw"),
    _tool("amd_smi_list.json", "amd-smi", "list", "-e", "--json"),
    _tool("amd_smi_topology.json", "amd-smi", "topology", "--json"),
    _tool("amd_smi_static.json", "amd-smi", "static", "--json"),
    _tool("amd_smi_xgmi.txt", "amd-smi", "xgmi"),
    _tool("nvidia_smi_topo.txt", "nvidia-smi", "topo", "-m"),
    _tool("nvidia_smi_devices.csv", "nvidia-smi", "--query-gpu=index,name,pci.bus_id,uuid",
          "--format=csv"),
    _tool("rocminfo.txt", "rocminfo"),
    _tool("hipconfig.txt", "hipconfig"),
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What became of a tool. ``status``: ok, missing, failed, timed out or cut."""

    tool: str
    command: str
    status: str
    file: str | None
    exit_code: int | None
    seconds: float
    bytes: int
    reason: str | None


def is_allowed(name: str) -> bool:
    """Whether a variable of the environment may be kept and shown."""
    return bool(_ALLOWED.fullmatch(name)) and not _SECRET.search(name)


def is_timeout(seconds: float) -> bool:
    """Whether a limit of time is one that can be waited for."""
    return 0 < seconds <= MOST_TIMEOUT_S


def collect(
    folder: Path,
    *,
    timeout_s: float = TIMEOUT_S,
    most_bytes: int = MOST_BYTES,
    tools: Iterable[Tool] = TOOLS,
) -> list[Outcome]:
    """Runs the tools and saves what they print; the manifest comes last.

    Raises OSError where the folder cannot be made or written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    outcomes = [_save(folder, tool, timeout_s, most_bytes) for tool in tools]
    manifest = {
        "schema": SCHEMA,
        "host": os.uname().nodename,
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "system": system_facts(),
        "environment": kept_environment(os.environ),
        "tools": [asdict(outcome) for outcome in outcomes],
    }
    _write(folder / MANIFEST, (json.dumps(manifest, indent=1) + "\n").encode())
    return outcomes


def kept_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that may be kept, sorted, of bounded length."""
    return {
        name: environment[name].encode("utf-8", "replace").decode()[:_MOST_VALUE]
        for name in sorted(environment)
        if is_allowed(name)
    }


def system_facts(root: Path = Path("/")) -> dict[str, str | None]:
    """Settings of the system and versions; null where they cannot be had."""
    flags = [word for word in (_text(root / "proc/cmdline") or "").split()
             if _KERNEL_FLAG.fullmatch(word)]  # fmt: skip
    facts = {
        "kernel": os.uname().release,
        "numa balancing": _text(root / "proc/sys/kernel/numa_balancing"),
        "kernel flags": " ".join(flags) or None,
        "iommu groups": _iommu_groups(root),
        "locked memory limit": _locked_memory(),
        "rocm version": _text(root / "opt/rocm/.info/version"),
        "amdgpu driver": _text(root / "sys/module/amdgpu/version"),
        "rccl library": _library(root / "opt/rocm/lib/librccl.so"),
        "gpu direct module": _modules(root),
    }
    facts.update({f"python {name}": _installed(name) for name in ("torch", "nvidia-nccl-cu12")})
    return facts


def run(command: Sequence[str], timeout_s: float, most_bytes: int) -> tuple[bytes, int | None, str]:
    """Output, exit code and status of a command; its whole process group ends with it.

    Raises OSError where it cannot be started.
    """
    process = subprocess.Popen(
        list(command),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        env={**os.environ, "LC_ALL": "C"},
        preexec_fn=_unblock_signals,  # noqa: PLW1509 - no other thread runs where this is called
    )
    try:
        data, status = _read(process.stdout, time.monotonic() + timeout_s, most_bytes)
        if status == "ok":
            status = _waited(process)
    finally:
        _kill(process)
    code = process.returncode if status in ("ok", "failed") else None
    return data, code, status


def _unblock_signals() -> None:
    """A tool begins with no signal blocked, also where its caller waits for some."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _waited(process: subprocess.Popen[bytes]) -> str:
    """Whether a command that has closed its output ends well, and soon."""
    try:
        return "ok" if process.wait(timeout=_PATIENCE_S) == 0 else "failed"
    except subprocess.TimeoutExpired:
        return "timed out"


def _read(stream: IO[bytes] | None, deadline: float, most_bytes: int) -> tuple[bytes, str]:
    data = bytearray()
    if stream is None:
        return b"", "ok"
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not selector.select(left):
                return bytes(data), "timed out"
            chunk = os.read(stream.fileno(), _READ_BYTES)
            if not chunk:
                return bytes(data), "ok"
            data += chunk
            if len(data) > most_bytes:
                return bytes(data[:most_bytes]), "cut"


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Ends the process group, children that outlived the command among them."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    # What waits for a device in the kernel cannot be killed, nor waited for.
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=_PATIENCE_S)
    if process.stdout is not None:
        process.stdout.close()


def _save(folder: Path, tool: Tool, timeout_s: float, most_bytes: int) -> Outcome:
    """Runs one tool; what an earlier run left of it is replaced or removed."""
    begin, path = time.monotonic(), folder / tool.file
    data, code, status = b"", None, "missing"
    reason: str | None = f"{tool.name} is not installed"
    program = _program(tool.name)
    if program is not None:
        try:
            data, code, status = run((program, *tool.command[1:]), timeout_s, most_bytes)
            reason = _reason(status, code, timeout_s, most_bytes, data)
        except OSError as error:
            status, reason = "failed", f"cannot be started ({error.strerror})"
    if data:
        _write(path, data)
    else:
        path.unlink(missing_ok=True)
    return Outcome(
        tool=tool.name,
        command=" ".join(tool.command),
        status=status,
        file=tool.file if data else None,
        exit_code=code,
        seconds=round(time.monotonic() - begin, 3),
        bytes=len(data),
        reason=reason,
    )


def _reason(
    status: str, code: int | None, timeout_s: float, most_bytes: int, data: bytes
) -> str | None:
    if status == "failed":
        return f"ended with code {code}"
    if status == "timed out":
        return f"did not end within {timeout_s:g} s and was ended"
    if status == "cut":
        return f"printed more than {most_bytes:,} bytes"
    return None if data else "printed nothing"


def _program(name: str) -> str | None:
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), *_EXTRA_PATH))
    return shutil.which(name, path=path)


def _write(path: Path, data: bytes) -> None:
    """Writes a file whole or not at all."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        new.write_bytes(data)
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)


def _text(path: Path) -> str | None:
    """The first 4 KiB of a file of the system, on one line."""
    try:
        with path.open("rb") as file:
            return " ".join(file.read(4096).decode("utf-8", "replace").split()) or None
    except OSError:
        return None


def _iommu_groups(root: Path) -> str | None:
    try:
        return str(len(os.listdir(root / "sys/kernel/iommu_groups")))
    except OSError:
        return None


def _locked_memory() -> str:
    limit = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    return "unlimited" if limit == resource.RLIM_INFINITY else str(limit)


def _library(path: Path) -> str | None:
    return os.path.basename(os.path.realpath(path)) if path.exists() else None


def _modules(root: Path) -> str | None:
    """Kernel modules that let network devices reach into GPU memory."""
    names = ("nvidia_peermem", "nv_peer_mem", "ib_peer_mem", "amdkfd")
    found = [name for name in names if (root / "sys/module" / name).is_dir()]
    if (root / "sys/kernel/mm/memory_peers/amdkfd").is_dir():
        found.append("memory_peers/amdkfd")
    return " ".join(found) or None


def _installed(name: str) -> str | None:
    """The version of a Python package, without importing it."""
    from importlib import metadata  # noqa: PLC0415 - takes time that most users of this need not pay

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _seconds(text: str) -> float:
    seconds = float(text)
    if not is_timeout(seconds):
        raise argparse.ArgumentTypeError(f"{text}: give more than 0 and at most {MOST_TIMEOUT_S:g}")
    return seconds


def main(arguments: Sequence[str] | None = None) -> int:
    """Collects into a folder and says what became of each tool."""
    parser = argparse.ArgumentParser(description="Saves what tells of this host's topology.")
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--timeout", type=_seconds, default=TIMEOUT_S, help="seconds a tool may take"
    )
    given: Any = parser.parse_args(arguments)
    try:
        outcomes = collect(given.folder, timeout_s=given.timeout)
    except OSError as error:
        sys.stderr.write(f"{given.folder}: cannot be written ({error.strerror})\n")
        return 2
    for it in outcomes:
        sys.stdout.write(f"{it.command}: {it.reason or f'{it.bytes:,} bytes in {it.file}'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
