"""The invoke tasks of the bench: `invoke --list`. Each calls the command of `./lab` of its name.

What stands behind `--` goes to the command: `invoke scenario -- mem_frag --allocator tlsf`. `./lab`
installs what is missing, and has more commands.
"""

from __future__ import annotations

import shlex
import signal
from collections.abc import Callable

from invoke.context import Context
from invoke.exceptions import Exit
from invoke.tasks import task

from base.processes.signals import HEARD
from cli.shell import start


def _task(words: str, help: str) -> Callable[..., None]:
    """The task that runs the command of these words in this process. It raises Exit with the
    command's exit status, unless that is 0.
    """

    def run(context: Context) -> None:
        before = {number: signal.getsignal(number) for number in HEARD}
        try:
            status = start.main([*words.split(), *shlex.split(context.remainder)])
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        if status:
            raise Exit(code=status)

    run.__doc__ = help
    return task(run, name=words.split()[-1])


demo = _task("demo", "Run two scenarios on two allocators, and write the dashboard.")
scenario = _task(
    "scenario", "Run one scenario, and write its dashboard: invoke scenario -- mem_frag --allocator tlsf."
)
dashboard = _task(
    "dashboard", "Write the dashboard of the latest runs, or of some: invoke dashboard -- RUN RUN."
)
app = _task("app", "Show all runs in a browser, as they come. Ctrl-C ends it.")
pulseview = _task(
    "pulseview", "Open PulseView on a run, with the decoders on: invoke pulseview -- RUN --worst."
)
wiring = _task("wiring", "Show which clip goes where, or check it: invoke wiring -- plan.")
build = _task("dev build", "Build the virtual Nucleo and the firmware of each allocator.")
test = _task("test", "Run every check of the project, or those of some rooms: invoke test -- capture cli.")
site = _task("dev site", "Write the pages as a site that needs no network.")
clean = _task("dev clean", "Remove what was built. Runs are kept.")
doctor = _task("doctor", "Show what is installed and plugged in, and how to get what is missing.")
