"""probe-rs: a process for each step. `probe-rs verify` exits with 0 whatever it finds.

Tried with a stand-in only: no run was made by it.

Sources: probe-rs-tools 0.32 (cmd/download.rs, verify.rs, reset.rs, util/common_options.rs). When it
detaches it clears DHCSR and DEMCR (probe-rs, architecture/arm/sequences.rs, debug_core_stop): the
core runs, unheard, from then on, and its cycle counter stops until the firmware has it on again.
"""

from __future__ import annotations

import re
from pathlib import Path

from capture.desk.loading import FIRMWARE, OPERATIONS, Loader, files
from scenarios.operations import image_address


class ProbeRs(Loader):
    """probe-rs for the board behind one probe. SYSRESETREQ starts the firmware, not the pin."""

    title = "probe-rs"
    program = "probe-rs"
    get = "install it as https://probe.rs says"
    version = re.compile(r"^probe-rs (\S+)")
    target = 'what probe-rs calls the chip, such as "STM32F401RETx"'

    _SAME = "Verification successful"
    _WHY = re.compile(r"^(?:Error:?|error:|\s*\d+:) ?(.+)", re.MULTILINE)

    def load(self, elf: Path, image: bytes) -> None:
        """Flashes both, and compares both by other processes."""
        binary = ["--binary-format", "bin", "--base-address", f"{image_address(elf):#010x}", OPERATIONS]
        with files(elf, image) as folder:
            for step in ("download", "verify"):
                for words in ([FIRMWARE], binary) if image else ([FIRMWARE],):
                    said = self._call("load", step, folder, "--disable-progressbars", *words)
                    if step == "verify" and self._SAME not in said:
                        raise self._error("load", "the flash does not hold what was written")

    def reset(self) -> None:
        """Resets the chip by the core's own request: the firmware starts."""
        self._call("reset", "reset", None)

    def _call(self, to: str, subcommand: str, folder: Path | None, *words: str) -> str:
        settings = self._settings
        arguments = [self._program(), subcommand, "--non-interactive", "--chip", settings.target]
        arguments += ["--protocol", settings.interface.lower() or "swd"]
        arguments += ["--probe", settings.probe] if settings.probe else []
        arguments += ["--speed", str(settings.speed_khz)] if settings.speed_khz else []
        said = ""

        def call(under_reset: bool) -> None:
            nonlocal said
            held = ["--connect-under-reset"] if under_reset else []
            done = self._run([*arguments, *settings.arguments, *held, *words], folder)
            said = f"{done.stdout}\n{done.stderr}"
            # The last of the causes that it lists is the first that happened.
            causes = self._WHY.findall(said)
            if done.returncode or causes:
                raise self._error(to, causes[-1] if causes else "it does not say why")

        self._reach(call)
        return said
