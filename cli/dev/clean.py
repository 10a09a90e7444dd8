"""`./lab dev clean`: a checkout as before the first build."""

from __future__ import annotations

import shutil

from base.paths import BUILD, ROOT
from cli.shell.declare import declare

MADE = (BUILD, ROOT / "simulator" / "target")


@declare("Build", of_checkout=True)
def command() -> None:
    """Remove what was built. Runs are kept."""
    for folder in MADE:
        shutil.rmtree(folder, ignore_errors=True)
