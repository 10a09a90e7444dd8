"""`./lab dashboard`: which runs are shown, and what is said of the others."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

from base.paths import ROOT
from cli import dashboard
from dashboards.app.pieces import Library
from dashboards.app.server import ServeError, serve
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
        "Of the same scenario, allocator and options only the latest run stands: 1 left out. "
        "--all shows every one."
    )
    assert page == str(runs.parent / "page.html")
    assert NAME in Path(page).read_text(encoding="utf-8")


def test_those_that_were_named_are_shown_without_a_word(runs: Path) -> None:
    assert len(shown(runs, str(runs / NAME))) == 1
    assert len(shown(runs, every=True)) == 2


@pytest.mark.usefixtures("interruptible")
def test_it_says_where_and_ends_by_ctrl_c(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "cli", "app", "--port", "0", "--runs", str(tmp_path)]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as served:
        assert served.stdout is not None
        try:
            match = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S{32}", served.stdout.readline())
            assert match
            with build_opener(HTTPCookieProcessor()).open(match[0], timeout=300) as answer:
                assert b"Tailscope" in answer.read()
            served.send_signal(signal.SIGINT)
            _, said = served.communicate(timeout=300)
        finally:
            served.kill()
    assert served.returncode == 130
    assert said == "Stopped by Ctrl-C.\n"


def test_a_port_that_is_taken_is_said_so(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(
            ServeError, match=rf"^Port {port} of 127\.0\.0\.1 cannot be used \(Address already"
        ):
            serve(Library(tmp_path), tmp_path / "token", port)
