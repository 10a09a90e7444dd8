"""Ways to load a board: one file each, found by where it lies, and named as its kind is."""
