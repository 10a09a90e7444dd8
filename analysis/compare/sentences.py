"""A comparison in sentences. A reads before B."""

from __future__ import annotations

from collections import Counter

from analysis.compare.compared import Compared, Comparison
from analysis.compare.pairing import Stored
from analysis.compare.values import short, signed, spaced
from analysis.compare.worst import Extreme, Worst
from base.metrology.summaries import CONFIDENCE

_MINUS = "\N{MINUS SIGN}"


def headline(compared: Compared) -> str:
    """One pair in one sentence."""
    if compared.status == "cannot say":
        return (
            " ".join(compared.doubts) or "The runs have no worst case in common: there is nothing to compare."
        )
    if compared.status == "equal":
        n = compared.operations.joined if compared.operations else 0
        what = "equal to the cycle" if compared.way == "exact" else "no difference beyond the budgets"
        return f"{what}, {_counted(n, 'operation')}"
    for finding in ("worse", "better", "chance"):
        leading = next((worst for worst in compared.worst if worst.finding == finding), None)
        if leading:
            return f"{worst_sentence(leading)}{_operations(compared)}"
    exact = compared.way == "exact"
    what = "no worst case changed" if exact else "no difference beyond the budgets in a worst case"
    return f"{what}{_operations(compared)}"


def overall(comparison: Comparison) -> str:
    """All pairs in one sentence."""
    if len(comparison.compared) == 1 and not comparison.unreadable:
        return headline(comparison.compared[0])
    counts = Counter(comparison.status for comparison in comparison.compared)
    if not comparison.compared:
        return (
            f"No run of {comparison.a.path} has its like in {comparison.b.path}: there is nothing to compare."
        )
    sentence = ", ".join(
        f"{counts[status]:,} {status}"
        for status in ("worse", "cannot say", "not worse", "equal")
        if counts[status]
    )
    unread = (
        f"; {_counted(len(comparison.unreadable), 'run')} could not be read" if comparison.unreadable else ""
    )
    return f"{_counted(len(comparison.compared), 'pair')} of runs: {sentence}{unread}."


def described(stored: Stored) -> str:
    """A run by what it was and where it is."""
    manifest = stored.manifest
    verdict = "" if manifest.complete else f" ({manifest.verdict})"
    return f"{manifest.scenario}, {manifest.configuration}, {manifest.board}: {stored.folder}{verdict}"


def remarks(compared: Compared) -> list[str]:
    """What must be known beside the figures of a pair; what the headline says is left out."""
    sentences = []
    if compared.pair.by == "scenario":
        sentences.append("Their options differ; each is the only run left of its scenario.")
    return [*sentences, *compared.notes, *(compared.doubts if compared.status != "cannot say" else ())]


def effects(compared: Compared) -> list[str]:
    """How to read the effects that are estimated, and why there are no intervals."""
    if compared.way == "exact":
        return []
    return [
        "Cliff's delta: the share of pairs in which B's sample is greater, less that in which A's is. "
        f"Shift: the Hodges–Lehmann estimate of B less A. In brackets {100 * CONFIDENCE:g} % intervals.",
        *dict.fromkeys(
            distribution.no_interval for distribution in compared.distributions if distribution.no_interval
        ),
    ]


def left_out(comparison: Comparison) -> list[str]:
    """The runs that are in no pair, and why."""
    return [
        *(f"Only in A: {described(stored)}" for stored in comparison.pairing.only_a),
        *(f"Only in B: {described(stored)}" for stored in comparison.pairing.only_b),
        *(
            f"Of {side} {_counted(count, 'older run')} with the same options "
            f"{'is' if count == 1 else 'are'} not compared."
            for side, count in (("A", comparison.pairing.older["a"]), ("B", comparison.pairing.older["b"]))
            if count
        ),
        *(f"Not compared: {sentence}" for sentence in (*comparison.unreadable, *comparison.left_out)),
    ]


def worst_sentence(worst: Worst) -> str:
    """`worst interrupt latency: 35.80 → 34.92 µs (−0.88 µs, −2.5 %), operation 311`."""
    if worst.a is None or worst.b is None or worst.change is None:
        return f"{worst.words}: not told by both"
    unit = worst.quantity.unit
    ours, theirs = (end.at_least + short(end.value, unit) for end in (worst.a, worst.b))
    if worst.finding == "equal":
        return f"{worst.words}: {ours}{spaced(unit)} in both{_place(worst)}"
    return f"{worst.words}: {ours} → {theirs}{spaced(unit)} ({by(worst)}){_place(worst)}{_weight(worst)}"


def by(worst: Worst) -> str:
    """`−0.88 µs, −2.5 %`."""
    percent = "" if worst.percent is None else f", {_percent(worst.percent)}"
    unit = worst.quantity.unit
    return f"{signed(worst.change or 0, unit)}{spaced(unit)}{percent}"


def where(worst: Worst) -> str:
    """`operation 311`, or `operation 12 → 311` if another one is the worst in B."""
    if worst.a is None or worst.b is None:
        return "–"
    ours, theirs = _named(worst.a), _named(worst.b)
    return f"{ours} → {theirs.removeprefix('operation ')}" if worst.moved else theirs


def _percent(value: float) -> str:
    text = f"{value:+,.1f}" if abs(value) >= 0.1 else f"{value:+.1g}"
    return f"{text} %".replace("-", _MINUS)


def _place(worst: Worst) -> str:
    if worst.a is None or worst.b is None:
        return ""
    before = f", in A {_named(worst.a)}" if worst.moved else ""
    return f", {_named(worst.b)}{before}"


def _named(extreme: Extreme) -> str:
    refused = ", refused" if extreme.kind == "O" else ""
    return "between operations" if extreme.seq is None else f"operation {extreme.seq:,}{refused}"


def _weight(worst: Worst) -> str:
    if worst.finding == "within the budgets":
        unit = worst.quantity.unit
        return f": no difference beyond the budgets (± {short(worst.budget or 0, unit)}{spaced(unit)})"
    if worst.finding == "chance":
        return ", which may be chance: stimuli fell otherwise"
    return ""


def _operations(compared: Compared) -> str:
    operations = compared.operations
    if operations is None:
        return ""
    changed = f"{operations.changed:,}" if operations.changed else "none"
    return f"; {changed} of {_counted(operations.joined, 'operation')} changed"


def _counted(n: int, word: str) -> str:
    return f"{n:,} {word}" if n == 1 else f"{n:,} {word}s"
