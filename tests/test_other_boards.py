"""Boards other than the default, simulated from reset to verdict, and what is refused of them."""

import subprocess
import sys
from pathlib import Path

import pytest

from analysis.explain import explanation
from base.files.errors import CaptureError
from base.paths import ROOT
from base.run_folder.manifest import read_manifest
from base.run_folder.records import Boot, parse
from capture import conduct
from capture.acquisition.direct import Direct
from capture.acquisition.source import RunRequest
from capture.desk.bench import Bench, read_bench
from capture.store import RunResult
from firmware.build import boards
from firmware.build import image as firmware
from scenarios import catalogue

OTHERS = boards.names()[1:]
FEW = {"mem_stress": {"operations": 200}, "mem_frag": {"depth": 8, "trials": 1}, "latency_sweep": {}}


def run(board: str, scenario: str, runs: Path) -> RunResult:
    plan = catalogue.load(scenario, FEW[scenario]).compile()
    image = firmware.build("tlsf", board=board)
    return conduct.run(Direct(RunRequest(plan, image, board=f"virtual:{board}", runs=runs)))


@pytest.mark.parametrize("board", OTHERS)
@pytest.mark.parametrize("scenario", FEW)
def test_a_run_is_complete_with_all_its_witnesses(board: str, scenario: str, tmp_path: Path) -> None:
    result = run(board, scenario, tmp_path)
    manifest = read_manifest(result.folder / "run.json")
    assert result.verdict == "complete", result.reasons
    assert manifest.asked is not None
    assert manifest.asked.board == board
    assert manifest.firmware.core_hz == boards.board(board).core_hz
    boot = parse((result.folder / "uart.log").read_bytes()).first(Boot)
    assert boot is not None
    assert (boot.version, boot.board) == (6, board)


@pytest.mark.parametrize("board", OTHERS)
def test_its_worst_section_is_replayed_on_the_same_chip(board: str, tmp_path: Path) -> None:
    result = run(board, "mem_stress", tmp_path)
    explained = explanation.explain_all(result.folder)
    assert explained is None or explained


def test_equal_runs_give_equal_bytes(tmp_path: Path) -> None:
    first, second = (run("nucleo-f411re", "mem_frag", tmp_path / name).folder for name in ("a", "b"))
    for name in ("edges.parquet", "operations.parquet", "uart.log"):
        assert (first / name).read_bytes() == (second / name).read_bytes()


def test_an_image_for_another_board_is_refused_before_anything_starts(tmp_path: Path) -> None:
    plan = catalogue.load("mem_frag", FEW["mem_frag"]).compile()
    image = firmware.build("tlsf", board="nucleo-f411re")
    with pytest.raises(
        CaptureError, match="The image is for nucleo-f411re, and 'virtual' is a Nucleo-F401RE"
    ):
        conduct.run(Direct(RunRequest(plan, image, runs=tmp_path)))
    assert not list(tmp_path.iterdir())


@pytest.fixture
def desk(tmp_path: Path) -> Bench:
    """Two boards on the desk, of which one is a Nucleo-F411RE."""
    entry = (
        '[boards.{0}]\nboard = "{1}"\n[boards.{0}.loader]\nkind = "pyocd"\ntarget = "x"\n'
        '[boards.{0}.serial]\nport = "/dev/ttyACM0"\n'
        '[boards.{0}.analyzer]\ndriver = "fx2lafw"\nsamplerate_hz = 24_000_000\n'
    )
    text = entry.format("red", "nucleo-f401re") + entry.format("blue", "nucleo-f411re")
    file = tmp_path / "bench.toml"
    file.write_text(f'default = "red"\n{text}', encoding="utf-8")
    return read_bench(file)


def test_a_boards_name_finds_the_entry_that_has_it(desk: Bench) -> None:
    assert desk.board("nucleo-f411re").name == "blue"
    assert desk.board("nucleo-f401re").name == "red"
    assert desk.board().board.name == "nucleo-f401re"


def test_a_board_that_no_entry_has_is_refused_with_how_to_simulate_it(desk: Bench) -> None:
    with pytest.raises(CaptureError, match=r"has no Nucleo-F446RE: .*--board virtual:nucleo-f446re"):
        desk.board("nucleo-f446re")


def test_a_virtual_board_samples_each_of_its_cycles() -> None:
    found = read_bench().board("virtual:nucleo-f411re")
    assert found.analyzer.samplerate_hz == found.board.core_hz
    assert found.name == "virtual_nucleo_f411re"


@pytest.mark.parametrize("board", OTHERS)
def test_stock_tools_load_and_capture_it_on_the_emulated_desk(board: str, tmp_path: Path) -> None:
    """pyOCD by the board's own target, sigrok-cli, pySerial."""
    little = ("--parameter", "depth=8", "--parameter", "trials=1")
    words = ("scenario", "mem_frag", "--allocator", "tlsf", *little)
    command = (sys.executable, "-m", "cli", *words, "--board", f"desk:{board}", "--runs", str(tmp_path))
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = tmp_path.glob("*/run.json")
    manifest = read_manifest(found)
    assert manifest.complete, manifest.reasons
    assert manifest.asked is not None and manifest.asked.board == board
    assert {"pyocd", "sigrok_cli"} <= set(manifest.tools)
    boot = parse((found.parent / "uart.log").read_bytes()).first(Boot)
    clocked = boards.board(board).clock.at_osc_in == "clock"
    assert boot is not None and boot.clock == ("bypass" if clocked else "internal")
