"""Which parser reads a file: every one gives its opinion, the most confident is taken."""

from __future__ import annotations

from dataclasses import dataclass

from commscope.errors import AmbiguousFormat, UnknownFormat, UsageError
from commscope.parsers.appearance import looks_like
from commscope.parsers.base import Confidence, Match, Parser
from commscope.parsers.opening import Source
from commscope.parsers.plugins import plugins
from commscope.parsers.registry import PARSERS


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one parser thinks of a file."""

    parser: Parser
    match: Match


def all_parsers() -> tuple[Parser, ...]:
    """The parsers that come with commscope, and those of installed plug-ins."""
    return PARSERS + plugins()


def opinions(head: bytes, source: Source) -> list[Opinion]:
    """What every parser thinks of a file, most confident first."""
    found = [Opinion(parser, parser.match(head, source)) for parser in all_parsers()]
    return sorted(found, key=lambda opinion: -opinion.match.confidence)


def choose_parser(head: bytes, source: Source, wanted: str | None) -> Parser:
    """The parser named by the user, else the most confident one; raises as ``choose``."""
    return choose(head, source, wanted).parser


def choose(head: bytes, source: Source, wanted: str | None) -> Opinion:
    """The opinion of the parser named by the user, else of the most confident one.

    Raises UsageError where no parser has the wanted name, UnknownFormat where none recognises
    the file, AmbiguousFormat where several do equally.
    """
    if wanted is not None:
        parser = _named(wanted)
        return Opinion(parser, parser.match(head, source))
    found = opinions(head, source)
    best = [o for o in found if o.match.confidence == found[0].match.confidence]
    if not head or found[0].match.confidence == Confidence.NONE:
        raise UnknownFormat(_unknown(head, source))
    if len(best) > 1:
        names = " and ".join(o.parser.name for o in best)
        raise AmbiguousFormat(f"{source.label}: fits {names}; choose with --parser NAME")
    return best[0]


def _named(wanted: str) -> Parser:
    parsers = all_parsers()
    for parser in parsers:
        if parser.name == wanted:
            return parser
    raise UsageError(f"--parser {wanted}: known are {', '.join(p.name for p in parsers)}")


def _unknown(head: bytes, source: Source) -> str:
    looks = f"{source.label}: is {looks_like(head, source.size)}"
    return f"{looks}, not a trace; {known_formats()}" if head else f"{looks}; record it again"


def known_formats() -> str:
    """All formats that can be read, as the last part of a message."""
    return f"what can be read: {'; '.join(parser.description for parser in all_parsers())}"
