"""`./lab observe` from end to end: programs of other people, on the virtual board and the desk."""

from __future__ import annotations

import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from elftools.elf.elffile import ELFFile

from base.paths import ROOT
from base.run_folder.edges import EdgeList, read_parquet
from base.run_folder.session_file import read_sr
from firmware.build import image as firmware
from firmware.tests.probe_programs import program
from firmware.tests.test_probe import pulses, ran
from scenarios import catalogue
from scenarios.operations import image_address
from tests import lab
from tests.tables import table

PINS = "CRIT=PA8,OP=PA9,STIM=PA0,ISR=PA10,SYNC=PB4"
ALL_PINS = "CRIT=PA8,OP=PA9,STIM=PA0,ISR=PA10,TASK=PB10,CTRL=PA1,CISR=PB5,SYNC=PB4"
CORE_HZ, DESK_HZ = 84_000_000, 24_000_000

kept: list[Path] = []


@pytest.fixture(autouse=True, scope="module")
def no_run_is_left() -> Iterator[None]:
    yield
    for folder in kept:
        shutil.rmtree(folder, ignore_errors=True)


def observed(*words: str | Path, status: int = 0) -> dict[str, Any]:
    done = lab.run("observe", *words, "--json")
    assert done.returncode == status, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    kept.append(Path(document["folder"]))
    return document


@pytest.fixture(scope="module")
def on_virtual() -> dict[str, Any]:
    return observed("--channels", PINS, "--elf", program("tasks"), "--duration", "60ms")


def test_the_pulses_are_those_of_the_virtual_boards_own_list(on_virtual: dict[str, Any]) -> None:
    """One sample is one cycle, so that widths in ns are cycles of the list, exactly."""
    _, edges = ran("tasks", "60ms")
    sync = [end for _, end in pulses(edges, "PB4")]
    begin = pulses(edges, "PB4")[32][0]
    own = [end - at for at, end in pulses(edges, "PA8") if begin <= at < sync[32]]
    widths = on_virtual["widths_ns"]["CRIT"]
    assert on_virtual["verdict"] == "complete" and on_virtual["frames"] == {"start": True, "end": True}
    assert widths["n"] == len(own)
    assert widths["max"] == pytest.approx(max(own) / CORE_HZ * 1e9)
    assert widths["min"] == pytest.approx(min(own) / CORE_HZ * 1e9)
    assert on_virtual["calibration_ns"]["CRIT"]["n"] == 32


@pytest.mark.long
def test_the_desk_shows_the_same_pulses_within_a_sample(on_virtual: dict[str, Any]) -> None:
    words = ("--channels", PINS, "--elf", program("tasks"), "--duration", "60ms")
    on_desk = observed(*words, "--board", "desk")
    sample_ns = 1e9 / DESK_HZ
    assert on_desk["verdict"] == "complete" and on_desk["resolution_ns"] == pytest.approx(sample_ns)
    for part in ("widths_ns", "intervals_ns", "latencies_ns"):
        assert on_desk[part].keys() == on_virtual[part].keys()
        for name, figures in on_virtual[part].items():
            other = on_desk[part][name]
            assert other["n"] == figures["n"] > 0
            for statistic in ("min", "median", "max"):
                assert other[statistic] == pytest.approx(figures[statistic], abs=1.01 * sample_ns)
    assert on_desk["merged"] == on_virtual["merged"]


def test_the_folder_has_what_it_says_and_no_more(on_virtual: dict[str, Any]) -> None:
    folder = Path(on_virtual["folder"])
    assert {path.name for path in folder.iterdir()} == {
        *("run.json", "observed.json", "edges.parquet", "spans.parquet", "capture.sr"),
    }
    edges = read_parquet(folder / "edges.parquet")
    assert edges.channels == ("CRIT", "OP", "STIM", "ISR", "SYNC")
    assert read_sr(folder / "capture.sr") == edges
    assert on_virtual["missing"][0].startswith("There are no operations and no records")
    before = (folder / "run.json").read_bytes()
    (folder / "capture.sr").unlink()
    done = lab.run("redecode", folder)
    assert (done.returncode, done.stdout) == (0, "complete\n")
    assert (folder / "run.json").read_bytes() == before
    assert read_sr(folder / "capture.sr") == edges


def with_image(elf: Path, image: bytes, to: Path) -> Path:
    """One ELF file with the segments of `elf`, and `image` where the firmware looks for it."""
    with elf.open("rb") as file:
        elf_file = ELFFile(file)
        entry = elf_file["e_entry"]
        parts = [
            (part["p_vaddr"], part["p_paddr"], part.data(), part["p_memsz"])
            for part in elf_file.iter_segments()
            if part["p_type"] == "PT_LOAD"
        ]
    place = image_address(elf)
    parts.append((place, place, image, len(image)))
    table, content = b"", b""
    for virtual, physical, data, size in parts:
        offset = 52 + 32 * len(parts) + len(content)
        table += struct.pack("<8I", 1, offset, virtual, physical, len(data), size, 7, 4)
        content += data
    numbers = (2, 40, 1, entry, 52, 0, 0x0500_0400, 52, 32, len(parts), 0, 0, 0)
    header = b"\x7fELF\1\1\1" + bytes(9) + struct.pack("<HHIIIIIHHHHHH", *numbers)
    to.write_bytes(header + table + content)
    return to


