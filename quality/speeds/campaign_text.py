"""The speeds of campaigns for a reader: a table, and what must be known of it."""

from __future__ import annotations

from quality.speeds.campaign import TARGET_CORE_S, Speed, Speeds

_HEAD = ("s of a core a run", "in the client", "a minute a core", "by the clock")


def as_text(found: Speeds) -> str:
    """A line for each way, the target, the load, and the bytes that a run leaves."""
    return "\n".join(
        (
            f"{found.workload}, {found.runs} runs each way, after start-up",
            _row("", *_HEAD),
            *map(_line, found.ways),
            *(_beside_target(way, found.disturbed) for way in found.ways if way.direct),
            _load(found),
            *map(_bytes, found.ways),
        )
    )


def _row(way: str, core: str, client: str, rate: str, clock: str) -> str:
    return f"{way:<28}{core:>24}{client:>15}{rate:>17}{clock:>14}"


def _line(of: Speed) -> str:
    middle, least, most = of.core_s
    core = f"{middle:.3f} ({least:.3f} to {most:.3f})"
    return _row(of.way, core, f"{of.conductor_s:.3f}", f"{60 / middle:.0f}", f"{60 / of.wall_s:.0f}")


def _beside_target(of: Speed, disturbed: bool) -> str:
    taken = f"{of.way}: {of.core_s[0]:.3f} s"
    if of.core_s[0] < TARGET_CORE_S:
        return f"{taken}, below the {TARGET_CORE_S} s that it may take"
    if disturbed:
        return f"{taken}; on a machine at rest it may take {TARGET_CORE_S} s"
    return f"{taken}, not below the {TARGET_CORE_S} s that it may take"


def _load(found: Speeds) -> str:
    words = f"load when it began: {found.load:.1f}, on {found.cores} cores"
    if not found.disturbed:
        return words
    return (
        f"{words}. Others computed too: runs by the clock tell nothing, and seconds of a core are more than "
        "on a machine at rest. Compare the ways with each other only."
    )


def _bytes(of: Speed) -> str:
    kinds = ", ".join(f"{name} {size:,}" for name, size in of.stored_bytes.items())
    return f"{of.way}: {sum(of.stored_bytes.values()):,} bytes stored a run ({kinds})"
