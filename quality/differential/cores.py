"""The cores that are compared: Unicorn's model of each, and what each has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from unicorn import arm_const as arm

from quality.differential.batches import APSR_MASK, Results


@dataclass(frozen=True)
class Core:
    """A core by the name that the simulator and GCC give it.

    `apsr` has the flags that the core has. With `floats` there are S registers and FPSCR, with
    `mainline` the instructions of ARMv7-M.
    """

    name: str
    model: int
    apsr: int
    floats: bool
    mainline: bool

    def comparable(self, results: Results) -> Results:
        """The results without the fields and flags that the core does not have."""
        shown = results.copy()
        shown["status"] &= np.uint32(self.apsr)
        if not self.floats:
            shown["s"] = 0
            shown["fpscr"] = 0
        return shown


M4 = Core("cortex-m4", arm.UC_CPU_ARM_CORTEX_M4, int(APSR_MASK), floats=True, mainline=True)
# Without the DSP extension there is no GE (DDI 0403E, B1.4.2), in ARMv6-M no Q either (DDI 0419C).
M3 = Core("cortex-m3", arm.UC_CPU_ARM_CORTEX_M3, 0xF800_0000, floats=False, mainline=True)
M0 = Core("cortex-m0", arm.UC_CPU_ARM_CORTEX_M0, 0xF000_0000, floats=False, mainline=False)
