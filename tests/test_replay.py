"""The heap on the simulated target against the same heap sources on the host, operation by operation."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from capture import conductor
from capture.run_folder.records import OperationRecord, parse
from firmware import build as firmware
from firmware.catalogue import allocators
from scenarios import catalogue

ROOT = Path(__file__).resolve().parent.parent


def only_drives_the_heap(scenario: str) -> bool:
    """Nothing but allocations and frees: what the host's replay knows."""
    return "K" not in catalogue.load(scenario).compile().operations["kind"].to_list()


SCENARIOS = [name for name in catalogue.names() if only_drives_the_heap(name)]
PAIRS = [
    (scenario, name)
    for name, row in allocators().items()
    if "frees" in row.promises and not row.target_only and row.missing_checkout() is None
    # Those of others run the same code on both sides: one scenario tells whether the adapter does.
    for scenario in (("mem_stress",) if row.kind == "third-party" else SCENARIOS)
]


def host_replay(allocator: str, folder: Path) -> Path:
    """Builds the program that runs an operation image on the host; returns its path."""
    sources = ROOT / "firmware" / "heap" / "tests"
    configure = ["cmake", "-S", str(sources), "-B", str(folder), "-G", "Ninja"]
    for command in (
        [*configure, f"-DTAILSCOPE_ALLOCATOR={allocator}"],
        ["cmake", "--build", str(folder), "--target", "replay"],
    ):
        subprocess.run(command, check=True, capture_output=True)
    return folder / "replay"


def target_outcomes(uart_log: bytes) -> list[str]:
    """The OP records without their cycles: seq,kind,size,probes,live,bytes_in_use."""
    return [
        f"{record.seq},{record.kind},{record.size},{record.probes},{record.live},{record.bytes_in_use}"
        for record in parse(uart_log).all(OperationRecord)
    ]


@pytest.mark.parametrize(("scenario", "allocator"), PAIRS)
def test_target_and_host_do_the_same(scenario: str, allocator: str, tmp_path: Path) -> None:
    result = conductor.run(
        catalogue.load(scenario).compile(), firmware.build(allocator), runs_folder=tmp_path / "runs"
    )
    replay = host_replay(allocator, tmp_path / "host")
    image = result.folder / "operations.bin"
    printed = subprocess.run([str(replay), str(image)], check=True, capture_output=True, text=True).stdout
    on_target = target_outcomes((result.folder / "uart.log").read_bytes())
    assert len(on_target) > 1000
    assert printed.splitlines() == on_target
