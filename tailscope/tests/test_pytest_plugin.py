# spans: tailscope/pytest_plugin.py, tailscope/_baseline.py, tailscope/_figures.py
"""The fixtures in a project of somebody's: its pytest runs in a process of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from textwrap import dedent

import pytest

from base.paths import ROOT
from tests import masked_sections

UNTIL = "cycles:3000"
BASELINE = "tailscope-baselines/test_fw.test_it.toml"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The program as it is, and one whose longest section has 200 NOPs more."""
    made = {}
    for name, nops in (("as it is", 1000), ("worse", 1200), ("better", 900)):
        folder = tmp_path_factory.mktemp("program")
        source = folder / "main.c"
        text = masked_sections.SOURCE.read_text(encoding="utf-8").replace("NOPS(1000)", f"NOPS({nops})")
        source.write_text(text, encoding="utf-8")
        made[name] = masked_sections.build(folder, source=source)
    return made


class Project:
    """A folder with a program and tests."""

    def __init__(self, folder: Path, programs: dict[str, Path]) -> None:
        self.folder = folder
        self._programs = programs
        self.build("as it is")

    def build(self, name: str) -> None:
        """Makes this one the program."""
        shutil.copyfile(self._programs[name], self.folder / "fw.elf")

    def write(self, body: str, name: str = "test_fw.py") -> None:
        (self.folder / name).write_text(dedent(body), encoding="utf-8")

    def test(self, *words: str) -> tuple[int, str]:
        """The exit status of its pytest, and what that printed."""
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-p",
                "tailscope.pytest_plugin",
                "-p",
                "no:cacheprovider",
                *words,
            ],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def project(tmp_path: Path, programs: dict[str, Path]) -> Project:
    return Project(tmp_path, programs)


ASSERTED = f"""
    def test_it(masks):
        assert masks("fw.elf", until="{UNTIL}").longest("primask").cycles <= 1001
"""
CHECKED = f"""
    def test_it(masks):
        masks("fw.elf", until="{UNTIL}").longest("primask").check_baseline()
"""


def test_a_failed_assertion_tells_the_place_the_calls_and_the_change(project: Project) -> None:
    project.write(ASSERTED)
    assert project.test()[0] == 0
    assert not (project.folder / "tailscope-baselines").exists()
    assert project.test("--tailscope-update")[0] == 0
    project.build("worse")
    status, said = project.test()
    assert status == 1
    told = [line.removeprefix("E").strip() for line in said.splitlines() if line.startswith("E ")]
    assert told[:9] == [
        "assert 1,201 <= 1,001",
        "primask: 1,201 cycles (75.06 µs)",
        "raised by update_table (main.c:56), from reset (main.c:101)",
        "call stack, innermost first:",
        "mask (main.c:42)",
        "update_table (main.c:56)",
        "reset (main.c:101)",
        "ended by update_table (main.c:58)",
        "held off: IRQ 28 (on_tim2), IRQ 29 (on_tim3)",
    ]
    assert told[9] == "baseline: 1,001 cycles, update_table; 200 cycles longer now"


def test_the_baseline_is_a_file_beside_the_test(project: Project) -> None:
    project.write(CHECKED)
    project.test("--tailscope-update")
    read = tomllib.loads((project.folder / BASELINE).read_text(encoding="utf-8"))
    assert (read["schema"], read["command"], read["settings"]["until"]) == (1, "masks", UNTIL)
    assert read["functions"]["update_table"] == {"primask": 1001}
    assert read["functions"]["levels"] == {"basepri 0x20": 22, "basepri 0x50": 68}


def test_a_test_is_held_to_its_baseline(project: Project) -> None:
    project.write(CHECKED)
    status, said = project.test()
    assert status == 1 and "there is no baseline of it: `pytest --tailscope-update` writes one" in said
    assert project.test("--tailscope-update")[0] == 0
    assert "primask = 1001" in (project.folder / BASELINE).read_text(encoding="utf-8")
    before = (project.folder / BASELINE).read_bytes()
    project.build("better")
    assert project.test()[0] == 0
    project.build("worse")
    status, said = project.test()
    assert status == 1 and "AssertionError: 200 cycles more than in the baseline" in said
    assert "/tailscope/" not in re.sub("(?m)^rootdir.*|^plugins.*", "", said), (
        "a frame of the package is shown"
    )
    project.write(CHECKED.replace("check_baseline()", "check_baseline(more_cycles=200)"))
    assert project.test()[0] == 0
    assert (project.folder / BASELINE).read_bytes() == before


