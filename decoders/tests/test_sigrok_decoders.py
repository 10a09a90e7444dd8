"""The decoders in sigrok-cli, against capture/reading/vectorised.py."""

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from base.run_folder.edges import EdgeList
from base.run_folder.session_file import write_sr
from capture.reading import vectorised, wire
from capture.reading.vectorised import Stimuli
from capture.tests.waveform import captures
from decoders.tests import sigrok
from firmware.build import boards

CRITICAL = "critical_section:crit=CRIT:op=OP:sync=SYNC"
LATENCY = "irq_latency:stim=STIM:isr=ISR:task=TASK:ctrl=CTRL:cisr=CISR:crit=CRIT"
KINDS = (("STIM", "ISR"), ("STIM", "TASK"), ("CTRL", "CISR"))


@pytest.mark.parametrize("decoder", ["critical_section", "irq_latency", "alloc_records"])
def test_a_decoder_that_is_told_no_clock_takes_the_nominal_one(decoder: str) -> None:
    """Decoders run inside sigrok and import nothing of ours, so the number stands there again."""
    (clock, *_) = sigrok.loaded(decoder).Decoder.options
    assert (clock["id"], clock["default"]) == ("core_hz", boards.default().core_hz)


def test_a_frame_is_the_same_in_both_decodings() -> None:
    decoder = sigrok.loaded("critical_section")
    numbers = decoder.FRAME_EDGES, decoder.FRAME_TICKS, decoder.FRAME_TOLERANCE
    assert numbers == (wire.FRAME_EDGES, wire.START_FRAME_TICKS, wire.FRAME_TOLERANCE)


def rows(folder: Path, edges: EdgeList, decoder: str, output_class: str) -> list[tuple[int, ...]]:
    write_sr(folder / "capture.sr", edges)
    return list(struct.iter_unpack("<BBHIQQ", sigrok.binary(folder / "capture.sr", decoder, output_class)))


@settings(max_examples=8)
@given(edges=captures(800, 84_000_000), low=st.booleans())
def test_both_decodings_agree_on_every_pulse(
    edges: EdgeList, low: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    decoder = f"{CRITICAL}:polarity=active-{'low' if low else 'high'}"
    pulses = rows(tmp_path_factory.mktemp("sr"), edges, decoder, "critical_section=pulses")
    for number, channel in enumerate(("CRIT", "OP")):
        train = vectorised.pulses(edges, f"!{channel}" if low else channel)
        expected = list(zip(train.start.tolist(), train.end.tolist(), strict=True))
        assert [
            place for kind, *_, start, end in pulses if kind == number for place in [(start, end)]
        ] == expected


@settings(max_examples=8)
@given(edges=captures(800, 84_000_000), which=st.sampled_from(["both", "rising", "falling"]))
def test_both_decodings_agree_on_every_answer(
    edges: EdgeList, which: Stimuli, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Kind, whether a section was hit, merged stimuli, stimulus and answer. At an answer sigrok's
    does not know yet that a late stimulus waits on, and counts it as merged.
    """
    latencies = rows(
        tmp_path_factory.mktemp("sr"), edges, f"{LATENCY}:edges={which}", "irq_latency=latencies"
    )
    crit = np.repeat(edges.word & 1, np.diff(edges.sample, append=edges.total_samples)).tolist()
    for kind, pair in enumerate(KINDS):
        waits = vectorised.waits_for(edges, *pair, which=which)
        waits_on = np.append(waits.stimulus[1:] < waits.answer[:-1], False)[: waits.answer.size]
        assert [row for row in latencies if row[0] == kind] == [
            (kind, max(crit[began : answered + 1]) << 1, 0, merged, began, answered)
            for began, answered, merged in zip(
                waits.stimulus.tolist(),
                waits.answer.tolist(),
                (waits.merged + waits_on).tolist(),
                strict=True,
            )
        ]


@pytest.mark.parametrize(
    ("dump", "decoder", "longest"),
    [
        ("three_operations", CRITICAL, ["section: 4.0", "section: 100.0", "section: 400.0"]),
        # The stimulus of 300 waits when that of 500 comes; nothing answers on TASK.
        (
            "stimuli",
            LATENCY,
            [
                *("Control latency: 12.0", "ISR latency: 45.0", "Task latency: 70.0"),
                *("ISR latency: 200.0", "Task latency: 200.0", "ISR latency: 220.0"),
            ],
        ),
    ],
)
def test_meta_output_has_each_longest_so_far(dump: str, decoder: str, longest: list[str]) -> None:
    name = decoder.partition(":")[0]
    lines = sigrok.said(sigrok.DRAWN / f"{dump}.sr", decoder, "-M", name).splitlines()
    assert [line.partition(": Longest ")[2] for line in lines] == longest


def test_long_captures_do_not_wear_the_interpreter_down(tmp_path: Path) -> None:
    """libsigrokdecode 0.5.3 loses references: what is done at each edge must survive thousands."""
    count = 8 * 2500
    sample = np.arange(count) * 7
    word = np.bitwise_xor.accumulate(1 << np.arange(count) % 8).astype(np.uint8)
    edges = EdgeList(sample, word, 84_000_000, count * 7)
    # Each channel changes 2500 times. CRIT begins high: its first change ends an incomplete pulse.
    assert len(rows(tmp_path, edges, CRITICAL, "critical_section=pulses")) == 1249 + 1250
    assert len(rows(tmp_path, edges, LATENCY, "irq_latency=latencies")) > count // 8
