"""The example project, the notebook and the Python of the pages do what the pages say."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from base.paths import ROOT
from tests.checkout import Checkout, Done

pytestmark = pytest.mark.docs

DOCS = ROOT / "docs"
EXAMPLE = DOCS / "examples" / "my-firmware"
HOW_TO = (DOCS / "how-to" / "pytest.md").read_text(encoding="utf-8")


def typed(checkout: Checkout, folder: Path, *words: str | Path) -> Done:
    """What came of a command in a folder that has the checkout on its path, and no plugin else."""
    paths = os.pathsep.join([str(checkout.folder), str(ROOT)])
    return subprocess.run(
        words,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def code(page: Path) -> list[str]:
    """The blocks of Python of a page."""
    return re.findall(r"(?s)```python\n(.*?)```", page.read_text(encoding="utf-8"))


@pytest.mark.long
def test_the_example_passes_and_a_longer_section_fails(checkout: Checkout, tmp_path: Path) -> None:
    """`make`, `pytest --tailscope-update`, `make -B WORDS=160`, `pytest`, with
    `-p tailscope.pytest_plugin`.
    """
    project = Path(shutil.copytree(EXAMPLE, tmp_path / "project"))
    temporary = tmp_path / "temporary"
    plugins = ("-p", "tailscope.pytest_plugin", "-p", "no:cacheprovider")
    pytest_ = (sys.executable, "-m", "pytest", f"--basetemp={temporary}", *plugins)
    made = typed(checkout, project, "make")
    assert made.returncode == 0, made.stderr
    updated = typed(checkout, project, *pytest_, "--tailscope-update")
    assert updated.returncode == 0 and "5 passed" in updated.stdout, updated.stdout
    assert len(list((project / "tailscope-baselines").iterdir())) == 4
    assert len(list(temporary.glob("runs0/*Z-mem_frag-*"))) == 1
    assert typed(checkout, project, "make", "-B", "WORDS=160").returncode == 0
    failed = typed(checkout, project, *pytest_)
    assert failed.returncode == 1 and "3 failed, 2 passed" in failed.stdout, failed.stdout
    match = re.search(r"(?s)```\n(>  .*?)```", HOW_TO)
    assert match and match[1] in failed.stdout.replace("\n\n", "\n"), failed.stdout


def test_the_page_has_the_tests_of_the_example() -> None:
    tests = (EXAMPLE / "test_firmware.py").read_text(encoding="utf-8")
    assert code(DOCS / "how-to" / "pytest.md")[0] in tests


def test_the_notebook_runs(checkout: Checkout) -> None:
    """Its cells one after another, as a kernel would; what a cell ends with is shown."""
    cells = json.loads((DOCS / "how-to" / "read-a-run.ipynb").read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert all(not cell.get("outputs") for cell in cells) and len(sources) == 5
    shown = typed(checkout, checkout.folder, sys.executable, "-c", "\n".join(sources) + "\nprint(by_hit)")
    assert shown.returncode == 0, shown.stderr
    assert re.search(r"^[\d,]+ ns ± \d+ ns, operation \d+", shown.stdout, re.MULTILINE)
    assert "The stimulus came" in shown.stdout and "isr_latency_ns" in shown.stdout


@pytest.mark.parametrize("number", [0, 1])
def test_the_python_of_the_reference_runs(checkout: Checkout, number: int) -> None:
    block = code(DOCS / "reference" / "python.md")[number]
    runs = set((checkout.folder / "runs").glob("*Z-*"))
    done = typed(checkout, checkout.folder, sys.executable, "-c", block)
    assert done.returncode == 0, done.stderr
    made = set((checkout.folder / "runs").glob("*Z-*")) - runs
    assert len(made) == block.count("tailscope.run(")  # beside the sources, not among this checkout's
    assert len(done.stdout.splitlines()) >= block.count("print(")
