"""The file of a run under way: read while its writer is there, and not a moment longer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from base.paths import ROOT
from base.run_folder.folder import PROGRESS
from base.run_folder.progress_file import ProgressFile, Section, SoFar, read

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
    with ProgressFile(tmp_path) as file:
        assert read(tmp_path) is None
        file.write(SO_FAR)
        assert read(tmp_path) == SO_FAR
        assert [path.name for path in tmp_path.iterdir()] == [PROGRESS]
    assert read(tmp_path) is None
    assert not list(tmp_path.iterdir())


def test_that_of_a_killed_run_tells_nothing(tmp_path: Path) -> None:
    script = (
        "import sys, signal; from pathlib import Path\n"
        "from base.run_folder.progress_file import ProgressFile, SoFar\n"
        "file = ProgressFile(Path(sys.argv[1])).__enter__()\n"
        "file.write(SoFar.model_validate_json(sys.argv[2])); print('there', flush=True); signal.pause()"
    )
    command = [sys.executable, "-c", script, str(tmp_path), SO_FAR.model_dump_json(by_alias=True)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as writer:
        assert writer.stdout is not None and writer.stdout.readline() == "there\n"
        assert read(tmp_path) == SO_FAR
        os.kill(writer.pid, signal.SIGKILL)
    assert (tmp_path / PROGRESS).exists()
    assert read(tmp_path) is None
