"""`./lab site`: the Markdown pages as a site, built by MkDocs as docs/site/mkdocs.yml says."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

from capture.files.errors import TailscopeError
from capture.processes import children

ROOT = Path(__file__).resolve().parent.parent
CONFIGURATION = ROOT / "docs" / "site" / "mkdocs.yml"
WITHIN_S = 120.0
_MARK = Path("docs", "site", "site.css")
"""By this a folder is known as a site that may be replaced, even one that was not finished."""


class SiteError(TailscopeError):
    """The site cannot be written."""


def write(output: Path) -> Path:
    """Builds the site into the folder `output`, in place of one that is there.

    Returns its first page. Raises SiteError, also where a link leads nowhere.
    """
    if find_spec("mkdocs") is None:
        raise SiteError("The site needs MkDocs: ./lab site installs it from requirements-test.lock.")
    if output.exists() and not _may_be_replaced(output):
        raise SiteError(f"{output} is no site, and would be emptied: choose another folder.")
    mkdocs = ("env", "NO_MKDOCS_2_WARNING=1", sys.executable, "-m", "mkdocs")
    options = ("--quiet", "--config-file", CONFIGURATION, "--site-dir", output.resolve())
    done = children.run([*mkdocs, "build", *options], within_s=WITHIN_S, folder=ROOT)
    if done.returncode:
        raise SiteError(f"The site was not built. MkDocs says: {done.stderr.strip() or 'nothing'}")
    return output / "index.html"


def _may_be_replaced(folder: Path) -> bool:
    return folder.is_dir() and (not any(folder.iterdir()) or (folder / _MARK).is_file())
