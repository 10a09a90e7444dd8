"""How tables are made: expressions worked out by hand, the fixed cost of the bench, placements of
the code, and that nothing is measured twice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl
import pytest

from capture import placements
from capture.acquisition.source import RunRequest
from firmware.build import catalogue as allocators
from studies.adversary.study import winner
from studies.reproduce import published
from studies.reproduce.engine import Bench, Budget
from studies.reproduce.kept import Work, kept
from studies.reproduce.measure import EMPTY_SECTION, BoardRun, Spread
from studies.reproduce.published import Making, PublishedTable, Source, Way
from tests.tables import table

COUNT = 4
OPERATIONS = pl.DataFrame(
    {
        "seq": range(6),
        "kind": ["A", "A", "A", "F", "O", "A"],
        "measured": [True, True, True, True, True, False],
        "operation_cycles": [30, 10, 20, 4, 99, 1000],
        "probes": [4, 5, 4, 0, 0, 0],
        "depth": [1, 2, 1, None, None, None],
    }
)


def bench(measure: object, **making: object) -> Bench:
    source, table = published.find("article-9")
    document = {"by": ["board"], "made_from": "", **making}
    return Bench(source, table, Making.model_validate(document), Budget(quick=True), measure)  # type: ignore[arg-type]


@table
def test_an_expression_is_worked_out_from_left_to_right(expression: str, value: float | None, n: int) -> None:
    figure = bench(lambda _: OPERATIONS).figure(Way(), [BoardRun("tlsf", "mem_stress")], expression)
    assert (figure and (figure.value, figure.n)) == (value and (value, n))


def test_net_figures_are_less_an_empty_section_of_the_same_kind() -> None:
    def measure(work: BoardRun) -> pl.DataFrame:
        if work.allocator != EMPTY_SECTION:
            return OPERATIONS
        return pl.DataFrame({"kind": ["A", "F"], "operation_cycles": [3, 1]})

    figures = [
        bench(measure).figure(Way(net=True), [BoardRun("tlsf", "mem_stress")], expression)
        for expression in ("allocations max", "frees max")
    ]
    assert [figure and figure.value for figure in figures] == [27, 3]


def test_an_empty_section_leaves_the_catalogue_as_it_was() -> None:
    before = dict(allocators.allocators())
    frame = BoardRun(EMPTY_SECTION, "mem_frag").measure()
    assert (frame["kind"] == "A").any()
    assert dict(allocators.allocators()) == before


def test_blocks_are_counted_with_their_headers(tmp_path: Path) -> None:
    """first_fit has a header of 16 bytes and payloads of multiples of 8. A block also keeps what is
    left of the one it was cut from, if that is less than the smallest block of 24.
    """
    header_bytes = left_bytes = 16
    live: dict[str, int] = {}
    peak = largest = most = 0
    text = winner("first_fit", "fragmentation", tmp_path).read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        kind, name, *size = line.split(",")
        live.pop(name, None)
        if kind == "a":
            live[name] = -(-int(size[0]) // 8) * 8 + header_bytes
            largest = max(largest, live[name])
        peak, most = max(peak, sum(live.values())), max(most, len(live))
    row = Spread("first_fit").measure().row(0, named=True)
    assert peak <= row["peak_live"] <= peak + left_bytes * most
    assert largest <= row["largest"] <= largest + left_bytes
    assert 2 * peak < row["used"] <= 65536


TABLES = [(source, table) for source in published.sources() for table in source.table if table.making]


@pytest.mark.parametrize(("source", "table"), TABLES, ids=lambda case: getattr(case, "name", ""))
def test_what_a_table_is_made_by_is_there(source: Source, table: PublishedTable) -> None:
    from scenarios import catalogue
    from studies.reproduce.engine import _RECIPES

    assert table.making is not None
    assert set(table.making.by) <= {*_RECIPES, "change"}
    names = {name.split()[0] for names in table.making.scenarios.values() for name in names}
    assert names <= set(catalogue.names())
    ways = [way.name for way in table.making.way or source.way]
    assert len(set(ways)) == len(ways)
    witnesses = set(table.making.witnesses)
    if table.making.instructions:
        witnesses |= {f"instructions of {row}" for row in source.names}
    for claim in table.claim:
        assert {name for cause in claim.cause for name in (cause.lesser, cause.greater)} <= witnesses


@pytest.mark.parametrize("run", [BoardRun("seglist", "mem_frag"), BoardRun("tlsf", "mem_stress", art=True)])
def test_the_worst_at_each_place_is_that_of_a_captured_run(run: BoardRun) -> None:
    """A capture reads the same counter, by the wire's frames and the whole of the decoding."""
    frames = [replace(run, placement=number).measure() for number in range(COUNT)]
    captured = placements.measure(RunRequest(plan=run.plan(), image=run.built()), COUNT)
    expected = [measurement.greatest["dwt_cycles"] for measurement in captured.measured]
    assert [
        frame.filter(pl.col("measured") & (pl.col("kind") == "A"))["critical_cycles"].max()
        for frame in frames
    ] == expected
    assert len(set(expected)) > 1


def test_operations_that_end_otherwise_at_another_placement_are_refused() -> None:
    def measure(work: Work) -> pl.DataFrame:
        end = "O" if isinstance(work, BoardRun) and work.placement == 1 else "A"
        return pl.DataFrame({"kind": ["A", end]})

    with pytest.raises(ValueError, match="otherwise"):
        bench(measure).placed(BoardRun("tlsf", "mem_stress"), COUNT)


MEASURED: list[int] = []


@dataclass(frozen=True)
class Counting:
    number: int

    def measure(self) -> pl.DataFrame:
        MEASURED.append(self.number)
        return pl.DataFrame({"number": [self.number, None], "half": [self.number / 2, 0.1]})


@pytest.fixture(autouse=True)
def nothing_measured() -> None:
    MEASURED.clear()


def test_it_is_measured_once_for_the_same_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept(Counting(3), tmp_path).equals(kept(Counting(3), tmp_path))
    assert kept(Counting(4), tmp_path)["number"][0] == 4
    assert MEASURED == [3, 4]
    monkeypatch.setattr("studies.reproduce.kept._surroundings", lambda: "others")
    kept(Counting(3), tmp_path)
    assert MEASURED == [3, 4, 3]


@pytest.mark.parametrize("damage", [b"", b"{}", b"\xff\xfe", b"PAR1"])
def test_a_damaged_result_is_measured_anew(tmp_path: Path, damage: bytes) -> None:
    kept(Counting(3), tmp_path)
    (path,) = tmp_path.glob("*.parquet")
    path.write_bytes(damage)
    assert kept(Counting(3), tmp_path)["half"].to_list() == [1.5, 0.1]
    assert MEASURED == [3, 3]
