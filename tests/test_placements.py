"""`./lab scenario --placements`: the file, what is printed and shown; the published table."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from base.files import results
from base.run_folder.folder import MANIFEST, PLACEMENTS
from base.run_folder.manifest import read_manifest
from base.run_folder.placements import read
from cli import scenario
from cli.shell.shared import RunOptions
from dashboards import terminal
from dashboards.loaded.runs import load_run
from dashboards.loaded.series import by_scenario
from dashboards.pages.catalogue import matrix
from dashboards.placements import undecided
from studies.tables.allocators import placeable, placed

TOLERANCE = 0.02
"""A change anywhere in the image moves code among the lines of the flash."""


def run(runs: Path, *names: str, **options: object) -> list[Path]:
    """The folders of short direct runs, in their order."""
    chosen = RunOptions(parameters={"depth": 16, "trials": 1}, capture="direct", **options)  # type: ignore[arg-type]
    assert scenario.run(("mem_frag",), names, chosen, as_json=True, runs_folder=runs) == 0
    return sorted(runs.glob(f"*/{MANIFEST}"))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    runs = tmp_path_factory.mktemp("runs")
    return [path.parent for path in run(runs, "tlsf", "tlsf_crate", placements=4)]


@pytest.mark.long
def test_the_run_is_placement_0(folders: list[Path]) -> None:
    for folder in folders:
        placements, manifest = read(folder), read_manifest(folder / MANIFEST)
        assert placements is not None
        assert [measurement.number for measurement in placements.measured] == [0, 1, 2, 3]
        assert placements.measured[0].elf_sha256 == manifest.firmware.elf_sha256
        assert placements.measured[0].greatest["critical_ns"] == manifest.statistics["critical_ns"].max
        assert len({measurement.elf_sha256 for measurement in placements.measured}) == 4


def test_a_run_of_one_link_has_no_such_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = run(tmp_path, "tlsf")
    assert not (path.parent / PLACEMENTS).exists()
    assert json.loads(capsys.readouterr().out)["runs"][0]["placements"] is None


def test_ranges_stand_in_the_terminal_and_the_matrix(folders: list[Path]) -> None:
    runs = [load_run(folder) for folder in folders]
    placements = read(folders[0])
    assert placements is not None
    over = placements.headlines["critical_ns"]
    least, median, greatest = (f"{ns / 1000:,.2f}" for ns in (over.least, over.median, over.greatest))
    leading = placements.headlines["section_ns"]
    words = f"4 placements {leading.least / 1000:,.2f} to {leading.greatest / 1000:,.2f}"
    (grid,) = (block for block in matrix(by_scenario(runs)).blocks)
    cells = [line.cells[0] for group in grid.groups for line in group.lines if line.name == "tlsf"]  # type: ignore[union-attr]
    assert words in cells[0].notes
    rows = terminal.as_json(runs, Path())["runs"]
    assert rows[0]["placements"]["critical_ns"] == over.model_dump()
    printed = terminal.terminal_report(runs)
    assert re.search(rf"tlsf +4 +[\d,.]+ +{least} +{median} +{greatest}", printed)


def test_neighbours_whose_ranges_meet_are_named(folders: list[Path]) -> None:
    series = by_scenario([load_run(folder) for folder in folders])["mem_frag"]
    ranges = [member.run.placements.headlines["critical_ns"] for member in series]  # type: ignore[union-attr]
    sentences = [
        words for words in undecided(series) if words.startswith("Longest critical section on the wire:")
    ]
    meet = ranges[0].least <= ranges[1].greatest and ranges[1].least <= ranges[0].greatest
    assert bool(sentences) is meet
    assert all("tlsf" in words and "tlsf_crate" in words for words in sentences)


@pytest.mark.docs
def test_the_result_has_a_row_for_each_allocator_that_frees() -> None:
    assert [name for name, *_ in results.read("placements")] == list(placeable())


@pytest.mark.long
@pytest.mark.docs
@pytest.mark.parametrize("allocator", ["seglist"])
def test_rows_of_the_result_are_what_a_fresh_measurement_gives(allocator: str) -> None:
    figures = {name: [float(cell) for cell in cells] for name, *cells in results.read("placements")}
    measured = [float(str(cell)) for cell in placed(allocator)[1:]]
    again = "Run python -m studies.tables placements."
    # The spread is a difference of nearly equal figures.
    for place in (slice(0, 3), slice(4, 7)):
        assert figures[allocator][place] == pytest.approx(measured[place], rel=TOLERANCE), again
