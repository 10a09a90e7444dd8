"""The kinds of value that options and words have: each is read and completed here.

What a kind cannot read it refuses by saying what to give. Whether there is a scenario, an allocator
or a board of a name, says who reads it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from base import heap_size
from base.files.errors import TailscopeError, nearest
from base.files.printable import printable
from base.microseconds import seconds_of
from base.paths import RUNS
from base.run_folder.named_quantities import MOST_WORST, NAMED

FILE = click.Path(path_type=Path)
FOLDER = click.Path(path_type=Path, file_okay=False)
MOST_PLACEMENTS = 256
"""As firmware.build.placement has it, which takes a while to load."""
_RATES = {"": 1, "k": 1_000, "m": 1_000_000}


class OptionError(TailscopeError):
    """Options that do not go together. The message says what to do."""


@dataclass(eq=False)
class Value(click.ParamType[Any]):
    """A kind of value, called `name` in help. What comes from a command's default and is no text is
    taken as it is.

    `read` returns the value of a word; None where it is none, and then the refusal says to `give`
    what it must be. `words` are what the word could be, as far as that is known. Of `several` with
    commas the last is completed. `otherwise` is what it is completed to if there are no candidates:
    a file or a dir.
    """

    name: str
    read: Callable[[str], Any]
    give: str = ""
    words: Callable[[], Iterable[str]] = tuple
    several: bool = False
    otherwise: str = ""

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        return self.name if isinstance(param, click.Option) else None

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        if (result := self.read(value)) is None:
            self.fail(f"{value[:80]!r}: give {self.give}.", param, ctx)
        return result

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        """The candidates that begin so; where none does, what `otherwise` says."""
        before, comma, last = incomplete.rpartition(",") if self.several else ("", "", incomplete)
        others = before.split(",")
        words = [word for word in self.words() if word.startswith(last) and word not in others]
        if self.otherwise and not words:
            return [CompletionItem(incomplete, type=self.otherwise)]
        return [CompletionItem(f"{before}{comma}{word}") for word in words]


def choice(*words: str) -> click.Choice[str]:
    """One of a few words."""
    return click.Choice(words)


def several(*words: str) -> Value:
    """Of these words some, which commas separate, each once: a tuple."""

    def read(word: str) -> tuple[str, ...] | None:
        chosen = tuple(dict.fromkeys(word.split(",")))
        return chosen if {*chosen} <= {*words} else None

    give = f"{', '.join(words)}, or several of them with commas"
    return Value("WORDS", read, give, words=lambda: words, several=True)


whole = click.IntRange
"""A whole number of a range."""


def _above_0(word: str) -> float | None:
    with suppress(ValueError):
        if sys.float_info.min <= (value := float(word)) <= sys.float_info.max:
            return value
    return None


def _writable(folder: bool) -> Value:
    """A file or `folder` to write: refused before anything is measured where it cannot be."""

    def read(word: str) -> Path | None:
        path = Path(word)
        above = path.absolute() if folder else path.absolute().parent
        place = next(place for place in (above, *above.parents) if os.path.lexists(place))
        fits = place.is_dir() and os.access(place, os.W_OK) and (folder or not path.is_dir())
        return path if fits else None

    what = "folder" if folder else "file"
    otherwise = "dir" if folder else "file"
    return Value(what.upper(), read, f"another {what}: this cannot be written", otherwise=otherwise)


def _allocators(word: str) -> list[str] | None:
    names = word.split(",")
    return names if names == ["all"] or "all" not in names else None


def _boards(word: str) -> tuple[str, ...] | None:
    names = tuple(word.split(","))
    return names if len({*names}) == len(names) else None


def _worst(word: str) -> int | None:
    match = re.fullmatch(r"worst(?:=([0-9]{1,4}))?", word)
    count = int(match[1] or 10) if match else 0
    return count if 1 <= count <= MOST_WORST else None


def _instant(word: str, least: int = 1) -> str | None:
    match = re.fullmatch(r"cycles:([0-9]{1,15})|([0-9]{1,15})(?:ns|us|ms|s)", word)
    if match and int(match[1] or match[2]) >= least:
        return word
    nanoseconds = round(seconds_of(word) * 1e9)
    return f"{nanoseconds}ns" if nanoseconds else None


def _begin(word: str) -> str | None:
    return word if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.$]{0,199}", word) else _instant(word, 0)


def _samplerate(word: str) -> int | None:
    match = re.fullmatch(r"([0-9]{1,12})([km]?)", word.lower())
    return (int(match[1]) * _RATES[match[2]] or None) if match else None


def _number(word: str) -> int | None:
    try:
        return int(word, 0)
    except ValueError:
        return None


def _heap_bytes(word: str) -> int | None:
    size = heap_size.bytes_of(word) or _number(word)
    return None if size is None or heap_size.refused(size) else size


def _stimulus(word: str) -> str:
    from scenarios import stimulus  # takes a while

    stimulus.parts(word)
    return word


def _assignment(word: str) -> tuple[str, str] | None:
    name, separator, value = word.partition("=")
    return (name, value) if separator and name else None


def _knob(word: str) -> tuple[str, int] | None:
    """A number of the heap's build: its name in capitals, and the number."""
    name, value = _assignment(word) or ("", "")
    size = _number(value)
    return None if size is None else (name.upper(), size)


