"""Campaigns from end to end: whatever is killed, the tables are the same to the byte."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import polars as pl
import pytest
from distributed import Client, LocalCluster

from analysis.campaign import conduct, matrix, work
from analysis.campaign.store import RUNS, Store
from analysis.campaign.tests.made import inline
from analysis.campaign.work import COLUMNS, Order, Outcome
from analysis.errors import CampaignError
from base.paths import ROOT
from capture import placements
from capture.acquisition.source import RunRequest
from capture.tests.altered import one_edge_late
from firmware.build import image as firmware
from simulator import build as simulator
from tests import lab

MATRIX = """
scenarios = ["mem_frag"]
allocators = ["tlsf"]
parameters = [{ depth = 2, trials = 1 }, { depth = 3, trials = 1 }]
samplerate = [84_000_000, 24_000_000]
"""
WITHIN_S = 900.0


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> matrix.Matrix:
    path = tmp_path_factory.mktemp("matrix") / "small.toml"
    path.write_text(MATRIX, encoding="utf-8")
    return matrix.read(path)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with inline(tmp_path_factory.mktemp("worker")) as made:
        yield made


def conducted(small: matrix.Matrix, folder: Path, client: Client) -> tuple[Store, conduct.Course]:
    store = Store(folder)
    with store.writing():
        store.keep_matrix(small.text, small.count())
        course = conduct.run(small, store, client, small.count(), lambda _: None)
    return store, course


def complete(store: Store) -> int:
    return sum(result.complete for result in store.results.values())


@pytest.fixture(scope="module")
def undisturbed(small: matrix.Matrix, client: Client, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the campaign, made in this process."""
    simulator.build()
    folder = tmp_path_factory.mktemp("undisturbed")
    store, course = conducted(small, folder, client)
    assert (course.settled, course.incomplete) == (4, 0)
    store.write_runs()
    return folder


