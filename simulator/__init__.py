"""The virtual Nucleo: a Rust program; from Python only its build is needed."""
