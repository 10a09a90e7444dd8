"""`kept.parquet`: what is written is read again, and a damaged file is refused in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl

from base.files.errors import TailscopeError
from base.metrology.tally import Tally
from base.run_folder import folder as names
from base.run_folder.edges import EdgeList
from base.run_folder.kept import Kept, PinEnd, Place, Window, read_kept, write_kept
from base.run_folder.tables import METADATA_KEY
from tests.sentences import Sentences

HOUR = 3600 * 24_000_000


def kept() -> Kept:
    """An hour with two pulses, of which one has a window; beyond 2**36 samples."""
    widths = Tally()
    widths.add(np.array([7, 7, 900, HOUR]))
    place = Place(
        name="STIM-to-ISR-1",
        kind="latency",
        of="STIM to ISR",
        rank=1,
        start=HOUR - 100,
        end=HOUR - 50,
        begin=HOUR - 200,
        until=HOUR,
        cut=False,
    )
    rows = np.array([0, 100, 150]), np.array([0, 1, 3], np.uint8)
    return Kept(
        samplerate_hz=24_000_000,
        total_samples=HOUR,
        asked_samples=HOUR + 1,
        channels=("STIM", "ISR"),
        worst=1,
        around_samples=100,
        pins={
            "STIM": PinEnd(edges=9, high=True, since=None),
            "ISR": PinEnd(edges=4, high=False, since=None),
        },
        counted={("width", "ISR"): widths.counted, ("latency", "STIM to ISR"): Tally().counted},
        merged={"STIM to ISR": 2},
        waiting={"STIM to TASK": 17},
        windows=(Window(place, EdgeList(*rows, 24_000_000, 200, ("STIM", "ISR"))),),
    )


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    before = kept()
    write_kept(tmp_path / names.KEPT, before)
    capture = read_kept(tmp_path)
    assert capture.counted == before.counted
    assert [(window.place, window.edges) for window in capture.windows] == [
        (window.place, window.edges) for window in before.windows
    ]
    for name in ("samplerate_hz", "total_samples", "asked_samples", "channels", "pins", "merged", "waiting"):
        assert getattr(capture, name) == getattr(before, name)
    first = (tmp_path / names.KEPT).read_bytes()
    write_kept(tmp_path / names.KEPT, capture)
    assert (tmp_path / names.KEPT).read_bytes() == first


def changed(path: Path, **fields: object) -> None:
    """The file with other metadata."""
    metadata = json.loads(pl.read_parquet_metadata(path)[METADATA_KEY]) | fields
    pl.read_parquet(path).write_parquet(path, metadata={METADATA_KEY: json.dumps(metadata)})


def test_a_file_that_states_what_cannot_be_is_refused(tmp_path: Path, sentences: Sentences) -> None:
    place = kept().windows[0].place.model_dump() | {"name": "../../elsewhere"}
    for fields in (
        *({"samplerate_hz": 0}, {"total_samples": 1 << 43}, {"total_samples": 5}, {"more": 1}),
        *({"channels": ["CRIT", "ISR"]}, {"windows": [place]}),
    ):
        write_kept(tmp_path / names.KEPT, kept())
        changed(tmp_path / names.KEPT, **fields)
        with sentences.raised(TailscopeError):
            read_kept(tmp_path)
