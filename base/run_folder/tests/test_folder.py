import errno
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from base.files.errors import CaptureError, RunError
from base.files.tests.sentences import is_sentence
from base.files.whole import WriteError
from base.run_folder.folder import RunFolder, RunName, check_members, check_writable
from base.run_folder.manifest import SCHEMA, read_manifest, read_origin

TIME = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)


def create(runs: Path) -> RunFolder:
    return RunFolder.create(runs, TIME, "mem_frag", "tlsf", "virtual")


def test_names_are_time_scenario_allocator_board_and_a_number_when_taken(tmp_path: Path) -> None:
    names = [create(tmp_path / "runs").path.name for _ in range(3)]
    first = "20260203T040506Z-mem_frag-tlsf-virtual"
    assert names == [first, f"{first}-2", f"{first}-3"]


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
        assert not (folder.path / "edges.parquet").exists()
        raise OSError(errno.ENOSPC, "No space left on device")

    folder.write_bytes("uart.log", b"whole")
    with pytest.raises(WriteError, match=r"edges.parquet cannot be written.*disk is full.*kept"):
        folder.write("edges.parquet", writer)
    assert [path.name for path in folder.path.iterdir()] == ["uart.log"]


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
