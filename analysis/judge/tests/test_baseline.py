"""The baseline file: read as it was written, refused in a sentence."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import GateError
from analysis.judge import baseline as files
from analysis.judge import programs
from analysis.judge.checks import Cycles
from analysis.judge.tests.made_programs import baseline, measured, row

NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20)
LENGTHS = st.one_of(st.integers(0, 2**62), st.sampled_from(["open", "none"]))


@given(st.dictionaries(st.tuples(NAMES, NAMES), LENGTHS, max_size=8))
def test_toml_has_what_was_written(lengths: dict[tuple[str, str], Cycles]) -> None:
    (entry,) = tomllib.loads(files.as_text(baseline(lengths)))["entry"]
    read = entry.get("functions", {})
    assert {(name, kind): value for name, kinds in read.items() for kind, value in kinds.items()} == lengths


def test_a_baseline_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "b" / "masks.toml"
    subject = measured(row("std::f(int)", "primask", 3), row("main", "handler", 9, open=True))
    made = files.made(path, "masks", {"any": "12us"}, [programs.entry(subject)])
    path.parent.mkdir()
    files.write(made)
    assert files.read(path, "masks") == made
    assert made.entry[0].functions == {"main": {"handler": "open"}, "std::f(int)": {"primask": 3}}


def test_rows_are_in_the_order_of_their_names() -> None:
    subject = measured(row("b", "primask", 1), row("a", "handler", 2), row("b", "basepri 0x50", 3))
    text = files.as_text(files.made(Path("b"), "masks", {}, [programs.entry(subject)]))
    assert text.endswith(
        '[entry.functions.a]\nhandler = 2\n\n[entry.functions.b]\n"basepri 0x50" = 3\nprimask = 1\n'
    )


HEAD = 'schema = 3\ncommand = "masks"\n[[entry]]\n[entry.settings]\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEAD.replace("3", "4"), "schema"),
        (
            HEAD.replace("3", '2\nmade_by = "Tailscope 0"'),
            "schema must be 3, not 2: Tailscope 0 wrote the file",
        ),
        (HEAD.replace("masks", "gate"), "entry[0] is none of the command gate"),
        (
            HEAD.replace("masks", "latency"),
            "is a baseline of latency, not of masks; name another file, or delete",
        ),
        (HEAD + "[entry.functions.f]\nprimask = -1\n", "b.toml: entry[0].functions.f.primask"),
        (HEAD + '[entry.functions.f]\nprimask = "shut"\n', "functions.f.primask"),
        (HEAD + "[entry.functions]\nf = 3\n", "functions.f must be a table"),
        (HEAD + "[entry.function.f]\n", "function"),
        ("schema = 1\n[[entry]]\n", "schema must be 3, not 1: another version of Tailscope wrote the file"),
        ("no toml", "b.toml:1"),
    ],
)
def test_a_damaged_file_is_refused_in_a_sentence(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "b.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(GateError) as caught:
        files.read(path, "masks")
    assert words in str(caught.value) and "\n" not in str(caught.value)
