"""`./lab gate` as it is typed: exit status, files, and what can break while it writes."""

from __future__ import annotations

import errno
import json
import signal
from pathlib import Path

import pytest

from analysis.compare.tests.made import with_cycles
from analysis.judge.tests.made_runs import write
from base.files import whole
from base.files.whole import WriteError
from base.processes import signals
from cli.shell import start
from cli.tests.typed import refused
from tests import lab


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write(tmp_path / "a")


@pytest.fixture
def slower(tmp_path: Path) -> Path:
    return write(tmp_path / "slower", with_cycles({1: 9}), build="cd")


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
