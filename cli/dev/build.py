"""`./lab dev build`: the virtual Nucleo, and firmware."""

from __future__ import annotations

from cli.shell.declare import declare, option
from cli.shell.values import ALLOCATORS


@declare("Build")
@option("--allocator", ALLOCATORS, "one or more allocators, separated by commas; all when none is given")
def command(allocator: list[str] | None) -> None:
    """Build the virtual Nucleo and the firmware of each allocator."""
    from cli.shell import under_way
    from firmware.build import image as firmware
    from firmware.build import outside
    from simulator import build as simulator

    with under_way.shown() as tell:
        tell("the virtual Nucleo")
        print(simulator.build())
        takes_all = allocator in (None, ["all"])
        names = firmware.allocators() if takes_all else outside.admit(allocator or ())
        counted = under_way.Counted(tell, len(names))
        for name in names:
            counted(f"firmware with {name}")
            print(firmware.build(name).elf)
