"""`./lab dev site`: the pages as a site."""

from __future__ import annotations

from pathlib import Path

from base.paths import BUILD
from cli.shell.declare import declare, option
from cli.shell.values import FOLDER


@declare(section="Build", of_checkout=True)
@option(
    "--output",
    type=FOLDER,
    default=BUILD / "site",
    show_default="build/site",
    help="the folder to write to; what is in it is replaced",
)
def command(output: Path) -> None:
    """Write the pages as a site that needs no network: README.md, docs and the rooms' own pages."""
    from cli.work import site

    print(site.write(output))
