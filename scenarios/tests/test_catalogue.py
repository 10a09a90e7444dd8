"""Scenarios by name and by path, what may be overridden, and the sentences for what may not."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import repeat
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from base.heap_size import DEFAULT_BYTES
from base.paths import ROOT
from base.tests.sentences import is_sentence
from scenarios import catalogue
from scenarios.errors import ScenarioError
from scenarios.generator import Step
from scenarios.generators import GENERATORS
from scenarios.operations import Allocate, Free, decode
from scenarios.parameters import bind
from scenarios.place import LARGE, Place
from scenarios.plan import Plan, compile_steps
from scenarios.scaling import GRAIN_BYTES, HEADER_BYTES
from scenarios.stimulus import NO_STIMULUS, Stimulus, override
from tests.sentences import Sentences
from tests.tables import beside, table

OWN = """
name = "shallow"
description = "A short ramp."
generator = "mem_frag"

[parameters]
depth = 4
victim_bytes = 72
spacer_bytes = 8
request_bytes = 120
trials = 1
"""


def own(folder: Path, text: str) -> str:
    path = folder / "own.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_names_are_sorted_and_those_of_the_files() -> None:
    assert set(catalogue.names()) >= {"mem_frag", "mem_stress"}
    assert list(catalogue.names()) == sorted(catalogue.names())
    assert [catalogue.load(name).name for name in catalogue.names()] == list(catalogue.names())


@pytest.mark.parametrize("name", catalogue.names())
def test_every_scenario_compiles_to_what_its_image_says(name: str) -> None:
    scenario = catalogue.load(name)
    plan = scenario.compile()
    image = decode(plan.image)
    assert plan == scenario.compile()
    assert (image.name, image.stimulus) == (name, scenario.stimulus)
    assert plan.slots == int.from_bytes(plan.image[16:20], "little")
    assert scenario.stimulus.control_period_ticks == (0 if name == "two_tasks" else 7919)
    assert plan.image_crc32 == int.from_bytes(plan.image[12:16], "little")
    assert plan.operations["seq"].to_list() == list(range(plan.operations.height))
    assert scenario.description


def test_a_scenario_of_one_s_own(tmp_path: Path) -> None:
    plan = catalogue.load(own(tmp_path, OWN), {"trials": 2}).compile()
    assert (plan.name, plan.stimulus) == ("shallow", NO_STIMULUS)
    assert plan.operations.height == 8 + 4 * 5


def test_the_heap_is_a_choice_of_the_scenario_and_of_the_user(tmp_path: Path) -> None:
    path = own(tmp_path, OWN.replace("[parameters]", "heap_bytes = 86_064\n\n[parameters]"))
    assert catalogue.load("mem_frag").compile().heap_bytes == DEFAULT_BYTES
    assert catalogue.load(path).compile().heap_bytes == 86_064
    assert catalogue.load(path, heap_bytes=4096).compile().heap_bytes == 4096
    assert catalogue.load(path).compile().image == catalogue.load(own(tmp_path, OWN)).compile().image


def test_a_time_is_understood_where_a_parameter_has_cycles() -> None:
    for word, hz, cycles in (("10us", 84_000_000, 840), ("1.5 ms", 8_000_000, 12_000), ("840", 1, 840)):
        scenario = catalogue.load("two_tasks", {"span_cycles": word}, core_hz=hz)
        assert scenario.parameters["span_cycles"] == cycles


REFUSED: dict[str, tuple[dict[str, Any], ...]] = beside(__file__)["refused"]
REFUSED["mem_frag"] += ({"depth": "9" * 5000},)


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_gets_a_sentence(name: str, sentences: Sentences) -> None:
    for overrides in REFUSED[name]:
        with sentences.raised(ScenarioError):
            catalogue.load(name, overrides)


def test_a_stimulus_of_ones_own(tmp_path: Path) -> None:
    for words, stimulus in [
        ("", NO_STIMULUS),
        ('mode = "none"', NO_STIMULUS),
        ('mode = "sweep"\ncontrol_period_ticks = 7919', Stimulus("sweep", 0, 7919)),
        ('mode = "random"\nperiod_ticks = 5003\nseed = 7', Stimulus("random", 5003, 0, 7)),
        ('mode = "burst"\nperiod_ticks = 9001\nspacing_ticks = 700', Stimulus("burst", 9001, 0, 700)),
    ]:
        assert catalogue.load(own(tmp_path, f"{OWN}[stimulus]\n{words}\n")).stimulus == stimulus


# Generators in a user's own Python file, outside the repository.


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
    unlimited = GENERATOR.replace("= whole(1, 1024)", "= 3")
    for text in ("", other, "1 / 0", "def", unlimited):
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


def test_one_is_loaded_once_it_is_asked_for() -> None:
    script = "import sys; from scenarios import catalogue; catalogue.load('sizes'); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    loaded = [name for name in done.stdout.split() if name.startswith("scenarios.generators.")]
    assert loaded == ["scenarios.generators.sizes"]


# The page of scenarios: the generator that is shown is one.


PAGE = ROOT / "docs" / "reference" / "scenarios.md"


@pytest.mark.docs
def test_the_example_generator_compiles() -> None:
    (source,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    namespace: dict[str, Any] = {"__name__": __name__}
    exec(source, namespace)
    parameters: dict[str, int | str] = {"steps_up": 3, "rise_bytes": 16}
    generator = bind(namespace["Staircase"], parameters, {})
    table = compile_steps("staircase", parameters, NO_STIMULUS, generator.steps()).operations
    assert table.select("kind", "size", "depth").rows() == [
        ("A", 16, 1),
        ("A", 32, 2),
        ("A", 48, 3),
        ("F", 16, 3),
        ("F", 32, 2),
        ("F", 48, 1),
    ]


# What a stimulus may be, and how the command line may change it.


PERIODIC = Stimulus("periodic", 5003, 7919)


@table
def test_override(asked: str, expected: tuple[Any, ...]) -> None:
    assert override(PERIODIC, asked) == Stimulus(*expected)


def test_without_periods_of_its_own_there_is_no_control_to_keep() -> None:
    assert override(NO_STIMULUS, "periodic:6007") == Stimulus("periodic", 6007, 0)


@table
def test_contradictions_are_refused(mode: str, period_ticks: int, control_period_ticks: int) -> None:
    with pytest.raises(ScenarioError):
        Stimulus(mode, period_ticks, control_period_ticks)


@pytest.mark.parametrize(
    "asked", ["none", "periodic", "sweep:0,7919", "random:5003,7919,9", "burst:5003,0,700"]
)
def test_a_stimulus_reads_back_what_it_writes(asked: str) -> None:
    stimulus = override(PERIODIC, asked)
    assert override(NO_STIMULUS, str(stimulus)) == stimulus


# Scenarios on a board with a smaller heap: the same question with fewer blocks, or a refusal.


HEAP_BYTES, SLOTS, ENTRIES = 8192, 320, 8186
SMALL = Place(HEAP_BYTES, ENTRIES, lambda heap_bytes: SLOTS - (heap_bytes - HEAP_BYTES) // 8)
TINY = Place(4096, ENTRIES, lambda _: SLOTS)
TOO_LARGE = ("lifetimes_large", "lifetimes_random", "worst")


def gross_bytes(plan: Plan) -> int:
    """The most that lives at once, with a header of 16 bytes for each block."""
    live = most = 0
    for kind, size in plan.operations.select("kind", "size").iter_rows():
        block = -(-size // GRAIN_BYTES) * GRAIN_BYTES + HEADER_BYTES
        live += {"A": block, "F": -block, "K": 0}[kind]
        most = max(most, live)
    return most


@pytest.mark.parametrize(("place", "depth"), [(LARGE, 256), (SMALL, 32), (TINY, 16)])
@pytest.mark.parametrize(("scenario", "beside"), [("mem_frag", 136 - 88), ("latency_sweep", 0)])
def test_the_ramp_takes_the_same_part_of_every_heap(
    scenario: str, beside: int, place: Place, depth: int
) -> None:
    """64 KiB has 256 pairs, of 112 bytes with their headers. The request of 136 comes when a victim
    of 88 is free, or many are.
    """
    plan = catalogue.load(scenario).compile(place)
    assert plan.parameters["depth"] == depth
    assert plan.heap_bytes == place.heap_bytes
    assert gross_bytes(plan) == 112 * depth + beside
    assert 0.43 < gross_bytes(plan) / place.heap_bytes < 0.48


@pytest.mark.parametrize("name", catalogue.names())
def test_a_scenario_of_the_bench_fits_or_is_refused_in_a_sentence(name: str) -> None:
    try:
        plan = catalogue.load(name).compile(SMALL)
    except ScenarioError as refused:
        assert name in TOO_LARGE or name.startswith("periodic_")
        assert is_sentence(str(refused), "*.")
        assert "8,192" in str(refused) or "8,186 entries" in str(refused)
        return
    assert plan.slots <= SLOTS
    assert plan.operations.height <= ENTRIES
    assert name.startswith("until_full") or gross_bytes(plan) < HEAP_BYTES


def test_a_recorded_program_is_scaled_until_it_fits() -> None:
    plan = catalogue.load("recorded_dash").compile(SMALL)
    assert plan.parameters["scale"] == 3
    with pytest.raises(ScenarioError, match=r"--scale 3 keeps one block in 3 .*, and fits"):
        catalogue.load("recorded_dash", {"scale": 1}).compile(SMALL)


# The compiler's own rules, on steps that none of our generators makes.


def plan_of(*steps: Step) -> Plan:
    return compile_steps("x", {}, NO_STIMULUS, steps)


def test_table_has_the_documented_columns() -> None:
    table = plan_of(Step(Allocate(5, 24)), Step(Free(5, measured=False), "end", 2, 9)).operations
    assert table.schema == pl.Schema(
        {
            "seq": pl.UInt32,
            "kind": pl.String,
            "id": pl.UInt32,
            "size": pl.UInt32,
            "offset": pl.UInt32,
            "measured": pl.Boolean,
            "label": pl.String,
            "trial": pl.UInt32,
            "depth": pl.UInt32,
        }
    )
    assert table.rows() == [
        (0, "A", 5, 24, 0, True, None, None, None),
        (1, "F", 5, 24, 0, False, "end", 2, 9),
    ]


def test_the_size_of_a_free_is_that_of_its_own_allocation() -> None:
    table = plan_of(Step(Allocate(0, 8)), Step(Free(0)), Step(Allocate(0, 16)), Step(Free(0))).operations
    assert table["size"].to_list() == [8, 8, 16, 16]


def test_a_generator_without_end_is_refused() -> None:
    with pytest.raises(ScenarioError, match="more than the 21,840 entries"):
        compile_steps("x", {}, NO_STIMULUS, repeat(Step(Allocate(0, 8))))
