"""Text of a run as it is shared: the rules of ``redaction_rules`` applied, piece by piece."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from commscope.saved.names import Names
from commscope.saved.redaction_rules import (
    HEXADECIMAL,
    KNOWN,
    MOST_DIGITS,
    MOST_DIGITS_OF_VERSIONS,
    PIECE,
    RULES,
    TIME,
    keeps_value,
    stays,
)
from commscope.secrets_filter import without_secrets

_HOME = re.compile(r"(?:/home|/Users|/data/home)/([\w.-]+)")
_VARIABLE = re.compile("[A-Z][A-Z0-9_]*")
#: Pieces of a text that are done are set aside under characters that no text of ours holds.
_DONE = "\ue000"


class Scrubber:
    """Renames in texts of each kind what the rules find; ``names`` knows what was found."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def host(self, text: str) -> str:
        """The name of a host, and of its domain."""
        short, dot, domain = text.partition(".")
        new = self._names.of("host", short)
        return f"{new}.{self._names.of('domain', domain)}" if dot and domain else new

    def kernel(self, text: str) -> str:
        """The name of a kernel: as it is, but for paths, addresses, hosts and users in it."""
        return self._with(text, lambda rest: rest, in_kernels=True)

    def text(self, text: str) -> str:
        """Free text, of which known words and short numbers stay."""
        return self._with(without_secrets(text), self._words)

    def call(self, text: str) -> str:
        """The name of a call or annotation."""
        return text if KNOWN.fullmatch(text) else self.text(text)

    def hexadecimal(self, text: str) -> str:
        """A number in hexadecimal, or free text."""
        return text if HEXADECIMAL.fullmatch(text) else self.text(text)

    def version(self, text: str) -> str:
        """A version, of which what is added to its numbers is free text."""

        def words(rest: str) -> str:
            return self._words(rest, MOST_DIGITS_OF_VERSIONS)

        return self._with(text, words, but=("address",))

    def time(self, text: str) -> str | None:
        """A time as printed; null for anything else."""
        return text if TIME.fullmatch(text) else None

    def value(self, variable: str, value: str) -> str:
        """The value of a variable of the environment, or of a fact on a host."""
        if _VARIABLE.fullmatch(variable) and not keeps_value(variable, value):
            return self._names.of("value", value)
        return self.text(value)

    def unique_id(self, text: str) -> str:
        """What no other device has."""
        return self._names.of("address", text)

    def _with(
        self,
        text: str,
        rest: Callable[[str], str],
        *,
        in_kernels: bool = False,
        but: Sequence[str] = (),
    ) -> str:
        """The text with what the rules find renamed, and the rest as that function says."""
        done: list[str] = []
        text = text.replace(_DONE, "")

        def set_aside(kind: str, found: re.Match[str]) -> str:
            group = "it" if "it" in found.re.groupindex else 0
            (begin, end), (first, last) = found.span(), found.span(group)
            if home := _HOME.match(found[group]):
                self._names.of("user", home[1])
            done.append(self._names.of(kind, found[group]))
            mark = f"{_DONE}{len(done) - 1}{_DONE}"
            return f"{found.string[begin:first]}{mark}{found.string[last:end]}"

        for rule in RULES:
            if rule.kind not in but and (rule.in_kernels or not in_kernels):
                text = rule.pattern.sub(partial(set_aside, rule.kind), text)
        for kind, known in self._names.known.items():
            text = known.sub(partial(set_aside, kind), text)
        pieces = text.split(_DONE)
        return "".join(done[int(it)] if n % 2 else rest(it) for n, it in enumerate(pieces))

    def _words(self, text: str, most_digits: int = MOST_DIGITS) -> str:
        """The text with what nobody knows renamed."""

        def named(found: re.Match[str]) -> str:
            piece = found[0]
            if stays(piece, most_digits):
                return piece
            return self._names.of("number" if piece.isdigit() else "word", piece)

        return PIECE.sub(named, text)
