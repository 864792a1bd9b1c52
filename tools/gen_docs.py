"""Writes what the documentation shows of the program, or checks that it is up to date.

    python tools/gen_docs.py [--check]

Pages are written by hand, but for three things that would drift:

- in a ``console`` block, what follows a line ``$ COMMAND`` is what that command prints;
- between ``<!-- generated: NAME ARGUMENT -->`` and ``<!-- end -->`` stands a section of SECTIONS;
- ``docs/analyze.svg`` is a picture of what ``commscope analyze`` prints.

The JSON Schema of the report is made of the page that describes it, see ``json_schema``.
"""

from __future__ import annotations

import argparse
import difflib
import html
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

import json_schema
from doc_sections import SECTIONS, sample_report
from rich.console import Console

from commscope.report.text import print_report

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "analyze.svg"
#: What the commands of the pages may read, beside what they write themselves.
INPUTS = ("sample_traces",)

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SECTION = re.compile(r"^<!-- generated: (\w+(?: \w+)?) -->\n.*?^<!-- end -->$", re.M | re.DOTALL)
_PIECE = re.compile(
    r'<text class="([^"]+)" x="([\d.]+)" y="([\d.]+)" textLength="[\d.]+"([^>]*)>([^<]*)</text>'
)
_CHARACTER_WIDTH = 12.2  #: as rich draws it
_BLANK = "&#160;"
_FONT_FACE = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
_FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
#: Variables that change what a program prints.
_UNSET = ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "PYTHONPATH")


def pages() -> list[Path]:
    """Every page that may hold something generated."""
    return [
        ROOT / "README.md",
        ROOT / "sample_traces" / "README.md",
        *sorted((ROOT / "docs").glob("*.md")),
    ]


def with_sections(text: str) -> str:
    """The page with its generated sections as the code has them now."""

    def fresh(found: re.Match[str]) -> str:
        name, _, argument = found[1].partition(" ")
        return f"<!-- generated: {found[1]} -->\n{SECTIONS[name](argument)}\n<!-- end -->"

    return _SECTION.sub(fresh, text)


def commands(text: str) -> list[list[str]]:
    """The commands of a page, block by block."""
    return [
        [line[2:] for line in block.splitlines() if line.startswith("$ ")]
        for block in _BLOCK.findall(text)
    ]


def with_outputs(text: str) -> str:
    """The page with what its commands print now."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        outputs = iter(list(pool.map(_run_block, commands(text))))
    return _BLOCK.sub(lambda _: f"```console\n{next(outputs)}```", text)


def _run_block(block: Iterable[str]) -> str:
    """Runs the commands of one block, one after the other, in a folder of their own."""
    with tempfile.TemporaryDirectory() as folder:
        for name in INPUTS:
            Path(folder, name).symlink_to(ROOT / name)
        return "".join(f"$ {command}\n{_run(command, folder)}" for command in block)


def _run(command: str, folder: str) -> str:
    """What a command prints, errors too, without blanks at the ends of lines."""
    environment = {name: value for name, value in os.environ.items() if name not in _UNSET}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


def picture() -> str:
    """What ``commscope analyze`` prints of a sample on a terminal, as SVG."""
    console = Console(
        record=True,
        width=120,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        highlight=False,
    )
    print_report(sample_report(), console)
    title = "commscope analyze sample_traces/ddp_straggler"
    svg = _FONT_FACE.sub("", console.export_svg(title=title, unique_id="commscope"))
    svg = _PIECE.sub(_without_blanks, svg.replace("Fira Code, monospace", _FONTS))
    return "".join(f"{line.rstrip()}\n" for line in svg.splitlines())


def _without_blanks(piece: re.Match[str]) -> str:
    """A piece of text that begins and ends with ink: some viewers drop blanks at its ends."""
    style, x, y, rest, text = piece.groups()
    ink = text.removesuffix("\n")
    while ink.endswith(_BLANK):
        ink = ink.removesuffix(_BLANK)
    left = float(x)
    while ink.startswith(_BLANK):
        ink, left = ink.removeprefix(_BLANK), left + _CHARACTER_WIDTH
    if not ink:
        return ""
    width = len(html.unescape(ink)) * _CHARACTER_WIDTH
    return f'<text class="{style}" x="{left:g}" y="{y}" textLength="{width:g}"{rest}>{ink}</text>'


def shown(svg: str) -> list[str]:
    """The text of a picture, piece by piece: versions of rich draw it differently."""
    texts = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return ["".join(text.itertext()).replace("\xa0", " ").rstrip() for text in texts]


def _picture_is_stale() -> bool:
    if not PICTURE.is_file():
        return True
    return shown(PICTURE.read_text(encoding="utf-8")) != shown(picture())


def _changes(path: Path, old: str, new: str) -> str:
    name = str(path.relative_to(ROOT))
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), name, "generated", lineterm="")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes what is out of date, or with --check tells it and returns 1."""
    parser = argparse.ArgumentParser(description="Write the generated parts of the documentation.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if out of date")
    check = parser.parse_args(arguments).check
    stale = 0
    for path in pages():
        old = path.read_text(encoding="utf-8")
        new = with_outputs(with_sections(old))
        if new != old:
            stale += 1
            print(_changes(path, old, new))
            if not check:
                path.write_text(new, encoding="utf-8")
    if _picture_is_stale():
        stale += 1
        print(f"{PICTURE.relative_to(ROOT)}: out of date")
        if not check:
            PICTURE.write_text(picture(), encoding="utf-8")
    if json_schema.SCHEMA.read_text(encoding="utf-8") != json_schema.schema_text():
        stale += 1
        print(f"{json_schema.SCHEMA.relative_to(ROOT)}: out of date")
        if not check:
            json_schema.SCHEMA.write_text(json_schema.schema_text(), encoding="utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