def test_each_measurement_of_each_test_has_its_file(project: Project) -> None:
    project.write(
        f"""
        import pytest

        class TestAll:
            @pytest.mark.parametrize("kind", ["primask", "a/b"])
            def test_it(self, masks, latency, kind):
                masks("fw.elf", until="{UNTIL}")
                latency("fw.elf", irq="TIM2", until="{UNTIL}", every=10).longest.check_baseline()
        """
    )
    assert project.test("--tailscope-update")[0] == 0
    names = sorted(path.name for path in (project.folder / "tailscope-baselines").iterdir())
    assert len(names) == 4
    assert len({name.removesuffix("-2.toml").removesuffix(".toml") for name in names}) == 2
    second = next(name for name in names if name.endswith("-2.toml"))
    read = tomllib.loads((project.folder / "tailscope-baselines" / second).read_text(encoding="utf-8"))
    assert (read["command"], list(read["functions"])) == ("latency", ["on_tim2"])
    project.build("worse")
    status, said = project.test()
    assert status == 1 and "pended at update_table" in said and "set at update_table (main.c:56)" in said


def test_a_latency_is_told_with_what_it_waited_for(project: Project) -> None:
    project.write(
        f"""
        def test_it(latency):
            assert 500 > latency("fw.elf", irq="TIM2", until="{UNTIL}").longest.cycles
        """
    )
    status, said = project.test()
    assert status == 1
    assert "1,001 cycles: PRIMASK, set at update_table (main.c:56)" in said
    assert "assert 500 > 1,014" in said


HEAD = f'schema = 1\ncommand = "masks"\n[settings]\nuntil = "{UNTIL}"\noptions = ""\n'
DAMAGED = {
    "schema = ": "holds no TOML",
    HEAD.replace("1", "2", 1): "schema must be 1",
    HEAD.replace("masks", "latency"): "is a baseline of latency, not of masks",
    HEAD.replace(UNTIL, "1s"): "was made with other settings (until 1s → cycles:3000)",
    HEAD: "functions is missing",
    f'{HEAD}[functions.f]\nprimask = "1"\n': "functions.f.primask must be a whole number",
}


def test_a_damaged_baseline_gets_one_sentence(project: Project) -> None:
    """A test for each; one that has not ended is no damage, and counts as not there."""
    contents = [*DAMAGED, f'{HEAD}[functions.f]\nprimask = "open"\n']
    project.write("".join(CHECKED.replace("test_it", f"test_{number}") for number in range(len(contents))))
    (project.folder / BASELINE).parent.mkdir()
    for number, content in enumerate(contents):
        path = project.folder / BASELINE.replace("test_it", f"test_{number}")
        path.write_text(content, encoding="utf-8")
    _, words = project.test()
    told = [line for line in words.splitlines() if re.match("E +tailscope._errors.Error: ", line)]
    assert len(told) == len(DAMAGED)
    for line, said in zip(told, DAMAGED.values(), strict=True):
        assert said in line and line.endswith("or write it anew with pytest --tailscope-update.")
    assert len(re.findall("(?m)^E .*there is no baseline of it", words)) == 1
    assert project.test("--tailscope-update")[0] == 0


def test_what_the_bench_says_is_what_the_test_says(project: Project) -> None:
    project.write(
        """
        def test_it(masks):
            masks("none.elf")
        def test_words(masks):
            masks("fw.elf", output="masks.html")
        """
    )
    status, said = project.test()
    assert "TypeError: got an unexpected keyword argument 'output'" in said
    assert status == 1 and "Error: none.elf cannot be read: No such file or directory." in said


def test_a_program_is_measured_once_for_all_tests(project: Project) -> None:
    project.write(
        f"""
        from pathlib import Path

        def test_one(masks):
            global first
            first = masks("fw.elf", until="{UNTIL}")
        def test_two(masks):
            assert masks("fw.elf", until="{UNTIL}")._part is first._part
        def test_another_file(masks):
            Path("fw.elf").write_bytes(Path("fw.elf").read_bytes() + b"x")
            assert masks("fw.elf", until="{UNTIL}")._part is not first._part
        """
    )
    status, said = project.test()
    assert status == 0, said


def test_other_comparisons_are_told_as_pytest_tells_them(project: Project) -> None:
    project.write("def test_it():\n    assert 2 <= 1\n")
    assert "E   " in project.test()[1] and "assert 2 <= 1" in project.test()[1]


def test_the_help_has_the_option_and_the_fixtures(project: Project) -> None:
    assert "--tailscope-update" in project.test("--help")[1]
    listed = project.test("--fixtures")[1]
    assert all(f"{name} " in listed for name in ("masks", "latency", "bench_run"))
