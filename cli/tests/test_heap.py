"""`./lab heap adversary`: what its words ask for, what it prints and keeps, what it refuses."""

from __future__ import annotations

import csv
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from base.paths import ROOT
from base.tests.sentences import is_sentence
from cli.heap import adversary, fragmentation
from cli.shell import start
from cli.tests.typed import refused
from dashboards.tests.synthetic import Operation, write_run
from firmware.build.catalogue import allocators
from scenarios import catalogue
from scenarios import trace as scenarios_trace
from scenarios.operations import body_crc32
from studies.adversary.search import What
from tests import lab
from tests.tables import table


def test_a_small_search_gives_its_rows_and_keeps_its_winners(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "--allocator seglist --budget 300 --what free,fragmentation --seed 5 --live 4096 --jobs 1"
    command = ["heap", "adversary", *words.split(), "--output", str(tmp_path)]
    assert start.run([*command, "--json"]) == 0
    free, spread = json.loads(capsys.readouterr().out)
    assert (free["allocator"], free["what"], free["lists"], free["seed"]) == ("seglist", "free", 300, 5)
    # A free of seglist looks at three headers, so a short search comes near its bound.
    bound = free["bound_instructions"]
    assert 0.8 * bound < free["found"]["instructions"] <= bound
    assert spread["found"]["used_bytes"] >= spread["found"]["peak_live_bytes"] <= 4096
    for row in (free, spread):
        assert (
            len(scenarios_trace.read(tmp_path / f"seglist-{row['what']}.csv").operations) == row["operations"]
        )
    assert start.run(command) == 0
    shown = capsys.readouterr().out
    assert "found/bound" in shown
    assert "found/live" in shown


def test_all_leaves_out_what_cannot_be_searched() -> None:
    whats: list[What] = ["allocate", "free", "fragmentation"]
    pairs, left_out = adversary.choose(["all"], whats)
    assert ("tlsf", "fragmentation") in pairs
    assert ("newlib", "free") in pairs
    assert ("heap_1", "free") not in pairs
    assert any(sentence.startswith("heap_1, free: left out.") for sentence in left_out)


@table
def test_what_cannot_be_is_refused(words: str, said: str) -> None:
    assert said in refused("heap", "adversary", "--allocator", *words.split())


KEYS = {
    *("allocator", "heap_bytes", "peak_live_bytes", "used_bytes", "fragmentation_percent", "johnstone"),
    *("sbbm_bytes", "cost_metric_bytes", "failures", "static_ram_bytes", "seed", "trace", "operations"),
    *("peak_live_blocks", "region_overhead_bytes", "block_overhead_bytes", "looked_up_to_bytes"),
    *("failing_above_bytes", "at_cost_metric", "cost_metric_between_bytes"),
    *("used_from_start_bytes", "fragmentation_from_start_percent"),
}


def bench(*words: str) -> subprocess.CompletedProcess[str]:
    return lab.run("heap", "fragmentation", *words, environment={**os.environ, "COLUMNS": "80"})


def trace(folder: Path, lines: str) -> Path:
    path = folder / "own.csv"
    path.write_text(lines, encoding="utf-8")
    return path


def test_the_json_has_what_the_specification_says(tmp_path: Path) -> None:
    own = trace(tmp_path, "a,1,100\na,2,60\nf,1\na,3,20\nf,2\n")
    done = bench("--trace", str(own), "--allocator", "best_fit", "--json")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)
    assert set(row) == KEYS
    # Blocks: 104 + 16, then 64 + 16; the third takes 24 + 16 of the first.
    assert (row["allocator"], row["heap_bytes"], row["failures"]) == ("best_fit", 65_536, 0)
    assert (row["peak_live_bytes"], row["used_bytes"]) == (160, 200)
    assert row["fragmentation_percent"] == pytest.approx(25)
    assert row["johnstone"] == pytest.approx([(1.2 + 1.25 + 200 / 60 + 2.5 + 10) / 5, 1.25, 1.25, 1.25])
    assert (row["sbbm_bytes"], row["cost_metric_bytes"]) == (65_536 - 200, 200)
    assert row["at_cost_metric"]["sbbm_bytes"] == 0


def rows(capsys: pytest.CaptureFixture[str], *words: str | Path) -> list[dict[str, Any]]:
    assert start.run(["heap", "fragmentation", *map(str, words), "--json"]) == 0
    printed: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return printed


def test_the_heap_is_the_scenarios_own_unless_another_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = (ROOT / "scenarios" / "mem_stress.toml").read_text(encoding="utf-8")
    path = tmp_path / "own.toml"
    path.write_text(own.replace("[parameters]", "heap_bytes = 20_480\n\n[parameters]"), encoding="utf-8")
    words = (path, "--allocator", "first_fit", "--parameter", "operations=40")
    for heap, heap_bytes in (((), 20_480), (("--heap", "30720"), 30_720)):
        (row,) = rows(capsys, *words, *heap)
        assert row["heap_bytes"] == heap_bytes


