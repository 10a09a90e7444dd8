"""probe-rs: a process for each step. `probe-rs verify` exits with 0 whatever it finds.

Tried with a stand-in only: no run was made by it.

Sources: probe-rs-tools 0.32 (cmd/download.rs, verify.rs, reset.rs, util/common_options.rs). When it
detaches it clears DHCSR and DEMCR (probe-rs, architecture/arm/sequences.rs, debug_core_stop): the
core runs, unheard, from then on, and its cycle counter stops until the firmware has it on again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from base.files.errors import CaptureError
from capture.desk.loader_tool import FIRMWARE, OPERATIONS, Said, Tool, files, folder_of
from capture.desk.loading import Connection, Settings, UnreachedError, Way, Words
from scenarios.operations import image_address

GET = "install it as https://probe.rs says"

_VERSION = re.compile(r"^probe-rs \d\S*")
_SAME = re.compile(r"^Verification successful")
_DIFFERS = re.compile(r"contents do not match|verification failed|Verify failed", re.IGNORECASE)
_NO_PROBE = re.compile(
    r"No connected probes|No .*probe.* (?:was|were) found|probe.*not.*found", re.IGNORECASE
)
_PROTECTED = re.compile(r"locked|protected|read-?out protection|erase-all", re.IGNORECASE)
_NO_CHIP = re.compile(
    r"connecting (?:to the chip|failed)|did not respond|Swd\w*Wait|ARM specific error|time-?out|low-power",
    re.IGNORECASE,
)
_CAUSE = re.compile(r"^\d+: (.*)")
_ERROR = re.compile(r"^(?:Error:?|error:) ?")


class ProbeRs:
    """probe-rs for the board behind one probe. SYSRESETREQ starts the firmware, not the pin."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._tool = Tool("probe-rs", "probe-rs", GET, settings)
        self.connection = Connection(self._tool.title)

    def load(self, elf: Path, image: bytes) -> None:
        """Flashes both, and compares both by other processes."""
        requests = [[FIRMWARE]]
        if image:
            place = ["--binary-format", "bin", "--base-address", f"{image_address(elf):#010x}"]
            requests.append([*place, OPERATIONS])
        with files(elf, image) as folder:
            for words in requests:
                self._call("load", "download", folder, "--disable-progressbars", *words)
            for words in requests:
                said = self._call("load", "verify", folder, "--disable-progressbars", *words)
                if not said.first(_SAME):
                    raise self._failed("load", said)

    def reset(self) -> None:
        """Resets the chip by the core's own request: the firmware starts."""
        with folder_of({}) as folder:
            self._call("reset", "reset", folder)

    def tools(self) -> Mapping[str, str]:
        """probe-rs' version."""
        return {"probe_rs": self._tool.version("--version", _VERSION).removeprefix("probe-rs ")}

    def _call(self, to: str, subcommand: str, folder: Path, *words: str) -> Said:
        answers: list[Said] = []

        def call(under_reset: bool) -> None:
            held = ["--connect-under-reset"] if under_reset else []
            answers.append(self._tool.run([subcommand, *self._arguments(), *held, *words], folder))
            if answers[-1].status or answers[-1].first(_ERROR):
                raise self._failed(to, answers[-1])

        self.connection.use(call)
        return answers[-1]

    def _arguments(self) -> list[str]:
        settings = self._settings
        words = ["--non-interactive", "--chip", settings.target]
        words += ["--protocol", settings.interface.lower() or "swd"]
        words += ["--probe", settings.probe] if settings.probe else []
        words += ["--speed", str(settings.speed_khz)] if settings.speed_khz else []
        return [*words, *settings.arguments]

    def _failed(self, to: str, said: Said) -> CaptureError:
        if said.first(_DIFFERS):
            return self._tool.failed(to, "the flash does not hold what was written")
        if said.first(_NO_PROBE):
            named = f" {self._settings.probe}" if self._settings.probe else ""
            return self._tool.failed(to, f"there is no debug probe{named} that it can open")
        if said.first(_PROTECTED):
            return self._tool.failed(
                to, "its flash is protected; lift it by STM32CubeProgrammer, which erases the chip"
            )
        kind = UnreachedError if said.first(_NO_CHIP) else CaptureError
        return self._tool.failed(to, _reason(said), kind)


def _reason(said: Said) -> str:
    """The last of the causes that it lists, which is the first that happened."""
    causes = [match[1] for line in said.lines if (match := _CAUSE.match(line))]
    first = _ERROR.sub("", said.first(_ERROR))
    why = (causes or [first])[-1] or "it does not say that the flash holds what was written"
    return why.rstrip(".")


def _serial_number(probe: str) -> str:
    """VID:PID alone has none."""
    return probe.split(":", 2)[2] if probe.count(":") >= 2 else ""


WAY = Way(
    title="probe-rs",
    program="probe-rs",
    get=GET,
    open=ProbeRs,
    keys=frozenset({"target", "probe", "interface", "speed_khz", "program", "arguments"}),
    needs={"target": 'add what probe-rs calls the chip, such as "STM32F401RETx"'},
    words={
        "target": Words(re.compile(r"[\w.+-]+"), 'what probe-rs calls the chip, such as "STM32F401RETx"'),
        "interface": Words(re.compile(r"SWD|JTAG"), "SWD or JTAG"),
        "probe": Words(
            re.compile(r"[0-9A-Fa-f]{4}:[0-9A-Fa-f]{4}(?::[\w.-]+)?"),
            'what `probe-rs list` prints, such as "0483:374b" or "0483:374b:SERIAL"',
        ),
    },
    serial_number=_serial_number,
    address=lambda vendor, product, serial: f"{vendor:04x}:{product:04x}:{serial}",
    lets_go=True,
)
