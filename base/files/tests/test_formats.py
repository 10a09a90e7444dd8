"""JUnit's XML, read by Python's own parser."""

from __future__ import annotations

import html
import tomllib
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from base.files import formats as junit
from base.files import formats as toml_text
from base.files.formats import Case, cell

CASES = [
    Case("good", "It is within."),
    Case("long", "It took <9> & more.", "failure", "worse", ["in main.c:3"]),
    Case("unknown", "It ended early.", "error", "cannot say"),
    Case("left out", "Nothing was measured.", "skipped"),
]


def test_each_case_says_what_came_of_it() -> None:
    (suite,) = ElementTree.fromstring(junit.as_xml("all", [("fw.elf", CASES)]))
    counts = [suite.get(name) for name in ("tests", "failures", "errors", "skipped")]
    assert counts == ["4", "1", "1", "1"]
    assert [case.get("name") for case in suite] == ["good", "long", "unknown", "left out"]
    assert [case[0].tag for case in suite] == ["system-out", "failure", "error", "skipped"]
    assert suite[1][0].get("message") == "It took <9> & more."
    assert suite[1][0].text == "It took <9> & more.\nin main.c:3"


def test_what_xml_cannot_hold_is_a_question_mark() -> None:
    (suite,) = ElementTree.fromstring(junit.as_xml("all", [("a\x1b\ud800", [Case("b\x00", "c\ufffe")])]))
    assert (suite.get("name"), suite[0].get("name"), suite[0][0].text) == ("a??", "b?", "c?")


# TOML has no text with half a pair, and no control characters but by an escape that JSON has too.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.one_of(st.booleans(), st.integers(-(2**62), 2**62), TEXTS, st.lists(TEXTS))


TABLES = st.recursive(
    st.dictionaries(TEXTS, VALUES),
    lambda inner: st.dictionaries(TEXTS, st.one_of(VALUES, inner, st.lists(inner, min_size=1))),
    max_leaves=6,
)


@given(TABLES)
def test_what_is_written_is_read_again(values: dict[str, object]) -> None:
    assert tomllib.loads(toml_text.document(values)) == values


PARSER = MarkdownIt("commonmark").enable("table")


@pytest.mark.parametrize("text", ["a|b", "*x* `y` _z_", "<b>", "[here](there)", "operator\\", "two\nlines"])
def test_a_cell_shows_the_text(text: str) -> None:
    page = PARSER.render(f"| a |\n|---|\n| {cell(text)} |\n")
    shown = page.partition("<td>")[2].partition("</td>")[0]
    assert html.unescape(shown) == " ".join(text.split())
    assert "<" not in shown
