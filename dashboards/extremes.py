"""A run's distributions: the extreme-value estimate in words, and files for HdrHistogram's tools.

The estimate stands behind tests of its assumptions, and is never a headline.
"""

from __future__ import annotations

import re
from pathlib import Path

from base.files.errors import RunError
from base.files.whole import write_bytes
from base.metrology.extremes import estimate
from base.metrology.quantiles import percentile_distribution
from base.metrology.summaries import CONFIDENCE
from base.microseconds import unit_read
from base.run_folder import folder as names
from base.run_folder.edges import MOST_ROWS_READ
from base.run_folder.named_quantities import CHOICE, NAMED
from base.run_folder.observed import read_observed_manifest
from base.run_folder.tables import SPANS, read_table
from dashboards.formatting import short
from dashboards.loaded.runs import ALL, load_run, samples


def as_text(folder: Path, word: str) -> str:
    """A text on what the samples say of values beyond the greatest. Raises RunError.

    `word` is one of named_quantities, or the key of any statistic of run.json.
    """
    key = NAMED[word].key if word in NAMED else word
    quantity = next((quantity for quantity in ALL if quantity.key == key), None)
    if quantity is None:
        keys = ", ".join(quantity.key for quantity in ALL)
        raise RunError(f"There is no quantity {word!r}; choose {CHOICE}, or a statistic of run.json: {keys}.")
    run = load_run(folder)
    if not run.manifest.complete:
        raise RunError(f"{run.id} is {run.manifest.verdict}; an estimate needs a run that is complete.")
    values = samples(run, quantity)[quantity.column].to_numpy()
    levels = estimate(values, ramp=run.manifest.ramp)
    sign, unit = run.summary(quantity).at_least, quantity.unit
    greatest = sign + short(values.max(), unit) if len(values) else "none"
    head = f"{quantity.words} of {run.id}: n = {len(values):,}, greatest {greatest} {unit_read(unit)}"
    tests = [f"{test.name}: statistic {test.statistic:.4g}, p = {test.p:.3g}" for test in levels.tests]
    lines = [head.rstrip(), *tests]
    if levels.refused is not None:
        return "\n".join([*lines, f"No estimate. {levels.refused}"])
    if fit := levels.fit:
        lines.append(
            f"excesses over {short(fit.threshold, unit)}: {fit.points} points, shape {fit.shape:.3f}, "
            f"scale {short(fit.scale, unit)}, p of the fit {fit.p:.3g}"
        )
        lines += [
            f"  exceeded once in {1 / exceedance:,.0f}: {short(level, unit)} {unit_read(unit)} "
            f"[{short(low, unit)}, {short(high, unit)}] at {100 * CONFIDENCE:.0f} %"
            for exceedance, (level, low, high) in fit.levels.items()
        ]
    return "\n".join([*lines, "An estimate from a model: no bound, and nothing that was seen."])


def write(run: Path, folder: Path) -> list[Path]:
    """Write `<key>.hgrm` to `folder` for each quantity that has samples; return the files.

    Of a run from the wire alone for each of its pulses and latencies. The files of a run that is
    not complete have its verdict in their names. Raises RunError, WriteError.
    """
    if names.is_observed(run):
        return _write_observed(run, folder)
    loaded = load_run(run)
    verdict = "" if loaded.manifest.complete else f"-{loaded.manifest.verdict}"
    texts = {
        folder / f"{quantity.key}{verdict}.hgrm": percentile_distribution(
            rows[quantity.column].to_numpy(), quantity.still_open(rows)
        )
        for quantity in ALL
        if len(rows := samples(loaded, quantity))
    }
    return [write_bytes(path, text.encode("ascii")) for path, text in texts.items()]


def _write_observed(run: Path, folder: Path) -> list[Path]:
    """A wait that was not over counts with what it had lasted, as in the files of other runs."""
    manifest = read_observed_manifest(run / names.MANIFEST)
    if manifest.kept:
        raise RunError(f"{run} kept only windows, not each pulse; observe without --keep for histograms.")
    spans = read_table(run / names.SPANS, SPANS, MOST_ROWS_READ)
    verdict = "" if manifest.verdict == "complete" else f"-{manifest.verdict}"
    written: list[Path] = []
    for name in dict.fromkeys([*spans["of"], *manifest.open_ns]):
        still_open = [manifest.open_ns[name]] if name in manifest.open_ns else []
        values = [*spans.filter(of=name)["ns"].to_list(), *still_open]
        text = percentile_distribution(values, len(still_open))
        # A name is the user's own or a file's.
        stem = f"{len(written) + 1}-{re.sub(r'[^A-Za-z0-9_]+', '-', name).strip('-')[:80]}"
        written.append(write_bytes(folder / f"{stem}{verdict}.hgrm", text.encode("ascii")))
    return written
