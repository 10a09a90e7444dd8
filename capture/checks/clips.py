"""Loads the wiring firmware, captures the pattern that it plays, and says what each input saw of
it, what is wrong with the clips, and what to do.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from base.files.errors import CaptureError
from base.processes import signals
from base.run_folder.edges import EdgeList
from base.tell import Tell
from capture.acquisition.analyzers import check_analyzer
from capture.acquisition.observe import Order, observe
from capture.checks.findings import ClippedInput, ClipState, Figure, Finding
from capture.checks.wiring import Clip, clips
from capture.desk.bench import BoardResource
from capture.desk.board import RESET_WITHIN_S
from capture.desk.open_board import open_board
from firmware.build.image import build_wiring

HALF_PULSE_S = 100e-6
GAP_S = 1000e-6
"""Between the pulses of one pin and those of the next."""
ROUND_S = (36 * 2 + 8) * HALF_PULSE_S + 8 * GAP_S + 3000e-6
WINDOW_S = 10 * ROUND_S
"""The last part of a capture, which is read: the firmware runs in all of it."""

# The HSI of a board is within a few percent of 16 MHz, over all temperatures (DS10086, section
# 6.3.9), and an edge is known to one sample.
_WIDTHS = (0.8, 1.25)
# Behind a gap of this many half pulses something new begins: two pulses of a pin are one apart,
# those of two pins are ten apart.
_NEW_BEGINS = 3.0
# What is shorter than this part of a half pulse is a glitch.
_GLITCH = 0.1
# All pins together have 88 edges a round: an input with many times as many floats.
_MOST_EDGES = 10_000
# Either end of the window may cut a burst, and a fast or slow HSI may shift another out of it.
_MAY_BE_CUT = 2


class Seen(NamedTuple):
    """What one input saw.

    `pins` are the numbers of the pins whose pulses it saw whenever they came. `strays` counts what
    was no pulse of the pattern, and pins that it saw only now and then.
    """

    pins: frozenset[int] = frozenset()
    strays: int = 0


def read(edges: EdgeList) -> tuple[Seen, ...]:
    """What each input of `edges` saw in the last WINDOW_S of the capture.

    What came before is left out: until the firmware runs the pins float, and anything may be seen.
    """
    inputs = [_read_input(edges, channel) for channel in edges.channels]
    rounds = max((times for counted, _ in inputs for times in counted.values()), default=0)
    always = max(rounds - _MAY_BE_CUT, 1)
    return tuple(
        Seen(
            pins=frozenset(pin for pin, times in counted.items() if times >= always),
            strays=strays + sum(times < always for times in counted.values()),
        )
        for counted, strays in inputs
    )


def _read_input(edges: EdgeList, channel: str) -> tuple[Counter[int], int]:
    """How often an input saw each pin, and how much of what it saw was of none."""
    half = HALF_PULSE_S * edges.samplerate_hz
    begin = max(0, edges.total_samples - round(WINDOW_S * edges.samplerate_hz))
    transitions = edges.transitions(channel)
    inside = transitions.sample >= begin
    sample, level = transitions.sample[inside].tolist(), transitions.level[inside].tolist()
    if len(sample) > _MOST_EDGES:
        return Counter(), len(sample)
    # Pulses and gaps that are too short are taken out: edges go in pairs, so that what is left
    # rises and falls in turn.
    left: list[tuple[int, bool]] = []
    for edge in zip(sample, level, strict=True):
        if left and edge[0] - left[-1][0] < _GLITCH * half:
            left.pop()
        else:
            left.append(edge)
    strays = (len(sample) - len(left)) // 2
    # Edges without a long gap between them belong together.
    gap = _NEW_BEGINS * half
    bursts: list[list[tuple[int, bool]]] = []
    for edge in left:
        if not bursts or edge[0] - bursts[-1][-1][0] > gap:
            bursts.append([])
        bursts[-1].append(edge)
    counted: Counter[int] = Counter()
    least, most = _WIDTHS[0] * half - 1, _WIDTHS[1] * half + 1
    for burst in bursts:
        (first, rises), (last, _) = burst[0], burst[-1]
        if first - begin <= gap or edges.total_samples - last <= gap:
            continue  # it may reach beyond an end of the window
        steady = all(least < after - before < most for (before, _), (after, _) in pairwise(burst))
        # A pin is held high between its pulses, or low by an analyzer whose own resistors are
        # stronger. Held high, it first falls, and rises last.
        pulses = len(burst) // 2 - (not rises)
        if steady and len(burst) % 2 == 0 and 1 <= pulses <= len(edges.channels):
            counted[pulses - 1] += 1
        else:
            strays += 1
    return counted, strays


def judge(seen: Sequence[Seen], clips: Sequence[Clip]) -> Finding:
    """What each clip's input saw, and what to do; `seen` and `clips` are in the order of CHANNELS.

    A noisy clip is odd, any other that is not right is wrong. A clip that touches another is
    `shorted` where both pins move, and `swapped` where it sees the other's alone.
    """
    inputs, remedies = [], []
    for number, (saw, clip) in enumerate(zip(seen, clips, strict=True)):
        sees = tuple(clips[pin].channel for pin in sorted(saw.pins))
        state: ClipState = "noisy" if saw.strays else "right"
        if not sees:
            state = "missing"
            remedies.append(f"{clip.input} sees no pin steadily: press its clip on {clip.place}.")
        elif saw.pins != {number}:
            state = "shorted" if len(sees) > 1 else "swapped"
            remedies.append(
                f"{clip.input} sees {' and '.join(sees)}: clip it on {clip.place}, and see that it touches "
                "nothing else."
            )
        elif saw.strays:
            remedies.append(
                f"{clip.input} sees its pin, and {saw.strays} pulses that no pin sent there: shorten its "
                "wire and the ground's, or use a second ground."
            )
        inputs.append(ClippedInput(clip.input, clip.channel, state, sees))
    right = sum(clip.state == "right" for clip in inputs)
    figures = (Figure("clips that are right", right, n=len(inputs)),)
    if right == len(inputs):
        return Finding("clips", "right", "All eight clips are where they belong.", (), figures, tuple(inputs))
    words = f"{len(inputs) - right} of {len(inputs)} clips are not as they should be."
    if not any(saw.pins for saw in seen):
        remedies = [_NOTHING]
    sound = all(clip.state in ("right", "noisy") for clip in inputs)
    return Finding("clips", "odd" if sound else "wrong", words, tuple(remedies), figures, tuple(inputs))


_NOTHING = (
    "No input sees any pin: check that ground is clipped on, that the analyzer of bench.toml is the one on "
    "the board, and that the board has power."
)


_CAPTURED_S = WINDOW_S + ROUND_S
"""After the reset: the window, and what passes before the firmware's first round."""


