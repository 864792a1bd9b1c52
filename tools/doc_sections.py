"""The sections of the documentation that come out of the code: see ``gen_docs``."""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from types import CodeType, FunctionType
from typing import Any, cast

import click
import pyarrow as pa

import commscope
from commscope import (
    counter_schema,
    log_schema,
    neighbor_schema,
    sample_traces,
    schema,
    topology_schema,
)
from commscope.analysis.result import Analysis, analyse
from commscope.cli.main import cli
from commscope.findings.log_rules import BUILT_IN_LOG
from commscope.findings.log_versions import KNOWN_ISSUES
from commscope.findings.log_warnings import KNOWN
from commscope.findings.model import Check, Metric
from commscope.findings.quality import RULES, trust_of
from commscope.findings.rule import AnyRule
from commscope.findings.rules import BUILT_IN
from commscope.findings.versions import KNOWN_PROBLEMS
from commscope.generator.catalog import SCENARIOS, Scenario, plan_of
from commscope.parsers.registry import PARSERS
from commscope.report.metrics import METRICS
from commscope.report.metrics import Metric as ReportMetric

SAMPLE = "ddp_straggler"
_FINDINGS = "commscope.findings."
_THRESHOLD = re.compile(r"^#: (?:(Q\w+(?:, Q\w+)*): )?(.+)\n(\w+) = ([\d.]+)$", re.MULTILINE)
_FLAG = re.compile(r"^ +(\w+) = 1 << (\d+)  #: (.+)$", re.MULTILINE)
_LONG_TEXT = 90


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


# Tables of the schema


_SCHEMAS = (schema, log_schema, neighbor_schema, topology_schema, counter_schema)
_TABLES = {
    **schema.TABLES,
    **log_schema.LOG_TABLES,
    **neighbor_schema.NEIGHBOR_TABLES,
    **topology_schema.TOPOLOGY_TABLES,
    **counter_schema.COUNTER_TABLES,
}


def table_section(name: str) -> str:
    """The columns of one table of the schema."""
    rows = [
        (
            f"`{field.name}`",
            _type_name(field.type),
            "yes" if field.nullable else "",
            field.metadata[b"unit"].decode(),
            field.metadata[b"meaning"].decode(),
        )
        for field in _TABLES[name]
    ]
    columns = _table(("column", "type", "null", "unit", "meaning"), rows)
    return f"### {name}\n\n{_docstrings()[name]}\n\n{columns}"


def _type_name(kind: pa.DataType) -> str:
    if kind == schema.TEXT:
        return "text"
    return f"list of {kind.value_type}" if pa.types.is_list(kind) else str(kind)


@cache
def _docstrings() -> dict[str, str]:
    """The string below each constant of the modules that declare tables."""
    bodies = [ast.parse(inspect.getsource(module)).body for module in _SCHEMAS]
    found = {}
    for constant, text in (pair for body in bodies for pair in pairwise(body)):
        if isinstance(constant, ast.Assign) and isinstance(text, ast.Expr):
            (name,) = constant.targets
            found[ast.unparse(name)] = ast.literal_eval(text.value)
    return found


def flags_section(_: str) -> str:
    """The bits of ``EVENTS.flags``."""
    found = _FLAG.findall(inspect.getsource(schema.Flag))
    rows = [(f"`{name}`", str(1 << int(bit)), meaning) for name, bit, meaning in found]
    return _table(("flag", "value", "meaning"), rows)


# Parsers


def parser_section(name: str) -> str:
    """What one parser says of itself."""
    (parser,) = (parser for parser in PARSERS if parser.name == name)
    suffixes = ", ".join(f"`{suffix}`" for suffix in parser.suffixes)
    names = f" Usual names: {suffixes}." if suffixes else ""
    return f"## {parser.name}\n\n{parser.description}.{names}"


# Rules of trust


@cache
def _sample_analysis() -> Analysis:
    return analyse(commscope.load(sample_traces.path(SAMPLE)))


@cache
def sample_report() -> commscope.Report:
    """The report of the sample that the documentation shows."""
    return commscope.analyze(commscope.load(sample_traces.path(SAMPLE)))


