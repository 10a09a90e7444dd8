"""A run folder as `tailscope.Run` reads it, and as a stranger's."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import tailscope
from base.paths import ROOT
from tests.checkout import Checkout
from tests.run_folders import edit_manifest, seal
from tests.sentences import Sentences


@pytest.fixture(scope="module")
def folder(checkout: Checkout) -> Path:
    return checkout.folder / checkout.run


@pytest.fixture
def damaged(folder: Path, tmp_path: Path) -> Path:
    """A copy of the run folder, to be changed."""
    return Path(shutil.copytree(folder, tmp_path / "run"))


def python(checkout: Checkout, script: str) -> subprocess.CompletedProcess[str]:
    """A script in a project beside the checkout: it has folders of the names of the bench's."""
    project = checkout.folder / "project"
    for name in ("base", "cli", "capture"):
        (project / name).mkdir(parents=True, exist_ok=True)
        (project / name / "__init__.py").write_text("raise SystemExit('the project itself')")
    paths = os.pathsep.join([str(checkout.folder), os.environ.get("PYTHONPATH", "")]).strip(os.pathsep)
    root = str(ROOT)
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=project,
        env={**os.environ, "PYTHONPATH": f"{paths}{os.pathsep}{root}"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_figures_are_those_of_the_tables(folder: Path) -> None:
    run = tailscope.Run(folder)
    stimuli = run.interrupts.filter(~pl.col("control"))
    measured = run.operations.filter(pl.col("measured") & pl.col("kind").is_in(["A", "O"]))
    worst = run.worst("interrupt")
    assert worst.ns == stimuli["isr_latency_ns"].max()
    assert run.worst("task").ns == stimuli["task_latency_ns"].max()
    assert run.worst("allocate").ns == measured["wire_critical_ns"].max()
    assert (
        run.worst("allocate").operation in measured.filter(wire_critical_ns=run.worst("allocate").ns)["seq"]
    )
    statistics = run.statistics("critical_ns")
    assert statistics and (statistics.n, statistics.max) == (measured.height, run.worst("allocate").ns)
    assert run.statistics("refused_probes") is None
    assert worst.budget_ns and worst.budget_ns >= 1e9 / run.samplerate_hz


@pytest.mark.parametrize("verdict", ["truncated", "inconclusive"])
def test_a_run_that_is_not_complete_has_no_numbers_by_accident(damaged: Path, verdict: str) -> None:
    edit_manifest(damaged, verdict=verdict, reasons=["A clip is off."])
    with pytest.raises(tailscope.NotComplete, match=f"is {verdict}: A clip is off. Ask with") as refused:
        tailscope.Run(damaged)
    assert (refused.value.verdict, refused.value.reasons) == (verdict, ("A clip is off.",))
    run = tailscope.Run(damaged, any_verdict=True)
    assert not run.complete
    assert run.worst("interrupt").verdict == verdict
    assert f"{verdict}: A clip is off." in repr(run)
    assert verdict in "\n".join(run.worst("interrupt").story())


def numbered_alike(folder: Path) -> None:
    """Gives all operations the number 1."""
    path = folder / "operations.parquet"
    pl.read_parquet(path).with_columns(seq=pl.lit(1, pl.UInt32)).write_parquet(path)
    seal(folder)


CHANGES: tuple[Callable[[Path], object], ...] = (
    lambda folder: (folder / "run.json").unlink(),
    lambda folder: (folder / "operations.parquet").unlink(),
    lambda folder: (folder / "edges.parquet").unlink(),
    lambda folder: (folder / "run.json").write_text("{"),
    lambda folder: (folder / "run.json").write_text(" " * (17 << 20)),
    lambda folder: edit_manifest(folder, schema=2),
    lambda folder: edit_manifest(folder, verdict="fine"),
    lambda folder: edit_manifest(folder, files={}),
    numbered_alike,
    lambda folder: (folder / "edges.parquet").write_bytes(b"PAR1"),
    lambda folder: (folder / "observed.json").touch(),
)


def test_whatever_a_stranger_sends_gets_one_sentence(
    folder: Path, tmp_path: Path, sentences: Sentences
) -> None:
    for number, change in enumerate(CHANGES):
        damaged = Path(shutil.copytree(folder, tmp_path / f"{number}"))
        change(damaged)
        with sentences.raised(tailscope.Error):
            run = tailscope.Run(damaged)
            assert run.operations.height and run.interrupts.height and run.edges.height
            run.worst("interrupt")


def test_what_is_imported_stays_light_and_keeps_the_bench_out(checkout: Checkout, folder: Path) -> None:
    done = python(
        checkout,
        f"""
import json, sys
import tailscope
light = sorted(sys.modules)
run = tailscope.Run({str(folder)!r})
run.operations, run.interrupts, run.edges
print(json.dumps([light, sorted(sys.modules)]))
""",
    )
    light, all_of_it = ({name.partition(".")[0] for name in names} for names in json.loads(done.stdout))
    assert not light & {"polars", "numpy", "pydantic"}
    assert "polars" in all_of_it
    rooms = {"analysis", "base", "capture", "cli", "dashboards", "firmware", "quality", "scenarios"}
    assert not all_of_it & (rooms | {"scipy", "plotly", "click", "elftools", "rich"})


def test_a_scenario_is_run_in_the_folder_that_is_named_and_explained(
    checkout: Checkout, tmp_path: Path, sentences: Sentences
) -> None:
    (tmp_path / "file").write_text("")
    done = python(
        checkout,
        f"""
from pathlib import Path
import tailscope
here = Path({str(tmp_path)!r})
small = dict(allocator="tlsf", parameters={{"depth": 8, "trials": 1}})
run = tailscope.run("mem_frag", **small, folder=here / "some" / "where")
print(run.folder.parent == here / "some" / "where", run.complete, run.parameters["depth"])
explained = run.worst("interrupt").explain()
print(sum(part["cycles"] for part in explained.document["parts"]) == explained.document["cycles"])
print(str(explained).splitlines()[0])
others = ({{"folder": here / "file"}}, {{"allocator": "none_such"}}, {{"parameters": {{"depht": 1}}}})
for wrong in others:
    try:
        tailscope.run("mem_frag", **{{**small, **wrong}})
    except tailscope.Error as error:
        print(error.exit_status, error)
""",
    )
    assert done.returncode == 0, done.stderr
    first, second, place, *refused = done.stdout.splitlines()
    assert (first, second) == ("True True 8", "True")
    assert place.startswith("The stimulus came")
    for sentence in refused:
        sentences.hold(sentence)
    assert (tmp_path / "some" / "where" / "dashboard.html").is_file()
