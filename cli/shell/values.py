"""The kinds of value that options and words have: each is read, refused and completed here.

What a kind cannot read it refuses in a sentence that names the option and says what to give.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import click
from click.shell_completion import CompletionItem

from base import heap_size
from base.files.errors import TailscopeError, near_miss
from base.paths import RUNS
from base.run_folder.named_quantities import MOST_WORST, NAMED
from base.times import seconds_of
from cli.shell import known

FILE = click.Path(path_type=Path)
FOLDER = click.Path(path_type=Path, file_okay=False)
MOST_PLACEMENTS = 256
"""As firmware.build.placement has it, which takes a while to load."""
_RATES = {"": 1, "k": 1_000, "m": 1_000_000}


class OptionError(TailscopeError):
    """An option that cannot be understood. The message says what it may be."""


class Value(click.ParamType[Any]):
    """A kind of value, called `name` in help. What comes from a command's default and is no text is
    taken as it is.

    `read` returns the value of a word; None where it is none, and then the refusal says to `give`
    what it must be. Or it raises OptionError with what stands behind option and word, or another
    TailscopeError with a whole sentence. `words` are what the word could be, as far as that
    is known. Of `several` with commas the last is completed. `otherwise` is what it is completed to
    if there are no candidates: a file or a dir.
    """

    def __init__(
        self,
        name: str,
        read: Callable[[str], Any],
        give: str = "",
        *,
        words: Callable[[click.Context | None], Iterable[str]] = lambda _: (),
        several: bool = False,
        otherwise: str = "",
    ) -> None:
        self.name = name
        self.read = read
        self.give = give
        self.words = words
        self.several = several
        self.otherwise = otherwise

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        return self.name if isinstance(param, click.Option) else None

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            if (result := self.read(value)) is not None:
                return result
            names = [*self.words(ctx)]
            wrong = (
                next((word for word in value.split(",") if word not in names), "") if self.several else value
            )
            why = f"give {self.give}.{near_miss(wrong, names)}"
        except OptionError as error:
            why = str(error)
        except TailscopeError as error:
            raise click.BadParameter(str(error), ctx, param) from None
        raise click.BadParameter(f"{_flag(param)} {value[:80]}: {why}", ctx, param)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        """The candidates that begin so; where none does, what `otherwise` says."""
        before, comma, last = incomplete.rpartition(",") if self.several else ("", "", incomplete)
        others = before.split(",") if comma else []
        words = [word for word in self.words(ctx) if word.startswith(last) and word not in others]
        if self.otherwise and not words:
            return [CompletionItem(incomplete, type=self.otherwise)]
        return [CompletionItem(f"{before}{comma}{word}") for word in words]


def _flag(param: click.Parameter | None) -> str:
    if isinstance(param, click.Option):
        return max(param.opts, key=len)
    return str(param.name).upper() if param else ""


def choice(*words: str) -> Value:
    """One of a few words."""
    give = " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
    return Value("|".join(words), lambda word: word if word in words else None, give, words=lambda _: words)


def several(*words: str) -> Value:
    """Of these words some, which commas separate, each once: a tuple."""

    def read(word: str) -> tuple[str, ...] | None:
        chosen = tuple(dict.fromkeys(word.split(",")))
        return chosen if {*chosen} <= {*words} else None

    give = f"{choice(*words).give}, or several with commas"
    return Value("WORDS", read, give, words=lambda _: words, several=True)


def _number(word: str) -> int | None:
    try:
        return int(word, 0)
    except ValueError:
        return None


def whole(least: int | None = 1, most: int | None = None) -> Value:
    """A whole number, decimal or 0x…, of a range."""

    def read(word: str) -> int | None:
        number = _number(word)
        within = (
            number is not None and (least is None or number >= least) and (most is None or number <= most)
        )
        return number if within else None

    of = "" if least is None else f" of {least:,} or more" if most is None else f" from {least:,} to {most:,}"
    return Value("NUMBER", read, f"a whole number{of}, decimal or 0x…")


def number(
    least: float = sys.float_info.min,
    most: float = sys.float_info.max,
    *,
    name: str = "NUMBER",
    give: str = "a number above 0",
) -> Value:
    """A number from `least` to `most`."""

    def read(word: str) -> float | None:
        try:
            value = float(word)
        except ValueError:
            return None
        return value if least <= value <= most else None

    return Value(name, read, give)


def _writable(folder: bool) -> Value:
    """A file or `folder` to write: refused before anything is measured where it cannot be."""

    def read(word: str) -> Path:
        path = Path(word)
        above = path.absolute() if folder else path.absolute().parent
        place = next(place for place in (above, *above.parents) if os.path.lexists(place))
        why = "is a folder"
        if folder or not path.is_dir():
            try:
                with TemporaryFile(dir=place):  # root may by its rights, and yet cannot everywhere
                    return path
            except OSError:
                why = f"cannot be written: {place} takes no files"
        raise OptionError(f"it {why}; name another {'folder' if folder else 'file'}.")

    return Value("DIRECTORY" if folder else "FILE", read, otherwise="dir" if folder else "file")


def _boards(word: str) -> tuple[str, ...] | None:
    """Boards that commas separate. One whose path has a comma of its own stands alone."""
    words = (word,) if Path(word).exists() else tuple(word.split(","))
    for name in words:
        known.check(board=name)
    return words if len({*words}) == len(words) else None


def _worst(word: str) -> int | None:
    match = re.fullmatch(r"worst(?:=([0-9]{1,4}))?", word)
    count = int(match[1] or 10) if match else 0
    return count if 1 <= count <= MOST_WORST else None


def instant(zero_too: bool = False) -> Value:
    """`100ms`, `2s` or `cycles:84000`, as the virtual Nucleo takes it."""

    def read(word: str) -> str | None:
        match = re.fullmatch(r"cycles:([0-9]{1,15})|([0-9]{1,15})(?:ns|us|ms|s)", word)
        if match and (zero_too or int(match[1] or match[2])):
            return word
        nanoseconds = round(seconds_of(word) * 1e9)
        return f"{nanoseconds}ns" if nanoseconds else None

    return Value("TIME", read, "a time such as 100ms or 2s, or cycles:84000")


def _begin(word: str) -> str | None:
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.$]{0,199}", word):
        return word
    value: str | None = instant(zero_too=True).read(word)
    return value


def _samplerate(word: str) -> int | None:
    match = re.fullmatch(r"([0-9]{1,12})([km]?)", word.lower())
    return (int(match[1]) * _RATES[match[2]] or None) if match else None


def _heap_bytes(word: str) -> int | None:
    size = heap_size.bytes_of(word) or _number(word)
    return None if size is None or heap_size.refused(size) else size


def _stimulus(word: str) -> str:
    from scenarios import stimulus  # takes a while

    stimulus.check(word)
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


def _scenario_of(ctx: click.Context | None) -> str:
    """The scenario of a line that is not complete; Click leaves a word where it reads no more."""
    words = (ctx.params.get("name"), ctx.params.get("scenario"), *ctx.args) if ctx else ()
    return next((word for word in words if word in known.scenarios()), "")


def _allocators(word: str) -> list[str]:
    words = word.split(",")
    known.check(allocators_=words)
    return words


def _scenario(word: str) -> str:
    known.check(scenario=word)
    return word


def _board(word: str) -> str:
    known.check(board=word)
    return word


OUTPUT, OUTPUT_FOLDER = _writable(folder=False), _writable(folder=True)
ALLOCATORS = Value("NAMES", _allocators, words=lambda _: ["all", *known.allocators()], several=True)
"""Names of the catalogue and paths of files, with commas, or `all`: a list of words."""
SCENARIO = Value("SCENARIO", _scenario, words=lambda _: known.scenarios(), otherwise="file")
"""A scenario of the bench, or the path of a TOML file."""
BOARD = Value("BOARD", _board, words=lambda _: known.boards(), otherwise="file")
"""A board of the bench, or the path of a TOML file."""
BOARDS = Value(
    "BOARDS", _boards, "each board once", words=lambda _: known.boards(), several=True, otherwise="file"
)
RUN = Value(
    "RUN",
    known.run_folder,
    words=lambda _: (f"{RUNS.name}/{name}" for name in known.runs(RUNS)),
    otherwise="dir",
)
"""A folder that is there; of `runs` the latest first."""
WHOLE = whole()
PLACEMENTS = whole(most=MOST_PLACEMENTS)
SEED = whole(least=None)
SECONDS = Value("TIME", lambda word: seconds_of(word) or None, "a time, such as 2s or 500ms")
"""`2s`, `500ms`, `20us`, `1.5ms`, `90min` or `2h`: a float, in seconds."""
WORST = Value(
    "worst[=N]",
    _worst,
    f"worst, or worst=N with N from 1 to {MOST_WORST}",
    words=lambda _: ("worst", "worst=10"),
)
"""How many of the longest are meant."""
INSTANT = instant()
BEGIN = Value(
    "FUNCTION|TIME|start|reset", _begin, "start, reset, a function, a time such as 100ms, or cycles:84000"
)
"""`start`, `reset`, a function of the program, or a time as INSTANT has it."""
SAMPLERATE = Value("RATE", _samplerate, "samples per second, such as 24000000, 24000k or 24m")
HEAP = Value("BYTES", _heap_bytes, str(heap_size.refused(0)))
"""The size of a heap's region: `8192`, `8k` or `8KiB`."""
SCALE = Value(
    "N|auto",
    lambda word: 0 if word == "auto" else WHOLE.read(word),
    WHOLE.give,
    words=lambda _: ("auto",),
)
"""Of a trace: one block in so many; 0 is `auto`."""
STIMULUS = Value("MODE", _stimulus, words=lambda _: ("none", "periodic", "sweep", "random", "burst"))
"""A stimulus of scenarios.stimulus."""
KNOB = Value(
    "NAME=VALUE",
    _knob,
    "NAME=VALUE, a number, such as TLSF_SLOTS=8",
    words=lambda _: (f"{name}=" for name in known.knobs(known.allocators())),
)
PARAMETER = Value(
    "NAME=VALUE",
    _assignment,
    "NAME=VALUE, such as depth=64",
    words=lambda ctx: (f"{name}=" for name in known.parameters(_scenario_of(ctx))),
)
PAIRS = Value("OURS=THEIRS,…", _pairs, "OURS=THEIRS, such as CRIT=PA8,STIM=PA0, and each channel once")
QUANTITY = choice(*NAMED)
