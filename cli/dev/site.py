"""`./lab dev site`: the pages as a site."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

from base.files.errors import TailscopeError
from base.paths import BUILD, ROOT
from base.processes import children
from cli.shell.declare import declare, option
from cli.shell.values import OUTPUT_FOLDER

CONFIGURATION = ROOT / "docs" / "site" / "mkdocs.yml"
WITHIN_S = 900.0
_MARK = ".tailscope-site"
"""By this file a folder is known as a site that may be replaced. MkDocs keeps hidden files."""


class SiteError(TailscopeError):
    """The site cannot be written."""


@declare("Build", of_checkout=True)
@option(
    "--output",
    OUTPUT_FOLDER,
    "the folder to write to; what is in it is replaced",
    default=BUILD / "site",
    show_default="build/site",
)
def command(output: Path) -> None:
    """Write the pages as a site that needs no network: README.md, docs and the rooms' own pages."""
    print(write(output))


def write(output: Path) -> Path:
    """Builds the site into the folder `output`, in place of one that is there.

    Returns its first page. Raises SiteError, also where a link leads nowhere, and WriteError.
    """
    from base.files.whole import write_bytes

    if find_spec("mkdocs") is None:
        raise SiteError("The site needs MkDocs: ./lab dev site installs it from requirements-test.lock.")
    mark = output / _MARK
    if output.exists() and not mark.is_file() and not (output.is_dir() and not any(output.iterdir())):
        raise SiteError(f"{output} is no site, and would be emptied: choose another folder.")
    mkdocs = ("env", "NO_MKDOCS_2_WARNING=1", sys.executable, "-m", "mkdocs")
    options = ("--config-file", CONFIGURATION, "--site-dir", output.resolve())
    done = children.run([*mkdocs, "build", *options], within_s=WITHIN_S, folder=ROOT)
    if done.returncode:
        # It is not told to be --quiet, since then it is not strict.
        lines = [line for line in done.stderr.strip().splitlines() if line and not line.startswith("INFO")]
        says = "\n".join(lines) or "MkDocs does not say why."
        if "Traceback" in says:
            says = f"MkDocs says: {children.last_words(says)}"
        raise SiteError(f"The site was not built. {says}")
    write_bytes(mark, b"Written by ./lab dev site, which replaces this folder.\n")
    return output / "index.html"
