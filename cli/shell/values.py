"""The kinds of value that options and words have: each is read, refused and completed here.

What a kind cannot read it refuses in a sentence that names the option and says what to give. The
functions behind the kinds raise OptionError, for those who read such words elsewhere.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, ClassVar

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
_WORST = 10
_MOST_SHOWN = 80


class Output(click.Path):
    """A file or `folder` to write: refused before anything is measured where it cannot be."""

    def __init__(self, *, folder: bool = False) -> None:
        super().__init__(path_type=Path, dir_okay=folder, file_okay=not folder)
        self.of_folder = folder

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = Path(value)
        word = "folder" if self.of_folder else "file"
        above = path.absolute() if self.of_folder else path.absolute().parent
        folder = next(place for place in (above, *above.parents) if os.path.lexists(place))
        if path.is_dir() and not self.of_folder:
            why = "is a folder"
        else:
            try:
                with TemporaryFile(dir=folder):  # root may by its rights, and yet cannot everywhere
                    return path
            except OSError:
                why = f"cannot be written: {folder} takes no files"
        raise click.BadParameter(f"{_flag(param)} {value}: it {why}; name another {word}.", ctx, param)


class OptionError(TailscopeError):
    """An option that cannot be understood. The message says what it may be."""


class Value(click.ParamType[Any]):
    """A kind of value. What comes from a command's default and is no text is taken as it is.

    Of `several` words with commas the last is completed. `otherwise` is what it is completed to if
    there are no candidates: a file or a dir.
    """

    name: ClassVar[str] = "VALUE"  # type: ignore[misc]
    several: ClassVar[bool] = False
    otherwise: ClassVar[str] = ""

    def read(self, word: str, flag: str) -> Any:
        """The value of `word`. Raises TailscopeError with a sentence that names `flag`."""
        return word

    def candidates(self, ctx: click.Context) -> Iterable[str]:
        """What the word could be, as far as that is known."""
        return ()

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        return self.name if isinstance(param, click.Option) else None

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self.read(value, _flag(param))
        except TailscopeError as error:
            raise click.BadParameter(str(error), ctx, param) from None

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        """The candidates that begin so; where none does, what `otherwise` says."""
        before, comma, last = incomplete.rpartition(",") if self.several else ("", "", incomplete)
        given = before.split(",") if comma else []
        words = [word for word in self.candidates(ctx) if word.startswith(last) and word not in given]
        if self.otherwise and not words:
            return [CompletionItem(incomplete, type=self.otherwise)]
        return [CompletionItem(f"{before}{comma}{word}") for word in words]


def _flag(param: click.Parameter | None) -> str:
    if isinstance(param, click.Option):
        return max(param.opts, key=len)
    return str(param.name).upper() if param else ""


class Choice(Value):
    """One of a few words."""

    def __init__(self, *words: str) -> None:
        self.words = words
        self.name = "|".join(words)  # type: ignore[misc]

    def read(self, word: str, flag: str) -> Any:
        if word not in self.words:
            raise OptionError(
                f"{flag} {word[:_MOST_SHOWN]}: give {either(self.words)}.{near_miss(word, self.words)}"
            )
        return word

    def candidates(self, ctx: click.Context) -> Iterable[str]:
        return self.words


class Several(Value):
    """Words that commas separate, each once: a tuple."""

    several = True

    def __init__(self, *words: str, name: str = "WORDS") -> None:
        self.words = words
        self.name = name  # type: ignore[misc]

    def read(self, word: str, flag: str) -> Any:
        given = tuple(dict.fromkeys(word.split(",")))
        for name in given:
            if name not in self.words:
                raise OptionError(
                    f"{flag} {word[:_MOST_SHOWN]}: give {either(self.words)}, or several with commas."
                    f"{near_miss(name, self.words)}"
                )
        return given

    def candidates(self, ctx: click.Context) -> Iterable[str]:
        return self.words


class Allocators(Several):
    """Names of the catalogue and paths of files, with commas, or `all`: a list of words."""

    def __init__(self, all_too: bool = True) -> None:
        super().__init__(name="NAMES")
        self.all_too = all_too

    def read(self, word: str, flag: str) -> Any:
        words = word.split(",")
        known.check(allocators_=words)
        return words

    def candidates(self, ctx: click.Context) -> Iterable[str]:
        return [*(["all"] if self.all_too else []), *known.allocators()]


class Scenario(Value):
    """A scenario of the bench, or the path of a TOML file."""

    name = "SCENARIO"  # type: ignore[misc]
    otherwise = "file"

    def read(self, word: str, flag: str) -> Any:
        known.check(scenario=word)
        return word

    def candidates(self, ctx: click.Context) -> Iterable[str]:
        return known.scenarios()


class Board(Value):
    """A board of the bench, or the path of a TOML file."""

    name = "BOARD"  # type: ignore[misc]
    otherwise = "file"

    def read(self, word: str, flag: str) -> Any:
        known.check(board=word)
        return word

    def candidates(self, ctx: click.Context) -> Iterable[str]:
        return known.boards()


class Boards(Board):
    """Boards that commas separate: a tuple. One whose path has a comma of its own stands alone."""

    name = "BOARDS"  # type: ignore[misc]
    several = True

    def read(self, word: str, flag: str) -> Any:
        words = (word,) if Path(word).exists() else tuple(word.split(","))
        for name in words:
            known.check(board=name)
            if words.count(name) > 1:
                raise OptionError(
                    f"{flag} {word[:_MOST_SHOWN]}: {name} is named twice; name each board once."
                )
        return words


class BoardFolder(Value):
    """A board that comes with the bench, by its name, or the path of a board's folder."""

    name = "BOARD"  # type: ignore[misc]

    def candidates(self, ctx: click.Context) -> Iterable[str]:
        return known.chips()


