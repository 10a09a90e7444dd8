from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from base.files import scratch
from base.paths import ROOT

_KILLED = """
import os, signal, tempfile
from base.files import scratch
with scratch.own():
    open(os.path.join(tempfile.mkdtemp(), "file"), "w").close()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_all_lies_in_one_folder_that_goes_with_the_program(tmp_path: Path) -> None:
    with scratch.own():
        made = Path(tempfile.mkdtemp())
        assert made.parent.parent == tmp_path and made.parent.name.startswith(scratch.PREFIX)
        path = Path(tempfile.mkdtemp(dir=scratch.lasting()))
    assert [*tmp_path.iterdir()] == [path]


def test_what_a_killed_program_left_the_next_one_removes(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _KILLED]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "TMPDIR": str(tmp_path)}, check=False)
    (left,) = tmp_path.iterdir()
    assert [*left.glob("*/file")]
    with scratch.own():
        assert left.exists(), "it may be one that begins"
    os.utime(left, (0, 0))
    with scratch.own():
        assert not left.exists()


def test_what_a_live_program_or_another_tool_has_stays(tmp_path: Path) -> None:
    (tmp_path / "tailscope-kept-1").mkdir()
    os.utime(tmp_path / "tailscope-kept-1", (0, 0))
    with scratch.own():
        (live,) = tmp_path.glob(f"{scratch.PREFIX}*")
        os.utime(live, (0, 0))
        scratch._remove_left(tmp_path)
        assert live.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["tailscope-kept-1"]
