"""Worst-case latency in a program of yours: what the bench measures, as Python values.

    import tailscope

    run = tailscope.run("mem_frag", allocator="tlsf", parameters={"depth": 64})
    run.verdict, run.worst("interrupt").ns, run.operations

    masks = tailscope.masks("build/fw.elf", until="1s")
    masks.longest("basepri").cycles, masks.longest("basepri").where

docs/reference/python.md has all of it. Names that begin with `_` may change at any time.
"""

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tailscope._base import Manifest, Statistics
    from tailscope._errors import Error, NotComplete
    from tailscope._figures import Cycles, Figure, Nanoseconds, Place
    from tailscope._programs import (
        Bounded,
        Bounds,
        Cause,
        Interval,
        Latency,
        Masks,
        NotTaken,
        Passed,
        Section,
        Wait,
        bounds,
        latency,
        masks,
    )
    from tailscope._run import Explanation, Run, Worst, run

__all__ = [
    "Bounded",
    "Bounds",
    "Cause",
    "Cycles",
    "Error",
    "Explanation",
    "Figure",
    "Interval",
    "Latency",
    "Manifest",
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
    "bounds",
    "latency",
    "masks",
    "run",
]

_MODULES = ("_errors", "_figures", "_programs", "_run", "_base")
"""Imported in this order once a name is asked for: the program, which begins by importing
this package, needs none of them.
"""

# The rooms of the bench have a name of this package, since your project may have a `base` of its
# own. In the installed package they lie there; in a checkout the name leads to the checkout.
if not Path(__file__).with_name("_program").is_dir():
    _rooms = sys.modules.setdefault("tailscope._program", ModuleType("tailscope._program"))
    _rooms.__path__ = [str(Path(__file__).resolve().parents[1])]


def __getattr__(name: str) -> Any:
    if name in __all__:
        for module in _MODULES:
            if name in (values := vars(import_module(f"tailscope.{module}"))):
                value = globals()[name] = values[name]
                return value
    raise AttributeError(f"module 'tailscope' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
