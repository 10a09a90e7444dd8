"""`./lab dev differential`: the simulated core beside another."""

from __future__ import annotations

from cli.shell.declare import declare, option
from cli.shell.values import WHOLE


@declare("Is the bench right?", of_checkout=True)
@option("--cases", WHOLE, "how many random instructions", default=10_000_000)
@option("--seed", WHOLE, "what they are drawn from", default=1)
def command(cases: int, seed: int) -> int:
    """Compare the simulated core with Unicorn over every encoding, and report the coverage."""
    from quality.differential import series

    report = series.run(cases, seed=seed)
    print(report.as_text())
    return int(bool(report.divergences or report.untested()))
