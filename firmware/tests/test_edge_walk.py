"""The walk along the stimulus' edges, compiled for the host, against a list of all edges."""

from __future__ import annotations

import ctypes
import subprocess
from bisect import bisect_right
from pathlib import Path
from random import Random

import pytest

FIRMWARE = Path(__file__).resolve().parents[1]
TOO_RECENT = 8
WORD = 1 << 32
PERIOD, SPACING = 5003, 700


class Course(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("match_count", "return_ticks", "second_ticks")]


class Walk(ctypes.Structure):
    _fields_ = [
        ("course", Course),
        *((name, ctypes.c_uint32) for name in ("interval", "next", "at_cycles", "position", "uncovered")),
    ]


class Reading(ctypes.Structure):
    _fields_ = [("count", ctypes.c_uint32), ("cycles", ctypes.c_uint32)]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    path = tmp_path_factory.mktemp("walk") / "walk.so"
    words = ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I.", "bench/edge_walk.c"]
    subprocess.run([*words, "-o", path], cwd=FIRMWARE, check=True)
    loaded = ctypes.CDLL(str(path))
    loaded.edge_walk_answer.argtypes = (ctypes.POINTER(Walk), Reading, ctypes.POINTER(ctypes.c_uint32))
    loaded.edge_walk_position.argtypes = (ctypes.POINTER(Walk), Reading)
    loaded.edge_walk_answer.restype = loaded.edge_walk_position.restype = ctypes.c_uint32
    return loaded


class Plan:
    """All edges of a mode, as moments in ticks; how its counter goes; and the walk at its start."""

    def __init__(self, mode: str, started: int) -> None:
        self.mode = mode
        self.intervals = [PERIOD, PERIOD]
        courses = {
            "periodic": Course(PERIOD - 1, 1, 0),
            "burst": Course(PERIOD - SPACING, SPACING, SPACING),
            "random": Course(1, 0, 0),
        }
        # The last edge before the first lies a period back.
        at_cycles = started if mode != "burst" else started - SPACING
        self.walk = Walk(courses[mode], PERIOD, PERIOD, at_cycles % WORD, 0, PERIOD)
        self.firsts = [PERIOD]

    def until(self, moment: int) -> None:
        while self.firsts[-1] <= moment:
            self.firsts.append(self.firsts[-1] + self.intervals[-1])
            self.intervals.append(self.intervals[-1])

    def edges(self) -> list[int]:
        seconds = [first + SPACING for first in self.firsts] if self.mode == "burst" else []
        return sorted([*self.firsts, *seconds])

    def count(self, moment: int) -> int:
        since = moment - self.firsts[bisect_right(self.firsts, moment) - 1]
        if self.mode == "random":
            return since + 1
        match: int = self.walk.course.match_count
        return (since + match) % PERIOD


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("mode", ["periodic", "burst", "random"])
def test_a_wait_runs_from_the_first_edge_that_no_answer_covered(
    library: ctypes.CDLL, mode: str, seed: int
) -> None:
    """An answer comes short after an edge or many edges late; the free-running count is read later
    than the timer's, wraps, and is some hundred cycles late.
    """
    random = Random(seed)
    started = random.choice([0, 123, WORD - 40_000])
    plan = Plan(mode, started)
    moment, first_uncovered, merged = 0, PERIOD, 0
    for _ in range(300):
        late = random.choice([random.randrange(9, 300), random.randrange(9, 9 * PERIOD)])
        moment = max(moment + 1, first_uncovered + late)
        plan.until(moment + 2 * PERIOD)
        if min(abs(moment - edge) for edge in plan.edges()) < 2 * TOO_RECENT:
            moment += 3 * TOO_RECENT  # which of them an answer covers is another test's
        reading = Reading(plan.count(moment), (started + moment + random.randrange(200)) % WORD)
        began = ctypes.c_uint32()
        assert library.edge_walk_position(plan.walk, reading) == moment
        assert library.edge_walk_answer(plan.walk, reading, began) == moment - first_uncovered
        assert began.value == first_uncovered
        edges = plan.edges()
        passed = bisect_right(edges, moment)
        merged += passed - bisect_right(edges, first_uncovered)
        first_uncovered = edges[passed]
    assert merged > 300


@pytest.mark.parametrize(("since", "is_covered"), [(TOO_RECENT - 1, False), (TOO_RECENT, True)])
def test_an_edge_that_came_too_recently_still_waits(
    library: ctypes.CDLL, since: int, is_covered: bool
) -> None:
    plan = Plan("periodic", 0)
    plan.until(9 * PERIOD)
    moment = 3 * PERIOD + since
    began = ctypes.c_uint32()
    assert library.edge_walk_answer(plan.walk, Reading(plan.count(moment), moment), began) == moment - PERIOD
    assert plan.walk.uncovered == (4 if is_covered else 3) * PERIOD
