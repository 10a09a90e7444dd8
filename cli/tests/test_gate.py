"""`./lab gate` as it is typed: exit status, files, and what can break while it writes."""

from __future__ import annotations

import errno
import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.compare.tests.made import with_cycles, write
from analysis.judge.tests.made_runs import write as write_gated
from base.files import whole
from base.files.whole import WriteError
from base.processes import signals
from cli.shell import start
from cli.tests.typed import refused
from tests import lab


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_gated(tmp_path / "a")


@pytest.fixture
def slower(tmp_path: Path) -> Path:
    return write_gated(tmp_path / "slower", with_cycles({1: 9}), build="cd")


@pytest.fixture
def baseline(tmp_path: Path, run: Path) -> Path:
    path = tmp_path / "b.toml"
    assert lab.run("gate", run, "--baseline", path, "--update").returncode == 0
    return path


def test_the_exit_status_is_the_shells_and_files_are_written(
    tmp_path: Path, run: Path, slower: Path, baseline: Path
) -> None:
    junit, page = tmp_path / "out" / "gate.xml", tmp_path / "gate.md"
    files = ("--junit", junit, "--markdown", page)
    done = lab.run("gate", run, slower, "--baseline", baseline, "--json", *files)
    document = json.loads(done.stdout)
    assert done.returncode == document["exit_status"] == 1
    assert [subject["state"] for subject in document["subjects"]] == ["as good", "worse"]
    assert "599 → 608 cycles" in junit.read_text(encoding="utf-8")
    assert "599 → 608 cycles" in page.read_text(encoding="utf-8")
    assert lab.run("gate", run, "--baseline", baseline).returncode == 0
    nowhere = lab.run("gate", tmp_path / "nowhere", "--baseline", baseline)
    assert (nowhere.returncode, nowhere.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (".", "Say what to judge by"),
        (". --update --limit free=1us", "--update needs the file to write"),
        (". --limit free=1us --limit free=2us", "free is given twice, as 1us and as 2us."),
        (". --limit fre=1us", "--limit fre: there is no such kind"),
        (". --baseline no/where.toml", "does not exist: check the path, or write it with --update."),
        (". --baseline b --update --junit o", "--update judges nothing"),
        (". --baseline b.toml --markdown ./b.toml", "--baseline and --markdown both name b.toml"),
        (f". --baseline {'y' * 5000} --update", "cannot be read: File name too long"),
    ],
)
def test_what_is_misused_is_told(words: str, sentence: str) -> None:
    assert sentence in refused("gate", *words.split())


@pytest.mark.parametrize(
    ("fault", "raised"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), WriteError),
        (signals.Stopped(signal.SIGINT), signals.Stopped),
    ],
)
def test_an_update_that_is_cut_short_leaves_the_old_baseline(
    monkeypatch: pytest.MonkeyPatch, slower: Path, baseline: Path, fault: BaseException, raised: type
) -> None:
    before = baseline.read_bytes()

    def refuse(_path: Path) -> None:
        raise fault

    monkeypatch.setattr(whole, "sync", refuse)
    with pytest.raises(raised):
        start.run(["gate", str(slower), "--baseline", str(baseline), "--update"])
    assert baseline.read_bytes() == before
    assert [path.name for path in baseline.parent.glob("b.toml*")] == ["b.toml"]


STATUS: dict[str, tuple[Callable[[Path], Path], int]] = {
    "equal": (write, 0),
    "better": (lambda runs: write(runs, with_cycles({1: -9})), 0),
    "worse": (lambda runs: write(runs, with_cycles({1: 9})), 1),
    "truncated": (lambda runs: write(runs, verdict="truncated", reasons=("It was cut off.",)), 2),
}


@pytest.mark.parametrize("name", STATUS)
def test_the_exit_status(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    make, expected = STATUS[name]
    assert start.run(["compare", str(write(tmp_path / "a")), str(make(tmp_path / "b"))]) == expected
    assert "Traceback" not in "".join(capfd.readouterr())


def test_boards_are_set_side_by_side(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """600 cycles of the wire are 599 of the counter (synthetic.DISAGREEMENT_CYCLES) at 84 MHz."""
    write(tmp_path)
    fields = {"allocator": "seglist", "board": "nucleo-f446re"}
    write(tmp_path, board="virtual_nucleo_f446re", changes={"asked": fields})
    page = tmp_path / "page.html"
    assert start.run(["compare", "--by", "board", str(tmp_path), "--output", str(page), "--json"]) == 0
    (group,) = json.loads(capfd.readouterr().out)["groups"]
    assert [line["board"] for line in group["boards"]] == ["nucleo-f401re", "nucleo-f446re"]
    first = group["boards"][0]
    assert (first["allocate_cycles"], first["counter"], first["allocations"]) == (599, "DWT", 3)
    assert first["allocate_ns"] == pytest.approx(600 * 1e9 / 84e6)
    assert page.read_text(encoding="utf-8").startswith("<!")
