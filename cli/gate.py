"""`./lab gate`: whether runs are as good as a baseline."""

from __future__ import annotations

from pathlib import Path

from cli.shell.declare import argument, declare, json_option, option
from cli.shell.judging import Judging, judging_runs
from cli.shell.values import RUN, OptionError, Whole


@declare(section="Compare and judge")
@argument(
    "run",
    type=RUN,
    nargs=-1,
    required=True,
    help="run folders, of any board; on a real one those of equal settings are repetitions",
)
@judging_runs
@option("--named", type=Whole(0), default=10, help="how many operations to name of each quantity")
@json_option
def command(run: tuple[Path, ...], named: int, as_json: bool, judging: Judging) -> int:
    """Say whether stored runs are as good as a baseline.

    The exit status is 0 for as good, 1 for worse, 2 where that cannot be said.
    For example: ./lab gate --baseline gate.toml runs/*
    """
    from analysis.judge import runs
    from analysis.judge.baseline import GATE
    from analysis.judge.stored import ON_THE_WIRE, TIMED
    from cli.work import judging as gate

    if not judging.baseline and not judging.limit:
        raise OptionError("Say what to judge by: --baseline FILE, or --limit allocate=10us.")
    ready = gate.ready(judging, GATE, tuple(ON_THE_WIRE), TIMED)
    if judging.renew:
        done = ready.renew(*runs.updated(ready.baseline, run, ready.limits()))
    else:
        done = ready.conclude(runs.judge(ready.before, run, ready.parsed(), named))
    return gate.show(done, judging, as_json)
