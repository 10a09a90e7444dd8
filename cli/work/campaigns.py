"""`./lab campaign`: a matrix of runs on all cores or a cluster, and what a folder has of one."""

from __future__ import annotations

import json as json_format
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from analysis.campaign import cluster, conduct, matrix
from analysis.campaign.journal import MOST_ATTEMPTS
from analysis.campaign.rows import DIFFERS
from analysis.campaign.store import RUNS as RUNS_TABLE
from analysis.campaign.store import Store
from analysis.errors import CampaignError
from base.microseconds import microseconds
from base.paths import RUNS
from base.processes import signals
from capture.acquisition.direct import ANALYZER as DIRECT
from cli.work import choose_allocators, progress
from firmware.build import boards
from simulator import build as simulator

CAMPAIGNS = RUNS / "campaigns"
_MOST_NAMED = 10
_MOST_LISTED = 1000
_USAGE = "give a matrix (docs/how-to/campaigns.md), or status, results or clean and the folder of a campaign"


@dataclass(frozen=True)
class Done:
    """What to print, and whether all that was asked for is complete."""

    text: str
    complete: bool


def run(
    words: Sequence[str], *, output: Path | None, scheduler: str | None, workers: int | None, json: bool
) -> Done:
    """Does what the words of the command ask for. Raises TailscopeError, signals.Stopped."""
    acts = {"status": _status, "results": _results, "clean": _clean}
    if len(words) == 2 and words[0] in acts:
        return acts[words[0]](Store.existing(Path(words[1])), json)
    if len(words) != 1 or words[0] in acts:
        raise CampaignError(f"./lab campaign {' '.join(words)[:80]}: {_USAGE}.")
    if scheduler and workers:
        raise CampaignError("--workers is of this machine, and those of --scheduler are there: drop one.")
    asked = matrix.read(Path(words[0]))
    return _run(asked, Store(_folder(asked, output)), scheduler, workers or 0, json)


def _folder(asked: matrix.Matrix, output: Path | None) -> Path:
    return output or CAMPAIGNS / asked.path.stem


def _run(asked: matrix.Matrix, store: Store, scheduler: str | None, workers: int, json: bool) -> Done:
    with signals.orderly(), progress.shown() as shown, store.writing():
        try:
            shown("building the virtual Nucleo")
            simulator.build()
            asked = conduct.check(asked, _refuse, shown)
            for name in sorted(asked.left_out):
                shown.line(f"{name} is left out: it cannot run all of the scenarios.")
            if store.holds_another(asked.text):
                shown.line(f"{store.folder} has runs of another matrix, which stay in its tables.")
            points = asked.count()
            store.keep_matrix(asked.text, points)
            shown("starting the workers")
            with _workers(scheduler, store, workers) as made:
                conduct.run(asked, store, made, points, _Telling(shown))
            signals.check()
        except signals.Stopped as stopped:
            store.write_runs()
            kept = f"{store.complete:,} complete runs are kept in {store.folder}: the same command goes on"
            raise signals.Stopped(stopped.number, kept) from None
        return _results(store, json)


def _refuse(plan: Any, allocator: str, board: str) -> None:
    choose_allocators.choose([plan], [allocator], boards.board(board))


def _workers(scheduler: str | None, store: Store, workers: int) -> AbstractContextManager[cluster.Cluster]:
    return cluster.remote(scheduler) if scheduler else cluster.local(store.scratch, workers)


class _Telling:
    """Says how far it is, with rate, time left and the worst so far."""

    def __init__(self, shown: progress.Steps) -> None:
        self._shown = shown
        self._next_s = 0.0

    def __call__(self, course: conduct.Course) -> None:
        now_s = time.monotonic()
        if now_s >= self._next_s:
            self._next_s = now_s + 0.5
            self._shown(in_words(course))


def in_words(course: conduct.Course) -> str:
    """`412 of 1,000 runs, 130 a minute, about 5 min left, longest section …`."""
    words = [f"{course.settled:,} of {course.points:,} runs"]
    if course.per_minute is not None and course.left_s is not None:
        words += [f"{course.per_minute:,.0f} a minute", f"about {progress.duration(course.left_s)} left"]
    if course.incomplete:
        words += [f"{course.incomplete:,} not complete"]
    if course.worst is not None:
        row = course.worst
        longest = f"{microseconds(row['critical_ns_max'])}, {row['scenario']} on {row['allocator']}"
        words += [f"longest section {longest}"]
    return ", ".join(words)


