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

from capture.desk.loading import FIRMWARE, OPERATIONS, Loader, Said, Words, files, folder_of
from scenarios.operations import image_address

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


class ProbeRs(Loader):
    """probe-rs for the board behind one probe. SYSRESETREQ starts the firmware, not the pin."""

    title = "probe-rs"
    program = "probe-rs"
    get = "install it as https://probe.rs says"
    find_target = 'add what probe-rs calls the chip, such as "STM32F401RETx"'
    words = (
        Words("target", re.compile(r"[\w.+-]+"), 'what probe-rs calls the chip, such as "STM32F401RETx"'),
        Words("interface", re.compile(r"SWD|JTAG"), "SWD or JTAG"),
        Words(
            "probe",
            re.compile(r"[0-9A-Fa-f]{4}:[0-9A-Fa-f]{4}(?::[\w.-]+)?"),
            'what `probe-rs list` prints, such as "0483:374b" or "0483:374b:SERIAL"',
        ),
    )
    lets_go = True
    reasons = (
        (_DIFFERS, "the flash does not hold what was written"),
        (_NO_PROBE, "there is no debug probe{probe} that it can open"),
        (_PROTECTED, "its flash is protected; lift it by STM32CubeProgrammer, which erases the chip"),
    )

    @staticmethod
    def serial_number(probe: str) -> str:
        """VID:PID alone has none."""
        return probe.split(":", 2)[2] if probe.count(":") >= 2 else ""

    @staticmethod
    def address(vendor: int, product: int, serial: str) -> str:
        """As `probe-rs list` prints it."""
        return f"{vendor:04x}:{product:04x}:{serial}"

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
                    raise self._refused("load", said)

    def reset(self) -> None:
        """Resets the chip by the core's own request: the firmware starts."""
        with folder_of({}) as folder:
            self._call("reset", "reset", folder)

    def tools(self) -> Mapping[str, str]:
        """probe-rs' version."""
        return {"probe_rs": self.version(_VERSION).removeprefix("probe-rs ")}

    def _call(self, to: str, subcommand: str, folder: Path, *words: str) -> Said:
        settings = self._settings
        arguments = [subcommand, "--non-interactive", "--chip", settings.target]
        arguments += ["--protocol", settings.interface.lower() or "swd"]
        arguments += ["--probe", settings.probe] if settings.probe else []
        arguments += ["--speed", str(settings.speed_khz)] if settings.speed_khz else []
        arguments += settings.arguments
        answers: list[Said] = []

        def call(under_reset: bool) -> None:
            held = ["--connect-under-reset"] if under_reset else []
            answers.append(self.run([*arguments, *held, *words], folder))
            if answers[-1].status or answers[-1].first(_ERROR):
                raise self._refused(to, answers[-1])

        self.reach(call)
        return answers[-1]

    def _refused(self, to: str, said: Said) -> Exception:
        """By the last of the causes that it lists, which is the first that happened."""
        causes = [match[1] for line in said.lines if (match := _CAUSE.match(line))]
        why = (causes or [_ERROR.sub("", said.first(_ERROR))])[-1]
        return self.failed(to, said, why or "it does not say that the flash holds what was written", _NO_CHIP)


LOADER = ProbeRs
