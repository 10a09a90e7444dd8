"""`./lab dev bench`: the bench's own speed."""

from __future__ import annotations

from base.paths import RUNS
from cli.shell.declare import answer, argument, declare, json_option, option
from cli.shell.values import WHOLE, Choice

BENCHMARKS = ("simulator", "capture", "dashboard")


@declare(section="Is it fast?")
@argument("what", type=Choice(*BENCHMARKS), help="simulator, capture, or dashboard")
@option(
    "--repeats",
    type=WHOLE,
    default=5,
    help="how many times; medians are printed",
)
@json_option
def command(what: str, repeats: int, as_json: bool) -> None:
    """Measure a speed, side by side with what it is compared to."""
    from cli.work import benchmarks

    found = benchmarks.run(what, repeats, RUNS)
    answer(as_json, lambda: found.document, lambda: found.text)
