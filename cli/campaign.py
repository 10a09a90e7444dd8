"""`./lab campaign`: a matrix of runs, and what a folder has of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from base.microseconds import microseconds
from base.paths import RUNS
from cli.shell import under_way
from cli.shell.declare import answer, argument, declare, json_option, option
from cli.shell.values import OUTPUT_FOLDER, WHOLE

if TYPE_CHECKING:
    from analysis.campaign.conduct import Course
    from analysis.campaign.store import Store

_MOST_NAMED = 10
_MOST_LISTED = 1000
_PROBLEM = ("key", "scenario", "allocator", "state", "verdict", "reason")
_WORST = ("key", "scenario", "allocator", "configuration", "seed", "section_ns_max")


@declare("Run and measure")
@argument(
    "what",
    "a matrix of settings (docs/how-to/campaigns.md); or status, and the folder of a campaign",
    nargs=-1,
    required=True,
)
@option("--output", OUTPUT_FOLDER, "the folder of the campaign; runs/campaigns/MATRIX when not given")
@option(
    "--scheduler",
    "a scheduler of Dask that is there, tcp://HOST:PORT; workers here when not given",
    metavar="ADDRESS",
)
@option("--workers", WHOLE, "how many runs at a time on this machine; one a core when not given")
@json_option
def command(
    what: tuple[str, ...], output: Path | None, scheduler: str | None, workers: int | None, as_json: bool
) -> int:
    """Run a matrix of settings on all cores or a cluster; begun again, it goes on."""
    from analysis.campaign import conduct, matrix
    from analysis.campaign.store import SCRATCH, Store
    from analysis.errors import CampaignError
    from base.processes import signals
    from simulator import build as simulator

    if len(what) == 2 and what[0] == "status":
        return _summary(Store.existing(Path(what[1])), as_json)
    if len(what) != 1 or what[0] == "status":
        raise CampaignError(
            "Give one matrix (docs/how-to/campaigns.md), or status and the folder of a campaign."
        )
    if scheduler and workers:
        raise CampaignError("--workers is of this machine, and those of --scheduler are there: drop one.")
    wanted = matrix.read(Path(what[0]))
    with signals.orderly(), under_way.shown() as shown:
        store = Store(output or RUNS / "campaigns" / wanted.path.stem)
        with store.writing():
            try:
                simulator.build(shown)
                wanted = conduct.check(wanted, shown)
                for name in sorted(wanted.left_out):
                    shown.line(f"{name} is left out: it cannot run all of the scenarios.")
                points = wanted.count()
                store.keep_matrix(wanted.text, points)
                shown("starting the workers")

                def tell(course: Course) -> None:
                    left = f", about {under_way.duration(course.left_s)} left" if course.left_s else ""
                    incomplete = f"{course.incomplete:,} not complete"
                    shown(f"{course.settled:,} of {course.points:,} runs, {incomplete}{left}")

                here = conduct.local(store.folder / SCRATCH, workers or 0)
                with conduct.remote(scheduler) if scheduler else here as client:
                    conduct.run(wanted, store, client, points, tell)
                signals.check()
            except signals.Stopped as stopped:
                store.write_runs()
                words = f"what was done is kept in {store.folder}: the same command goes on"
                raise signals.Stopped(stopped.number, words) from None
            return _summary(store, as_json)


def _summary(store: Store, as_json: bool) -> int:
    """Writes runs.parquet, and prints what there is; 1 unless all of it is complete."""
    import polars as pl

    from analysis.campaign.work import DIFFERS
    from capture.acquisition.direct import ANALYZER

    table, rows, (points, over) = store.write_runs(), store.rows(), store.asked
    complete = rows.filter(pl.col("verdict") == "complete")
    problems = rows.filter(pl.col("verdict").ne_missing("complete")).select(_PROBLEM)
    worst = rows.drop_nulls("section_ns_max").sort("section_ns_max", "key", descending=[True, False])
    differing = problems.filter(pl.col("state") == DIFFERS).head(_MOST_LISTED).to_dicts()
    summary = {
        "folder": str(store.folder),
        "asked": points,
        "over": over,
        "complete": complete.height,
        "direct": rows.filter(pl.col("analyzer") == ANALYZER).height,
        "verified": complete.filter(pl.col("verified")).height,
        "differing": differing,
        "not_complete": problems.head(_MOST_LISTED).to_dicts(),
        "not_complete_n": problems.height,
        "worst": next(iter(worst.select(_WORST).head(1).to_dicts()), None),
        "runs": str(table),
    }
    answer(as_json, lambda: summary, lambda: "\n".join(_lines(summary)))
    return int(not (problems.is_empty() and over))


def _lines(summary: Mapping[str, Any]) -> Iterator[str]:
    def of_run(row: Mapping[str, Any]) -> str:
        return f"{row['scenario']} on {row['allocator']}, run {row['key'][:12]}"

    for row in summary["differing"]:
        yield f"Stopped. {of_run(row)}: {row['reason']}"
    yield (
        f"{summary['complete']:,} runs complete, {summary['not_complete_n']:,} not complete; "
        f"{summary['asked']:,} were asked for last."
    )
    if not summary["over"]:
        yield "The campaign is not over: the same command goes on."
    if summary["direct"]:
        verified = f"{summary['verified']:,} of them verified by sigrok-cli"
        yield f"{summary['direct']:,} captured direct, {verified}."
    for row in summary["not_complete"][:_MOST_NAMED]:
        yield f"{of_run(row)}: {row['verdict'] or row['state']}. {row['reason']}"
    if summary["not_complete_n"]:
        yield "The same command tries these again; the table has all, with state and reason."
    if worst := summary["worst"]:
        yield f"longest masked section: {microseconds(worst['section_ns_max'])}, {of_run(worst)}"
    yield f"table: {summary['runs']}"
