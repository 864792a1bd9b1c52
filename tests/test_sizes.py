"""The length check of tools/check_size.py."""

from __future__ import annotations

from pathlib import Path

import pytest

check_size = pytest.importorskip("check_size", reason="tools/ is at hand only in a checkout")


def lengths(source: str) -> dict[str, int]:
    found = check_size.function_lengths(source, "m.py")
    return {length.where.split()[-1]: length.lines for length in found}


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("def f(): return 1\n", 1),
        ("def f():\n    return 1\n", 2),
        ("def f(\n    a,\n    b,\n):\n    return a\n", 5),
        ('def f():\n    """One.\n\n    Two.\n    """\n    return 1\n', 2),
        ('def f():\n    """Alone."""\n', 1),
        ("def f():\n    # why\n\n    return 1  # because\n", 2),
        ('def f():\n    return """\n# no comment\n\n"""\n', 5),
        ("@decorated\n@twice\ndef f():\n    return 1\n", 2),
        ("async def f():\n    return 1\n", 2),
    ],
)
def test_only_lines_of_code_count(source: str, lines: int) -> None:
    assert lengths(source) == {"f": lines}


def test_methods_and_nested_functions_count_each() -> None:
    source = (
        "class C:\n    def f(self):\n        def g():\n            return 1\n        return g\n"
    )
    assert lengths(source) == {"f": 4, "g": 2}


@pytest.mark.parametrize(
    ("values", "percent", "expected"),
    [([], 50, 0), ([7], 90, 7), ([1, 2, 3], 50, 2), ([1, 2], 50, 1.5), ([0, 10], 90, 9)],
)
def test_percentile_interpolates(values: list[int], percent: int, expected: float) -> None:
    assert check_size.percentile(values, percent) == pytest.approx(expected)


def function(lines: int) -> str:
    return "def f():\n" + "    x = 1\n" * (lines - 1)


def run(folder: Path, *sources: str) -> int:
    for number, source in enumerate(sources):
        (folder / f"m{number}.py").write_text(source, encoding="utf-8")
    return int(check_size.main([str(folder)]))


@pytest.mark.parametrize(
    ("sources", "status", "says"),
    [
        ([function(12)], 0, "1 functions: p50 12.0"),
        ([function(13)], 1, "p50 is 13.0, at most 12"),
        ([function(5)] * 3 + [function(60)], 1, "p90 is 43.5, at most 40"),
        ([function(5)] * 30 + [function(60)], 0, "long: "),
        (["x = 1\n" * 400], 0, "longest 400 lines"),
        (["x = 1\n" * 401], 1, "401 lines, at most 400"),
        ([], 1, "no Python module found"),
    ],
)
def test_limits(
    sources: list[str],
    status: int,
    says: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(tmp_path, *sources) == status
    assert says in capsys.readouterr().out
