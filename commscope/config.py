"""Settings from a TOML file: ``commscope.toml`` in the working directory, or one that is named.

    [patterns]
    communication = ["REGEX"]          # also: compute, copy

    [patterns.families]
    gemm = ["REGEX"]                   # any family of compute kernels

    [thresholds.C1]
    min_share = 0.7                    # any threshold of a rule, see `commscope rules`

No other file is read: what a report rests on lies with the run, not with the user's account.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from commscope.classify import NO_PATTERNS, Patterns
from commscope.classify.user import CLASS_NAMES
from commscope.errors import UsageError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DEFAULT_FILE = Path("commscope.toml")


@dataclass(frozen=True, slots=True)
class Config:
    """What a configuration file sets."""

    patterns: Patterns = NO_PATTERNS
    thresholds: Mapping[str, float] = field(default_factory=dict)  #: ``RULE.NAME`` -> value


def find_config(given: Path | None = None) -> Config:
    """The settings of the file given, else of ``./commscope.toml``, else the defaults.

    Raises UsageError as ``load_config`` does.
    """
    if given is not None:
        return load_config(given)
    return load_config(DEFAULT_FILE) if DEFAULT_FILE.is_file() else Config()


def load_config(path: Path) -> Config:
    """The settings of a file.

    Raises UsageError, naming the file, where it cannot be read, is not TOML, or has a key, a
    value or a regular expression that is not valid.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        _check_keys("the file", document, ("patterns", "thresholds"))
        return Config(_patterns(document), _thresholds(document))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 at byte {error.start}") from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not TOML: {error}") from error
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


def _patterns(document: Mapping[str, object]) -> Patterns:
    table = _table("patterns", document.get("patterns", {}))
    _check_keys("[patterns]", table, (*CLASS_NAMES, "families"))
    families = _table("patterns.families", table.get("families", {}))
    classes = {key: value for key, value in table.items() if key != "families"}
    misplaced = [key for key in families if key in CLASS_NAMES]
    if misplaced:
        raise UsageError(f"[patterns.families]: {misplaced[0]!r} is a class; put it in [patterns]")
    return Patterns.of({key: _texts(key, value) for key, value in {**classes, **families}.items()})


def _thresholds(document: Mapping[str, object]) -> dict[str, float]:
    found = {}
    for rule, value in _table("thresholds", document.get("thresholds", {})).items():
        for name, number in _table(f"thresholds.{rule}", value).items():
            if isinstance(number, bool) or not isinstance(number, (int, float)):
                raise UsageError(f"thresholds.{rule}.{name}: expected a number")
            found[f"{rule}.{name}"] = float(number)
    return found


def _check_keys(where: str, table: Mapping[str, object], known: tuple[str, ...]) -> None:
    unknown = [key for key in table if key not in known]
    if unknown:
        raise UsageError(f"{where}: unknown key {unknown[0]!r}; known are {', '.join(known)}")


def _table(name: str, value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise UsageError(f"{name}: expected a table, [{name}]")
    return value


def _texts(key: str, value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise UsageError(f"{key}: expected a list of regular expressions")
    return value
