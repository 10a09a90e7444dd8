"""The words after `./lab test`, and the checks that they choose."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from base import source_digest
from cli import _checks as rooms
from cli import test as suite
from cli._checks import Check, Room, RoomError
from cli.test import Outcome
from firmware.build import catalogue


def names(*words: str, everything: bool = False) -> list[str]:
    return [check.name for check in suite.chosen(words, everything)]


@pytest.mark.parametrize(
    ("word", "room"),
    [
        ("capture", Room(Path("capture"))),
        ("capture/verdict/", Room(Path("capture", "verdict"))),
        ("heap", Room(Path("firmware", "heap"))),
        ("heap/tests", Room(Path("firmware", "heap", "tests"))),
        ("heap/tlsf", Room(Path("firmware", "heap"), "tlsf")),
    ],
)
def test_a_room_is_a_folder_or_an_allocator(word: str, room: Room) -> None:
    assert rooms.room_of(word) == room


@pytest.mark.parametrize(
    "word", ["captrue", "capture/verdcit", "heap/tslf", "build", ".ci", "..", "/etc", ""]
)
def test_any_other_word_is_one_sentence_with_the_rooms_there_are(word: str) -> None:
    with pytest.raises(RoomError) as refused:
        suite.chosen([word])
    assert "analysis, base, capture, ci, cli, dashboards, decoders, docs, firmware, quality, " in str(
        refused.value
    )
    assert "\n" not in str(refused.value)


def test_a_room_has_its_style_and_its_tests_and_no_other_rooms() -> None:
    style = [f"python: {tool} in quality/faults" for tool in ("ruff", "format", "mypy")]
    assert names("quality/faults") == [*style, "python: layers", "python: pytest in quality/faults"]
    assert names("ci") == ["ci: shellcheck"]
    assert names("docs") == ["python: pytest in docs"]
    assert {name.split(":")[0] for name in names("simulator")} == {"simulator", "python", "c"}
    assert names("simulator/crates") == [f"simulator: {what}" for what in ("format", "clippy", "tests")]


def test_an_allocator_has_its_contract() -> None:
    assert names("heap/tlsf") == ["heap/tlsf: contract", "python: pytest in heap/tlsf"]
    assert names("heap/rlsf") == ["heap/rlsf: contract", "python: pytest in heap/rlsf"]
    assert {name for name in names("heap") if name.endswith("contract")} == {
        f"heap/{name}: contract" for name in catalogue.EACH_KIND
    }


def test_the_whole_is_every_language_and_every_allocator_once() -> None:
    chosen = names(everything=True)
    assert len(set(chosen)) == len(chosen)
    contracts = {name.split("/")[1].split(":")[0] for name in chosen if name.endswith(": contract")}
    on_the_host = {
        row.id
        for row in catalogue.allocators().values()
        if not row.target_only and not row.missing_checkout()
    }
    assert contracts == on_the_host
    kinds = {
        "layers",
        "ruff",
        "format",
        "mypy",
        "clippy",
        "tests",
        "pytest",
        "build",
        "contract",
        "shellcheck",
    }
    assert {name.split(": ")[1] for name in chosen} == kinds


def test_style_is_what_looks_at_the_sources_only() -> None:
    assert set(names("style")) == {check.name for check in suite.chosen(()) if check.style}
    style = [f"python: {tool} in capture" for tool in ("ruff", "format", "mypy")]
    assert names("style", "capture") == [*style, "python: layers"]


def python(name: str, *programs: str, needs: tuple[str, ...] = (), tool: str | None = None) -> Check:
    """A check that runs programs in Python."""
    return Check(name, tuple((sys.executable, "-c", program) for program in programs), needs=needs, tool=tool)


def outcomes(checks: Sequence[Check], slots: int = 2) -> dict[str, Outcome]:
    return {outcome.check.name: outcome for outcome in suite.side_by_side(checks, slots=slots)}


def test_two_checks_run_at_the_same_time(tmp_path: Path) -> None:
    """Each program waits for the other's file."""
    meet = (
        "import pathlib, sys, time\n"
        "pathlib.Path({own!r}).touch()\n"
        "end = time.monotonic() + 60\n"
        "while not pathlib.Path({other!r}).exists():\n"
        "    assert time.monotonic() < end\n"
    )
    first, other = str(tmp_path / "one"), str(tmp_path / "other")
    checks = [
        python("one", meet.format(own=first, other=other)),
        python("other", meet.format(own=other, other=first)),
    ]
    assert [outcome.state for outcome in outcomes(checks).values()] == ["passed", "passed"]


def test_the_first_of_those_that_could_begin_does() -> None:
    checks = [python("last", "", needs=("first",)), python("first", ""), python("between", "")]
    assert list(outcomes(checks, slots=1)) == ["first", "last", "between"]


def test_the_first_command_that_fails_ends_its_check_and_no_other() -> None:
    by_name = outcomes(
        [python("one", "print(1)", "print(2); raise SystemExit(1)", "print(3)"), python("two", "")]
    )
    assert (by_name["one"].state, by_name["one"].output) == ("failed", "1\n2\n")
    assert by_name["two"].state == "passed"


def test_what_passed_with_the_same_sources_need_not_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suite, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(source_digest, "digest", lambda room, **_: (tmp_path / room).read_text())
    count = ("sh", "-c", f"echo x >> {tmp_path}/runs; exit $(cat {tmp_path}/status)")
    check = Check("a", (count,), sources="room")
    runs = []
    for sources, status, again in (
        ("1", 1, False),
        ("1", 0, False),
        ("1", 0, False),
        ("1", 0, True),
        ("2", 0, False),
    ):
        (tmp_path / "room").write_text(sources)
        (tmp_path / "status").write_text(str(status))
        states = [outcome.state for outcome in suite.side_by_side([check], again=again)]
        assert states == ["failed" if status else "passed"]
        runs.append((tmp_path / "runs").read_text().count("x"))
    assert runs == [1, 2, 2, 3, 4]