class RunFolder(Value):
    """A folder that is there."""

    name = "RUN"  # type: ignore[misc]
    otherwise = "dir"

    def read(self, word: str, flag: str) -> Any:
        known.check_runs([word])
        return Path(word)

    def candidates(self, ctx: click.Context) -> Iterable[str]:
        """Runs of `runs`, the latest first."""
        return (f"{RUNS.name}/{name}" for name in known.runs(RUNS))


class Whole(Value):
    """A whole number, decimal or 0x…, of a range."""

    name = "NUMBER"  # type: ignore[misc]

    def __init__(self, least: int = 1, most: int | None = None) -> None:
        self.least = least
        self.most = most

    def read(self, word: str, flag: str) -> Any:
        return whole(word, flag, self.least, self.most)


class Seconds(Value):
    """`2s`, `500ms`, `20us`, `1.5ms`, `90min` or `2h`: a float, in seconds."""

    name = "TIME"  # type: ignore[misc]

    def read(self, word: str, flag: str) -> Any:
        value = seconds_of(word)
        if value <= 0:
            raise OptionError(f"{flag} {word[:_MOST_SHOWN]}: give a time, such as 2s or 500ms.")
        return value


class Worst(Value):
    """`worst` or `worst=N`: how many of the longest are meant."""

    name = "worst[=N]"  # type: ignore[misc]

    def read(self, word: str, flag: str) -> Any:
        match = re.fullmatch(r"worst(?:=([0-9]{1,4}))?", word)
        count = int(match[1] or _WORST) if match else 0
        if not 1 <= count <= MOST_WORST:
            raise OptionError(
                f"{flag} {word[:_MOST_SHOWN]}: give worst, or worst=N with N from 1 to {MOST_WORST}."
            )
        return count

    def candidates(self, ctx: click.Context) -> Iterable[str]:
        return ("worst", f"worst={_WORST}")


class Number(Value):
    """A number above 0, such as of minutes."""

    name = "NUMBER"  # type: ignore[misc]

    def read(self, word: str, flag: str) -> Any:
        try:
            value = float(word)
        except ValueError:
            value = 0.0
        if not 0 < value < float("inf"):
            raise OptionError(f"{flag} {word[:_MOST_SHOWN]}: give a number above 0.")
        return value


class Instant(Value):
    """`100ms`, `2s` or `cycles:84000`, as the virtual Nucleo takes it."""

    name = "TIME"  # type: ignore[misc]

    def __init__(self, zero_too: bool = False) -> None:
        self.zero_too = zero_too

    def read(self, word: str, flag: str) -> Any:
        whole_ = re.fullmatch(r"cycles:([0-9]{1,15})|([0-9]{1,15})(?:ns|us|ms|s)", word)
        if whole_ and (self.zero_too or int(whole_[1] or whole_[2])):
            return word
        if nanoseconds := round(seconds_of(word) * 1e9):
            return f"{nanoseconds}ns"
        raise OptionError(f"{flag} {word[:_MOST_SHOWN]}: give a time such as 100ms or 2s, or cycles:84000.")


class Begin(Value):
    """`start`, `reset`, a function of the program, or a time as Instant has it."""

    name = "FUNCTION|TIME|start|reset"  # type: ignore[misc]

    def read(self, word: str, flag: str) -> Any:
        if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.$]{0,199}", word):
            return word
        return Instant(zero_too=True).read(word, flag)


class Samplerate(Value):
    """`24000000`, `24000k` or `24m`: samples per second."""

    name = "RATE"  # type: ignore[misc]

    def read(self, word: str, flag: str) -> Any:
        match = re.fullmatch(r"([0-9]{1,12})([km]?)", word.lower())
        if match is None or int(match[1]) == 0:
            raise OptionError(
                f"{flag} {word[:_MOST_SHOWN]}: give samples per second, such as 24000000, 24000k or 24m."
            )
        return int(match[1]) * _RATES[match[2]]


