"""From plugged in to the first number that may be believed: one step after another."""
