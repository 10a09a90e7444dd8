"""A board that labgrid hands out: `place:NAME`, and bench.toml for what labgrid does not know."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from base.files.complaints import first_complaint, quoted, sentence
from base.files.errors import CaptureError
from capture.desk import labgrid
from capture.desk.bench import PLACE, AnalyzerResource, BoardResource, LoaderResource
from capture.desk.presets import presets

USUAL = "nucleo"
"""The board whose tables hold where bench.toml has none that is called as the place is."""


def board_at(place: str, boards: Mapping[str, BoardResource]) -> BoardResource:
    """The board of an acquired place. Raises CaptureError.

    Its serial port, analyzer and probe are labgrid's. All else is of the board of bench.toml with
    the place's name, or of `nucleo`.
    """
    name = re.sub(r"[^A-Za-z0-9_]", "_", place)[:32]
    if not place or (base := boards.get(name) or boards.get(USUAL)) is None:
        raise CaptureError(
            f"{PLACE}{place} needs a board in bench.toml, for what labgrid does not know: "
            f"call it {name or 'NAME'}."
        )
    resource = labgrid.ask(place)
    baud = resource.baud if resource.baud and base.name != name else base.baud
    return replace(
        base,
        name=name,
        emulated=None,
        loader=_loader(base.loader, resource.probe),
        serial_port=resource.serial_port or base.serial_port,
        analyzer=_analyzer(place, base.analyzer, resource.analyzer),
        baud=baud,
    )


def _loader(base: LoaderResource, probe: labgrid.Probe | None) -> LoaderResource:
    if probe is None or base.way is None:
        return base
    called = base.way.address(probe.vendor_id, probe.product_id, probe.serial_number)
    return base.model_copy(update={"probe": called})


def _analyzer(place: str, base: AnalyzerResource, analyzer: labgrid.Analyzer | None) -> AnalyzerResource:
    """The base's, at another connection; or of another driver, by the preset of that."""
    if analyzer is None:
        return base
    if analyzer.driver == base.driver:
        values: dict[str, Any] = base.model_dump(exclude_unset=True)
    else:
        preset = next(
            (key for key, row in presets().items() if row.driver == analyzer.driver and not row.refused), ""
        )
        if not preset:
            raise CaptureError(
                f"The analyzer of the place {quoted(place)} has the driver {analyzer.driver!r}, of which no "
                "preset is known: add a board of this place to bench.toml, with its analyzer."
            )
        values = {"preset": preset}
    values |= {"connection": analyzer.connection}
    values |= {"channels": dict(analyzer.channels)} if analyzer.channels else {}
    try:
        return AnalyzerResource.model_validate(values)
    except ValidationError as error:
        complaint = first_complaint(error, values)
        raise CaptureError(
            f"The analyzer of the place {quoted(place)}: {sentence(complaint, 'mend it')}"
        ) from None
