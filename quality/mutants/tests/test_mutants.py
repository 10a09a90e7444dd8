"""Mutants are drawn from code of known changes, and tried against tests that notice known ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from base.paths import ROOT
from quality.mutants import campaign, harmless, trial
from quality.mutants.drawing import Mutant, drawn
from quality.mutants.trial import MutantError

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


@pytest.fixture(autouse=True)
def no_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of this environment take longer to load than the tests of these rooms."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    room = tmp_path / "room"
    (room / "tests").mkdir(parents=True)
    (room / "code.py").write_text(CODE)
    (room / "tests" / "test_code.py").write_text(TESTS)
    (tmp_path / "conftest.py").write_text("import sys\nsys.path.insert(0, __file__.rpartition('/')[0])\n")
    return tmp_path


def every(root: Path) -> list[Mutant]:
    return drawn(root, ["room/code.py"], 1000, seed=1)


def after(root: Path) -> set[str]:
    return {mutant.after for mutant in every(root)}


def test_a_limit_off_by_one_and_or_for_and_are_mutants(root: Path) -> None:
    assert {
        "return value is not None and value > limit",
        "return value is not None or value >= limit",
    } <= after(root)


def test_types_and_docstrings_are_not_mutated(root: Path) -> None:
    assert {(mutant.line, mutant.before) for mutant in every(root)} == {
        (6, "return value is not None and value >= limit")
    }


def test_a_seed_draws_the_same_mutants_again(root: Path) -> None:
    few = drawn(root, ["room/code.py"], 3, seed=7)
    assert few == drawn(root, ["room/code.py"], 3, seed=7)
    assert len({mutant.code for mutant in few}) == 3


def test_tests_kill_what_they_notice_and_nothing_else(root: Path) -> None:
    fates = dict(zip(every(root), trial.fates(root, ["room"], every(root), jobs=2), strict=True))
    survivors = {mutant.after for mutant, fate in fates.items() if fate == "survived"}
    # Nobody asks for a value that equals the limit: that is all the tests leave open.
    assert survivors == {"return value is not None and value > limit"}
    assert (root / "room" / "code.py").read_text() == CODE


def test_failing_tests_try_nothing(root: Path) -> None:
    (root / "room" / "tests" / "test_code.py").write_text(f"{TESTS}    assert at_least(0, 1)\n")
    with pytest.raises(MutantError, match=r"fail without any mutant .*test_it"):
        trial.fates(root, ["room"], every(root), jobs=1)


def test_a_mutant_that_never_ends_is_killed(root: Path) -> None:
    code = "def once(n):\n    while n > 0:\n        n = n - 1\n    return n\n"
    (root / "room" / "code.py").write_text(code)
    test = "from room.code import once\n\ndef test_it():\n    assert once(1) == 0\n"
    (root / "room" / "tests" / "test_code.py").write_text(test)
    changed = code.replace("n - 1", "n + 1")
    endless = Mutant("room/code.py", "ReplaceBinaryOperator_Sub_Add", 3, "n = n - 1", "n = n + 1", changed)
    assert trial.fates(root, ["room"], [endless], jobs=1) == ["killed"]


def test_every_harmless_mutant_is_of_a_line_that_is_there() -> None:
    for entry in harmless.read():
        assert entry.file in campaign.files(), entry.file
        lines = " ".join((ROOT / entry.file).read_text(encoding="utf-8").split())
        assert entry.before in lines, entry


def test_a_survivor_of_the_list_is_harmless(root: Path) -> None:
    mutant = every(root)[0]
    entry = harmless.Entry(file=mutant.file, before=mutant.before, after=mutant.after, why="nobody asks")
    assert harmless.reason(mutant, [entry]) == "nobody asks"
    assert harmless.reason(every(root)[1], [entry]) is None


@pytest.mark.parametrize(
    ("files", "numbers", "sentence"),
    [
        (["no/such.py"], (1, 1, 1), "no/such.py is not mutated here"),
        ([], (0, 1, 1), "--n 0"),
        ([], (1, 1, 0), "--jobs 0"),
    ],
)
def test_what_cannot_be_tried_is_a_sentence(
    files: list[str], numbers: tuple[int, int, int], sentence: str
) -> None:
    with pytest.raises(MutantError, match=sentence):
        campaign.run(files, *numbers)
