"""The virtual Nucleo, a Rust program, and the one way that Python calls it.

- `build.build()` builds the program where it is out of date.
- `run.run()` runs firmware to its end, and returns its UART bytes and records, edges, windows, statistics.
- `serve.Served` is a board in a process of its own: analyzer, serial line and debug probe on sockets.
- `outputs` reads the files that the program writes.

The program's own words for all this are in docs/SPEC.md, section 7.
"""
