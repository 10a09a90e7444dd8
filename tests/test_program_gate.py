"""`./lab masks` and `./lab latency` as a gate, on programs whose sections one can count."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests import lab, masked_sections

UNTIL = ("--until", "5ms")
UNMODELLED = "REGISTER(0x40012C00)"  # SDIO_POWER
HELPED = """
__attribute__((noinline)) static void lock(void) { __asm__ volatile("cpsid i" ::: "memory"); }
__attribute__((noinline)) static void unlock(void) { __asm__ volatile("cpsie i" ::: "memory"); }
__attribute__((noinline)) static void send(void) { lock(); NOPS(40); unlock(); }
__attribute__((noinline)) static void receive(void) { lock(); NOPS(90); unlock(); }

void reset(void) {"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("programs")
    changes = {
        "first": [],
        "longer": [("NOPS(1000)", "NOPS(1200)")],
        "new": [("void reset(void) {", HELPED), ("levels();\n", "levels();\n send();\n receive();\n")],
        "gone": [("    fault_masked();\n", "    (void)fault_masked;\n")],
        "hanging": [
            (
                "    update_table();\n",
                "    while (!(REGISTER(0x40023800) & 1u << 25)) {}\n    update_table();\n",
            )
        ],
        "stuck": [("    doze();\n", '    doze();\n    __asm__ volatile("cpsid i");\n    for (;;) {}\n')],
        "stopped": [("void reset(void) {\n", f"void reset(void) {{\n    {UNMODELLED};\n")],
    }
    return {name: masked_sections.changed(folder / name, *pairs) for name, pairs in changes.items()}


def masks(elf: Path, *words: str | Path) -> CompletedProcess[str]:
    done = lab.run("masks", elf, *UNTIL, *words)
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture(scope="module")
def baseline(programs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("baseline") / "masks.toml"
    done = masks(programs["first"], "--baseline", path, "--update")
    assert done.returncode == 0, done.stderr
    return path


def test_the_same_program_is_as_good_to_the_byte(
    programs: dict[str, Path], baseline: Path, tmp_path: Path
) -> None:
    tables = [tmp_path / name for name in ("a.md", "b.md")]
    for table in tables:
        done = masks(programs["first"], "--baseline", baseline, "--markdown", table)
        assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "As good as the baseline. 9 equal.")
    assert tables[0].read_bytes() == tables[1].read_bytes()
    content = baseline.read_bytes()
    assert masks(programs["first"], "--baseline", baseline, "--update").returncode == 0
    assert baseline.read_bytes() == content


def test_a_section_that_grew_is_told_with_its_place(programs: dict[str, Path], baseline: Path) -> None:
    done = masks(programs["longer"], "--baseline", baseline)
    assert done.returncode == 1
    said = r"✗ update_table: primask: 1,001 → 1,201 cycles \(75\.06 µs\), \+200, \+20\.0 %, .*main\.c:56"
    assert re.search(said, done.stdout)
    assert done.stdout.splitlines()[-1] == "Worse than the baseline. 8 equal, 1 longer."


def test_new_sections_have_the_name_of_who_locks(programs: dict[str, Path], baseline: Path) -> None:
    """Not of the helper that all of them call: 40 and 90 NOPs, with the ways in and out."""
    done = masks(programs["new"], "--baseline", baseline, "--json")
    assert done.returncode == 1
    (judgement,) = json.loads(done.stdout)["judgement"]["subjects"]
    rows = [check["now"] for check in judgement["checks"] if check["finding"] == "new"]
    new = {row["function"]: row["cycles"] for row in rows}
    assert set(new) == {"send", "receive"}
    assert new["receive"] - new["send"] == 50
    assert {check["finding"] for check in judgement["checks"]} == {"equal", "new"}


def test_what_vanished_cannot_be_said_to_be_good(
    programs: dict[str, Path], baseline: Path, tmp_path: Path
) -> None:
    done = masks(programs["gone"], "--baseline", baseline)
    assert done.returncode == 2
    assert "fault_masked: faultmask: It took 301 cycles in the baseline, and was not seen now." in done.stdout
    assert "give --allow vanished, or make this the baseline with --update" in done.stdout
    assert masks(programs["gone"], "--baseline", baseline, "--allow", "vanished").returncode == 0
    mine = tmp_path / "masks.toml"
    mine.write_bytes(baseline.read_bytes())
    assert masks(programs["gone"], "--baseline", mine, "--update").returncode == 0
    assert masks(programs["gone"], "--baseline", mine).returncode == 0


def test_a_program_that_polls_for_ever_passes_no_gate_and_is_no_baseline(
    programs: dict[str, Path], baseline: Path, tmp_path: Path
) -> None:
    """A PLL that was never started: the board would wait, too."""
    sentence = "The program hangs in reset (main.c:"
    for words in (("--limit", "any=1200"), ("--baseline", baseline)):
        assert masks(programs["hanging"], *words).returncode == 2
    new = tmp_path / "new.toml"
    done = masks(programs["hanging"], "--baseline", new, "--update")
    assert (done.returncode, sentence in done.stderr, new.exists()) == (2, True, False)
    assert masks(programs["hanging"], "--limit", "any=1200", "--allow", "polling").returncode == 0
    section = ("--section", "short_section..", *UNTIL, "--limit", "short_section..=1200")
    assert lab.run("latency", programs["hanging"], *section).returncode == 2


@pytest.mark.long
def test_several_builds_give_one_table(programs: dict[str, Path]) -> None:
    done = masks(programs["first"], programs["longer"], programs["gone"])
    rows = {line.split("  ")[0]: line.split()[2:] for line in done.stdout.splitlines() if ": " in line}
    assert rows["update_table: primask"] == ["1,001", "1,201", "1,001", "+0", "(+0.0%)"]
    assert rows["fault_masked: faultmask"] == ["301", "301", "-", "-"]
    document = json.loads(masks(programs["first"], programs["longer"], "--json").stdout)
    assert [build["elf"] for build in document["builds"]] == [
        str(programs[name]) for name in ("first", "longer")
    ]
    assert {row["function"]: row["cycles"] for row in document["rows"]}["update_table"] == [1001, 1201]


def test_what_judges_one_program_is_refused_of_several(programs: dict[str, Path], tmp_path: Path) -> None:
    two = (programs["first"], programs["longer"])
    for option in ("--baseline", "--junit", "--markdown", "--bencher"):
        file = tmp_path / option
        assert masks(*two, option, file).returncode == 2
        assert not file.exists()
    for words in (("--limit", "any=5"), ("--allow", "polling")):
        assert masks(*two, *words).returncode == 2


def test_a_program_that_stopped_says_nothing(programs: dict[str, Path], tmp_path: Path) -> None:
    metrics = tmp_path / "metrics.json"
    done = masks(programs["stopped"], "--limit", "any=5")
    assert done.returncode == 2
    assert "The run ended at cycle" in done.stdout and "SDIO_POWER" in done.stdout
    for words in (("--baseline", tmp_path / "new.toml", "--update"), ("--bencher", metrics)):
        done = masks(programs["stopped"], *words)
        assert (done.returncode, done.stderr.count("The run ended at")) == (2, 1)
    done = masks(programs["stopped"], "--limit", "any=5", "--bencher", metrics)
    assert (done.returncode, done.stderr.count("The run ended at")) == (2, 0)
    assert not any(tmp_path.iterdir())
    assert masks(programs["stopped"], "--gaps", "--limit", "any=1001").returncode == 0


FAULTMASK_FOLLOWS = """
    __asm__ volatile("cpsid f\\n cpsie i" ::: "memory");
    NOPS(900);
    __asm__ volatile("cpsie f" ::: "memory");
}"""


def test_priorities_wait_for_what_follows_on_each_other(programs: dict[str, Path], tmp_path: Path) -> None:
    """A thousand NOPs, and 900 with nothing between: each section is within the limit."""
    elf = masked_sections.changed(tmp_path, ("    unmask();\n}", FAULTMASK_FOLLOWS))
    assert masks(elf, "--limit", "any=1010").returncode == 0
    done = masks(elf, "--limit", "priority=1010")
    assert (done.returncode, "priority 0x60" in done.stdout) == (1, True)
    assert masks(elf, "--limit", "priority=1910").returncode == 0
    assert masks(programs["stuck"], "--limit", "priority=70000").returncode == 1


LATENCY = ("--irq", "TIM2", "--from", "cycles:300", "--until", "cycles:1800", "--section", "update_table..")


def test_a_latency_is_held_to_a_baseline(programs: dict[str, Path], tmp_path: Path) -> None:
    """TIM2 waits through update_table, pended as it begins: 1,001 cycles, and twelve to enter."""
    path = tmp_path / "latency.toml"
    done = lab.run("latency", programs["first"], *LATENCY, "--baseline", path, "--update")
    assert done.returncode == 0, done.stderr
    functions = tomllib.loads(path.read_text(encoding="utf-8"))["entry"][0]["functions"]
    assert functions["update_table"]["TIM2 by primask"] == functions["on_tim2"]["TIM2"]
    assert 1001 <= functions["on_tim2"]["TIM2"] <= 1001 + 12 + 2
    assert lab.run("latency", programs["first"], *LATENCY, "--baseline", path).returncode == 0
    worse = lab.run("latency", programs["longer"], *LATENCY, "--baseline", path, "--json")
    assert worse.returncode == 1
    (judgement,) = json.loads(worse.stdout)["judgement"]["subjects"]
    longer = [check for check in judgement["checks"] if check["finding"] == "longer"]
    grown = {check["name"]: check["now"]["cycles"] - check["before"] for check in longer}
    names = ("on_tim2: TIM2", "update_table: TIM2 by primask", "update_table: update_table..")
    assert grown == dict.fromkeys(names, 200)
