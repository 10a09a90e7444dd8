"""A board that labgrid hands out: `place:NAME`, and bench.toml for what labgrid does not know.

labgrid-client prints what an acquired place has, as YAML. Tried with labgrid 26.0 and emulated
devices only: no real ones, no other machine. labgrid is not imported: it brings a pySerial of its
own, which would take the place of ours, and so it lives in a Python environment of its own.
"""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from base.files.complaints import quoted
from base.files.errors import CaptureError
from base.processes import children

if TYPE_CHECKING:
    from capture.desk.bench import BoardResource

CLIENT = "labgrid-client"
WITHIN_S = 60.0
SYSFS = Path("/sys/bus/usb/devices")
USUAL = "nucleo"
"""The board whose tables hold where bench.toml has none that is called as the place is."""
_OF_THE_BENCH = ("RawSerialPort", "NetworkUSBDebugger", "NetworkSigrokUSBDevice", "SigrokDevice")
"""Kinds of resources that must be on this machine; a place may have others, such as a switch."""


def board_at(place: str, boards: Mapping[str, BoardResource]) -> BoardResource:
    """The board of an acquired place: serial port, analyzer and probe are where labgrid says; all
    else is of the board of bench.toml with the place's name, or of `nucleo`. Raises CaptureError.
    """
    import yaml  # which is seldom needed

    name = re.sub(r"[^A-Za-z0-9_]", "_", place)[:32]
    base = boards.get(name) or boards.get(USUAL)
    if base is None:
        raise CaptureError(
            f"place:{place} needs a board in bench.toml, for what labgrid does not know: call it {name}."
        )
    try:
        (target,) = yaml.safe_load(_environment(place))["targets"].values()
        pairs = list(_changes(base, target["resources"]))
        changes = dict(pairs)
        if len(pairs) != max(len(changes), 1):
            raise ValueError("of port, analyzer and debug probe it has none, or two of a kind")
    except (yaml.YAMLError, AttributeError, LookupError, OSError, TypeError, ValueError) as error:
        raise CaptureError(
            f"What {CLIENT} says of the place {quoted(place)} will not do ({error}): see that each of its "
            "devices is plugged in, once, into this machine, and that labgrid is version 26."
        ) from None
    return replace(base, name=name, emulated=None, **changes)


def _changes(base: BoardResource, resources: list[dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    """The fields of the board that a place brings. Raises ValueError for a device elsewhere, and
    what a value that is missing raises.
    """
    for resource in resources:
        ((kind, values),) = resource.items()
        if kind == "NetworkSerialPort":
            scheme = "socket" if values.get("protocol") == "raw" else "rfc2217"
            yield "serial_port", f"{scheme}://{values['host']}:{int(values['port'])}"
            yield "baud", int(values.get("speed") or base.baud)
            continue
        if kind not in _OF_THE_BENCH:
            continue
        here = {"localhost", "127.0.0.1", "::1", socket.gethostname(), socket.getfqdn()}
        if values.get("host", "localhost") not in here:
            raise ValueError(f"{kind} is plugged into {values['host']}")
        if kind == "RawSerialPort":
            yield "serial_port", str(values["port"])
        elif kind == "NetworkUSBDebugger":
            probe = (SYSFS / str(values["path"]) / "serial").read_text().strip()
            if base.loader.kind == "probe-rs":
                probe = f"{int(values['vendor_id']):04x}:{int(values['model_id']):04x}:{probe}"
            yield "loader", base.loader.model_copy(update={"probe": probe})
        else:
            driver, _, connection = str(values["driver"]).partition(":conn=")
            if driver != base.analyzer.driver:
                raise ValueError(f"its analyzer has the driver {driver}, bench.toml {base.analyzer.driver}")
            if kind != "SigrokDevice":
                connection = f"{int(values['busnum'])}.{int(values['devnum'])}"
            fields = base.analyzer.model_dump(exclude_unset=True) | {"connection": connection}
            if values.get("channels"):
                pairs = (word.split("=") for word in str(values["channels"]).split(","))
                fields["channels"] = {ours: theirs for theirs, ours in pairs}
            yield "analyzer", type(base.analyzer).model_validate(fields)


@cache
def _environment(place: str) -> str:
    """What labgrid-client prints of a place. Raises CaptureError."""
    client = shutil.which(CLIENT)
    if client is None:
        raise CaptureError(
            f"{CLIENT} is not there: install labgrid in an environment of its own, on Debian pipx install "
            "labgrid, and have it on PATH (docs/how-to/loaders.md)."
        )
    try:
        done = children.run([client, "-p", place, "env"], within_s=WITHIN_S)
    except subprocess.TimeoutExpired:
        raise CaptureError(
            f"{CLIENT} did not answer within {WITHIN_S:g} s; see that the coordinator runs (LG_COORDINATOR)."
        ) from None
    if done.returncode:
        why = children.last_words(done.stderr).rstrip(".")
        raise CaptureError(
            f"labgrid does not hand out the place {quoted(place)} ({why}): see LG_COORDINATOR, and acquire "
            f"it by {CLIENT} -p {place} acquire."
        )
    return done.stdout
