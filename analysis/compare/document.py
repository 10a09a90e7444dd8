"""A comparison as JSON (docs/how-to/compare.md).

**Ways.** `exact`: both runs are of the virtual board (`tools` has `virtual_nucleo`, `imported` is
null), at one samplerate; each difference counts. `budgets`: all others; the budget of a difference
is the sum of both runs' (`error_budget`, *total*).

    schema                        1
    a, b                          the folders, as they were given
    status                        of all pairs, below
    headline                      one sentence
    confidence                    of the intervals
    pairs [{
      a, b {folder, scenario, allocator, configuration, board, verdict, operations}
      paired_by                   "given", "options" or "scenario"
      way                         "exact" or "budgets"
      status, headline
      doubts[]                    sentences on why B cannot be judged
      notes[]                     sentences that must be known beside the figures
      settings [{name, a, b, tool}]
      worst [{quantity, unit, a, b {value, seq, kind, size, label, times}, change, percent, budget,
              chance_p, moved, finding, sentence}]
      operations {joined, only_a, only_b, changed, first, other_outcome[], met_otherwise,
                  columns [{column, unit, changed, total, first, increase, decrease,
                            met_alike {changed, increase, decrease}}]
                  kinds [{kind, n, changed, dwt_cycles}]}
      placements [{quantity, unit, a, b {n, least, median, greatest}, smaller_than_placement}]
      distributions [{quantity, unit, a, b {n, min, mean, …, max}, budget, delta, shift,
                      delta_interval, shift_interval, no_interval, undecided, beyond}]
    }]
    only_a[], only_b[]            runs without a partner, as a and b above
    older_a, older_b              how many runs a later one with the same options stands for
    unreadable[], left_out[]      sentences

- *settings* are those that differ; null is what a run does not tell. *tool* is true of the version
  of a tool of the host.
- *worst* has the maxima of `section_ns`, `critical_ns`, `free_critical_ns`, `interrupt_latency_ns`,
  `task_latency_ns`, `control_latency_ns`, `dwt_cycles`, `free_dwt_cycles` and `probes` (run.json),
  of those that a run has. *change* is B less A, *percent* of A. *seq* is null outside all
  operations. *moved*: another operation is the worst.
- *finding*: `equal`; `within the budgets`; `better` or `worse`; `chance`: beyond the budget, but
  not surely more than chance; `not told`: a run has no sample, or no budget.
- *operations* is null if the images differ: the SHA-256 of their entries, or `image_crc32` if a
  folder has no image. It is joined by `seq`. A column that is null in all rows of a run is left
  out.
- *changed* of operations: another outcome, or a column that differs by more than its budget; the
  whole operation on the wire has that of the critical section.
- *first*, *increase* and *decrease* are null or `{seq, kind, size, label, a, b, change}`; *total*
  is the sum of all changes.
- *met_otherwise* counts the changed ones with another `isr_hits` or `control_hits`; *met_alike* is
  of the others.
- *kinds* is by the outcome in A; its *dwt_cycles* is the sum of all changes.
- *placements* has the worst cases of runs that both have `placements.json`.
  *smaller_than_placement*: they differ, and the ranges meet; then *notes* has a sentence.
- *delta* and *shift* (Cliff, Hodges–Lehmann) are of B against A, null on the way `exact`. The
  intervals are null if *no_interval* says why. *beyond*: the interval of the shift, or the shift if
  there is none, lies outside plus or minus *budget*, and *undecided* is 0.
- *undecided* is of the latencies that are split by what was hit. It counts the interrupts of both
  runs of which the wire does not tell whether they belong (interrupts). It is 0 if the medians
  differ by more than the budget however these are decided. If they hide a difference, *notes* has a
  sentence. No worst case has such samples.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from analysis.compare.compared import Compared, Comparison
from analysis.compare.operations import Changed, Moved, Operations
from analysis.compare.pairing import Run, Stored
from analysis.compare.sentences import headline, overall, worst_sentence
from analysis.compare.worst import Distribution, Worst
from base.metrology.summaries import CONFIDENCE

SCHEMA = 1


def as_json(comparison: Comparison) -> dict[str, Any]:
    """The whole document."""
    return {
        "schema": SCHEMA,
        "a": str(comparison.a.path),
        "b": str(comparison.b.path),
        "status": comparison.status,
        "headline": overall(comparison),
        "confidence": CONFIDENCE,
        "pairs": [_pair(comparison) for comparison in comparison.compared],
        "only_a": [_stored(comparison) for comparison in comparison.pairing.only_a],
        "only_b": [_stored(comparison) for comparison in comparison.pairing.only_b],
        "older_a": comparison.pairing.older["a"],
        "older_b": comparison.pairing.older["b"],
        "unreadable": list(comparison.unreadable),
        "left_out": list(comparison.left_out),
    }


def _pair(comparison: Compared) -> dict[str, Any]:
    return {
        "a": _run(comparison.a),
        "b": _run(comparison.b),
        "paired_by": comparison.pair.by,
        "way": comparison.way,
        "status": comparison.status,
        "headline": headline(comparison),
        "doubts": list(comparison.doubts),
        "notes": list(comparison.notes),
        "settings": [asdict(change) for change in comparison.settings],
        "worst": [_worst(worst) for worst in comparison.worst],
        "operations": None if comparison.operations is None else _operations(comparison.operations),
        "placements": [each.as_json() for each in comparison.placements],
        "distributions": [_distribution(each) for each in comparison.distributions],
    }


def _run(run: Run) -> dict[str, Any]:
    return {**_stored(run.stored), "verdict": run.manifest.verdict, "operations": run.operations.height}


def _stored(stored: Stored) -> dict[str, Any]:
    manifest = stored.manifest
    return {
        "folder": str(stored.folder),
        "scenario": manifest.scenario,
        "allocator": manifest.allocator,
        "configuration": manifest.configuration,
        "board": manifest.board,
    }


def _worst(worst: Worst) -> dict[str, Any]:
    return {
        "quantity": worst.quantity.key,
        "unit": worst.quantity.unit,
        "a": asdict(worst.a) if worst.a else None,
        "b": asdict(worst.b) if worst.b else None,
        "change": worst.change,
        "percent": worst.percent,
        "budget": worst.budget,
        "chance_p": worst.chance_p,
        "moved": worst.moved,
        "finding": worst.finding,
        "sentence": worst_sentence(worst),
    }


def _operations(operations: Operations) -> dict[str, Any]:
    return {**asdict(operations), "columns": [_changed(change) for change in operations.columns]}


def _changed(change: Changed) -> dict[str, Any]:
    return {
        "column": change.column.name,
        "unit": change.column.unit,
        "changed": change.changed,
        "total": change.total,
        "first": _moved(change.first),
        "increase": _moved(change.increase),
        "decrease": _moved(change.decrease),
        "met_alike": {
            "changed": change.met_alike,
            "increase": _moved(change.increase_met_alike),
            "decrease": _moved(change.decrease_met_alike),
        },
    }


def _moved(move: Moved | None) -> dict[str, Any] | None:
    return None if move is None else {**asdict(move), "change": move.change}


def _distribution(distribution: Distribution) -> dict[str, Any]:
    effect = asdict(distribution.effect) if distribution.effect else {}
    intervals = {} if distribution.no_interval else effect
    return {
        "quantity": distribution.quantity.key,
        "unit": distribution.quantity.unit,
        "a": distribution.a.model_dump(),
        "b": distribution.b.model_dump(),
        "budget": distribution.budget,
        **{name: effect.get(name) for name in ("delta", "shift")},
        **{name: intervals.get(name) for name in ("delta_interval", "shift_interval")},
        "no_interval": distribution.no_interval or None,
        "undecided": distribution.undecided,
        "beyond": distribution.beyond,
    }
