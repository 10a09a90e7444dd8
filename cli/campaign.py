"""`./lab campaign`: a matrix of runs, and what a folder has of one."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from base.microseconds import microseconds
from base.paths import RUNS
from cli.shell.declare import answer, argument, declare, json_option, option
from cli.shell.values import OUTPUT_FOLDER, WHOLE

if TYPE_CHECKING:
    from analysis.campaign.conduct import Course
    from analysis.campaign.store import Store

_MOST_NAMED = 10
_MOST_LISTED = 1000
_TOLD_EVERY_S = 0.5
_USAGE = "give a matrix (docs/how-to/campaigns.md), or status, results or clean and the folder of a campaign"
_PROBLEM = ("key", "scenario", "allocator", "state", "verdict", "reason")
_WORST = ("key", "scenario", "allocator", "configuration", "seed", "section_ns_max")

ACTS = ("status", "results", "clean")


def _complete(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    acts = () if ctx.params.get("what") else ACTS
    return [
        *(CompletionItem(act) for act in acts if act.startswith(incomplete)),
        CompletionItem(incomplete, type="file"),
    ]


@declare(section="Run and measure")
@argument(
    "what",
    nargs=-1,
    required=True,
    shell_complete=_complete,
    help="a matrix of settings (docs/how-to/campaigns.md); or status, results or clean, and a folder",
)
@option(
    "--output", type=OUTPUT_FOLDER, help="the folder of the campaign; runs/campaigns/MATRIX when not given"
)
@option(
    "--scheduler",
    metavar="ADDRESS",
    help="a scheduler of Dask that is there, tcp://HOST:PORT; workers here when not given",
)
@option("--workers", type=WHOLE, help="how many runs at a time on this machine; one a core when not given")
@json_option
def command(
    what: tuple[str, ...], output: Path | None, scheduler: str | None, workers: int | None, as_json: bool
) -> int:
    """Run a matrix of settings on all cores or a cluster; begun again, it goes on."""
    from analysis.campaign import conduct, matrix
    from analysis.campaign.store import Store
    from analysis.errors import CampaignError
    from base.processes import signals
    from cli.shell import under_way
    from firmware.build import boards, fit
    from simulator import build as simulator

    if len(what) == 2 and what[0] in ACTS:
        store = Store.existing(Path(what[1]))
        return (
            _clean(store, as_json) if what[0] == "clean" else _summary(store, as_json, what[0] == "results")
        )
    if len(what) != 1 or what[0] in ACTS:
        raise CampaignError(f"./lab campaign {' '.join(what)[:80]}: {_USAGE}.")
    if scheduler and workers:
        raise CampaignError("--workers is of this machine, and those of --scheduler are there: drop one.")
    wanted = matrix.read(Path(what[0]))
    with signals.orderly(), under_way.shown() as shown:
        store = Store(output or RUNS / "campaigns" / wanted.path.stem)
        with store.writing():
            try:
                simulator.build(shown)
                wanted = conduct.check(
                    wanted,
                    lambda plan, allocator, board: fit.choose_for(boards.board(board), [plan], [allocator]),
                    shown,
                )
                for name in sorted(wanted.left_out):
                    shown.line(f"{name} is left out: it cannot run all of the scenarios.")
                if store.holds_another(wanted.text):
                    shown.line(f"{store.folder} has runs of another matrix, which stay in its tables.")
                points = wanted.count()
                store.keep_matrix(wanted.text, points)
                shown("starting the workers")
                next_s = 0.0

                def tell(course: conduct.Course) -> None:
                    nonlocal next_s
                    if (now_s := time.monotonic()) >= next_s:
                        next_s = now_s + _TOLD_EVERY_S
                        shown(_in_words(course))

                started = (
                    conduct.remote(scheduler) if scheduler else conduct.local(store.scratch, workers or 0)
                )
                with started as client:
                    conduct.run(wanted, store, client, points, tell)
                signals.check()
            except signals.Stopped as stopped:
                store.write_runs()
                complete = _count(store, verdict="complete")
                words = f"{complete:,} complete runs are kept in {store.folder}: the same command goes on"
                raise signals.Stopped(stopped.number, words) from None
            return _summary(store, as_json, True)


def _in_words(course: Course) -> str:
    """`412 of 1,000 runs, 130 a minute, about 5 min left, longest section …`."""
    words = [f"{course.settled:,} of {course.points:,} runs"]
    if course.per_minute is not None and course.left_s is not None:
        words += [f"{course.per_minute:,.0f} a minute", f"about {course.left_s / 60:,.0f} min left"]
    if course.incomplete:
        words += [f"{course.incomplete:,} not complete"]
    if row := course.worst:
        longest = f"{microseconds(row['section_ns_max'])}, {row['scenario']} on {row['allocator']}"
        words += [f"longest section {longest}"]
    return ", ".join(words)


def _clean(store: Store, as_json: bool) -> int:
    with store.writing():
        forgotten = store.clean()
        store.write_runs()
    complete = _count(store, verdict="complete")
    noun = "run is" if forgotten == 1 else "runs are"
    if as_json:
        print(json.dumps({"forgotten": forgotten, "complete": complete}))
    else:
        print(f"{forgotten:,} {noun} forgotten, to be tried anew; {complete:,} complete ones are kept.")
    return 0


def _count(store: Store, **values: object) -> int:
    """How many runs have these values in their rows."""
    return sum(values.items() <= result.row.items() for result in store.results.values())


def _summary(store: Store, as_json: bool, written: bool) -> int:
    """Prints what there is, with runs.parquet `written` anew; 1 unless all of it is complete."""
    import polars as pl

    from analysis.campaign.work import DIFFERS
    from capture.acquisition.direct import ANALYZER

    table = str(store.write_runs()) if written else None
    rows, (points, over) = store.rows(), store.asked
    problems = rows.filter(pl.col("verdict").ne_missing("complete")).select(_PROBLEM)
    worst = rows.drop_nulls("section_ns_max").sort("section_ns_max", "key", descending=[True, False])
    differing = problems.filter(pl.col("state") == DIFFERS).head(_MOST_LISTED).to_dicts()
    summary = {
        "folder": str(store.folder),
        "asked": points,
        "over": over,
        "complete": _count(store, verdict="complete"),
        "direct": _count(store, analyzer=ANALYZER),
        "verified": _count(store, verdict="complete", verified=True),
        "differing": [{**row, "kept": str(store.differing(row["key"]))} for row in differing],
        "not_complete": problems.head(_MOST_LISTED).to_dicts(),
        "not_complete_n": problems.height,
        "gone": store.gone(),
        "worst": next(iter(worst.select(_WORST).head(1).to_dicts()), None),
        "runs": table,
    }
    answer(as_json, lambda: summary, lambda: "\n".join(_lines(summary)))
    return int(not (problems.is_empty() and not summary["gone"] and over))


def _lines(summary: Mapping[str, Any]) -> Iterator[str]:
    from analysis.campaign import store
    from analysis.campaign.work import DIFFERS

    def of_run(row: Mapping[str, Any], where: str = "allocator") -> str:
        return f"{row['scenario']} on {row[where]}, run {row['key'][:12]}"

    for row in summary["differing"]:
        yield f"Stopped. {of_run(row)}: {row['reason']} Both runs are kept in {row['kept']}."
    complete, total, not_complete = summary["complete"], summary["asked"], summary["not_complete_n"]
    of = f" of {total:,}" if complete <= total else ""
    yield f"{complete:,}{of} runs complete, {not_complete:,} not complete."
    if complete > total:
        yield f"{total:,} were asked for last; the others are of earlier matrices or sources."
    if not summary["over"]:
        yield "The campaign is not over: the same command goes on."
    if summary["direct"]:
        verified = f"{summary['verified']:,} of them verified by sigrok-cli"
        yield f"{summary['direct']:,} captured direct, {verified}."
    problems = [row for row in summary["not_complete"] if row["state"] != DIFFERS]
    for row in problems[:_MOST_NAMED]:
        yield f"{of_run(row)}: {row['verdict'] or row['state']}. {row['reason']}"
    if not_complete > _MOST_NAMED:
        yield f"… and {not_complete - _MOST_NAMED:,} more: state and reason in {store.RUNS}."
    if problems:
        yield f"Each is tried {store.ATTEMPTS_MAX} times; ./lab campaign clean FOLDER forgets them."
    if gone := summary["gone"]:
        noun = "run lacks a table" if gone == 1 else "runs lack a table"
        yield (
            f"{gone:,} {noun} in the folder. ./lab campaign clean FOLDER forgets such runs, "
            "and the same command makes them anew."
        )
    if worst := summary["worst"]:
        longest = microseconds(worst["section_ns_max"])
        yield f"longest masked section: {longest}, {of_run(worst, 'configuration')}"
    if summary["runs"]:
        yield f"table: {summary['runs']}"
