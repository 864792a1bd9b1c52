"""What a file that no parser knows looks like, for whoever gave the wrong one."""

from __future__ import annotations

import re

_LOOKS = (
    (rb"\A\s*\Z", "empty"),
    (rb"\A\x89PNG\r\n", "a PNG image"),
    (rb"\A\xff\xd8\xff", "a JPEG image"),
    (rb"\A%PDF-", "a PDF document"),
    (rb"\APAR1", "a Parquet table"),
    (rb"\A(?:ARROW1|FEA1)", "an Arrow table"),
    (rb"\A\x89HDF\r\n", "an HDF5 file"),
    (rb"\ASQLite format 3\0", "an SQLite database"),
    (rb"\A\x7fELF", "a program or a library"),
    (rb"\A7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (rb"\A(?:\x04\x22\x4d\x18|\x1f\x9d)", "compressed in a way that is not supported"),
    (rb"\A\s*<", "an HTML or XML document"),
    (rb'\A(?:\xef\xbb\xbf)?\s*(?:\{\s*(?:["}]|\Z)|\[\s*[\[\]{"0-9-])', "JSON without trace events"),
    (rb'\A"[^"]*"\s*\Z', "JSON without trace events"),
    (rb"\A(?:[^\n,\0]+,)+[^\n,\0]+\r?\n(?:[^\n,\0]+,)+[^\n,\0]+(?:\n|\Z)", "a table (CSV)"),
    (rb"\A[^\0]*\Z", "text"),
)  # fmt: skip
_PATTERNS = tuple((re.compile(pattern), says) for pattern, says in _LOOKS)
_CONTROLS = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f]")


def looks_like(head: bytes, stored: int | None) -> str:
    """A few words on what the first bytes of a file show, such as ``a PNG image``.

    ``stored`` is the size of the file before it is unpacked; null where it is not known.
    """
    if not head and stored:
        return "empty once unpacked, so cut or damaged"
    found = next((says for pattern, says in _PATTERNS if pattern.match(head)), "binary data")
    return "binary data" if found == "text" and _CONTROLS.search(head) else found
