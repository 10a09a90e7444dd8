"""Scenarios by name and by path, what may be overridden, and the sentences for what may not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from scenarios import catalogue
from scenarios.errors import ScenarioError
from scenarios.operations import decode
from scenarios.stimulus import NO_STIMULUS

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


SCENARIOS = ", ".join(catalogue.names())


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
    assert scenario.stimulus.control_period_ticks == 7919
    assert plan.image_crc32 == int.from_bytes(plan.image[12:16], "little")
    assert plan.operations["seq"].to_list() == list(range(plan.operations.height))
    assert scenario.description


def test_overrides_are_numbers_or_their_text() -> None:
    as_text = catalogue.load("mem_stress", {"seed": "0xBEEF", "operations": "1_0"}).compile()
    as_numbers = catalogue.load("mem_stress", {"operations": 10}, seed=48879).compile()
    assert as_text == as_numbers
    assert as_text.seed == 48879
    assert as_text.parameters["operations"] == as_text.operations.height == 10


def test_another_seed_is_another_image() -> None:
    assert (
        catalogue.load("mem_stress", seed=2).compile().image_crc32
        != catalogue.load("mem_stress").compile().image_crc32
    )


def test_the_stimulus_is_no_part_of_the_body() -> None:
    quiet = catalogue.load("mem_frag", stimulus="none").compile()
    assert quiet.stimulus == NO_STIMULUS
    assert decode(quiet.image).stimulus == NO_STIMULUS
    assert quiet.image_crc32 == catalogue.load("mem_frag").compile().image_crc32


def test_a_scenario_of_one_s_own(tmp_path: Path) -> None:
    plan = catalogue.load(own(tmp_path, OWN), {"trials": 2}).compile()
    assert (plan.name, plan.stimulus) == ("shallow", NO_STIMULUS)
    assert plan.operations.height == 8 + 4 * 5


@pytest.mark.parametrize(
    ("name", "overrides", "sentence"),
    [
        (
            "mem_frog",
            {},
            f"There is no scenario 'mem_frog'; choose from {SCENARIOS}. Did you mean mem_frag?",
        ),
        ("quux", {}, f"There is no scenario 'quux'; choose from {SCENARIOS}."),
        ("mem_frag", {"dept": 3}, "There is no parameter 'dept'; choose from depth, "),
        ("mem_frag", {"dept": 3}, "Did you mean depth?"),
        ("mem_frag", {"depth": "deep"}, "depth must be a whole number, not 'deep'."),
        ("mem_frag", {"depth": ""}, "depth must be a whole number, not ''."),
        ("mem_frag", {"depth": "1.5"}, "depth must be a whole number, not '1.5'."),
        ("mem_frag", {"depth": True}, "depth must be a whole number, not True."),
        ("mem_frag", {"depth": "9" * 5000}, "depth must be a whole number, not '99999"),
        ("nowhere.toml", {}, "The scenario nowhere.toml cannot be read: No such file or directory."),
    ],
)
def test_what_is_unknown_gets_a_sentence(
    name: str, overrides: Mapping[str, str | int], sentence: str
) -> None:
    with pytest.raises(ScenarioError) as refusal:
        catalogue.load(name, overrides)
    assert sentence in str(refusal.value)
    assert len(str(refusal.value)) < 200


def test_an_empty_stimulus_is_not_taken_for_none_asked() -> None:
    with pytest.raises(ScenarioError, match="The stimulus '' is not understood"):
        catalogue.load("mem_frag", stimulus="")


def test_a_seed_for_a_scenario_without_chance_is_refused() -> None:
    with pytest.raises(ScenarioError, match="mem_frag draws no random numbers"):
        catalogue.load("mem_frag", seed=1)


def test_a_seed_given_twice_is_refused() -> None:
    with pytest.raises(ScenarioError, match="given twice"):
        catalogue.load("mem_stress", {"seed": 1}, seed=1)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('name = "shallow"', "", "name must be given"),
        ('"shallow"', '"a,b"', "letters, digits"),
        ('"shallow"', f'"{"x" * 32}"', "1 to 31"),
        ('description = "A short ramp."', "description = 1", "description must be given"),
        ('"mem_frag"', '"mem_frog"', "no generator 'mem_frog'.*Did you mean mem_frag"),
        ("depth = 4", "", "no value for depth"),
        ("depth = 4", "deph = 4", "no parameter 'deph'.*Did you mean depth"),
        ("depth = 4", "depth = 4.0", "depth must be a whole number, not 4.0"),
        ("depth = 4", "depth = 4 4", "not valid TOML"),
        ("depth = 4", f"depth = {'9' * 5000}", "not valid TOML"),
        ("[parameters]", "[parametres]", "no key 'parametres'.*Did you mean parameters"),
        ("[parameters]", "parameters = 1\n[stimulus]", "write .parameters. on a line of its own"),
        ("trials = 1", 'trials = 1\n[stimulus]\nmode = "periodic"', "at least one tick"),
        ("trials = 1", "trials = 1\n[stimulus]\nperiod_ticks = 5003", "mode must be given"),
        ("trials = 1", 'trials = 1\n[stimulus]\nmode = "swept"', "mode 'swept' is unknown"),
        ("trials = 1", 'trials = 1\n[stimulus]\nmode = "periodic"\nperiod_ticks = 50', "at least 2000"),
        (
            "trials = 1",
            'trials = 1\n[stimulus]\nmode = "periodic"\nperiod_ticks = 5e3',
            "whole number",
        ),
        ("trials = 1", "trials = 1\n[stimulus]\nperiod = 5003", "no key under .stimulus. 'period'"),
    ],
)
def test_a_faulty_file_gets_a_sentence(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    assert old in OWN
    with pytest.raises(ScenarioError, match=sentence) as refusal:
        catalogue.load(own(tmp_path, OWN.replace(old, new, 1)))
    assert "own.toml" in str(refusal.value)


def test_a_file_that_is_no_text_gets_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_bytes(b"\xff\xfe\0")
    with pytest.raises(ScenarioError, match="not UTF-8"):
        catalogue.load(str(path))
    with pytest.raises(ScenarioError, match="cannot be read"):
        folder = tmp_path / "folder.toml"
        folder.mkdir()
        catalogue.load(str(folder))
