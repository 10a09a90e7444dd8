"""Texts of strangers, so that they can be shown.

A control character commands a terminal: it can rewrite what stands above, set a title, or fill the
clipboard. Characters that change the direction of writing, and ends of lines, make a text look like
another one, or like a line of ours. Each is told as Python writes it: `\\x1b`.
"""

from __future__ import annotations

import re
from typing import Any

HIDDEN = "\\x00-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069"
"""As a class of a regular expression has them."""
_HIDDEN = re.compile(f"[{HIDDEN}]")
_HIDDEN_IN_LINES = re.compile(f"(?![\\n\\t])[{HIDDEN}]")


def printable(text: str) -> str:
    """`text` as one line, of which nothing is hidden."""
    return _HIDDEN.sub(_told, text)


def printable_lines(text: str) -> str:
    """The same of a text that may have several lines, and tabs."""
    return _HIDDEN_IN_LINES.sub(_told, text)


def printable_values(values: Any) -> Any:
    """`values`, as JSON has them, with all their texts and keys printable."""
    if isinstance(values, str):
        return printable(values)
    if isinstance(values, list):
        return [printable_values(one) for one in values]
    if isinstance(values, dict):
        return {printable(key): printable_values(one) for key, one in values.items()}
    return values


def _told(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()
