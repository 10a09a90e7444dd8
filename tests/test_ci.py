"""CI in a stranger's repository: action.yml, ci/gitlab.yml, their script, and the recipes of
docs/how-to/ci.md, each run as a CI runs it. Nothing of ours lies in the stranger's folder.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from base.paths import ROOT
from simulator import build as simulator
from tests import masked_sections, pages
from tests.checkout import Checkout

pytestmark = pytest.mark.docs

PAGE = ROOT / "docs" / "how-to" / "ci.md"
SCRIPT = ROOT / "ci" / "gate.sh"
BLOCKS = [
    yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
]
USES, EXTENDS, HEAP_GITHUB, HEAP_GITLAB = BLOCKS
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
GITLAB: dict[str, Any] = yaml.safe_load((ROOT / "ci" / "gitlab.yml").read_text("utf-8"))[".tailscope"]
_CACHE, JUDGE, REPORT = ACTION["runs"]["steps"]
STANDS_IN = f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m cli "$@"\n'
"""Of the program that the wheel installs: this checkout's."""


@dataclass(frozen=True)
class Stranger:
    """A repository with an ELF file, and `tailscope` on the PATH unless `bare`."""

    folder: Path
    programs: Path

    def run(self, line: str, bare: bool = False, **given: str) -> subprocess.CompletedProcess[str]:
        """A line of a CI, with these variables and no others of ours."""
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("TAILSCOPE", "GITHUB"))
        }
        path = kept["PATH"] if bare else f"{self.programs}{os.pathsep}{kept['PATH']}"
        environment = {**kept, "PATH": path, "GITHUB_STEP_SUMMARY": str(self.folder / "summary"), **given}
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", line],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    def gate(self, **given: str) -> subprocess.CompletedProcess[str]:
        """The script, with `elf` and what is given as variables: limit is TAILSCOPE_LIMIT."""
        inputs = {"elf": "fw.elf", "until": "5ms", **given}
        variables = {
            name if name.isupper() else f"TAILSCOPE_{name.upper()}": value for name, value in inputs.items()
        }
        return self.run(f"sh {SCRIPT}", bare=False, **variables)

    def report(self, name: str) -> Path:
        return self.folder / "tailscope-report" / f"tailscope.{name}"


@pytest.fixture(scope="module")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    simulator.build()
    return masked_sections.build(tmp_path_factory.mktemp("program"))


@pytest.fixture
def stranger(tmp_path: Path, elf: Path) -> Stranger:
    made = Stranger(tmp_path / "theirs", tmp_path / "bin")
    for folder in (made.folder, made.programs):
        folder.mkdir()
    shutil.copy(elf, made.folder / "fw.elf")
    program = made.programs / "tailscope"
    program.write_text(STANDS_IN, encoding="utf-8")
    program.chmod(0o755)
    return made


@pytest.mark.long
def test_a_firmware_within_its_limits_passes(stranger: Stranger) -> None:
    done = stranger.gate(limit="any=1001\n\nbasepri 0x50=68\n")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Within the limits. 2 within." in (stranger.folder / "summary").read_text("utf-8")
    cases = ElementTree.parse(stranger.report("xml")).findall(".//testcase")
    assert [case.get("name") for case in cases] == ["limit any", "limit basepri 0x50"]
    assert '"program.elf' not in stranger.report("json").read_text("utf-8")
    assert '"fw.elf update_table primask"' in stranger.report("json").read_text("utf-8")
    assert {path.name for path in stranger.folder.iterdir()} == {"fw.elf", "summary", "tailscope-report"}


def test_a_firmware_above_a_limit_fails(stranger: Stranger) -> None:
    done = stranger.gate(limit="any=1000")
    assert done.returncode == 1
    assert "Above a limit. 1 above." in (stranger.folder / "summary").read_text("utf-8")
    assert "--update" not in done.stderr


