"""A key is found on the line where a reader sees it, whatever stands between."""

from __future__ import annotations

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from base.files.lines import JSON_CHARACTERS_MAX, Place, json_line, toml_line

TOML = '''\
# [commented] = 1
title = "x" # = [
[boards.nucleo]
note = """
[boards.fake]
wrong = 1 \\""" still the text"""
lists = [
  "]", # ]
  { kind = "=" },
]
"quoted.key" = 1
dotted.below.it = 2

[ boards . "two words" ]
literal = \'\'\'
[no] = 'x'\'\'\'
key = 3
[[runs]]
name = "first"
[runs.inner]
deep = 1
[[runs]]
name = "second"
[[runs.parts]]
size = 1
[[runs.parts]]
size = 2
'''


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (("title",), 2),
        (("boards",), 3),
        (("boards", "nucleo"), 3),
        (("boards", "nucleo", "note"), 4),
        (("boards", "nucleo", "wrong"), 3),
        (("boards", "nucleo", "lists", 1, "kind"), 7),
        (("boards", "nucleo", "quoted.key"), 11),
        (("boards", "nucleo", "dotted", "below", "it"), 12),
        (("boards", "two words"), 14),
        (("boards", "two words", "key"), 17),
        (("boards", "two words", "missing"), 14),
        (("runs", 0, "name"), 19),
        (("runs", 0, "inner", "deep"), 21),
        (("runs", 1), 22),
        (("runs", 1, "name"), 23),
        (("runs", 1, "parts", 0, "size"), 25),
        (("runs", 1, "parts", 1, "size"), 27),
        (("elsewhere",), None),
        ((), None),
    ],
)
def test_toml(place: Place, line: int | None) -> None:
    assert toml_line(TOML, place) == line
    assert toml_line(TOML.replace("\n", "\r\n"), place) == line


VALUES = st.sampled_from(
    [
        "1",
        '"a = [b"',
        "'\"'",
        '"""\n[x]\ny = 1\n"""',
        "'''\n\"\"\"\n'''",
        '""""quotes at both ends"""""',
        "[\n1, # [\n[2],\n]",
        '{ a = "}", b.c = [1] }',
        "1979-05-27T07:32:00Z",
        '""',
    ]
)
KEYS = st.sampled_from(['"="', "'#'", "plain", '"a.b"', "x . y", '"]"', "under_score", '"\\""'])
BETWEEN = st.sampled_from(["", "# note", '  # ] = """', "\t"])


@given(st.lists(st.tuples(st.booleans(), st.dictionaries(KEYS, st.tuples(VALUES, BETWEEN)))))
def test_each_key_of_any_toml(tables: list[tuple[bool, dict[str, tuple[str, str]]]]) -> None:
    text, expected = "", {}
    for number, (array, keys) in enumerate(tables):
        text += f"[[t{number}]]\n" if array else f"[t{number}]\n"
        for key, (value, between) in keys.items():
            place: Place = (f"t{number}", 0) if array else (f"t{number}",)
            ((outer, inner),) = tomllib.loads(f"{key} = 0").items()
            place = (*place, outer, *(inner if isinstance(inner, dict) else ()))
            text += between + "\n"
            expected[place] = text.count("\n") + 1
            text += f" {key} = {value} {between}\n"
    tomllib.loads(text)
    assert {place: toml_line(text, place) for place in expected} == expected


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ((), 1),
        (("a",), 2),
        (("a", 1), 4),
        (("a", 1, "deep"), 4),
        (("a", 7), 2),
        (("b", "c"), 8),
        (("b", "d"), 7),
        (("nowhere",), 1),
        (("twice",), 11),
    ],
)
def test_json(place: Place, line: int) -> None:
    text = (
        '{\n\t"a": [\n1,\n{"deep":"}\\""}\n],\n"twice": 0,\n'
        '"b": {\n  "\\u0063" : null},\n"e": {},\n"f": [],\n"twice": 1}'
    )
    json.loads(text)
    assert json_line(text, place) == line


def test_a_long_json_is_not_searched() -> None:
    text = '{"a":\n"' + "x" * (JSON_CHARACTERS_MAX - 9) + '"}'
    assert (len(text), json_line(text, ("a",))) == (JSON_CHARACTERS_MAX, 1)
    assert json_line(text + " ", ("a",)) is None


LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
TREES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


@given(TREES)
def test_each_value_of_any_json(tree: object) -> None:
    rows: list[Place] = []

    def write(value: object, place: Place) -> None:
        """To which place each line belongs that json.dumps with indent=0 writes."""
        rows.append(place)
        entries: list[tuple[str | int, object]] = []
        if isinstance(value, dict):
            entries = list(value.items())
        elif isinstance(value, list):
            entries = list(enumerate(value))
        for key, item in entries:
            write(item, (*place, key))
        if entries:
            rows.append(place)  # the closing bracket

    write(tree, ())
    text = json.dumps(tree, indent=0)
    assert text.count("\n") + 1 == len(rows)
    for place in rows:
        assert json_line(text, place) == rows.index(place) + 1
