"""The Trace Event Format, each event worked out by hand."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from base.timeline import Timeline


def made() -> Timeline:
    timeline = Timeline()
    timeline.slice("pins", "CRIT", "inner", 1_500, 2_000)
    timeline.slice("pins", "CRIT", "outer", 1_500, 3_000.4, seq=7)
    timeline.counter("heap", "bytes", 0, 24)
    return timeline


def test_slices_and_counters_are_events_in_the_order_of_time_the_longer_first() -> None:
    *names, counter, outer, inner = made().document()["traceEvents"]
    assert [(event["name"], event["args"]["name"], event["tid"]) for event in names] == [
        ("thread_name", "CRIT", 1),
        ("process_name", "pins", 0),
        ("process_name", "heap", 0),
    ]
    assert {event["pid"] for event in names[:2]} == {outer["pid"]} == {inner["pid"]} != {counter["pid"]}
    assert (counter["ph"], counter["ts"], counter["args"]) == ("C", 0.0, {"bytes": 24})
    assert (outer["ts"], outer["dur"], outer["tid"], outer["args"]) == (1.5, 1.5, 1, {"seq": 7})
    assert (inner["ts"], inner["dur"], inner["name"]) == (1.5, 0.5, "inner")


def test_equal_timelines_are_equal_bytes_also_compressed(tmp_path: Path) -> None:
    first, again = (made().write(tmp_path / name).read_bytes() for name in ("a.json.gz", "b.json.gz"))
    assert first == again
    assert first[4:8] == bytes(4)  # no time in its header (RFC 1952, section 2.3)
    assert json.loads(gzip.decompress(first)) == json.loads(made().write(tmp_path / "c.json").read_text())
