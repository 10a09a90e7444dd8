"""The options by which a command judges runs or one's own program, declared once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.shell.declare import option
from cli.shell.values import FILE, OUTPUT, OptionError, Value

if TYPE_CHECKING:
    from analysis.judge.limits import Allowance

STDOUT = Path("-")


class Allow(Value):
    """`5%`, a number of cycles, `vanished`, `polling`; several with commas."""

    name = "AMOUNT"  # type: ignore[misc]

    def read(self, word: str, flag: str) -> Any:
        from analysis.judge.limits import parse_allowance  # takes a while

        accepted = parse_allowance(word)
        if accepted is None:
            raise OptionError(
                f"{flag} {word[:80]}: give a share such as 5% or a number of cycles, vanished, polling, or "
                "several with commas."
            )
        return accepted


@dataclass(frozen=True)
class Judging:
    """What is judged, by what, and the files that say it. An `allow` of None allows nothing."""

    limit: tuple[str, ...] = ()
    baseline: Path | None = None
    renew: bool = False
    allow: Allowance | None = None
    junit_file: Path | None = None
    markdown_file: Path | None = None
    bencher_file: Path | None = None

    @property
    def judges(self) -> bool:
        """Whether something is to be judged."""
        return bool(self.limit or self.baseline) and not self.renew

    @property
    def on_stdout(self) -> bool:
        """Whether the table takes the place of the report."""
        return self.markdown_file == STDOUT

    def check(self, as_json: bool) -> None:
        """Raises OptionError for options that do not go together."""
        for sentence in self._complaints(as_json):
            raise OptionError(sentence)

    def _complaints(self, as_json: bool) -> Iterator[str]:
        judged = {"--junit": self.junit_file, "--markdown": self.markdown_file}
        if self.renew and self.baseline is None:
            yield "--update needs the file to write: --baseline FILE."
        for name, file in judged.items():
            if file and self.renew:
                yield f"--update judges nothing, so there is nothing for {name} to say: leave it out."
        if self.allow and self.allow.text and (self.baseline is None or self.renew):
            yield "--allow AMOUNT goes with --baseline FILE: how much longer than that something may be."
        if self.on_stdout and as_json:
            yield "--markdown - and --json both print: give --markdown a file."
        yield from self._same_files()

    def _same_files(self) -> Iterator[str]:
        named = {
            "--baseline": self.baseline,
            "--junit": self.junit_file,
            "--markdown": self.markdown_file,
            "--bencher": self.bencher_file,
        }
        seen: dict[Path, str] = {}
        for name, file in named.items():
            if file is None or file == STDOUT:
                continue
            if other := seen.get(file.resolve()):
                yield f"{other} and {name} both name {file}: give each a file of its own."
            seen[file.resolve()] = name


_Command = Callable[..., int | None]
_OF_ALL = (
    option("--baseline", type=FILE, help="hold it to this file, which --update writes"),
    option(
        "--update", "renew", is_flag=True, help="make what was measured the baseline, and say what changes"
    ),
    option(
        "--junit",
        "junit_file",
        type=OUTPUT,
        help="a file of JUnit XML to write: a test case each limit and each row",
    ),
    option(
        "--markdown",
        "markdown_file",
        type=FILE,
        help="a table to write for a comment on a change; - prints it alone",
    ),
)
_OF_RUNS = (
    option(
        "--limit",
        metavar="QUANTITY=LIMIT",
        multiple=True,
        help="of allocate, free, interrupt or task: allocate=10us; may be repeated",
    ),
    *_OF_ALL,
)
_OF_PROGRAMS = (
    option(
        "--limit",
        metavar="KIND=LIMIT",
        multiple=True,
        help="hold a kind to cycles or a time: any=1200, handler=2us, handler:on_tim2=900; may be repeated",
    ),
    *_OF_ALL,
    option(
        "--allow",
        type=Allow(),
        help="what is no failure: 5% or cycles more than the baseline, vanished (what is seen no more), "
        "polling (a program that ends so); several with commas",
    ),
    option(
        "--bencher",
        "bencher_file",
        type=OUTPUT,
        help="the cycles to write in Bencher's metric format, for charts",
    ),
)


def judging(function: _Command) -> _Command:
    """Gives a command about a program these options. The function gets them as one Judging,
    `judging`, checked.
    """
    return _with(_OF_PROGRAMS, function)


def judging_runs(function: _Command) -> _Command:
    """The same for a command about runs."""
    return _with(_OF_RUNS, function)


def _with(options: Sequence[Callable[[_Command], _Command]], function: _Command) -> _Command:
    @functools.wraps(function)
    def packed(
        *,
        as_json: bool,
        limit: tuple[str, ...],
        baseline: Path | None,
        renew: bool,
        junit_file: Path | None,
        markdown_file: Path | None,
        allow: Allowance | None = None,
        bencher_file: Path | None = None,
        **own: object,
    ) -> int | None:
        options = Judging(limit, baseline, renew, allow, junit_file, markdown_file, bencher_file)
        options.check(as_json)
        return function(as_json=as_json, judging=options, **own)

    made: _Command = packed
    for add in reversed(options):
        made = add(made)
    return made
