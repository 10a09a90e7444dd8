"""What is known of kernels: a TOML file each (docs/reference/kernel-toml.md)."""