def test_a_page_shows_the_heap_beside_a_run(tmp_path: Path) -> None:
    image = catalogue.load("mem_stress", {"operations": 40}).compile().image
    changes = {"image_crc32": f"{body_crc32(image):08X}"}
    ran = write_run(tmp_path, "mem_stress", "tlsf", [Operation("A", 8, 1, 840)], changes=changes)
    (ran / "operations.bin").write_bytes(image)
    page = tmp_path / "heap.html"
    words = ("mem_stress", "--allocator", "tlsf", "--parameter", "operations=40")
    done = bench(*words, "--runs", str(ran), "--output", str(page))
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(f"page: {page}\n")
    text = page.read_text(encoding="utf-8")
    # 840 cycles at 84 MHz.
    assert "bytes and 10.00 µs" in text and ran.name in text
    other = bench(*words[:-1], "operations=41", "--runs", str(ran), "--output", str(tmp_path / "no.html"))
    assert other.returncode == 2
    assert is_sentence(other.stderr.strip(), "*did not run the trace that is replayed here; *.")
    assert not (tmp_path / "no.html").exists()


def test_all_leaves_out_what_cannot_run_and_says_why(tmp_path: Path) -> None:
    lines = "a,1,100\nf,1\n"
    loaded = [scenarios_trace.read(trace(tmp_path, lines))]
    names, left_out = fragmentation.choose(loaded, ["all"], 65_544)
    assert "first_fit" in names
    assert not {"heap_1", "newlib", "tlsf_crate"} & set(names)
    assert all(is_sentence(sentence, "* is left out. *.") for sentence in left_out)
    never_freed = [scenarios_trace.read(trace(tmp_path, "a,1,100\n"))]
    assert "heap_1" in fragmentation.choose(never_freed, ["all"], 65_536)[0]


def test_a_heap_that_is_too_small_counts_what_it_refuses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = "".join(f"a,{number},100\n" for number in range(10))
    words = ("--trace", trace(tmp_path, lines), "--allocator", "first_fit", "--heap", "512")
    (row,) = rows(capsys, *words)
    # A block of 100 bytes takes 120 of the region: four fit.
    assert (row["failures"], row["peak_live_bytes"], row["used_bytes"]) == (6, 400, 480)
    assert row["cost_metric_bytes"] == 1200
    assert start.run(["heap", "fragmentation", *map(str, words)]) == 0
    assert capsys.readouterr().out.splitlines()[3].split()[:2] == ["first_fit", "1,200"]


@table
def test_what_cannot_be_asked_is_a_sentence(words: str, says: str) -> None:
    sentence = refused("heap", "fragmentation", *words.split())
    assert says in sentence
    assert is_sentence(sentence.partition(" Did you mean ")[0], "*.")


FREE = ("thesis-1", "thesis-2", "deck2-ranges")
"""Tables that need no run."""


def test_it_writes_a_file_for_each_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert start.run(["heap", "reproduce", *FREE, "--output", str(tmp_path)]) == 0
    names = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*")}
    assert names == {f"{name}.csv" for name in FREE}
    with (tmp_path / "deck2-ranges.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["difference"] for line in lines] == ["100", "0"]
    summary = capsys.readouterr().out.splitlines()
    assert summary[0] == "thesis-1      nothing to compare"
    assert summary[1].startswith("thesis-2      cannot be told: O1Heap is the fastest")
    assert summary[4].startswith("deck2-ranges  reverses: The list (10, 5) holds blocks")
    assert summary[-2] == "deck2-ranges  1 of 2 equal"


def test_what_is_no_table_is_refused_before_anything_runs(tmp_path: Path) -> None:
    sentence = refused("heap", "reproduce", "thesis-1", "thesis-99", "--output", str(tmp_path))
    assert is_sentence(sentence, "There is no table 'thesis-99': * Did you mean thesis-9?")
    assert "'--jobs': 'none' is not" in refused("heap", "reproduce", "thesis-1", "--jobs", "none")
    assert list(tmp_path.iterdir()) == []


def test_json_begins_with_the_conclusions_and_has_the_rows_of_the_csv(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert start.run(["heap", "reproduce", "deck2-ranges", "--json", "--output", str(tmp_path)]) == 0
    (result,) = json.loads(capsys.readouterr().out)
    assert list(result) == ["table", "conclusions", "figures"]
    assert [conclusion["verdict"] for conclusion in result["conclusions"]] == ["reverses"]
    assert [conclusion["here"] for conclusion in result["figures"]] == [1184, 1216]


def test_all_allocators_are_those_that_have_the_knobs(capsys: pytest.CaptureFixture[str]) -> None:
    having = [name for name, row in allocators().items() if "TLSF_SLOTS" in row.knobs]
    for more in ((), ("--allocator", "all")):
        assert start.run(["heap", "footprint", "--knob", "TLSF_SLOTS=8", "--json", *more]) == 0
        assert [row["allocator"] for row in json.loads(capsys.readouterr().out)] == having != []
    assert "NOSUCH" in refused("heap", "footprint", "--knob", "NOSUCH=1")
