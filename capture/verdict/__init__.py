"""May a run be believed? Rules that yield sentences."""
