"""Mutants are drawn from code of known changes, and tried against tests that notice known ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from cosmic_ray.config import load_config

from base.files.documents import read_toml
from base.paths import ROOT
from quality.mutants import mutants
from quality.mutants.mutants import MutantError, Report, as_text

CODE = '''"""Code."""


def at_least(value: int | None, limit: int) -> bool:
    """Whether value is there."""
    return value is not None and value >= limit
'''
TESTS = """
from room.code import at_least

def test_it():
    assert at_least(3, 2) and not at_least(1, 2) and not at_least(None, 2)
"""
CONFIGURATION = """
[cosmic-ray]
module-path = ["room/code.py"]
test-command = "python -B -m pytest -x -q room"
timeout = 60
distributor = { name = "local" }
"""


@pytest.fixture(autouse=True)
def no_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of this environment take longer to load than the tests of these rooms."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    room = tmp_path / "root" / "room"
    (room / "tests").mkdir(parents=True)
    (room / "code.py").write_text(CODE)
    (room / "tests" / "test_code.py").write_text(TESTS)
    (room.parent / "conftest.py").write_text("import sys\nsys.path.insert(0, __file__.rpartition('/')[0])\n")
    (tmp_path / "cosmic-ray.toml").write_text(CONFIGURATION)
    return room.parent


def tried(root: Path, n: int = 100, seed: int = 1, jobs: int = 1) -> Report:
    return mutants.run([], n, seed, jobs, root=root, configuration=root.parent / "cosmic-ray.toml")


def test_tests_kill_what_they_notice_and_nothing_else(root: Path) -> None:
    report = tried(root, jobs=2)
    # Types and the docstring are not mutated, and a limit off by one is what the tests leave open.
    assert {outcome.line for outcome in report.outcomes} == {6}
    assert "return value is not None or value >= limit" in {outcome.after for outcome in report.outcomes}
    assert [outcome.after for outcome in report.survivors] == ["return value is not None and value > limit"]
    assert not report.sound
    assert (root / "room" / "code.py").read_text() == CODE
    assert as_text(report).endswith("value >= limit  →  return value is not None and value > limit")
    assert report.as_json()["by_file"]["room/code.py"]["survived"] == 1


def test_failing_tests_try_nothing(root: Path) -> None:
    (root / "room" / "tests" / "test_code.py").write_text(f"{TESTS}    assert at_least(0, 1)\n")
    with pytest.raises(MutantError, match=r"fail without any mutant .*test_it"):
        tried(root)


def test_every_harmless_mutant_is_of_a_line_that_is_there() -> None:
    files = mutants.files(load_config(str(mutants.CONFIGURATION)))
    for entry in read_toml(mutants.HARMLESS, mutants.Document, MutantError).mutant:
        assert entry.file in files, entry.file
        lines = " ".join((ROOT / entry.file).read_text(encoding="utf-8").split())
        assert entry.before in lines, entry
