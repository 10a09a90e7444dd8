"""The words after `./lab test`, and the checks that they choose."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.work import rooms, suite
from cli.work.rooms import Room, RoomError
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
    assert rooms.of(word) == room


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
    style = [f"python: {tool} in capture/verdict" for tool in ("ruff", "format", "mypy")]
    assert names("capture/verdict") == [*style, "python: layers", "python: pytest in capture/verdict"]
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
