"""What stands on the desk: bench.toml, the boards, the debug probe."""
