"""Loads the wiring firmware, captures the pattern that it plays, and says what each input saw of
it, what is wrong with the clips, and what to do.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from base.files.errors import CaptureError
from base.processes import signals
from base.run_folder.edges import EdgeList, Samples
from base.tell import Tell
from capture.acquisition.observe import Order, observe
from capture.acquisition.sigrok_options import check_analyzer
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


@dataclass(frozen=True)
class Seen:
    """What one input saw.

    `pins` are the numbers of the pins whose pulses it saw whenever they came, `seldom` of those
    that it saw only now and then. `strays` counts what was no pulse of the pattern. `level` is the
    level of an input that never changed, or else None.
    """

    pins: frozenset[int] = frozenset()
    seldom: frozenset[int] = frozenset()
    strays: int = 0
    level: bool | None = None


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
            seldom=frozenset(pin for pin, times in counted.items() if times < always),
            strays=strays,
            level=_level(edges, channel),
        )
        for channel, (counted, strays) in zip(edges.channels, inputs, strict=True)
    )


def _begin(edges: EdgeList) -> int:
    return max(0, edges.total_samples - round(WINDOW_S * edges.samplerate_hz))


def _level(edges: EdgeList, channel: str) -> bool | None:
    transitions = edges.transitions(channel)
    before = int(np.searchsorted(transitions.sample, _begin(edges)))
    if before < transitions.sample.size:
        return None
    return bool(transitions.level[-1]) if before else edges.initial_level(channel)


def _read_input(edges: EdgeList, channel: str) -> tuple[Counter[int], int]:
    """How often an input saw each pin, and how much of what it saw was of none."""
    half = HALF_PULSE_S * edges.samplerate_hz
    transitions = edges.transitions(channel)
    inside = transitions.sample >= _begin(edges)
    sample, level = transitions.sample[inside], transitions.level[inside]
    if sample.size > _MOST_EDGES:
        return Counter(), int(sample.size)
    kept_word = _without_glitches(sample, _GLITCH * half)
    strays = (sample.size - kept_word.size) // 2
    counted: Counter[int] = Counter()
    # Edges without a long gap between them belong together.
    gap = _NEW_BEGINS * half
    numbers = np.split(kept_word, np.flatnonzero(np.diff(sample[kept_word]) > gap) + 1)
    for edge_numbers in numbers if kept_word.size else ():
        burst = sample[edge_numbers]
        if burst[0] - _begin(edges) <= gap or edges.total_samples - burst[-1] <= gap:
            continue  # it may reach beyond an end of the window
        pulses = _pulses(burst, bool(level[edge_numbers[0]]), half)
        if 1 <= pulses <= len(edges.channels):
            counted[pulses - 1] += 1
        else:
            strays += 1
    return counted, strays


def _without_glitches(sample: Samples, shortest: float) -> npt.NDArray[np.intp]:
    """The numbers of the edges that are left when pulses and gaps shorter than this are taken out.

    Edges go in pairs, so that what is left rises and falls in turn.
    """
    long_enough: list[int] = []
    for number, at in enumerate(sample.tolist()):
        if long_enough and at - sample[long_enough[-1]] < shortest:
            long_enough.pop()
        else:
            long_enough.append(number)
    return np.array(long_enough, dtype=np.intp)


def _pulses(burst: Samples, rises: bool, half: float) -> int:
    """How many pulses it has; 0 unless each edge comes half a pulse after the one before.

    A pin is held high between its pulses, or low by an analyzer whose own resistors are stronger.
    Held high, it first falls, and rises last.
    """
    gaps = np.diff(burst)
    steady = ((gaps > _WIDTHS[0] * half - 1) & (gaps < _WIDTHS[1] * half + 1)).all()
    if not steady or burst.size % 2:
        return 0
    return burst.size // 2 if rises else burst.size // 2 - 1


_SOUND = ("right", "noisy")


def judge(seen: Sequence[Seen], clips: Sequence[Clip]) -> Finding:
    """What each clip's input saw, and what to do; `seen` and `clips` are in the order of CHANNELS.

    A noisy clip is odd, any other that is not right is wrong.
    """
    states = [_state(number, seen) for number in range(len(clips))]
    inputs = tuple(
        ClippedInput(
            clip.input, clip.place.channel, state, tuple(clips[pin].place.channel for pin in sorted(saw.pins))
        )
        for clip, state, saw in zip(clips, states, seen, strict=True)
    )
    right = states.count("right")
    figures = (Figure("clips that are right", right, n=len(states)),)
    if right == len(states):
        return Finding("clips", "right", "All eight clips are where they belong.", (), figures, inputs)
    words = f"{len(states) - right} of {len(states)} clips are not as they should be."
    remedies = tuple(sentence for rule in _RULES for sentence in rule(states, seen, clips))
    if set(states) == {"missing"}:
        remedies = (_NOTHING,)
    sound = all(state in _SOUND for state in states)
    return Finding("clips", "odd" if sound else "wrong", words, remedies, figures, inputs)


_NOTHING = (
    "No input sees any pin: check that ground is clipped on, that the analyzer of bench.toml is the one on "
    "the board, and that the board has power."
)


def _state(number: int, seen: Sequence[Seen]) -> ClipState:
    """The worst that can be said of an input. A pin that two inputs see, and no
    other beside it, means that one of the two clips is not where it should be.
    """
    own = seen[number]
    if len(own.pins) > 1:
        return "shorted"
    if not own.pins:
        return "loose" if own.seldom else "missing"
    if own.pins != {number}:
        alone = sum(own.pins == other.pins for other in seen) == 1
        return "swapped" if alone else "doubled"
    return "noisy" if own.strays or own.seldom else "right"


Rule = Callable[[Sequence[ClipState], Sequence[Seen], Sequence[Clip]], Iterator[str]]


def _missing(states: Sequence[ClipState], seen: Sequence[Seen], clips: Sequence[Clip]) -> Iterator[str]:
    for state, saw, clip in zip(states, seen, clips, strict=True):
        if state == "missing":
            what = f"stays {'high' if saw.level else 'low'}" if saw.level is not None else "sees only noise"
            yield f"{clip.input} {what}: clip it on {clip.place}."
        elif state == "loose":
            names = " and ".join(clips[pin].place.channel for pin in sorted(saw.seldom))
            yield f"{clip.input} sees {names} only now and then: press its clip on {clip.place}."


def _swapped(states: Sequence[ClipState], seen: Sequence[Seen], clips: Sequence[Clip]) -> Iterator[str]:
    """Two clips that changed places are one sentence; of a longer ring each gets its own."""
    for number, state in enumerate(states):
        if state != "swapped":
            continue
        (pin,) = seen[number].pins
        clip, other = clips[number], clips[pin]
        mutual = states[pin] == "swapped" and seen[pin].pins == {number}
        if mutual and number < pin:
            yield (
                f"{clip.input} sees {other.place.channel} and {other.input} sees {clip.place.channel}: "
                f"swap the clips of {clip.input} and {other.input}."
            )
        elif not mutual:
            yield f"{clip.input} sees {other.place.channel}: move its clip to {clip.place}."


def _shorted(states: Sequence[ClipState], seen: Sequence[Seen], clips: Sequence[Clip]) -> Iterator[str]:
    """Inputs that see the same pins are joined."""
    shorted: set[frozenset[int]] = set()
    for number, state in enumerate(states):
        pins = seen[number].pins
        if state != "shorted" or pins in shorted:
            continue
        shorted.add(pins)
        joined = [clip.input for clip, saw in zip(clips, seen, strict=True) if saw.pins == pins]
        names = " and ".join(clips[pin].place.channel for pin in sorted(pins))
        places = ", ".join(str(clips[pin].place) for pin in sorted(pins))
        if len(joined) > 1:
            yield f"{' and '.join(joined)} always move together, with {names}: part their clips at {places}."
        else:
            yield f"{joined[0]} sees {names}: see that its clip touches only {clips[number].place}."


def _doubled(states: Sequence[ClipState], seen: Sequence[Seen], clips: Sequence[Clip]) -> Iterator[str]:
    for number, state in enumerate(states):
        if state == "doubled":
            (pin,) = seen[number].pins
            others = [
                clip.input
                for other, clip in enumerate(clips)
                if other != number and seen[other].pins == seen[number].pins
            ]
            yield (
                f"{clips[number].input} sees {clips[pin].place.channel}, "
                f"as {'does' if len(others) == 1 else 'do'} {' and '.join(others)}: "
                f"clip it on {clips[number].place}, and part it from {' and '.join(others)} if they touch."
            )


def _noisy(states: Sequence[ClipState], seen: Sequence[Seen], clips: Sequence[Clip]) -> Iterator[str]:
    for state, saw, clip in zip(states, seen, clips, strict=True):
        if state == "noisy":
            count = saw.strays + len(saw.seldom)
            often = "one pulse" if count == 1 else f"{count} pulses"
            yield (
                f"{clip.input} sees its pin, and {often} that no pin sent there: shorten its wire and the "
                "ground's, or use a second ground."
            )


_RULES: tuple[Rule, ...] = (_missing, _swapped, _shorted, _doubled, _noisy)


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
    edges = look(board, wiring, _CAPTURED_S, progress, "The clips cannot be checked")
    return judge(read(edges), clips(board))


def look(board: BoardResource, elf: Path | None, duration_s: float, progress: Tell, cannot: str) -> EdgeList:
    """The pins of a board that runs `elf`, or what is on it. Raises TailscopeError, which says what
    `cannot` be done where samples are lost; and signals.Stopped.
    """
    analyzer = board.analyzer
    order = Order(elf, b"", analyzer, analyzer.samplerate_hz, duration_s, records="none")
    with signals.orderly(), tempfile.TemporaryDirectory(prefix="tailscope-") as folder:
        with open_board(board) as opened:
            seen = observe(opened, order, progress, Path(folder))
        signals.check()
    if seen.report.losses:
        said = " ".join((seen.report.losses[0], *seen.report.oddities[:1]))
        raise CaptureError(f"{cannot}: {said}")
    return seen.edges
