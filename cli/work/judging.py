"""A program's masks, latencies or bounds judged, and the files that are written of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from analysis.errors import GateError
from analysis.program.gate import baseline as files
from analysis.program.gate import limits, text
from analysis.program.gate.allowance import Allowance
from analysis.program.gate.baseline import Baseline
from analysis.program.gate.judge import Judgement, judge, unjudged, why_refused
from analysis.program.gate.rows import Measured
from base.files.documents import is_there
from base.files.whole import write_bytes
from cli.shell.judging import Judging
from cli.shell.root import version


@dataclass(frozen=True)
class Done:
    """What came of it: lines for a reader, what JSON gets, and the exit status; None if nothing
    was asked that decides it.
    """

    text: str = ""
    document: dict[str, Any] | None = None
    exit_status: int | None = None
    markdown: str = ""


@dataclass(frozen=True)
class Ready:
    """The options, read before anything is measured. `before` is the baseline that is there."""

    asked: Judging
    before: Baseline | None
    limits: dict[str, str]

    def judge(self, measured: Measured) -> Done:
        """Judges what was measured, or makes it the baseline. Raises TailscopeError."""
        self._chart(measured)
        if self.asked.renew:
            return self._renew(measured)
        if self.asked.judges:
            return self._judged(measured)
        return self._written(unjudged(measured))

    @property
    def _allowance(self) -> Allowance:
        return self.asked.allow or Allowance()

    def _chart(self, measured: Measured) -> None:
        """Writes the cycles, unless the run ended early; that a judgement says, too."""
        if self.asked.bencher_file is None:
            return
        refusal = why_refused(measured, self._allowance)
        if not refusal:
            write_bytes(self.asked.bencher_file, text.as_bencher(measured).encode())
        elif not self.asked.judges:
            raise GateError(f"{refusal} Its cycles belong in no chart.")

    def _judged(self, measured: Measured) -> Done:
        held_to = limits.parse_all(self.limits, measured.kinds, measured.priority_bits)
        told = judge(measured, held_to, self.before, self._allowance, made_by())
        return replace(
            self._written(told),
            text=text.as_text(told),
            document=text.as_json(told),
            exit_status=told.exit_status,
        )

    def _written(self, told: Judgement) -> Done:
        """Writes the files that are asked for."""
        if self.asked.junit_file:
            write_bytes(self.asked.junit_file, text.as_xml(told))
        done = Done(markdown=text.as_markdown(told))
        write_markdown(done, self.asked)
        return done

    def _renew(self, measured: Measured) -> Done:
        assert self.asked.baseline is not None
        if refusal := why_refused(measured, self._allowance):
            raise GateError(f"{refusal} A baseline is of a program that came to its end.")
        new = files.of(measured, self.asked.baseline, made_by(), self.limits)
        sentences = _changes(self.before, measured)
        content = files.as_text(new)
        if self.before is not None and content == files.as_text(self.before):
            sentences.append(f"{new.path} is left as it was.")
        else:
            files.write(new)
            sentences.append(f"{new.path}: {len(new.lengths):,} lengths, {len(content.encode()):,} bytes.")
        return Done("\n".join(sentences), {"updated": str(new.path), "notes": sentences}, 0)


def ready(asked: Judging, command: str, kinds: Sequence[str]) -> Ready:
    """Reads the baseline, and the limits of both: those of the command line come first.

    `kinds` are the words that a limit may name. Raises GateError.
    """
    given = limits.parse_words(asked.limit, kinds)
    before = _before(asked, command)
    held_to = {**(before.limits if before else {}), **given}
    limits.parse_all(held_to, kinds)
    return Ready(asked, before, held_to)


def _before(asked: Judging, command: str) -> Baseline | None:
    if asked.baseline is None or (asked.renew and not is_there(asked.baseline, GateError)):
        return None
    return files.read(asked.baseline, command)


def _changes(before: Baseline | None, measured: Measured) -> list[str]:
    """A sentence for each length that is not that of the baseline before."""
    if before is None:
        return []
    told = judge(measured, [], replace(before, settings=measured.settings), Allowance())
    changed = [check for check in told.checks if check.finding != "equal"]
    settings = ["The settings are others."] if before.settings != measured.settings else []
    return [*settings, *(f"{check.name}: {check.sentence}" for check in changed)]


def write_markdown(done: Done, asked: Judging) -> None:
    """Writes the table, unless it is to be printed."""
    if asked.markdown_file and not asked.on_stdout:
        write_bytes(asked.markdown_file, done.markdown.encode())


def made_by() -> str:
    """The program that measures, without its revision: `Tailscope 0.1.0`."""
    return version().partition(" (")[0]


def show(
    done: Done,
    asked: Judging,
    as_json: bool,
    document: Callable[[], dict[str, Any]],
    report: Callable[[], str],
) -> None:
    """Prints the command's report and what came of the judgement, or the table alone."""
    if asked.on_stdout:
        print(done.markdown, end="")
    elif as_json:
        judged = {} if done.document is None else {"judgement": done.document}
        print(json.dumps({**document(), **judged}, indent=2))
    else:
        print("\n\n".join(filter(None, (report(), done.text))))
