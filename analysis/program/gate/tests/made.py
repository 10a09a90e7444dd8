"""Rows and reports made by hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from analysis.program.gate.allowance import Allowance, parse
from analysis.program.gate.baseline import Baseline, Cycles
from analysis.program.gate.judge import Judgement, judge
from analysis.program.gate.limits import parse_all
from analysis.program.gate.rows import Measured, Row, longest

KINDS = ("primask", "basepri", "handler")
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


def measured(*rows: Row, refusal: str = "", until: str = "5ms") -> Measured:
    return Measured("masks", "fw.elf", {"until": until}, KINDS, longest(rows), refusal=refusal)


def baseline(lengths: Mapping[tuple[str, str], Cycles], until: str = "5ms") -> Baseline:
    return Baseline(Path("masks.toml"), "masks", "Tailscope 1", {"until": until}, {}, lengths)


def judged(
    found: Measured, before: Baseline | None = None, limits: Mapping[str, str] | None = None, allow: str = ""
) -> Judgement:
    allowance = parse(allow) if allow else Allowance()
    assert allowance is not None
    return judge(found, parse_all(limits or {}, KINDS), before, allowance, "Tailscope 1")
