"""The fixtures in a project of somebody's: its pytest runs in a process of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

from base.paths import ROOT
from tests import lab, masked_sections

UNTIL = "cycles:3000"
FOLDER = "tailscope-baselines"
POLLS = "while (!(REGISTER(0x40023800) & 1u << 25)) {}"  # RCC_CR: a PLL that is never ready
PLUGIN = "tailscope.pytest_plugin"


@dataclass(frozen=True)
class Outcome:
    """What came of a pytest."""

    status: int
    said: str

    @property
    def states(self) -> dict[str, str]:
        """By test: PASSED, FAILED, ERROR."""
        lines = re.findall(r"(?m)^(PASSED|FAILED|ERROR) \S+?::(\S+)", self.said)
        return {name: state for state, name in lines}

    def told(self, name: str) -> list[str]:
        """The lines that say why a test failed."""
        section = re.split(r"(?m)^_+ (\S+) _+$", self.said.partition("short test summary")[0])
        lines = section[section.index(name) + 1].splitlines()
        return [line.removeprefix("E").strip() for line in lines if line.startswith("E ")]


class Project:
    """A folder with a program and tests."""

    def __init__(self, folder: Path, programs: dict[str, Path]) -> None:
        self.folder = folder
        self._programs = programs
        self.build("as it is")

    def build(self, name: str) -> None:
        """Makes this one the program."""
        shutil.copyfile(self._programs[name], self.folder / "fw.elf")

    def write(self, body: str) -> None:
        (self.folder / "test_fw.py").write_text(dedent(body), encoding="utf-8")

    def baseline(self, test: str) -> Path:
        """The file of a test."""
        return self.folder / FOLDER / f"test_fw.{test}.toml"

    def test(self, *words: str, plugin: str = PLUGIN, **environment: str) -> Outcome:
        """What comes of its pytest."""
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-rA", "-p", plugin, "-p", "no:cacheprovider", *words],
            cwd=self.folder,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
                **environment,
            },
            capture_output=True,
            text=True,
            check=False,
        )
        return Outcome(done.returncode, done.stdout + done.stderr)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The program as it is, and others of which a section is longer or shorter."""
    folder = tmp_path_factory.mktemp("programs")
    changes = {
        "as it is": [],
        "worse": [("NOPS(1000)", "NOPS(1200)")],
        "better and worse": [("NOPS(1000)", "NOPS(900)"), ("NOPS(300)", "NOPS(350)")],
        "looping": [("    update_table();\n", "    for (;;) {}\n    update_table();\n")],
        "hanging": [("    update_table();\n", f"    {POLLS}\n    update_table();\n")],
        "broken": [("    fault_masked();\n", '    __asm__ volatile("udf");\n    fault_masked();\n')],
    }
    return {name: masked_sections.changed(folder / name, *pairs) for name, pairs in changes.items()}


@pytest.fixture
def project(tmp_path: Path, programs: dict[str, Path]) -> Project:
    return Project(tmp_path, programs)


HELD = f"""
    import pytest

    def test_asserted(masks):
        assert masks("fw.elf", until="{UNTIL}").longest("primask").cycles <= 1001

    def test_checked(masks):
        masks("fw.elf", until="{UNTIL}", allow="200").check_baseline()

    def test_all(masks):
        found = masks("fw.elf", until="{UNTIL}")
        found.check_baseline()

    class TestBoth:
        @pytest.mark.parametrize("kind", ["a/b"])
        def test_it(self, masks, latency, kind):
            assert masks("fw.elf", until="{UNTIL}").longest("handler", 16 + 28).cycles == 213
            found = latency("fw.elf", irq="TIM2", sections="update_table..", until="{UNTIL}", every=10)
            found.check_baseline()
"""
TESTS = ["test_asserted", "test_checked", "test_all", "TestBoth::test_it[a/b]"]
LATENCY = ("--irq", "TIM2", "--section", "update_table..", "--until", UNTIL, "--every", "10")


@dataclass(frozen=True)
class Story:
    """A project whose tests ran to write their baselines, and on other programs."""

    project: Project
    tested: dict[str, Outcome]

    @property
    def latency_baseline(self) -> Path:
        """That of the second measurement of a test."""
        return next(self.project.baseline("test_all").parent.glob("*-2.toml"))


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory, programs: dict[str, Path]) -> Story:
    project = Project(tmp_path_factory.mktemp("project"), programs)
    project.write(HELD)
    tested = {"update": project.test("--tailscope-update")}
    for name in ("worse", "better and worse"):
        project.build(name)
        tested[name] = project.test()
    project.build("as it is")
    return Story(project, tested)


@pytest.mark.parametrize(
    ("when", "failed"),
    [
        ("update", []),
        ("worse", ["test_asserted", "test_all", "TestBoth::test_it[a/b]"]),
        ("better and worse", ["test_all", "TestBoth::test_it[a/b]"]),
    ],
)
def test_what_became_longer_fails(story: Story, when: str, failed: list[str]) -> None:
    states = story.tested[when].states
    assert states == {name: "FAILED" if name in failed else "PASSED" for name in TESTS}


