"""What all pages share: the frame, the style, the script, and how text gets into them harmless."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from functools import cache, partial
from importlib import resources
from typing import Any

from jinja2 import ChoiceLoader, Environment, FunctionLoader, StrictUndefined, Template

from commscope._version import __version__
from commscope.sanitize import shortened

_HERE = "commscope.report.html"
_MOST_TITLE = 120
_MOST_TEXT = 2_000
_UNIT = re.compile(r"(?<=\d) (?=(?:%|[num]?s\b|[kMG]?B\b))")
_POLICY = (
    "default-src 'none'; script-src 'sha256-{script}'; style-src 'unsafe-inline'; "
    "img-src data:; base-uri 'none'; form-action 'none'"
)


def document(template: str, title: str, views: dict[str, Any], *, package: str = _HERE) -> str:
    """One HTML file that needs nothing from outside: a template of a package in the frame of all.

    Beside the templates of ``package`` there may be ``more.css``, for what only its pages show.
    """
    return _template(package, template).render({**_frame(package, title), **views})


@cache
def _template(package: str, name: str) -> Template:
    folders = dict.fromkeys((package, _HERE))
    environment = Environment(
        loader=ChoiceLoader([FunctionLoader(partial(_text, folder)) for folder in folders]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_harmless,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["prose"] = _prose
    return environment.get_template(name)


def _text(package: str, name: str) -> str | None:
    """A file of a package's templates; null where there is none."""
    file = resources.files(package) / "templates" / name
    return file.read_text(encoding="utf-8") if file.is_file() else None


def sort_script() -> str:
    """The JavaScript by which tables sort, which the app has too."""
    return (_text(_HERE, "sort.js") or "").strip()


def _harmless(value: Any) -> Any:
    """All text that goes into a page passes here, and is escaped after it.

    What the templates mark as safe is made of numbers alone, or a file of this program.
    """
    is_safe = hasattr(value, "__html__") or not isinstance(value, str)
    return value if is_safe else _cut(value)


def _cut(text: str) -> str:
    return shortened(text, _MOST_TEXT)


def _prose(text: str) -> str:
    """Sentences in which no line ends between a number and its unit."""
    return _UNIT.sub("\u00a0", text)


def _frame(package: str, title: str) -> dict[str, Any]:
    script = "\n".join((sort_script(), (_text(_HERE, "report.js") or "").strip()))
    styles = (_text(_HERE, "report.css"), package != _HERE and _text(package, "more.css"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return {
        "title": shortened(title, _MOST_TITLE),
        "policy": _POLICY.format(script=digest),
        "script": script,
        "style": "\n".join(style.strip() for style in styles if style),
        "version": __version__,
    }


def sentences(says: str) -> tuple[str, str]:
    """The first sentence, and the rest."""
    first, end, rest = says.partition(". ")
    return first + end.strip(), rest


def capitalised(told: Iterable[str]) -> list[str]:
    """Sentences, of what begins and ends as part of one."""
    return [f"{says[:1].upper()}{says[1:]}." for says in told]
