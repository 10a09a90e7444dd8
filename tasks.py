"""The invoke tasks of the bench: `invoke --list`. Each calls the command of `./lab` of its name.

A task has its command's options. What stands behind `--` goes to the command as it is, which is how
several words are given: `invoke dashboard -- RUN RUN`. `./lab` installs what is missing, and has
more commands.
"""

from __future__ import annotations

from typing import Any

from invoke.context import Context

from cli.shell import as_task


@as_task.of("demo")
def demo(context: Context, **given: Any) -> None:
    """Run two scenarios on two allocators, and write the dashboard."""
    as_task.call(context, "demo", **given)


@as_task.of("scenario")
def scenario(context: Context, **given: Any) -> None:
    """Run one scenario, and write its dashboard: invoke scenario mem_frag --allocator tlsf."""
    as_task.call(context, "scenario", **given)


@as_task.of("dashboard")
def dashboard(context: Context, **given: Any) -> None:
    """Write the dashboard of the latest runs, or of some: invoke dashboard -- RUN RUN."""
    as_task.call(context, "dashboard", **given)


@as_task.of("app")
def app(context: Context, **given: Any) -> None:
    """Show all runs in a browser, as they come. Ctrl-C ends it."""
    as_task.call(context, "app", **given)


@as_task.of("pulseview")
def pulseview(context: Context, **given: Any) -> None:
    """Open PulseView on a run, with the decoders on: invoke pulseview RUN --worst."""
    as_task.call(context, "pulseview", **given)


@as_task.of("wiring")
def wiring(context: Context, **given: Any) -> None:
    """Show which clip goes where, or check it: invoke wiring plan."""
    as_task.call(context, "wiring", **given)


@as_task.of("dev", "build")
def build(context: Context, **given: Any) -> None:
    """Build the virtual Nucleo and the firmware of each allocator."""
    as_task.call(context, "dev", "build", **given)


@as_task.of("test")
def test(context: Context, **given: Any) -> None:
    """Run every check of the project, or those of some rooms: invoke test -- capture cli."""
    as_task.call(context, "test", **given)


@as_task.of("dev", "bench")
def bench(context: Context, **given: Any) -> None:
    """Measure a speed, side by side with what it is compared to: invoke bench simulator."""
    as_task.call(context, "dev", "bench", **given)


@as_task.of("dev", "site")
def site(context: Context, **given: Any) -> None:
    """Write the pages as a site that needs no network."""
    as_task.call(context, "dev", "site", **given)


@as_task.of("dev", "clean")
def clean(context: Context, **given: Any) -> None:
    """Remove what was built. Runs are kept."""
    as_task.call(context, "dev", "clean", **given)


@as_task.of("doctor")
def doctor(context: Context, **given: Any) -> None:
    """Show what is installed and plugged in, and how to get what is missing."""
    as_task.call(context, "doctor", **given)
