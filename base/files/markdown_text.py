"""Texts of strangers in a page of Markdown, none of them taken as Markdown or HTML."""

from __future__ import annotations


def line(text: str) -> str:
    """The text in one line."""
    return " ".join(text.split())


def cell(text: str) -> str:
    """The text in a cell of a table."""
    for sign in "\\`*_|[]<>":
        text = text.replace(sign, {"<": "&lt;", ">": "&gt;"}.get(sign, f"\\{sign}"))
    return line(text)
