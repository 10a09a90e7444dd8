"""`./lab bounds` on small programs: bounds beside known lengths, what is refused, and its page."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from csv import DictReader
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from analysis.program.bounds import measure
from analysis.program.bounds.measure import BoundsReport, bounds
from analysis.program.bounds.text import as_text
from analysis.program.subject import Subject
from base.paths import ROOT
from quality.soundness.compiling import LINKER_SCRIPT
from simulator.masks import run_marks
from simulator.program import user_program
from tests import lab, masked_sections
from tests.tables import table

UNTIL = "2ms"
PAGE = ROOT / "docs" / "how-to" / "bounds.md"
HEAD = """
#define NOINLINE __attribute__((noinline))
#define NAKED __attribute__((naked, noinline))
#define MASK __asm__ volatile("cpsid i" ::: "memory")
#define NOP __asm__ volatile("nop")
#define UNMASK __asm__ volatile("cpsie i" ::: "memory")
extern unsigned stack_top[];
void reset(void);
__attribute__((section(".vectors"), used)) static void (*const vectors[])(void) = {
    (void (*)(void))stack_top, reset};
"""


def built(folder: Path, text: str, *options: str) -> Path:
    source = folder / "p.c"
    source.write_text(HEAD + text + "\n", encoding="utf-8")
    return masked_sections.build(folder, "-w", *options, source=source)


def bounded(elf: Path, until: str = UNTIL, loops_file: Path | None = None) -> BoundsReport:
    return bounds(Subject.of(user_program(elf), until), lambda _: None, loops_file=loops_file)


def status(report: BoundsReport) -> int:
    return 1 if report.violations else 2 if report.missing else 0


@pytest.fixture(scope="module")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return masked_sections.build(tmp_path_factory.mktemp("program"))


def stripped(elf: Path, folder: Path, *options: str) -> Path:
    made = folder / "stripped.elf"
    subprocess.run(["arm-none-eabi-strip", *options, str(elf), "-o", str(made)], check=True)
    return made


@table
def test_what_is_refused_is_told_in_one_sentence(
    elf: Path, tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    (tmp_path / "text.elf").write_text("no program\n", encoding="utf-8")
    files = {
        "elf": elf,
        "text": tmp_path / "text.elf",
        "nowhere": tmp_path / "nowhere.toml",
        "stripped": stripped(elf, tmp_path) if "{stripped}" in words else "",
        "m0": built_for_m0(tmp_path) if "{m0}" in words else "",
    }
    done = lab.run("bounds", *(word.format(**files) for word in words), "--until", "1ms")
    assert done.returncode == 2, done
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr and not done.stdout


def built_for_m0(folder: Path) -> Path:
    source = folder / "m0.c"
    source.write_text(HEAD + "void reset(void) { for (;;) {} }\n", encoding="utf-8")
    made = folder / "m0.elf"
    words = ["arm-none-eabi-gcc", "-mcpu=cortex-m0", "-mthumb", "-nostdlib", "-T"]
    subprocess.run([*words, str(LINKER_SCRIPT), str(source), "-o", str(made)], check=True)
    return made


def test_without_debug_information_the_bounds_are_the_same_and_have_no_lines(
    elf: Path, tmp_path: Path
) -> None:
    with_lines = bounded(elf, "5ms")
    without = bounded(stripped(elf, tmp_path, "-g"), "5ms")
    assert [section.cycles for section in with_lines.all] == [section.cycles for section in without.all]
    assert {section.begin.line for section in without.all} == {0}


WORK = "void reset(void) { work(0); for (;;) {} }"


@table
def test_what_has_no_bound_says_where_and_why(tmp_path: Path, text: str, sentence: str) -> None:
    report = bounded(built(tmp_path, text + WORK))
    assert status(report) == 2
    assert any(re.search(sentence, why) for why in report.missing), report.missing
    assert re.search(sentence, as_text(report))


@table
def test_what_masks_by_hand_has_bounds(tmp_path: Path, text: str) -> None:
    report = bounded(built(tmp_path, text + WORK))
    (section,) = report.sections
    assert status(report) == 0
    assert section.cycles is not None and section.seen is not None and section.cycles >= section.seen >= 2


def test_what_is_held_off_for_ever_is_told(tmp_path: Path) -> None:
    report = bounded(built(tmp_path, "void work(int x) { MASK; for (;;) {} }" + WORK))
    assert "work" in {section.owner for section in report.endless}
    assert "Held off for ever" in as_text(report)


# The longest path.


PATH = """
volatile unsigned a[64];
NOINLINE unsigned add(unsigned x) { unsigned s = x; for (int i = 0; i < 12; i++) s += a[i]; return s; }
NOINLINE void lock(void) { MASK; }
NOINLINE void unlock(void) { UNMASK; }
NOINLINE void work(int x) {
    lock();
    for (int i = 0; i < 10; i++) { if (x) a[i] = add(i); else NOP; }
    unlock();
}
NOINLINE void other(void) { MASK; NOP; UNMASK; }
void reset(void) { a[0] = 1; work(a[0]); other(); for (;;) {} }
"""


@pytest.fixture(scope="module")
def with_path(tmp_path_factory: pytest.TempPathFactory) -> BoundsReport:
    return bounded(built(tmp_path_factory.mktemp("path"), PATH))


def passes_of(explanation: measure.Explained) -> dict[int, int]:
    """How often each instruction of the path is passed."""
    return {
        code.address: block.passes
        for block in explanation.blocks
        if block.passes
        for code in block.instructions
    }


def test_the_parts_of_each_path_are_the_bound(with_path: BoundsReport, elf: Path) -> None:
    for report in (with_path, bounded(elf, "5ms")):
        assert report.all
        for section in report.all:
            explanation = measure.of_row(report, section)
            assert sum(block.cycles for block in explanation.blocks) == section.cycles


def test_each_instruction_is_passed_as_often_as_in_a_run_of_that_path(with_path: BoundsReport) -> None:
    """The run takes the dear branch each time, so it goes the longest path, and nothing else."""
    explanation = measure.explain(with_path, "work")
    passes = passes_of(explanation)
    rows = run_marks(with_path.subject.user, passes, UNTIL).rows
    assert Counter(passage.address for passage in rows) == passes
    assert max(passes.values()) == 10 * 12


def test_all_functions_that_a_pointer_may_hold_count(tmp_path: Path) -> None:
    """Also the first of them, if that has no bound."""
    text = (
        "volatile int n; void loops(void) { for (int i = 0; i < n; i++) NOP; } void done(void) { NOP; }"
        " void (*volatile p)(void); void work(int x) { p = done; MASK; p(); UNMASK; }"
    )
    path = tmp_path / "loops.toml"
    elf = built(tmp_path, text + WORK)
    for to in (["loops", "done"], ["done", "loops"]):
        path.write_text(f'schema = 1\n[[calls]]\nfunction = "work"\nto = {to}\nwhy = "x"\n', "utf-8")
        assert any(
            "in loops: nothing in the code limits it" in why for why in bounded(elf, loops_file=path).missing
        )


# Held to limits, and to a baseline.


def with_laps(folder: Path, laps: str) -> Path:
    """Two sections: one that goes round so often, and one without a loop."""
    folder.mkdir()
    round = f"NOINLINE void round(void) {{ MASK; for (int i = 0; i < {laps}; i++) NOP; UNMASK; }}"
    text = f"volatile int n; {round} NOINLINE void once(void) {{ MASK; NOP; UNMASK; }}"
    return built(folder, f"{text} void work(int x) {{ round(); once(); }} {WORK}")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("programs")
    return {
        "first": with_laps(folder / "first", "8"),
        "longer": with_laps(folder / "longer", "16"),
        "lost": with_laps(folder / "lost", "n"),
    }


def judged(elf: Path, *words: str | Path) -> tuple[int, dict[str, Any]]:
    """The exit status, and the judgement."""
    done = lab.run("bounds", elf, "--until", UNTIL, "--json", *words)
    assert "Traceback" not in done.stderr and done.stdout, done.stderr
    judgement = json.loads(done.stdout).get("judgement", {})
    (subject,) = judgement.get("subjects", [{}])
    return done.returncode, {**judgement, **subject}


@pytest.fixture(scope="module")
def baseline(programs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("baseline") / "bounds.toml"
    status, document = judged(programs["first"], "--baseline", file, "--update")
    assert status == 0 and document["updated"] == str(file)
    return file


@pytest.mark.parametrize(
    ("name", "status", "worse"),
    [
        ("first", 0, set()),
        ("longer", 1, {"longer"}),
        ("lost", 1, {"lost"}),
    ],
)
def test_a_bound_that_grew_or_went_is_worse(
    programs: dict[str, Path], baseline: Path, name: str, status: int, worse: set[str]
) -> None:
    """Code that moves costs other cycles of the flash: so the other section need not be equal."""
    done, document = judged(programs[name], "--baseline", baseline)
    findings = {check["finding"] for check in document["checks"] if check["state"] == "worse"}
    assert (done, findings) == (status, worse)


@pytest.mark.long
def test_what_had_no_bound_before_is_no_failure(programs: dict[str, Path], tmp_path: Path) -> None:
    """A bound that comes is one."""
    file = tmp_path / "bounds.toml"
    assert judged(programs["lost"])[0] == 2
    assert judged(programs["lost"], "--baseline", file, "--update")[0] == 0
    assert 'primask = "none"' in file.read_text(encoding="utf-8")
    assert judged(programs["lost"], "--baseline", file)[0] == 0
    document = judged(programs["first"], "--baseline", file)[1]
    assert ("better", "shorter") in {(check["state"], check["finding"]) for check in document["checks"]}


@table
def test_a_limit_holds_bounds_and_says_where_there_is_none(
    programs: dict[str, Path], name: str, limit: str, status: int, finding: str
) -> None:
    done, document = judged(programs[name], "--limit", limit)
    assert (done, [check["finding"] for check in document["checks"]]) == (status, [finding])


def test_a_run_that_took_longer_than_its_bound_fails_any_gate(tmp_path: Path) -> None:
    text = (
        "volatile int n; NOINLINE void work(int x) { n = 90; MASK; for (int i = 0; i < n; i++) NOP; UNMASK; }"
    )
    loops = tmp_path / "loops.toml"
    loops.write_text('schema = 1\n[[loops]]\nfunction = "work"\nat_most = 1\nwhy = "x"\n', encoding="utf-8")
    status, document = judged(built(tmp_path, text + WORK), "--loops", loops, "--limit", "any=1000")
    assert (status, document["exit_status"]) == (1, 1)
    # The section, and the limit that its bound is within; no interrupt waits for it.
    assert [row["finding"] for row in document["checks"]] == ["refuted", "within"]


# The folder for who must defend a bound.


STATED = """schema = 1
[[loops]]
function = "work"
at_most = 64
why = "the table has 64 places"
[[loops]]
function = "nobody"
at_most = 3
why = "it is of another program"
"""


OPTIONS = ("--until", UNTIL, "--tasks", "1", "--strict")


@pytest.fixture(scope="module")
def evidence_of(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """The ELF file, the statements, and a folder of evidence for both."""
    folder = tmp_path_factory.mktemp("evidence")
    text = (
        "volatile int n; NOINLINE void work(int x) { n = 9; MASK; for (int i = 0; i < n; i++) NOP; UNMASK; }"
    )
    elf, loops = built(folder, text + WORK), folder / "loops.toml"
    loops.write_text(STATED, encoding="utf-8")
    made = folder / "first"
    done = lab.run("bounds", elf, *OPTIONS, "--loops", loops, "--evidence", made)
    assert done.returncode == 0, done.stderr
    return elf, loops, made


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_evidence_names_its_inputs_by_what_is_in_them(evidence_of: tuple[Path, Path, Path]) -> None:
    elf, loops, folder = evidence_of
    document = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    for name, file in (("ELF", elf), ("--loops", loops)):
        assert document["inputs"][name]["sha256"] == sha256(file.read_bytes()).hexdigest()
    there = contents(folder)
    assert set(document["files"]) == set(there) - {"manifest.json"}
    assert all(
        document["files"][name]["sha256"] == sha256(there[name]).hexdigest() for name in document["files"]
    )
    assert there["inputs/loops/loops.toml"] == loops.read_bytes()
    options = document["options"]
    assert [options[name] for name in OPTIONS[::2]] == [UNTIL, "1", ""] and document["sources"]["p.c"]


def test_the_evidence_has_what_was_stated_and_whether_it_was_of_use(
    evidence_of: tuple[Path, Path, Path],
) -> None:
    rows = list(DictReader((evidence_of[2] / "annotations.csv").open(encoding="utf-8")))
    assert [(row["function"], row["used"]) for row in rows] == [("work", "yes"), ("nobody", "no")]
    assert rows[0]["why"] == "the table has 64 places"


@pytest.mark.long
def test_the_evidence_is_the_same_to_the_byte_wherever_it_is_made(
    evidence_of: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    elf, loops, folder = evidence_of
    done = lab.run("bounds", elf, *OPTIONS, "--loops", loops, "--evidence", tmp_path / "again")
    assert done.returncode == 0
    assert contents(tmp_path / "again") == contents(folder)
    assert not [name for name, content in contents(folder).items() if str(elf.parent).encode() in content]


# The page.


def block(language: str) -> str:
    (code,) = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return str(code)


def test_the_pages_loop_has_a_bound_once_it_is_stated(tmp_path: Path) -> None:
    (tmp_path / "frame.c").write_text(block("c"), encoding="utf-8")
    loops = tmp_path / "loops.toml"
    loops.write_text(block("toml"), encoding="utf-8")
    elf = built(
        tmp_path, '#include "frame.c"\nvoid reset(void) { frame.words = 40; checksum(&frame); for (;;) {} }'
    )
    (why,) = bounded(elf).missing
    assert f"*{why}*" in PAGE.read_text(encoding="utf-8")
    (section,) = bounded(elf, loops_file=loops).sections
    # 64 words, of which the run sums 40: each costs two loads at the least, of two cycles each.
    assert section.cycles is not None and section.cycles > 64 * 4
    assert section.seen is not None and 40 * 4 < section.seen < section.cycles
