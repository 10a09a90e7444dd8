"""The Containerfile, read: no engine builds it here."""

from __future__ import annotations

import re
import subprocess

import pytest

from base.paths import ROOT
from tests import packages

TEXT = (ROOT / "Containerfile").read_text("utf-8")
LINES = [
    line.partition(" ")[::2]
    for line in re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", TEXT, flags=re.MULTILINE)).splitlines()
    if line
]
RUNS = [words for word, words in LINES if word == "RUN"]
INSTALLED = [
    name
    for words in RUNS
    for line in re.findall(r"apt-get install ([^&]*)", words)
    for name in line.split()
    if not name.startswith("-")
]


def test_nothing_runs_as_root() -> None:
    """The last USER holds when the container runs, and one of the steps makes that user."""
    user = [words for word, words in LINES if word == "USER"][-1]
    assert user not in ("root", "0")
    assert any(re.search(rf"useradd .*\b{user}$", words) for words in RUNS)
    after = [word for word, _ in LINES][[word for word, _ in LINES].index("USER") :]
    assert "RUN" not in after


@pytest.mark.parametrize("words", RUNS)
def test_a_step_is_sound_shell(words: str) -> None:
    assert subprocess.run(["sh", "-n", "-c", words], check=False).returncode == 0


@pytest.mark.skipif(not packages.are_known(), reason="this machine has no lists of Debian's packages")
@pytest.mark.parametrize("name", INSTALLED)
def test_debian_has_the_package(name: str) -> None:
    assert packages.has_candidate(name)