class HeapBytes(Value):
    """The size of a heap's region: `8192`, `8k` or `8KiB`."""

    name = "BYTES"  # type: ignore[misc]

    def read(self, word: str, flag: str) -> Any:
        number = heap_size.bytes_of(word)
        if number is None:
            number = whole(word, flag, least=None)
        if range_ := heap_size.refused(number):
            raise OptionError(f"{flag} {word[:_MOST_SHOWN]}: give {range_}.")
        return number


class Scale(Value):
    """Of a trace: one block in so many; 0 is `auto`."""

    name = "N|auto"  # type: ignore[misc]

    def read(self, word: str, flag: str) -> Any:
        return 0 if word == "auto" else whole(word, flag)

    def candidates(self, ctx: click.Context) -> Iterable[str]:
        return ("auto",)


class Stimulus(Value):
    """A stimulus of scenarios.stimulus."""

    name = "MODE"  # type: ignore[misc]

    def read(self, word: str, flag: str) -> Any:
        from scenarios import stimulus  # takes a while

        stimulus.check(word)
        return word

    def candidates(self, ctx: click.Context) -> Iterable[str]:
        return ("none", "periodic", "sweep", "random", "burst")


class Assignment(Value):
    """`NAME=VALUE`: a tuple of both."""

    name = "NAME=VALUE"  # type: ignore[misc]

    def __init__(self, example: str, names: Callable[[click.Context], Iterable[str]] | None = None) -> None:
        self.example = example
        self.names = names

    def read(self, word: str, flag: str) -> Any:
        name, separator, value = word.partition("=")
        if not separator or not name:
            raise OptionError(f"{flag} {word[:_MOST_SHOWN]}: give NAME=VALUE, such as {self.example}.")
        return name, value

    def candidates(self, ctx: click.Context) -> Iterable[str]:
        return (f"{name}=" for name in (self.names(ctx) if self.names else ()))


class Knob(Assignment):
    """A number of the heap's build: its name in capitals, and the number."""

    def __init__(self) -> None:
        super().__init__("TLSF_SLOTS=8", lambda _: known.knobs(known.allocators()))

    def read(self, word: str, flag: str) -> Any:
        name, value = super().read(word, flag)
        return name.upper(), whole(value, flag, least=None)


class Pairs(Value):
    """`CRIT=D0,OP=D1` as a table; no words are an empty one. A part without `=` continues the name
    before it, which has a comma.
    """

    name = "OURS=THEIRS,…"  # type: ignore[misc]

    def __init__(self, example: str) -> None:
        self.example = example

    def read(self, word: str, flag: str) -> Any:
        split = [pair.partition("=") for pair in re.split(r",(?=[^,]*=)", word)] if word else []
        if word.rstrip().endswith(",") or any(
            not (ours.strip() and equals and theirs.strip()) for ours, equals, theirs in split
        ):
            raise OptionError(f"{flag} {word[:_MOST_SHOWN]}: give OURS=THEIRS, such as {self.example}.")
        table = {ours.strip(): theirs.strip() for ours, _, theirs in split}
        if len(table) != len(split):
            raise OptionError(f"{flag} {word[:_MOST_SHOWN]}: it names a channel twice.")
        return table


def whole(word: str, flag: str, least: int | None = 1, most: int | None = None) -> int:
    """A whole number, decimal or 0x…, from `least` to `most`. Raises OptionError."""
    try:
        number = int(word, 0)
    except ValueError:
        raise OptionError(f"{flag} {word[:_MOST_SHOWN]}: give a whole number, decimal or 0x….") from None
    if most is not None and not (least or 0) <= number <= most:
        raise OptionError(
            f"{flag} {word[:_MOST_SHOWN]}: give a whole number from {least or 0:,} to {most:,}."
        )
    if least is not None and number < least:
        raise OptionError(f"{flag} {word[:_MOST_SHOWN]}: give {least:,} or more.")
    return number


def _scenario_of(ctx: click.Context) -> str:
    """The scenario of a line that is not complete; Click leaves a word where it reads no more."""
    words = (ctx.params.get("name"), ctx.params.get("scenario"), *ctx.args)
    return next((word for word in words if word in known.scenarios()), "")


def either(words: Sequence[str]) -> str:
    """`a, b or c`."""
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


OUTPUT = Output()
OUTPUT_FOLDER = Output(folder=True)
ALLOCATORS = Allocators()
SCENARIO = Scenario()
BOARD = Board()
BOARDS = Boards()
BOARD_FOLDER = BoardFolder()
RUN = RunFolder()
WHOLE = Whole()
PLACEMENTS = Whole(most=MOST_PLACEMENTS)
SEED = Whole(least=None)  # type: ignore[arg-type]
SECONDS = Seconds()
INSTANT = Instant()
SAMPLERATE = Samplerate()
HEAP = HeapBytes()
SCALE = Scale()
STIMULUS = Stimulus()
KNOB = Knob()
QUANTITY = Choice(*NAMED)
PARAMETER = Assignment("depth=64", lambda ctx: known.parameters(_scenario_of(ctx)))
