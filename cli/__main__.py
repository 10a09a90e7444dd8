"""`python -m cli` is `./lab`, but does not check what is installed. `lab` runs this file from the
folder that it is called in, of which the user's paths are.

Help needs Click, so it needs the virtual environment: where there is none yet, `lab` makes it first
and says so. An environment that is there is left as it is when only help is asked for; where that
one lacks Click, this file says in one sentence how to get it.
"""

import signal
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

if __name__ == "__main__":
    if sys.flags.safe_path:  # -P leaves out the checkout, too
        sys.path.insert(0, str(ROOT))
    # Where nothing compiled is to lie beside its source, it lies in build/: else each start would
    # compile all again.
    if sys.dont_write_bytecode:
        sys.dont_write_bytecode = False
        sys.pycache_prefix = str(ROOT / "build" / "compiled-python")
    # Held back until there are handlers, which takes a while to import.
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    try:
        from cli.shell import start
    except ModuleNotFoundError as missing:
        print(f"The Python package {missing.name} is missing: ./lab doctor installs it.", file=sys.stderr)
        sys.exit(2)
    start.leave(start.main(sys.argv[1:]))
