"""Texts that a command writes for others: JUnit's XML, as the servers of CI read it, TOML, and
Markdown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

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
    from xml.etree import ElementTree  # takes a while

    root = ElementTree.Element("testsuites", name=name)
    for title, cases in suites:
        suite = ElementTree.SubElement(root, "testsuite", name=_plain(title), tests=str(len(cases)))
        for element, counted in _COUNTS:
            suite.set(counted, str(sum(case.element == element for case in cases)))
        for case in cases:
            made = ElementTree.SubElement(suite, "testcase", classname=_plain(title), name=_plain(case.name))
            if case.element is None:
                ElementTree.SubElement(made, "system-out").text = _plain(case.sentence)
                continue
            outcome = ElementTree.SubElement(made, case.element, message=_plain(case.sentence))
            if case.element != "skipped":
                outcome.set("type", case.kind)
                outcome.text = _plain("\n".join([case.sentence, *case.details]))
    ElementTree.indent(root)
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _plain(text: str) -> str:
    return _NOT_XML.sub("?", text)


_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_LITERAL = re.compile(r"[^'\x00-\x09\x0b-\x1f\x7f]*\n")


def document(values: Mapping[str, object], within: str = "") -> str:
    """The text of a table: its values, then its tables and lists of tables, below their headings.

    A text of several lines stands as it is, where TOML's literal strings can hold it.
    """
    tables = {name: value for name, value in values.items() if _is_table(value)}
    text = "".join(f"{_key(name)} = {_value(values[name])}\n" for name in values if name not in tables)
    for name, value in tables.items():
        path = f"{within}{_key(name)}"
        for table in value if isinstance(value, list) else ():
            text += f"\n[[{path}]]\n{document(table, f'{path}.')}"
        if isinstance(value, Mapping):
            # A heading of nothing but tables below it says nothing.
            heading = "" if value and all(map(_is_table, value.values())) else f"\n[{path}]\n"
            text += heading + document(value, f"{path}.")
    return text


def _is_table(value: object) -> bool:
    return isinstance(value, Mapping) or (
        isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)
    )


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _text(name)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if not isinstance(value, str):
        return repr(value)
    return f"'''\n{value}'''" if _LITERAL.fullmatch(value) else _text(value)


def _text(value: str) -> str:
    """A basic string; JSON escapes what TOML does, but for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def line(text: str) -> str:
    """The text in one line."""
    return " ".join(text.split())


def cell(text: str) -> str:
    """The text in a cell of a table."""
    return line(re.sub(r"[\\`*_|[\]]", r"\\\g<0>", text).replace("<", "&lt;").replace(">", "&gt;"))
