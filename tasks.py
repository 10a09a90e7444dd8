"""The invoke tasks of the bench: `invoke --list`. Each calls the command of `./lab` of its name.

What stands behind `--` goes to the command: `invoke scenario -- mem_frag --allocator tlsf`. `./lab`
installs what is missing, and has more commands.
"""

from __future__ import annotations

import shlex
import signal

from invoke.context import Context
from invoke.exceptions import Exit
from invoke.tasks import task

from base.processes.signals import HEARD
from cli.shell import start


def lab(context: Context, *words: str) -> None:
    """Runs the command in this process. Raises Exit with its exit status, unless that is 0."""
    before = {number: signal.getsignal(number) for number in HEARD}
    try:
        status = start.main([*words, *shlex.split(context.remainder)])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if status:
        raise Exit(code=status)


@task
def demo(context: Context) -> None:
    """Run two scenarios on two allocators, and write the dashboard."""
    lab(context, "demo")


@task
def scenario(context: Context) -> None:
    """Run one scenario, and write its dashboard: invoke scenario -- mem_frag --allocator tlsf."""
    lab(context, "scenario")


@task
def dashboard(context: Context) -> None:
    """Write the dashboard of the latest runs, or of some: invoke dashboard -- RUN RUN."""
    lab(context, "dashboard")


@task
def app(context: Context) -> None:
    """Show all runs in a browser, as they come. Ctrl-C ends it."""
    lab(context, "app")


@task
def pulseview(context: Context) -> None:
    """Open PulseView on a run, with the decoders on: invoke pulseview -- RUN --worst."""
    lab(context, "pulseview")


@task
def wiring(context: Context) -> None:
    """Show which clip goes where, or check it: invoke wiring -- plan."""
    lab(context, "wiring")


@task
def build(context: Context) -> None:
    """Build the virtual Nucleo and the firmware of each allocator."""
    lab(context, "dev", "build")


@task
def test(context: Context) -> None:
    """Run every check of the project, or those of some rooms: invoke test -- capture cli."""
    lab(context, "test")


@task
def site(context: Context) -> None:
    """Write the pages as a site that needs no network."""
    lab(context, "dev", "site")


@task
def clean(context: Context) -> None:
    """Remove what was built. Runs are kept."""
    lab(context, "dev", "clean")


@task
def doctor(context: Context) -> None:
    """Show what is installed and plugged in, and how to get what is missing."""
    lab(context, "doctor")
