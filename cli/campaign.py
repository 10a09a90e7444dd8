"""`./lab campaign`: a matrix of runs, and what a folder has of one."""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import CompletionItem

from cli.shell.declare import argument, declare, json_option, option
from cli.shell.values import OUTPUT_FOLDER, WHOLE

ACTS = ("status", "results", "clean")


def _complete(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    acts = () if ctx.params.get("what") else ACTS
    return [
        *(CompletionItem(act) for act in acts if act.startswith(incomplete)),
        CompletionItem(incomplete, type="file"),
    ]


@declare(section="Run and measure")
@argument(
    "what",
    nargs=-1,
    required=True,
    shell_complete=_complete,
    help="a matrix of settings (docs/how-to/campaigns.md); or status, results or clean, and a folder",
)
@option(
    "--output", type=OUTPUT_FOLDER, help="the folder of the campaign; runs/campaigns/MATRIX when not given"
)
@option(
    "--scheduler",
    metavar="ADDRESS",
    help="a scheduler of Dask that is there, tcp://HOST:PORT; workers here when not given",
)
@option("--workers", type=WHOLE, help="how many runs at a time on this machine; one a core when not given")
@json_option
def command(
    what: tuple[str, ...], output: Path | None, scheduler: str | None, workers: int | None, as_json: bool
) -> int:
    """Run a matrix of settings on all cores or a cluster; begun again, it goes on."""
    from cli.work import campaigns

    done = campaigns.run(what, output=output, scheduler=scheduler, workers=workers, json=as_json)
    print(done.text)
    return int(not done.complete)
