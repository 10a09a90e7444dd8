"""The page of a comparison of runs."""
