"""`./lab dashboard`: which runs are shown, and what is said of the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli import dashboard
from dashboards.tests.synthetic import Operation, write_run

NAME = "20250102T030405Z-mem_stress-seglist-virtual"


def shown(runs: Path, *folders: str, every: bool = False) -> list[str]:
    paths = [*map(Path, folders)]
    return list(dashboard.write(paths, runs.parent / "page.html", every=every, runs_folder=runs))


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two runs that were asked for alike, and one that was killed."""
    folder = write_run(tmp_path / "runs", "mem_stress", "seglist", [Operation("A", 16, 1, 300)])
    folder.rename(folder.with_name(NAME.replace("2025", "2024")))
    write_run(tmp_path / "runs", "mem_stress", "seglist", [Operation("A", 16, 1, 310)])
    killed = tmp_path / "runs" / "20250103T030405Z-mem_frag-tlsf-virtual"
    killed.mkdir()
    (killed / "operations.bin").write_bytes(b"")
    return tmp_path / "runs"


def test_older_and_unfinished_runs_are_told(runs: Path) -> None:
    killed, older, page = shown(runs)
    assert "has no run.json" in killed
    assert older == (
        "1 older run of the same scenario, allocator and options is left out. --all shows every one."
    )
    assert page == str(runs.parent / "page.html")
    assert NAME in Path(page).read_text(encoding="utf-8")


def test_those_that_were_named_are_shown_without_a_word(runs: Path) -> None:
    assert len(shown(runs, str(runs / NAME))) == 1
    assert len(shown(runs, every=True)) == 2
