"""What stops a command because this machine, or its user's limits, give no more: one sentence."""

from __future__ import annotations

import errno
import resource
import traceback

_FILES = (errno.EMFILE, errno.ENFILE)
_MEMORY = (errno.ENOMEM, errno.EAGAIN)
# What Python and polars say where no thread can be made, or no memory is had.
_WORDS = ("can't start new thread", "could not spawn threads", "ThreadPoolBuildError", "memory allocation of")


def sentence(error: BaseException) -> str | None:
    """What was used up, and what to do; None where it was something else."""
    number = error.errno if isinstance(error, OSError) else None
    if number in _FILES:
        return f"No more files can be opened ({_limit('-n', resource.RLIMIT_NOFILE)}); raise the limit."
    said = "".join(traceback.format_exception_only(error))
    if isinstance(error, MemoryError) or number in _MEMORY or any(words in said for words in _WORDS):
        memory = _limit("-v", resource.RLIMIT_AS, 1024)
        threads = _limit("-u", resource.RLIMIT_NPROC)
        return f"No more memory or threads are given ({memory}, {threads}); free some, or raise the limit."
    return None


def _limit(option: str, kind: int, unit: int = 1) -> str:
    """As the shell's `ulimit` tells it."""
    most = resource.getrlimit(kind)[0]
    return f"ulimit {option} {'unlimited' if most == resource.RLIM_INFINITY else most // unit}"