def test_a_failed_assertion_tells_the_place_and_the_calls(story: Story) -> None:
    expected = [
        "primask: 1,201 cycles (75.06 µs)",
        "raised by update_table (main.c:56), from reset (main.c:101)",
        "call stack, innermost first:",
        "mask (main.c:42)",
        "update_table (main.c:56)",
        "reset (main.c:101)",
        "ended by update_table (main.c:58)",
        "held off: IRQ 28 (on_tim2), IRQ 29 (on_tim3)",
    ]
    worse = story.tested["worse"]
    assert worse.told("test_asserted")[:9] == ["assert 1,201 <= 1,001", *expected]
    assert ">       found.check_baseline()\n" in worse.said
    lines = worse.told("test_all")
    assert lines[0] == "AssertionError: Worse than the baseline. 7 equal, 1 longer."
    assert lines[1].startswith("update_table: primask: 1,001 → 1,201 cycles (75.06 µs), +200, +20.0 %")
    waited = worse.told("TestBoth.test_it[a/b]")
    assert any(line.startswith("on_tim2: TIM2: 1,014 → 1,214 cycles") for line in waited)
    unplaced = re.sub("(?m)^rootdir.*|^plugins.*", "", worse.said)
    assert "/tailscope/" not in unplaced, "a frame of the package is shown"


def test_each_measurement_of_each_test_has_its_file(story: Story) -> None:
    names = sorted(path.name for path in (story.project.folder / FOLDER).iterdir())
    assert len(names) == 5
    assert {f"test_fw.{name}.toml" for name in TESTS[:3]} < set(names)
    first, second = (name for name in names if "TestBoth" in name)
    assert first.removesuffix("-2.toml") == second.removesuffix(".toml")
    read = tomllib.loads(story.project.baseline("test_checked").read_text(encoding="utf-8"))
    assert (read["schema"], read["command"]) == (4, "masks")
    (entry,) = read["entry"]
    assert entry["settings"]["until"] == UNTIL
    assert entry["functions"]["update_table"] == {"primask": 1001}
    assert entry["functions"]["levels"] == {"basepri 0x20": 22, "basepri 0x50": 68}
    read = tomllib.loads(story.latency_baseline.read_text(encoding="utf-8"))
    assert (read["command"], read["entry"][0]["functions"]["on_tim2"]["TIM2"]) == ("latency", 1014)


@pytest.mark.parametrize("command", ["masks", "latency"])
def test_a_baseline_of_pytest_is_one_of_the_command_line(story: Story, tmp_path: Path, command: str) -> None:
    """It is as good by it, and the same to the byte as what it writes. So is the way back."""
    ours = story.project.baseline("test_all") if command == "masks" else story.latency_baseline
    words = ("--until", UNTIL) if command == "masks" else LATENCY
    elf, theirs = story.project.folder / "fw.elf", tmp_path / "theirs.toml"
    judged = lab.run(command, elf, *words, "--baseline", ours)
    assert (judged.returncode, judged.stdout.splitlines()[-1][:24]) == (0, "As good as the baseline.")
    assert lab.run(command, elf, *words, "--baseline", theirs, "--update").returncode == 0
    assert theirs.read_bytes() == ours.read_bytes()


@pytest.mark.long
def test_half_a_run_is_no_baseline(project: Project) -> None:
    project.build("broken")
    project.write(
        f"""
        def test_it(masks):
            masks("fw.elf", until="{UNTIL}")
        def test_anyway(masks):
            found = masks("fw.elf", until="{UNTIL}", any_verdict=True)
            assert not found.complete and found.longest("primask").cycles == 1001
        """
    )
    tested = project.test("--tailscope-update")
    assert tested.states == {"test_it": "FAILED", "test_anyway": "PASSED"}
    assert "NotComplete: fw.elf is truncated: The run ended at cycle " in tested.told("test_it")[0]
    assert not (project.folder / FOLDER).exists()


@pytest.mark.long
def test_a_hang_and_what_vanished_fail_whatever_the_test_asks_for(project: Project) -> None:
    """A loop behind the first section, or a PLL that never locks: nothing of the rest was seen."""
    project.write(
        f"""
        def test_it(masks):
            masks("fw.elf", until="{UNTIL}").longest("primask").check(at_most_cycles=1001)
        def test_allowed(masks):
            masks("fw.elf", until="{UNTIL}", allow="vanished").longest("primask").check(at_most_cycles=1001)
        """
    )
    assert project.test("--tailscope-update").status == 0
    before = project.baseline("test_it").read_bytes()
    project.build("looping")
    tested = project.test()
    assert tested.states == {"test_it": "FAILED", "test_allowed": "PASSED"}
    assert "update_table: primask: It took 1,001 cycles in the baseline" in tested.told("test_it")[0]
    assert 'allow="vanished"' in tested.told("test_it")[0]
    project.build("hanging")
    for words in ((), ("--tailscope-update",)):
        tested = project.test(*words)
        assert tested.states == {"test_it": "FAILED", "test_allowed": "FAILED"}
        assert "it waits for bits 0x02000000 of RCC_CR" in tested.told("test_it")[0]
    assert project.baseline("test_it").read_bytes() == before


@pytest.mark.parametrize("plugin", ["no:nothing", PLUGIN])
def test_an_installed_plugin_is_found_and_may_be_named_too(project: Project, plugin: str) -> None:
    """What an installer writes of the entry points in pyproject.toml."""
    points = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    lines = [f"{name} = {value}\n" for name, value in points["pytest11"].items()]
    installed = project.folder / "installed" / "tailscope-1.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: tailscope\nVersion: 1\n")
    (installed / "entry_points.txt").write_text("[pytest11]\n" + "".join(lines))
    paths = os.pathsep.join([str(ROOT), str(installed.parent)])
    words = ("-p", "no:xdist", "-p", "no:hypothesispytest")
    tested = project.test(
        "--help", *words, plugin=plugin, PYTHONPATH=paths, PYTEST_DISABLE_PLUGIN_AUTOLOAD=""
    )
    assert tested.status == 0 and tested.said.count("--tailscope-update") == 1
