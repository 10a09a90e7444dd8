"""The most telling faults of the catalogue, each in a run with real processes on the emulated desk.

`./lab dev soak` tries them all. Of faults that are told by what they leave behind, the desk's part
is in the simulator's tests, and the verdict's in those of capture/verdict and quality/faults.
"""

import re
from collections.abc import Sequence
from ctypes.util import find_library
from pathlib import Path

import pytest

from base.run_folder.folder import SERIAL_LOG
from quality.soak.catalogue import COMPLETE, FAULTS, NONE, REFUSED, named
from quality.soak.soak import Headlines, Outcome, carry_out

needs_umockdev = pytest.mark.skipif(
    find_library("umockdev-preload") is None, reason="needs umockdev's preload library"
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """A run without a fault on the virtual board."""
    outcome = carry_out(NONE, "virtual", tmp_path_factory.mktemp("none"))
    assert outcome.wrong == () and outcome.verdict == COMPLETE, outcome
    return outcome


@pytest.fixture(scope="module")
def reference(whole: Outcome) -> Headlines:
    """Its headlines; the desk's are the same."""
    return whole.headlines


def test_the_faults_of_single_bytes_and_lines_meet_the_record_of_an_operation(whole: Outcome) -> None:
    """A fault in another record has another outcome."""
    log = (Path(whole.folder) / SERIAL_LOG).read_bytes()
    (at,) = {int(number) for fault in FAULTS for number in re.findall("at (3[0-9]{3})", str(fault.requests))}
    first = log.rindex(b"\n", 0, at) + 1
    assert [line[:4] for line in log[first:].split(b"\n")[:3]] == [b"@OP,"] * 3


@needs_umockdev
@pytest.mark.parametrize(
    "name",
    [
        "analyzer-overflow-of-1us",
        *(
            pytest.param(name, marks=pytest.mark.long)
            for name in (
                "rtt-probe-unplugged",
                "port-renamed",
                "board-hung",
                "flash-protected",
                "counter-stopped",
            )
        ),
    ],
)
def test_a_fault_of_the_desk_has_its_outcome(name: str, tmp_path: Path, reference: Headlines) -> None:
    outcome = carry_out(named(name), "desk", tmp_path, reference)
    assert outcome.wrong == (), outcome
    assert outcome.left == ()
    assert (outcome.verdict == REFUSED) == (not _folders(tmp_path))


def _folders(runs: Path) -> Sequence[Path]:
    return [path for path in runs.iterdir() if path.is_dir()]
