"""Checks side by side: their order, how they end, and what the suite prints of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from base import source_digest
from cli.work import side_by_side
from cli.work.checks import Check
from cli.work.side_by_side import Outcome, run


def python(name: str, *programs: str, needs: tuple[str, ...] = (), tool: str | None = None) -> Check:
    """A check that runs programs in Python."""
    return Check(name, tuple((sys.executable, "-c", program) for program in programs), needs=needs, tool=tool)


def outcomes(checks: Sequence[Check], slots: int = 2) -> dict[str, Outcome]:
    return {outcome.check.name: outcome for outcome in run(checks, slots=slots)}


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
    monkeypatch.setattr(side_by_side, "CACHE", tmp_path / "cache")
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
        states = [outcome.state for outcome in run([check], again=again)]
        assert states == ["failed" if status else "passed"]
        runs.append((tmp_path / "runs").read_text().count("x"))
    assert runs == [1, 2, 2, 3, 4]
