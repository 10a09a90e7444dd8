"""The scenario `recorded`: what becomes of a trace, and what is said where it does not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenarios import catalogue
from scenarios.errors import ScenarioError
from scenarios.operations import Allocate, Free, decode
from tests.sentences import Sentences

SHIPPED = [name for name in catalogue.names() if name.startswith("recorded")]
FOLDER = Path(__file__).resolve().parents[1]


def trace(folder: Path, lines: str) -> str:
    path = folder / "own.csv"
    path.write_text(lines, encoding="utf-8")
    return str(path)


def operations(*words: str, **parameters: str | int) -> list[object]:
    plan = catalogue.load("recorded", {"trace": words[0], **parameters}, stimulus="none").compile()
    return list(decode(plan.image).operations)


def test_a_reallocation_is_an_allocation_and_then_a_free(tmp_path: Path) -> None:
    file = trace(tmp_path, "a,x,24\na,y,8,64\nr,x,100\nf,y\nr,x,7\na,z,5\n")
    assert operations(file) == [
        *(Allocate(0, 24), Allocate(1, 8, align_log2=6)),
        *(Allocate(2, 100), Free(0)),
        Free(1),
        *(Allocate(1, 7), Free(2)),
        Allocate(2, 5),
    ]


def test_sizes_are_divided_and_rounded_up(tmp_path: Path) -> None:
    file = trace(tmp_path, "a,1,1\na,2,8\na,3,9\n")
    assert operations(file, divide=8) == [Allocate(0, 1), Allocate(1, 1), Allocate(2, 2)]


def test_what_does_not_fit_the_board_is_told(tmp_path: Path, sentences: Sentences) -> None:
    for lines in ("a,1,70000\nf,1\n", "".join(f"a,{n},24\n" for n in range(2049)), "a,1,8\nf,1\n" * 10_921):
        scenario = catalogue.load("recorded", {"trace": trace(tmp_path, lines)})
        with pytest.raises(ScenarioError) as refused:
            scenario.compile()
        sentences.hold(refused.value)


def test_a_file_is_sought_beside_its_toml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace(tmp_path, "a,1,24\n")
    text = (FOLDER / "recorded.toml").read_text(encoding="utf-8").replace("traces/dash.csv", "own.csv")
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    scenario = catalogue.load(str(tmp_path / "mine.toml"))
    assert scenario.compile().operations.height == 1
    monkeypatch.chdir(tmp_path)
    assert catalogue.load("mine.toml").parameters["trace"] == "own.csv"


@pytest.mark.parametrize("name", SHIPPED)
def test_what_is_shipped_is_small_and_scaled_as_little_as_fits(name: str) -> None:
    scenario = catalogue.load(name)
    path = Path(str(scenario.parameters["trace"]))
    assert path.stat().st_size < 200_000
    assert catalogue.load(name, {"scale": 0}).compile().parameters == scenario.compile().parameters