@cache
def rules() -> dict[str, tuple[FunctionType, Check]]:
    """Every rule of trust by its id, with what it says of the sample."""
    checks = trust_of(_sample_analysis()).checks
    functions = (cast(FunctionType, rule) for rule in RULES)
    return {check.rule: (rule, check) for rule, check in zip(functions, checks, strict=True)}


def rule_section(name: str) -> str:
    """One rule: its question, its thresholds, and which numbers it withholds."""
    rule, check = rules()[name]
    question = (inspect.getdoc(rule) or "").removeprefix(f"{name}: ")
    lines = [f"### {name} {check.title}", "", question[:1].upper() + question[1:], ""]
    for meaning, constant, value in _thresholds(rule, name):
        lines.append(f"- Threshold `{constant}` = {value}: {meaning}")
    withheld = ", ".join(sorted(metric.value for metric in _withholds(rule)))
    lines.append(f"- Withholds: {withheld or 'nothing, it informs'}")
    return "\n".join(lines)


def _thresholds(rule: FunctionType, name: str) -> Iterator[tuple[str, str, str]]:
    """(Meaning, constant, value); in a module of several rules the comment says whose it is."""
    source = inspect.getsource(sys.modules[rule.__module__])
    for rules_of_it, meaning, constant, value in _THRESHOLD.findall(source):
        if not rules_of_it or name in rules_of_it.split(", "):
            yield meaning[:1].lower() + meaning[1:], constant, value


def _withholds(rule: FunctionType) -> set[Metric]:
    """The metrics that a rule's code names, itself or through what it uses of the findings."""
    found: set[Metric] = set()
    for name in _names(rule.__code__):
        used = rule.__globals__.get(name)
        if name in Metric.__members__:
            found.add(Metric[name])
        elif isinstance(used, tuple):
            found.update(item for item in used if isinstance(item, Metric))
        elif isinstance(used, FunctionType) and used.__module__.startswith(_FINDINGS):
            found |= _withholds(used)
    return found


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def finding_rules_section(_: str) -> str:
    """All rules that give findings: question, thresholds, advice and where it is from."""
    return "\n\n".join(_finding_rule(rule) for rule in BUILT_IN)


def log_rules_section(_: str) -> str:
    """The same of the rules that look at logs."""
    return "\n\n".join(_finding_rule(rule) for rule in BUILT_IN_LOG)


def log_issues_section(_: str) -> str:
    """The versions of the library that are known for a problem."""
    rows = [
        (issue.versions, issue.says, f"[source]({issue.advice.source})") for issue in KNOWN_ISSUES
    ]
    return _table(("versions", "what happens", "told in"), rows)


def log_warnings_section(_: str) -> str:
    """The warnings that are known, and the rule that is about each."""
    rows = [(f"`{known.pattern}`", known.rule) for known in KNOWN]
    return _table(("warning (regular expression)", "rule"), rows)


def _finding_rule(rule: AnyRule) -> str:
    lines = [f"### {rule.id} {rule.title}", "", rule.asks, ""]
    for name, limit in rule.limits.items():
        unit = "" if limit.unit == "ratio" else f" {limit.unit}"
        lines.append(f"- Threshold `{rule.id}.{name}` = {limit.value:,g}{unit}: {limit.says}.")
    for advice in rule.advice:
        lines += [f"- Advice: {advice.do}", f"  {advice.why} ([source]({advice.source}))"]
    return "\n".join(lines)


def problems_section(_: str) -> str:
    """The versions that are known to lose or distort records."""
    rows = [
        (problem.versions, problem.says, f"[{_thread(problem.source)}]({problem.source})")
        for problem in KNOWN_PROBLEMS
    ]
    return _table(("versions", "what happens", "told in"), rows)


def _thread(address: str) -> str:
    """``ROCm/roctracer 100`` of the address of a thread."""
    owner, repository, _, number = address.split("/")[-4:]
    return f"{owner}/{repository} {number}"


# Metrics


def metrics_section(_: str) -> str:
    """Every number that ``commscope explain`` knows."""
    return "\n\n".join(_metric(metric) for metric in METRICS)


