"""What a user may choose on the command line beside scenario and allocator."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from base.run_folder.manifest import Optimization


@dataclass(frozen=True)
class Options:
    """What the user chose, as `./lab scenario` takes it.

    None leaves the choice to bench.toml or to the scenario. `boards` are run on one after the
    other. `knobs` are numbers of the heap's
    build. `duration_s` is that of the capture. `art_states` are the states of the flash accelerator
    (prefetch and caches) to run with. `records` says what carries the records, one of
    scenarios.operations.RECORDS. `lockings` are the locks of the heap; None is the allocator's
    default. `optimizations` are GCC's -O of the firmware. `heap_bytes` is the size of the heap's
    region. `capture` is sigrok, the real tools, or direct, the virtual board itself; None is sigrok
    where that is installed.
    `placements` is how many times each image is linked, the first as it is. `ignore_glitches`
    leaves out pulses that are too short to be the firmware's. `stored` takes a run that is stored
    already, complete and the same to the byte of firmware and operations, for one to make.
    `explained` keeps why the worst of each kind took so long.
    """

    parameters: dict[str, str | int] = field(default_factory=dict)
    knobs: dict[str, int] = field(default_factory=dict)
    boards: tuple[str | None, ...] = (None,)
    samplerate_hz: int | None = None
    stimulus: str | None = None
    seed: int | None = None
    duration_s: float | None = None
    art_states: tuple[bool, ...] = (True,)
    records: str = "uart"
    lockings: tuple[str | None, ...] = (None,)
    optimizations: tuple[Optimization, ...] = ("2",)
    heap_bytes: int | None = None
    capture: str | None = None
    placements: int = 1
    ignore_glitches: bool = False
    stored: bool = False
    explained: bool = True


def recorded(trace: Path | None, scale: int | None) -> dict[str, str | int]:
    """The parameters of the scenario `recorded` by which it replays a trace, as far as given."""
    return {
        **({"trace": str(trace)} if trace else {}),
        **({"scale": scale} if scale is not None else {}),
    }
