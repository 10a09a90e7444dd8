"""The virtual Nucleo, a Rust program, and the one way that Python calls it.

- `build.build()` builds the program if it is out of date.
- `run.run()` runs firmware to its end, and returns what it sent by UART, its records, edges,
  windows and statistics.
- `program.user_program()` takes somebody's own ELF file, or says in a sentence why it cannot run.
- `serve.Served` is a board in a process of its own: analyzer, serial line and debug probe on
  sockets.
- `desk.EmulatedDesk` is a board in a process of its own, too: analyzer, ST-Link and its serial
  port are USB devices for stock drivers, in the environment that `usb` describes.
- `outputs` reads the files that the program writes.

docs/reference/simulator-files.md specifies the program and its files.
"""
