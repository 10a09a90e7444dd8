"""The recipe of docs/how-to/ci.md: its shell lines are taken from it and run as a CI runs them."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from base.paths import ROOT
from simulator import build as simulator
from tests import pages
from tests.checkout import Checkout

pytestmark = pytest.mark.docs

PAGE = ROOT / "docs" / "how-to" / "ci.md"
GITHUB, GITLAB = (
    yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
)
STEPS: list[dict[str, Any]] = GITHUB["jobs"]["gate"]["steps"]
LINES: dict[str, str] = {step["name"]: step["run"] for step in STEPS if "run" in step}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout in which the page's first baseline was made."""
    simulator.build()
    made = Checkout(tmp_path_factory.mktemp("checkout"))
    name = str(PAGE.relative_to(ROOT))
    commands = [one for one in pages.read(name, PAGE.read_text("utf-8")) if not one.in_a_sentence]
    assert commands[0].script == LINES["measure"]  # so this is the recipe's first step, too
    for command in commands[:2]:
        done = shell(made, command.script.replace("RUN", "runs/*"))
        assert done.returncode == 0, done.stdout + done.stderr
    return made


def shell(checkout: Checkout, line: str) -> subprocess.CompletedProcess[str]:
    """As a CI runs a line: it ends where a command fails. There are fewer operations."""
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", line.replace("depth=64", "depth=8")],
        cwd=checkout.folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "GITHUB_STEP_SUMMARY": str(checkout.folder / "summary")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def test_both_recipes_run_the_same_lines() -> None:
    assert GITLAB["heap"]["script"] == [LINES["measure"], LINES["judge"]]
    assert list(LINES) == ["measure", "judge", "tell"]
    assert GITLAB["heap"]["artifacts"]["reports"]["junit"] in LINES["judge"]


def test_the_steps_pass_an_unchanged_allocator_and_then_fail_a_worse_one(checkout: Checkout) -> None:
    for name in ("judge", "tell"):
        done = shell(checkout, LINES[name])
        assert done.returncode == 0, done.stdout + done.stderr
    assert "As good as the baseline." in (checkout.folder / "summary").read_text("utf-8")
    assert not ElementTree.parse(checkout.folder / "build" / "gate.xml").findall(".//failure")

    _pretend_it_was_faster(checkout.folder / "baselines" / "tlsf.toml")
    done = shell(checkout, LINES["judge"])
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"operation 0, allocate 72 bytes: [\d,]+ → [\d,]+ cycles", done.stdout)
    assert shell(checkout, LINES["tell"]).returncode == 0
    assert "Worse." in (checkout.folder / "summary").read_text("utf-8")
    cases = ElementTree.parse(checkout.folder / "build" / "gate.xml").findall(".//testcase[failure]")
    assert {case.get("name") for case in cases} == {"cycles", "pulses"}


def _pretend_it_was_faster(baseline: Path) -> None:
    """Has the baseline tell of another firmware, whose first operation took a cycle less."""
    text = baseline.read_text("utf-8")
    first = re.search(r"^0 setup: \(A(\d+)(\S*)\)\*(\d+)", text, re.MULTILINE)
    assert first
    rest = int(first[3]) - 1
    fewer = f"0 setup: A{int(first[1]) - 1}{first[2]} (A{first[1]}{first[2]})*{rest}"
    text = text.replace(first[0], fewer, 1)
    baseline.write_text(re.sub(r'("firmware sha256" = ")\w', r"\1z", text), "utf-8")
