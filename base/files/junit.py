"""A report in JUnit's XML, as the servers of CI read it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree

_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_COUNTS = (("failure", "failures"), ("error", "errors"), ("skipped", "skipped"))


@dataclass(frozen=True)
class Case:
    """One test case. `element` is what came of it, None if it passed; `kind` says so in words.

    `details` are lines below the sentence, of a failure and an error.
    """

    name: str
    sentence: str
    element: Literal["failure", "error", "skipped"] | None = None
    kind: str = ""
    details: Sequence[str] = ()


def as_xml(name: str, suites: Sequence[tuple[str, Sequence[Case]]]) -> bytes:
    """The file's content: each suite with its name and cases. What XML cannot hold is `?`."""
    root = ElementTree.Element("testsuites", name=name)
    for title, cases in suites:
        suite = ElementTree.SubElement(root, "testsuite", name=_plain(title), tests=str(len(cases)))
        for element, counted in _COUNTS:
            suite.set(counted, str(sum(case.element == element for case in cases)))
        suite.extend(_case(title, case) for case in cases)
    ElementTree.indent(root)
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _case(title: str, case: Case) -> ElementTree.Element:
    made = ElementTree.Element("testcase", classname=_plain(title), name=_plain(case.name))
    if case.element is None:
        ElementTree.SubElement(made, "system-out").text = _plain(case.sentence)
        return made
    element = ElementTree.SubElement(made, case.element, message=_plain(case.sentence))
    if case.element != "skipped":
        element.set("type", case.kind)
        element.text = _plain("\n".join([case.sentence, *case.details]))
    return made


def _plain(text: str) -> str:
    return _NOT_XML.sub("?", text)
