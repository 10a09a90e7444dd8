"""What is wrong with the clips, and what to do: sentences from what each input saw."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from capture.desk.finding import ClippedInput, ClipState, Figure, Finding
from capture.wiring.pattern import Seen
from capture.wiring.plan import Clip

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
            yield (
                f"{clip.input} sees its pin, and {_often(saw)} that no pin sent there: shorten its wire and "
                "the ground's, or use a second ground."
            )


def _often(saw: Seen) -> str:
    count = saw.strays + len(saw.seldom)
    return "one pulse" if count == 1 else f"{count} pulses"


_RULES: tuple[Rule, ...] = (_missing, _swapped, _shorted, _doubled, _noisy)
