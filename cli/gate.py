"""`./lab gate`: whether runs are as good as a baseline."""

from __future__ import annotations

from pathlib import Path

from cli.shell.declare import argument, declare, json_option, option
from cli.shell.values import FILE, RUN, Whole


@declare(section="Compare and judge")
@argument(
    "run",
    type=RUN,
    nargs=-1,
    required=True,
    help="run folders, of any board; on a real one those of equal settings are repetitions",
)
@option("--baseline", type=FILE, help="the file to judge by, which --update writes (docs/how-to/ci.md)")
@option("--update", "renew", is_flag=True, help="make the runs the baseline, and say what that changes")
@option(
    "--limit",
    metavar="QUANTITY=LIMIT",
    multiple=True,
    help="of allocate, free, interrupt or task: allocate=10us; may be repeated",
)
@option("--named", type=Whole(0), default=10, help="how many operations to name of each quantity")
@option(
    "--junit", "junit_file", type=FILE, help="a file of JUnit XML to write: a test case a run and quantity"
)
@option("--markdown", "markdown_file", type=FILE, help="a file to write for a pull request")
@json_option
def command(
    run: tuple[Path, ...],
    baseline: Path | None,
    renew: bool,
    limit: tuple[str, ...],
    named: int,
    junit_file: Path | None,
    markdown_file: Path | None,
    as_json: bool,
) -> int:
    """Say whether stored runs are as good as a baseline.

    The exit status is 0 for as good, 1 for worse, 2 where that cannot be said.
    For example: ./lab gate --baseline gate.toml runs/*
    """
    from cli.work import gate

    done = gate.run(
        run,
        baseline=baseline,
        renew=renew,
        limit=limit,
        named=named,
        as_json=as_json,
        junit_file=junit_file,
        markdown_file=markdown_file,
    )
    print(done.text)
    return done.exit_status
