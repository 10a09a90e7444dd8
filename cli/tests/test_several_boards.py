"""`./lab scenario --board a,b`: which runs, how they are called, what is refused before any."""

from __future__ import annotations

import json
from pathlib import Path

from cli.tests.typed import refused
from dashboards.loaded.runs import load_run
from dashboards.loaded.series import by_scenario
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
