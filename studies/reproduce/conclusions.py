"""What becomes of each conclusion of a publication here: it holds, reverses, or cannot be told; and
how far the figures agree.

The word is computed from the figures that were made here, and from their resolution."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, pairwise, product, starmap
from math import isnan, nan
from typing import NamedTuple

from scipy.stats import binomtest, spearmanr

from studies.reproduce.beside import BYTES, Beside, MadeFigure, Pair, figure, ranged, signed
from studies.reproduce.published import Claim, Part, Verdict

HOLDS: Verdict = "holds"
REVERSES: Verdict = "reverses"
UNTOLD: Verdict = "cannot be told"

_LEVEL = 0.01
"""Of the sign test over seeds: as often two equal allocators would be told apart."""


@dataclass(frozen=True)
class Conclusion:
    """What the publication says, what becomes of it, the figures behind the word, and the cause
    where it is shown.
    """

    says: str
    verdict: Verdict
    evidence: str
    cause: str = ""


class _Comparison(NamedTuple):
    """Two figures that the claim puts in an order, or equals.

    `by_medians` is the verdict that they would have if it did not matter where the code lies.
    """

    part: Part
    along: str
    names: tuple[str, str]
    figures: tuple[MadeFigure, MadeFigure]
    unit: str
    verdict: Verdict
    by_medians: Verdict

    def __str__(self) -> str:
        values = (
            ranged(made, self.unit) if made.placements > 1 else figure(made.value, self.unit)
            for made in self.figures
        )
        words = ", ".join(f"{name} {value}" for name, value in zip(self.names, values, strict=True))
        return f"{words} ({self.along})"


def conclusions(made: Beside) -> list[Conclusion]:
    """The conclusion on each claim of the table."""
    return [_conclusion(made, claim) for claim in made.table.claim]


def summary(concluded: Sequence[Conclusion]) -> str:
    """How many of each word: `holds`, or `2 hold, 1 reverses`; empty if there are none."""
    counts = Counter(conclusion.verdict for conclusion in concluded)
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(
        f"{counts[word]} {word.removesuffix('s') if counts[word] > 1 else word}"
        for word in (HOLDS, REVERSES, UNTOLD)
        if counts[word]
    )


def _conclusion(made: Beside, claim: Claim) -> Conclusion:
    if not made.remade.variants:
        why = made.table.reason.split(". ")[0].rstrip(".") or "It was not made here"
        return Conclusion(claim.says, UNTOLD, f"{why}.")
    if not (claim.ascending or claim.equal or claim.printed):
        return Conclusion(claim.says, UNTOLD, "It states nothing that a figure could show.")
    judged = made.remade.judged or [*made.remade.variants][:1]
    compared = {name: pairs for name in judged if (pairs := list(_compared(made, claim, name)))}
    if not compared:
        return Conclusion(claim.says, UNTOLD, "Nothing of it was made here.")
    verdicts = {
        name: _verdict([pair.verdict for pair in pairs], claim.printed) for name, pairs in compared.items()
    }
    verdict = _common(verdicts.values())
    cause = (_placement(compared, claim) if verdict == UNTOLD else "") or _cause(claim, verdict, made)
    return Conclusion(claim.says, verdict, _sentence(compared, verdicts), cause)


def _placement(compared: Mapping[str, Sequence[_Comparison]], claim: Claim) -> str:
    """A sentence where medians alone would tell; empty where they would not either."""
    medians = [_verdict([pair.by_medians for pair in pairs], claim.printed) for pairs in compared.values()]
    if _common(medians) == UNTOLD:
        return ""
    return (
        f"Placement. By the medians the conclusion {medians[0]}, but the difference is smaller than what "
        "the code's place in the flash does."
    )


def _common(verdicts: Iterable[Verdict]) -> Verdict:
    """The word of all, where it is one."""
    words = set(verdicts)
    return words.pop() if len(words) == 1 else UNTOLD


def _verdict(verdicts: Sequence[Verdict], printed: bool) -> Verdict:
    """Holds if all do; reverses if more than half do, of printed figures if any does."""
    if verdicts.count(HOLDS) == len(verdicts):
        return HOLDS
    return REVERSES if verdicts.count(REVERSES) > (0 if printed else len(verdicts) / 2) else UNTOLD


def _sentence(compared: Mapping[str, Sequence[_Comparison]], verdicts: Mapping[str, Verdict]) -> str:
    """The figures of the first variant, and which others say the same."""
    first, *others = compared
    same = [name for name in others if verdicts[name] == verdicts[first]]
    different = [f"{name}: {verdicts[name]}" for name in others if verdicts[name] != verdicts[first]]
    words = f"{_counted(compared[first])}{f' [{first}]' if others else ''}"
    words += f"; so also {', '.join(same)}" if same else ""
    words += f"; but {', '.join(different)} (first: {verdicts[first]})" if different else ""
    return f"{words}."


def _counted(compared: Sequence[_Comparison]) -> str:
    """A single comparison; or how many come out how, and which decides."""
    if len(compared) == 1:
        return str(compared[0])
    counts = Counter(pair.verdict for pair in compared)
    words = f"{counts[HOLDS]} of {len(compared)} comparisons come out so"
    words += f", {counts[REVERSES]} the other way" if counts[REVERSES] else ""
    words += f", {counts[UNTOLD]} too near" if counts[UNTOLD] else ""
    decides = next((pair for pair in compared if pair.verdict != HOLDS), compared[0])
    where = f"{decides.part.title}: " if len({pair.part.title for pair in compared}) > 1 else ""
    return f"{words}; {where}{decides}"


def _cause(claim: Claim, verdict: Verdict, made: Beside) -> str:
    """The cause, each witness's figure in place of its name in braces; empty where the witnesses
    here do not show it.
    """
    witnesses = made.remade.witnesses
    for cause in claim.cause:
        lesser, greater = witnesses.get(cause.lesser), witnesses.get(cause.greater)
        if cause.when == verdict and lesser and greater and judge(lesser, greater) == HOLDS:
            return re.sub(r"\{([^{}]+)\}", lambda name: figure(witnesses[name[1]].value, ""), cause.says)
    return ""


def _compared(made: Beside, claim: Claim, variant: str) -> Iterator[_Comparison]:
    """All comparisons that the claim makes, of which both figures were made."""
    for part in made.table.part:
        if claim.parts and part.title not in claim.parts:
            continue
        if claim.printed:
            for pair in made.of(part, variant):
                line = pair.row if claim.of == "columns" else pair.column
                if pair.here and pair.published is not None and line in (claim.along or [line]):
                    printed = MadeFigure(pair.published, 1, pair.here.resolution)
                    equal = pair.difference == 0 and pair.here.least == pair.here.most
                    verdict = HOLDS if equal else REVERSES
                    names, figures_here = (f"{pair.row} here", "printed"), (pair.here, printed)
                    yield _Comparison(part, pair.column, names, figures_here, pair.unit, verdict, verdict)
            continue
        figures = {(pair.row, pair.column): pair.here for pair in made.of(part, variant) if pair.here}
        lines = claim.along or (part.columns if claim.of == "rows" else part.rows)
        ascending = chain.from_iterable(starmap(product, pairwise(claim.ascending)))
        for line, names in product(lines, [*ascending, *combinations(claim.equal, 2)]):
            places = [(name, line) if claim.of == "rows" else (line, name) for name in names]
            lesser, greater = map(figures.get, places)
            if lesser and greater:
                alike = bool(claim.equal)
                yield _Comparison(
                    *(part, line, names, (lesser, greater), part.unit_of(places[0][1])),
                    judge(lesser, greater, alike),
                    judge(replace(lesser, placements=0), replace(greater, placements=0), alike),
                )


def judge(lesser: MadeFigure, greater: MadeFigure, alike: bool = False) -> Verdict:
    """The verdict on `lesser` being below `greater`; with `alike` on both being equal.

    Figures of the same seeds are compared seed by seed. Of others the difference must not be less
    than half a step of both together; nor may the ranges of their placements meet.
    """
    paired = 1 < len(lesser.samples) == len(greater.samples)
    if paired:
        signs = [(b > a) - (b < a) for a, b in zip(lesser.samples, greater.samples, strict=True)]
    else:
        off = (lesser.resolution + greater.resolution) / 2
        rises, falls = _gap(lesser, greater), _gap(greater, lesser)
        signs = [(rises > 0 and rises >= off) - (falls > 0 and falls >= off)]
    if alike:
        return REVERSES if any(signs) else HOLDS if lesser.value == greater.value else UNTOLD
    balance, decided = sum(signs), len(signs) - signs.count(0)
    # Of seeds one sign must prevail, by the sign test; those that tell nothing are left out.
    if not balance or (paired and binomtest(signs.count(1), decided).pvalue >= _LEVEL):
        return UNTOLD
    return HOLDS if balance > 0 else REVERSES


def _gap(lesser: MadeFigure, greater: MadeFigure) -> float:
    """How far all that `greater` may be lies above all that `lesser` may be; negative if it does
    not.
    """
    most = lesser.most if lesser.placements > 1 else None
    least = greater.least if greater.placements > 1 else None
    return (greater.value if least is None else least) - (lesser.value if most is None else most)


# How far the figures agree: by difference, by order, or by range.


_LEAST_PAIRS = 4
"""An order of fewer says nothing."""


def headline(made: Beside) -> str:
    """The result in some words, for the list of all tables."""
    if made.table.compared == "nothing":
        return "nothing to compare"
    if not made.remade.variants:
        return "not made here yet"
    variant = next(iter(made.remade.variants))
    first = [pair for pair in made.pairs if pair.variant == variant]
    compared = [pair for pair in first if pair.difference is not None]
    if made.table.compared == "exactly":
        equal = sum(pair.difference == 0 for pair in compared)
        return f"{_of(equal, len(compared))} equal"
    if made.table.compared == "as difference":
        return f"{_spread(compared)} ({len(compared)} figures)"
    if made.table.compared == "as a bound":
        values = {(pair.row, pair.column): pair.here.value for pair in first if pair.here}
        bounds = {row: value for (row, column), value in values.items() if column == "by the formula"}
        below = sum(values[row, "used"] <= value for row, value in bounds.items())
        return f"{_of(below, len(bounds))} within the formula"
    ranks = _ranks(list(_orders(made, variant)))
    if made.table.compared == "by order":
        return ranks
    within = [pair.within for pair in compared if pair.within is not None]
    return f"{_of(sum(within), len(within))} within the range; {ranks}"


Order = tuple[float, int]
"""Spearman's coefficient, not a number where all are equal, and of how many."""


