"""How a command judges runs, or a program's masks, latencies and bounds: the options by which it
does, declared once, and what they come to.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from base.files.whole import write_bytes
from cli.shell.declare import json_option, option, packed, together
from cli.shell.project import project
from cli.shell.values import FILE, OUTPUT, OUTPUT_OR_STDOUT, STDOUT, OptionError, Value

if TYPE_CHECKING:
    from analysis.judge.baseline import Baseline
    from analysis.judge.limits import Allowance, Limit
    from analysis.judge.rows import Report, Subject


@dataclass
class Judging:
    """What is judged, by what, and the files that say it. An `allow` of None allows nothing.

    Options that do not go together raise OptionError.
    """

    as_json: bool
    limit: tuple[str, ...]
    baseline: Path | None
    renew: bool
    junit_file: Path | None
    markdown_file: Path | None
    allow: Allowance | None = None
    bencher_file: Path | None = None

    def __post_init__(self) -> None:
        if self.renew and self.baseline is None:
            raise OptionError("--update needs the file to write: --baseline FILE.")
        more = self.allow and self.allow.text
        if self.renew and (self.junit_file or self.markdown_file or more):
            raise OptionError("--update judges nothing: leave --junit, --markdown and --allow AMOUNT out.")
        if more and self.baseline is None:
            raise OptionError("--allow AMOUNT is of a baseline: give --baseline FILE, too.")
        if self.on_stdout and self.as_json:
            raise OptionError("--markdown - and --json both print: give --markdown a file.")
        self.text = ""
        """What came of it, in lines for a reader."""
        self.document: Mapping[str, Any] | None = None
        self.exit_status: int | None = None
        """None if nothing was asked that decides it."""

    @property
    def on_stdout(self) -> bool:
        """Whether the table takes the place of the report."""
        return self.markdown_file == STDOUT

    def begin(self, command: str, kinds: Sequence[str], timed: Sequence[str] = ()) -> None:
        """Reads the baseline, and the limits of both, before anything is measured: those of the
        command line come first.

        `kinds` are the words that a limit may name; `timed` are those without cycles. Raises
        GateError.
        """
        from analysis.errors import GateError
        from analysis.judge import limits

        self.command, self.kinds, self.timed = command, kinds, timed
        self.given = limits.read_words(self.limit, kinds)
        self.before: Baseline | None = None
        if self.baseline:
            from analysis.judge import baseline as files  # takes a while
            from base.files.documents import is_there

            if is_there(self.baseline, GateError):
                self.before = files.read(self.baseline, command)
            elif not self.renew:
                raise GateError(f"{self.baseline} does not exist: check the path, or write it with --update.")
        self.limits()

    def limits(self, priority_bits: int = 4) -> list[Limit]:
        """Those of both, of a chip whose priorities have so many bits."""
        from analysis.judge import limits

        words = {**(self.before.limits if self.before else {}), **self.given}
        return limits.parse(words, self.kinds, priority_bits, self.timed)

    def judge(self, subject: Subject) -> None:
        """Judges a program, or makes it the baseline. Raises TailscopeError."""
        from analysis.errors import GateError
        from analysis.judge import programs, render
        from analysis.judge.limits import Allowance

        held = bool(self.limit or self.baseline)
        if held:
            subject = replace(subject, made_by={"version of Tailscope": project()["version"]})
        allowance = self.allow or Allowance()
        limits = self.limits(subject.priority_bits)
        refusal = programs.why_refused(subject, allowance)
        if refusal and (self.renew or (self.bencher_file and not held)):
            raise GateError(f"{refusal} Only a program that came to its end has a baseline, or a chart.")
        if self.bencher_file and not refusal:
            write_bytes(self.bencher_file, render.as_bencher(subject).encode())
        if not self.renew:
            self.conclude(programs.judge(subject, limits, self.before, allowance), decides=held)
            return
        from analysis.judge import baseline as files  # takes a while

        entry, sentences = programs.entry(subject), []
        for before in self.before.entry if self.before else ():
            if before.settings != entry.settings:
                sentences.append("The settings are others.")
            checks = programs.compare(before.functions, subject, Allowance())
            sentences += [f"{it.name}: {it.sentence}" for it in checks if it.finding != "equal"]
        words = {limit.name: limit.text for limit in limits}
        self.write_baseline(files.made(self.baseline or Path(), self.command, words, [entry]), sentences)

    def conclude(self, report: Report, *, decides: bool = True) -> None:
        """Writes the files that are asked for, or prints the table alone. A report on what is held
        to nothing decides nothing.
        """
        from analysis.judge import render

        if self.junit_file:
            write_bytes(self.junit_file, render.as_xml(report))
        markdown = render.as_markdown(report)
        if self.on_stdout:
            print(markdown, end="")
        elif self.markdown_file:
            write_bytes(self.markdown_file, markdown.encode())
        if decides:
            self.text, self.document = render.as_text(report), render.as_json(report)
            self.exit_status = report.exit_status

    def write_baseline(self, new: Baseline, sentences: Sequence[str]) -> None:
        """Writes the baseline; `sentences` say what changes."""
        from analysis.judge import baseline as files  # takes a while

        notes = [*sentences, f"{new.path} is written: {files.write(new):,} bytes."]
        self.text, self.exit_status = "\n".join(notes), 0
        self.document = {"updated": str(new.path), "notes": notes}

    def show(
        self,
        document: Callable[[], dict[str, Any]] | None = None,
        report: Callable[[], str] = str,
        files: Sequence[Path | None] = (),
        usual: int = 0,
    ) -> int:
        """Prints the command's report, what came of the judgement, and the names of the `files`
        that it wrote, unless the table took their place. Returns the exit status, the `usual` if
        nothing decides it. Without a `document` of the command, the judgement's is the whole.
        """
        if self.as_json:
            judged = {} if self.document is None else {"judgement": self.document}
            print(json.dumps({**document(), **judged} if document else self.document, indent=2))
        elif not self.on_stdout:
            wrote = (f"file: {file}" for file in files if file)
            print("\n\n".join(filter(None, (report(), self.text))), *wrote, sep="\n")
        return usual if self.exit_status is None else self.exit_status


def _allowance(word: str) -> Allowance | None:
    from analysis.judge.limits import parse_allowance  # takes a while

    return parse_allowance(word)


_AMOUNT = "a share such as 5% or a number of cycles, vanished, polling, or several with commas"
_OF_RUNS = (
    option(
        "--limit",
        "hold a kind to cycles or a time: any=1200, handler:on_tim2=900; of runs allocate=10us; may be "
        "repeated",
        metavar="KIND=LIMIT",
        multiple=True,
    ),
    option("--baseline", FILE, "hold it to this file, which --update writes"),
    option("--update", "renew", "make what was measured the baseline, and say what changes"),
    option(
        "--junit", "junit_file", OUTPUT, "a file of JUnit XML to write: a test case each limit and each row"
    ),
    option(
        "--markdown",
        "markdown_file",
        OUTPUT_OR_STDOUT,
        "a table to write for a comment on a change; - prints it alone",
    ),
)
_PACKED = (json_option, packed(Judging, "judging"))
judging = together(
    *_OF_RUNS,
    option(
        "--allow",
        Value("AMOUNT", _allowance, _AMOUNT),
        "what is no failure: 5% or cycles more than the baseline, vanished (what is seen no more), "
        "polling (a program that ends so); several with commas",
    ),
    option("--bencher", "bencher_file", OUTPUT, "the cycles to write in Bencher's metric format, for charts"),
    *_PACKED,
)
"""Gives a command about a program these options and --json. The function gets them as one Judging,
`judging`.
"""
judging_runs = together(*_OF_RUNS, *_PACKED)
"""The same for a command about runs."""
