"""Worst-case latency in a program of yours: what the bench measures, as Python values.

    import tailscope

    run = tailscope.run("mem_frag", allocator="tlsf", parameters={"depth": 64})
    run.verdict, run.worst("interrupt").ns, run.operations

    masks = tailscope.masks("build/fw.elf", until="1s")
    masks.longest("basepri").cycles, masks.longest("basepri").where

docs/reference/python.md has all of it. Names that begin with `_` may change at any time.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tailscope._errors import Error, NotComplete
    from tailscope._figures import Cycles, Figure, Nanoseconds, Place, Statistics
    from tailscope._latency import Cause, Latency, Passed, Section, Wait, latency
    from tailscope._masks import Interval, Masks, NotTaken, masks
    from tailscope._run import Explanation, Run, Worst, run

__all__ = [
    "Cause",
    "Cycles",
    "Error",
    "Explanation",
    "Figure",
    "Interval",
    "Latency",
    "Masks",
    "Nanoseconds",
    "NotComplete",
    "NotTaken",
    "Passed",
    "Place",
    "Run",
    "Section",
    "Statistics",
    "Wait",
    "Worst",
    "latency",
    "masks",
    "run",
]

# By module. Each is imported once a name of it is asked for: the program, which begins by importing
# this package, needs none of them.
_NAMES = {
    "_errors": ("Error", "NotComplete"),
    "_figures": ("Cycles", "Figure", "Nanoseconds", "Place", "Statistics"),
    "_latency": ("Cause", "Latency", "Passed", "Section", "Wait", "latency"),
    "_masks": ("Interval", "Masks", "NotTaken", "masks"),
    "_run": ("Explanation", "Run", "Worst", "run"),
}


def __getattr__(name: str) -> Any:
    for module, names in _NAMES.items():
        if name in names:
            found = globals()[name] = getattr(import_module(f"tailscope.{module}"), name)
            return found
    raise AttributeError(f"module 'tailscope' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
