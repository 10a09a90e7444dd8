"""The baseline file: read as it was written, refused in a sentence."""

from __future__ import annotations

import tomllib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import GateError
from analysis.judge import baseline as files
from analysis.judge import programs
from analysis.judge.checks import Cycles
from analysis.judge.tests.made_programs import baseline, measured, row
from tests.sentences import Sentences

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


def test_a_damaged_file_is_refused_in_a_sentence(tmp_path: Path, sentences: Sentences) -> None:
    path = tmp_path / "b.toml"
    for text in (
        *(HEAD.replace("3", schema) for schema in ("4", '2\nmade_by = "Tailscope 0"')),
        *(HEAD.replace("masks", command) for command in ("gate", "latency")),
        *(HEAD + f"[entry.functions.f]\nprimask = {value}\n" for value in ("-1", '"shut"')),
        *(HEAD + "[entry.functions]\nf = 3\n", HEAD + "[entry.function.f]\n", "schema = 1\n[[entry]]\n"),
        "no toml",
    ):
        path.write_text(text, encoding="utf-8")
        with sentences.raised(GateError):
            files.read(path, "masks")
