from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from base.files.errors import CaptureError, RunError
from base.files.whole import WriteError, write_bytes, write_whole
from base.paths import ROOT
from base.run_folder import folder as names
from base.run_folder.folder import PROGRESS, RunName, check_members, check_writable
from base.run_folder.manifest import SCHEMA, read_manifest, read_origin
from base.run_folder.placements import Measured, Placements, Range
from base.run_folder.progress_file import Section, SoFar, progress_file, read
from base.tests.sentences import is_sentence
from tests.tables import table

TIME = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)


def create(runs: Path) -> Path:
    return names.create(runs, TIME, RunName("mem_frag", "tlsf", "virtual"))


def test_names_are_time_scenario_allocator_board_and_a_number_when_taken(tmp_path: Path) -> None:
    created = [create(tmp_path / "runs").name for _ in range(3)]
    first = "20260203T040506Z-mem_frag-tlsf-virtual"
    assert created == [first, f"{first}-2", f"{first}-3"]


def test_options_cannot_lead_elsewhere_nor_outgrow_a_name() -> None:
    folder = RunName("mem_frag", "tlsf", "virtual", ("../x/y z", *["a_long_option"] * 40)).at(TIME)
    assert folder.startswith("20260203T040506Z-mem_frag-tlsf._x_y_z.a_long_option.")
    assert folder.endswith(".a_long_option.more-virtual")
    assert len(folder) < 160


def test_a_folder_of_runs_is_tried_before_anything_is_captured(tmp_path: Path) -> None:
    check_writable(tmp_path / "new" / "runs")
    assert list((tmp_path / "new" / "runs").iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(CaptureError, match=r"created in .*file: .*; nothing was captured"):
        check_writable(tmp_path / "file")


def test_a_file_is_whole_or_absent(tmp_path: Path) -> None:
    folder = create(tmp_path)

    def writer(path: Path) -> None:
        path.write_bytes(b"half of it")
        assert not (folder / "edges.parquet").exists()
        raise OSError(errno.ENOSPC, "No space left on device")

    write_bytes(folder / "uart.log", b"whole")
    with pytest.raises(WriteError, match=r"edges.parquet cannot be written.*disk is full.*kept"):
        write_whole(folder / "edges.parquet", writer)
    assert [path.name for path in folder.iterdir()] == ["uart.log"]


@pytest.mark.parametrize("member", ["run.json", "explain", "explain/allocate.json"])
def test_a_link_in_it_is_refused_wherever_it_leads(tmp_path: Path, member: str) -> None:
    folder, outside = tmp_path / "run", tmp_path / "outside"
    outside.mkdir()
    (folder / member).parent.mkdir(parents=True)
    check_members(folder)
    (folder / member).symlink_to(outside)
    with pytest.raises(RunError, match=rf"{member}: is a symbolic link, and none is followed"):
        check_members(folder)
    with pytest.raises(RunError, match="is a symbolic link"):
        read_manifest(folder / "run.json")


@pytest.mark.parametrize("read", [read_manifest, read_origin])
def test_a_run_of_a_newer_version_is_refused_and_not_called_damaged(
    tmp_path: Path, read: Callable[[Path], object]
) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"schema": SCHEMA + 1, "unheard": "of"}))
    with pytest.raises(RunError) as refusal:
        read(path)
    newer = f"is of schema {SCHEMA + 1}, and this version reads {SCHEMA}; install a newer one."
    assert is_sentence(str(refusal.value), f"{path}: {newer}")


SO_FAR = SoFar(
    scenario="mem_frag",
    allocator="tlsf",
    board="virtual",
    run=2,
    runs=4,
    left_s=12.5,
    began="2026-11-22T20:00:00+00:00",
    elapsed_s=1.25,
    step="capturing",
    operations=3,
    planned_operations=10,
    operations_per_s=7.5,
    samples=1000,
    asked_samples=4000,
    critical=Section(seq=1, size=24, cycles=84, ns=1000.0),
    free=None,
)


def test_it_is_read_as_it_was_written_until_the_run_is_stored(tmp_path: Path) -> None:
    with progress_file(tmp_path) as write:
        assert read(tmp_path) is None
        write(SO_FAR)
        assert read(tmp_path) == SO_FAR
        assert [path.name for path in tmp_path.iterdir()] == [PROGRESS]
    assert read(tmp_path) is None
    assert not list(tmp_path.iterdir())


def test_that_of_a_killed_run_tells_nothing(tmp_path: Path) -> None:
    script = (
        "import sys, signal; from pathlib import Path\n"
        "from base.run_folder.progress_file import SoFar, progress_file\n"
        "held = progress_file(Path(sys.argv[1])); write = held.__enter__()\n"
        "write(SoFar.model_validate_json(sys.argv[2])); print('there', flush=True); signal.pause()"
    )
    command = [sys.executable, "-c", script, str(tmp_path), SO_FAR.model_dump_json(by_alias=True)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as writer:
        assert writer.stdout is not None and writer.stdout.readline() == "there\n"
        assert read(tmp_path) == SO_FAR
        os.kill(writer.pid, signal.SIGKILL)
    assert (tmp_path / PROGRESS).exists()
    assert read(tmp_path) is None


def measured(number: int, critical: float, verdict: str = "complete") -> Measured:
    return Measured.model_validate(
        {
            "number": number,
            "rest_bytes": 0,
            "heap_bytes": 4 * number,
            "elf_sha256": "0" * 64,
            "verdict": verdict,
            "reasons": [],
            "greatest": {"critical_ns": critical, "probes": 2},
        }
    )


@pytest.mark.parametrize("n", [1, 2, 15, 16])
def test_a_range_is_that_of_another_library(n: int) -> None:
    values = [float(value) for value in np.random.default_rng(n).integers(4_000, 9_000, n)]
    placements = Placements.of([measured(number, value) for number, value in enumerate(values)])
    headlines = placements.headlines["critical_ns"]
    assert (headlines.n, headlines.least, headlines.greatest) == (n, np.min(values), np.max(values))
    assert headlines.median == pytest.approx(np.quantile(values, 0.5))
    assert placements.headlines["probes"].spread_percent == 0


def test_figures_of_a_run_that_is_not_complete_are_in_no_range() -> None:
    placements = Placements.of([measured(0, 5.0), measured(1, 9.0, "inconclusive"), measured(2, 6.0)])
    assert placements.headlines["critical_ns"] == Range(n=2, least=5, median=5.5, greatest=6)


@table
def test_ranges_meet_where_they_have_a_value_in_common(other: tuple[int, int], meets: bool) -> None:
    first = Range(n=2, least=5, median=7, greatest=9)
    second = Range(n=2, least=other[0], median=other[0], greatest=other[1])
    assert first.meets(second) is second.meets(first) is meets
