"""Runs from the wire alone that are read again, whole and killed on the way; and the ELF files of
their programs.
"""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import pytest

from base.files.errors import CaptureError, RunError
from base.run_folder.edge_stream import EdgeWriter
from base.run_folder.manifest import ToolReport, read_manifest
from base.run_folder.observed import Asked
from capture.acquisition.imported import of_run
from capture.acquisition.observe import Observation
from capture.acquisition.sigrok import checked_digest
from capture.conduct import RunResult, keep_observation, kind_of, redecode, store_session
from capture.tests.test_observed import framed
from dashboards.loaded.runs import find_runs
from tests.sentences import Sentences

ASKED = {
    "schema": 3,
    "kind": "observed",
    "board": "virtual",
    "analyzer": "beaglelogic",
    "pins": {"CRIT": "PA8", "SYNC": "PB4"},
    "stimulus_edges": "both",
    "program": {"elf": "my.elf", "elf_sha256": "00"},
    "tools": {},
}


def store(place: Path) -> RunResult:
    """Fills the folder of a run as a source would, of which framed() draws the capture."""
    edges = framed()
    kind = kind_of(Asked.model_validate(ASKED))
    seen = Observation(edges, b"", ToolReport(asked_samples=edges.total_samples))
    kind.keep_known(place)
    keep_observation(place, kind, seen)
    notes = store_session(place, edges)
    return kind.conclude(place, seen, notes)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "20261122T120000Z-observe-my-virtual"
    place.mkdir()
    result = store(place)
    assert (result.verdict, result.reasons) == ("complete", ())
    return place


def test_a_run_that_is_judged_again_is_the_same_to_the_byte(folder: Path) -> None:
    before = (folder / "run.json").read_bytes()
    assert redecode(folder).verdict == "complete"
    assert (folder / "run.json").read_bytes() == before
    (folder / "edges.parquet").unlink()
    assert redecode(folder).verdict == "complete"
    assert (folder / "run.json").read_bytes() == before


def test_a_run_that_was_killed_is_judged_by_what_reached_the_disk(folder: Path) -> None:
    edges = framed()
    for name in ("run.json", "edges.parquet", "capture.sr"):
        (folder / name).unlink()
    asked_samples = edges.total_samples + 1
    with EdgeWriter(folder / "edges.stream", edges.samplerate_hz, edges.channels, asked_samples) as writer:
        writer.append(edges.sample, edges.word, edges.total_samples)
    result = redecode(folder)
    assert result.verdict == "truncated"
    assert any("was killed before it wrote run.json" in reason for reason in result.reasons)
    assert (folder / "edges.parquet").exists() and not (folder / "edges.stream").exists()


def test_what_needs_operations_is_told_there_are_none(folder: Path) -> None:
    with pytest.raises(RunError, match=r"is a run from the wire alone \(./lab observe\)"):
        read_manifest(folder / "run.json")
    with pytest.raises(RunError, match="is a run from the wire alone"):
        of_run(folder)
    assert find_runs(folder.parent) == []


ARM, X86_64, EXECUTABLE, OBJECT = 40, 62, 2, 1


def header(machine: int = ARM, kind: int = EXECUTABLE, entry: int = 0x0800_0101, segments: int = 1) -> bytes:
    """An ELF file of 32 bits with a segment of eight bytes (System V ABI, chapters 4 and 5)."""
    ident = b"\x7fELF\1\1\1" + bytes(9)
    numbers = (kind, machine, 1, entry, 52 if segments else 0, 0, 0, 52, 32, segments, 40, 0, 0)
    table = struct.pack("<8I", 1, 84, 0x0800_0000, 0x0800_0000, 8, 8, 5, 4) * segments
    return ident + struct.pack("<HHIIIIIHHHHHH", *numbers) + table + bytes(8) * segments


def test_an_executable_for_a_cortex_m_has_its_digest(tmp_path: Path) -> None:
    (tmp_path / "my.elf").write_bytes(header())
    assert checked_digest(tmp_path / "my.elf") == hashlib.sha256(header()).hexdigest()


@pytest.mark.parametrize(
    "content",
    [
        header(machine=X86_64),
        header(segments=0),
        header()[:-1],
        b"",
    ],
    ids=["another machine", "nothing to load", "cut", "empty"],
)
def test_anything_else_is_one_sentence(tmp_path: Path, content: bytes, sentences: Sentences) -> None:
    (tmp_path / "my.elf").write_bytes(content)
    with sentences.raised(CaptureError):
        checked_digest(tmp_path / "my.elf")
