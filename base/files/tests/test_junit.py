"""JUnit's XML, read by Python's own parser."""

from __future__ import annotations

from xml.etree import ElementTree

from base.files import junit
from base.files.junit import Case

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
