"""A run on a board, whose pins an analyzer records: of operations, or from the wire alone, of any
program, without operations and records.
"""

from __future__ import annotations

import hashlib
import io
import platform
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile

from base.files.elf import DAMAGED
from base.files.errors import CaptureError
from base.files.whole import read_bytes, why
from base.run_folder.folder import RunName
from base.run_folder.observed import KIND, SCHEMA, Asked, AskedEdges, Keep, Program
from capture.acquisition.analyzers import check_analyzer, tool_versions
from capture.acquisition.keeper import Keeping
from capture.acquisition.live import Request
from capture.acquisition.observe import Order, observe
from capture.acquisition.source import Opened, RunRequest
from capture.desk.bench import BoardResource
from capture.desk.board import RESET_WITHIN_S
from capture.desk.open_board import open_board
from capture.desk.pins import clips, places
from capture.reading.observed import USUAL, Questions


@dataclass(frozen=True)
class Sigrok:
    """The board of the request, its analyzer, and the line that carries its records."""

    request: RunRequest
    copied = True

    @property
    def name(self) -> RunName:
        """By scenario, allocator and board."""
        return self.request.name

    def check(self) -> None:
        """Raises CaptureError for a board or samplerate that there is not."""
        self.request.order()

    @contextmanager
    def open(self) -> Iterator[Opened]:
        """The board in use. A signal ends the capture, and what came is what was observed."""
        request, order = self.request, self.request.order()
        check_analyzer(request.resource, order.samplerate_hz, order.duration_s + RESET_WITHIN_S)
        with open_board(request.resource, request.records, request.image.looks) as board:
            yield Opened(
                request.account(order.analyzer.driver, {**tool_versions(order.analyzer), **board.tools()}),
                lambda folder, watch: observe(board, order, watch.step, folder, watch),
            )


NOBODY = "on_board"
"""Where other runs have the allocator's name, and no ELF file has one to give."""


@dataclass(frozen=True)
class PinsRequest(Request):
    """What is to be observed: the pin of each channel, for how long, at which samplerate.

    `elf` is loaded; None leaves the board alone. `stimulus_edges` are stimuli. `options` are those
    of the program on a virtual board (simulator.program.user_program). `keep` says which windows
    are kept; None keeps all.
    """

    resource: BoardResource
    pins: Mapping[str, str]
    elf: Path | None
    duration_s: float
    samplerate_hz: int
    stimulus_edges: AskedEdges = "both"
    questions: Questions = USUAL
    options: tuple[str, ...] = ()
    keep: Keep | None = None

    def order(self) -> Order:
        """What to capture. Raises CaptureError for more than can be."""
        return Order(
            self.resource.analyzer,
            None,
            self.samplerate_hz,
            round(self.samplerate_hz * self.duration_s),
            places(self.pins, self.resource),
            Keeping.of(self.keep, self.samplerate_hz, self.stimulus_edges, self.questions),
            elf=self.elf,
            records="none",
        )


@dataclass(frozen=True)
class Pins:
    """Pins of a board, which an analyzer records by sigrok-cli."""

    request: PinsRequest

    @property
    def copied(self) -> bool:
        """Where only windows are kept, each has a copy of its own."""
        return self.request.keep is None

    @property
    def name(self) -> RunName:
        """By program and board. No dash stands in a part, since dashes divide them."""
        elf = self.request.elf
        program = re.sub(r"[^A-Za-z0-9_.]+", "_", elf.stem)[:40] if elf else NOBODY
        return RunName("observe", program, self.request.resource.name)

    def check(self) -> None:
        """Raises CaptureError for what cannot be observed, before anything is started."""
        resource = self.request.resource
        resource.analyzer.check_rate(self.request.samplerate_hz)
        self.request.order()
        if self.request.keep and resource.analyzer.by_saleae:
            raise CaptureError(
                "Logic 2 hands its samples over at the end, so --keep would save nothing; leave it out, or "
                "capture with an analyzer that sigrok streams."
            )
        if self.request.elf is not None:
            if resource.loader.kind == "none":
                raise CaptureError(
                    f"The board {resource.name!r} has no loader in bench.toml, so --elf cannot be flashed: "
                    "load it yourself and leave out --elf."
                )
            checked_digest(self.request.elf)
        elif resource.loader.kind == "virtual-nucleo" or resource.emulated:
            raise CaptureError(
                f"Nothing is on the board {resource.name!r}, which is no real one: give a program by --elf."
            )

    @contextmanager
    def open(self) -> Iterator[Opened]:
        """The board in use. A signal ends the capture, and what came is what was observed."""
        request, order = self.request, self.request.order()
        resource, elf = request.resource, request.elf
        duration_s = request.duration_s + (RESET_WITHIN_S if elf else 0.0)
        check_analyzer(resource, request.samplerate_hz, duration_s)
        clipped = clips(request.pins, resource)
        with open_board(resource, "none", clips=clipped, options=request.options) as board:
            asked = Asked.model_validate(
                {
                    "schema": SCHEMA,
                    "kind": KIND,
                    "board": resource.name,
                    "core_hz": resource.board.core_hz,
                    "analyzer": resource.analyzer.driver,
                    "pins": dict(request.pins),
                    "stimulus_edges": request.stimulus_edges,
                    "pulses": request.questions.pulses,
                    "latencies": request.questions.latencies,
                    "program": Program(
                        elf=elf.name if elf else None, elf_sha256=checked_digest(elf) if elf else None
                    ),
                    "tools": {
                        **tool_versions(resource.analyzer),
                        **board.tools(),
                        "python": platform.python_version(),
                    },
                    "keep": request.keep,
                }
            )
            yield Opened(asked, lambda folder, watch: observe(board, order, watch.step, folder, watch))


MOST_BYTES = 256 << 20
"""Far above a program of this line with all its debug information."""


def checked_digest(path: Path) -> str:
    """The SHA-256 of an executable for a Cortex-M. Raises CaptureError for anything else."""
    try:
        content = read_bytes(path, MOST_BYTES)
        elf = ELFFile(io.BytesIO(content))
        loaded = [part for part in elf.iter_segments() if part["p_type"] == "PT_LOAD"]
        whole = all(len(part.data()) >= part["p_filesz"] for part in loaded)
    except OSError as error:
        raise CaptureError(f"{path} cannot be read as an ELF file: {why(error)}.") from None
    except DAMAGED:
        raise CaptureError(
            f"{path} is no ELF file, or a damaged one: give what the linker wrote, not an image made of it."
        ) from None
    kind = elf["e_machine"], elf.little_endian, elf["e_type"]
    if kind != ("EM_ARM", True, "ET_EXEC") or not loaded or not whole:
        raise CaptureError(
            f"{path} is no whole, little-endian executable for an Arm Cortex-M, linked to run at fixed "
            f"addresses, but {elf.get_machine_arch()}, {elf['e_type']}: give what the linker wrote for the "
            "board."
        )
    return hashlib.sha256(content).hexdigest()
