"""The page on heap and worst case: its points, what it refuses, and how it looks in a browser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from analysis.fragmentation.metrics import CostMetric, Metrics
from analysis.fragmentation.study import Row, Study
from base.files.errors import RunError, TailscopeError
from dashboards.tests.synthetic import Operation, write_run
from dashboards.tradeoff import Run, best_of, digest, gather, load, points, sheet
from scenarios.operations import Allocate, Free, Image, body_crc32, encode
from scenarios.stimulus import Stimulus
from scenarios.trace import Trace, TraceBuilder
from tests.sentences import Sentences

STEPS = (Allocate(7, 100), Allocate(3, 60), Free(7), Allocate(7, 20), Free(3))
CYCLE_NS = 1000 / 84


def trace() -> Trace:
    """The operations of STEPS, whose slots have other names here."""
    builder = TraceBuilder()
    builder.allocate("a", 100)
    builder.allocate("b", 60)
    builder.free("a")
    builder.allocate("c", 20)
    builder.free("b")
    return builder.trace("five operations", 5)


def row(allocator: str, heap: int | None, used: int = 200) -> Row:
    """Of a trace with 160 bytes live at most."""
    given = Metrics(0, 160, 2, used, used, 25.0, 25.0, (1.2, 1.25, 1.3, 1.25), 65_000, 0, 16)
    cost = CostMetric(heap, 65_536)
    return Row(allocator, "five operations", 5, 5, 65_536, 24, given, cost, given if heap else None)


def run(
    folder: Path, allocator: str, allocation: int, free: int, image: Image | None = None, **changes: object
) -> Path:
    """A run of STEPS, with sections of so many cycles, but for `changes` of its manifest."""
    operations = [
        Operation(*words) for words in (("A", 100, 1, allocation), ("F", 60, 0, free), ("A", 20, 1, 90))
    ]
    encoded = encode(image or Image("five", Stimulus("none", 0, 0), STEPS))
    crc32 = {"image_crc32": f"{body_crc32(encoded):08X}"}
    verdict = str(changes.pop("verdict", "complete"))
    written = write_run(folder, "five", allocator, operations, verdict=verdict, changes={**crc32, **changes})
    (written / "operations.bin").write_bytes(encoded)
    return written


def study(names: list[str]) -> Study:
    return Study([trace()], names, 65_536)


@pytest.fixture
def measured(tmp_path: Path) -> list[Run]:
    """tlsf: 840 cycles in an allocation; best_fit: 1,680 in a free."""
    folders = [run(tmp_path, "tlsf", 840, 500), run(tmp_path, "best_fit", 600, 1_680)]
    return load(folders, [trace()], {})


def test_the_worst_is_the_longest_of_allocations_and_frees(measured: list[Run]) -> None:
    tlsf, best_fit = measured
    assert tlsf.worst_ns == pytest.approx(840 * CYCLE_NS) and tlsf.kind == "allocation"
    assert best_fit.worst_ns == pytest.approx(1_680 * CYCLE_NS) and best_fit.kind == "free"
    assert (tlsf.n, tlsf.trace) == (3, 0)


def test_the_frontier_has_those_that_nobody_beats_in_both(measured: list[Run]) -> None:
    tlsf, best_fit = measured
    rows = [row("tlsf", 400), row("best_fit", 300), row("heap_4", 200), row("avl", 500)]
    renamed = tlsf.loaded.manifest.model_copy(update={"allocator": "avl"})
    avl = replace(tlsf, loaded=replace(tlsf.loaded, manifest=renamed))
    all_points = points(gather(rows, [tlsf, best_fit, avl]))
    # heap_4 has no run.
    assert [(point.need.label, point.heap_bytes) for point in all_points] == [
        ("2 best_fit", 300), ("3 tlsf", 400), ("4 avl", 500),
    ]  # fmt: skip
    # avl has more heap than tlsf, and no shorter section.
    assert [point.need.name for point in best_of(all_points)] == ["best_fit", "tlsf"]


def test_the_page_says_units_counts_seeds_and_sources(measured: list[Run]) -> None:
    names = ["tlsf", "best_fit", "heap_4", "o1heap"]
    rows = [row("tlsf", 400), row("best_fit", 300), row("heap_4", 256), row("o1heap", None)]
    text = sheet(study(names), rows, measured).html()
    assert "the least heap: best_fit, 300 bytes and 20.00 µs" in text
    assert "The shortest worst section: tlsf, 400 bytes and 10.00 µs" in text
    assert "for want of a run or of a heap that serves: 1 heap_4, 4 o1heap." in text
    assert "n = 3 allocations and frees each · five operations, 5 operations, seeds: 0x5" in text
    assert digest(trace()) in text
    assert all(need_run.loaded.id in text for need_run in measured)
    assert "smallest heap (bytes)" in text and "worst section (µs)" in text


@pytest.mark.parametrize(
    ("image", "changes"),
    [
        (Image("five", Stimulus("none", 0, 0), (*STEPS[:3], Allocate(7, 24), Free(3))), {}),
        (None, {"verdict": "truncated", "reasons": ["Cut."]}),
        (None, {"verdict": "inconclusive", "reasons": ["Cut."]}),
        (None, {"image_crc32": "00000001"}),
        (None, {"turned_knobs": {"SL_LOG2": "4"}}),
    ],
    ids=["another trace", "truncated", "inconclusive", "another image", "other knobs"],
)
def test_a_run_that_is_not_of_the_replay_is_refused(
    tmp_path: Path, sentences: Sentences, image: Image | None, changes: dict[str, object]
) -> None:
    with sentences.raised(RunError):
        load([run(tmp_path, "tlsf", 840, 500, image, **changes)], [trace()], {})


def test_a_run_without_its_image_is_refused(tmp_path: Path) -> None:
    folder = run(tmp_path, "tlsf", 840, 500)
    (folder / "operations.bin").unlink()
    with pytest.raises(TailscopeError, match=r"operations\.bin"):
        load([folder], [trace()], {})
