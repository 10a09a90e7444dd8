"""What programs take of the CPU: a shared host's clock on the wall changes by the second."""

import resource
from collections.abc import Callable


def cpu_s(run: Callable[[], object]) -> float:
    """User and system time of the processes that `run` waits for, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
