"""What a scenario loads, and when: a time would depend on the machine, what is loaded does not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from base.paths import ROOT
from cli.work import ahead

NEVER = ("dash", "distributed", "flask", "plotly", "pyocd", "scipy.special", "scipy.stats")
BEHIND_THE_CAPTURE = ("analysis", "capstone", "dashboards", "jinja2", "plotly", "scipy.special")


def loaded(folder: Path, script: str) -> set[str]:
    """The modules that a new interpreter has at the end of `script`, run in `folder`."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{script}\nprint('modules', *sys.modules, file=sys.stderr)"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    last = done.stderr.splitlines()[-1]
    assert last.startswith("modules "), done.stderr
    return set(last.split())


def test_a_run_and_its_report_load_no_library_for_a_single_function(tmp_path: Path) -> None:
    script = """
from pathlib import Path
from base.processes import signals
from cli.work import options, runs
with signals.orderly():
    chosen = options.Options(parameters={"trials": 1})
    (result,) = runs.run(["mem_frag"], ["tlsf"], Path("runs"), chosen)
from dashboards import report, terminal
report.write_report([result.folder], Path("dashboard.html"))
"""
    found = loaded(tmp_path, script)
    assert (tmp_path / "dashboard.html").exists()
    assert set(ahead.MODULES) <= found
    assert not found.intersection(NEVER)


def test_what_comes_behind_the_capture_is_not_loaded_before(tmp_path: Path) -> None:
    found = loaded(tmp_path, f"import {ahead.__name__.rpartition('.')[0]}.runs")
    assert not found.intersection(BEHIND_THE_CAPTURE)
