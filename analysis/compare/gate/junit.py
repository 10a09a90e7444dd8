"""What the gate says as JUnit XML, which Jenkins and GitLab read: a test case a run and quantity.

The elements are those of the schema that Jenkins publishes for its xUnit plugin
(https://github.com/jenkinsci/xunit-plugin, junit-10.xsd).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from analysis.compare.gate.outcome import Judged, Report

_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ELEMENTS = {"worse": "failure", "cannot say": "error", "not judged": "skipped"}


def as_xml(report: Report) -> bytes:
    """The file's content."""
    root = ElementTree.Element("testsuites", name="tailscope gate")
    for run in report.runs:
        cases = list(_cases(run))
        suite = ElementTree.SubElement(root, "testsuite", name=_plain(run.name), tests=str(len(cases)))
        for kind, counted in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            suite.set(counted, str(sum(case.find(kind) is not None for case in cases)))
        suite.extend(cases)
    ElementTree.indent(root)
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _cases(run: Judged) -> Iterator[ElementTree.Element]:
    if run.refusal:
        yield _case(run, "run", "cannot say", run.refusal, [])
    for check in run.checks:
        more = [f"{check.changed:,} changed in all"] if check.changed > len(check.named) else []
        yield _case(run, check.quantity, check.state, check.sentence, [*check.named, *more, *run.notes])


def _case(run: Judged, quantity: str, state: str, sentence: str, details: list[str]) -> ElementTree.Element:
    case = ElementTree.Element("testcase", classname=_plain(run.name), name=_plain(quantity))
    if state in _ELEMENTS:
        found = ElementTree.SubElement(case, _ELEMENTS[state], message=_plain(sentence))
        if state != "not judged":
            found.set("type", state)
            folders = ", ".join(run.folders)
            found.text = _plain("\n".join([sentence, *details, folders]))
    else:
        ElementTree.SubElement(case, "system-out").text = _plain(sentence)
    return case


def _plain(text: str) -> str:
    return _NOT_XML.sub("?", text)
