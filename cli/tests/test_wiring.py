"""`./lab wiring`, as a user types it."""

from __future__ import annotations

import json
import subprocess

import pytest

from capture.desk.bench import read_bench
from cli.tests.typed import refused
from tests import lab


def wired(*words: str) -> subprocess.CompletedProcess[str]:
    return lab.run("wiring", *words)


def test_the_plan_is_that_of_bench_toml() -> None:
    rows = json.loads(wired("plan", "--board", "nucleo", "--json").stdout)
    assert {row["channel"]: row["input"] for row in rows} == read_bench().board("nucleo").analyzer.channels
    lines = wired("plan", "--board", "nucleo").stdout.splitlines()
    assert lines[0] == "nucleo, Nucleo-F401RE: fx2lafw at 24,000,000 samples per second"
    assert lines[3].split() == ["D0", "CRIT", "PA8", "D7", "CN9-8"]
    assert lines[-1].split()[:3] == ["GND", "GND", "GND"]


def test_the_check_of_the_virtual_board() -> None:
    done = wired("check")
    assert done.returncode == 0 and done.stdout.endswith("All eight clips are where they belong.\n")
    assert done.stdout.count("right  sees") == 8


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("chek", "Invalid value for '[plan|check]': 'chek' is not one of 'plan', 'check'."),
        ("plan --board mars", "bench.toml has no board 'mars'; there are nucleo, virtual, desk"),
    ],
)
def test_a_word_that_is_none_gets_a_sentence(words: str, sentence: str) -> None:
    assert refused("wiring", *words.split()).startswith(sentence)
