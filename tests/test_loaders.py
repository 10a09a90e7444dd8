"""Stock OpenOCD loads a run through the emulated ST-Link."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from base.paths import ROOT
from capture.desk.bench import BOARDS, read_board
from simulator.desk import EmulatedDesk
from tests.probed_board import elf_of, loaded
from tests.processes import seeing

RUN_TIMEOUT_S = 1_200.0
SCENARIO = ("scenario", "mem_stress", "--allocator", "tlsf")
LOADERS = {
    "openocd": ('kind = "openocd"', 'target = "target/stm32f4x.cfg"'),
}


def board(folder: Path, *lines: str) -> Path:
    """The board `desk`, with another loader."""
    file = folder / "loaded.toml"
    text = (BOARDS / "desk.toml").read_text()
    old = ('kind = "pyocd"', 'target = "stm32f401retx"')
    for before, after in zip(old, lines, strict=True):
        text = text.replace(before, after)
    file.write_text(text)
    return file


def run_of(folder: Path, *words: str, environment: dict[str, str] | None = None) -> dict[str, object]:
    """The run.json of a run by this command line, whose folder is below `folder`."""
    command = [sys.executable, "-m", "cli", *SCENARIO, "--runs", str(folder / "runs"), *words]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | (environment or {}),
        capture_output=True,
        text=True,
        timeout=RUN_TIMEOUT_S,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (manifest,) = (folder / "runs").glob("*/run.json")
    document: dict[str, object] = json.loads(manifest.read_text())
    return document


@pytest.mark.long
def test_stock_openocd_loads_a_run_that_is_complete(tmp_path: Path) -> None:
    run = run_of(tmp_path, "--board", str(board(tmp_path, *LOADERS["openocd"])))
    assert run["verdict"] == "complete"
    assert "'openocd': '0.1" in str(run["tools"])


@pytest.mark.long
def test_what_openocd_wrote_is_in_flash(tmp_path: Path) -> None:
    """Read back by pyOCD: a second tool, and another way than OpenOCD's verify."""
    other, image = elf_of("seglist"), bytes(range(256)) * 5
    resource = read_board(board(tmp_path, *LOADERS["openocd"]))
    script = (
        "import sys; from pathlib import Path; from capture.desk.bench import read_board; "
        "read_board(Path(sys.argv[1])).loader.programmer().load(Path(sys.argv[2]), bytes(range(256)) * 5)"
    )
    assert resource.loader.kind == "openocd"
    with EmulatedDesk(elf_of("tlsf"), name="flashed") as desk:
        done = seeing(desk, sys.executable, "-c", script, tmp_path / "loaded.toml", other)
        assert done.returncode == 0, done.stderr
        saved = {at: tmp_path / f"{at:x}.bin" for at in (*loaded(other), 0x0804_0000)}
        sizes = {at: len(content) for at, content in loaded(other).items()} | {0x0804_0000: len(image)}
        asked = [word for at, file in saved.items() for word in ("-c", f"savemem {at:#x} {sizes[at]} {file}")]
        words = ("--target", "stm32f401retx", "--connect", "attach", *asked)
        seeing(desk, sys.executable, "-m", "pyocd", "commander", *words)
        assert {at: file.read_bytes() for at, file in saved.items()} == {**loaded(other), 0x0804_0000: image}
