"""Cycles and samples of a replay, the edges of a window, and firmware that is another now."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from analysis.errors import ExplainError
from analysis.explain import replay
from analysis.explain.replay import Clock, elf_of, moved_elf_of, window
from base.heap_size import DEFAULT_BYTES
from base.run_folder.edges import EdgeList
from base.run_folder.manifest import read_manifest
from dashboards.tests.synthetic import Operation, write_run

# 84 MHz at 24 MS/s: 3.5 cycles to a sample; cycle 1,000 begins at 10 us.
CLOCK = Clock(1_000, Fraction(1, 100_000), Fraction(84_000_000), 24_000_000)


@pytest.mark.parametrize(
    ("cycle", "sample", "first"),
    [(1_000, 240, 1_000), (1_003, 240, 1_000), (1_004, 241, 1_004), (1_007, 242, 1_007), (996, 238, 993)],
)
def test_a_sample_has_the_cycles_that_begin_in_it(cycle: int, sample: int, first: int) -> None:
    assert CLOCK.sample(cycle) == sample
    assert CLOCK.first_cycle(sample) == first


def test_a_window_has_the_level_at_its_begin_and_each_change_before_its_end() -> None:
    edges = EdgeList(np.array([0, 10, 20, 30]), np.array([0, 1, 3, 2], dtype=np.uint8), 1_000_000, 40)
    assert window(edges, 5, 20) == [(5, 0), (10, 1)]
    assert window(edges, 10, 31) == [(10, 1), (20, 3), (30, 2)]
    assert window(edges, 35, 40) == [(35, 2)]


def test_firmware_that_comes_out_otherwise_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changes = {"locking": "primask", "knobs": {"SLOTS": "8"}, "turned_knobs": {"SLOTS": "8", "MODE": "fast"}}
    folder = write_run(tmp_path, "made", "tlsf", [Operation("A", 100, 3, 400)], changes=changes)
    manifest = read_manifest(folder / "run.json")
    requests: list[Any] = []

    def build(*words: Any, **others: Any) -> Any:
        requests.append((words, others))
        return SimpleNamespace(sha256=digests[0], elf=Path("made.elf"))

    def placed(image: Any, at: Any) -> Any:
        return SimpleNamespace(elf=image.elf.with_name(f"{at.rest_bytes}-{at.heap_bytes}.elf"))

    monkeypatch.setattr(replay, "firmware", SimpleNamespace(build=build))
    monkeypatch.setattr(replay, "placed", placed)
    digests = ["ab" * 32]
    assert (elf_of(manifest), moved_elf_of(manifest, 64)) == (Path("made.elf"), Path("64-64.elf"))
    words = ("tlsf", manifest.built_accelerated, "primask", {"SLOTS": 8}, ())
    assert DEFAULT_BYTES == 65_536
    assert requests == [(words, {"heap_bytes": 65_536, "board": "nucleo-f401re"})] * 2
    digests[0] = "cd" * 32
    with pytest.raises(ExplainError) as refused:
        elf_of(manifest)
    assert str(refused.value) == (
        "The firmware of the run (abababababab) is not what the sources build now (cdcdcdcdcdcd): check out "
        "those of the run, or run the scenario again."
    )
