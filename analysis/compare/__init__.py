"""Two runs, or two folders of runs, beside each other: what changed, by how much, and where."""
