"""`./lab dev faults`: what the verdict lets pass."""

from __future__ import annotations

from pathlib import Path

from cli.shell.declare import answer, argument, declare, json_option, option
from cli.shell.values import RUN, WHOLE, whole


@declare("Is the bench right?")
@argument("run", RUN, "complete run folders; without any, small runs are made on the virtual board", nargs=-1)
@option("-n", "--n", "n", WHOLE, "how many single faults to plant", default=1000)
@option("--pairs", whole(0), "how many double faults to plant", default=0)
@option("--seed", whole(0), "what they are drawn from", default=1)
@option(
    "--replay",
    "a fault of this seed and these runs: plant only it, and tell all of it",
    metavar="KIND:NUMBER",
)
@json_option
def command(run: tuple[Path, ...], n: int, pairs: int, seed: int, replay: str | None, as_json: bool) -> int:
    """Plant faults in healthy runs, and count what the verdict lets pass."""
    from cli.shell import under_way
    from quality.faults import series

    with under_way.shown() as tell:
        outcomes = series.replay(run, replay, seed, tell) if replay else series.run(run, n, seed, tell, pairs)
    answer(as_json, outcomes.as_json, outcomes.as_text)
    return int(not outcomes.sound)
