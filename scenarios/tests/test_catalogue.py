"""Scenarios by name and by path, what may be overridden, and the sentences for what may not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from base.files.tests.sentences import is_sentence
from base.heap_size import DEFAULT_BYTES
from scenarios import catalogue
from scenarios.errors import ScenarioError
from scenarios.generators import GENERATORS
from scenarios.operations import decode
from scenarios.stimulus import NO_STIMULUS, Stimulus

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
    assert scenario.stimulus.control_period_ticks == (0 if name == "two_tasks" else 7919)
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


def test_the_heap_is_a_choice_of_the_scenario_and_of_the_user(tmp_path: Path) -> None:
    path = own(tmp_path, OWN.replace("[parameters]", "heap_bytes = 86_064\n\n[parameters]"))
    assert catalogue.load("mem_frag").compile().heap_bytes == DEFAULT_BYTES
    assert catalogue.load(path).compile().heap_bytes == 86_064
    assert catalogue.load(path, heap_bytes=4096).compile().heap_bytes == 4096
    assert catalogue.load(path).compile().image == catalogue.load(own(tmp_path, OWN)).compile().image


@pytest.mark.parametrize("name", catalogue.names())
def test_slots_are_those_of_the_image(name: str) -> None:
    plan = catalogue.load(name).compile()
    assert plan.slots == int.from_bytes(plan.image[16:20], "little")


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
        ("nowhere.toml", {}, "nowhere.toml: the file does not exist; check the path, or restore it."),
    ],
)
def test_what_is_unknown_gets_a_sentence(
    name: str, overrides: Mapping[str, str | int], sentence: str
) -> None:
    with pytest.raises(ScenarioError) as refusal:
        catalogue.load(name, overrides)
    assert sentence in str(refusal.value)
    assert len(str(refusal.value)) < 120 + len(SCENARIOS)


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
        ('name = "shallow"', "", " name is missing; add it."),
        (
            "[parameters]",
            "heap_bytes = 86_060\n[parameters]",
            " heap_bytes must be a multiple of 8 from 64 to 8,388,608, not 86060; mend it.",
        ),
        (
            "[parameters]",
            'heap_bytes = "64k"\n[parameters]',
            " heap_bytes must be a whole number, not '64k'; mend it.",
        ),
        (
            "[parameters]",
            "heap_byte = 64\n[parameters]",
            " heap_byte is unknown; the keys here are description, generator, heap_bytes, name, "
            "parameters, stimulus. Did you mean heap_bytes?",
        ),
        (
            '"shallow"',
            '"a,b"',
            " name must be 1 to 31 letters, digits, hyphens and underscores in quotation marks, not 'a,b'; "
            "mend it.",
        ),
        ('"shallow"', '"two\\nlines"', " name must be 1 to 31 letters, *"),
        ('"shallow"', '"shall\\u00f6w"', " name must be 1 to 31 letters, *"),
        ('"shallow"', f'"{"x" * 32}"', " name must be 1 to 31 letters, *"),
        (
            'description = "A short ramp."',
            "description = 1",
            " description must be a text in quotation marks, not 1; mend it.",
        ),
        (
            '"mem_frag"',
            '"mem_frog"',
            f" generator cannot be 'mem_frog'; choose from {', '.join(GENERATORS)}. Did you mean mem_frag?",
        ),
        ("depth = 4", "", " parameters.depth is missing; add it."),
        (
            "depth = 4",
            "deph = 4",
            " parameters.deph is unknown; the keys here are depth, request_bytes, spacer_bytes, trials, "
            "victim_bytes. Did you mean depth?",
        ),
        ("depth = 4", "depth = 4.0", " parameters.depth must be a whole number, not 4.0; mend it."),
        ("depth = 4", 'depth = "4"', " parameters.depth must be a whole number, not '4'; mend it."),
        ("depth = 4", "depth = 4000", " parameters.depth must be from 1 to 1023, not 4000; mend it."),
        (
            "depth = 4",
            f"depth = 0x{'f' * 5000}",
            " parameters.depth must be from 1 to 1023, not one of thousands of digits; mend it.",
        ),
        (
            "request_bytes = 120",
            "request_bytes = 8",
            " request_bytes is 8 and would fit into a freed victim of 72 bytes; make it larger than "
            "victim_bytes.",
        ),
        (
            "depth = 4",
            "depth = 4 4",
            "7: the file is not valid TOML: Expected newline or end of document after a statement, "
            "at column 11; mend it.",
        ),
        ("depth = 4", f"depth = {'9' * 5000}", " the file is not valid TOML: Exceeds the limit *"),
        (
            "[parameters]",
            "[parametres]",
            " parametres is unknown; the keys here are description, generator, heap_bytes, name, "
            "parameters, stimulus. Did you mean parameters?",
        ),
        (
            "[parameters]",
            "parameters = 1\n[stimulus]",
            " parameters must be a table, not 1; write [parameters] on a line of its own.",
        ),
        (
            "[parameters]",
            "stimulus = 'none'\n[parameters]",
            " stimulus must be a table, not 'none'; write [stimulus] on a line of its own.",
        ),
        (
            "trials = 1",
            'trials = 1\n[stimulus]\nmode = "periodic"',
            " A periodic stimulus needs a period of at least one tick.",
        ),
        (
            "trials = 1",
            "trials = 1\n[stimulus]\nperiod_ticks = 5003",
            " stimulus.mode is missing; add it.",
        ),
        (
            "trials = 1",
            'trials = 1\n[stimulus]\nmode = "swept"',
            " stimulus.mode cannot be 'swept'; choose from none, periodic, sweep, random, burst. "
            "Did you mean sweep?",
        ),
        (
            "trials = 1",
            'trials = 1\n[stimulus]\nmode = "periodic"\nperiod_ticks = 50',
            " A period of 50 ticks leaves the operations no time between interrupts; use at least 2000.",
        ),
        (
            "trials = 1",
            'trials = 1\n[stimulus]\nmode = "periodic"\nperiod_ticks = 5e3',
            " stimulus.period_ticks must be a whole number, not 5000.0; mend it.",
        ),
        (
            "trials = 1",
            "trials = 1\n[stimulus]\nperiod = 5003",
            " stimulus.period is unknown; the keys here are control_period_ticks, mode, period_ticks, "
            "seed, spacing_ticks. Did you mean period_ticks?",
        ),
        (
            "trials = 1",
            'trials = 1\n[stimulus]\nmode = "periodic"\nseed = 7',
            " stimulus.seed means nothing to a stimulus of mode periodic; drop it.",
        ),
    ],
)
def test_a_faulty_file_gets_a_sentence(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    assert old in OWN
    with pytest.raises(ScenarioError) as refusal:
        catalogue.load(own(tmp_path, OWN.replace(old, new, 1)))
    assert is_sentence(str(refusal.value), f"{tmp_path}/own.toml:{sentence}"), str(refusal.value)


def test_a_stimulus_of_ones_own(tmp_path: Path) -> None:
    for table, stimulus in [
        ("", NO_STIMULUS),
        ('mode = "none"', NO_STIMULUS),
        ('mode = "sweep"\ncontrol_period_ticks = 7919', Stimulus("sweep", 0, 7919)),
        ('mode = "random"\nperiod_ticks = 5003\nseed = 7', Stimulus("random", 5003, 0, 7)),
        ('mode = "burst"\nperiod_ticks = 9001\nspacing_ticks = 700', Stimulus("burst", 9001, 0, 700)),
    ]:
        assert catalogue.load(own(tmp_path, f"{OWN}[stimulus]\n{table}\n")).stimulus == stimulus


def test_a_file_that_is_no_text_gets_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_bytes(b"\xff\xfe\0")
    with pytest.raises(ScenarioError, match="not UTF-8"):
        catalogue.load(str(path))
    with pytest.raises(ScenarioError, match="cannot be read"):
        folder = tmp_path / "folder.toml"
        folder.mkdir()
        catalogue.load(str(folder))


FRAGMENTS = st.sampled_from(
    ["=", "[", "]]", '"', '"""', "0x", "inf", "true", "[stimulus]\n", "mode", "\n", "."]
)


@given(st.integers(0, len(OWN)), st.integers(0, 12), st.lists(FRAGMENTS | st.text(max_size=4), max_size=6))
def test_no_slip_ends_in_another_exception(
    tmp_path_factory: pytest.TempPathFactory, at: int, drop: int, put: list[str]
) -> None:
    path = tmp_path_factory.getbasetemp() / "own.toml"
    text = OWN[:at] + "".join(put) + OWN[at + drop :]
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        assert catalogue.load(str(path)).parameters
    except ScenarioError as error:
        assert str(error).isprintable() and str(error)[-1] in ".?"
