"""Texts of strangers, so that they can be shown: tailscope/_texts.py, and the same of whole pages.

A control character commands a terminal: it can rewrite what stands above, set a title, or fill the
clipboard. Ends of lines can make a text look like a line of ours.
"""

from __future__ import annotations

import re

from tailscope._texts import HIDDEN, printable, printable_values, told

__all__ = ["HIDDEN", "printable", "printable_lines", "printable_values"]

_HIDDEN_IN_LINES = re.compile(f"(?![\\n\\t])[{HIDDEN}]")


def printable_lines(text: str) -> str:
    """`text` of which nothing is hidden, which may have several lines, and tabs."""
    return _HIDDEN_IN_LINES.sub(told, text)
