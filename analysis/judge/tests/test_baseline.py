"""The baseline file: read as it was written, refused in a sentence."""

from __future__ import annotations

from pathlib import Path

from analysis.errors import GateError
from analysis.judge import baseline as files
from analysis.judge import programs
from analysis.judge.tests.made_programs import measured, row
from tests.sentences import Sentences


def test_a_baseline_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "b" / "masks.toml"
    subject = measured(row("std::f(int)", "primask", 3), row("main", "handler", 9, open=True))
    made = files.made(path, "masks", {"any": "12us"}, [programs.entry(subject)])
    path.parent.mkdir()
    files.write(made)
    assert files.read(path, "masks") == made
    assert made.entry[0].functions == {"main": {"handler": "open"}, "std::f(int)": {"primask": 3}}


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
