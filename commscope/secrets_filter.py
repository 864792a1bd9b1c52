"""Text of logs without what may be secret: passwords, tokens, keys, values of variables."""

from __future__ import annotations

import re

from commscope.collect.host_facts import is_allowed

#: Stands for what is hidden.
HIDDEN = "***"
#: No more of a text is looked at, and nothing behind it is shown.
MOST_LOOKED_AT = 64 << 10

#: A value, in quotes or up to a blank; one whose closing quote is missing goes on to the end.
_VALUE = r"""(?:\\{0,4}"[^"\\]*(?:\\.[^"\\]*)*"?|\\{0,4}'[^'\\]*(?:\\.[^'\\]*)*'?|[^\s"'][^\s]*)"""
_SET = re.compile(r"\b([A-Za-z_]\w{0,79})( set (?:by \w{1,20} )?to )(\S.*)", re.DOTALL)
_VARIABLE = re.compile(rf"\b([A-Z][A-Z0-9_]{{2,79}})(=)({_VALUE})")
#: A name that sounds like a secret, and its value behind a sign or a blank.
_NAMED = re.compile(
    r"((?i:token|secret|passw|passphrase|pass(?=[\"']?\s{0,8}[:=])|pwd|credential|signature"
    r"|(?:api|access|private)[_-]?key|authorization|bearer|(?<![a-z0-9])pw(?![a-z0-9])"
    r"|(?<=[?&])sig(?==))[\w-]{0,40}(?![\w-])\\{0,4}[\"']?(?:\s{0,8}[:=]\s{0,8}|\s{1,8})"
    rf"(?i:(?:bearer|basic|digest|token)\s)?){_VALUE}"
)
#: Keys and tokens by how they begin, and who logs in by an address.
_KNOWN = re.compile(
    r"(?<![A-Za-z0-9])(?:hf_|gh[oprsu]_|github_pat_|glpat-|sk-|xox[a-z]-|AKIA|ASIA|AIza|npm_|pypi-"
    r"|eyJ)[\w.-]{8,}|(?<=://)[^\s/@]{1,400}(?=@)"
)
#: What may be a key or a token by its letters alone, but no part of the path of a file.
_LONG = re.compile(r"(?<![\w/.+-])[A-Za-z0-9+_-][A-Za-z0-9+/_-]{31,}=*(?!\.?[\w/+-])")
#: One of these is in what ``_NAMED`` finds, for which it need not be looked for elsewhere.
_SIGNS = ("token", "secret", "pass", "pw", "credential", "signature", "key", "authorization",
          "bearer", "sig=")  # fmt: skip
#: As words are written: what was drawn by lot has shorter ones.
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_MEAN_LENGTH_OF_WORDS = 3.3


def without_secrets(text: str) -> str:
    """The text without what may be secret; what is behind ``MOST_LOOKED_AT`` is left out."""
    if len(text) > MOST_LOOKED_AT:
        # A word that is cut may not be known any more as what it is.
        text = text[:MOST_LOOKED_AT].rpartition(" ")[0] or HIDDEN
    if " set " in text:
        text = _SET.sub(_unless_allowed, text)
    if "=" in text:
        text = _VARIABLE.sub(_unless_allowed, text)
    small = text.lower()
    if any(sign in small for sign in _SIGNS):
        text = _NAMED.sub(rf"\1{HIDDEN}", text)
    return _LONG.sub(_unless_words, _KNOWN.sub(HIDDEN, text))


def _unless_allowed(found: re.Match[str]) -> str:
    name, between, _ = found.groups()
    return found[0] if is_allowed(name) else f"{name}{between}{HIDDEN}"


def _unless_words(found: re.Match[str]) -> str:
    """Hides letters of both sizes with digits in short turns, as base64 has them."""
    text = found[0]
    if "/" in text and ("_" in text or "-" in text):  # no alphabet of base64 has both
        return text
    words = _WORD.findall(text)
    kinds = (str.isupper, str.islower, str.isdigit)
    is_mixed = all(any(map(kind, text)) for kind in kinds)
    is_short = sum(map(len, words)) < _MEAN_LENGTH_OF_WORDS * len(words)
    return HIDDEN if is_mixed and is_short else text
