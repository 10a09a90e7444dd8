"""`python -m cli` is `./lab`, but does not check what is installed."""

import signal

if __name__ == "__main__":
    # Held back until there are handlers, which takes a while to import.
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    from cli import start

    start.leave(start.main())
