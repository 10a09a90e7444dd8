"""What a user may choose on the command line beside scenario and allocator."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import get_args

from base import heap_size
from base.files.errors import TailscopeError, near_miss
from base.run_folder.records import Locking
from scenarios import stimulus as stimuli
from scenarios.operations import RECORDS

CAPTURES = ("sigrok", "direct")
LOCKINGS: tuple[Locking, ...] = get_args(Locking)
ART = {"on": True, "off": False}
SAMPLERATE_UNITS = {"": 1, "k": 1_000, "m": 1_000_000}


class OptionError(TailscopeError):
    """An option that cannot be understood. The message says what it may be."""


@dataclass(frozen=True)
class Options:
    """What the user chose, in the order of the task `scenario`.

    None leaves the choice to bench.toml or to the scenario. `knobs` are numbers of the heap's
    build. `duration_s` is that of the capture. `art_states` are the states of the flash accelerator
    (prefetch and caches) to run with. `records` says what carries the records, one of
    scenarios.operations.RECORDS. `lockings` are the locks of the heap; None is the allocator's
    default. `heap_bytes` is the size of the heap's region. `capture` is one of CAPTURES: the real
    tools, or the virtual board itself.
    """

    parameters: dict[str, str | int] = field(default_factory=dict)
    knobs: dict[str, int] = field(default_factory=dict)
    board: str | None = None
    samplerate_hz: int | None = None
    stimulus: str | None = None
    seed: int | None = None
    duration_s: float | None = None
    art_states: tuple[bool, ...] = (True,)
    records: str = "uart"
    lockings: tuple[str | None, ...] = (None,)
    heap_bytes: int | None = None
    capture: str = "sigrok"


def parse(
    *,
    parameter: Sequence[str] = (),
    knob: Sequence[str] = (),
    board: str = "",
    samplerate: str = "",
    stimulus: str = "",
    seed: str = "",
    duration: str = "",
    art: str = "on",
    records: str = "uart",
    capture: str = "sigrok",
    locking: str = "",
    trace: str = "",
    scale: str = "",
    heap: str = "",
) -> Options:
    """The options in the words of a command line. The names are those of the task `scenario`.

    An empty word means that the option was not given. Raises OptionError, ScenarioError.
    """
    if stimulus:
        stimuli.check(stimulus)
    recorded: dict[str, str | int] = {"trace": trace} if trace else {}
    if scale:
        recorded["scale"] = 0 if scale == "auto" else whole("scale", scale)
    return Options(
        parameters={**dict(_assignment("parameter", word, "depth=64") for word in parameter), **recorded},
        knobs=dict(_knob(word) for word in knob),
        board=board or None,
        samplerate_hz=_samplerate_hz(samplerate) if samplerate else None,
        stimulus=stimulus or None,
        seed=_integer("seed", seed) if seed else None,
        duration_s=seconds(duration, "duration") if duration else None,
        art_states=_art_states(art),
        records=_records(records),
        lockings=_lockings(locking) if locking else (None,),
        heap_bytes=_heap_bytes(heap) if heap else None,
        capture=_capture(capture),
    )


def _samplerate_hz(word: str) -> int:
    match = re.fullmatch(r"([0-9]{1,12})([km]?)", word.lower())
    if match is None or int(match[1]) == 0:
        raise OptionError(f"--samplerate {word}: give samples per second, such as 24000000, 24000k or 24m.")
    return int(match[1]) * SAMPLERATE_UNITS[match[2]]


def whole(name: str, word: str) -> int:
    """The value of an option that is a whole number from 1 on. Raises OptionError."""
    number = _integer(name, word)
    if number < 1:
        raise OptionError(f"--{name} {word}: give 1 or more.")
    return number


def check_whole(**options: str) -> None:
    """Raises OptionError for the first that is given and no whole number from 1 on."""
    for name, word in options.items():
        if word:
            whole(name, word)


def _heap_bytes(word: str) -> int:
    number = _integer("heap", word)
    if not heap_size.is_one(number):
        raise OptionError(f"--heap {word}: give {heap_size.RANGE}.")
    return number


def _integer(name: str, word: str) -> int:
    try:
        return int(word, 0)
    except ValueError:
        raise OptionError(f"--{name} {word}: give a whole number, decimal or 0x….") from None


def seconds(word: str, name: str = "seconds") -> float:
    """The value of an option that is a time in seconds. Raises OptionError."""
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise OptionError(f"--{name} {word}: give seconds, such as 2.5.")
    return value


def _art_states(words: str) -> tuple[bool, ...]:
    return tuple(ART[word] for word in _several("art", words, ART, "on, off, or on,off for a run with each"))


def _records(word: str) -> str:
    if word not in RECORDS:
        raise OptionError(f"--records {word}: give {' or '.join(RECORDS)}.{near_miss(word, RECORDS)}")
    return word


def _capture(word: str) -> str:
    if word not in CAPTURES:
        raise OptionError(f"--capture {word}: give {' or '.join(CAPTURES)}.{near_miss(word, CAPTURES)}")
    return word


def _lockings(words: str) -> tuple[str, ...]:
    return _several("locking", words, LOCKINGS, f"{', '.join(LOCKINGS)}, or several separated by commas")


def _several(option: str, words: str, known: Collection[str], advice: str) -> tuple[str, ...]:
    """Words that commas separate, each once. Raises OptionError, with `advice`, for one unknown."""
    found = tuple(dict.fromkeys(words.split(",")))
    for word in found:
        if word not in known:
            raise OptionError(f"--{option} {words}: give {advice}.{near_miss(word, known)}")
    return found


def _assignment(option: str, word: str, example: str) -> tuple[str, str]:
    name, separator, value = word.partition("=")
    if not separator or not name:
        raise OptionError(f"--{option} {word}: give NAME=VALUE, such as {example}.")
    return name, value


def pairs(option: str, words: str, example: str) -> dict[str, str]:
    """`CRIT=D0,OP=D1` as a table, with channels in capitals. Raises OptionError.

    `example` is what the sentence gives. No words are an empty table.
    """
    split = [word.partition("=") for word in words.split(",")] if words else []
    if any(not (ours.strip() and equals and theirs.strip()) for ours, equals, theirs in split):
        raise OptionError(f"--{option} {words[:80]}: give OURS=THEIRS, such as {example}.")
    found = {ours.strip().upper(): theirs.strip() for ours, _, theirs in split}
    if len(found) != len(split):
        raise OptionError(f"--{option} {words[:80]}: it names a channel twice.")
    return found


def _knob(word: str) -> tuple[str, int]:
    name, value = _assignment("knob", word, "TLSF_SLOTS=8")
    return name.upper(), _integer("knob", value)