def test_a_baseline_is_held_and_the_way_to_accept_is_told(stranger: Stranger) -> None:
    made = stranger.run("tailscope masks fw.elf --until 5ms --baseline masks.toml --update")
    assert made.returncode == 0, made.stderr
    assert stranger.gate(baseline="masks.toml").returncode == 0
    file = stranger.folder / "masks.toml"
    file.write_text(file.read_text("utf-8").replace("1001", "990"), "utf-8")
    assert stranger.gate(baseline="masks.toml", allow="11").returncode == 0
    done = stranger.gate(baseline="masks.toml", allow="10", options="--semihosting")
    assert done.returncode == 2  # made with other settings
    done = stranger.gate(baseline="masks.toml", allow="10")
    assert (done.returncode, "990 → 1,001 cycles" in done.stdout) == (1, True)
    advice = done.stderr.splitlines()[-1].partition("commit the file: ")[2]
    assert advice == "tailscope masks fw.elf --until 5ms --baseline masks.toml  --update"
    assert stranger.run(advice).returncode == 0
    assert stranger.gate(baseline="masks.toml").returncode == 0


def test_an_interrupt_has_its_latency_judged(stranger: Stranger) -> None:
    words = {"irq": "TIM2", "until": "cycles:1500", "options": "--from cycles:300"}
    assert stranger.gate(limit="TIM2=1100", **words).returncode == 0
    assert stranger.gate(limit="TIM2=1000", **words).returncode == 1


def test_without_a_program_the_wheel_is_asked_for(stranger: Stranger) -> None:
    variables = {"TAILSCOPE_ELF": "fw.elf", "TAILSCOPE_LIMIT": "any=5"}
    done = stranger.run(f"sh {SCRIPT}", bare=True, **variables)
    assert (done.returncode, done.stderr) == (
        2,
        "gate: there is no tailscope: say where its wheel is, TAILSCOPE_WHEEL\n",
    )


@pytest.mark.long
def test_a_wheel_is_installed_into_an_environment_of_its_own(stranger: Stranger) -> None:
    """One of a module that says how it was called."""
    wheel = stranger.folder / "tailscope-1-py3-none-any.whl"
    info = "tailscope-1.dist-info"
    content = {
        "stand_in.py": "import sys\n\n\ndef main():\n    print(sys.argv[1:])\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: tailscope\nVersion: 1\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[console_scripts]\ntailscope = stand_in:main\n",
        f"{info}/RECORD": "",
    }
    with zipfile.ZipFile(wheel, "w") as file:
        for name, text in content.items():
            file.writestr(name, text)
    variables = {
        "TAILSCOPE_ELF": "a b.elf",
        "TAILSCOPE_LIMIT": "basepri 0x50=60",
        "TAILSCOPE_WHEEL": str(wheel),
    }
    done = stranger.run(f"sh {SCRIPT}", bare=True, **variables)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("['masks', 'a b.elf', '--limit', 'basepri 0x50=60', '--junit', ")


def test_the_action_hands_over_each_of_its_inputs() -> None:
    read = set(re.findall(r"TAILSCOPE_[A-Z]+", SCRIPT.read_text("utf-8")))
    assert set(JUDGE["env"]) == read
    inputs = {f"TAILSCOPE_{name.upper()}": _input(name) for name in ACTION["inputs"]}
    assert JUDGE["env"] == inputs | {"TAILSCOPE_ARTIFACT": JUDGE["env"]["TAILSCOPE_ARTIFACT"]}


def test_the_report_has_a_name_that_an_artifact_may_have(stranger: Stranger) -> None:
    output = stranger.folder / "output"
    done = stranger.gate(artifact="build/cycles-job-0", GITHUB_OUTPUT=str(output))
    assert done.returncode == 2  # it says nothing of what to judge by, and the step that uploads follows
    assert output.read_text() == "artifact=build-cycles-job-0\n"
    assert REPORT["with"]["name"] == "${{ steps.judge.outputs.artifact }}"


