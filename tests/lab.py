"""`./lab` as a process of its own, forked from one that has imported the libraries already.

A new interpreter spends longer on numpy, polars, scipy and on our own rooms than most commands on
their work. What is forked has its own working directory, environment and output, and ends with its
own exit status. In another folder or environment it imports every room anew, since a module may
look at either. How an interpreter starts, and what signals and closed streams do to it, only
`python -m cli` shows: tests of those start that.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from multiprocessing import get_context
from pathlib import Path

from base.paths import ROOT

_FORKED = get_context("forkserver")
_FORKED.set_forkserver_preload(
    [
        *("capstone", "cloup", "elftools.elf.elffile", "jinja2", "plotly.graph_objects", "plotly.subplots"),
        *("polars", "pydantic.main", "pydantic.type_adapter", "rich.console", "rich.progress", "rich.table"),
        *("scipy.special", "scipy.stats", "serial.tools.list_ports"),
        *("analysis.program.bounds.measure", "analysis.program.latency.measure", "capture.conduct"),
        *("cli.bounds", "cli.latency", "cli.masks", "cli.observe", "cli.shell.runs"),
        *("dashboards.programs", "simulator.run"),
    ]
)
ROOMS = {path.parent.name for path in ROOT.glob("*/__init__.py")}


def run(
    *words: str | Path,
    folder: Path = ROOT,
    environment: Mapping[str, str] | None = None,
    within_s: float = 300.0,
) -> subprocess.CompletedProcess[str]:
    """Runs `./lab` with these words in `folder`. None for `environment` is that of this process.

    Raises TimeoutExpired.
    """
    command = [*map(str, words)]
    with tempfile.NamedTemporaryFile() as output, tempfile.NamedTemporaryFile() as complaints:
        process = _FORKED.Process(
            target=_be_lab,
            args=(command, str(folder), dict(environment or os.environ), output.name, complaints.name),
        )
        process.start()
        process.join(within_s)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(command, within_s)
        said, complained = (file.read().decode(errors="replace") for file in (output, complaints))
    return subprocess.CompletedProcess(command, process.exitcode, said, complained)


def _be_lab(
    words: list[str], folder: str, environment: Mapping[str, str], output: str, complaints: str
) -> None:
    """What `python -m cli` does, in the forked process; it does not return."""
    for number, file, how in (
        (0, os.devnull, os.O_RDONLY),
        (1, output, os.O_WRONLY),
        (2, complaints, os.O_WRONLY),
    ):
        os.dup2(os.open(file, how), number)
    os.chdir(folder)
    if (folder, _lasting(environment)) != (str(ROOT), _lasting(os.environ)):
        for name in [module for module in sys.modules if module.partition(".")[0] in ROOMS]:
            del sys.modules[name]  # a folder that looks like the repository has its own
    os.environ.clear()
    os.environ.update(environment)
    sys.orig_argv = [sys.executable, "-m", "cli", *words]  # by which it may start itself again
    sys.argv = ["lab", *words]
    sys.path[:0] = [folder]
    from cli.shell import start

    start.leave(start.main(words))


def _lasting(environment: Mapping[str, str]) -> dict[str, str]:
    """What neither pytest changes from test to test nor a library sets when it is imported."""
    return {name: value for name, value in environment.items() if not name.startswith(("PYTEST_", "_"))}
