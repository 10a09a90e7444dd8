"""The contract "Folders are layers" of pyproject.toml finds an import that runs up."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from base.paths import ROOT
from cli.work.checks import LINT_IMPORTS

CONTRACT = "Folders are layers"


def broken(root: Path) -> str:
    """What the linter says of the packages in `root`; empty if it has no complaint."""
    done = subprocess.run(
        [sys.executable, *LINT_IMPORTS], cwd=root, capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else done.stdout


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """The project's top packages, each empty, under the project's own contract."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    contract = next(row for row in settings["contracts"] if row["name"] == CONTRACT)
    for name in settings["root_packages"]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    lines = ["[importlinter]", "root_packages ="]
    lines += [f"    {name}" for name in settings["root_packages"]]
    lines += ["[importlinter:contract:1]", f"name = {CONTRACT}", "type = layers", "layers ="]
    lines += [f"    {layer}" for layer in contract["layers"]]
    lines += ["ignore_imports =", *(f"    {row}" for row in contract["ignore_imports"])]
    lines += ["unmatched_ignore_imports_alerting = none"]
    (tmp_path / ".importlinter").write_text("\n".join(lines))
    return tmp_path


def test_every_package_at_the_top_has_a_layer() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    here = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests"}
    assert set(settings["root_packages"]) == here
    contract = next(row for row in settings["contracts"] if row["name"] == CONTRACT)
    assert {name for layer in contract["layers"] for name in layer.split(" | ")} == here


def test_empty_packages_have_no_complaint(packages: Path) -> None:
    assert broken(packages) == ""


@pytest.mark.parametrize(
    ("file", "line", "kept"),
    [
        ("base/low.py", "from capture import conduct", False),
        ("capture/low.py", "def late():\n    from cli import options", False),
        ("dashboards/beside.py", "import decoders", False),
        ("cli/high.py", "import base", True),
        ("tailscope/low.py", "import scenarios", False),
        ("base/tests/test_low.py", "import cli", True),
    ],
)
def test_an_import_that_runs_up_is_found(packages: Path, file: str, line: str, kept: bool) -> None:
    path = packages / file
    path.parent.mkdir(exist_ok=True)
    (path.parent / "__init__.py").touch()
    path.write_text(line)
    for name in ("capture/conduct.py", "cli/options.py"):
        (packages / name).touch()
    said = broken(packages)
    assert (said == "") is kept
    assert kept or file.removesuffix(".py").replace("/", ".") in said