_SLOWEST_HZ = 100_000
"""Ten samples for half a pulse."""


def check(board: BoardResource, progress: Tell = lambda _: None) -> Finding:
    """Moves each pin in turn and says which input sees which.

    Raises TailscopeError where nothing can be said, and
    signals.Stopped where a signal comes.
    """
    rate_hz = board.analyzer.samplerate_hz
    if rate_hz < _SLOWEST_HZ:
        raise CaptureError(
            f"The clips cannot be checked at {rate_hz:,} samples per second: "
            f"write {_SLOWEST_HZ:,} or more into bench.toml."
        )
    wiring = build_wiring(board.board)
    check_analyzer(board, rate_hz, _CAPTURED_S + RESET_WITHIN_S)
    seen = read(look(board, wiring, _CAPTURED_S, progress, "The clips cannot be checked"))
    return judge(seen, clips(board))


def look(board: BoardResource, elf: Path | None, duration_s: float, progress: Tell, cannot: str) -> EdgeList:
    """The pins of a board that runs `elf`, or what is on it. Raises TailscopeError, which says what
    `cannot` be done where samples are lost; and signals.Stopped.
    """
    analyzer, rate_hz = board.analyzer, board.analyzer.samplerate_hz
    order = Order(analyzer, None, rate_hz, round(rate_hz * duration_s), elf=elf, records="none")
    with signals.orderly(), tempfile.TemporaryDirectory(prefix="tailscope-") as folder:
        with open_board(board) as opened:
            seen = observe(opened, order, progress, Path(folder))
        signals.check()
    if seen.report.losses:
        raise CaptureError(" ".join((f"{cannot}:", seen.report.losses[0], *seen.report.oddities[:1])))
    return seen.edges
