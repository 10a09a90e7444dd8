"""One figure per file. Each takes the series of one scenario and gives a chart, or None where it does not apply."""
