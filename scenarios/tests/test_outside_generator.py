"""Generators in a user's own Python file, outside the repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenarios import catalogue
from scenarios.errors import ScenarioError
from scenarios.generators import GENERATORS
from tests.sentences import Sentences

GENERATOR = '''
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scenarios.generator import Generator, Step
from scenarios.generators.mem_frag import MemFrag
from scenarios.operations import Allocate, Free
from scenarios.parameters import whole


@dataclass(frozen=True)
class Staircase(Generator):
    """Blocks of growing size."""

    steps_up: int = whole(1, 1024)

    def steps(self) -> Iterator[Step]:
        for slot in range(self.steps_up):
            yield Step(Allocate(slot, 8 * (slot + 1)), "up")
        for slot in range(self.steps_up):
            yield Step(Free(slot), "down")
'''
SCENARIO = """\
name = "stairs"
description = "A staircase."
generator = "mine/staircase.py"
[parameters]
steps_up = 3
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "staircase.py").write_text(GENERATOR)
    (tmp_path / "stairs.toml").write_text(SCENARIO)
    return tmp_path / "stairs.toml"


def test_it_is_found_beside_the_scenarios_file_and_said_once(scenario: Path) -> None:
    said: list[str] = []
    plan = catalogue.load(str(scenario), {"steps_up": "4"}, tell=said.append).compile()
    assert plan.operations["label"].to_list() == ["up"] * 4 + ["down"] * 4
    assert catalogue.load(str(scenario), tell=said.append).parameters == {"steps_up": 3}
    program = scenario.parent / "mine" / "staircase.py"
    assert said == [f"The scenario's generator is the program {program}: it is loaded and run."]


def test_its_limits_are_held(scenario: Path) -> None:
    with pytest.raises(ScenarioError, match="steps_up must be from 1 to 1024, not 2000"):
        catalogue.load(str(scenario), {"steps_up": 2000}, tell=lambda _: None)


def test_where_nobody_named_the_scenario_it_is_not_run(scenario: Path) -> None:
    program = scenario.parent / "mine" / "staircase.py"
    program.write_text("raise SystemExit('it was run')")
    with pytest.raises(
        ScenarioError, match=r"stairs\.toml: The generator 'mine/staircase\.py' is a program of the user's"
    ):
        catalogue.load(str(scenario))


def test_a_program_that_is_none_is_one_sentence(scenario: Path, sentences: Sentences) -> None:
    other = GENERATOR + "\nclass Other(Staircase):\n    pass\n"
    program = scenario.parent / "mine" / "staircase.py"
    for text in ("", other, "1 / 0", "def"):
        program.write_text(text)
        with sentences.raised(ScenarioError):
            catalogue.load(str(scenario), tell=lambda _: None)
    program.unlink()
    with sentences.raised(ScenarioError):
        catalogue.load(str(scenario), tell=lambda _: None)


def test_those_that_come_along_are_found_by_their_files() -> None:
    assert list(GENERATORS) == sorted(GENERATORS)
    assert {"mem_frag", "recorded", "worst"} <= set(GENERATORS)
    for name in ("generator", "xorshift", "fenced_victims", "__init__", "os", "../trace", ""):
        assert name not in GENERATORS
    assert GENERATORS["mem_frag"].__name__ == "MemFrag"
