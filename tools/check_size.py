"""Keeps functions and modules short: fails where they have grown past the limits.

    python tools/check_size.py [FOLDER ...]

The length of a function is its lines of code from ``def`` to its end; docstrings, comments and
blank lines are free. The length of a module is all of its lines.
"""

from __future__ import annotations

import argparse
import ast
import io
import math
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDERS = ("commscope", "parsers", "dashboards", "sample_traces")
LIMITS = {50: 12, 90: 40}  #: percentile of function lengths -> most lines of code
MODULE_LIMIT = 400  #: lines

_DEFINITION = ast.FunctionDef | ast.AsyncFunctionDef
_DOCUMENTED = _DEFINITION | ast.ClassDef | ast.Module
_NOT_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


@dataclass(frozen=True, slots=True)
class Length:
    """How long the thing at a place is, in lines."""

    lines: int
    where: str


def percentile(values: Iterable[int], percent: int) -> float:
    """The percentile of the values, interpolated linearly; 0 where there are none."""
    ordered = sorted(values)
    if not ordered:
        return 0.0
    position = (len(ordered) - 1) * percent / 100
    low, high = ordered[math.floor(position)], ordered[math.ceil(position)]
    return low + (high - low) * (position % 1)


def _token_lines(source: str) -> set[int]:
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NOT_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return lines


def _docstring_lines(tree: ast.Module) -> set[int]:
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            text = node.body[0]
            lines.update(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return lines


def function_lengths(source: str, file: str) -> Iterator[Length]:
    """The length of every function and method of a module, nested ones too."""
    tree = ast.parse(source, file)
    code = _token_lines(source) - _docstring_lines(tree)
    for node in ast.walk(tree):
        if isinstance(node, _DEFINITION):
            span = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            lines = len(code.intersection(span))
            yield Length(lines, f"{file}:{node.lineno} {node.name}")


def offences(functions: Sequence[Length], modules: Sequence[Length]) -> list[str]:
    """What breaks a limit, one line each; empty where all is well."""
    found = [
        f"{module.where}: {module.lines} lines, at most {MODULE_LIMIT} are allowed"
        for module in modules
        if module.lines > MODULE_LIMIT
    ]
    for percent, limit in LIMITS.items():
        value = percentile((function.lines for function in functions), percent)
        if value > limit:
            found.append(f"function length p{percent} is {value:.1f}, at most {limit} is allowed")
    return found


def figures(functions: Sequence[Length], modules: Sequence[Length]) -> list[str]:
    """What was measured, and the functions longer than the highest limit, longest first."""
    lengths = [function.lines for function in functions]
    shares = ", ".join(f"p{percent} {percentile(lengths, percent):.1f}" for percent in LIMITS)
    lines = [
        f"{len(functions)} functions: {shares}, longest {max(lengths, default=0)} lines",
        f"{len(modules)} modules: longest {max((m.lines for m in modules), default=0)} lines",
    ]
    long = [function for function in functions if function.lines > max(LIMITS.values())]
    long.sort(key=lambda function: -function.lines)
    return lines + [f"  long: {function.where}, {function.lines} lines" for function in long]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures and the offences; 1 where there are any, else 0."""
    parser = argparse.ArgumentParser(description="Check the length of functions and modules.")
    parser.add_argument("folders", nargs="*", type=Path, default=[Path(name) for name in FOLDERS])
    functions: list[Length] = []
    modules: list[Length] = []
    for folder in parser.parse_args(arguments).folders:
        for path in sorted(folder.rglob("*.py")):
            source = path.read_text(encoding="utf-8")
            functions.extend(function_lengths(source, str(path)))
            modules.append(Length(len(source.splitlines()), str(path)))
    found = offences(functions, modules)
    print(*figures(functions, modules), *(f"error: {line}" for line in found), sep="\n")
    if not modules:
        print("error: no Python module found: run it from the top folder of the checkout")
    return 1 if found or not modules else 0


if __name__ == "__main__":
    raise SystemExit(main())
