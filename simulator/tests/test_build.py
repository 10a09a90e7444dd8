"""The sentences for a virtual Nucleo that cannot be built."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator import build as simulator
from simulator.tests.stand_in import stand_in


@pytest.fixture(autouse=True)
def _nothing_built_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulator, "_BUILT", {})


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("echo 'cargo 1.84.9 (x)'", "1.84.9 .* too old .*1.85"),
        ("echo unheard of", "does not tell its version"),
        ("[ $1 = --version ] && echo 'cargo 1.85.0' || { echo 'error: no luck' >&2; exit 101; }", "no luck"),
    ],
)
def test_a_cargo_that_cannot_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, words: str
) -> None:
    stand_in(tmp_path, body).rename(tmp_path / "cargo")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    with pytest.raises(simulator.BuildError, match=words):
        simulator.build()


def test_a_missing_cargo_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(simulator.BuildError, match=r"cargo is missing.*apt-get install"):
        simulator.build()


def test_an_installed_program_says_in_one_sentence_that_it_has_no_desk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(simulator, "INSTALLED", True)
    assert simulator.build() == simulator.FOLDER / simulator.NAME
    with pytest.raises(simulator.BuildError, match=r"^[^.]*no emulated desk[^.]*\.$"):
        simulator.build(name=simulator.DESK)


def test_a_program_that_says_nothing_has_no_version(tmp_path: Path) -> None:
    assert simulator.version(stand_in(tmp_path, "echo virtual-nucleo 7.1")) == "7.1"
    assert simulator.version(stand_in(tmp_path, "exit 1")) == "unknown"
