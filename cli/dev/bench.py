"""`./lab dev bench`: the bench's own speed."""

from __future__ import annotations

from base.paths import RUNS
from cli.shell.declare import answer, argument, declare, json_option, option
from cli.shell.values import WHOLE, Choice

BENCHMARKS = ("simulator", "capture", "campaign", "scheduler", "dashboard")


@declare(section="Is it fast?")
@argument("what", type=Choice(*BENCHMARKS), help="simulator, capture, campaign, scheduler, or dashboard")
@option(
    "--repeats",
    type=WHOLE,
    default=5,
    help="how many times; medians are printed; the scheduler is measured once",
)
@option("--workers", type=WHOLE, default=1000, help="how many workers the scheduler has; they are simulated")
@json_option
def command(what: str, repeats: int, workers: int, as_json: bool) -> None:
    """Measure a speed, side by side with what it is compared to."""
    from cli.work import benchmarks

    found = benchmarks.run(what, repeats, RUNS, workers)
    answer(as_json, lambda: found.document, lambda: found.text)
