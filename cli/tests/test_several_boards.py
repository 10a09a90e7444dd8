"""`./lab scenario --board a,b`: which runs, how they are called, what is refused before any."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from base.files.errors import CaptureError
from base.run_folder.manifest import read_manifest
from base.run_index.index import index, latest
from capture.desk.bench import read_bench
from cli.shell import values
from cli.tests.typed import refused
from cli.work import where
from dashboards.loaded.runs import load_run
from dashboards.loaded.series import by_scenario
from firmware.build import boards
from tests import lab

BOARDS = "virtual:nucleo-f446re,virtual"
FEW = ("--parameter", "depth=8", "--parameter", "trials=1", "--capture", "direct")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of two allocators on two boards."""
    return tmp_path_factory.mktemp("several")


@pytest.fixture(scope="module")
def runs(folder: Path) -> list[Path]:
    done = lab.run("scenario", "mem_frag", *FEW, "--board", BOARDS, "--runs", str(folder), "--json")
    assert done.returncode == 0, done.stderr
    return [Path(run["folder"]) for run in json.loads(done.stdout)["runs"]]


@pytest.mark.long
def test_each_board_has_a_run_with_each_allocator_in_order(runs: list[Path]) -> None:
    manifests = [read_manifest(run / "run.json") for run in runs]
    assert [(manifest.board_folder, manifest.allocator) for manifest in manifests] == [
        ("nucleo-f446re", "seglist"),
        ("nucleo-f446re", "tlsf"),
        ("nucleo-f401re", "seglist"),
        ("nucleo-f401re", "tlsf"),
    ]
    assert [manifest.core_hz for manifest in manifests] == [180_000_000] * 2 + [84_000_000] * 2


def test_the_names_tell_the_board_where_it_is_not_the_first(runs: list[Path]) -> None:
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


def test_no_board_hides_another_in_the_index(folder: Path, runs: list[Path]) -> None:
    table = index(folder)
    assert len(latest(table)) == len(runs)
    assert sorted(table["board_folder"].unique()) == ["nucleo-f401re", "nucleo-f446re"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("virtual,virtual", "--board virtual,virtual: virtual is named twice; name each board once."),
        ("virtual,virtual:nucleo-f401re", "--board names virtual twice: name each board once"),
        ("virtual,desk", "The desk of desk is emulated for one command alone: give it a --board by itself."),
        ("virtual,dsk", "bench.toml has no board 'dsk'. Did you mean desk?"),
        ("virtual,virtual:nucleo-f999re", "bench.toml has no board 'virtual:nucleo-f999re'."),
    ],
)
def test_what_is_wrong_with_several_boards_is_one_sentence(words: str, sentence: str) -> None:
    assert refused("scenario", "mem_frag", "--board", words).startswith(sentence)


def test_two_folders_of_one_name_are_no_two_boards(tmp_path: Path) -> None:
    for name in ("a", "b"):
        shutil.copytree(boards.FOLDER / "nucleo-f446re", tmp_path / name / "mine")
    words = [f"virtual:{tmp_path}/{name}/mine" for name in ("a", "b")]
    with pytest.raises(CaptureError, match=r"--board names virtual_mine twice: .*folders of different names"):
        where.run_each(words)


def test_the_boards_own_entry_is_not_another_board() -> None:
    bench = read_bench()
    assert bench.board("virtual:nucleo-f401re") == bench.board("virtual")


def without_basepri(folder: Path) -> Path:
    """The Nucleo-F446RE, of which the table says that its core has no BASEPRI."""
    made = shutil.copytree(boards.FOLDER / "nucleo-f446re", folder / "bare")
    table = made / "board.toml"
    locks = 'locks = ["basepri", "primask", "scheduler"]'
    text = table.read_text(encoding="utf-8")
    assert locks in text
    table.write_text(text.replace(locks, 'locks = ["primask"]'), encoding="utf-8")
    return made


@pytest.mark.parametrize("lock", ["basepri", "scheduler"])
def test_a_lock_that_the_core_lacks_is_refused_before_anything_is_built(lock: str, tmp_path: Path) -> None:
    board = f"virtual,virtual:{without_basepri(tmp_path)}"
    said = refused("scenario", "mem_frag", "--board", board, "--locking", lock, "--runs", str(tmp_path / "r"))
    assert said == f"The core of bare has no {lock} lock: choose primask."
    assert not (tmp_path / "r").exists()


def test_a_heap_that_one_of_the_boards_has_no_room_for_is_refused(tmp_path: Path) -> None:
    """The Nucleo-F446RE has 128 KiB of SRAM and room for it, the F401RE 96 KiB and has not."""
    board, runs = "virtual:nucleo-f446re,virtual", tmp_path / "runs"
    said = refused("scenario", "mem_frag", "--board", board, "--heap", "98304", "--runs", str(runs))
    assert said.startswith("A heap of 98,304 bytes does not fit the Nucleo-F401RE beside the 513 slots of")
    assert not runs.exists()


def test_each_word_is_completed_and_none_twice() -> None:
    kind = values.BOARDS
    assert kind.read("virtual,virtual:nucleo-f446re", "--board") == ("virtual", "virtual:nucleo-f446re")
    completion_items = kind.shell_complete(None, None, "virtual,virtual:nucleo-f4")  # type: ignore[arg-type]
    assert "virtual,virtual:nucleo-f446re" in [completion_item.value for completion_item in completion_items]
    again = kind.shell_complete(None, None, "virtual,vir")  # type: ignore[arg-type]
    assert "virtual,virtual" not in [completion_item.value for completion_item in again]
