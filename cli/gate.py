"""`./lab gate`: whether runs are as good as a baseline."""

from __future__ import annotations

from pathlib import Path

from cli.shell.declare import argument, declare
from cli.shell.judging import Judging, judging_runs
from cli.shell.values import RUN, OptionError


@declare("Compare and judge")
@argument(
    "run",
    RUN,
    "run folders, of any board; on a real one those of equal settings are repetitions",
    nargs=-1,
    required=True,
)
@judging_runs
def command(run: tuple[Path, ...], judging: Judging) -> int:
    """Say whether stored runs are as good as a baseline.

    The exit status is 0 for as good, 1 for worse, 2 where that cannot be said.
    For example: ./lab gate --baseline gate.toml runs/*
    """
    from analysis.judge import baseline, runs
    from analysis.judge.stored import ON_THE_WIRE, TIMED

    if not judging.baseline and not judging.limit:
        raise OptionError("Say what to judge by: --baseline FILE, or --limit allocate=10us.")
    judging.begin(baseline.GATE, tuple(ON_THE_WIRE), TIMED)
    if judging.renew and judging.baseline:
        before = judging.before or baseline.made(judging.baseline, baseline.GATE, {}, ())
        limits = {limit.name: limit.text for limit in judging.limits()}
        judging.write_baseline(*runs.updated(before, run, limits))
    else:
        judging.conclude(runs.judge(judging.before, run, judging.limits()))
    return judging.show()
