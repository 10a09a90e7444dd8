"""`./lab scenario --board a,b`: which runs, how they are called, what is refused before any."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from analysis.explain.replay import elf_of
from base.files.errors import CaptureError
from base.run_folder.folder import MANIFEST
from base.run_folder.manifest import read_manifest
from capture.acquisition.source import RunRequest
from cli.shell import start
from cli.shell.runs import compiled
from cli.shell.shared import RunOptions
from cli.tests.typed import refused
from dashboards.loaded.runs import load_run
from dashboards.loaded.series import by_scenario
from firmware.build import boards
from firmware.build import image as firmware
from scenarios.operations import decode
from scenarios.plan import Plan
from tests import lab
from tests.tables import table

BOARDS = "virtual:nucleo-f446re,virtual"
FEW = ("--parameter", "depth=8", "--parameter", "trials=1", "--capture", "direct")


def test_the_names_tell_the_board_where_it_is_not_the_first(tmp_path: Path) -> None:
    """Runs of two allocators on two boards."""
    done = lab.run("scenario", "mem_frag", *FEW, "--board", BOARDS, "--runs", tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    runs = [Path(run["folder"]) for run in json.loads(done.stdout)["runs"]]
    ends = [run.name.split("-", 1)[1] for run in runs]
    assert ends[0] == "mem_frag-seglist-virtual_nucleo_f446re"
    assert ends[2] == "mem_frag-seglist-virtual"
    series = by_scenario([load_run(run) for run in runs])["mem_frag"]
    assert [series.name for series in series] == [
        "seglist",
        "seglist, nucleo-f446re",
        "tlsf",
        "tlsf, nucleo-f446re",
    ]


@table
def test_what_is_wrong_with_several_boards_is_one_sentence(words: str, sentence: str) -> None:
    assert refused("scenario", "mem_frag", "--board", words).startswith(sentence)


@table
def test_a_wrong_option_for_a_file_is_one_sentence(words: str, said: str) -> None:
    assert said in refused("observe", "nowhere.sr", *words.split())


def test_a_files_option_without_a_file_is_one_sentence() -> None:
    assert "only of a file" in refused("observe", "--run", ".")
    assert "--parameter: only of a file" in refused("observe", "--parameter", "depth=1")


BOARD = "nucleo-f072rb"


def plan_of(stimulus: str | None) -> Plan:
    return compiled("mem_frag", RunOptions(stimulus=stimulus), boards.board(BOARD))


def test_a_control_that_the_board_has_not_is_refused() -> None:
    with pytest.raises(CaptureError, match="Nucleo-F072RB has no control interrupt, and --stimulus"):
        plan_of("periodic:5003,7919")
    for fine in (None, "sweep", "periodic:5003", "periodic:5003,0"):
        plan_of(fine)


def test_a_scenarios_own_control_is_left_out() -> None:
    plan = plan_of(None)
    image = firmware.build("tlsf", board=BOARD)
    planned = RunRequest(plan, image, board=f"virtual:{BOARD}").planned
    assert plan.stimulus.control_period_ticks
    assert planned.stimulus.control_period_ticks == 0
    assert decode(planned.image).stimulus == planned.stimulus
    assert planned.image_crc32 == plan.image_crc32


@pytest.fixture(scope="module")
def elf() -> Path:
    """A program of a Cortex-M4F; the compiler says so in it."""
    return firmware.build("tlsf").elf


@pytest.mark.parametrize("command", ["masks {elf}", "latency {elf} --irq TIM2", "bounds {elf}"])
@pytest.mark.parametrize(
    ("chip", "core"), [("stm32f072rb", "Cortex-M0 (Armv6-M)"), ("f103rb", "Cortex-M3 (Armv7-M)")]
)
def test_a_program_of_another_core_is_refused(command: str, chip: str, core: str, elf: Path) -> None:
    assert refused(*command.format(elf=elf).split(), "--chip", chip) == (
        f"{elf} was made for a Cortex-M4 or Cortex-M7 (Armv7E-M), and {chip} is a {core}: build it with "
        f"-mcpu={core.partition(' ')[0].lower()}, or run it all the same with --any-core."
    )


def test_each_run_is_of_a_firmware_that_was_compiled_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--allocator", "seglist", "--parameter", "operations=200", "--capture", "direct")
    done = lab.run("scenario", "mem_stress", *words, "--optimise", "-O2,-Os", "--runs", tmp_path)
    assert done.returncode == 0, done.stderr
    usual, small = sorted(tmp_path.glob("*Z-mem_stress-*"), key=lambda folder: ".Os-" in folder.name)
    for folder, option in ((usual, "-O2"), (small, "-Os")):
        assert json.loads((folder / MANIFEST).read_text())["asked"]["optimization"] == option[2:]
        # GCC writes its command line down, and the replay builds the same firmware again.
        elf = elf_of(read_manifest(folder / MANIFEST))
        dump = subprocess.run(("arm-none-eabi-readelf", "--debug-dump=info", elf), capture_output=True)
        (producer, *_) = (line for line in dump.stdout.splitlines() if b"GNU C" in line and b"thumb" in line)
        assert [word for word in producer.decode().split() if word.startswith("-O")][-1] == option
    capsys.readouterr()
    assert start.run(["compare", str(usual), str(small), "--json"]) == 1  # slower
    (pair,) = json.loads(capsys.readouterr().out)["pairs"]
    assert ["-O2", "-Os"] in [[row["a"], row["b"]] for row in pair["settings"]]
