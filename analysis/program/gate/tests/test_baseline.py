"""The baseline file: read as it was written, refused in a sentence."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import GateError
from analysis.program.gate import baseline as files
from analysis.program.gate.tests.made import baseline, measured, row

NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20)
LENGTHS = st.one_of(st.integers(0, 2**62), st.sampled_from(["open", "none"]))


@given(st.dictionaries(st.tuples(NAMES, NAMES), LENGTHS, max_size=8))
def test_toml_has_what_was_written(lengths: dict[tuple[str, str], files.Cycles]) -> None:
    read = tomllib.loads(files.as_text(baseline(lengths))).get("functions", {})
    assert {(name, kind): value for name, kinds in read.items() for kind, value in kinds.items()} == lengths


def test_a_baseline_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "b" / "masks.toml"
    found = measured(row("std::f(int)", "primask", 3), row("main", "handler", 9, open=True))
    made = files.of(found, path, "Tailscope 1", {"any": "12us"})
    path.parent.mkdir()
    files.write(made)
    assert files.read(path, "masks") == made
    assert made.lengths == {("std::f(int)", "primask"): 3, ("main", "handler"): "open"}


def test_rows_are_in_the_order_of_their_names() -> None:
    text = files.as_text(baseline({("b", "primask"): 1, ("a", "handler"): 2, ("b", "basepri 0x50"): 3}))
    assert text.endswith('[functions.a]\nhandler = 2\n\n[functions.b]\n"basepri 0x50" = 3\nprimask = 1\n')


HEAD = 'schema = 2\ncommand = "masks"\nmade_by = "T"\n[settings]\n'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (HEAD.replace("2", "3"), "schema"),
        (HEAD.replace("2", "1"), "schema must be 2, not 1: T wrote the file"),
        (
            HEAD.replace("masks", "latency"),
            "is a baseline of latency, not of masks; name another file, or delete",
        ),
        (HEAD + "[functions.f]\nprimask = -1\n", "b.toml: functions.f.primask"),
        (HEAD + '[functions.f]\nprimask = "shut"\n', "functions.f.primask"),
        (HEAD + "[functions]\nf = 3\n", "functions.f must be a table"),
        (HEAD + "[function.f]\n", "function"),
        ("schema = 1\n[[entry]]\n", "schema must be 2, not 1: another version of Tailscope wrote the file"),
        ("no toml", "b.toml:1"),
    ],
)
def test_a_damaged_file_is_refused_in_a_sentence(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "b.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(GateError) as caught:
        files.read(path, "masks")
    assert told in str(caught.value) and "\n" not in str(caught.value)
