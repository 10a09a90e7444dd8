"""Texts of strangers in Markdown, as a parser of Markdown shows them."""

from __future__ import annotations

import html

import pytest
from markdown_it import MarkdownIt

from base.files.markdown_text import cell

PARSER = MarkdownIt("commonmark").enable("table")


@pytest.mark.parametrize("text", ["a|b", "*x* `y` _z_", "<b>", "[here](there)", "operator\\", "two\nlines"])
def test_a_cell_shows_the_text(text: str) -> None:
    page = PARSER.render(f"| a |\n|---|\n| {cell(text)} |\n")
    shown = page.partition("<td>")[2].partition("</td>")[0]
    assert html.unescape(shown) == " ".join(text.split())
    assert "<" not in shown
