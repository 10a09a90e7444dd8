"""Runs, or a program's masks, latencies and bounds, judged; and the files that say it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.errors import GateError
from analysis.judge import limits, programs, render
from analysis.judge.limits import Allowance, Limit
from analysis.judge.rows import Report, Subject
from base.files.whole import write_bytes
from cli.shell.judging import Judging
from cli.shell.project import project

if TYPE_CHECKING:
    from analysis.judge.baseline import Baseline


@dataclass(frozen=True)
class Done:
    """What came of it: lines for a reader, what JSON gets, and the exit status; None if nothing
    was asked that decides it.
    """

    text: str = ""
    document: Mapping[str, Any] | None = None
    exit_status: int | None = None
    markdown: str = ""


@dataclass(frozen=True)
class Ready:
    """The options, read before anything is measured. `before` is the baseline that is there;
    `given` are the limits of the command line.
    """

    options: Judging
    command: str
    kinds: Sequence[str]
    timed: Sequence[str]
    before: Baseline | None
    given: dict[str, str]

    @property
    def baseline(self) -> Baseline:
        """That which is there, or an empty one, to be written to."""
        from analysis.judge import baseline as files  # takes a while

        return self.before or files.made(self.options.baseline or Path(), self.command, {}, ())

    def limits(self, priority_bits: int = 4) -> dict[str, str]:
        """The words of both, of a chip whose priorities have so many bits."""
        before = self.before.limits if self.before else {}
        return limits.override(before, self.given, self.kinds, priority_bits)

    def parsed(self, priority_bits: int = 4) -> list[Limit]:
        """The limits of both."""
        return limits.parse_all(self.limits(priority_bits), self.kinds, priority_bits, self.timed)

    def judge(self, subject: Subject) -> Done:
        """Judges a program, or makes it the baseline. Raises TailscopeError."""
        if self.options.judges or self.options.renew:
            subject = replace(subject, made_by={"version of Tailscope": project()["version"]})
        allowance = self.options.allow or Allowance()
        refusal = programs.why_refused(subject, allowance)
        if self.options.bencher_file and not refusal:
            write_bytes(self.options.bencher_file, render.as_bencher(subject).encode())
        elif self.options.bencher_file and not self.options.judges:
            raise GateError(f"{refusal} Its cycles belong in no chart.")
        if self.options.renew:
            if refusal:
                raise GateError(f"{refusal} A baseline is of a program that came to its end.")
            return self._renew_program(subject)
        if self.options.judges:
            limits = self.parsed(subject.priority_bits)
            return self.conclude(programs.judge(subject, limits, self.before, allowance))
        return replace(self.conclude(programs.unjudged(subject)), text="", document=None, exit_status=None)

    def _renew_program(self, subject: Subject) -> Done:
        from analysis.judge import baseline as files  # takes a while

        entry = programs.entry(subject)
        sentences = []
        for before in self.baseline.entry:
            if before.settings != entry.settings:
                sentences.append("The settings are others.")
            sentences += [
                f"{check.name}: {check.sentence}"
                for check in programs.compare(before.functions, subject, Allowance())
                if check.finding != "equal"
            ]
        return self.renew(
            files.made(self.baseline.path, self.command, self.limits(subject.priority_bits), [entry]),
            sentences,
        )

    def conclude(self, report: Report) -> Done:
        """Writes the files that are asked for."""
        if self.options.junit_file:
            write_bytes(self.options.junit_file, render.as_xml(report))
        done = Done(
            render.as_text(report), render.as_json(report), report.exit_status, render.as_markdown(report)
        )
        write_markdown(done, self.options)
        return done

    def renew(self, new: Baseline, sentences: Sequence[str]) -> Done:
        """Writes the baseline, unless it is that which is there; `sentences` say what changes."""
        from analysis.judge import baseline as files  # takes a while

        before = self.before.limits if self.before else {}
        changed = [
            f"limit of {name}: {before.get(name, 'none')} → {text}."
            for name, text in new.limits.items()
            if before.get(name) != text
        ]
        if self.before is not None and files.as_text(new) == files.as_text(self.before):
            outcome = f"{new.path} is left as it was."
        else:
            outcome = f"{new.path} is written: {files.write(new):,} bytes."
        notes = [*sentences, *changed, outcome]
        return Done("\n".join(notes), {"updated": str(new.path), "notes": notes}, 0)


def ready(options: Judging, command: str, kinds: Sequence[str], timed: Sequence[str] = ()) -> Ready:
    """Reads the baseline, and the limits of both: those of the command line come first.

    `kinds` are the words that a limit may name; `timed` are those without cycles. Raises GateError.
    """
    given = limits.parse_words(options.limit, kinds, timed)
    before = None
    if options.baseline:
        from analysis.judge import baseline as files  # takes a while
        from base.files.documents import is_there

        if is_there(options.baseline, GateError):
            before = files.read(options.baseline, command)
        elif not options.renew:
            raise GateError(f"{options.baseline} does not exist: check the path, or write it with --update.")
    done = Ready(options, command, kinds, timed, before, given)
    done.parsed()
    return done


def write_markdown(done: Done, options: Judging) -> None:
    """Writes the table, unless it is to be printed."""
    if options.markdown_file and not options.on_stdout:
        write_bytes(options.markdown_file, done.markdown.encode())


def show(
    done: Done,
    options: Judging,
    as_json: bool,
    document: Callable[[], dict[str, Any]] | None = None,
    report: Callable[[], str] = str,
) -> int:
    """Prints the command's report and what came of the judgement, or the table alone. Returns the
    exit status. Without a `document` of the command, the judgement's is the whole.
    """
    if options.on_stdout:
        print(done.markdown, end="")
    elif as_json and document is None:
        print(json.dumps(done.document, indent=2))
    elif as_json and document:
        judged = {} if done.document is None else {"judgement": done.document}
        print(json.dumps({**document(), **judged}, indent=2))
    else:
        print("\n\n".join(filter(None, (report(), done.text))))
    return done.exit_status or 0
