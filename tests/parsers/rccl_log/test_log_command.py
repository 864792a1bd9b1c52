"""``commscope log``: one screen, JSON that is documented, and what must never be shown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from log_samples import joined, log_of
from small_run import write_run
from support import ROOT, case

from commscope.cli.main import run
from commscope.collect.host_facts import is_allowed
from commscope.log_schema import LOG_TABLES

WATCHDOG = (
    "[rank0]:[E1206 18:44:12.7 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught collective "
    "operation timeout: WorkNCCL(SeqNum=7753, OpType=ALLREDUCE, NumelIn=4, NumelOut=4, "
    "Timeout(ms)=600000) ran for 600061 milliseconds before timing out."
)


@pytest.fixture
def shown(capfd: pytest.CaptureFixture[str]) -> Any:
    """Runs the command, which must succeed without a word on standard error."""

    def invoke(*arguments: object) -> str:
        capfd.readouterr()
        assert run(["log", *map(str, arguments)]) == 0
        out, err = capfd.readouterr()
        assert err == ""
        return out

    return invoke


@pytest.fixture
def refused(capfd: pytest.CaptureFixture[str]) -> Any:
    """Runs the command, which must fail with a code and one line."""

    def invoke(code: int, *arguments: object) -> str:
        capfd.readouterr()
        assert run(["log", *map(str, arguments)]) == code
        out, err = capfd.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        return err

    return invoke


def _job(folder: Path) -> Path:
    for rank, pid in enumerate((10, 77)):
        lines = [*log_of(pid=pid, rank=rank), *([] if rank else [WATCHDOG])]
        (folder / f"nccl.nodeA.{pid}.log").write_bytes(joined(lines))
    return folder


def test_screen_of_a_whole_job(tmp_path: Path, shown: Any) -> None:
    out = shown(_job(tmp_path))
    assert out.startswith("RCCL 2.27.7 (HEAD:0d2c4fd), HIP 7.2.26015-fc0010cf6a\n")
    assert "2 processes on 1 host: nodeA; 2 of 2 ranks" in out
    for word in ("P2P/IPC", "NET/AWS Libfabric", "all_reduce", "NCCL_SOCKET_IFNAME", "NUMA auto"):
        assert word in out
    assert len(out.splitlines()) <= 50
    assert max(map(len, out.splitlines())) <= 120


def test_quiet_gives_the_head_and_the_worst_finding(tmp_path: Path, shown: Any) -> None:
    head, processes, worst, *_ = shown("-q", _job(tmp_path)).splitlines()
    assert head.startswith("RCCL 2.27.7")
    assert processes == "2 processes on 1 host: nodeA; 2 of 2 ranks"
    assert worst.startswith("high L3 Hang: ")


def test_initialisation_that_did_not_finish_is_told(tmp_path: Path, shown: Any) -> None:
    (tmp_path / "a.log").write_bytes(joined(x for x in log_of() if "COMPLETE" not in x))
    assert "Communicator 0: initialisation did not finish on rank 0" in shown(tmp_path)


def test_versions_that_differ_are_told(tmp_path: Path, shown: Any) -> None:
    _job(tmp_path)
    file = tmp_path / "nccl.nodeA.77.log"
    file.write_bytes(file.read_bytes().replace(b"2.27.7", b"2.26.6"))
    assert "DIFFERENT versions: 2.27.7, 2.26.6" in shown(tmp_path)


def test_traces_beside_logs_are_passed_over(tmp_path: Path, shown: Any) -> None:
    document = json.loads(shown(_job(write_run(tmp_path)), "--format", "json"))
    assert [file["file"] for file in document["files"]] == [
        "nccl.nodeA.10.log",
        "nccl.nodeA.77.log",
    ]
    assert any("is a trace (kineto)" in note for note in document["notes"])


def test_logs_beside_traces_do_not_disturb_an_analysis(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    _job(write_run(tmp_path))
    assert run(["analyze", "-q", str(tmp_path)]) == 0


@pytest.mark.parametrize("text", [b"", b"hello\n", b"\0\1\2" * 100, b"x" * 5000])
def test_file_that_is_no_log(text: bytes, tmp_path: Path, refused: Any) -> None:
    (tmp_path / "a.log").write_bytes(text)
    assert "a.log: " in refused(3, tmp_path / "a.log")


def test_missing_file(tmp_path: Path, refused: Any) -> None:
    refused(2, tmp_path / "gone.log")


def test_hostile_text_is_harmless(tmp_path: Path, shown: Any) -> None:
    lines = [line.replace("NUMA auto", "\x07\u202ebad") for line in log_of()]
    (tmp_path / "a.log").write_bytes(joined(lines))
    assert shown(tmp_path).replace("\n", "").isprintable()


SECRETS = (
    "INFO HF_TOKEN set by environment to hunter2",
    "INFO NCCL_FOO_TOKEN set by environment to hunter2",
    "INFO AWS_SECRET_ACCESS_KEY set by environment to hunter2",
    "INFO UCX_AUTH_PASSWORD set to hunter2",
)


def test_no_secret_is_kept(tmp_path: Path, shown: Any) -> None:
    lines = [f"nodeA:10:10 [0] NCCL {secret}" for secret in SECRETS]
    lines += ["NCCL_API_KEY=hunter2", "declare -x WANDB_API_KEY=hunter2"]
    (tmp_path / "a.log").write_bytes(joined([*log_of(), *lines]))
    assert "hunter2" not in shown(tmp_path)
    assert "hunter2" not in shown(tmp_path, "--format", "json")


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("NCCL_DEBUG", True),
        ("RCCL_MSCCL_ENABLE", True),
        ("HSA_FORCE_FINE_GRAIN_PCIE", True),
        ("GPU_MAX_HW_QUEUES", True),
        ("HIP_VISIBLE_DEVICES", True),
        ("TORCH_NCCL_ASYNC_ERROR_HANDLING", True),
        ("UCX_TLS", True),
        ("HIP_HOST_COHERENT", True),
        ("GPU_MAX_HEAP_SIZE", True),
        ("TORCH_FR_BUFFER_SIZE", True),
        ("FI_PROVIDER", True),
        ("PATH", False),
        ("HF_TOKEN", False),
        ("NCCL_SECRET", False),
        ("MY_NCCL_DEBUG", False),
    ],
)
def test_variables_that_are_kept(name: str, allowed: bool) -> None:
    assert is_allowed(name) is allowed


def test_logs_and_collected_files_keep_the_same_variables(tmp_path: Path, shown: Any) -> None:
    names = ("HIP_HOST_COHERENT", "GPU_MAX_HEAP_SIZE", "TORCH_FR_BUFFER_SIZE")
    lines = [f"nodeA:10:10 [0] NCCL INFO {name} set by environment to 17" for name in names]
    (tmp_path / "a.log").write_bytes(joined([*log_of(), *lines]))
    environment = json.loads(shown(tmp_path, "--format", "json"))["environment"]
    assert {*names} <= {row["variable"] for row in environment}


def _keys(value: Any, at: str = "") -> Iterator[str]:
    if isinstance(value, dict) and not at.endswith("[].measured"):
        for name, item in value.items():
            yield from _keys(item, f"{at}.{name}".lstrip("."))
    elif isinstance(value, list):
        yield from (key for item in value for key in _keys(item, f"{at}[]"))
    else:
        yield at


def test_keys_are_those_of_the_page(tmp_path: Path, shown: Any) -> None:
    if not (ROOT / "docs/log.md").is_file():
        pytest.skip("needs the checkout")
    _job(write_run(tmp_path))
    page = (ROOT / "docs/log.md").read_text(encoding="utf-8")
    described = re.findall(r"^\| `([\w.\[\]]+)` \|", page, re.MULTILINE)
    lists = {
        *("communicators[].waiting[]", "communicators[].aborted[]"),
        *(f"hang_verdicts[].{name}[]" for name in ("suspects", "unknown", "waiting")),
    }
    found = set(_keys(json.loads(shown(tmp_path, "--format", "json"))))
    assert found | lists == set(described)
    assert len(described) == len(set(described))


def test_every_table_is_described() -> None:
    if not (ROOT / "docs/schema.md").is_file():
        pytest.skip("needs the checkout")
    page = (ROOT / "docs/schema.md").read_text(encoding="utf-8")
    for name, table in LOG_TABLES.items():
        section = page.partition(f"\n### {name}\n")[2].partition("\n### ")[0]
        assert all(f"| `{column}` |" in section for column in table.names)


def test_torn_output_of_torchrun_gives_a_useful_screen(shown: Any) -> None:
    out = shown(case("h200/ddp_shm_stdout"))
    for line in ("NCCL 2.28.9 (cuda13.0)", "2 of 2 ranks", "SHM", "NCCL_P2P_DISABLE"):
        assert line in out
