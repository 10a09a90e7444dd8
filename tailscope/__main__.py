"""`tailscope`, the program. Its rooms lie in a private folder beside this file, on the path of this
process alone: of what is installed, `import tailscope` is all that others see.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

_ROOMS = Path(__file__).resolve().with_name("_program")


def main() -> None:
    """Runs the command that was typed, and ends the process with its exit status."""
    if not _ROOMS.is_dir():
        sys.exit("tailscope is not installed, but lies in a checkout: its script `lab` is the program.")
    # Held back until there are handlers, which takes a while to import.
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    sys.path.insert(0, str(_ROOMS))
    from cli.shell import start

    start.leave(start.main(sys.argv[1:]))


if __name__ == "__main__":
    main()
