"""Scenarios by name and by path, what may be overridden, and the sentences for what may not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from base.heap_size import DEFAULT_BYTES
from scenarios import catalogue
from scenarios.errors import ScenarioError
from scenarios.operations import decode
from scenarios.stimulus import NO_STIMULUS, Stimulus
from tests.sentences import Sentences
from tests.tables import beside

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
    for table, stimulus in [
        ("", NO_STIMULUS),
        ('mode = "none"', NO_STIMULUS),
        ('mode = "sweep"\ncontrol_period_ticks = 7919', Stimulus("sweep", 0, 7919)),
        ('mode = "random"\nperiod_ticks = 5003\nseed = 7', Stimulus("random", 5003, 0, 7)),
        ('mode = "burst"\nperiod_ticks = 9001\nspacing_ticks = 700', Stimulus("burst", 9001, 0, 700)),
    ]:
        assert catalogue.load(own(tmp_path, f"{OWN}[stimulus]\n{table}\n")).stimulus == stimulus
