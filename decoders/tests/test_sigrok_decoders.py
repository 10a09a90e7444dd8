"""The decoders in sigrok-cli, against known truth and capture/reading/vectorised.py."""

import ast
import struct
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from base.files.errors import CaptureError
from base.run_folder.edges import CHANNELS, EdgeList
from base.run_folder.session_file import write_sr
from capture.acquisition.sigrok_cli import find_tool
from capture.reading import frames, vectorised
from capture.reading.tests.waveform import Waveform
from capture.reading.vectorised import Stimuli
from decoders import pulseview
from decoders.tests import sigrok
from decoders.tests.dumps import three_operations
from firmware.build import boards

CRITICAL = "critical_section:crit=CRIT:op=OP:sync=SYNC"
LATENCY = "irq_latency:stim=STIM:isr=ISR:task=TASK:ctrl=CTRL:cisr=CISR:crit=CRIT"
KINDS = (("STIM", "ISR"), ("STIM", "TASK"), ("CTRL", "CISR"))
OUTSIDE = 0xFFFFFFFF


class Pulse(NamedTuple):
    channel: int
    flags: int
    reserved: int
    operation: int
    start: int
    end: int


class Latency(NamedTuple):
    kind: int
    flags: int
    reserved: int
    reserved_too: int
    stimulus: int
    answer: int


@pytest.mark.parametrize(
    ("decoder", "words"),
    [
        ("critical_section", "Core clock (Hz)"),
        ("irq_latency", "Core clock (Hz)"),
        ("alloc_records", "Core clock until BOOT (Hz)"),
    ],
)
def test_a_decoder_that_is_told_no_clock_takes_the_nominal_one(decoder: str, words: str) -> None:
    """Decoders run inside sigrok and import nothing of ours, so the number stands there again."""
    command = [find_tool(), "-P", decoder, "--show"]
    shown = subprocess.run(command, env=sigrok.environment(), capture_output=True, text=True, check=True)
    assert f"- core_hz: {words} (default {boards.default().core_hz})" in shown.stdout


def test_a_frame_is_the_same_in_both_decodings() -> None:
    source = ast.parse((pulseview.FOLDER / "critical_section" / "pd.py").read_text(encoding="utf-8"))
    constants = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in source.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id.startswith("FRAME_")
    }
    assert constants == {
        "FRAME_EDGES": frames.FRAME_EDGES,
        "FRAME_TICKS": frames.START_FRAME_TICKS,
        "FRAME_TOLERANCE": frames.FRAME_TOLERANCE,
    }


def saved(folder: Path, edges: EdgeList) -> Path:
    write_sr(folder / "capture.sr", edges)
    return folder / "capture.sr"


def pulses_by_sigrok(session: Path, decoder: str = CRITICAL) -> list[Pulse]:
    data = sigrok.binary(session, decoder, "critical_section=pulses")
    return [Pulse(*row) for row in struct.iter_unpack("<BBHIQQ", data)]


def latencies_by_sigrok(session: Path, decoder: str = LATENCY) -> list[Latency]:
    data = sigrok.binary(session, decoder, "irq_latency=latencies")
    return [Latency(*row) for row in struct.iter_unpack("<BBHIQQ", data)]


@st.composite
def captures(draw: st.DrawFn) -> EdgeList:
    """Any words at any places: every coincidence of edges that two rows can have."""
    count = draw(st.integers(0, 800))
    seed = draw(st.integers(0, 2**32 - 1))
    widest = draw(st.sampled_from([1, 2, 5, 300]))
    random = np.random.default_rng(seed)
    sample = np.concatenate((np.zeros(1, np.int64), np.cumsum(random.integers(1, widest + 1, count))))
    flips = random.integers(1, 256, count + 1)
    if draw(st.booleans()):
        flips = 1 << random.integers(0, 8, count + 1)
    flips[0] = draw(st.integers(0, 255))
    word = np.bitwise_xor.accumulate(flips).astype(np.uint8)
    return EdgeList(sample, word, 84_000_000, int(sample[-1]) + draw(st.integers(1, 300)))


