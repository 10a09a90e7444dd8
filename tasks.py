"""The invoke tasks of the bench: `invoke --list`. Each calls the command of `./lab` of its name.

A task has its command's options. What stands behind `--` goes to the command as it is, which is how
several words are given: `invoke dashboard -- RUN RUN`. `./lab` installs what is missing, and has
more commands.
"""

from __future__ import annotations

from cli.shell import as_task


@as_task.of("demo")
def demo() -> None:
    """Run two scenarios on two allocators, and write the dashboard."""


@as_task.of("scenario")
def scenario() -> None:
    """Run one scenario, and write its dashboard: invoke scenario mem_frag --allocator tlsf."""


@as_task.of("dashboard")
def dashboard() -> None:
    """Write the dashboard of the latest runs, or of some: invoke dashboard -- RUN RUN."""


@as_task.of("app")
def app() -> None:
    """Show all runs in a browser, as they come. Ctrl-C ends it."""


@as_task.of("pulseview")
def pulseview() -> None:
    """Open PulseView on a run, with the decoders on: invoke pulseview RUN --worst."""


@as_task.of("wiring")
def wiring() -> None:
    """Show which clip goes where, or check it: invoke wiring plan."""


@as_task.of("dev", "build")
def build() -> None:
    """Build the virtual Nucleo and the firmware of each allocator."""


@as_task.of("test")
def test() -> None:
    """Run every check of the project, or those of some rooms: invoke test -- capture cli."""


@as_task.of("dev", "bench")
def bench() -> None:
    """Measure a speed, side by side with what it is compared to: invoke bench simulator."""


@as_task.of("dev", "site")
def site() -> None:
    """Write the pages as a site that needs no network."""


@as_task.of("dev", "clean")
def clean() -> None:
    """Remove what was built. Runs are kept."""


@as_task.of("doctor")
def doctor() -> None:
    """Show what is installed and plugged in, and how to get what is missing."""
