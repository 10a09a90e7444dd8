"""Stock OpenOCD and probe-rs load a run through the emulated ST-Link; labgrid hands it out."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from base.paths import ROOT
from capture.desk.bench import BOARDS, read_board
from simulator.desk import EmulatedDesk
from tests.probed_board import elf_of, loaded
from tests.processes import free_port, seeing

RUN_TIMEOUT_S = 1_200.0
SCENARIO = ("scenario", "mem_stress", "--allocator", "tlsf")
LOADERS = {
    "openocd": ('kind = "openocd"', 'target = "target/stm32f4x.cfg"'),
    "probe-rs": ('kind = "probe-rs"', 'target = "STM32F401RETx"'),
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


def sees_the_desk(program: str) -> bool:
    """Whether it lists the emulated ST-Link: it must make its system calls through libc."""
    with EmulatedDesk(name="seen") as desk:
        return desk.stlink in seeing(desk, program, "list").stdout


@pytest.mark.long
def test_probe_rs_loads_a_run_that_is_complete(tmp_path: Path) -> None:
    program = shutil.which("probe-rs")
    if program is None:
        pytest.skip("probe-rs is no Debian package, and none is on the PATH (docs/how-to/loaders.md)")
    if not sees_the_desk(program):
        pytest.skip("this probe-rs calls the kernel past libc, and so does not see emulated devices")
    run = run_of(tmp_path, "--board", str(board(tmp_path, *LOADERS["probe-rs"])))
    assert run["verdict"] == "complete"


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


LABGRID = ("labgrid-coordinator", "labgrid-exporter", "labgrid-client")
EXPORTED = """\
desk:
  NetworkSigrokUSBDevice:
    {host: localhost, busnum: 1, devnum: 2, path: 1-1, vendor_id: 0x1d50, model_id: 0x608c,
      driver: fx2lafw, channels: "D0=CRIT,D1=OP,D2=STIM,D3=ISR,D4=TASK,D5=CTRL,D6=CISR,D7=SYNC"}
  NetworkUSBDebugger:
    {host: localhost, busnum: 1, devnum: 3, path: 1-2, vendor_id: 0x0483, model_id: 0x374b}
"""


@contextmanager
def labgrid(folder: Path) -> Iterator[dict[str, str]]:
    """Its coordinator and exporter here, and an acquired place; yields the environment."""
    address = f"127.0.0.1:{free_port()}"
    environment = {"LG_COORDINATOR": address}
    (folder / "exported.yaml").write_text(EXPORTED)
    words = {
        "coordinator": ["labgrid-coordinator", "-l", address],
        "exporter": ["labgrid-exporter", "-i", "-n", "here", str(folder / "exported.yaml")],
    }
    processes = []
    try:
        for name, command in words.items():
            with (folder / f"{name}.log").open("w") as log:
                processes.append(
                    subprocess.Popen(
                        command, cwd=folder, env=os.environ | environment, stdout=log, stderr=log
                    )
                )
            wait_for_labgrid(environment, "" if name == "coordinator" else "here/desk/")
        for arguments in (["create"], ["add-match", "here/desk/*"], ["acquire"]):
            client(environment, "-p", "desk-1", *arguments)
        yield environment
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait(30)


def client(environment: dict[str, str], *words: str) -> str:
    return subprocess.run(
        ["labgrid-client", *words],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    ).stdout


def wait_for_labgrid(environment: dict[str, str], resource: str) -> None:
    for _ in range(60):
        try:
            if resource in client(environment, "resources"):
                return
        except subprocess.CalledProcessError:
            pass
        time.sleep(0.5)
    raise AssertionError("labgrid does not answer")


@pytest.mark.long
@pytest.mark.skipif(
    not all(map(shutil.which, LABGRID)),
    reason="Debian's labgrid is too old, and none is on the PATH (docs/how-to/loaders.md)",
)
def test_a_place_of_labgrid_is_a_board(tmp_path: Path) -> None:
    """Analyzer and probe are labgrid's; the port is of the board `nucleo` of bench.toml."""
    with EmulatedDesk(name="place") as desk, labgrid(tmp_path) as environment:
        seen = {**environment, **desk.environment, "TAILSCOPE_PRELOAD": desk.environment["LD_PRELOAD"]}
        run = run_of(tmp_path, "--board", "place:desk-1", environment=seen)
    assert (run["verdict"], run["board"]) == ("complete", "desk_1")