def _metric(metric: ReportMetric) -> str:
    leaves_out = "; ".join(metric.leaves_out) or "nothing"
    return "\n".join(
        (
            f"### {metric.name}",
            "",
            metric.definition,
            "",
            f"- Unit: {metric.unit}",
            f"- Formula: {metric.formula}",
            f"- Inputs: {metric.inputs}",
            f"- Leaves out: {leaves_out}",
            f"- Rests on: {', '.join(metric.rests_on)}",
        )
    )


# The command line


def commands() -> dict[str, click.Command]:
    """Every command by its name."""
    context = click.Context(cli)
    found = {name: cli.get_command(context, name) for name in cli.list_commands(context)}
    return {name: command for name, command in found.items() if command is not None}


def command_section(name: str) -> str:
    """One command with all its arguments and options."""
    command = commands()[name]
    text = inspect.cleandoc(command.help or "")
    rows = [(_spelled(p), _help(p)) for p in command.params if isinstance(p, click.Option)]
    rows.append(("`-h`, `--help`", "Show the command's help."))
    options = _table(("option", "meaning"), rows)
    usage = " ".join(["commscope", name, "[OPTIONS]", *_arguments(command)])
    return f"## commscope {name}\n\n    {usage}\n\n{text}\n\n{options}"


def _arguments(command: click.Command) -> list[str]:
    return [p.human_readable_name for p in command.params if isinstance(p, click.Argument)]


def _spelled(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in option.opts)
    if option.is_flag or option.count:
        return names
    if isinstance(option.type, click.Choice):
        return f"{names} `{'|'.join(option.type.choices)}`"
    return f"{names} `{option.metavar or option.type.name.upper()}`"


def _help(option: click.Option) -> str:
    notes = []
    kind = option.type
    if not option.count and isinstance(kind, (click.IntRange, click.FloatRange)):
        notes.append(f"{'more than' if kind.min_open else 'at least'} {kind.min:g}")
    if option.show_default:
        notes.append(f"by default {option.default}")
    if option.multiple or option.count:
        notes.append("may be repeated")
    return (option.help or "") + (f" ({', '.join(notes)})" if notes else "")


# JSON


def example_section(_: str) -> str:
    """A report as JSON, with one entry of each list and long texts cut."""
    document = _cut(sample_report().to_dict())
    text = json.dumps(document, sort_keys=True, indent=2, ensure_ascii=False)
    return f"```json\n{text}\n```"


def _cut(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _cut(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_cut(item) for item in value[:1]]
    if isinstance(value, str):
        return textwrap.shorten(value, _LONG_TEXT, placeholder=" ...")
    return value


#: Name of a section -> what writes it, from the argument that the page gives.
# Generated jobs


def scenarios_section(_: str) -> str:
    """All scenarios of ``commscope generate``, and what has to be found in them."""
    rows = [
        (f"`{name}`", scenario.summary, _planted(name), _needs(scenario))
        for name, scenario in SCENARIOS.items()
    ]
    return _table(("scenario", "what happens", "found first", "needs"), rows)


def _planted(name: str) -> str:
    return ", ".join(
        cause.rule
        + ("" if cause.rank is None else f", rank {cause.rank}")
        + (f": {cause.did}" if cause.did else "")
        for cause in plan_of(name).causes
    ) or "nothing above low"  # fmt: skip


def _needs(scenario: Scenario) -> str:
    ranks = f"{scenario.min_ranks} ranks" if scenario.min_ranks > 1 else ""
    real = "real collectives" if scenario.needs_real_collectives else ""
    not_on = f"not on {' or '.join(scenario.not_on)}" if scenario.not_on else ""
    return ", ".join(filter(None, (ranks, real, not_on)))


SECTIONS: dict[str, Callable[[str], str]] = {
    "table": table_section,
    "flags": flags_section,
    "parser": parser_section,
    "rule": rule_section,
    "findings": finding_rules_section,
    "logrules": log_rules_section,
    "logissues": log_issues_section,
    "logwarnings": log_warnings_section,
    "problems": problems_section,
    "metrics": metrics_section,
    "command": command_section,
    "example": example_section,
    "scenarios": scenarios_section,
}