def test_the_benchs_own_firmware_as_somebody_elses(tmp_path: Path) -> None:
    """The run of the scenario has the records, and its wire has the same edges."""
    done = lab.run(
        *("scenario", "mem_frag", "--allocator", "tlsf"),
        *("--parameter", "depth=8", "--parameter", "trials=1"),
        *("--runs", tmp_path),
    )
    assert done.returncode == 0, done.stderr
    run = Path(done.stdout.split()[-1])
    plan = catalogue.load("mem_frag", {"depth": 8, "trials": 1}).compile()
    assert plan.image == (run / "operations.bin").read_bytes()
    elf = with_image(firmware.build("tlsf").elf, plan.image, tmp_path / "foreign.elf")
    document = observed("--channels", ALL_PINS, "--elf", elf, "--duration", "60ms")
    assert document["verdict"] == "complete"
    assert document["widths_ns"]["OP"]["n"] == plan.operations.height
    whole = read_parquet(run / "edges.parquet")
    # The stimulus begins before the first operation: behind SYNC's fall from its pull-up, and the
    # 64 edges of the start frame.
    interrupts = pl.read_parquet(run / "interrupts.parquet").filter(
        ~pl.col("control") & (pl.col("sample") >= int(whole.transitions("SYNC").sample[65]))
    )
    assert document["latencies_ns"]["STIM to ISR"]["n"] == interrupts["isr_latency_ns"].count()
    assert document["latencies_ns"]["STIM to ISR"]["max"] == interrupts["isr_latency_ns"].max()
    edges = read_parquet(Path(document["folder"]) / "edges.parquet")
    for channel in ("CRIT", "ISR", "SYNC"):
        ours, theirs = edges.transitions(channel).sample, whole.transitions(channel).sample
        least = min(len(ours), len(theirs))
        assert np.array_equal(ours[:least], theirs[:least]) and least > 100
    operations = pl.read_parquet(run / "operations.parquet")
    longest = operations["wire_critical_ns"].max()
    assert document["widths_ns"]["CRIT"]["max"] == pytest.approx(longest)


@table
def test_a_mistake_is_one_sentence(words: str, sentence: str) -> None:
    done = lab.run("observe", *words.split())
    assert done.returncode == 2
    assert sentence in done.stderr and len(done.stderr.splitlines()) == 1


UNFRAMED = ("--channels", "CRIT=PA8,heap=PA9", "--elf", program("tasks"), "--duration", "60ms")


def test_windows_that_are_kept_are_those_of_the_whole_capture() -> None:
    whole = observed(*UNFRAMED)
    result = observed(*UNFRAMED, "--keep", "worst=2", "--around", "100us")
    for part in ("widths_ns", "intervals_ns", "latencies_ns", "verdict", "reasons", "total_samples"):
        assert result[part] == whole[part]
    folder, edges = Path(result["folder"]), read_parquet(Path(whole["folder"]) / "edges.parquet")
    assert {path.name for path in folder.iterdir()} == {
        *("run.json", "observed.json", "kept.parquet", "windows"),
    }
    windows = result["kept"]["windows"]
    assert [window["name"] for window in windows] == ["CRIT-1", "CRIT-2", "heap-1", "heap-2", "end"]
    longest = max(end - begin for begin, end in pulses_of(edges, "CRIT"))
    assert windows[0]["end"] - windows[0]["start"] == longest
    for place in windows:
        kept_edges = read_sr(folder / "windows" / f"{place['name']}.sr")
        assert kept_edges.total_samples == place["until"] - place["begin"]
        levels = np.repeat(kept_edges.word, np.diff(kept_edges.sample, append=kept_edges.total_samples))
        every = np.repeat(edges.word, np.diff(edges.sample, append=edges.total_samples))
        assert np.array_equal(levels, every[place["begin"] : place["until"]])
    assert any("Only the windows were kept" in sentence for sentence in result["unjudged"])
    before = (folder / "run.json").read_bytes()
    (folder / "windows" / "CRIT-1.sr").unlink()
    (folder / "run.json").unlink()
    assert lab.run("redecode", folder).returncode == 1  # what the tools said went with run.json
    document = json.loads((folder / "run.json").read_text())
    assert document["verdict"] == "inconclusive" and document["widths_ns"] == result["widths_ns"]
    assert (
        read_sr(folder / "windows" / "CRIT-1.sr").total_samples == windows[0]["until"] - windows[0]["begin"]
    )
    (folder / "run.json").write_bytes(before)
    assert lab.run("redecode", folder).stdout == "complete\n"
    assert (folder / "run.json").read_bytes() == before


def pulses_of(edges: EdgeList, channel: str) -> list[tuple[int, int]]:
    moved = edges.transitions(channel)
    rises, falls = moved.sample[moved.level].tolist(), moved.sample[~moved.level].tolist()
    return [(rise, next(fall for fall in falls if fall > rise)) for rise in rises if rise < falls[-1]]


def test_ctrl_c_keeps_what_was_recorded() -> None:
    command = [sys.executable, "-m", "cli", "observe", "--channels", "ISR=PB3"]
    command += ["--elf", str(program("nested")), "--duration", "600s"]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as bench:
        assert bench.stderr
        while "capturing" not in bench.stderr.readline():
            pass
        time.sleep(2.5)
        os.kill(bench.pid, signal.SIGINT)
        said = bench.communicate(timeout=300)
    assert bench.returncode == 128 + signal.SIGINT
    folder = Path(said[1].rpartition("kept in ")[2].strip().rstrip("."))
    kept.append(folder)
    document = json.loads((folder / "run.json").read_text())
    assert document["verdict"] == "truncated" and document["tool_report"]["interrupted"]
    assert document["widths_ns"]["ISR"]["n"] == 16
