"""Names as they are read without an import, against who uses them."""

from __future__ import annotations

import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from base.paths import ROOT
from capture.desk.bench import read_bench
from cli.shell import known
from cli.shell.known import UnknownNameError
from firmware.build import boards
from firmware.build import catalogue as heaps
from scenarios import catalogue
from scenarios.generators import GENERATORS
from tests.tables import table


def test_names_are_those_of_their_readers() -> None:
    assert known.scenarios() == list(catalogue.names())
    assert known.allocators() == list(heaps.allocators())
    names = sorted(boards.names())
    assert known.boards() == [*read_bench().boards, *names, *(f"virtual:{name}" for name in names)]
    for row in heaps.allocators().values():
        assert known.knobs([row.id]) == list(row.knobs)


@pytest.mark.parametrize("name", known.scenarios())
def test_parameters_are_those_of_the_generator(name: str) -> None:
    generator = tomllib.loads((ROOT / "scenarios" / f"{name}.toml").read_text())["generator"]
    assert set(known.parameters(name)) == {field.name for field in fields(GENERATORS[generator])}
    scenario = catalogue.load(name)
    listed = {"name": name, "description": scenario.description, "parameters": scenario.parameters}
    assert known.scenario(name) == listed


@table
def test_a_wrong_name_is_one_sentence(given: dict[str, object], said: str) -> None:
    with pytest.raises(UnknownNameError) as refused:
        known.check(**given)  # type: ignore[arg-type]
    assert str(refused.value).startswith(said)


def test_what_only_its_reader_can_judge_passes() -> None:
    known.check(scenario="mine.toml", allocators_=["all"], parameters_=["mine"])
    known.check(scenario="mem_frag", allocators_=["my/heap.c", "heap.c", "NAME=./heap.c"], knobs_=["MINE"])


def test_a_run_that_is_not_there_is_told_with_one_that_is(tmp_path: Path) -> None:
    name = "20261122T200000Z-mem_frag-tlsf-virtual"
    (tmp_path / name).mkdir()
    assert known.run_folder(str(tmp_path / name)) == tmp_path / name
    with pytest.raises(UnknownNameError, match=f"Did you mean {tmp_path / name}"):
        known.run_folder(str(tmp_path / name.replace("tlsf", "tslf")))
    for strange in ("", "x" * 5000, "a\0b", str(tmp_path / "nothing" / "there")):
        if strange:
            with pytest.raises(UnknownNameError):
                known.run_folder(strange)
