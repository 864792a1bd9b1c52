"""What an address asks for: a page, a run, and whatever else that page understands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode

from commscope.errors import UsageError
from commscope.sanitize import shortened

#: Of an address that names no page.
HOME = "/overview"
_MOST_SEARCH = 4_000
_MOST_DIGITS = 19
_MOST_RANKS = 2_048


@dataclass(frozen=True, slots=True)
class UrlState:
    """An address: its page's path, the number of the run, and the rest as it was written."""

    path: str
    run: int = 0
    values: Mapping[str, str] = field(default_factory=dict)

    def whole(self, name: str) -> int | None:
        """A whole number; null if not given. Raises UsageError for anything else."""
        text = self.values.get(name)
        return None if text is None else _whole(name, text)

    def ranks(self, name: str = "ranks") -> tuple[int, ...]:
        """Ranks as ``0,3,5``; none if not given. Raises UsageError for anything else."""
        texts = [text for text in self.values.get(name, "").split(",") if text]
        if len(texts) > _MOST_RANKS:
            raise UsageError(f"{name}: at most {_MOST_RANKS:,} ranks")
        return tuple(_whole(name, text) for text in texts)


def _whole(name: str, text: str) -> int:
    digits = text[1:] if text.startswith("-") else text
    written = f"{name}={shortened(text, 40)} in the address"
    if not (digits.isascii() and digits.isdigit()):
        raise UsageError(f"{written} is not a whole number")
    if len(digits) > _MOST_DIGITS:
        raise UsageError(f"{written} has more than {_MOST_DIGITS} digits")
    return int(text)


def parse(pathname: str | None, search: str | None, prefix: str = "/", runs: int = 1) -> UrlState:
    """The state of an address below the prefix; raises UsageError if it asks for no such run."""
    path = "/" + (pathname or "/").removeprefix(prefix).strip("/")
    if len(search or "") > _MOST_SEARCH:
        raise UsageError(f"the address is longer than {_MOST_SEARCH:,} characters")
    values = dict(parse_qsl((search or "").removeprefix("?"), keep_blank_values=True))
    state = UrlState(HOME if path == "/" else path, values=values)
    run = state.whole("run") or 0
    if not 0 <= run < runs:
        there = "there is 1 run" if runs == 1 else f"there are {runs:,} runs"
        raise UsageError(f"run={run} in the address: {there}, counted from 0")
    return UrlState(state.path, run, values)


def link(path: str, prefix: str = "/", **values: object) -> str:
    """The address of a page below the prefix; what is null is left out."""
    query = urlencode({name: value for name, value in values.items() if value is not None})
    return prefix.rstrip("/") + path + (f"?{query}" if query else "")
