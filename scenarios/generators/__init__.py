"""Every generator, by its name in the TOML file of a scenario."""

from __future__ import annotations

from collections.abc import Mapping

from scenarios.generators.generator import Generator
from scenarios.generators.kernel_masking import KernelMasking
from scenarios.generators.latency_sweep import LatencySweep
from scenarios.generators.lifetimes import Lifetimes
from scenarios.generators.mem_frag import MemFrag
from scenarios.generators.mem_stress import MemStress
from scenarios.generators.periodic import Periodic
from scenarios.generators.recorded import Recorded
from scenarios.generators.sizes import Sizes
from scenarios.generators.until_full import UntilFull
from scenarios.generators.worst import Worst

GENERATORS: Mapping[str, type[Generator]] = {
    "kernel_masking": KernelMasking,
    "latency_sweep": LatencySweep,
    "lifetimes": Lifetimes,
    "mem_frag": MemFrag,
    "mem_stress": MemStress,
    "periodic": Periodic,
    "recorded": Recorded,
    "sizes": Sizes,
    "until_full": UntilFull,
    "worst": Worst,
}
