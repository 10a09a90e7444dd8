"""May the run be believed? Rules that yield sentences."""
