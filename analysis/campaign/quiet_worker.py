"""What a worker of this machine loads first: Ctrl-C at the terminal is the command's to act on."""

from __future__ import annotations

import signal

for _number in (signal.SIGINT, signal.SIGHUP):
    signal.signal(_number, signal.SIG_IGN)
