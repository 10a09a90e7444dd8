"""Documents that are read, and texts that are written for others."""

from __future__ import annotations

import html
import json
import tomllib
from pathlib import Path
from typing import Annotated, Literal
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from pydantic import Field, model_validator

from base.files import formats as junit
from base.files import formats as toml_text
from base.files.complaints import WrongValueError, expecting
from base.files.documents import (
    DocumentError,
    Table,
    open_toml,
    read_json,
)
from base.files.errors import CaptureError, TailscopeError
from base.files.formats import Case, cell
from tests.sentences import Sentences


class Serial(Table):
    kind: Literal["serial"]
    port: Annotated[str, expecting("a word in quotes")]


class Port(Table):
    port: str


class Probe(Table):
    kind: Literal["probe"]
    target: str = ""


class Bench(Table):
    rate_hz: Annotated[int, Field(gt=0), expecting("a positive whole number")]
    scale: Annotated[float, Field(ge=0, le=1)] = 1.0
    line: Annotated[Serial | Probe, Field(discriminator="kind")]
    boards: dict[str, Probe] = Field(default={})
    parts: list[Probe] = Field(default=[])

    @model_validator(mode="after")
    def _few(self) -> Bench:
        if len(self.boards) > 2:
            raise WrongValueError("has too many boards", "boards", remedy="drop some")
        return self


GOOD = """\
rate_hz = 24_000_000
scale = 0.5

[line]
kind = "serial"
port = "pty"

[boards.nucleo]
kind = "probe"

[[parts]]
kind = "probe"
"""
LINE = '[line]\nkind = "serial"\nport = "pty"\n'


def file(folder: Path, text: str, name: str = "bench.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def said(path: Path, error: TailscopeError) -> str:
    """The message without the folder of the test."""
    return str(error).removeprefix(f"{path.parent}/")


def test_what_is_as_it_should_be_is_read(tmp_path: Path) -> None:
    bench = open_toml(file(tmp_path, GOOD)).check(Bench)
    assert (bench.rate_hz, bench.scale, bench.line.kind) == (24_000_000, 0.5, "serial")
    assert list(bench.boards) == ["nucleo"]
    same = read_json(file(tmp_path, json.dumps(bench.model_dump()), "bench.json"), Bench)
    assert same == bench


def test_a_mark_of_byte_order_is_no_part_of_the_text(tmp_path: Path) -> None:
    assert open_toml(file(tmp_path, "\ufeff" + GOOD)).check(Bench).scale == 0.5


PART = '[[parts]]\nkind = "probe"'
BOARD = '[boards.nucleo]\nkind = "probe"'
FAULTS = (
    *(("24_000_000", value) for value in ("'fast'", "true", "0", "-0x" + "f" * 5000, "9" * 5000)),
    *(("0.5", value) for value in ("2", "nan", "'1'", "0x" + "f" * 5000, "= 5", "[" * 5000)),
    *(("scale =", "scael ="), ("rate_hz", "# rate_hz"), ("[line]", "[lime]"), ("port =", "# port =")),
    *(('port = "pty"', line) for line in ("port = ''\nspeed = 5", "port = 5")),
    *(('kind = "serial"', line) for line in ('kind = "telnet"', "kind = 5", "")),
    *((LINE, text) for text in ("line = 5\n", "line = []\n", "")),
    (BOARD, "[boards]\n'a b' = 7"),
    (PART, f'{PART}\n[[parts]]\nkind = "serial"'),
    ("[[parts]]", "[boards.b]\nkind = 'probe'\n[boards.c]\nkind = 'probe'\n[[parts]]"),
)


def test_a_fault_in_toml_gets_a_sentence(tmp_path: Path, sentences: Sentences) -> None:
    for old, new in FAULTS:
        assert old in GOOD
        path = file(tmp_path, GOOD.replace(old, new, 1))
        with sentences.raised(CaptureError):
            open_toml(path, CaptureError).check(Bench)


def test_a_fault_in_json_gets_a_sentence(tmp_path: Path, sentences: Sentences) -> None:
    for text in (
        *("[1]", '{\n"kind": "probe",\n"target": null}', '{"kind": "probe", "target": "\\ud83d"}'),
        *('{"\\uD83D\\ude00": 1, "kind": "probe"}', '{\n"kind": NaN}', '{"kind": -Infinity}'),
        *('{"kind": 1e999}', '{\n"kind": "probe"', "[" * 100_000, "", '{"kind": "probe",\n"kind": "serial"}'),
        *('{"kind": "probe", "target": {"a": 1, "b": 2, "a": 1}}',),
        '{"kind": "probe", "target": [{"a": 1, "\\u0061": 2}]}',
    ):
        path = file(tmp_path, text, "run.json")
        with sentences.raised(DocumentError):
            read_json(path, Probe, remedy="run it again")


def test_a_part_is_checked_where_it_stands(tmp_path: Path) -> None:
    path = file(tmp_path, GOOD)
    document = open_toml(path, CaptureError)
    assert document.check(Serial, "line") == Serial(kind="serial", port="pty")
    with pytest.raises(CaptureError) as refusal:
        document.check(Probe, "line")
    assert said(path, refusal.value) == "bench.toml: line.port is unknown; the keys here are kind, target."
    assert said(path, document.complain("Too fast.")) == "bench.toml: Too fast."


def test_a_table_that_is_not_there_counts_as_empty(tmp_path: Path) -> None:
    document = open_toml(file(tmp_path, 'title = "x"'))
    with pytest.raises(DocumentError, match=r"bench\.toml: serial\.port is missing; add it\.$"):
        document.check(Port, "serial")


def one_sentence(message: str) -> bool:
    return message.isprintable() and message[-1] in ".?" and len(message) < 1000


KEYS = st.sampled_from(["rate_hz", "scale", "line", "boards", "parts", "kind", "port", "target"]) | st.text()
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["serial", "probe"])
)
TREES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner))
NEARLY = st.fixed_dictionaries(
    {"rate_hz": st.integers(-1, 2) | LEAVES},
    optional={
        "scale": LEAVES,
        "line": st.fixed_dictionaries({"kind": st.sampled_from(["serial", "probe"]) | TREES}) | TREES,
        "boards": TREES | st.dictionaries(KEYS, st.fixed_dictionaries({"kind": st.just("probe")})),
        "parts": st.lists(TREES | st.fixed_dictionaries({"kind": st.just("probe")})),
    },
)
FRAGMENTS = st.sampled_from(
    [*GOOD.split(), "=", "[[", "]]", "{", "}", '"""', "'''", "\\", "inf", "\n", ",", "."]
)


@given(TREES | NEARLY)
def test_no_json_ends_in_another_exception(tmp_path_factory: pytest.TempPathFactory, tree: object) -> None:
    path = file(tmp_path_factory.getbasetemp(), json.dumps(tree), "hostile.json")
    try:
        read_json(path, Bench)
    except DocumentError as error:
        assert one_sentence(str(error))


@given(st.integers(0, len(GOOD)), st.integers(0, 20), st.lists(FRAGMENTS | st.text(max_size=5), max_size=6))
def test_no_slip_in_toml_ends_in_another_exception(
    tmp_path_factory: pytest.TempPathFactory, at: int, drop: int, put: list[str]
) -> None:
    text = GOOD[:at] + "".join(put) + GOOD[at + drop :]
    path = tmp_path_factory.getbasetemp() / "hostile.toml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        open_toml(path).check(Bench)
    except DocumentError as error:
        assert one_sentence(str(error))


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
