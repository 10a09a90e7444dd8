"""Where a program's kernel keeps the task that runs, and its scheduler's lock."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class KernelWords:
    """`task` is the address of the word that points to the task that runs; None if there is none.

    `scheduler` is the place of the value that is 0 unless the scheduler is locked, as
    `--scheduler-value` of virtual-nucleo has it; empty if there is none.
    """

    task: int | None = None
    scheduler: str = ""

    @property
    def arguments(self) -> list[str]:
        """The words of virtual-nucleo's command line."""
        task = [] if self.task is None else [f"--task-word={self.task:#010x}"]
        return [*task, *([f"--scheduler-value={self.scheduler}"] if self.scheduler else [])]


NO_WORDS = KernelWords()