def _clean(store: Store, json: bool) -> Done:
    with store.writing():
        forgotten = store.clean()
    after = Store(store.folder)
    after.write_runs()
    noun = "run is" if forgotten == 1 else "runs are"
    text = f"{forgotten:,} {noun} forgotten, to be tried anew; {after.complete:,} complete ones are kept."
    found = {"forgotten": forgotten, "complete": after.complete}
    return Done(json_format.dumps(found) if json else text, True)


def _results(store: Store, json: bool) -> Done:
    """Writes runs.parquet, and says what there is."""
    table = store.write_runs()
    return _told(store, json, str(table))


def _status(store: Store, json: bool) -> Done:
    return _told(store, json, None)


def _told(store: Store, json: bool, table: str | None) -> Done:
    store.check_rows()
    rows, points = store.rows(), store.points()
    bad = rows.filter(pl.col("verdict").ne_missing("complete"))
    problems = _listed(bad)
    worst = (
        rows.drop_nulls("critical_ns_max")
        .top_k(1, by=["critical_ns_max", "key"], reverse=[False, True])
        .select(_WORST)
    )
    found = {
        "folder": str(store.folder),
        "asked": points,
        "over": store.over,
        "complete": store.complete,
        "direct": _height(rows.filter(pl.col("analyzer") == DIRECT)),
        "verified": store.verified,
        "differing": [{**row, "kept": str(store.differing(row["key"]))} for row in _listed(bad, DIFFERS)],
        "not_complete": problems,
        "not_complete_n": _height(bad),
        "gone": store.gone(),
        "worst": next(iter(worst.collect(engine="streaming").to_dicts()), None),
        "runs": table,
    }
    whole = not problems and not found["gone"] and store.over
    return Done(json_format.dumps(found, indent=2) if json else _as_text(found), whole)


_PROBLEM = ("key", "scenario", "allocator", "state", "verdict", "reason")
_WORST = ("key", "scenario", "allocator", "configuration", "seed", "critical_ns_max")


def _height(rows: pl.LazyFrame) -> int:
    return int(rows.select(pl.len()).collect(engine="streaming").item())


def _listed(rows: pl.LazyFrame, state: str | None = None) -> list[dict[str, Any]]:
    """The first of them by key; those of one state, where it is given."""
    chosen = rows if state is None else rows.filter(pl.col("state") == state)
    return chosen.select(_PROBLEM).head(_MOST_LISTED).collect(engine="streaming").to_dicts()


def _as_text(found: Mapping[str, Any]) -> str:
    problems, worst = found["not_complete"], found["worst"]
    lines = [
        f"Stopped. {row['scenario']} on {row['allocator']}, run {row['key'][:12]}: {row['reason']} "
        f"Both runs are kept in {row['kept']}."
        for row in found["differing"]
    ]
    not_complete = found["not_complete_n"]
    complete, asked = found["complete"], found["asked"]
    of = f" of {asked:,}" if complete <= asked else ""
    lines += [f"{complete:,}{of} runs complete, {not_complete:,} not complete."]
    if complete > asked:
        lines += [f"{asked:,} were asked for last; the others are of earlier matrices or sources."]
    if not found["over"]:
        lines += ["The campaign is not over: the same command goes on."]
    if found["direct"]:
        lines += [
            f"{found['direct']:,} captured direct, {found['verified']:,} of them verified by sigrok-cli."
        ]
    problems = [row for row in problems if row["state"] != DIFFERS]
    for row in problems[:_MOST_NAMED]:
        said = row["verdict"] or row["state"]
        lines.append(
            f"{row['scenario']} on {row['allocator']}, run {row['key'][:12]}: {said}. {row['reason']}"
        )
    if not_complete > _MOST_NAMED:
        lines.append(f"… and {not_complete - _MOST_NAMED:,} more: state and reason in {RUNS_TABLE}.")
    if problems:
        lines.append(f"Each is tried {MOST_ATTEMPTS} times; ./lab campaign clean FOLDER forgets them.")
    if found["gone"]:
        noun = "run lacks a table" if found["gone"] == 1 else "runs lack a table"
        lines.append(
            f"{found['gone']:,} {noun} in the folder. ./lab campaign clean FOLDER forgets such runs, "
            "and the same command makes them anew."
        )
    if worst:
        lines.append(
            f"longest critical section of an allocation: {microseconds(worst['critical_ns_max'])}, "
            f"{worst['scenario']} on {worst['configuration']}, run {worst['key'][:12]}"
        )
    return "\n".join([*lines, *([f"table: {found['runs']}"] if found["runs"] else [])])