def _orders(made: Beside, variant: str) -> Iterator[Order]:
    """The order of each column over the allocators that both have, without doubtful figures.

    A part of one row has one order, of its columns.
    """
    for part in made.table.part:
        pairs = [pair for pair in made.of(part, variant) if pair.difference is not None and not pair.doubtful]
        alone = len(part.rows) == 1
        for column in part.columns[: 1 if alone else None]:
            group = [pair for pair in pairs if alone or pair.column == column]
            if len(group) >= _LEAST_PAIRS and (alone or all(pair.allocator for pair in group)):
                theirs = [pair.published for pair in group]
                ours = [pair.here.value for pair in group if pair.here]
                flat = len(set(theirs)) == 1 or len(set(ours)) == 1
                yield nan if flat else float(spearmanr(theirs, ours).statistic), len(group)


def _ranks(orders: Sequence[Order]) -> str:
    if not orders:
        return "too few to rank"
    values = [coefficient for coefficient, _ in orders if not isnan(coefficient)]
    counts = [count for _, count in orders]
    numbers = "–".join(str(count) for count in dict.fromkeys((min(counts), max(counts))))
    return f"ρ {_edges(values, '.2f') if values else '–'} (n = {numbers})"


def _spread(own: Sequence[Pair]) -> str:
    """The least and the greatest deviation; of bytes and of published zeros the difference."""
    equal = sum(pair.difference == 0 for pair in own)
    bytes_ = [pair.difference for pair in own if pair.difference is not None and pair.unit == BYTES]
    if bytes_:
        return f"{_of(equal, len(own))} equal, {_edges(bytes_, ',.0f')} bytes"
    shares = [pair.deviation_percent for pair in own if pair.deviation_percent is not None]
    zeros = [pair.difference for pair in own if pair.published == 0 and pair.difference]
    words = [f"{_edges(shares, '.1f')} %"] if shares else []
    words += [f"{signed(max(zeros, key=abs), '.1f')} from zero"] if zeros else []
    return ", ".join(words) or "none"


def _edges(values: Sequence[float], form: str) -> str:
    return " to ".join(dict.fromkeys((signed(min(values), form), signed(max(values), form))))


def _of(some: int, all_of_them: int) -> str:
    return f"all {all_of_them}" if some == all_of_them else f"{some} of {all_of_them}"