def _pairs(word: str) -> dict[str, str] | None:
    """`CRIT=D0,OP=D1` as a table; no words are an empty one. A part without `=` continues the name
    before it, which has a comma.
    """
    split = [pair.partition("=") for pair in re.split(r",(?=[^,]*=)", word)] if word else []
    table = {ours.strip(): theirs.strip() for ours, _, theirs in split}
    whole_table = len(table) == len(split) and all(table) and all(table.values())
    return table if whole_table and not word.rstrip().endswith(",") else None


def run_folder(word: str) -> Path:
    """The folder. Raises OptionError if it is none, or has a name not to be shown."""
    path = Path(word)
    if printable(word) != word:
        raise OptionError(f"{printable(word)[:200]} has control characters in it; rename it.")
    with suppress(OSError, ValueError):  # a name that is too long, or one that no system can have
        if path.is_dir():
            return path
    near = nearest(path.name, _runs(path.parent), 1)
    question = f" Did you mean {path.parent / near[0]}?" if near else " ls runs/ shows what there is."
    raise OptionError(f"There is no run folder {word[:200]}.{question}")


# What Tab completes: libraries are loaded then.


def _runs(folder: Path) -> list[str]:
    """The run folders in `folder`, the latest first."""
    return sorted((path.name for path in folder.glob("*Z-*") if path.is_dir()), reverse=True)


def _all_allocators() -> list[str]:
    from firmware.build import catalogue

    return ["all", *catalogue.allocators()]


def _all_boards() -> list[str]:
    from capture.desk import bench
    from firmware.build import boards

    chips = sorted(boards.names())
    return [*bench.read_bench().boards, *chips, *(f"virtual:{name}" for name in chips)]


def _all_scenarios() -> tuple[str, ...]:
    from scenarios import catalogue

    return catalogue.names()


OUTPUT, OUTPUT_FOLDER = _writable(folder=False), _writable(folder=True)
STDOUT = Path("-")
OUTPUT_OR_STDOUT = replace(OUTPUT, read=lambda word: STDOUT if word == str(STDOUT) else OUTPUT.read(word))
ALLOCATORS = Value("NAMES", _allocators, "all alone, or allocators", words=_all_allocators, several=True)
"""Names of the catalogue and paths of files, with commas, or `all`: a list of words."""
SCENARIO = Value("SCENARIO", str, words=_all_scenarios, otherwise="file")
"""A scenario of the bench, or the path of a TOML file."""
BOARD = Value("BOARD", str, words=_all_boards, otherwise="file")
"""A board of the bench, or the path of a TOML file."""
BOARDS = Value("BOARDS", _boards, "each board once", words=_all_boards, several=True, otherwise="file")
RUN = Value(
    "RUN",
    run_folder,
    words=lambda: (f"{RUNS.name}/{name}" for name in _runs(RUNS)),
    otherwise="dir",
)
"""A folder that is there; of `runs` the latest first."""
WHOLE = whole(1)
NUMBER = Value("NUMBER", _above_0, "a number above 0")
PLACEMENTS = whole(1, MOST_PLACEMENTS)
SEED = click.INT
SECONDS = Value("TIME", lambda word: seconds_of(word) or None, "a time, such as 2s or 500ms")
"""`2s`, `500ms`, `20us`, `1.5ms`, `90min` or `2h`: a float, in seconds."""
WORST = Value(
    "worst[=N]",
    _worst,
    f"worst, or worst=N with N from 1 to {MOST_WORST}",
)
"""How many of the longest are meant."""
INSTANT = Value("TIME", _instant, "a time such as 100ms or 2s, or cycles:84000")
"""`100ms`, `2s` or `cycles:84000`, as the virtual Nucleo takes it."""
BEGIN = Value(
    "FUNCTION|TIME|start|reset", _begin, "start, reset, a function, a time such as 100ms, or cycles:84000"
)
"""`start`, `reset`, a function of the program, or a time as INSTANT has it."""
SAMPLERATE = Value("RATE", _samplerate, "samples per second, such as 24000000, 24000k or 24m")
HEAP = Value("BYTES", _heap_bytes, str(heap_size.refused(0)))
"""The size of a heap's region: `8192`, `8k` or `8KiB`."""
SCALE = Value(
    "N|auto",
    lambda word: 0 if word == "auto" else int(word) if re.fullmatch("[1-9][0-9]{0,8}", word) else None,
    "auto, or a whole number of 1 or more",
)
"""Of a trace: one block in so many; 0 is `auto`."""
STIMULUS = Value("MODE", _stimulus)
"""A stimulus of scenarios.stimulus."""
KNOB = Value("NAME=VALUE", _knob, "NAME=VALUE, a number, such as TLSF_SLOTS=8")
PARAMETER = Value("NAME=VALUE", _assignment, "NAME=VALUE, such as depth=64")
PAIRS = Value("OURS=THEIRS,…", _pairs, "OURS=THEIRS, such as CRIT=PA8,STIM=PA0, and each channel once")
QUANTITY = choice(*NAMED)


def refuse_overwriting(ctx: click.Context) -> None:
    """Raises OptionError if a file that the command writes is named twice: what one word names
    would be lost to the other.
    """
    first: dict[str, click.Parameter] = {}
    for param in ctx.command.params:
        value = ctx.params.get(param.name or "")
        for file in value if isinstance(value, tuple) else (value,):
            if not isinstance(file, Path):
                continue
            other = first.setdefault(os.path.realpath(file), param)
            if other is not param and {other.type, param.type} & {OUTPUT, OUTPUT_OR_STDOUT}:
                names = " and ".join(
                    it.human_readable_name if it.param_type_name == "argument" else it.opts[0]
                    for it in (other, param)
                )
                raise OptionError(f"{names} both name {file}: give each a file of its own.")
