"""What becomes of each conclusion of a publication here: it holds, reverses, or cannot be told.

The word is computed from the figures that were made here, and from how well they are known.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, product
from typing import TypeAlias

from scipy.stats import binomtest

from studies.reproduce.beside import Beside, figure, ranged
from studies.reproduce.published import Claim, Part, Verdict
from studies.reproduce.remade import MadeFigure

HOLDS: Verdict = "holds"
REVERSES: Verdict = "reverses"
UNTOLD: Verdict = "cannot be told"

_LEVEL = 0.01
"""Of the sign test over seeds: as often two equal allocators would be told apart."""

Uncertainty: TypeAlias = Callable[[MadeFigure], float]
"""How far a figure may lie from what it stands for, either way, in its unit."""


def resolution_alone(found: MadeFigure) -> float:
    """Half a step of the figure."""
    return found.resolution / 2


@dataclass(frozen=True)
class Conclusion:
    """What the publication says, what becomes of it, the figures behind the word, and the cause
    where it is known and shown.
    """

    says: str
    verdict: Verdict
    told: str
    cause: str = ""


@dataclass(frozen=True)
class _Comparison:
    """Two figures that the claim puts in an order, or (`alike`) equals.

    `by_medians` is the verdict that they would have if it did not matter where the code lies.
    """

    part: Part
    along: str
    names: tuple[str, str]
    found: tuple[MadeFigure, MadeFigure]
    unit: str
    verdict: Verdict
    by_medians: Verdict

    def __str__(self) -> str:
        values = (
            ranged(one, self.unit) if one.placements > 1 else figure(one.value, self.unit)
            for one in self.found
        )
        told = ", ".join(f"{name} {value}" for name, value in zip(self.names, values, strict=True))
        return f"{told} ({self.along})"


def conclusions(made: Beside, uncertainty: Uncertainty = resolution_alone) -> list[Conclusion]:
    """One for each claim of the table."""
    return [_conclusion(made, claim, uncertainty) for claim in made.table.claim]


def summary(found: Sequence[Conclusion]) -> str:
    """How many of each word: `holds`, or `2 hold, 1 reverses`; empty if there are none."""
    counts = Counter(one.verdict for one in found)
    if len(counts) == 1:
        return next(iter(counts))
    plural = {HOLDS: ("holds", "hold"), REVERSES: ("reverses", "reverse"), UNTOLD: (UNTOLD, UNTOLD)}
    return ", ".join(f"{counts[word]} {plural[word][counts[word] > 1]}" for word in plural if counts[word])


def _conclusion(made: Beside, claim: Claim, uncertainty: Uncertainty) -> Conclusion:
    if made.remade is None:
        why = made.table.reason.split(". ")[0].rstrip(".") or "It was not made here"
        return Conclusion(claim.says, UNTOLD, f"{why}.")
    if not (claim.ascending or claim.equal or claim.printed):
        return Conclusion(claim.says, UNTOLD, "It states nothing that a figure could show.")
    judged = made.remade.judged or made.variants()[:1]
    compared = {name: list(_compared(made, claim, name, uncertainty)) for name in judged}
    compared = {name: found for name, found in compared.items() if found}
    if not compared:
        return Conclusion(claim.says, UNTOLD, "Nothing of it was made here.")
    verdicts = {name: _verdict(found, claim.printed) for name, found in compared.items()}
    words = set(verdicts.values())
    verdict = words.pop() if len(words) == 1 else UNTOLD
    cause = (_placement(compared, claim) if verdict == UNTOLD else "") or _cause(claim, verdict, made)
    return Conclusion(claim.says, verdict, _told(compared, verdicts), cause)


def _placement(compared: Mapping[str, Sequence[_Comparison]], claim: Claim) -> str:
    """A sentence where medians alone would tell; empty where they would not either."""
    words = {
        _verdict([replace(one, verdict=one.by_medians) for one in found], claim.printed)
        for found in compared.values()
    }
    hidden = [one for found in compared.values() for one in found if one.verdict != one.by_medians]
    if len(words) > 1 or UNTOLD in words or not hidden:
        return ""
    first = hidden[0]
    ranges = " and ".join(
        f"{name} from {figure(one.least, first.unit)} to {figure(one.most, first.unit)}"
        for name, one in zip(first.names, first.found, strict=True)
    )
    return (
        f"Placement. By the medians the conclusion {words.pop()}, but the difference is smaller than what "
        f"the code's place in the flash does: it takes {ranges} ({first.along})."
    )


def _verdict(compared: Sequence[_Comparison], printed: bool) -> Verdict:
    """Holds if all do; reverses if more than half do, of printed figures if one does."""
    counts = Counter(one.verdict for one in compared)
    if counts[HOLDS] == len(compared):
        return HOLDS
    return REVERSES if counts[REVERSES] > (0 if printed else len(compared) / 2) else UNTOLD


def _told(compared: Mapping[str, Sequence[_Comparison]], verdicts: Mapping[str, Verdict]) -> str:
    """The figures of the first variant, and which others say the same."""
    first, *others = compared
    same = [name for name in others if verdicts[name] == verdicts[first]]
    different = [f"{name}: {verdicts[name]}" for name in others if verdicts[name] != verdicts[first]]
    told = f"{_counted(compared[first])}{f' [{first}]' if others else ''}"
    told += f"; so also {', '.join(same)}" if same else ""
    told += f"; but {', '.join(different)} (first: {verdicts[first]})" if different else ""
    return f"{told}."


def _counted(compared: Sequence[_Comparison]) -> str:
    """The one comparison; or how many come out how, and the one that decides."""
    if len(compared) == 1:
        return str(compared[0])
    counts = Counter(one.verdict for one in compared)
    told = f"{counts[HOLDS]} of {len(compared)} comparisons come out so"
    told += f", {counts[REVERSES]} the other way" if counts[REVERSES] else ""
    told += f", {counts[UNTOLD]} too near" if counts[UNTOLD] else ""
    decides = next((one for one in compared if one.verdict != HOLDS), compared[0])
    where = f"{decides.part.title}: " if len({one.part.title for one in compared}) > 1 else ""
    return f"{told}; {where}{decides}"


def _cause(claim: Claim, verdict: Verdict, made: Beside) -> str:
    """Empty where none is known, or the witnesses here do not show it."""
    witnesses = made.remade.witnesses if made.remade else {}
    for cause in claim.cause:
        lesser, greater = witnesses.get(cause.lesser), witnesses.get(cause.greater)
        if cause.when == verdict and lesser and greater and judge(lesser, greater) == HOLDS:
            return _with_figures(cause.says, witnesses)
    return ""


def _with_figures(says: str, witnesses: Mapping[str, MadeFigure]) -> str:
    """The sentence with the figure of each witness in place of its name in braces."""
    return re.sub(r"\{([^{}]+)\}", lambda named: figure(witnesses[named[1]].value, ""), says)


def _compared(made: Beside, claim: Claim, variant: str, uncertainty: Uncertainty) -> Iterator[_Comparison]:
    """All comparisons that the claim makes, of which both figures were made."""
    for part in made.table.part:
        if claim.parts and part.title not in claim.parts:
            continue
        if claim.printed:
            yield from _as_printed(made, claim, part, variant)
            continue
        figures = {(pair.row, pair.column): pair.found for pair in made.of(part, variant) if pair.found}
        lines = part.columns if claim.of == "rows" else list(part.rows)
        for line in claim.along or lines:
            for names in _pairs(claim):
                places = [(name, line) if claim.of == "rows" else (line, name) for name in names]
                found = [figures.get(place) for place in places]
                if found[0] is not None and found[1] is not None:
                    both = (found[0], found[1])
                    medians = (_median(both[0]), _median(both[1]))
                    verdicts = [judge(*one, uncertainty, bool(claim.equal)) for one in (both, medians)]
                    yield _Comparison(part, line, names, both, part.unit_of(places[0][1]), *verdicts)


def _pairs(claim: Claim) -> Iterator[tuple[str, str]]:
    for lower, upper in pairwise(claim.ascending):
        yield from product(lower, upper)
    yield from combinations(claim.equal, 2)


def _as_printed(made: Beside, claim: Claim, part: Part, variant: str) -> Iterator[_Comparison]:
    for pair in made.of(part, variant):
        line = pair.row if claim.of == "columns" else pair.column
        if pair.found is None or pair.published is None or (claim.along and line not in claim.along):
            continue
        printed = MadeFigure(pair.published, 1, pair.found.resolution)
        is_it = pair.difference == 0 and (pair.found.least is None or pair.found.constant)
        names = (f"{pair.row} here", "printed")
        verdict = HOLDS if is_it else REVERSES
        yield _Comparison(part, pair.column, names, (pair.found, printed), pair.unit, verdict, verdict)


def _median(found: MadeFigure) -> MadeFigure:
    """The figure as if it did not matter where the code lies."""
    return replace(found, least=None, most=None) if found.placements > 1 else found


def judge(
    lesser: MadeFigure,
    greater: MadeFigure,
    uncertainty: Uncertainty = resolution_alone,
    alike: bool = False,
) -> Verdict:
    """The verdict on `lesser` being below `greater`; with `alike` on both being equal.

    Figures of the same seeds are compared seed by seed. Of others the difference must not be less
    than both uncertainties together; nor may the ranges of their placements meet.
    """
    paired = 1 < len(lesser.samples) == len(greater.samples)
    if paired:
        signs = [(b > a) - (b < a) for a, b in zip(lesser.samples, greater.samples, strict=True)]
    else:
        off = uncertainty(lesser) + uncertainty(greater)
        rises, falls = (_gap(one, other) for one, other in ((lesser, greater), (greater, lesser)))
        signs = [(rises > 0 and rises >= off) - (falls > 0 and falls >= off)]
    if alike:
        return _alike(signs, lesser.value == greater.value)
    if paired and not _is_certain(signs):
        return UNTOLD
    return {1: HOLDS, 0: UNTOLD, -1: REVERSES}[(sum(signs) > 0) - (sum(signs) < 0)]


def _gap(lesser: MadeFigure, greater: MadeFigure) -> float:
    """How far all that `greater` may be lies above all that `lesser` may be; negative if it does
    not.
    """
    most = lesser.most if lesser.placements > 1 else None
    least = greater.least if greater.placements > 1 else None
    return (greater.value if least is None else least) - (lesser.value if most is None else most)


def _alike(signs: Sequence[int], equal: bool) -> Verdict:
    if any(signs):
        return REVERSES
    return HOLDS if equal else UNTOLD


def _is_certain(signs: Sequence[int]) -> bool:
    """Whether one sign prevails, by the sign test; seeds that tell nothing are left out."""
    told = [sign for sign in signs if sign]
    return bool(told) and bool(binomtest(told.count(1), len(told)).pvalue < _LEVEL)
