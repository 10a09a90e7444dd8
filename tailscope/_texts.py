"""Texts of strangers, so that they can be shown.

A control character commands a terminal, and one that changes the direction of writing makes a text
look like another one. Each is told as Python writes it: `\\x1b`.
"""

from __future__ import annotations

import re
from typing import Any

HIDDEN = "\\x00-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069"
"""As a class of a regular expression has them."""
_HIDDEN = re.compile(f"[{HIDDEN}]")


def told(found: re.Match[str]) -> str:
    """What was found, as Python writes it."""
    return found[0].encode("unicode_escape").decode()


def printable(text: str) -> str:
    """`text` as one line, of which nothing is hidden."""
    return _HIDDEN.sub(told, text)


def printable_values(values: Any) -> Any:
    """`values`, as JSON has them, with all their texts and keys printable."""
    if isinstance(values, str):
        return printable(values)
    if isinstance(values, list):
        return [printable_values(one) for one in values]
    if isinstance(values, dict):
        return {printable(key): printable_values(one) for key, one in values.items()}
    return values
