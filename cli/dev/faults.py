"""`./lab dev faults`: what the verdict lets pass."""

from __future__ import annotations

from pathlib import Path

from cli.shell.declare import answer, argument, declare, json_option, option
from cli.shell.values import RUN, WHOLE, whole


@declare(section="Is the bench right?")
@argument(
    "run",
    type=RUN,
    nargs=-1,
    help="complete run folders; without any, small runs are made on the virtual board",
)
@option("-n", "--n", "n", type=WHOLE, default=1000, help="how many single faults to plant")
@option("--pairs", type=whole(0), default=0, help="how many double faults to plant")
@option("--seed", type=whole(0), default=1, help="what they are drawn from")
@option(
    "--replay",
    metavar="KIND:NUMBER",
    help="a fault of this seed and these runs: plant only it, and tell all of it",
)
@json_option
def command(run: tuple[Path, ...], n: int, pairs: int, seed: int, replay: str | None, as_json: bool) -> int:
    """Plant faults in healthy runs, and count what the verdict lets pass."""
    from cli.shell import under_way
    from quality.faults import series

    with under_way.shown() as tell:
        outcomes = series.replay(run, replay, seed, tell) if replay else series.run(run, n, seed, tell, pairs)
    answer(as_json, outcomes.as_json, lambda: series.as_text(outcomes))
    return int(not outcomes.sound)
