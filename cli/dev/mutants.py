"""`./lab dev mutants`: changes of the code that no test notices."""

from __future__ import annotations

from cli.shell.declare import answer, argument, declare, json_option, option
from cli.shell.values import FILE, WHOLE


@declare(section="Is the bench right?", of_checkout=True)
@argument(
    "file",
    type=FILE,
    nargs=-1,
    help="files to mutate; without any, those that make numbers and verdicts of a capture",
)
@option("-n", "--n", "n", type=WHOLE, default=100, help="how many mutants to draw")
@option("--seed", type=WHOLE, default=1, help="what they are drawn from")
@option("--jobs", type=WHOLE, default=1, help="how many of them are tried at a time")
@json_option
def command(file: tuple[object, ...], n: int, seed: int, jobs: int, as_json: bool) -> int:
    """Change the code that judges in small ways, and tell which changes no test notices."""
    from cli.shell import under_way
    from quality.mutants import mutants

    with under_way.shown() as shown:
        shown("the tests without any mutant")
        report = mutants.run(
            [*map(str, file)], n, seed, jobs, lambda done: shown(f"{done:,} of at most {n:,} mutants tried")
        )
    answer(as_json, report.as_json, lambda: mutants.as_text(report))
    return int(not report.sound)
