"""What the documentation shows is what the program does."""

from __future__ import annotations

import importlib.metadata
import json
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from support import ROOT

if not (ROOT / "README.md").is_file():
    pytest.skip("needs the checkout", allow_module_level=True)

import doc_sections
import gen_docs

import commscope
from commscope import errors, sample_traces, schema
from commscope.collect.options import read as read_options
from commscope.config import load_config
from commscope.findings.log_rules import BUILT_IN_LOG
from commscope.findings.model import (
    Advice,
    Evidence,
    Finding,
    Measured,
    Metric,
    Quote,
    Withheld,
)
from commscope.findings.rules import BUILT_IN
from commscope.gate.model import EXIT_CODES
from commscope.parsers.registry import PARSERS
from commscope.report.metrics import METRICS
from commscope.report.model import LogSection, ReportTable

PAGES = gen_docs.pages()
ALL_PAGES = sorted({*PAGES, *ROOT.glob("*.md"), *ROOT.glob("benchmarks/*.md")})
_FENCED = re.compile(r"^```(.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

#: Objects whose keys depend on the trace.
_FREE = ("environment.versions", "findings[].measured")


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _named(paths: Iterable[Path]) -> Any:
    return pytest.mark.parametrize(
        "path", list(paths), ids=lambda path: str(path.relative_to(ROOT))
    )


def _fenced(path: Path, language: str) -> list[str]:
    return [body for name, body in _FENCED.findall(_text(path)) if name == language]


def _section(page: str, heading: str) -> str:
    """The text below a heading, up to the next one of its level."""
    level = heading.partition(" ")[0]
    found = re.search(rf"^{heading}\b.*?(?=^{level} |\Z)", page, re.MULTILINE | re.DOTALL)
    assert found, f"no heading {heading!r}"
    return found[0]


@_named(PAGES)
def test_generated_sections_are_up_to_date(path: Path) -> None:
    assert gen_docs.with_sections(_text(path)) == _text(path), "run: make docs"


@pytest.mark.long
@_named(path for path in PAGES if gen_docs.commands(_text(path)))
def test_commands_print_what_the_page_shows(path: Path) -> None:
    assert gen_docs.with_outputs(_text(path)) == _text(path), "run: make docs"


def test_picture_is_up_to_date() -> None:
    shown = gen_docs.shown(_text(gen_docs.PICTURE))
    assert shown == gen_docs.shown(gen_docs.picture()), "run: make docs"


def test_outputs_hold_errors_and_no_blanks_at_the_ends_of_lines() -> None:
    page = "```console\n$ echo 'new  '; echo bad >&2\nold\n$ printf x\n```\n"
    fresh = "```console\n$ echo 'new  '; echo bad >&2\nnew\nbad\n$ printf x\nx\n```\n"
    assert gen_docs.with_outputs(page) == fresh


def test_check_tells_a_stale_page_and_leaves_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- generated: flags -->\nold\n<!-- end -->\n", encoding="utf-8")
    monkeypatch.setattr(gen_docs, "ROOT", tmp_path)
    monkeypatch.setattr(gen_docs, "pages", lambda: [page])
    assert gen_docs.main(["--check"]) == 1
    assert "-old" in capsys.readouterr().out
    assert "old" in _text(page)
    assert gen_docs.main([]) == 0
    assert "`CLIPPED`" in _text(page)
    assert gen_docs.main(["--check"]) == 0


def test_every_table_is_described() -> None:
    page = _text(ROOT / "docs/schema.md")
    for name, table in schema.TABLES.items():
        section = _section(page, f"### {name}")
        assert all(f"| `{column}` |" in section for column in table.names)


def test_every_parser_is_described() -> None:
    page = _text(ROOT / "docs/formats.md")
    for parser in PARSERS:
        assert parser.description in _section(page, f"## {parser.name}")


def test_every_rule_is_described() -> None:
    page = _text(ROOT / "docs/rules.md")
    ids = [*doc_sections.rules(), *(rule.id for rule in (*BUILT_IN, *BUILT_IN_LOG))]
    assert re.findall(r"^### (\w+)", page, re.MULTILINE) == ids
    for metric in Metric:
        assert f"| {metric.value} |" in page


def test_every_metric_is_described() -> None:
    page = _text(ROOT / "docs/metrics.md")
    assert re.findall(r"^### (\S+)$", page, re.MULTILINE) == [metric.name for metric in METRICS]
    for metric in METRICS:
        assert metric.definition in _section(page, f"### {re.escape(metric.name)}")


@cache
def _full_report() -> dict[str, Any]:
    """A report in which every list has an entry and every object its keys."""
    report = commscope.analyze(commscope.load(sample_traces.path("ddp_straggler")))
    finding = replace(
        report.findings[0],
        measured={"time": Measured(1, "ns")},
        evidence=(Evidence(rank=0, step=1, t0_ns=0, t1_ns=1),),
        quotes=(Quote("job.log", 1, "text"),),
        advice=(Advice("do", "why", "source"),),
    )
    assert isinstance(finding, Finding)
    check = replace(report.trust.checks[0], withheld=(Withheld(Metric.IDLE, rank=0),))
    trust = replace(report.trust, checks=(check,))
    empty = {"bubbles": report.bubbles, "traffic": report.traffic}
    rows = {name: ReportTable(_row_of_nulls(table.arrow.schema)) for name, table in empty.items()}
    assert report.worst_step is not None
    worst = replace(report.worst_step, notes=("a note",))
    full = replace(
        report, findings=(finding,), trust=trust, log=_full_log(), worst_step=worst,
        notes=("a note",), **rows,
    )  # fmt: skip
    return json.loads(full.to_json(more=("instances",)))


def _full_log() -> LogSection:
    log = commscope.analyze(commscope.load(sample_traces.path("ddp_default"))).log
    assert log is not None
    names = ("communicators", "paths", "transports", "stretches")
    rows = {name: ReportTable(_row_of_nulls(getattr(log, name).arrow.schema)) for name in names}
    return replace(log, notes=("a note",), **rows)


def _row_of_nulls(columns: pa.Schema) -> pa.Table:
    """A row without values, but with one, that is not known, in each list."""
    row = {field.name: [None] if pa.types.is_list(field.type) else None for field in columns}
    return pa.Table.from_pylist([row], schema=columns)


def _keys(value: Any, at: str = "") -> Iterator[tuple[str, bool]]:
    """Every key of a document as the page spells it, and whether a value stands there."""
    at = "partition" if at.endswith(".partition") else at
    if isinstance(value, dict):
        yield at, False
        for name, item in value.items():
            yield from _keys(item, f"{at}.{'NAME' if at in _FREE else name}".lstrip("."))
    elif isinstance(value, list):
        yield at, False
        for item in value:
            yield from _keys(item, f"{at}[]")
    else:
        yield at, True


def _described_keys() -> list[str]:
    page = _text(ROOT / "docs/json-report.md")
    return re.findall(r"^\| `([\w.\[\]]+)` \|", page, re.MULTILINE)


def test_every_key_of_the_report_is_described() -> None:
    found = {key for key, has_value in _keys(_full_report()) if has_value}
    assert found - set(_described_keys()) == set()


def test_every_described_key_is_in_the_report() -> None:
    found = {key for key, _ in _keys(_full_report())}
    # The partition of ranks and steps is described once.
    found |= {"ranks[].partition", "steps[].partition"}
    described = _described_keys()
    assert set(described) - found == set()
    assert len(described) == len(set(described))


def _anchors(page: str) -> set[str]:
    """The anchors that a page's headings get when it is shown."""
    headings = re.findall(r"^#+ (.+)$", _FENCED.sub("", page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


def _broken_links(path: Path) -> Iterator[str]:
    for target in re.findall(r"\]\(([^)\s]+)\)", _FENCED.sub("", _text(path))):
        if target.startswith(("http://", "https://")):
            continue
        file, _, anchor = target.partition("#")
        other = path.parent / file if file else path
        if not other.is_file() or (anchor and anchor not in _anchors(_text(other))):
            yield target


@_named(ALL_PAGES)
def test_internal_links_lead_somewhere(path: Path) -> None:
    assert list(_broken_links(path)) == []


def test_broken_links_are_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A b\n[x](gone.md) [y](#a-b) [z](page.md#c)\n", encoding="utf-8")
    assert list(_broken_links(page)) == ["gone.md", "page.md#c"]


def test_changelog_has_an_entry_for_the_version() -> None:
    assert f"\n## [{commscope.__version__}]" in _text(ROOT / "CHANGELOG.md")


def test_examples_in_python_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    examples = _fenced(ROOT / "README.md", "python")
    assert examples
    for example in examples:
        exec(compile(example, "README.md", "exec"), {})


def test_examples_that_need_a_gpu_are_python() -> None:
    (example,) = _fenced(ROOT / "README.md", "python no-run")
    compile(example, "README.md", "exec")


def test_example_of_settings_is_valid(tmp_path: Path) -> None:
    (example,) = _fenced(ROOT / "README.md", "toml")
    file = tmp_path / "commscope.toml"
    file.write_text(example, encoding="utf-8")
    assert load_config(file).patterns.communication


def test_jobs_are_run_with_options_that_exist() -> None:
    scripts = _fenced(ROOT / "docs/run.md", "sh") + _fenced(ROOT / "docs/run.md", "console")
    lines = "\n".join(scripts).replace("\\\n", " ").splitlines()
    jobs = [line.split(" run ", 1)[1] for line in lines if re.search(r"commscope\S* run ", line)]
    assert len(jobs) >= 5
    for job in jobs:
        assert read_options(shlex.split(job)) is not None, job


def test_every_exit_code_is_told() -> None:
    codes = [int(n) for n in re.findall(r"^\| (\d+) \|", _text(ROOT / "README.md"), re.MULTILINE)]
    kinds = (kind for kind in vars(errors).values() if hasattr(kind, "exit_code"))
    expected = {0, 130, *(kind.exit_code for kind in kinds), *EXIT_CODES.values()}
    assert codes == sorted(expected)


def test_every_dependency_has_its_reason() -> None:
    page = _text(ROOT / "docs/design.md")
    required = importlib.metadata.requires("commscope") or []
    own = [it for it in required if "extra ==" not in it or it.endswith('"integrations"')]
    declared = {tuple(re.split(r">=|;", text)[:2]) for text in own}
    told = set(re.findall(r"^ +\| ([\w-]+) \| .+ \| ([\d.]+): .+ \|$", page, re.MULTILINE))
    assert told == declared


_ANSWER = re.compile(
    r"^\| (\w+) \| (\d) \| (\d+) \| (\d+) \| " + r"([\d.]+) \| " * 3 + r"([\d.]+) \|$"
)


def _known_answers() -> list[tuple[str, ...]]:
    lines = _text(ROOT / "sample_traces/README.md").splitlines()
    return [found.groups() for line in lines if (found := _ANSWER.match(line))]


@cache
def _sample(name: str) -> dict[str, Any]:
    return commscope.analyze(commscope.load(sample_traces.path(name))).to_dict()


def test_answers_are_known_of_every_sample() -> None:
    expected = [(name, str(rank)) for name in sample_traces.names() for rank in (0, 1)]
    assert [(name, rank) for name, rank, *_ in _known_answers()] == expected


@pytest.mark.parametrize("answer", _known_answers(), ids=lambda answer: f"{answer[0]}-{answer[1]}")
def test_samples_give_the_known_answers(answer: tuple[str, ...]) -> None:
    name, number, kernels, collectives, *figures = answer
    rank = _sample(name)["ranks"][int(number)]
    assert (rank["kernels"], rank["collectives"]) == (int(kernels), int(collectives))
    words = ("compute_ns", "communication_ns", "exposed_comm_ns", "idle_ns")
    found = [rank["partition"][word] for word in words]
    assert found == [round(float(figure) * 1000) for figure in figures]


def test_steps_of_the_straggler_are_as_told() -> None:
    page = " ".join(_text(ROOT / "sample_traces/README.md").split())
    told = re.search(r"rank 0 (\S+), (\S+) and (\S+); rank 1 (\S+), (\S+) and (\S+)\.", page)
    assert told
    for step, figure in zip(_sample("ddp_straggler")["steps"], told.groups(), strict=True):
        digits = len(figure.partition(".")[2])
        assert f"{step['partition']['exposed_comm_ns'] / 1e6:.{digits}f}" == figure
