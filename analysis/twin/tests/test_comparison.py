"""Boards that are known to differ, and by what: the tool must say it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.errors import ExplainError, TwinError
from analysis.twin.comparison import compare
from analysis.twin.residuals import KEYS, beyond
from analysis.twin.tests.made import CORE_HZ, made_run, with_cycles
from base.run_folder import folder as names
from base.run_folder.tables import read_operations, write_table
from scenarios import catalogue
from scenarios.plan import Plan
from tests.run_folders import edit_manifest, seal


@cache
def plan() -> Plan:
    """Small, and long enough for interrupts to meet operations."""
    return catalogue.load("mem_frag", {"depth": 8}).compile()


N = 72


def test_a_virtual_run_is_its_own_twin_and_then_the_simulator_is_held_against_itself(tmp_path: Path) -> None:
    folder = made_run(tmp_path, plan())
    comparison = compare(folder)
    agrees = f"The run agrees with the virtual board to the cycle in all {N} operations"
    assert comparison.verdict.startswith(agrees)
    assert (comparison.joined, comparison.holds, comparison.explained) == (N, (), True)
    assert set(comparison.first["quantity"]) == set(KEYS)
    assert not comparison.first.filter(pl.col("residual") != 0).height
    assert not comparison.notes
    tools = json.loads((folder / names.MANIFEST).read_text())["tools"]
    edit_manifest(folder, tools={**tools, "virtual_nucleo": "1"})
    comparison = compare(folder)
    said = "The run is of the virtual board, so this compares the simulator with itself"
    assert comparison.verdict.startswith(agrees) and comparison.notes[0].startswith(said)
    assert comparison.as_text().splitlines()[1].startswith(said)


def test_a_coarse_wire_stays_within_the_budget(tmp_path: Path) -> None:
    """At 24 MS/s a sample lasts 3.5 cycles: widths move by up to so much, and no cycle by DWT."""
    comparison = compare(made_run(tmp_path, plan(), samplerate_hz=24_000_000))
    assert comparison.verdict.endswith("and on the wire within the error budget.")
    widths = comparison.first.filter(pl.col("quantity").str.ends_with("pulse"))["residual"]
    assert 0 < widths.abs().max() <= 3.5  # type: ignore[operator]
    assert beyond(comparison.first).is_empty()


@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ppm=st.floats(-400, 400), samplerate_hz=st.sampled_from([24_000_000, CORE_HZ, 100_000_000]))
def test_an_error_of_a_clock_is_named_within_its_stated_error(
    ppm: float, samplerate_hz: int, tmp_path: Path
) -> None:
    comparison = compare(made_run(tmp_path, plan(), ppm=ppm, samplerate_hz=samplerate_hz))
    clock = comparison.given.clock
    assert clock is not None
    assert abs((clock.ratio - 1) * 1e6 - ppm) <= clock.uncertainty * 1e6
    assert comparison.explained
    if abs(ppm) > 20:
        assert [hypothesis.key for hypothesis in comparison.holds] == ["clock"]
        assert ("slow" if ppm > 0 else "fast") in comparison.verdict


@pytest.mark.parametrize("flash_acr", [0x005, pytest.param(0x602, marks=pytest.mark.long)])
def test_another_setting_of_the_flash_is_named(tmp_path: Path, flash_acr: int) -> None:
    """BOOT claims 0x702 all the while: the register reads what was written."""
    comparison = compare(made_run(tmp_path, plan(), flash_acr=flash_acr))
    assert f"FLASH_ACR={flash_acr:#010x}" in comparison.verdict
    assert not comparison.last.filter(pl.col("residual") != 0).height
    document = comparison.as_json()
    assert document["flash_acr"] == "00000702"
    assert document["hypotheses"][0]["assumed"]["flash_acr"] == flash_acr
    assert document["hypotheses"][0]["removed"] == 1.0


def test_code_that_lies_elsewhere_is_named(tmp_path: Path) -> None:
    comparison = compare(made_run(tmp_path, plan(), shift=8))
    assert [hypothesis.key for hypothesis in comparison.holds] == ["placement"]
    assert "lies 8 bytes further on (modulo 16)" in comparison.verdict
    assert comparison.explained


def test_operations_that_were_altered_are_listed_and_nothing_is_made_up(tmp_path: Path) -> None:
    altered = {10: 7, 20: -3, 31: 25}
    run = made_run(tmp_path, plan(), records=with_cycles(lambda seq, _: altered.get(seq, 0)))
    comparison = compare(run)
    assert f"in 3 of {N} operations (10, 20, 31)" in comparison.verdict
    assert "by at most 25 cycles, and no hypothesis explains it" in comparison.verdict
    assert not comparison.explained and not comparison.holds
    row = next(row for row in comparison.rows if row.quantity == "dwt_cycles")
    assert row.worst == ((31, 25.0), (10, 7.0), (20, -3.0))
    assert (row.n, row.min, row.median, row.max, row.beyond, row.left) == (N, -3.0, 0.0, 25.0, 3, 3)
    assert comparison.notes[0].startswith("The run is inconclusive: ")


def test_stimuli_at_another_phase_decide_what_they_meet(tmp_path: Path) -> None:
    """The control period is 6 ticks longer on the board. What no interrupt met is equal."""
    image = bytearray(plan().image)
    image[24:28] = (int.from_bytes(image[24:28], "little") + 6).to_bytes(4, "little")
    comparison = compare(made_run(tmp_path, plan(), image=bytes(image)))
    assert [hypothesis.key for hypothesis in comparison.holds] == ["phase"]
    cycles = comparison.last.filter(pl.col("quantity") == "dwt_operation_cycles")["residual"]
    assert len(cycles) > N // 2
    assert not (cycles != 0).any()
    assert not comparison.first.filter(pl.col("quantity") == "dwt_cycles", pl.col("residual") != 0).is_empty()


def refused(run: Path) -> str:
    with pytest.raises((TwinError, ExplainError)) as caught:
        compare(run)
    return str(caught.value)


def test_what_cannot_have_a_twin_is_refused_in_a_sentence(tmp_path: Path) -> None:
    run = made_run(tmp_path, plan())
    table = read_operations(run / names.OPERATIONS)

    write_table(run / names.OPERATIONS, table.clear())
    seal(run)
    assert "has no operation of which wire and records could be joined" in refused(run)
    write_table(run / names.OPERATIONS, table)
    seal(run)

    firmware = json.loads((run / names.MANIFEST).read_text())["firmware"]
    edit_manifest(run, firmware={**firmware, "elf_sha256": "0" * 64})
    assert "is not what the sources build now" in refused(run)
    edit_manifest(run, firmware={**firmware, "elf_sha256": "unknown"})
    assert "does not tell which firmware ran" in refused(run)

    (run / names.IMAGE).unlink()
    assert "imported without its image cannot be run again" in refused(run)
