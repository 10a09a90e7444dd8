"""Texts of strangers, so that they can be shown.

A control character commands a terminal: it can rewrite what stands above, set a title, or fill the
clipboard. One that changes the direction of writing makes a text look like another one, and ends of
lines make it look like a line of ours. Each is shown as Python writes it: `\\x1b`.
"""

from __future__ import annotations

import re
from typing import Any

HIDDEN = "\\x00-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069"
"""As a class of a regular expression has them."""
_HIDDEN = re.compile(f"[{HIDDEN}]")
_HIDDEN_IN_LINES = re.compile(f"(?![\\n\\t])[{HIDDEN}]")


def _escaped(match: re.Match[str]) -> str:
    """The character as Python writes it."""
    return match[0].encode("unicode_escape").decode()


def printable(text: str) -> str:
    """`text` as one line, of which nothing is hidden."""
    return _HIDDEN.sub(_escaped, text)


def printable_values(values: Any) -> Any:
    """`values`, as JSON has them, with all their texts and keys printable."""
    if isinstance(values, str):
        return printable(values)
    if isinstance(values, list):
        return [printable_values(value) for value in values]
    if isinstance(values, dict):
        return {printable(key): printable_values(value) for key, value in values.items()}
    return values


def printable_lines(text: str) -> str:
    """`text` of which nothing is hidden, which may have several lines, and tabs."""
    return _HIDDEN_IN_LINES.sub(_escaped, text)
