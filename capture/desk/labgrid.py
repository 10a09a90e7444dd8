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
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from base.files.complaints import first_complaint, quoted, sentence
from base.files.errors import CaptureError
from base.processes import children
from capture.desk.bench import PLACE, AnalyzerResource, BoardResource, LoaderResource
from capture.desk.presets import presets

CLIENT = "labgrid-client"
WITHIN_S = 60.0
SYSFS = Path("/sys/bus/usb/devices")
USUAL = "nucleo"
"""The board whose tables hold where bench.toml has none that is called as the place is."""

_SERIAL = ("NetworkSerialPort", "RawSerialPort")
_ANALYZERS = ("NetworkSigrokUSBDevice", "NetworkSigrokUSBSerialDevice", "SigrokDevice")
_PROBES = ("NetworkUSBDebugger",)

Resource = tuple[str, dict[str, Any]]
"""Class and arguments, as labgrid has them."""


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
    resources = ask(place)
    serial = _only(place, "serial ports", resources, _SERIAL)
    analyzer = _only(place, "analyzers", resources, _ANALYZERS)
    probe = _only(place, "debug probes", resources, _PROBES)
    if not (serial or analyzer or probe):
        raise CaptureError(
            f"The place {quoted(place)} has no serial port, analyzer or debug probe; add a match by {CLIENT}."
        )
    speed = serial[1].get("speed") if serial else None
    return replace(
        base,
        name=name,
        emulated=None,
        serial_port=(_port(place, *serial) if serial else "") or base.serial_port,
        analyzer=_analyzer(place, base.analyzer, *analyzer) if analyzer else base.analyzer,
        loader=_loader(place, base.loader, probe[1]) if probe else base.loader,
        baud=speed if isinstance(speed, int) and speed and base.name != name else base.baud,
    )


@cache
def ask(name: str) -> list[Resource]:
    """The resources of an acquired place, in the order of labgrid. Raises CaptureError."""
    import yaml  # of tailscope[labgrid]

    text = _said(name)
    try:
        (target,) = yaml.safe_load(text)["targets"].values()
        return [(kind, dict(values)) for resource in target["resources"] for kind, values in resource.items()]
    except (yaml.YAMLError, TypeError, ValueError, KeyError, AttributeError):
        raise CaptureError(
            f"What {CLIENT} says of the place {quoted(name)} is not what version 26.0 says; update labgrid."
        ) from None


def _said(name: str) -> str:
    client = shutil.which(CLIENT)
    if client is None:
        raise CaptureError(
            f"{CLIENT} is not there: install labgrid in an environment of its own, on Debian pipx install "
            "labgrid, and have it on PATH (docs/how-to/loaders.md)."
        )
    try:
        done = children.run([client, "-p", name, "env"], within_s=WITHIN_S)
    except subprocess.TimeoutExpired:
        raise CaptureError(
            f"{CLIENT} did not answer within {WITHIN_S:g} s; see that the coordinator runs (LG_COORDINATOR)."
        ) from None
    if done.returncode:
        why = children.last_words(done.stderr).removeprefix(f"{CLIENT}: ").removeprefix("Server error: ")
        why = why.removeprefix("Error: ").rstrip(".")
        acquire = (
            f"acquire it by {CLIENT} -p {name} acquire" if "not acquired" in why else "see LG_COORDINATOR"
        )
        raise CaptureError(f"labgrid does not hand out the place {quoted(name)} ({why}): {acquire}.")
    return done.stdout


def _only(name: str, what: str, resources: list[Resource], kinds: tuple[str, ...]) -> Resource | None:
    chosen = [resource for resource in resources if resource[0] in kinds]
    if len(chosen) > 1:
        listed = ", ".join(str(values.get("name", kind)) for kind, values in chosen)
        raise CaptureError(
            f"The place {quoted(name)} has {len(chosen)} {what} ({listed}), and the bench needs one: "
            "delete the match of the others."
        )
    return chosen[0] if chosen else None


def _port(name: str, kind: str, values: dict[str, Any]) -> str:
    if kind == "RawSerialPort":
        return str(values.get("port", ""))
    if not values.get("host") or not values.get("port"):
        raise _unplugged(name, "serial port")
    scheme = "socket" if values.get("protocol") == "raw" else "rfc2217"
    return f"{scheme}://{values['host']}:{values['port']}"


def _analyzer(name: str, base: AnalyzerResource, kind: str, values: dict[str, Any]) -> AnalyzerResource:
    """The base's, at another connection; or of another driver, by the preset of that."""
    driver, _, connection = str(values.get("driver") or "").partition(":conn=")
    if kind != "SigrokDevice":
        _check_near(name, "analyzer", values)
        parts = ("path",) if kind == "NetworkSigrokUSBSerialDevice" else ("busnum", "devnum")
        if any(values.get(part) in (None, "") for part in parts):
            raise _unplugged(name, "analyzer")
        connection = ".".join(str(values[part]) for part in parts)
    if driver == base.driver:
        fields: dict[str, Any] = base.model_dump(exclude_unset=True)
    else:
        preset = next((key for key, row in presets().items() if row.driver == driver and not row.refused), "")
        if not preset:
            raise CaptureError(
                f"The analyzer of the place {quoted(name)} has the driver {driver!r}, of which no preset is "
                "known: add a board of this place to bench.toml, with its analyzer."
            )
        fields = {"preset": preset}
    fields["connection"] = connection
    if values.get("channels"):
        channels = (word.partition("=") for word in str(values["channels"]).split(",") if word)
        fields["channels"] = {ours or theirs: theirs for theirs, _, ours in channels}
    try:
        return AnalyzerResource.model_validate(fields)
    except ValidationError as error:
        complaint = first_complaint(error, fields)
        raise CaptureError(
            f"The analyzer of the place {quoted(name)}: {sentence(complaint, 'mend it')}"
        ) from None


def _loader(name: str, base: LoaderResource, values: dict[str, Any]) -> LoaderResource:
    _check_near(name, "debug probe", values)
    vendor, product = values.get("vendor_id"), values.get("model_id")
    if not values.get("path") or not isinstance(vendor, int) or not isinstance(product, int):
        raise _unplugged(name, "debug probe")
    file = SYSFS / str(values["path"]) / "serial"
    try:
        serial_number = file.read_text(errors="replace").strip()
    except OSError:
        raise CaptureError(
            f"The debug probe of the place {quoted(name)} has no {file}; plug it in again."
        ) from None
    if base.way is None:
        return base
    return base.model_copy(update={"probe": base.way.address(vendor, product, serial_number)})


def _unplugged(name: str, what: str) -> CaptureError:
    return CaptureError(f"labgrid does not see the {what} of the place {quoted(name)}: plug it in.")


def _check_near(name: str, what: str, values: dict[str, Any]) -> None:
    """Raises CaptureError for a device of another machine: the tools reach only ours."""
    host = str(values.get("host") or "localhost")
    if host not in {"localhost", "127.0.0.1", "::1", socket.gethostname(), socket.getfqdn()}:
        raise CaptureError(
            f"The {what} of the place {quoted(name)} is plugged into {host}, and the bench reaches USB "
            "devices of its own machine only: run it there."
        )
