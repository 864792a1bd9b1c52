"""What ``commscope log`` shows of findings: text, JSON, thresholds, and rules of other packages."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from log_rule_cases import begun, info, warn
from log_rule_cases import call as call_of
from log_rule_cases_errors import calls, timeout
from log_rule_cases_settings import setting
from log_rule_cases_transport import OFF, SHM, on_one_host
from log_samples import joined

PAIR = (begun(0), begun(1))
ILL = [
    *on_one_host(OFF, *PAIR, SHM),
    *warn("n1", 1, "NUMA auto balancing enabled", 'Missing "iommu=pt" from kernel command line'),
    *[setting(name, "1") for name in ("NCCL_ALGO", "HSA_ENABLE_SDMA", "NCCL_SHM_DISABLE")],
    timeout(0),
]


@pytest.fixture
def ill(tmp_path: Path) -> Path:
    """A log in which many rules fire."""
    path = tmp_path / "job.log"
    path.write_bytes(joined(ILL))
    return path


def test_findings_stand_behind_the_head_the_worst_first(call, ill: Path) -> None:
    lines = call("log", ill).out.splitlines()
    begins = [line.split()[:2] for line in lines if line[:4] in ("high", "medi", "low ")]
    assert begins[0] == ["high", "L3"]
    assert len(begins) == 5
    first = next(number for number, line in enumerate(lines) if line.startswith("high L3"))
    assert first < lines.index("Communicators")
    assert "    job.log:10: [rank0]:[E1206" in lines[first + 2]


def test_what_is_left_out_is_counted_and_shown_on_demand(call, ill: Path) -> None:
    short, long = call("log", ill).out, call("log", "-v", ill).out
    found = json.loads(call("log", "--format", "json", ill).out)["findings"]
    assert f"({len(found) - 5} more of severity " in short
    assert " more of severity " not in long
    for finding in found:
        assert f"{finding['severity']} {finding['rule']} {finding['title']}: " in long
    assert "https://" not in short
    assert "https://" in long
    assert "C5c No GPUDirect RDMA: not known, " not in short


def test_rules_that_could_not_look_are_told_on_demand(call, tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(joined(info("n1", 1, begun(0, 1))))
    says = " C5a Shared memory between GPUs of a host: not known, the logs show no connection"
    assert says.strip() in call("log", "-v", path).out
    assert says.strip() not in call("log", path).out


def test_quiet_shows_the_worst_finding_in_a_line(call, ill: Path) -> None:
    out = call("log", "-q", ill).out
    assert "high L3 Hang: " in out
    assert "C5a" not in out
    assert "Advice" not in out


def test_json_has_findings_quotes_and_the_rules_of_warnings(call, ill: Path) -> None:
    document = json.loads(call("log", "--format", "json", ill).out)
    shared = next(one for one in document["findings"] if one["id"] == "C5a")
    assert shared["quotes"][0]["text"] == ILL[shared["quotes"][0]["line"] - 1]
    assert shared["quotes"][0]["file"] == "job.log"
    rules = {row["text"][:4]: row["rule"] for row in document["warnings"]}
    assert rules == {"NUMA": "S2", "Miss": "L1"}
    looked = {row["rule"]: row["result"] for row in document["looked"]}
    assert (looked["C5a"], looked["C5d"], looked["L8"]) == ("found", "could_not_look", "nothing")


def test_standard_input_is_not_quoted(call, monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = io.BytesIO(joined(ILL))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=buffer, isatty=lambda: False))
    document = json.loads(call("log", "--format", "json", "-").out)
    quotes = [quote for one in document["findings"] for quote in one["quotes"]]
    assert quotes
    assert {quote["text"] for quote in quotes} == {None}


def test_thresholds_hold_for_logs(call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    many = calls([call_of(0, n) for n in range(1, 9)], [call_of(1, 1)])
    Path("a.log").write_bytes(joined(many))
    assert " L5 " not in call("log", "a.log").out
    assert "low L5 " in call("log", "--threshold", "L5.min_behind=2", "a.log").out
    Path("commscope.toml").write_text("[thresholds.L5]\nmin_behind = 2\n")
    assert "low L5 " in call("log", "a.log").out


def test_a_threshold_of_no_rule_is_refused(refused, ill: Path) -> None:
    assert "no threshold L5.most: there are L5.min_behind" in refused(
        2, "log", "--threshold", "L5.most=1", ill
    )


def test_a_rule_on_logs_can_be_explained(call) -> None:
    out = call("explain", "c5a").out
    assert out.startswith("C5a Shared memory between GPUs of a host  (log)\nDo GPUs of one host")
    assert "legacy-rocm-build/issues/6576" in out


def test_no_secret_of_a_quoted_line_is_shown(call, tmp_path: Path) -> None:
    lines = [f"HF_TOKEN=hunter2 {line}{' API_KEY=hunter2' * ('WARN' not in line)}" for line in ILL]
    path = tmp_path / "a.log"
    path.write_bytes(joined(lines))
    for options in ((), ("-v",), ("--format", "json")):
        out = call("log", *options, path).out
        assert "NCCL_P2P_DISABLE" in out
        assert "hunter2" not in out
