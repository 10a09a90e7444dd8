"""`./lab dev soundness`: is a bound ever too low?"""

from __future__ import annotations

from cli.shell.declare import answer, declare, json_option, option
from cli.shell.values import WHOLE, whole


@declare("Is the bench right?", of_checkout=True)
@option("-n", "--n", "n", WHOLE, "how many random programs", default=40)
@option("--seed", whole(0), "what they are drawn from", default=1)
@option("--jobs", WHOLE, "how many processes share the work", default=1)
@json_option
def command(n: int, seed: int, jobs: int, as_json: bool) -> int:
    """Run random programs beside the bounds of their sections, and count what took longer."""
    from cli.shell import under_way
    from quality.soundness import series

    with under_way.shown() as tell:
        report = series.run(n, seed, jobs, tell)
    answer(as_json, report.as_json, lambda: series.as_text(report))
    return int(not report.sound)
