"""What a stranger's text may not do: command a terminal, or pass for another text."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import RootModel

from base.files.documents import read_json
from base.files.printable import printable, printable_lines, printable_values

COMMANDS = {
    "\x1b[31mred\x1b[0m": r"\x1b[31mred\x1b[0m",
    "\x1b]0;a title\x07": r"\x1b]0;a title\x07",
    "\x9b2J": r"\x9b2J",
    "one\rtwo\nAs good as the baseline.": r"one\rtwo\nAs good as the baseline.",
    "a\u202egpj.exe": r"a\u202egpj.exe",
    "plain, µ and 日本": "plain, µ and 日本",
}


@pytest.mark.parametrize(("text", "shown"), COMMANDS.items())
def test_what_is_hidden_is_told(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text())
def test_nothing_is_left_that_is_no_character_to_see(text: str) -> None:
    kinds = {unicodedata.category(character) for character in printable(text)}
    assert not kinds & {"Cc", "Zl", "Zp"}
    assert {it for it in printable_lines(text) if unicodedata.category(it) == "Cc"} <= {"\n", "\t"}


def test_texts_and_keys_of_a_document_come_so(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    for written in (json.dumps({"\x1b": ["\n", {"a": "\x9b"}]}), '{"\\u001b": ["\\n", {"a": "\x9b"}]}'):
        path.write_text(written, encoding="utf-8")
        assert read_json(path, RootModel[object]).root == {r"\x1b": [r"\n", {"a": r"\x9b"}]}
    assert printable_values([1, None, True, 0.5]) == [1, None, True, 0.5]