def test_the_action_runs_the_script_where_it_lies(stranger: Stranger) -> None:
    given = {**{name: entry.get("default", "") for name, entry in ACTION["inputs"].items()}, **_with()}
    variables = {f"TAILSCOPE_{name.upper()}": value for name, value in given.items() if name != "wheel"}
    (stranger.folder / "build").mkdir()
    (stranger.folder / "fw.elf").rename(stranger.folder / "build" / "fw.elf")
    commands = re.findall(r"^    (tailscope .*)$", PAGE.read_text("utf-8"), re.MULTILINE)
    for command in commands[:2]:
        made = stranger.run(command)
        assert made.returncode == 0, made.stderr
    done = stranger.run(JUDGE["run"], GITHUB_ACTION_PATH=str(ROOT), **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert REPORT["with"]["path"] == _input("report")
    assert (stranger.folder / given["report"] / "tailscope.md").exists()


def _input(name: str) -> str:
    return "${{ inputs." + name + " }}"


def _with() -> dict[str, str]:
    step = next(use for use in USES["jobs"]["cycles"]["steps"] if "with" in use and "elf" in use["with"])
    inputs: dict[str, str] = step["with"]
    return inputs


def test_the_recipes_name_what_there_is() -> None:
    assert set(_with()) <= set(ACTION["inputs"])
    variables = set(re.findall(r"TAILSCOPE_[A-Z]+", SCRIPT.read_text("utf-8")))
    assert set(EXTENDS["cycles"]["variables"]) <= variables
    assert EXTENDS["cycles"]["extends"] == ".tailscope"


def test_gitlab_has_the_same_script() -> None:
    assert GITLAB["script"] == [SCRIPT.read_text("utf-8")]
    assert GITLAB["artifacts"]["paths"] == ["$TAILSCOPE_REPORT"]
    assert GITLAB["artifacts"]["reports"] == {"junit": "$TAILSCOPE_REPORT/tailscope.xml"}


STEPS: dict[str, str] = {
    step["name"]: step["run"] for step in HEAP_GITHUB["jobs"]["heap"]["steps"] if "run" in step
}


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Stranger:
    """A stranger's repository with an allocator, our checkout in a folder of it, and a baseline
    of what the page's `./lab scenario` measured.
    """
    simulator.build()
    folder = tmp_path_factory.mktemp("theirs")
    shutil.copy(ROOT / "docs" / "examples" / "my_heap.c", folder)
    (folder / "tailscope").mkdir()
    Checkout(folder / "tailscope")
    made = Stranger(folder, folder)
    name = str(PAGE.relative_to(ROOT))
    commands = pages.read(name, PAGE.read_text("utf-8"))
    first = next(
        command for command in commands if command.text.startswith("./lab gate") and not command.in_a_sentence
    )
    for line in (STEPS["measure"], f"cd tailscope\n{first.script.replace('RUN', 'runs/*')}"):
        done = made.run(_less(line), PYTHONPATH=str(ROOT))
        assert done.returncode == 0, done.stdout + done.stderr
    return made


def _less(line: str) -> str:
    return line.replace("depth=64", "depth=8 --capture direct")


def test_both_heap_recipes_run_the_same_lines() -> None:
    first = ("apt-get", "git clone")
    theirs = [line for line in HEAP_GITLAB["heap"]["script"] if not line.startswith(first)]
    enter, measure, judge = theirs
    assert [STEPS["measure"], STEPS["judge"]] == [f"{enter}\n{measure}\n", f"{enter}\n{judge}\n"]
    assert list(STEPS) == ["measure", "judge", "tell"]


@pytest.mark.long
def test_the_steps_pass_an_unchanged_allocator_and_then_fail_a_worse_one(beside: Stranger) -> None:
    for name in ("judge", "tell"):
        done = beside.run(_less(STEPS[name]), PYTHONPATH=str(ROOT))
        assert done.returncode == 0, done.stdout + done.stderr
    assert "As good as the baseline." in (beside.folder / "summary").read_text("utf-8")
    assert not ElementTree.parse(beside.folder / "gate.xml").findall(".//failure")

    _pretend_it_was_faster(beside.folder / "baselines" / "my_heap.toml")
    done = beside.run(_less(STEPS["judge"]), PYTHONPATH=str(ROOT))
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"operation 0, allocate 72 bytes: [\d,]+ → [\d,]+ cycles", done.stdout)
    assert beside.run(STEPS["tell"]).returncode == 0
    assert "Worse than the baseline." in (beside.folder / "summary").read_text("utf-8")
    cases = ElementTree.parse(beside.folder / "gate.xml").findall(".//testcase[failure]")
    assert {case.get("name") for case in cases} == {"cycles"}


def _pretend_it_was_faster(baseline: Path) -> None:
    """Has the baseline tell of another firmware, whose first operation took a cycle less."""
    text = baseline.read_text("utf-8")
    first = re.search(r"^0 setup: A(\d+)", text, re.MULTILINE)
    assert first
    text = text.replace(first[0], f"0 setup: A{int(first[1]) - 1}", 1)
    baseline.write_text(re.sub(r'("firmware sha256" = ")\w', r"\1z", text), "utf-8")
