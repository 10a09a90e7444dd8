"""`./lab campaign`: a matrix of runs on all cores or a cluster, and what a folder has of one."""

from __future__ import annotations

import json as json_format
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from analysis.campaign import conduct, matrix
from analysis.campaign.rows import DIFFERS
from analysis.campaign.store import ATTEMPTS_MAX, Store
from analysis.campaign.store import RUNS as RUNS_TABLE
from analysis.errors import CampaignError
from base.microseconds import microseconds
from base.paths import RUNS
from base.processes import signals
from capture.acquisition.direct import ANALYZER as DIRECT
from cli.work import progress
from firmware.build import boards, fit
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
    wanted = matrix.read(Path(words[0]))
    folder = output or CAMPAIGNS / wanted.path.stem
    with signals.orderly(), progress.shown() as shown:
        store = Store(folder)
        with store.writing():
            return _run(wanted, store, scheduler, workers or 0, shown, json)


def _run(
    wanted: matrix.Matrix,
    store: Store,
    scheduler: str | None,
    workers: int,
    shown: progress.Steps,
    json: bool,
) -> Done:
    try:
        simulator.build(shown)
        wanted = conduct.check(wanted, _refuse, shown)
        for name in sorted(wanted.left_out):
            shown.line(f"{name} is left out: it cannot run all of the scenarios.")
        if store.holds_another(wanted.text):
            shown.line(f"{store.folder} has runs of another matrix, which stay in its tables.")
        points = wanted.count()
        store.keep_matrix(wanted.text, points)
        shown("starting the workers")
        with conduct.remote(scheduler) if scheduler else conduct.local(store.scratch, workers) as client:
            conduct.run(wanted, store, client, points, _Telling(shown))
        signals.check()
    except signals.Stopped as stopped:
        store.write_runs()
        complete = _count(store, verdict="complete")
        words = f"{complete:,} complete runs are kept in {store.folder}: the same command goes on"
        raise signals.Stopped(stopped.number, words) from None
    return _summary(store, json, str(store.write_runs()))


def _refuse(plan: Any, allocator: str, board: str) -> None:
    fit.choose_for(boards.board(board), [plan], [allocator])


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
        longest = f"{microseconds(row['section_ns_max'])}, {row['scenario']} on {row['allocator']}"
        words += [f"longest section {longest}"]
    return ", ".join(words)


def _clean(store: Store, json: bool) -> Done:
    with store.writing():
        forgotten = store.clean()
        store.write_runs()
    complete = _count(store, verdict="complete")
    noun = "run is" if forgotten == 1 else "runs are"
    text = f"{forgotten:,} {noun} forgotten, to be tried anew; {complete:,} complete ones are kept."
    return Done(json_format.dumps({"forgotten": forgotten, "complete": complete}) if json else text, True)


def _results(store: Store, json: bool) -> Done:
    """Writes runs.parquet, and says what there is."""
    return _summary(store, json, str(store.write_runs()))


def _status(store: Store, json: bool) -> Done:
    return _summary(store, json, None)


_PROBLEM = ("key", "scenario", "allocator", "state", "verdict", "reason")
_WORST = ("key", "scenario", "allocator", "configuration", "seed", "section_ns_max")


def _count(store: Store, **values: object) -> int:
    """How many runs have these values in their rows."""
    return sum(values.items() <= result.row.items() for result in store.results.values())


def _summary(store: Store, json: bool, table: str | None) -> Done:
    rows, (points, over) = store.rows(), store.asked
    problems = rows.filter(pl.col("verdict").ne_missing("complete")).select(_PROBLEM)
    worst = rows.drop_nulls("section_ns_max").sort("section_ns_max", "key", descending=[True, False])
    differing = problems.filter(pl.col("state") == DIFFERS).head(_MOST_LISTED).to_dicts()
    summary = {
        "folder": str(store.folder),
        "asked": points,
        "over": over,
        "complete": _count(store, verdict="complete"),
        "direct": _count(store, analyzer=DIRECT),
        "verified": _count(store, verdict="complete", verified=True),
        "differing": [{**row, "kept": str(store.differing(row["key"]))} for row in differing],
        "not_complete": problems.head(_MOST_LISTED).to_dicts(),
        "not_complete_n": problems.height,
        "gone": store.gone(),
        "worst": next(iter(worst.select(_WORST).head(1).to_dicts()), None),
        "runs": table,
    }
    whole = problems.is_empty() and not summary["gone"] and over
    return Done(json_format.dumps(summary, indent=2) if json else _as_text(summary), whole)


def _as_text(summary: Mapping[str, Any]) -> str:
    problems, worst = summary["not_complete"], summary["worst"]
    lines = [
        f"Stopped. {row['scenario']} on {row['allocator']}, run {row['key'][:12]}: {row['reason']} "
        f"Both runs are kept in {row['kept']}."
        for row in summary["differing"]
    ]
    not_complete = summary["not_complete_n"]
    complete, total = summary["complete"], summary["asked"]
    of = f" of {total:,}" if complete <= total else ""
    lines += [f"{complete:,}{of} runs complete, {not_complete:,} not complete."]
    if complete > total:
        lines += [f"{total:,} were asked for last; the others are of earlier matrices or sources."]
    if not summary["over"]:
        lines += ["The campaign is not over: the same command goes on."]
    if summary["direct"]:
        lines += [
            f"{summary['direct']:,} captured direct, {summary['verified']:,} of them verified by sigrok-cli."
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
        lines.append(f"Each is tried {ATTEMPTS_MAX} times; ./lab campaign clean FOLDER forgets them.")
    if summary["gone"]:
        noun = "run lacks a table" if summary["gone"] == 1 else "runs lack a table"
        lines.append(
            f"{summary['gone']:,} {noun} in the folder. ./lab campaign clean FOLDER forgets such runs, "
            "and the same command makes them anew."
        )
    if worst:
        lines.append(
            f"longest masked section: {microseconds(worst['section_ns_max'])}, "
            f"{worst['scenario']} on {worst['configuration']}, run {worst['key'][:12]}"
        )
    return "\n".join([*lines, *([f"table: {summary['runs']}"] if summary["runs"] else [])])
