"""One figure per file: from the series of one scenario to a chart, or None where it does not apply."""