@settings(max_examples=8)
@given(edges=captures())
def test_both_decodings_agree_on_every_pulse(
    edges: EdgeList, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rows = pulses_by_sigrok(saved(tmp_path_factory.mktemp("sr"), edges))
    for number, channel in enumerate(("CRIT", "OP")):
        pulses = vectorised.pulses(edges, channel)
        expected = list(zip(pulses.start.tolist(), pulses.end.tolist(), strict=True))
        assert [(row.start, row.end) for row in rows if row.channel == number] == expected


@settings(max_examples=8)
@given(edges=captures())
def test_both_decodings_agree_on_every_response(
    edges: EdgeList, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rows = latencies_by_sigrok(saved(tmp_path_factory.mktemp("sr"), edges))
    crit = np.repeat(edges.word & 1, np.diff(edges.sample, append=edges.total_samples)).tolist()
    for kind, (stimulus, answer) in enumerate(KINDS):
        waits = vectorised.waits_for(edges, stimulus, answer)
        expected = [
            (began, answered, max(crit[began : answered + 1]) << 1)
            for began, answered in zip(waits.stimulus.tolist(), waits.answer.tolist(), strict=True)
        ]
        assert [(row.stimulus, row.answer, row.flags) for row in rows if row.kind == kind] == expected


def test_pulses_carry_operation_number_maximum_and_limit(tmp_path: Path) -> None:
    rows = pulses_by_sigrok(saved(tmp_path, three_operations()), CRITICAL + ":limit_cycles=300")
    over_limit, longest = 1, 2
    assert rows == [
        Pulse(0, longest, 0, OUTSIDE, 56_000, 56_004),
        Pulse(0, longest, 0, 0, 60_020, 60_120),
        Pulse(1, 0, 0, 0, 60_010, 60_130),
        Pulse(0, longest | over_limit, 0, 1, 62_020, 62_420),
        Pulse(1, 0, 0, 1, 62_010, 62_430),
        Pulse(0, 0, 0, 2, 64_020, 64_320),
        Pulse(1, 0, 0, 2, 64_010, 64_330),
    ]


def test_annotations_state_cycles_time_and_samples(tmp_path: Path) -> None:
    session = saved(tmp_path, three_operations())
    lines = sigrok.annotations(session, CRITICAL + ":limit_cycles=300", "critical_section=critical")
    assert lines == [
        "56000-56004 critical_section-1: 4 cycles, 47.6 ns, 4 samples",
        "60020-60120 critical_section-1: #0: 100 cycles, 1190.5 ns, 100 samples",
        "62020-62420 critical_section-1: #1: 400 cycles, 4761.9 ns, 400 samples",
        "64020-64320 critical_section-1: #2: 300 cycles, 3571.4 ns, 300 samples",
    ]
    lines = sigrok.annotations(session, CRITICAL + ":limit_cycles=300", "critical_section=longest")
    assert [line.split()[0] for line in lines] == ["56000-56004", "60020-60120", "62020-62420"]
    lines = sigrok.annotations(session, CRITICAL + ":limit_cycles=350", "critical_section=warning")
    assert lines == ["62020-62420 critical_section-1: Longer than 350 cycles"]


def test_low_pulses_are_those_of_the_wires_upside_down(tmp_path: Path) -> None:
    """SYNC stays as it is, and numbers the operations as before."""
    capture = three_operations()
    marked = sum(1 << capture.channels.index(name) for name in ("CRIT", "OP"))
    inverted = replace(capture, word=capture.word ^ np.uint8(marked))
    rows = pulses_by_sigrok(saved(tmp_path, inverted), f"{CRITICAL}:polarity=active-low")
    assert rows == pulses_by_sigrok(saved(tmp_path, capture)) != []
    low = vectorised.pulses(inverted, "!CRIT")
    assert [row.start for row in rows if row.channel == 0] == low.start.tolist()


@pytest.mark.parametrize(
    ("edges", "begins"), [("both", [100, 300]), ("rising", [100, 300]), ("falling", [102, 302])]
)
def test_the_edges_that_are_stimuli_can_be_chosen(tmp_path: Path, edges: Stimuli, begins: list[int]) -> None:
    """Pulses of 2 samples from 100 and 300, answered at 145 and 320."""
    wave = Waveform(1000)
    for begin, answer in ((100, 145), (300, 320)):
        wave.pulse("STIM", begin, begin + 2)
        wave.pulse("ISR", answer, answer + 5)
    capture = wave.edges()
    rows = latencies_by_sigrok(saved(tmp_path, capture), f"irq_latency:stim=STIM:isr=ISR:edges={edges}")
    assert [(row.stimulus, row.answer, row.reserved_too) for row in rows] == [
        (begin, answer, int(edges == "both")) for begin, answer in zip(begins, (145, 320), strict=True)
    ]
    assert vectorised.waits_for(capture, "STIM", "ISR", which=edges).stimulus.tolist() == begins


def test_an_answer_beyond_the_limit_is_warned_of_and_flagged(tmp_path: Path) -> None:
    """STIM to ISR takes 45 and 20 samples of a core cycle each, STIM to TASK 70."""
    wave = Waveform(1000)
    wave.toggle("STIM", 100, 500)
    wave.pulse("ISR", 145, 160)
    wave.pulse("TASK", 170, 180)
    wave.pulse("ISR", 520, 530)
    session, limited = saved(tmp_path, wave.edges()), LATENCY + ":limit_cycles=44"
    over_limit = 4
    assert [(row.kind, row.flags) for row in latencies_by_sigrok(session, limited)] == [
        (0, over_limit),
        (1, over_limit),
        (0, 0),
    ]
    assert sigrok.annotations(session, limited, "irq_latency=warning") == [
        "100-145 irq_latency-1: ISR later than 44 cycles",
        "100-170 irq_latency-1: Task later than 44 cycles",
    ]
    assert [row.flags for row in latencies_by_sigrok(session, LATENCY + ":limit_cycles=70")] == [0, 0, 0]


def test_meta_output_tells_each_longest_so_far(tmp_path: Path) -> None:
    session = saved(tmp_path, three_operations())
    assert sigrok.meta(session, CRITICAL, "critical_section") == [
        "critical_section-1: Longest section: 4.0",
        "critical_section-1: Longest section: 100.0",
        "critical_section-1: Longest section: 400.0",
    ]
    wave = Waveform(1000)
    wave.toggle("STIM", 100, 300, 500)
    for rise in (120, 315, 530):
        wave.pulse("ISR", rise, rise + 5)
    wave.toggle("CTRL", 600)
    wave.pulse("CISR", 612, 620)
    assert sigrok.meta(saved(tmp_path, wave.edges()), LATENCY, "irq_latency") == [
        "irq_latency-1: Longest ISR latency: 20.0",
        "irq_latency-1: Longest Task latency: 200.0",  # at least, since nothing answers on TASK
        "irq_latency-1: Longest Task latency: 400.0",
        "irq_latency-1: Longest ISR latency: 30.0",
        "irq_latency-1: Longest Control latency: 12.0",
    ]


def test_a_wait_that_is_never_over_is_told_up_to_the_last_stimulus(tmp_path: Path) -> None:
    wave = Waveform(1000)
    wave.toggle("STIM", 100, 300, 600)
    wave.pulse("ISR", 120, 125)
    assert sigrok.meta(saved(tmp_path, wave.edges()), LATENCY, "irq_latency") == [
        "irq_latency-1: Longest ISR latency: 20.0",
        "irq_latency-1: Longest Task latency: 200.0",
        "irq_latency-1: Longest ISR latency: 300.0",
        "irq_latency-1: Longest Task latency: 500.0",
    ]


@pytest.mark.parametrize("edge_count", [63, 65])
def test_a_train_that_is_no_frame_numbers_nothing(tmp_path: Path, edge_count: int) -> None:
    wave = Waveform(70_000)
    wave.toggle("SYNC", *range(1000, 1000 + edge_count * 840, 840), 60_000)
    wave.pulse("CRIT", 60_100, 60_200)
    assert [row.operation for row in pulses_by_sigrok(saved(tmp_path, wave.edges()))] == [OUTSIDE]


def test_latencies_are_those_that_were_drawn(tmp_path: Path) -> None:
    wave = Waveform(1000)
    wave.toggle("STIM", 100, 300, 500)
    wave.pulse("CRIT", 90, 140)
    wave.pulse("ISR", 145, 160)
    wave.pulse("TASK", 170, 180)
    wave.pulse("ISR", 520, 530)
    wave.toggle("CTRL", 110)
    wave.pulse("CISR", 122, 125)
    session = saved(tmp_path, wave.edges())
    hit = 2
    assert latencies_by_sigrok(session) == [
        Latency(2, hit, 0, 0, 110, 122),
        Latency(0, hit, 0, 0, 100, 145),
        Latency(1, hit, 0, 0, 100, 170),
        Latency(0, 0, 0, 1, 300, 520),
    ]
    assert sigrok.annotations(session, LATENCY, "irq_latency") == [
        "110-122 irq_latency-1: 142.9 ns, 12 cycles, 12 samples",
        "100-145 irq_latency-1: 535.7 ns, 45 cycles, 45 samples",
        "100-170 irq_latency-1: 833.3 ns, 70 cycles, 70 samples",
        "500-500 irq_latency-1: ISR still waited for, >= 2381 ns, 200 cycles",
        "500-500 irq_latency-1: Task still waited for, >= 2381 ns, 200 cycles",
        "300-520 irq_latency-1: 2619 ns, 220 cycles, 220 samples, 1 later stimuli merged",
    ]


def test_a_critical_section_between_stimulus_and_answer_is_a_hit(tmp_path: Path) -> None:
    wave = Waveform(1000)
    wave.toggle("STIM", 100, 300)
    wave.pulse("CRIT", 110, 120)
    wave.pulse("ISR", 130, 140)
    wave.pulse("CRIT", 320, 330)
    wave.pulse("ISR", 319, 340)
    rows = latencies_by_sigrok(saved(tmp_path, wave.edges()), "irq_latency:stim=STIM:isr=ISR:crit=CRIT")
    assert rows == [Latency(0, 2, 0, 0, 100, 130), Latency(0, 0, 0, 0, 300, 319)]


def test_optional_channels_may_be_left_out(tmp_path: Path) -> None:
    wave = Waveform(1000)
    wave.pulse("CRIT", 1, 200)
    wave.toggle("STIM", 100)
    wave.pulse("ISR", 145, 160)
    session = saved(tmp_path, wave.edges())
    assert pulses_by_sigrok(session, "critical_section:crit=CRIT") == [Pulse(0, 2, 0, OUTSIDE, 1, 200)]
    assert latencies_by_sigrok(session, "irq_latency:stim=STIM:isr=ISR") == [Latency(0, 0, 0, 0, 100, 145)]


def test_long_captures_do_not_wear_the_interpreter_down(tmp_path: Path) -> None:
    """libsigrokdecode 0.5.3 loses references: what is done at each edge must survive thousands."""
    count = 8 * 2500
    sample = np.arange(count) * 7
    word = np.bitwise_xor.accumulate(1 << np.arange(count) % 8).astype(np.uint8)
    session = saved(tmp_path, EdgeList(sample, word, 84_000_000, count * 7))
    # Each channel changes 2500 times. CRIT begins high: its first change ends an incomplete pulse.
    assert len(pulses_by_sigrok(session)) == 1249 + 1250
    assert len(latencies_by_sigrok(session)) > count // 8


def test_a_decoder_that_breaks_off_is_an_error_although_sigrok_exits_with_zero(tmp_path: Path) -> None:
    session = saved(tmp_path, Waveform(10).edges())
    with pytest.raises(CaptureError, match="core_hz must be positive"):
        pulses_by_sigrok(session, "critical_section:crit=CRIT:core_hz=0")


def test_the_channels_of_a_capture_are_those_the_decoders_ask_for() -> None:
    assert {"CRIT", "OP", "SYNC", *(name for kind in KINDS for name in kind)} == set(CHANNELS)
