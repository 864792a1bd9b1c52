"""What a log holds that is secret is nowhere in any output of ``commscope log``."""

from __future__ import annotations

from pathlib import Path

import pytest
from log_samples import joined, log_of

_HEAD = "nodeA:10:10 [0] "
_SECRET = "PGPASSWORD=hunter3 token=hf_hunter3hunter3 DB_PW hunter3 https://me:hunter3@x"
_LONG = f"{'x' * 470} PGPASSWORD=hunter3hunter3hunter3hunter3"


@pytest.mark.parametrize("options", [["-v"], ["--format", "json"], []])
@pytest.mark.parametrize(
    "line",
    [
        f"{_HEAD}/src/init.cc:12 NCCL WARN Cuda failure 'bad' {_SECRET}",
        f"{_HEAD}NCCL WARN Duplicate GPU detected : rank 0 and rank 1 {_SECRET}",
        f"{_HEAD}NCCL WARN NET/IB : mlx5_0:1 Got async event : port error {_SECRET}",
        f"{_HEAD}NCCL WARN {_LONG}",
        f"{_HEAD}NCCL WARN {'x ' * 230}https://me:hunter3{'z' * 60}@host",
        f"{_HEAD}NCCL INFO Could not enable P2P between dev 0 and dev 1 {_SECRET}",
        f"{_HEAD}NCCL ERROR Failed: {_SECRET}",
        f"{_HEAD}[FATAL ERROR]: {_SECRET}",
        f"{_HEAD}NCCL INFO NCCL_SOCKET_IFNAME set by environment to eth0 {_SECRET.lower()}",
        f"{_HEAD}NCCL INFO MLX5_PWD set by environment to hunter3",
    ],
)
def test_nothing_secret_is_shown(line: str, options: list[str], tmp_path: Path, call) -> None:
    (tmp_path / "a.log").write_bytes(joined([*log_of(), line]))
    outcome = call("log", tmp_path, *options)
    assert (outcome.code, outcome.err) == (0, "")
    assert "hunter3" not in outcome.out


def test_what_a_warning_says_besides_stays(tmp_path: Path, call) -> None:
    line = f"{_HEAD}/src/init.cc:12 NCCL WARN Cuda failure 'bad' {_SECRET}"
    (tmp_path / "a.log").write_bytes(joined([*log_of(), line]))
    assert "Cuda failure 'bad' PGPASSWORD=*** token=***" in call("log", "-v", tmp_path).out
