"""matrix.toml: what it asks for, and what is refused."""

from __future__ import annotations

from pathlib import Path

from analysis.campaign import matrix
from analysis.campaign import work as order
from analysis.campaign.matrix import Point
from analysis.errors import CampaignError
from tests.sentences import Sentences

DIRECT = 'scenarios = ["mem_frag"]\ncapture = "direct"\n'
MANY = list(range(10, 1010))


def read(folder: Path, text: str) -> matrix.Matrix:
    path = folder / "matrix.toml"
    path.write_text(text, encoding="utf-8")
    return matrix.read(path)


def test_every_combination_is_run_once(tmp_path: Path) -> None:
    asked_for = read(
        tmp_path,
        'scenarios = ["mem_stress"]\nallocators = ["tlsf", "tlsf", "heap_4"]\nseeds = [1, 2, 3]\n'
        "parameters = [{ operations = 8 }, { operations = 9 }]\nheap_bytes = [4096, 8192]\n"
        'art = ["on", "off"]\nlocking = ["basepri", "primask"]\nknobs = [{}]\n'
        "samplerate = [84_000_000, 24_000_000]\n",
    )
    points = list(asked_for.points())
    assert len(points) == asked_for.count() == 2 * 3 * 2 * 2 * 2 * 2 * 2
    assert len({str(point) for point in points}) == len(points)


def test_boards_are_an_axis_and_the_first_is_the_default(tmp_path: Path) -> None:
    asked_for = read(
        tmp_path,
        'scenarios = ["mem_frag"]\nallocators = ["tlsf"]\nboards = ["nucleo-f446re", "nucleo-f401re"]\n'
        '[[exclude]]\nboards = ["nucleo-f446re"]\nallocators = ["seglist"]\n',
    )
    assert [point.board for point in asked_for.points()] == ["nucleo-f446re", "nucleo-f401re"]
    titles = [point.title for point in asked_for.points()]
    assert titles == ["mem_frag on tlsf, board=nucleo-f446re", "mem_frag on tlsf"]
    assert order.samplerate_hz(next(asked_for.points())) == 180_000_000
    assert Point("mem_frag", "tlsf").board == "nucleo-f401re"


def test_a_scenario_that_draws_nothing_runs_once_whatever_the_seeds(tmp_path: Path) -> None:
    asked_for = read(
        tmp_path, 'scenarios = ["mem_frag", "mem_stress"]\nallocators = ["tlsf"]\nseeds = [1, 2]'
    )
    assert [(point.scenario, point.seed) for point in asked_for.points()] == [
        ("mem_frag", None),
        ("mem_stress", 1),
        ("mem_stress", 2),
    ]


def test_what_is_excluded_is_what_all_keys_of_a_table_list(tmp_path: Path) -> None:
    asked_for = read(
        tmp_path,
        'scenarios = ["mem_frag", "mem_stress"]\nart = ["on", "off"]\n'
        '[[exclude]]\nscenarios = ["mem_frag"]\nart = ["off"]\n'
        '[[exclude]]\nallocators = ["tlsf"]\nart = ["on"]\n',
    )
    assert [(point.scenario, point.allocator, point.art) for point in asked_for.points()] == [
        ("mem_frag", "seglist", "on"),
        ("mem_stress", "seglist", "on"),
        ("mem_stress", "seglist", "off"),
        ("mem_stress", "tlsf", "off"),
    ]


def test_what_is_wrong_is_told_with_its_key(tmp_path: Path, sentences: Sentences) -> None:
    scenario = 'scenarios = ["mem_frag"]\n'
    for text in (
        *('scenarios = ["mem_fraq"]', 'scenarios = ["gone.toml"]', "scenarios = []", "seeds = [1]"),
        *(
            f"{scenario}{more}"
            for more in (
                *("seed = [1]", 'seeds = ["1"]', "seeds = 1", "art = [true]", 'allocators = ["tslf"]'),
                *('capture = "x"', "verify = 0.1", "samplerate = [1]", 'allocators = ["gone.c"]'),
                *('boards = ["nucleo-f999re"]', "placements = 257", "[[exclude]]\nsead = [1]"),
                f"[[exclude]]\n{scenario}",
            )
        ),
        *(f"{DIRECT}{verify}" for verify in ("verify = 2", "verify = nan", "verfy = 1")),
        'scenarios = ["mem_stress"]\nseeds = [1, -1]',
        f'scenarios = ["mem_stress"]\nseeds = {MANY}\nheap_bytes = {MANY}\nsamplerate = {MANY}',
    ):
        with sentences.raised(CampaignError):
            read(tmp_path, text)
