"""Upper bounds of the critical sections, from the machine code of a built image."""
