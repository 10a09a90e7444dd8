"""Boards other than the default, simulated from reset to verdict, and what is refused of them."""

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from analysis.bounds.image import code_bounds
from analysis.explain import explanation
from analysis.program.masks.timeline import run_timeline
from base.paths import ROOT
from base.run_folder.manifest import read_manifest
from base.run_folder.records import Boot, parse
from capture import conduct
from capture.acquisition.direct import Direct
from capture.acquisition.source import RunRequest
from capture.conduct import RunResult
from firmware.build import boards, fit
from firmware.build import image as firmware
from firmware.build.footprint import section_bytes
from scenarios import catalogue
from tests.run_folders import operations

OTHERS = boards.names()[1:]
FEW = {"mem_stress": {"operations": 200}, "mem_frag": {"depth": 8, "trials": 1}, "latency_sweep": {}}


def run(board: str, scenario: str, runs: Path) -> RunResult:
    plan = catalogue.load(scenario, FEW[scenario]).compile(fit.place(boards.board(board)))
    image = firmware.build("tlsf", board=board)
    return conduct.run(Direct(RunRequest(plan, image, board=f"virtual:{board}", runs=runs)))


@pytest.mark.parametrize("board", OTHERS)
def test_a_run_is_complete_and_its_worst_section_replayed_on_the_same_chip(
    board: str, tmp_path: Path
) -> None:
    result = run(board, "mem_stress", tmp_path)
    manifest = read_manifest(result.folder / "run.json")
    assert result.verdict == "complete", result.reasons
    assert manifest.asked is not None
    assert manifest.asked.board == board
    assert manifest.firmware.core_hz == boards.board(board).core_hz
    boot = parse((result.folder / "uart.log").read_bytes()).first(Boot)
    assert boot is not None
    assert (boot.version, boot.board) == (7, board)
    (section,) = explanation.explain(result.folder, "section")
    file = tmp_path / "timeline.json"
    run_timeline(result.folder, section, None).write(file)
    slices = [
        event for event in json.loads(file.read_text(encoding="utf-8"))["traceEvents"] if "dur" in event
    ]
    (worst,) = [event for event in slices if "value_ns" in event["args"]]
    middle = worst["ts"] + worst["dur"] / 2
    around = {event["name"] for event in slices if event["ts"] <= middle <= event["ts"] + event["dur"]}
    assert around & {"basepri 0x50", "primask"}


@pytest.mark.parametrize(("board", "cycles"), [("nucleo-l476rg", 16), ("nucleo-f446re", 13)])
def test_a_block_of_seglist_costs_more_on_an_l476(board: str, cycles: int, tmp_path: Path) -> None:
    """A sweep gives 14, which do for any other; its page says so."""
    depths = {"depth": 64, "trials": 1}
    plan = catalogue.load("mem_frag", depths, stimulus="none").compile(fit.place(boards.board(board)))
    image = firmware.build("seglist", board=board)
    result = conduct.run(Direct(RunRequest(plan, image, board=f"virtual:{board}", runs=tmp_path)))
    trials = operations(result.folder).filter(pl.col("measured") & (pl.col("kind") == "A"))
    took = dict(trials.select("depth", "dwt_cycles").iter_rows())
    assert (took[64] - took[32]) / 32 == pytest.approx(cycles, abs=0.5)


def test_a_board_whose_hsi_makes_less_is_believed_at_what_it_makes(tmp_path: Path) -> None:
    """64 MHz of an F103, where its HSE makes 72."""
    file = tmp_path / "mine.toml"
    virtual = (ROOT / "capture/desk/boards/virtual.toml").read_text(encoding="utf-8")
    kind = 'kind = "virtual-nucleo"'
    assert kind in virtual
    text = virtual.replace(kind, f'{kind}\nclock = "internal"')
    file.write_text(f'board = "nucleo-f103rb"\n{text}', encoding="utf-8")
    plan = catalogue.load("mem_frag", FEW["mem_frag"]).compile(fit.place(boards.board("nucleo-f103rb")))
    image = firmware.build("tlsf", board="nucleo-f103rb")
    result = conduct.run(Direct(RunRequest(plan, image, board=str(file), runs=tmp_path / "runs")))
    assert result.verdict == "complete", result.reasons
    manifest = read_manifest(result.folder / "run.json")
    assert manifest.core_hz == 64_000_000
    assert any("may be 2.5% off" in warning for warning in manifest.warnings)


@pytest.mark.parametrize("board", ["nucleo-f103rb", "nucleo-f072rb"])
def test_each_core_has_bounds_of_its_own(board: str) -> None:
    """Without wait states the smaller cores take longer: MLA, loads, branches, no 32-bit code."""
    image, usual = firmware.build("tlsf", board=board), firmware.build("tlsf")
    for name, bound in code_bounds(image.elf, "tlsf", image.configuration.knobs, 0).items():
        on_m4 = code_bounds(usual.elf, "tlsf", usual.configuration.knobs, 0)[name]
        assert bound.cycles is not None, bound.why_not
        assert on_m4.cycles is not None
        assert bound.cycles > on_m4.cycles


ALONE = {"heap_1": "heap_1 never frees, and mem_frag frees 16 blocks."}
"""What cannot run there, and why."""


def test_every_allocator_fits_a_small_board() -> None:
    """The linker refuses what does not fit flash and SRAM, and the build what serves nothing."""
    board = "nucleo-f103rb"
    on = boards.board(board)
    plan = catalogue.load("mem_frag", {"depth": 8, "trials": 1}).compile(fit.place(on))
    names, left_out = fit.choose_for(on, [plan], ["all"])
    assert set(ALONE) == set(firmware.allocators()) - set(names)
    assert all(any(sentence.endswith(why) for sentence in left_out) for why in ALONE.values())
    for name in names:
        image = firmware.build(name, board=board)
        assert image.configuration.heap_bytes == on.memory.heap_bytes
        assert section_bytes(image.elf)[".text"] < on.memory.firmware_bytes


@pytest.mark.long
@pytest.mark.parametrize("board", OTHERS)
def test_stock_tools_load_and_capture_it_on_the_emulated_desk(board: str, tmp_path: Path) -> None:
    """pyOCD by the board's own target, sigrok-cli, pySerial."""
    little = ("--parameter", "depth=8", "--parameter", "trials=1")
    words = ("scenario", "mem_frag", "--allocator", "tlsf", *little)
    command = (sys.executable, "-m", "cli", *words, "--board", f"desk:{board}", "--runs", str(tmp_path))
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = tmp_path.glob("*/run.json")
    manifest = read_manifest(path)
    assert manifest.complete, manifest.reasons
    assert manifest.asked is not None and manifest.asked.board == board
    assert {"pyocd", "sigrok_cli"} <= set(manifest.tools)
    boot = parse((path.parent / "uart.log").read_bytes()).first(Boot)
    source = {"clock": "bypass", "crystal": "crystal", "nothing": "internal"}
    assert boot is not None and boot.clock == source[boards.board(board).clock.at_osc_in]
