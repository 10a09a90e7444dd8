"""Rows and reports made by hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from analysis.judge import baseline as files
from analysis.judge import programs
from analysis.judge.baseline import Baseline, Entry
from analysis.judge.limits import ANY, Allowance, parse, parse_allowance
from analysis.judge.rows import Check, Cycles, Judgement, Report, Row, Subject, longest

KINDS = ("primask", "basepri", "handler", ANY)
NS = 62.5
"""A cycle at 16 MHz."""


def row(
    function: str,
    kind: str,
    cycles: int,
    *,
    ns: float = 0,
    open: bool = False,
    step: int = 1,
    why_not: str = "",
) -> Row:
    return Row(function, kind, cycles, ns or cycles * NS, f"{function}.c:1", open, step, why_not)


def measured(*rows: Row, refusal: str = "", until: str = "5ms") -> Subject:
    made_by = {"version of Tailscope": "1"}
    return Subject("masks", "fw.elf", {"until": until}, longest(rows), refusal=refusal, made_by=made_by)


def baseline(lengths: Mapping[tuple[str, str], Cycles], until: str = "5ms", version: str = "1") -> Baseline:
    functions: dict[str, dict[str, Cycles]] = {}
    for (function, kind), cycles in lengths.items():
        functions.setdefault(function, {})[kind] = cycles
    made_by = {"version of Tailscope": version}
    entry = Entry(settings={"until": until}, made_by=made_by, functions=functions)
    return files.made(Path("masks.toml"), "masks", {}, [entry])


def report(
    subject: Subject,
    before: Baseline | None = None,
    limits: Mapping[str, str] | None = None,
    allow: str = "",
) -> Report:
    allowance = parse_allowance(allow) if allow else Allowance()
    assert allowance is not None
    return programs.judge(subject, parse(limits or {}, KINDS), before, allowance)


def checks(judged: Report) -> tuple[Check, ...]:
    return judgement(judged).checks


def judgement(judged: Report) -> Judgement:
    (only,) = judged.subjects
    return only