def tables(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.parquet"))}


def stored(folder: Path) -> int:
    return len([*folder.glob("results/*.json")])


def wait_for_runs(folder: Path, most: int, command: subprocess.Popen[bytes]) -> None:
    deadline_s = time.monotonic() + WITHIN_S
    while stored(folder) < most:
        assert time.monotonic() < deadline_s and command.poll() is None
        time.sleep(0.02)


def workers_of(command: subprocess.Popen[bytes]) -> list[int]:
    """The processes of the command's workers."""
    children = Path(f"/proc/{command.pid}/task").glob("*/children")
    pids = [int(word) for path in children for word in path.read_text(encoding="utf-8").split()]
    return [pid for pid in pids if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]


@pytest.mark.long
def test_with_worker_and_command_killed_the_tables_are_the_same(
    small: matrix.Matrix, undisturbed: Path, tmp_path: Path
) -> None:
    words = [sys.executable, "-m", "cli", "campaign", str(small.path)]
    words += ["--output", str(tmp_path / "out"), "--workers", "1"]
    with subprocess.Popen(words, cwd=ROOT, stderr=subprocess.DEVNULL) as command:
        wait_for_runs(tmp_path / "out", 1, command)
        for pid in workers_of(command):
            os.kill(pid, signal.SIGKILL)
        wait_for_runs(tmp_path / "out", 2, command)
        command.kill()
    before = stored(tmp_path / "out")
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=WITHIN_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 runs complete, 0 not complete; 4 were asked for last." in done.stdout
    assert 2 <= before <= 3 and stored(tmp_path / "out") == 4
    assert tables(tmp_path / "out") == tables(undisturbed)


def no_run(_order: Order, _scratch: Path) -> Outcome:
    raise AssertionError("a run was made")


def test_a_worker_hears_no_ctrl_c_from_its_start(tmp_path: Path) -> None:
    with conduct.local(tmp_path / "scratch", 1) as client:
        blocked = client.submit(signal.pthread_sigmask, signal.SIG_BLOCK, ()).result()
    assert {signal.SIGINT, signal.SIGHUP} <= blocked
    assert not {signal.SIGINT, signal.SIGHUP} & signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_what_is_done_is_not_done_again_whatever_words_ask_for_it(
    undisturbed: Path, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(undisturbed, tmp_path / "out")
    path = tmp_path / "matrix.toml"
    path.write_text(
        MATRIX.replace("depth = 2, trials = 1", 'depth = "2", trials = 1 }, { depth = 2, trials = 1')
    )
    monkeypatch.setattr(work, "run", no_run)
    store, course = conducted(matrix.read(path), tmp_path / "out", client)
    assert (course.settled, course.made, store.asked) == (6, 0, (4, True))


def test_any_reader_of_parquet_has_runs_and_partitions(undisturbed: Path) -> None:
    runs = pl.read_parquet(undisturbed / RUNS)
    assert runs.schema == COLUMNS
    assert runs["verdict"].to_list() == ["complete"] * 4
    operations = pl.scan_parquet(undisturbed / "operations", hive_partitioning=True).collect()
    assert set(operations["key"]) == set(runs["key"])
    assert operations.select("scenario", "allocator").unique().rows() == [("mem_frag", "tlsf")]
    longest = (
        operations.filter(pl.col("measured") & (pl.col("kind") == "A"))
        .group_by("key")
        .agg(pl.col("wire_critical_ns").max())
    )
    assert (runs["peak_live_bytes"] > 0).all() and (runs["used_bytes"] >= runs["peak_live_bytes"]).all()
    most = operations.group_by("key").agg(pl.col("used_bytes").max().cast(pl.Int64).alias("most"))
    assert runs.join(most, on="key").select(pl.col("used_bytes") == pl.col("most")).to_series().all()
    joined = runs.join(longest, on="key")
    assert joined["wire_critical_ns"].to_list() == joined["critical_ns_max"].to_list()


def test_a_folder_tells_what_it_has(undisturbed: Path) -> None:
    before = tables(undisturbed)
    done = lab.run("campaign", "status", undisturbed, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["complete"], document["not_complete"]) == (4, [])
    assert document["worst"]["scenario"] == "mem_frag"
    assert tables(undisturbed) == before


def test_a_run_that_breaks_is_told_and_tried_again_by_the_same_command(
    small: matrix.Matrix, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = []

    def breaks(order: Order, _scratch: Path) -> Outcome:
        attempts.append(order.key)
        raise RuntimeError("the worker burnt down")

    monkeypatch.setattr(work, "run", breaks)
    store, course = conducted(small, tmp_path / "out", client)
    assert (course.settled, course.incomplete) == (4, 4)
    assert sorted(attempts) == sorted(store.results)
    assert store.rows().select("state", "verdict", "reason").unique().rows()[0][:2] == ("failed", None)
    for reason in store.rows()["reason"]:
        assert reason.endswith("No worker brought it to an end: RuntimeError: the worker burnt down")
    assert conducted(small, tmp_path / "out", client)[1].made == 4


def test_what_cannot_be_run_is_refused_before_the_first_run(tmp_path: Path) -> None:
    path = tmp_path / "matrix.toml"
    path.write_text('scenarios = ["mem_frag"]\nparameters = [{ deepth = 3 }]\n', encoding="utf-8")
    with pytest.raises(CampaignError, match=r"matrix.toml: mem_frag on seglist, deepth=3 cannot"):
        conduct.check(matrix.read(path), lambda _: None)


@pytest.mark.long
def test_a_scheduler_that_is_there_gives_the_same_and_its_loss_is_one_sentence(
    small: matrix.Matrix, undisturbed: Path, tmp_path: Path
) -> None:
    with (
        LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=1,
            threads_per_worker=1,
            processes=False,
            host="127.0.0.1",
            protocol="tcp",
            dashboard_address=None,
            local_directory=str(tmp_path / "scratch"),
        ) as there,
        conduct.remote(there.scheduler_address) as client,
    ):
        store, course = conducted(small, tmp_path / "out", client)
        assert course.settled == 4
        store.write_runs()
        assert tables(store.folder) == tables(undisturbed)
        there.close()
        with pytest.raises(CampaignError, match="scheduler is gone"):
            conducted(small, tmp_path / "other", client)


@pytest.fixture(scope="module")
def direct(tmp_path_factory: pytest.TempPathFactory) -> matrix.Matrix:
    """Of two images at two samplerates each two runs, captured direct."""
    path = tmp_path_factory.mktemp("matrix") / "direct.toml"
    path.write_text(f'{MATRIX}capture = "direct"\nverify = 1e-9\n', encoding="utf-8")
    return matrix.read(path)


@pytest.fixture(scope="module")
def direct_folder(direct: matrix.Matrix, client: Client, tmp_path_factory: pytest.TempPathFactory) -> Path:
    simulator.build()
    store, course = conducted(direct, tmp_path_factory.mktemp("direct"), client)
    assert (course.settled, course.incomplete, course.differs) == (4, 0, None)
    store.write_runs()
    return store.folder


def test_direct_runs_give_the_tables_of_the_real_tools_under_other_keys(
    direct_folder: Path, undisturbed: Path
) -> None:
    ways = [pl.read_parquet(folder / RUNS) for folder in (undisturbed, direct_folder)]
    assert not set(ways[0]["key"]) & set(ways[1]["key"])
    assert [set(way["analyzer"]) for way in ways] == [{"beaglelogic"}, {"direct"}]
    same = [way.drop("key", "verified", "analyzer").sort("parameters", "samplerate_hz") for way in ways]
    assert same[0].equals(same[1])


def test_the_first_run_of_each_image_at_each_samplerate_is_verified(
    direct_folder: Path, undisturbed: Path
) -> None:
    runs = pl.read_parquet(direct_folder / RUNS)
    rows = runs.sort("parameters", "samplerate_hz").select("parameters", "samplerate_hz", "verified").rows()
    shallow, deep = sorted(set(runs["parameters"]))
    assert rows == [
        (shallow, 24_000_000, True),
        (shallow, 84_000_000, True),
        (deep, 24_000_000, False),
        (deep, 84_000_000, False),
    ]
    assert set(pl.read_parquet(undisturbed / RUNS)["verified"]) == {None}
    assert (
        "4 captured direct, 2 of them verified by sigrok-cli."
        in lab.run("campaign", "status", direct_folder).stdout
    )


@pytest.mark.long
def test_placements_are_runs_of_one_campaign(tmp_path: Path, client: Client) -> None:
    path = tmp_path / "placed.toml"
    path.write_text(
        'scenarios = ["mem_frag"]\nallocators = ["tlsf"]\nparameters = [{ depth = 2, trials = 1 }]\n'
        'placements = 3\ncapture = "direct"\nverify = 1e-9\n',
        encoding="utf-8",
    )
    campaign = matrix.read(path)
    store, course = conducted(campaign, tmp_path / "placed", client)
    assert (course.settled, course.incomplete, course.differs) == (3, 0, None)
    runs = store.rows().sort("placement")
    # The first run of an image is verified; a placement of it is no other image.
    assert runs.select("placement", "verified").rows() == [(0, True), (1, False), (2, False)]
    plan = campaign.scenario(next(campaign.points())).compile()
    alone = placements.measure(RunRequest(plan=plan, image=firmware.build("tlsf")), 3)
    for column in ("critical_ns", "dwt_cycles", "interrupt_latency_ns"):
        assert runs[f"{column}_max"].to_list() == [
            measurement.greatest[column] for measurement in alone.measured
        ]


@pytest.mark.long
def test_a_simulator_that_is_not_what_the_real_tools_see_stops_the_campaign(
    direct: matrix.Matrix,
    direct_folder: Path,
    client: Client,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(work, "run", partial(work.run, program=one_edge_late(tmp_path)))
        store, course = conducted(direct, tmp_path / "out", client)
    assert course.differs is not None
    key = course.differs["key"]
    assert (
        "The direct capture is not what the real tools bring: "
        "edges.parquet differs from that by sigrok-cli: row "
    ) in course.differs["reason"]
    store.write_runs()
    status = lab.run("campaign", "status", store.folder)
    assert status.returncode == 1
    assert status.stdout.startswith(f"Stopped. mem_frag on tlsf, run {key[:12]}: ")

    # With the simulator mended, the same command goes on.
    assert not any(result.row.get("verified") is False for result in store.results.values())
    store, course = conducted(direct, store.folder, client)
    assert course.differs is None
    store.write_runs()
    assert tables(store.folder) == tables(direct_folder)
