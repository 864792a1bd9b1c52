"""Colours of the app, light and dark: those of the HTML report, and one a category of events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Theme = Literal["light", "dark"]

#: The variables of the report's style sheet, so that app and report look alike.
COLOURS: Mapping[Theme, Mapping[str, str]] = {
    "light": {
        "paper": "#fff", "card": "#f6f8fa", "line": "#d8dee4", "ink": "#1f2328", "dim": "#57606a",
        "link": "#0a58b0", "compute": "#3b6fb6", "comm": "#8a7fc0", "exposed": "#d9601a",
        "copy": "#2f8f83", "idle": "#c8ced6", "mark": "#1f2328",
        "high": "#b42318", "medium": "#8f4700", "low": "#57606a", "ok": "#1a6b34",
    },
    "dark": {
        "paper": "#0f1419", "card": "#171d24", "line": "#2c343d", "ink": "#e6edf3",
        "dim": "#9aa5b1", "link": "#7fb2f0", "compute": "#5a8fd6", "comm": "#8d84cc",
        "exposed": "#ee7a33", "copy": "#45b3a4", "idle": "#46505b", "mark": "#fff",
        "high": "#ff8f85", "medium": "#f0a860", "low": "#9aa5b1", "ok": "#5cc47c",
    },
}  # fmt: skip

#: Category of the timeline -> its colour by theme. Compute is blue to green, so that what is not
#: compute (violet, orange, red) stands out.
PALETTE: Mapping[str, Mapping[Theme, str]] = {
    name: {"light": light, "dark": dark}
    for name, light, dark in (
        ("step", "#8b97a5", "#66727f"),
        ("gemm", "#3b6fb6", "#5a8fd6"),
        ("attention", "#27508c", "#3f6cb4"),
        ("convolution", "#5c6bc0", "#7885da"),
        ("norm", "#3f8fb0", "#4fa6c9"),
        ("softmax", "#2e7d9a", "#3d90b0"),
        ("elementwise", "#7fb0de", "#8dbdea"),
        ("reduction", "#6f93bd", "#7ea3ce"),
        ("optimizer", "#4f9a6b", "#5db07c"),
        ("embedding", "#86a94e", "#98bd5c"),
        ("migraphx", "#4a7f8c", "#5b95a3"),
        ("triton", "#5f8f3e", "#76a852"),
        ("other", "#8fa3b8", "#7488a0"),
        ("communication", "#8a7fc0", "#8d84cc"),
        ("exposed_wait", "#b3261e", "#e5534b"),
        ("exposed_transfer", "#d9601a", "#ee7a33"),
        ("exposed_unmatched", "#e0a878", "#c9925e"),
        ("copy", "#2f8f83", "#45b3a4"),
        ("host_launch", "#7d8590", "#848d97"),
        ("host_sync", "#b08800", "#d4a72c"),
        ("host_annotation", "#c3ccd6", "#46505b"),
        ("host_other", "#a9b4bf", "#5a646f"),
        ("compute", "#3b6fb6", "#5a8fd6"),
    )
}


def style_variables() -> str:
    """The colours as variables of a style sheet: the system's theme unless one was chosen."""
    light, dark = (_variables(theme) for theme in ("light", "dark"))
    return (
        f":root{{{light}}}"
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}"
        f"@media screen{{:root[data-theme=dark]{{{dark}}}}}"
    )


def _variables(theme: Theme) -> str:
    colours = "".join(f"--{name}:{colour};" for name, colour in COLOURS[theme].items())
    return f"color-scheme:{theme};{colours}"
